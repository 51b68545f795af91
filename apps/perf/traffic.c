/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include <string.h>

#include <dat/dat_ib_extensions.h>

#include "cli/cli.h"
#include "cli/words.h"

/*
 * Cookies: a receive is its buffer's number under RECEIVE, a send its endpoint and the low bits of
 * its number on it.
 */
#define RECEIVE     (1ull << 63)
#define NUMBER_BITS 48
#define NUMBER_MASK ((1ull << NUMBER_BITS) - 1)

#define REAP_BATCH 256
/* Sends in a row on one endpoint, as far as its window allows: what one acknowledgement may cover. */
#define RUN 16
/* Content of memory that will be read into: unlikely to be what should be there afterwards. */
#define SCRIBBLE 0xa5

/* Of a way that no message takes, and of one that only those of other tests take. */
#define RARELY(condition) __builtin_expect(condition, 0)
#define RARE              __attribute__((cold, noinline))
#define APART             __attribute__((noinline))

static RARE int
receive_refused(const struct perf_end *end, uint64_t slot, DAT_RETURN ret)
{
	cli_say_dat(ret, "posting receive buffer %llu on %s", (unsigned long long)slot,
			end->adapter->name);
	return -1;
}

static inline int
post_receive(struct perf_end *end, uint64_t slot)
{
	DAT_LMR_TRIPLET *iov = RARELY(end->segments == 0) ? NULL : &end->recv_iov[slot];
	DAT_DTO_COOKIE cookie = { .as_64 = RECEIVE | slot };
	DAT_RETURN ret;

	if (end->srq != DAT_HANDLE_NULL)
		ret = dat_srq_post_recv(end->srq, end->segments, iov, cookie);
	else
		ret = dat_ep_post_recv(end->eps[slot / end->plan->recv_depth].handle, end->segments,
				iov, cookie, DAT_COMPLETION_DEFAULT_FLAG);
	if (RARELY(ret != DAT_SUCCESS))
		return receive_refused(end, slot, ret);
	end->recv_posted++;
	return 0;
}

int
perf_traffic_post_receives(struct perf_end *end)
{
	for (uint32_t slot = 0; slot < end->plan->recv_slots; slot++)
		if (post_receive(end, slot) != 0)
			return -1;
	return 0;
}

void
perf_traffic_start(struct perf_end *end, uint64_t messages)
{
	end->goal = messages;
	for (uint32_t i = 0; i < end->plan->endpoints; i++)
		end->eps[i].quota = messages == PERF_ENDLESS
				? PERF_ENDLESS
				: perf_plan_share(end->plan, messages, i);
}

void
perf_traffic_stop(struct perf_end *end)
{
	end->goal = 0;
	for (uint32_t i = 0; i < end->plan->endpoints; i++) {
		struct perf_ep *ep = &end->eps[i];

		/* The last send of a quota asks for a completion; where it has not, add one. */
		ep->quota = ep->posted + (ep->unsignalled > 0);
		end->goal += ep->quota;
	}
}

/* The last byte of a WRITE that is waited for: never that of the one before, nor of fresh memory. */
static uint8_t
write_mark(uint64_t number)
{
	return (uint8_t)(number + 1);
}

/* The next of an endpoint's own places, with the content of its next message. */
static APART DAT_LMR_TRIPLET *
next_place(struct perf_end *end, struct perf_ep *ep)
{
	uint32_t slot = ep->slot;
	uint8_t *buffer;

	ep->slot = slot + 1 == end->plan->window ? 0 : slot + 1;
	slot += ep->index * end->plan->window;
	buffer = end->send_memory + (size_t)slot * end->plan->stride;
	if (end->reads)
		memset(buffer, SCRIBBLE, end->plan->size);
	else if (end->options->verify)
		/* Messages of this end carry the salt that it does not expect itself. */
		perf_verify_fill(ep->verify.salt ^ 1, ep->index, ep->posted, buffer,
				end->plan->size);
	if (end->options->test == PERF_WRITE_LAT)
		buffer[end->plan->size - 1] = write_mark(ep->posted);
	return &end->send_iov[slot];
}

