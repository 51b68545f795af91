/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <endian.h>
#include <string.h>

#include "cli/cli.h"
#include "clock.h"
#include "stop.h"

/* Cookie of sends; receives carry their slot. */
#define SENT UINT64_MAX

#define PART_TIMEOUT_S 10

/* On the wire, big endian. */
struct message {
	uint64_t what, value;
	uint64_t zero[2];
};

_Static_assert(sizeof(struct message) == PERF_CONTROL_LEN, "a control message fills its buffer");

/* Receive buffers come first in the page, send buffers behind them. */
static DAT_LMR_TRIPLET
buffer(const struct perf_end *end, uint32_t slot)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = end->lmr_context,
		.virtual_address = (DAT_VADDR)(uintptr_t)(end->control_memory +
				(size_t)slot * PERF_CONTROL_LEN),
		.segment_length = PERF_CONTROL_LEN,
	};
}

int
perf_control_post(struct perf_end *end)
{
	for (uint32_t slot = 0; slot < PERF_CONTROL_DEPTH; slot++) {
		DAT_LMR_TRIPLET iov = buffer(end, slot);
		DAT_DTO_COOKIE cookie = { .as_64 = slot };
		DAT_RETURN ret = dat_ep_post_recv(
				end->control, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG);

		if (ret != DAT_SUCCESS) {
			cli_say_dat(ret, "dat_ep_post_recv on %s", end->adapter->name);
			return -1;
		}
	}
	return 0;
}

int
perf_control_say(struct perf_end *end, enum perf_control what, uint64_t value)
{
	const struct message message = { .what = htobe64(what), .value = htobe64(value) };
	uint32_t slot = PERF_CONTROL_DEPTH + end->control_sent;
	DAT_LMR_TRIPLET iov = buffer(end, slot);
	DAT_DTO_COOKIE cookie = { .as_64 = SENT };
	DAT_RETURN ret;

	end->control_sent++;
	memcpy(end->control_memory + (size_t)slot * PERF_CONTROL_LEN, &message, sizeof(message));
	ret = dat_ep_post_send(end->control, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_ep_post_send on %s", end->adapter->name);
	return -1;
}

static void
hear(struct perf_end *end, uint64_t slot)
{
	struct message message;

	memcpy(&message, end->control_memory + slot * PERF_CONTROL_LEN, sizeof(message));
	switch (be64toh(message.what)) {
	case PERF_READY:
		end->peer.ready = true;
		break;
	case PERF_DONE:
		end->peer.done = true;
		end->peer.sent = be64toh(message.value);
		break;
	case PERF_BYE:
		end->peer.bye = true;
		end->peer.violations = be64toh(message.value);
		break;
	case PERF_STOPPED:
		end->peer.stopped = true;
		break;
	default:
		break;
	}
}

int
perf_control_listen(struct perf_end *end)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;
	DAT_RETURN ret;

	while ((ret = dat_evd_dequeue(end->control_evd, &event)) == DAT_SUCCESS) {
		dto = &event.event_data.dto_completion_event_data;
		/* After its BYE the peer may hang up before this end has listened to the end. */
		if (dto->status == DAT_DTO_ERR_FLUSHED && (end->closing || end->peer.bye))
			continue;
		if (dto->status != DAT_DTO_SUCCESS) {
			cli_say("the connection to the other end of %s broke", end->adapter->name);
			return -1;
		}
		if (dto->user_cookie.as_64 < PERF_CONTROL_DEPTH)
			hear(end, dto->user_cookie.as_64);
	}
	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
		return 0;
	cli_say_dat(ret, "dat_evd_dequeue on %s", end->adapter->name);
	return -1;
}

int
perf_control_part(struct perf_end *end)
{
	uint64_t limit = perf_stop_limit(end, PART_TIMEOUT_S), since = perf_now();

	if (perf_control_say(end, PERF_BYE, perf_violations_total(&end->bad)) != 0)
		return -1;
	while (!end->peer.bye) {
		if (perf_control_listen(end) != 0)
			return -1;
		if (perf_stop_failed() || perf_now() - since > limit) {
			cli_say("the other end of %s did not say goodbye", end->adapter->name);
			return -1;
		}
	}
	if (end->peer.violations == 0)
		return 0;
	cli_say("the other end of %s found %llu violations", end->adapter->name,
			(unsigned long long)end->peer.violations);
	return -1;
}
