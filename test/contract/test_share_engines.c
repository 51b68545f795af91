/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue, endpoints on several engines, a dispatcher and a thread for each few of them. Engines are polled by a
 * service lcore, or by whoever polls; then several threads poll several engines at the same time.
 */

#include <sched.h>
#include <unistd.h>

#include "crowd.h"

#define PAIRS    8u
#define THREADS  4u
#define DEPTH    24u /**< fewer than may be in flight, so that now and then the queue is empty */
#define IN_PAIR  8u  /**< requests of one client in flight */
#define HEAD_LEN 8u  /**< which connection, which of its messages */
#define TAIL     (BUFFER_LEN / 2) /**< where the rest of every message lies */
#define TAIL_LEN 20000u           /**< several packets, so that an end may come in the middle */

/* cmocka's assertions belong to the main thread: the others keep the line of what went wrong first. */
struct traffic {
	uint32_t sent[PAIRS];
	uint32_t in_flight[PAIRS];
	uint32_t next[PAIRS];  /**< message expected next; by the thread of its dispatcher */
	uint8_t posted[DEPTH]; /**< the buffer is on the queue or with an endpoint; atomic */
	uint32_t received;     /**< atomic */
	uint32_t flushed;      /**< atomic */
	bool gaps;             /**< connections may end, and messages with them */
	bool stop;             /**< atomic */
	int wrong;             /**< atomic */
	pthread_t watcher;
	struct server {
		struct traffic *traffic;
		unsigned int index;
		pthread_t thread;
	} server[THREADS];
};

static struct traffic traffic;

