/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hard high watermark of dat_ep_set_watermark: the connection of an endpoint that has more buffers breaks. An
 * endpoint on a shared queue holds one at most, that of the message in progress: 0 is the mark it exceeds.
 */

#include "rig.h"

#define NONE DAT_WATERMARK_INFINITE

/*
 * The buffer that is one too many comes back flushed, before the event when both go to one dispatcher; the connection
 * is broken at both ends; there is no asynchronous event (A8). What lies on the queue stays there.
 *
 * Proves: ep_set_watermark.3 srq_post_recv.9
 */
static void
hard__breaks_the_connection(void **state)
{
	struct pair pair;

	srq_pair_open(&pair, 8, 1);
	use_one_evd(&pair.b);
	pair_connect(&pair);
	post_many(&pair.b, 3, 0);
	deliver(&pair, 64);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	ok(post_send(&pair.a, 0, 64, 7));
	ok(post_send(&pair.a, 0, 64, 8));
	want_peer_broken(&pair, 7, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_dto(&pair.a, pair.a.request, 8, DAT_DTO_ERR_FLUSHED, 0);
	want_counts(pair.b.srq, 8, 1, 3);
	want_dto_now(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS);
	want_dto_now(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_FLUSHED);
	want_now(pair.b.recv, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	want_held(pair.b.ep, 0);
	want_counts(pair.b.srq, 8, 1, 1);
	want_silence(pair.b.async);
	want_none(pair.b.recv);
	/* The queue serves on; the mark stays with the endpoint until it is set anew. */
	connect_again(&pair);
	ok(post_send(&pair.a, 0, 64, 9));
	want_peer_broken(&pair, 9, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_dto_now(&pair.b, pair.b.recv, 2, DAT_DTO_ERR_FLUSHED);
	want_now(pair.b.recv, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	connect_again(&pair);
	post_many(&pair.b, 1, 3);
	deliver(&pair, 64);
	want_dto_now(&pair.b, pair.b.recv, 3, DAT_DTO_SUCCESS);
	want_counts(pair.b.srq, 8, 0, 0);
	pair_close(&pair);
}

/*
 * One buffer does not exceed a mark of one, however many messages come (A7).
 *
 * Proves: ep_set_watermark.3 ep_set_watermark.4
 */
static void
hard__equal_is_not_more(void **state)
{
	struct pair pair;

	srq_pair_open(&pair, 64, 1);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 1));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 10; i++) {
		ok(post_srq(&pair.b, 0, LONG_LEN, i));
		begin_long(&pair, i);
		want_held(pair.b.ep, 1);
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, LONG_LEN);
	}
	for (uint64_t i = 0; i < 10; i++)
		want_dto_now(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS);
	want_none(pair.b.connect);
	want_none(pair.b.async);
	pair_close(&pair);
}

/*
 * Exceeded already: the connection breaks inside the call.
 *
 * Proves: ep_set_watermark.5 ep_set_watermark.3
 */
static void
hard__at_once_when_exceeded_already(void **state)
{
	DAT_EVENT event;
	DAT_COUNT more;
	struct pair pair;

	srq_pair_open(&pair, 4, 1);
	use_one_evd(&pair.b);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_srq(&pair.b, 0, LONG_LEN, 5));
	begin_long(&pair, 6);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 1));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	want_held(pair.b.ep, 0);
	want_counts(pair.b.srq, 4, 0, 1);
	/* Behind the event that is first in line stand two more, before anything could be polled. */
	ok(dat_evd_wait(pair.b.recv, PATIENCE_US, 1, &event, &more));
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_int_equal(more, 2);
	want_dto_now(&pair.b, pair.b.recv, 5, DAT_DTO_ERR_FLUSHED);
	want_now(pair.b.recv, DAT_CONNECTION_EVENT_BROKEN);
	want_counts(pair.b.srq, 4, 0, 0);
	/* No packet was refused, so the peer hears that it is over. */
	want_dto(&pair.a, pair.a.request, 6, DAT_DTO_ERR_FLUSHED, 0);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_none(pair.b.async);
	pair_close(&pair);
}

/* An endpoint with a queue of its own at b, with @p n receives on it, and one dispatcher for all. */
static void
own_queue(struct pair *pair, uint64_t n)
{
	struct end *b = &pair->b;

	pair_open(pair, NULL, NULL);
	b->recv = make_evd(b, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
	b->connect = b->recv;
	ok(dat_ep_free(b->ep));
	ok(dat_ep_create(b->ia, b->pz, b->recv, b->recv, b->recv, NULL, &b->ep));
	for (uint64_t i = 0; i < n; i++)
		ok(post_recv(b, 0, 64, i));
}

/* Everything is flushed in order, then the break; the peer, which sent nothing, hears that it is over. */
static void
want_own_queue_broken(struct pair *pair, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		want_dto(&pair->b, pair->b.recv, i, DAT_DTO_ERR_FLUSHED, 0);
	want_event(pair->b.recv, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(&pair->b), DAT_EP_STATE_DISCONNECTED);
	want_held(pair->b.ep, 0);
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(pair->b.recv);
	want_none(pair->b.async);
}

/*
 * On a queue of its own an endpoint has what was posted: the post that exceeds the mark breaks the connection, and a
 * mark below what is posted breaks it at once.
 *
 * Proves: ep_set_watermark.8 ep_set_watermark.3 ep_set_watermark.5
 */
static void
hard__counts_what_is_posted(void **state)
{
	struct pair pair;

	own_queue(&pair, 2);
	pair_connect(&pair);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 3));
	ok(post_recv(&pair.b, 0, 64, 2));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	ok(post_recv(&pair.b, 0, 64, 3));
	want_own_queue_broken(&pair, 4);
	pair_close(&pair);

	own_queue(&pair, 4);
	pair_connect(&pair);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 4));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 3));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	want_own_queue_broken(&pair, 4);
	pair_close(&pair);
}

