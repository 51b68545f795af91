/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions and windows are freed while frames that need them are on their way: at both ends, one by one and under load. */

#include <sched.h>

#include "mix.h"
#include "waiting.h"

#define DEPTH 8
#define SHORT 64

#define BEFORE 0x11 /**< b's memory */
#define SENT   0x22 /**< a's memory */
#define AFTER  0x33 /**< what the owner writes once the memory is its own again */

/* Poll both ends until the transfer has begun to change @p byte, and no further: it is far from its end. */
static void
poll_until_changed(const uint8_t *byte, uint8_t from)
{
	for (int i = 0; i < 100000 && __atomic_load_n(byte, __ATOMIC_RELAXED) == from; i++)
		poll_both(1);
	assert_int_not_equal(*byte, from);
}

static void
want_broken(DAT_EVENT_NUMBER at_b)
{
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(b->connect, at_b);
}

static void
mark_memory(void)
{
	memset(a->buffer, SENT, BUFFER_LEN);
	memset(b->buffer, BEFORE, BUFFER_LEN);
}

/* No byte of the peer's that was written after the free. */
static void
want_no_byte(const struct end *end, uint8_t byte)
{
	assert_null(memchr(end->buffer, byte, BUFFER_LEN));
}

/* b opens its memory to a by a region, or by a window; either can be freed. */
static void
open_memory(bool by_window, DAT_LMR_HANDLE *lmr, DAT_RMR_HANDLE *rmr)
{
	DAT_LMR_TRIPLET all = segment(b, 0, BUFFER_LEN);

	*lmr = register_bytes(
			b, BUFFER_LEN, b->pz, DAT_MEM_PRIV_ALL_FLAG, &all.lmr_context, &mix.target);
	ok(dat_rmr_create(b->pz, rmr));
	if (!by_window)
		return;
	mix.target = bind_rmr(b, *rmr, all,
			DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
}

static void
free_memory(bool by_window, DAT_LMR_HANDLE lmr, DAT_RMR_HANDLE rmr)
{
	if (!by_window) {
		ok(dat_lmr_free(lmr));
		return;
	}
	want_bad_state(dat_lmr_free(lmr), LMR_IN_USE);
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

		print_message("verb %u, window %u\n", verb, by_window);
		mix_up(DEPTH);
		mark_memory();
		open_memory(by_window, &lmr, &rmr);
		ok(post_recv(b, 0, SHORT, 7));
		ok(mix_post(verb, LONG_LEN, 1));
		ok(mix_post(SEND, SHORT, 2));
		ok(mix_post(WRITE, SHORT, 3));
		poll_until_changed(
				verb == READ ? a->buffer : b->buffer, verb == READ ? SENT : BEFORE);
		free_memory(by_window, lmr, rmr);
		memset(b->buffer, AFTER, BUFFER_LEN);
		mix_want(1, DAT_DTO_ERR_REMOTE_ACCESS);
		mix_want(2, DAT_DTO_ERR_FLUSHED);
		mix_want(3, DAT_DTO_ERR_FLUSHED);
		want_broken(DAT_CONNECTION_EVENT_BROKEN);
		want_dto(b, b->recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		want_bytes(b->buffer, AFTER, BUFFER_LEN);
		want_no_byte(a, AFTER);
		pair_close(&pair);
	}
}

/* Memory that another request in front of it needs may go, too: that one, and not the one in progress, is in order. */
static void
free__of_what_a_later_request_needs(void **state)
{
	DAT_RMR_CONTEXT first;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;

	mix_up(DEPTH);
	first = mix.target;
	open_memory(true, &lmr, &rmr);
	mark_memory();
	ok(post_recv(b, 0, SHORT, 7));
	ok(mix_post(WRITE, SHORT, 1));
	mix.target = first;
	ok(mix_post(WRITE, LONG_LEN, 2));
	ok(mix_post(SEND, SHORT, 3));
	open_memory(false, &lmr, &rmr);
	ok(mix_post(WRITE, LONG_LEN, 4));
	ok(dat_lmr_free(lmr));
	for (uint64_t i = 1; i <= 3; i++)
		mix_want(i, DAT_DTO_SUCCESS);
	mix_want(4, DAT_DTO_ERR_REMOTE_ACCESS);
	want_dto(b, b->recv, 7, DAT_DTO_SUCCESS, SHORT);
	want_broken(DAT_CONNECTION_EVENT_BROKEN);
}

/*
 * The memory of a request in progress goes: DAT_DTO_ERR_LOCAL_PROTECTION here; the peer's connection ends, and not
 * a byte that was written to the memory after the free reaches it, nor does an answer change it.
 */
static void
free__of_a_requests_own_memory(void **state)
{
	for (enum verb verb = SEND; verb <= READ; verb++) {
		print_message("verb %u\n", verb);
		mix_up(DEPTH);
		mark_memory();
		ok(post_recv(b, 0, LONG_LEN, 7));
		ok(mix_post(verb, LONG_LEN, 1));
		ok(mix_post(SEND, SHORT, 2));
		poll_until_changed(
				verb == READ ? a->buffer : b->buffer, verb == READ ? SENT : BEFORE);
		ok(dat_lmr_free(a->lmr));
		memset(a->buffer, AFTER, BUFFER_LEN);
		mix_want(1, DAT_DTO_ERR_LOCAL_PROTECTION);
		mix_want(2, DAT_DTO_ERR_FLUSHED);
		want_broken(DAT_CONNECTION_EVENT_DISCONNECTED);
		want_dto(b, b->recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		want_bytes(a->buffer, AFTER, BUFFER_LEN);
		want_no_byte(b, AFTER);
		pair_close(&pair);
	}
}

/* The memory of a receive in progress goes. */
static void
free__of_a_buffer_that_is_being_filled(void **state)
{
	mix_up(DEPTH);
	mark_memory();
	post_recvs(7, 9, LONG_LEN);
	ok(mix_post(SEND, LONG_LEN, 1));
	ok(mix_post(SEND, SHORT, 2));
	poll_until_changed(b->buffer, BEFORE);
	ok(dat_lmr_free(b->lmr));
	memset(b->buffer, AFTER, BUFFER_LEN);
	mix_want(1, DAT_DTO_ERR_REMOTE_RESPONDER);
	mix_want(2, DAT_DTO_ERR_FLUSHED);
	want_broken(DAT_CONNECTION_EVENT_BROKEN);
	want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_dto(b, b->recv, 8, DAT_DTO_ERR_FLUSHED, 0);
	want_bytes(b->buffer, AFTER, BUFFER_LEN);
}

/* Post the same again and again as there is room, until @p n posts were made or the connection ended. */
static uint64_t
post_load(enum verb verb, uint64_t n)
{
	uint64_t posted = 0;

	while (posted < n && mix_post(verb, 16384, posted) == DAT_SUCCESS)
		posted++;
	return posted;
}

/* All completions of @p posted requests: successes, one failure, and nothing but flushed ones behind it. */
static void
want_load(uint64_t posted, DAT_DTO_COMPLETION_STATUS failure)
{
	bool failed = false;

	for (uint64_t i = 0; i < posted; i++) {
		DAT_DTO_COMPLETION_STATUS status;
		uint64_t value;
		DAT_EVENT event = next_event(a->request);

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

/** The memory that is freed in a round, and the requests that work on it. */
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
free_under_load(const struct round *r, uint64_t posted)
{
	struct end *victim = r->own ? a : b;

	for (unsigned int i = 0; i < r->yields; i++)
		sched_yield();
	if (r->own)
		ok(dat_lmr_free(a->lmr));
	else
		free_memory(r->by_window, r->lmr, r->rmr);
	memset(victim->buffer, AFTER, BUFFER_LEN);
	/* If it all was over before, one more request needs the memory, or is refused where it is posted. */
	return mix_post(r->verb, SHORT, posted) == DAT_SUCCESS ? posted + 1 : posted;
}

/* Requests whose own memory was freed may have been done before: then the connection stands, and none failed. */
static void
end_own_load(uint64_t posted)
{
	if (end_state(a) == DAT_EP_STATE_CONNECTED)
		ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	for (uint64_t i = 0; i < posted; i++)
		want_event(a->request, DAT_DTO_COMPLETION_EVENT);
}

/*
 * The same while another thread works on both adapters, at a moment of chance: when the call returns nobody is in the
 * memory any more, and nobody comes back.
 */
static void
free__while_another_thread_works(void **state)
{
#define ROUNDS 24
#define LOAD   256
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct round r = {
			.verb = i % 2 != 0 ? READ : WRITE,
			.by_window = i / 2 % 2 != 0,
			.own = i / 4 % 2 != 0,
			.yields = i,
		};
		static struct poller t;
		uint64_t posted;

		mix_up(LOAD);
		mark_memory();
		open_memory(r.by_window, &r.lmr, &r.rmr);
		begin_to_poll(&t, a->cr, b->cr);
		posted = free_under_load(&r, post_load(r.verb, LOAD));
		if (r.own)
			end_own_load(posted);
		else
			want_load(posted, DAT_DTO_ERR_REMOTE_ACCESS);
		end_polling(&t);
		want_bytes((r.own ? a : b)->buffer, AFTER, BUFFER_LEN);
		want_no_byte(r.own ? b : a, AFTER);
		pair_close(&pair);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(free__of_what_the_peer_works_on),
	rig_test(free__of_what_a_later_request_needs),
	rig_test(free__of_a_requests_own_memory),
	rig_test(free__of_a_buffer_that_is_being_filled),
	rig_test(free__while_another_thread_works),
	tests_end,
};