static inline DAT_LMR_TRIPLET *
next_buffer(struct perf_end *end, struct perf_ep *ep)
{
	uint32_t slot = ep->slot;

	if (end->plan->own_places)
		return next_place(end, ep);
	ep->slot = slot + 1 == end->plan->send_slots ? 0 : slot + 1;
	return &end->send_iov[slot];
}

static APART DAT_RETURN
post_one_sided(struct perf_end *end, struct perf_ep *ep, DAT_LMR_TRIPLET *iov,
		DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	DAT_RMR_TRIPLET there = {
		.rmr_context = end->peer.rmr_context,
		.target_address = end->peer.address +
				perf_plan_place(end->plan, ep->index, ep->posted) *
						end->plan->stride,
		.segment_length = end->plan->size,
	};
	if (end->atomics)
		return dat_ib_post_fetch_and_add(ep->handle, 1, iov, cookie, &there, flags);
	if (end->reads)
		return dat_ep_post_rdma_read(ep->handle, end->segments, iov, cookie, &there, flags);
	return dat_ep_post_rdma_write(ep->handle, end->segments, iov, cookie, &there, flags);
}

static RARE int
send_refused(const struct perf_end *end, const struct perf_ep *ep, DAT_RETURN ret)
{
	cli_say_dat(ret, "posting send %llu on endpoint %u of %s", (unsigned long long)ep->posted,
			ep->index, end->adapter->name);
	return -1;
}

static inline int
send_one(struct perf_end *end, struct perf_ep *ep)
{
	DAT_DTO_COOKIE cookie = {
		.as_64 = (uint64_t)ep->index << NUMBER_BITS | (ep->posted & NUMBER_MASK),
	};
	DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_SUPPRESS_FLAG;
	DAT_LMR_TRIPLET *iov = next_buffer(end, ep);
	DAT_RETURN ret;

	if (++ep->unsignalled >= end->plan->signal || ep->posted + 1 == ep->quota) {
		ep->unsignalled = 0;
		flags = DAT_COMPLETION_DEFAULT_FLAG;
	}
	if (RARELY(end->segments == 0))
		iov = NULL;
	ret = end->one_sided ? post_one_sided(end, ep, iov, cookie, flags)
			     : dat_ep_post_send(ep->handle, end->segments, iov, cookie, flags);
	if (RARELY(ret != DAT_SUCCESS))
		return send_refused(end, ep, ret);
	ep->posted++;
	return 0;
}

int
perf_traffic_send_one(struct perf_end *end, struct perf_ep *ep)
{
	return send_one(end, ep);
}

/* As many sends as an endpoint may post now, @p max at most. */
static unsigned int
run_of(const struct perf_end *end, const struct perf_ep *ep, unsigned int max)
{
	uint64_t run = end->plan->window - (ep->posted - ep->completed);

	if (run > ep->quota - ep->posted)
		run = ep->quota - ep->posted;
	return run < max ? (unsigned int)run : max;
}

int
perf_traffic_send(struct perf_end *end, unsigned int max)
{
	uint32_t endpoints = end->plan->endpoints, skipped = 0;
	unsigned int left = max, run;

	while (left > 0 && skipped < endpoints) {
		struct perf_ep *ep = &end->eps[end->cursor];

		if (++end->cursor == endpoints)
			end->cursor = 0;
		run = run_of(end, ep, left < RUN ? left : RUN);
		skipped = run > 0 ? 0 : skipped + 1;
		left -= run;
		for (; run > 0; run--)
			if (RARELY(send_one(end, ep) != 0))
				return -1;
	}
	return (int)(max - left);
}

/* A transfer did not do what it should. Flushed ones are no news while the endpoints close. */
static RARE int
judge_failure(const struct perf_end *end, const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT) {
		cli_say("unexpected event 0x%x on %s", (unsigned int)event->event_number,
				end->adapter->name);
		return -1;
	}
	if (end->closing && dto->status == DAT_DTO_ERR_FLUSHED)
		return 0;
	if ((dto->user_cookie.as_64 & RECEIVE) != 0)
		cli_say("a receive on %s failed with %s", end->adapter->name,
				cli_dto_status(dto->status));
	else
		cli_say("send %llu on endpoint %llu of %s failed with %s",
				(unsigned long long)(dto->user_cookie.as_64 & NUMBER_MASK),
				(unsigned long long)(dto->user_cookie.as_64 >> NUMBER_BITS),
				end->adapter->name, cli_dto_status(dto->status));
	return -1;
}