static void
check(struct traffic *t, bool good, int line)
{
	int none = 0;

	if (!good)
		__atomic_compare_exchange_n(
				&t->wrong, &none, line, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool
stopped(struct traffic *t)
{
	return __atomic_load_n(&t->stop, __ATOMIC_ACQUIRE);
}

static void
post(struct traffic *t, uint64_t slot)
{
	DAT_LMR_TRIPLET iov[2] = { segment(b, slot * HEAD_LEN, HEAD_LEN),
		segment(b, TAIL + slot * TAIL_LEN, TAIL_LEN) };

	check(t, __atomic_exchange_n(&t->posted[slot], 1, __ATOMIC_ACQ_REL) == 0, __LINE__);
	check(t, dat_srq_post_recv(b->srq, 2, iov, cookie(slot)) == DAT_SUCCESS, __LINE__);
}

/* One completion: of a buffer that was posted, for an endpoint of this dispatcher, of its next message. */
static void
judge(struct server *server, const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	struct traffic *t = server->traffic;
	uint64_t slot = data->user_cookie.as_64;
	uint32_t word[2];

	check(t, __atomic_exchange_n(&t->posted[slot], 0, __ATOMIC_ACQ_REL) == 1, __LINE__);
	if (data->status == DAT_DTO_SUCCESS) {
		memcpy(word, b->buffer + slot * HEAD_LEN, sizeof(word));
		check(t, word[0] < PAIRS && word[0] % THREADS == server->index, __LINE__);
		check(t, crowd.server[word[0] % PAIRS] == data->ep_handle, __LINE__);
		check(t, t->gaps ? word[1] >= t->next[word[0]] : word[1] == t->next[word[0]],
				__LINE__);
		t->next[word[0]] = word[1] + 1;
		__atomic_fetch_add(&t->received, 1, __ATOMIC_RELEASE);
	} else {
		check(t, t->gaps && data->status == DAT_DTO_ERR_FLUSHED, __LINE__);
		__atomic_fetch_add(&t->flushed, 1, __ATOMIC_RELEASE);
	}
	post(t, slot);
}

/* Half of the threads poll, half wait. */
static void *
serve(void *arg)
{
	struct server *server = arg;
	struct traffic *t = server->traffic;
	DAT_EVD_HANDLE evd = crowd.evd[server->index];
	DAT_EVENT event;
	DAT_COUNT more;

	while (!stopped(t)) {
		DAT_RETURN rc = server->index % 2 == 0 ? dat_evd_dequeue(evd, &event)
						       : dat_evd_wait(evd, 1000, 1, &event, &more);

		if (rc == DAT_SUCCESS)
			judge(server, &event.event_data.dto_completion_event_data);
		else
			sched_yield();
	}
	return NULL;
}

/* A query from any thread at any moment shows possible counts. */
static void *
watch(void *arg)
{
	struct traffic *t = arg;
	DAT_SRQ_PARAM param;

	while (!stopped(t)) {
		check(t, dat_srq_query(b->srq, DAT_SRQ_FIELD_ALL, &param) == DAT_SUCCESS, __LINE__);
		check(t, param.max_recv_dtos == (DAT_COUNT)DEPTH, __LINE__);
		check(t, param.available_dto_count >= 0, __LINE__);
		check(t, param.available_dto_count <= param.outstanding_dto_count, __LINE__);
		check(t, param.outstanding_dto_count <= param.max_recv_dtos, __LINE__);
		sched_yield();
	}
	return NULL;
}

static void
traffic_start(struct traffic *t, const char *params, bool gaps)
{
	print_message("%s\n", params);
	set_params(params);
	memset(t, 0, sizeof(*t));
	t->gaps = gaps;
	crowd_open(PAIRS, DEPTH, 256, THREADS);
	for (uint64_t slot = 0; slot < DEPTH; slot++)
		post(t, slot);
	t->watcher = start(watch, t);
	for (unsigned int i = 0; i < THREADS; i++) {
		t->server[i] = (struct server){ .traffic = t, .index = i };
		t->server[i].thread = start(serve, &t->server[i]);
	}
}

/* Everything that was not flushed is there, and every place of the queue is taken again by a buffer that is on it. */
static void
traffic_stop(struct traffic *t)
{
	for (unsigned int ms = 0; ms < test_limit_s() * 1000 &&
			srq_param(b->srq).available_dto_count != DEPTH;
			ms++)
		usleep(1000);
	__atomic_store_n(&t->stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < THREADS; i++)
		join(t->server[i].thread);
	join(t->watcher);
	if (t->wrong != 0)
		fail_msg("line %d", t->wrong);
	want_counts(b->srq, DEPTH, DEPTH, DEPTH);
	print_message("%u received, %u flushed\n", t->received, t->flushed);
}

/* As many messages of one pair as fit; each in a place of its own. */
static void
send_more(struct traffic *t, unsigned int i, uint32_t limit)
{
	crowd_pick(i);
	while (t->in_flight[i] < IN_PAIR && t->sent[i] < limit) {
		const uint32_t word[2] = { i, t->sent[i] };
		size_t at = ((size_t)i * IN_PAIR + t->sent[i] % IN_PAIR) * HEAD_LEN;
		DAT_LMR_TRIPLET iov[2] = { segment(a, at, HEAD_LEN), segment(a, TAIL, TAIL_LEN) };

		memcpy(a->buffer + at, word, sizeof(word));
		ok(dat_ep_post_send(a->ep, 2, iov, cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
		t->sent[i]++;
		t->in_flight[i]++;
	}
}

static void
end_of_send(struct traffic *t)
{
	DAT_DTO_COMPLETION_EVENT_DATA data = next_dto(a->request);

	if (!t->gaps)
		assert_int_equal(data.status, DAT_DTO_SUCCESS);
	t->in_flight[data.user_cookie.as_64]--;
}

static uint32_t
all_in_flight(const struct traffic *t)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < PAIRS; i++)
		sum += t->in_flight[i];
	return sum;
}

static bool
have_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) >= 2;
}

/* The first open decides which lcores the process has: what wants them comes first. */
static const char *const kinds[] = { "queues=2 lcores=1 rnr_timer=1", "queues=2 rnr_timer=1",
	"queues=4 rnr_timer=1", "queues=2 rnr_timer=1 loss=5000" };

