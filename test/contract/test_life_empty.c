/* SPDX-License-Identifier: BSD-3-Clause */
/* An empty queue: the sender is told that the receiver is not ready, waits and goes on when a buffer comes. */

#include "crowd.h"

#define RNR_POLLS 20 /**< enough for a message to come and to be refused */

/*
 * With an empty queue an endpoint does what one with a queue of its own does that is empty: nothing is lost, nothing
 * completes, nobody hears of it; each buffer lets one message through, in order, short or long.
 * Proves: srq_create.8
 */
static void
empty__sender_waits_and_goes_on(void **state)
{
	static const DAT_VLEN length[] = { 64, 0, 5000, LONG_LEN };
	const struct end_options kinds[] = { { .srq_depth = 4 }, { .srq_depth = 0 } };

	for (unsigned int kind = 0; kind < 2; kind++) {
		print_message("%s\n", kind == 0 ? "shared" : "own");
		set_params("rnr_timer=1");
		pair_open(&pair, NULL, &kinds[kind]);
		pair_connect(&pair);
		for (uint64_t i = 0; i < 4; i++)
			ok(post_send(a, 0, length[i], i));
		want_silence(a->request);
		want_none(b->recv);
		want_held(b->ep, 0);
		for (uint64_t i = 0; i < 4; i++) {
			ok(feed(0, LONG_LEN, i));
			want_dto(b, b->recv, i, DAT_DTO_SUCCESS, length[i]);
			want_dto(a, a->request, i, DAT_DTO_SUCCESS, length[i]);
			want_none(b->recv);
		}
		want_none(a->connect);
		want_none(b->connect);
		want_none(b->async);
		pair_close(&pair);
	}
}

/* The queue is empty between two messages of a long talk, again and again, and never more than one buffer is there. */
/* Proves: srq_create.8 srq_create.9 */
static void
empty__again_and_again(void **state)
{
	uint64_t sent = 0;

	set_params("rnr_timer=1");
	srq_pair_up(&pair, 1, 1);
	for (uint64_t got = 0; got < 300; got++) {
		for (; sent < 300 && sent < got + 20; sent++)
			ok(post_send(a, 0, 64, sent));
		post_many(b, 1, got);
		want_counts(b->srq, 1, 1, 1);
		want_dto(b, b->recv, got, DAT_DTO_SUCCESS, 64);
		want_counts(b->srq, 1, 0, 0);
		want_dto(a, a->request, got, DAT_DTO_SUCCESS, 64);
	}
}

/*
 * Patience that is finite by configuration is counted anew for each message (decisions D1-D3): many messages find the
 * queue empty once, none twice as often as allowed.
 * Proves: srq_create.8
 */
static void
empty__finite_patience_starts_anew(void **state)
{
	set_params("rnr_retry=6 rnr_timer=20");
	srq_pair_up(&pair, 4, 1);
	for (uint64_t i = 0; i < 20; i++) {
		ok(post_send(a, 0, 64, i));
		poll_both(RNR_POLLS);
		want_none(b->recv);
		post_many(b, 1, i);
		want_passed(i, i, 64);
	}
	want_none(a->connect);
}

/*
 * Patience at its end: the request that found no buffer fails with RECEIVER_NOT_READY, those behind it are flushed,
 * then the connection is broken; the receiving end hears that it is over. The queue serves other connections, and
 * this one when it is made again.
 * Proves: srq_create.8 ep_set_watermark.6
 */
static void
empty__finite_patience_ends(void **state)
{
	DAT_EP_HANDLE client, server;

	set_params("rnr_retry=1 rnr_timer=1");
	srq_pair_up(&pair, 4, 1);
	client = a->ep;
	server = b->ep;
	add_connection(&pair);
	a->ep = client;
	b->ep = server;
	for (unsigned int round = 0; round < 10; round++) {
		post_sends(1, 3, 64);
		want_dto(a, a->request, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 0);
		want_dto(a, a->request, 2, DAT_DTO_ERR_FLUSHED, 0);
		want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
		want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_none(b->recv);
		want_counts(b->srq, 4, 0, 0);
		connect_again();
		pass(9);
	}
	want_none(a->connect);
}

/*
 * The receiving end asks to be tried for ever, and the sending end has a limit of its own: that one holds. A peer cannot have
 * another end keep a message for ever.
 */
static void
empty__senders_own_patience_ends(void **state)
{
	set_params("rnr_retry=1 rnr_timer=1");
	end_open(a, "loop0", NULL);
	set_params("rnr_retry=7 rnr_timer=1");
	end_open(b, "loop1", &(struct end_options){ .srq_depth = 4 });
	ok(dat_psp_create(b->ia, CONN_QUAL, b->cr, DAT_PSP_CONSUMER_FLAG, &pair.psp));
	pair_connect(&pair);
	ok(post_send(a, 0, 64, 1));
	want_dto(a, a->request, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
}

/* Several wait. A buffer serves one of them, not all and not none, and each is served in the end. */
/* Proves: srq_create.8 srq_create.10 */
static void
empty__several_wait(void **state)
{
#define PAIRS 8
	bool served[PAIRS] = { false };

	set_params("rnr_timer=1");
	crowd_open(PAIRS, 4, 64, 1);
	for (unsigned int i = 0; i < PAIRS; i++) {
		crowd_pick(i);
		ok(post_send(a, 0, 64, i));
	}
	poll_both(RNR_POLLS);
	for (unsigned int n = 0; n < PAIRS; n++) {
		const DAT_DTO_COMPLETION_EVENT_DATA *data;
		DAT_EVENT event;
		unsigned int i;

		post_many(b, 1, n);
		event = want_event(crowd.evd[0], DAT_DTO_COMPLETION_EVENT);
		data = &event.event_data.dto_completion_event_data;
		assert_int_equal(data->user_cookie.as_64, n);
		i = crowd_index(data->ep_handle);
		assert_false(served[i]);
		served[i] = true;
		want_none(crowd.evd[0]);
		want_counts(b->srq, 4, 0, 0);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(empty__sender_waits_and_goes_on),
	rig_test(empty__again_and_again),
	rig_test(empty__finite_patience_starts_anew),
	rig_test(empty__finite_patience_ends),
	rig_test(empty__senders_own_patience_ends),
	rig_test(empty__several_wait),
	tests_end,
};
