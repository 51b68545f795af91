/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a connection whose send queue holds requests of every kind: drained in order, or flushed in order. */

#include <stdio.h>

#include "mix.h"

#define DEPTH  32
#define SHORT  64
#define NUMBER 24 /**< requests of a full queue: every kind, six times */

/* All of a's events on one dispatcher, so that their order shows. */
static void
up_on_one(void)
{
	const DAT_EP_ATTR attr = {
		.max_request_dtos = DEPTH,
		.max_recv_dtos = DEPTH,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};

	pair_open(&pair, &(struct end_options){ .evd_len = 128 },
			&(struct end_options){ .evd_len = 128, .depth = DEPTH });
	a->request = make_evd_of(a, 4 * DEPTH,
			DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_CONNECTION_FLAG);
	a->connect = a->request;
	use_ep(a, &attr);
	mix_begin();
	pair_connect(&pair);
}

/* Fill both buffers, post receives for all sends, and @p n requests, every kind in turn, with cookies from 0 on. */
static void
load(unsigned int n, DAT_VLEN length)
{
	for (uint64_t i = 0; i < n / VERBS; i++)
		ok(post_recv(b, 0, length, i));
	for (uint64_t i = 0; i < n; i++)
		ok(mix_post(i % VERBS, length, i));
}

/** The events of a's dispatcher up to the one that ends the connection. */
struct tale {
	unsigned int completed; /**< successes, the first so many */
	unsigned int failed;    /**< requests that end with the first failure, 0 or 1 */
	unsigned int flushed;   /**< and those behind it */
	DAT_DTO_COMPLETION_STATUS failure;
	DAT_EVENT_NUMBER end;
};

/*
 * Each request completes once, in its turn; from the first failure on there are no successes; the end comes last. With
 * zero_copy= some may come behind the end, when the peer has read their frames.
 */
static struct tale
read_tale(void)
{
	const bool ends_early = form_has("zero_copy=");
	struct tale tale = { .completed = 0 };
	uint64_t next = 0;

	while (tale.end == 0 || (ends_early && next < NUMBER)) {
		DAT_DTO_COMPLETION_STATUS status;
		uint64_t value;
		DAT_EVENT event;
		DAT_COUNT more;

		ok(dat_evd_wait(a->request, PATIENCE_US, 1, &event, &more));
		if (event.event_number != DAT_DTO_COMPLETION_EVENT &&
				event.event_number != DAT_RMR_BIND_COMPLETION_EVENT) {
			assert_int_equal(tale.end, 0);
			tale.end = event.event_number;
			assert_true(more == 0 || ends_early);
			continue;
		}
		/* Binds and transfers tell themselves apart. */
		assert_int_equal(event.event_number == DAT_RMR_BIND_COMPLETION_EVENT,
				next % VERBS == BIND);
		mix_result(&event, &value, &status);
		assert_int_equal(value, next++);
		if (status == DAT_DTO_SUCCESS) {
			assert_int_equal(tale.failed + tale.flushed, 0);
			tale.completed++;
		} else if (status == DAT_DTO_ERR_FLUSHED) {
			tale.flushed++;
		} else {
			assert_int_equal(tale.failed + tale.flushed, 0);
			tale.failed = 1;
			tale.failure = status;
		}
	}
	want_none(a->request);
	return tale;
}

/* All requests completed, failed or were flushed, so many of each, and the connection ended that way. */
static void
want_tale(const struct tale *t, unsigned int completed, unsigned int failed, DAT_EVENT_NUMBER end)
{
	assert_int_equal(t->completed, completed);
	assert_int_equal(t->failed, failed);
	assert_int_equal(t->completed + t->failed + t->flushed, NUMBER);
	assert_int_equal(t->end, end);
}

/* b's receives: the first @p n got their message, the others were flushed; then its end. */
static void
want_receives(unsigned int n, unsigned int all, DAT_EVENT_NUMBER end)
{
	want_event(b->connect, end);
	for (unsigned int i = 0; i < all; i++)
		want_dto_now(b, b->recv, i, i < n ? DAT_DTO_SUCCESS : DAT_DTO_ERR_FLUSHED);
	want_none(b->recv);
}

/* Graceful: everything that was posted is done first, however long it takes, and nothing new is taken. */
static void
ends__graceful_drains_in_order(void **state)
{
	for (int busy = 0; busy < 2; busy++) {
		struct tale tale;

		up_on_one();
		load(NUMBER, busy ? 100000 : SHORT);
		for (int i = 0; i < busy; i++)
			poll_once(a);
		ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
		assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECT_PENDING);
		for (enum verb verb = SEND; verb < VERBS; verb++)
			want_bad_state(mix_post(verb, SHORT, 99), EP_DISCPENDING);
		tale = read_tale();
		want_tale(&tale, NUMBER, 0, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_receives(NUMBER / VERBS, NUMBER / VERBS, DAT_CONNECTION_EVENT_DISCONNECTED);
		pair_close(&pair);
	}
}

/* Abrupt: what is done is told as done, the rest as flushed, and the end behind it, all of it before the call returns. */
static void
ends__abrupt_flushes_in_order(void **state)
{
	unsigned int seen = 0;

	for (unsigned int polls = 0; polls < 60; polls += 4) {
		struct tale tale;

		up_on_one();
		load(NUMBER, 20000);
		poll_both(polls);
		ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
		assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
		tale = read_tale();
		want_tale(&tale, tale.completed, 0, DAT_CONNECTION_EVENT_DISCONNECTED);
		if (polls == 0)
			assert_int_equal(tale.completed, 0);
		seen += tale.completed != 0 && tale.flushed != 0;
		want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		pair_close(&pair);
	}
	/* Some of them ended in the middle. */
	assert_true(seen > 0);
}

