/* SPDX-License-Identifier: BSD-3-Clause */
/* An empty queue: the sender is told that the receiver is not ready, waits and goes on when a buffer comes. */

#include "rig.h"

#define RNR_POLLS 20 /**< enough for a message to come and to be refused */

static void
poll_both(struct pair *pair, int n)
{
	for (int i = 0; i < n; i++) {
		poll_once(&pair->a);
		poll_once(&pair->b);
	}
}

/* A buffer for b: from its queue, or of its own. */
static DAT_RETURN
feed(struct pair *pair, DAT_VLEN length, uint64_t value)
{
	return pair->b.srq != DAT_HANDLE_NULL ? post_srq(&pair->b, 0, length, value)
					      : post_recv(&pair->b, 0, length, value);
}

/*
 * With an empty queue an endpoint does what one with a queue of its own does that is empty: nothing is lost, nothing
 * completes, nobody hears of it; each buffer lets one message through, in order, short or long.
 *
 * Proves: srq_create.8
 */
static void
empty__sender_waits_and_goes_on(void **state)
{
	static const DAT_VLEN length[] = { 64, 0, 5000, LONG_LEN };
	const struct end_options kinds[] = { { .srq_depth = 4 }, { .srq_depth = 0 } };

	for (unsigned int kind = 0; kind < 2; kind++) {
		struct pair pair;

		print_message("%s\n", kind == 0 ? "shared" : "own");
		set_params("rnr_timer=1");
		pair_open(&pair, NULL, &kinds[kind]);
		pair_connect(&pair);
		for (uint64_t i = 0; i < 4; i++)
			ok(post_send(&pair.a, 0, length[i], i));
		want_silence(pair.a.request);
		want_none(pair.b.recv);
		want_held(pair.b.ep, 0);
		for (uint64_t i = 0; i < 4; i++) {
			ok(feed(&pair, LONG_LEN, i));
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, length[i]);
			want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, length[i]);
			want_none(pair.b.recv);
		}
		want_none(pair.a.connect);
		want_none(pair.b.connect);
		want_none(pair.b.async);
		pair_close(&pair);
	}
}

/*
 * The queue is empty between two messages of a long talk, again and again, and never more than one buffer is there.
 *
 * Proves: srq_create.8 srq_create.9
 */
static void
empty__again_and_again(void **state)
{
	struct pair pair;
	uint64_t sent = 0;

	set_params("rnr_timer=1");
	srq_pair_up(&pair, 1, 1);
	for (uint64_t got = 0; got < 300; got++) {
		for (; sent < 300 && sent < got + 20; sent++)
			ok(post_send(&pair.a, 0, 64, sent));
		post_many(&pair.b, 1, got);
		want_counts(pair.b.srq, 1, 1, 1);
		want_dto(&pair.b, pair.b.recv, got, DAT_DTO_SUCCESS, 64);
		want_counts(pair.b.srq, 1, 0, 0);
		want_dto(&pair.a, pair.a.request, got, DAT_DTO_SUCCESS, 64);
	}
	pair_close(&pair);
}

/*
 * Patience that is finite by configuration is counted anew for each message (decisions D1-D3): many messages find the
 * queue empty once, none twice as often as allowed.
 *
 * Proves: srq_create.8
 */
static void
empty__finite_patience_starts_anew(void **state)
{
	struct pair pair;

	set_params("rnr_retry=6 rnr_timer=20");
	srq_pair_up(&pair, 4, 1);
	for (uint64_t i = 0; i < 20; i++) {
		ok(post_send(&pair.a, 0, 64, i));
		poll_both(&pair, RNR_POLLS);
		want_none(pair.b.recv);
		post_many(&pair.b, 1, i);
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
	}
	want_none(pair.a.connect);
	pair_close(&pair);
}

/*
 * Patience at its end: the request that found no buffer fails with RECEIVER_NOT_READY, those behind it are flushed,
 * then the connection is broken; the receiving end hears that it is over. The queue serves other connections, and
 * this one when it is made again.
 *
 * Proves: srq_create.8 ep_set_watermark.6
 */
static void
empty__finite_patience_ends(void **state)
{
	DAT_EP_HANDLE client, server;
	struct pair pair;

	set_params("rnr_retry=1 rnr_timer=1");
	srq_pair_up(&pair, 4, 1);
	client = pair.a.ep;
	server = pair.b.ep;
	add_connection(&pair);
	pair.a.ep = client;
	pair.b.ep = server;
	for (unsigned int round = 0; round < 10; round++) {
		ok(post_send(&pair.a, 0, 64, 1));
		ok(post_send(&pair.a, 0, 64, 2));
		want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 0);
		want_dto(&pair.a, pair.a.request, 2, DAT_DTO_ERR_FLUSHED, 0);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_none(pair.b.recv);
		want_counts(pair.b.srq, 4, 0, 0);
		connect_again(&pair);
		post_many(&pair.b, 1, 9);
		deliver(&pair, 64);
		want_dto(&pair.b, pair.b.recv, 9, DAT_DTO_SUCCESS, 64);
	}
	want_none(pair.a.connect);
	pair_close(&pair);
}

/*
 * Several wait. A buffer serves one of them, not all and not none, and each is served in the end.
 *
 * Proves: srq_create.8 srq_create.10
 */
static void
empty__several_wait(void **state)
{
	enum {
		PAIRS = 8
	};
	static struct crowd crowd;
	bool served[PAIRS] = { false };

	set_params("rnr_timer=1");
	crowd_open(&crowd, PAIRS, 4, 64, 1);
	for (unsigned int i = 0; i < PAIRS; i++) {
		crowd_pick(&crowd, i);
		ok(post_send(&crowd.pair.a, 0, 64, i));
	}
	poll_both(&crowd.pair, RNR_POLLS);
	for (unsigned int n = 0; n < PAIRS; n++) {
		const DAT_DTO_COMPLETION_EVENT_DATA *data;
		DAT_EVENT event;
		unsigned int i;

		post_many(&crowd.pair.b, 1, n);
		event = want_event(crowd.evd[0], DAT_DTO_COMPLETION_EVENT);
		data = &event.event_data.dto_completion_event_data;
		assert_int_equal(data->user_cookie.as_64, n);
		i = crowd_index(&crowd, data->ep_handle);
		assert_false(served[i]);
		served[i] = true;
		want_none(crowd.evd[0]);
		want_counts(crowd.pair.b.srq, 4, 0, 0);
	}
	pair_close(&crowd.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(empty__sender_waits_and_goes_on),
		rig_test(empty__again_and_again),
		rig_test(empty__finite_patience_starts_anew),
		rig_test(empty__finite_patience_ends),
		rig_test(empty__several_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