#define KINDS (COUNT_OF(kinds))

/*
 * Each message once, in order, to its endpoint's dispatcher; each buffer used once for each time it was posted; never
 * an impossible count; and at the end not a place is missing.
 * Proves: srq_create.9 srq_create.10 srq_query.6 bug.S13 bug.S14
 */
static void
engines__nothing_lost_nothing_twice(void **state)
{
	const uint32_t messages = 200;
	struct traffic *t = &traffic;

	for (unsigned int kind = have_cpus() ? 0 : 1; kind < KINDS; kind++) {
		traffic_start(t, kinds[kind], false);
		for (;;) {
			for (unsigned int i = 0; i < PAIRS; i++)
				send_more(t, i, messages);
			if (all_in_flight(t) == 0)
				break;
			end_of_send(t);
		}
		traffic_stop(t);
		assert_int_equal(t->received, PAIRS * messages);
		pair_close(&pair);
	}
}

static void
want_end(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event = next_event(evd);

	assert_true(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
			event.event_number == DAT_CONNECTION_EVENT_BROKEN);
}

/* How to end a connection in the middle of its messages; by the hard mark: its next message is one too many. */
static const enum ending ways[] = { BY_A_ABRUPT, BY_B_ABRUPT, BY_A_GRACEFUL, BY_HARD_MARK };

/* Connections end and begin again while the others go on: those lose nothing, the queue loses no place. */
/* Proves: srq_post_recv.9 ep_set_watermark.3 bug.S18 bug.S23 bug.S24 */
static void
engines__connections_come_and_go(void **state)
{
	struct traffic *t = &traffic;

	for (unsigned int kind = have_cpus() ? 0 : 1; kind < KINDS; kind++) {
		traffic_start(t, kinds[kind], true);
		for (unsigned int round = 0; round < 4 * PAIRS; round++) {
			enum ending way = ways[round / PAIRS % COUNT_OF(ways)];
			unsigned int victim = round % PAIRS;

			crowd_pick(victim);
			if (way == BY_HARD_MARK)
				end_by(way);
			for (unsigned int i = 0; i < PAIRS; i++)
				send_more(t, i, UINT32_MAX);
			crowd_pick(victim);
			if (way != BY_HARD_MARK)
				end_by(way);
			want_end(a->connect);
			want_end(b->connect);
			while (all_in_flight(t) > 0)
				end_of_send(t);
			crowd_pick(victim);
			ok(dat_ep_set_watermark(
					b->ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE));
			connect_again();
		}
		traffic_stop(t);
		pair_close(&pair);
	}
}

/*
 * On whichever engine the endpoint lives, the event of its soft high watermark is there no later than the completion
 * of the message that exceeded it; there is one, and it names the endpoint.
 * Proves: ep_set_watermark.2
 */
static void
engines__soft_event_before_its_completion(void **state)
{
	for (unsigned int kind = have_cpus() ? 0 : 1; kind < KINDS; kind++) {
		print_message("%s\n", kinds[kind]);
		set_params(kinds[kind]);
		crowd_open(PAIRS, DEPTH, 64, THREADS);
		for (uint64_t n = 0; n < 400; n++) {
			crowd_pick(n % PAIRS);
			post_many(b, 1, n);
			ok(dat_ep_set_watermark(b->ep, 0, DAT_WATERMARK_INFINITE));
			ok(post_send(a, 0, 64, n));
			(void)poll_until(b->recv, DAT_DTO_COMPLETION_EVENT);
			want_soft(b->async, b->ep);
			want_dto(a, a->request, n, DAT_DTO_SUCCESS, 64);
		}
		want_none(b->async);
		pair_close(&pair);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(engines__nothing_lost_nothing_twice),
	rig_test(engines__connections_come_and_go),
	rig_test(engines__soft_event_before_its_completion),
	tests_end,
};