/* An abrupt one cuts a graceful one short. */
static void
ends__abrupt_behind_graceful(void **state)
{
	struct tale tale;

	up_on_one();
	load(NUMBER, 20000);
	poll_once(a);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	poll_once(a);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	tale = read_tale();
	want_tale(&tale, tale.completed, 0, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_true(tale.flushed > 0);
}

/* The peer goes: graceful, abrupt, or by freeing its endpoint. Unanswered requests are flushed in order. */
static void
ends__by_the_peer(void **state)
{
	for (int way = 0; way < 3; way++) {
		struct tale tale;

		up_on_one();
		load(NUMBER, 200000);
		poll_both(8);
		if (way == 2)
			ok(dat_ep_free(b->ep));
		else
			ok(dat_ep_disconnect(b->ep,
					way == 0 ? DAT_CLOSE_GRACEFUL_FLAG
						 : DAT_CLOSE_ABRUPT_FLAG));
		tale = read_tale();
		want_tale(&tale, tale.completed, 0, DAT_CONNECTION_EVENT_DISCONNECTED);
		assert_true(tale.flushed > 0);
		pair_close(&pair);
	}
}

/*
 * A request in the middle fails: those before it are done, those behind it flushed, in order, and the end comes last.
 * In front of it stands each number of requests, so that each kind is the last that succeeds, and the first flushed.
 */
static void
ends__break_in_the_middle(void **state)
{
	for (unsigned int at = 0; at < 2 * VERBS; at++) {
		struct tale tale;

		up_on_one();
		for (uint64_t i = 0; i < NUMBER / VERBS; i++)
			ok(post_recv(b, 0, SHORT, i));
		for (uint64_t i = 0; i < NUMBER; i++) {
			/* The first write or read from @c at on, and all behind it, name a bad key: the first fails. */
			if (i >= at && (i % VERBS == WRITE || i % VERBS == READ))
				mix.target = 0x12345678;
			ok(mix_post(i % VERBS, SHORT, i));
		}
		tale = read_tale();
		while (at % VERBS != WRITE && at % VERBS != READ)
			at++;
		want_tale(&tale, at, 1, DAT_CONNECTION_EVENT_BROKEN);
		assert_int_equal(tale.failure, DAT_DTO_ERR_REMOTE_ACCESS);
		want_receives((at + VERBS - 1) / VERBS, NUMBER / VERBS,
				DAT_CONNECTION_EVENT_BROKEN);
		pair_close(&pair);
	}
}

/* A bind in the middle fails because its region is freed behind it in time and in front of it in the queue. */
static void
ends__break_by_a_bind(void **state)
{
	struct tale tale;

	up_on_one();
	ok(post_recv(b, 0, SHORT, 0));
	for (uint64_t i = 0; i < NUMBER; i++) {
		DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
		DAT_LMR_CONTEXT key = a->key;

		if (i == BIND)
			lmr = register_bytes(
					a, BUFFER_LEN, a->pz, DAT_MEM_PRIV_ALL_FLAG, &a->key, NULL);
		ok(mix_post(i % VERBS, SHORT, i));
		a->key = key;
		if (i == BIND)
			ok(dat_lmr_free(lmr));
	}
	tale = read_tale();
	want_tale(&tale, BIND, 1, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(tale.failure, DAT_RMR_OPERATION_FAILED);
}

/* A fault on purpose: what happens is what happens when the peer does not answer, at a request that the seed chooses. */
static void
ends__break_by_a_fault(void **state)
{
	for (unsigned int seed = 1; seed <= 8; seed++) {
		struct tale tale;
		char params[64];

		snprintf(params, sizeof(params), "wc_error=20%% seed=%u", seed);
		set_params(params);
		up_on_one();
		load(NUMBER, SHORT);
		tale = read_tale();
		want_tale(&tale, tale.completed, 1, DAT_CONNECTION_EVENT_BROKEN);
		assert_int_equal(tale.failure, DAT_DTO_ERR_TRANSPORT);
		want_receives((tale.completed + VERBS - 1) / VERBS, NUMBER / VERBS,
				DAT_CONNECTION_EVENT_DISCONNECTED);
		pair_close(&pair);
	}
}

/* No request or event is left over for the next connection of the same endpoint. */
static void
ends__and_begins_again(void **state)
{
	up_on_one();
	for (int round = 0; round < 4; round++) {
		struct tale tale;
		DAT_BOOLEAN idle;

		load(NUMBER, 5000);
		for (int i = 0; i < round; i++)
			poll_once(a);
		ok(dat_ep_disconnect(a->ep,
				round % 2 != 0 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG));
		tale = read_tale();
		want_tale(&tale, tale.completed, 0, DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_get_status(a->ep, NULL, NULL, &idle));
		assert_int_equal(idle, DAT_TRUE);
		want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		for (unsigned int i = 0; i < NUMBER / VERBS; i++)
			want_event(b->recv, DAT_DTO_COMPLETION_EVENT);
		connect_again();
	}
	load(NUMBER, SHORT);
	for (uint64_t i = 0; i < NUMBER; i++)
		mix_want(i, DAT_DTO_SUCCESS);
}

const struct CMUnitTest tests[] = {
	rig_test(ends__graceful_drains_in_order),
	rig_test(ends__abrupt_flushes_in_order),
	rig_test(ends__abrupt_behind_graceful),
	rig_test(ends__by_the_peer),
	rig_test(ends__break_in_the_middle),
	rig_test(ends__break_by_a_bind),
	rig_test(ends__break_by_a_fault),
	rig_test(ends__and_begins_again),
	tests_end,
};