/*
 * There is nothing to break before the connection is there, and it breaks as soon as it is: at the passive end as at
 * the active one.
 *
 * Proves: ep_set_watermark.7 ep_set_watermark.1
 */
static void
hard__armed_from_the_moment_of_connection(void **state)
{
	struct end swap;
	struct pair pair;

	for (int active = 0; active < 2; active++) {
		print_message("%s\n", active ? "active" : "passive");
		own_queue(&pair, 3);
		if (active) {
			/* The other way round: the end with the mark connects. */
			swap = pair.a;
			pair.a = pair.b;
			pair.b = swap;
			ok(dat_psp_create(pair.b.ia, CONN_QUAL, pair.b.cr, DAT_PSP_CONSUMER_FLAG,
					&pair.psp));
		}
		ok(dat_ep_set_watermark(active ? pair.a.ep : pair.b.ep, NONE, 2));
		ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
		ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
		if (active) {
			swap = pair.a;
			pair.a = pair.b;
			pair.b = swap;
		}
		want_own_queue_broken(&pair, 3);
		pair_close(&pair);
	}
}

static void
want_broken(struct pair *pair, uint64_t value)
{
	post_many(&pair->b, 1, value);
	ok(post_send(&pair->a, 0, 64, value));
	want_dto(&pair->b, pair->b.recv, value, DAT_DTO_ERR_FLUSHED, 0);
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_peer_broken(pair, value, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_counts(pair->b.srq, 8, 0, 0);
}

/*
 * It may be set in every state, and in those without a connection waits for the next one.
 *
 * Proves: ep_set_watermark.1 ep_set_watermark.7
 */
static void
hard__in_every_state(void **state)
{
	DAT_CR_HANDLE cr;
	struct pair pair;

	srq_pair_open(&pair, 8, 1);
	print_message("unconnected\n");
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	pair_connect(&pair);
	want_broken(&pair, 1);
	print_message("disconnected\n");
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	want_none(pair.b.connect);
	connect_again(&pair);
	want_broken(&pair, 2);
	print_message("completion pending\n");
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	ok(dat_ep_reset(pair.a.ep));
	ok(dat_ep_reset(pair.b.ep));
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_COMPLETION_PENDING);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_broken(&pair, 3);
	print_message("connected\n");
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	connect_again(&pair);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	want_broken(&pair, 4);
	print_message("disconnect pending\n");
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	connect_again(&pair);
	ok(post_send(&pair.b, 0, 64, 70));
	ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	ok(dat_ep_set_watermark(pair.b.ep, NONE, 0));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECT_PENDING);
	want_broken(&pair, 5);
	want_dto(&pair.b, pair.b.request, 70, DAT_DTO_ERR_FLUSHED, 0);
	want_silence(pair.b.connect);
	pair_close(&pair);
}

/*
 * The marks do not know of each other: each acts alone, and both at once tell both.
 *
 * Proves: ep_set_watermark.1
 */
static void
marks__are_independent(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	/* Soft exceeded, hard far away. */
	ok(dat_ep_set_watermark(pair.b.ep, 0, 5));
	post_many(&pair.b, 1, 1);
	deliver(&pair, 64);
	want_soft(pair.b.async, pair.b.ep);
	want_dto_now(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	/* Hard exceeded, soft far away. */
	ok(dat_ep_set_watermark(pair.b.ep, 5, 0));
	want_broken(&pair, 2);
	want_none(pair.b.async);
	/* Both, by one buffer. */
	ok(dat_ep_set_watermark(pair.b.ep, 0, 0));
	connect_again(&pair);
	want_broken(&pair, 3);
	want_soft(pair.b.async, pair.b.ep);
	/* The soft one has spoken, the hard one is in force. */
	connect_again(&pair);
	want_broken(&pair, 4);
	want_none(pair.b.async);
	/* Both, by one call. */
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	connect_again(&pair);
	ok(post_srq(&pair.b, 0, LONG_LEN, 5));
	begin_long(&pair, 5);
	ok(dat_ep_set_watermark(pair.b.ep, 0, 0));
	want_soft(pair.b.async, pair.b.ep);
	want_dto_now(&pair.b, pair.b.recv, 5, DAT_DTO_ERR_FLUSHED);
	want_now(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_none(pair.b.async);
	pair_close(&pair);
}

/*
 * A mark that nothing exceeds does not save a connection whose message finds no buffer, when the peer's patience is
 * finite (decisions D1-D3): its request fails with RECEIVER_NOT_READY, and the connection is over at both ends.
 *
 * Proves: ep_set_watermark.6
 */
static void
hard__none_does_not_help_without_a_buffer(void **state)
{
	struct pair pair;
	DAT_EVENT event;

	set_params("rnr_retry=2 rnr_timer=1");
	srq_pair_up(&pair, 4, 1);
	ok(dat_ep_set_watermark(pair.b.ep, NONE, NONE));
	ok(post_send(&pair.a, 0, 64, 1));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 0);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	event = want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, pair.b.ep);
	want_counts(pair.b.srq, 4, 0, 0);
	want_none(pair.b.async);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(hard__breaks_the_connection),
		rig_test(hard__equal_is_not_more),
		rig_test(hard__at_once_when_exceeded_already),
		rig_test(hard__counts_what_is_posted),
		rig_test(hard__armed_from_the_moment_of_connection),
		rig_test(hard__in_every_state),
		rig_test(marks__are_independent),
		rig_test(hard__none_does_not_help_without_a_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
