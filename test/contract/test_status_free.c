/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions and windows are freed while frames that need them are on their way: at both ends, one by one and under load. */

#include <pthread.h>
#include <sched.h>

#include "mix.h"

#define DEPTH 8
#define SHORT 64

#define BEFORE 0x11 /**< b's memory */
#define SENT   0x22 /**< a's memory */
#define AFTER  0x33 /**< what the owner writes once the memory is its own again */

/* Poll both ends until the transfer has begun to change @p byte, and no further: it is far from its end. */
static void
poll_until_changed(struct mix *m, const uint8_t *byte, uint8_t from)
{
	for (int i = 0; i < 100000 && __atomic_load_n(byte, __ATOMIC_RELAXED) == from; i++) {
		poll_once(&m->pair.a);
		poll_once(&m->pair.b);
	}
	assert_int_not_equal(*byte, from);
}

static void
want_broken(struct mix *m, DAT_EVENT_NUMBER at_b)
{
	want_event(m->pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(m->pair.b.connect, at_b);
}

/* No byte of the peer's that was written after the free. */
static void
want_no_byte(const struct end *end, uint8_t byte)
{
	assert_null(memchr(end->buffer, byte, BUFFER_LEN));
}

/* b opens its memory to a by a region, or by a window; either can be freed. */
static void
open_memory(struct mix *m, bool by_window, DAT_LMR_HANDLE *lmr, DAT_RMR_HANDLE *rmr)
{
	struct end *b = &m->pair.b;
	DAT_LMR_TRIPLET all = segment(b, 0, BUFFER_LEN);

	*lmr = mix_region(b, &all.lmr_context, &m->target);
	ok(dat_rmr_create(b->pz, rmr));
	if (!by_window)
		return;
	ok(dat_rmr_bind(*rmr, &all, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
			b->ep, cookie(9), DAT_COMPLETION_DEFAULT_FLAG, &m->target));
	want_event(b->request, DAT_RMR_BIND_COMPLETION_EVENT);
}

static void
free_memory(bool by_window, DAT_LMR_HANDLE lmr, DAT_RMR_HANDLE rmr)
{
	if (!by_window) {
		ok(dat_lmr_free(lmr));
		return;
	}
	want_error(dat_lmr_free(lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
	ok(dat_rmr_free(rmr));
}

/*
 * The peer's memory goes under a write, or a read: DAT_DTO_ERR_REMOTE_ACCESS, what is posted behind it is flushed, and
 * both connections are broken. From the free on the memory is neither written nor read, though sends went with it.
 */
static void
free__of_what_the_peer_works_on(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		enum verb verb = i % 2 != 0 ? READ : WRITE;
		bool by_window = i / 2 != 0;
		DAT_LMR_HANDLE lmr;
		DAT_RMR_HANDLE rmr;
		struct mix m;

		print_message("verb %u, window %u\n", verb, by_window);
		mix_up(&m, DEPTH);
		memset(m.pair.a.buffer, SENT, BUFFER_LEN);
		memset(m.pair.b.buffer, BEFORE, BUFFER_LEN);
		open_memory(&m, by_window, &lmr, &rmr);
		ok(post_recv(&m.pair.b, 0, SHORT, 7));
		ok(mix_post(&m, verb, LONG_LEN, 1));
		ok(mix_post(&m, SEND, SHORT, 2));
		ok(mix_post(&m, WRITE, SHORT, 3));
		poll_until_changed(&m, verb == READ ? m.pair.a.buffer : m.pair.b.buffer,
				verb == READ ? SENT : BEFORE);
		free_memory(by_window, lmr, rmr);
		memset(m.pair.b.buffer, AFTER, BUFFER_LEN);
		mix_want(&m, 1, DAT_DTO_ERR_REMOTE_ACCESS);
		mix_want(&m, 2, DAT_DTO_ERR_FLUSHED);
		mix_want(&m, 3, DAT_DTO_ERR_FLUSHED);
		want_broken(&m, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		mix_want_all(&m.pair.b, AFTER);
		want_no_byte(&m.pair.a, AFTER);
		mix_close(&m);
	}
}

/* Memory that another request in front of it needs may go, too: that one, and not the one in progress, is in order. */
static void
free__of_what_a_later_request_needs(void **state)
{
	DAT_RMR_CONTEXT first;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
	struct mix m;

	mix_up(&m, DEPTH);
	first = m.target;
	open_memory(&m, true, &lmr, &rmr);
	memset(m.pair.a.buffer, SENT, BUFFER_LEN);
	memset(m.pair.b.buffer, BEFORE, BUFFER_LEN);
	ok(post_recv(&m.pair.b, 0, SHORT, 7));
	ok(mix_post(&m, WRITE, SHORT, 1));
	m.target = first;
	ok(mix_post(&m, WRITE, LONG_LEN, 2));
	ok(mix_post(&m, SEND, SHORT, 3));
	open_memory(&m, false, &lmr, &rmr);
	ok(mix_post(&m, WRITE, LONG_LEN, 4));
	ok(dat_lmr_free(lmr));
	for (uint64_t i = 1; i <= 3; i++)
		mix_want(&m, i, DAT_DTO_SUCCESS);
	mix_want(&m, 4, DAT_DTO_ERR_REMOTE_ACCESS);
	want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_SUCCESS, SHORT);
	want_broken(&m, DAT_CONNECTION_EVENT_BROKEN);
	mix_close(&m);
}

/*
 * The memory of a request in progress goes: DAT_DTO_ERR_LOCAL_PROTECTION here; the peer's connection ends, and not
 * a byte that was written to the memory after the free reaches it, nor does an answer change it.
 */
static void
free__of_a_requests_own_memory(void **state)
{
	for (enum verb verb = SEND; verb <= READ; verb++) {
		struct mix m;

		print_message("verb %u\n", verb);
		mix_up(&m, DEPTH);
		memset(m.pair.a.buffer, SENT, BUFFER_LEN);
		memset(m.pair.b.buffer, BEFORE, BUFFER_LEN);
		ok(post_recv(&m.pair.b, 0, LONG_LEN, 7));
		ok(mix_post(&m, verb, LONG_LEN, 1));
		ok(mix_post(&m, SEND, SHORT, 2));
		poll_until_changed(&m, verb == READ ? m.pair.a.buffer : m.pair.b.buffer,
				verb == READ ? SENT : BEFORE);
		ok(dat_lmr_free(m.pair.a.lmr));
		memset(m.pair.a.buffer, AFTER, BUFFER_LEN);
		mix_want(&m, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
		mix_want(&m, 2, DAT_DTO_ERR_FLUSHED);
		want_broken(&m, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		mix_want_all(&m.pair.a, AFTER);
		want_no_byte(&m.pair.b, AFTER);
		mix_close(&m);
	}
}

/* The memory of a receive in progress goes. */
static void
free__of_a_buffer_that_is_being_filled(void **state)
{
	struct mix m;

	mix_up(&m, DEPTH);
	memset(m.pair.a.buffer, SENT, BUFFER_LEN);
	memset(m.pair.b.buffer, BEFORE, BUFFER_LEN);
	ok(post_recv(&m.pair.b, 0, LONG_LEN, 7));
	ok(post_recv(&m.pair.b, 0, LONG_LEN, 8));
	ok(mix_post(&m, SEND, LONG_LEN, 1));
	ok(mix_post(&m, SEND, SHORT, 2));
	poll_until_changed(&m, m.pair.b.buffer, BEFORE);
	ok(dat_lmr_free(m.pair.b.lmr));
	memset(m.pair.b.buffer, AFTER, BUFFER_LEN);
	mix_want(&m, 1, DAT_DTO_ERR_REMOTE_RESPONDER);
	mix_want(&m, 2, DAT_DTO_ERR_FLUSHED);
	want_broken(&m, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_dto(&m.pair.b, m.pair.b.recv, 8, DAT_DTO_ERR_FLUSHED, 0);
	mix_want_all(&m.pair.b, AFTER);
	mix_close(&m);
}

/** Polls both adapters as fast as it can, until it is told to stop. */
struct poller {
	struct mix *m;
	pthread_t thread;
	bool stop;
};

static void *
poll_all_the_time(void *arg)
{
	struct poller *t = arg;
	DAT_EVENT event;

	/* No assertions here: they belong to the main thread. */
	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		dat_evd_dequeue(t->m->pair.a.cr, &event);
		dat_evd_dequeue(t->m->pair.b.cr, &event);
	}
	return NULL;
}

/* Post the same again and again as there is room, until @p n posts were made or the connection ended. */
static uint64_t
post_load(struct mix *m, enum verb verb, uint64_t n)
{
	uint64_t posted = 0;

	while (posted < n && mix_post(m, verb, 16384, posted) == DAT_SUCCESS)
		posted++;
	return posted;
}

/* All completions of @p posted requests: successes, one failure, and nothing but flushed ones behind it. */
static void
want_load(struct mix *m, uint64_t posted, DAT_DTO_COMPLETION_STATUS failure)
{
	bool failed = false;

	for (uint64_t i = 0; i < posted; i++) {
		DAT_DTO_COMPLETION_STATUS status;
		uint64_t value;
		DAT_EVENT event;
		DAT_COUNT more;

		ok(dat_evd_wait(m->pair.a.request, PATIENCE_US, 1, &event, &more));
		mix_result(&event, &value, &status);
		assert_int_equal(value, i);
		if (failed)
			assert_int_equal(status, DAT_DTO_ERR_FLUSHED);
		else if (status != DAT_DTO_SUCCESS)
			assert_int_equal(status, failure);
		failed |= status != DAT_DTO_SUCCESS;
	}
	assert_true(failed);
}

/** What is freed in a round, and what works on it. */
struct round {
	enum verb verb;
	bool by_window;
	bool own; /**< a's memory, and not b's */
	unsigned int yields;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
};

/* Free at a moment of chance, and make the memory's owner use it; @p posted requests were on their way, or are done. */
static uint64_t
free_under_load(struct mix *m, const struct round *r, uint64_t posted)
{
	struct end *victim = r->own ? &m->pair.a : &m->pair.b;

	for (unsigned int i = 0; i < r->yields; i++)
		sched_yield();
	if (r->own)
		ok(dat_lmr_free(m->pair.a.lmr));
	else
		free_memory(r->by_window, r->lmr, r->rmr);
	memset(victim->buffer, AFTER, BUFFER_LEN);
	/* If it all was over before, one more request needs the memory, or is refused where it is posted. */
	return mix_post(m, r->verb, SHORT, posted) == DAT_SUCCESS ? posted + 1 : posted;
}

/* Whose own memory went may have come to an end before: then the connection stands, and nothing failed. */
static void
end_own_load(struct mix *m, uint64_t posted)
{
	if (end_state(&m->pair.a) == DAT_EP_STATE_CONNECTED)
		ok(dat_ep_disconnect(m->pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	for (uint64_t i = 0; i < posted; i++)
		want_event(m->pair.a.request, DAT_DTO_COMPLETION_EVENT);
}

/*
 * The same while another thread works on both adapters, at a moment of chance: when the call returns nobody is in the
 * memory any more, and nobody comes back.
 */
static void
free__while_another_thread_works(void **state)
{
	enum {
		ROUNDS = 24,
		LOAD = 256
	};

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct round r = {
			.verb = i % 2 != 0 ? READ : WRITE,
			.by_window = i / 2 % 2 != 0,
			.own = i / 4 % 2 != 0,
			.yields = i,
		};
		struct poller t;
		struct mix m;
		uint64_t posted;

		mix_up(&m, LOAD);
		memset(m.pair.a.buffer, SENT, BUFFER_LEN);
		memset(m.pair.b.buffer, BEFORE, BUFFER_LEN);
		open_memory(&m, r.by_window, &r.lmr, &r.rmr);
		t = (struct poller){ .m = &m };
		assert_int_equal(pthread_create(&t.thread, NULL, poll_all_the_time, &t), 0);
		posted = free_under_load(&m, &r, post_load(&m, r.verb, LOAD));
		if (r.own)
			end_own_load(&m, posted);
		else
			want_load(&m, posted, DAT_DTO_ERR_REMOTE_ACCESS);
		__atomic_store_n(&t.stop, true, __ATOMIC_RELEASE);
		assert_int_equal(pthread_join(t.thread, NULL), 0);
		mix_want_all(r.own ? &m.pair.a : &m.pair.b, AFTER);
		want_no_byte(r.own ? &m.pair.b : &m.pair.a, AFTER);
		mix_close(&m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(free__of_what_the_peer_works_on),
		rig_test(free__of_what_a_later_request_needs),
		rig_test(free__of_a_requests_own_memory),
		rig_test(free__of_a_buffer_that_is_being_filled),
		rig_test(free__while_another_thread_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