/* Check one message by the endpoint on which the provider says it came. */
static APART void
verify(struct perf_end *end, uint64_t slot, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	DAT_CONTEXT context = { .as_64 = 0 };

	if (dat_get_consumer_context(dto->ep_handle, &context) != DAT_SUCCESS ||
			context.as_64 == 0 || context.as_64 > end->plan->endpoints) {
		perf_violation_note(&end->bad, PERF_MISDELIVERED, 0, end->received, 0);
		return;
	}
	perf_verify_check(&end->eps[context.as_64 - 1].verify,
			end->recv_memory + slot * end->plan->stride, dto->transfered_length,
			end->plan->size, &end->bad);
}

static inline int
take_receive(struct perf_end *end, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	uint64_t slot = dto->user_cookie.as_64 & ~RECEIVE;

	if (end->options->verify)
		verify(end, slot, dto);
	else if (RARELY(dto->transfered_length != end->plan->size))
		perf_violation_note(&end->bad, PERF_WRONG_LENGTH, 0, end->received,
				dto->transfered_length);
	end->received++;
	end->recv_posted--;
	return RARELY(end->closing) ? 0 : post_receive(end, slot);
}

/* Of the atomics of an endpoint on its counter each finds one more than the one before, from zero on. */
static void
verify_atomic(struct perf_end *end, const struct perf_ep *ep, uint64_t number, const uint8_t *found)
{
	uint64_t value;

	memcpy(&value, found, sizeof(value));
	if (value == number)
		return;
	perf_violation_note(&end->bad, value > number ? PERF_DUPLICATED : PERF_LOST, ep->index,
			number, value);
}

/* The next @p n READs or atomics of an endpoint are complete. */
static APART void
verify_reads(struct perf_end *end, const struct perf_ep *ep, uint64_t n)
{
	const struct perf_plan *plan = end->plan;

	for (uint64_t i = ep->completed; i < ep->completed + n; i++) {
		uint64_t slot = (uint64_t)ep->index * plan->window + i % plan->window;

		if (end->atomics)
			verify_atomic(end, ep, i, end->send_memory + slot * plan->stride);
		else
			perf_verify_place(&ep->verify, i % plan->remote_slots,
					end->send_memory + slot * plan->stride, plan->size,
					&end->bad);
	}
}

/* A transfer that failed, or another event. */
static RARE int
take_failure(struct perf_end *end, const DAT_EVENT *event)
{
	if (judge_failure(end, event) != 0)
		return -1;
	end->recv_posted -= (event->event_data.dto_completion_event_data.user_cookie.as_64 &
					    RECEIVE) != 0;
	return 0;
}

static inline int
take(struct perf_end *end, const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	uint64_t cookie = dto->user_cookie.as_64;
	struct perf_ep *ep;
	uint64_t done;

	if (RARELY(event->event_number != DAT_DTO_COMPLETION_EVENT ||
			    dto->status != DAT_DTO_SUCCESS))
		return take_failure(end, event);
	if ((cookie & RECEIVE) != 0)
		return take_receive(end, dto);
	ep = &end->eps[cookie >> NUMBER_BITS];
	done = ((cookie + 1 - ep->completed) & NUMBER_MASK);
	if (end->reads && end->options->verify)
		verify_reads(end, ep, done);
	ep->completed += done;
	end->acked += done;
	return 0;
}

int
perf_traffic_reap(struct perf_end *end, DAT_EVD_HANDLE evd, unsigned int max)
{
	DAT_EVENT event;
	DAT_RETURN ret;
	unsigned int n;

	for (n = 0; n < max; n++) {
		ret = dat_evd_dequeue(evd, &event);
		if (ret != DAT_SUCCESS) {
			if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
				break;
			cli_say_dat(ret, "dat_evd_dequeue on %s", end->adapter->name);
			return -1;
		}
		if (RARELY(take(end, &event) != 0))
			return -1;
	}
	return (int)n;
}

int
perf_traffic_wait(struct perf_end *end, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us)
{
	DAT_COUNT more;
	DAT_EVENT event;
	DAT_RETURN ret;

	ret = dat_evd_wait(evd, timeout_us, 1, &event, &more);
	if (ret == DAT_SUCCESS)
		return take(end, &event) == 0 ? 1 : -1;
	if (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED || DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL)
		return 0;
	cli_say_dat(ret, "dat_evd_wait on %s", end->adapter->name);
	return -1;
}

int
perf_traffic_look(struct perf_end *end)
{
	const struct perf_plan *plan = end->plan;
	uint64_t number = end->received / plan->endpoints;
	struct perf_ep *ep = &end->eps[end->received % plan->endpoints];
	uint8_t *place = end->remote_memory +
			perf_plan_place(plan, ep->index, number) * plan->stride;

	/* Other threads may poll the engine: what comes before the mark must be seen before it. */
	if (__atomic_load_n(place + plan->size - 1, __ATOMIC_ACQUIRE) != write_mark(number))
		return 0;
	if (end->options->verify)
		perf_verify_check(&ep->verify, place, plan->size - 1, plan->size - 1, &end->bad);
	end->received++;
	return 1;
}

void
perf_traffic_judge_memory(struct perf_end *end, uint64_t sent)
{
	const struct perf_plan *plan = end->plan;

	/* Of an interrupted run it is not known which message of an endpoint was its last. */
	if (!end->options->verify || end->options->test != PERF_WRITE_BW || end->stopped)
		return;
	for (uint32_t i = 0; i < plan->endpoints; i++) {
		uint64_t last = perf_plan_share(plan, sent, i);
		uint64_t first = last > plan->remote_slots ? last - plan->remote_slots : 0;

		for (uint64_t n = first; n < last; n++)
			perf_verify_place(&end->eps[i].verify, n,
					end->remote_memory +
							perf_plan_place(plan, i, n) * plan->stride,
					plan->size, &end->bad);
	}
}

/* All atomics of the peer are done: its counters say how often. */
static void
judge_counters(struct perf_end *end, uint64_t sent)
{
	const struct perf_plan *plan = end->plan;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < plan->endpoints; i++) {
		uint64_t value;

		memcpy(&value, end->remote_memory + perf_plan_place(plan, i, 0) * plan->stride,
				sizeof(value));
		sum += value;
	}
	if (sum != sent)
		perf_violation_note(
				&end->bad, sum > sent ? PERF_DUPLICATED : PERF_LOST, 0, sent, sum);
}

int
perf_traffic_finish(struct perf_end *end, uint64_t sent)
{
	int n;

	end->closing = true;
	do {
		n = perf_traffic_reap(end, end->recv_evd, REAP_BATCH);
		if (n < 0 || perf_traffic_reap(end, end->request_evd, REAP_BATCH) < 0)
			return -1;
	} while (n > 0);
	if (end->atomics && end->options->verify)
		judge_counters(end, sent);
	/* Results of WRITEs were checked before, those of READs when they were complete. */
	if (end->one_sided && end->options->test != PERF_WRITE_LAT)
		return 0;
	if (end->options->verify && end->options->seconds == 0 && !end->stopped) {
		for (uint32_t i = 0; i < end->plan->endpoints; i++)
			perf_verify_end(&end->eps[i].verify, perf_plan_share(end->plan, sent, i),
					&end->bad);
		return 0;
	}
	/* By time, interrupted, or unverified: how many each endpoint was sent is not known, the sum is. */
	if (end->received < sent) {
		perf_violation_note(&end->bad, PERF_LOST, 0, end->received, 0);
		end->bad.kind[PERF_LOST].count += sent - end->received - 1;
	} else if (end->received > sent) {
		perf_violation_note(&end->bad, PERF_DUPLICATED, 0, sent, 0);
	}
	return 0;
}
