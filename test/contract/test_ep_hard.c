/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hard high watermark of dat_ep_set_watermark: the connection of an endpoint that has more buffers breaks. An
 * endpoint on a shared queue holds one at most, that of the message in progress: 0 is the mark it exceeds.
 */

#include "rig.h"

#define NONE DAT_WATERMARK_INFINITE

/*
 * The buffer that is one too many comes back flushed, before the event when both go to one dispatcher; the connection
 * is broken at both ends; there is no asynchronous event (A8). Buffers on the queue stay there.
 * Proves: ep_set_watermark.3 srq_post_recv.9
 */
static void
hard__breaks_the_connection(void **state)
{
	use_one_evd(b);
	pair_connect(&pair);
	post_many(b, 3, 0);
	deliver(&pair, 64);
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	post_sends(7, 9, 64);
	want_peer_broken(7, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_dto(a, a->request, 8, DAT_DTO_ERR_FLUSHED, 0);
	want_counts(b->srq, 8, 1, 3);
	want_dto_now(b, b->recv, 0, DAT_DTO_SUCCESS);
	want_dto_now(b, b->recv, 1, DAT_DTO_ERR_FLUSHED);
	want_now(b->recv, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
	want_held(b->ep, 0);
	want_counts(b->srq, 8, 1, 1);
	want_silence(b->async);
	want_none(b->recv);
	/* The queue serves on; the mark stays with the endpoint until it is set anew. */
	connect_again();
	ok(post_send(a, 0, 64, 9));
	want_peer_broken(9, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_dto_now(b, b->recv, 2, DAT_DTO_ERR_FLUSHED);
	want_now(b->recv, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	connect_again();
	pass(3);
	want_counts(b->srq, 8, 0, 0);
}

/* One buffer does not exceed a mark of one, however many messages come (A7). */
/* Proves: ep_set_watermark.3 ep_set_watermark.4 */
static void
hard__equal_is_not_more(void **state)
{
	ok(dat_ep_set_watermark(b->ep, NONE, 1));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 10; i++) {
		ok(post_srq(b, 0, LONG_LEN, i));
		begin_long(&pair, i);
		want_held(b->ep, 1);
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, LONG_LEN);
	}
	want_received_now(0, 10);
	want_none(b->connect);
	want_none(b->async);
}

/* Exceeded already: the connection breaks inside the call. */
/* Proves: ep_set_watermark.5 ep_set_watermark.3 */
static void
hard__at_once_when_exceeded_already(void **state)
{
	use_one_evd(b);
	begin_connection();
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_srq(b, 0, LONG_LEN, 5));
	begin_long(&pair, 6);
	ok(dat_ep_set_watermark(b->ep, NONE, 1));
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
	want_held(b->ep, 0);
	want_counts(b->srq, 4, 0, 1);
	/* Behind the event that is first in line stand two more, before anything could be polled. */
	want_event_before(b->recv, DAT_CONNECTION_EVENT_ESTABLISHED, 2);
	want_dto_now(b, b->recv, 5, DAT_DTO_ERR_FLUSHED);
	want_now(b->recv, DAT_CONNECTION_EVENT_BROKEN);
	want_counts(b->srq, 4, 0, 0);
	/* No packet was refused, so the peer hears that it is over. */
	want_dto(a, a->request, 6, DAT_DTO_ERR_FLUSHED, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_none(b->async);
}

/* An endpoint with a queue of its own at b, with @p n receives on it, and one dispatcher for all. */
static void
own_queue(uint64_t n)
{
	pair_open(&pair, NULL, NULL);
	b->recv = make_evd(b, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
	b->request = b->recv;
	b->connect = b->recv;
	use_ep(b, NULL);
	post_recvs(0, n, 64);
}

/* Everything is flushed in order, then the break; the peer, which sent nothing, hears that it is over. */
static void
want_own_queue_broken(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		want_dto(b, b->recv, i, DAT_DTO_ERR_FLUSHED, 0);
	want_event(b->recv, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
	want_held(b->ep, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(b->recv);
	want_none(b->async);
}

/*
 * On a queue of its own an endpoint has what was posted: the post that exceeds the mark breaks the connection, and a
 * mark below what is posted breaks it at once.
 * Proves: ep_set_watermark.8 ep_set_watermark.3 ep_set_watermark.5
 */
static void
hard__counts_what_is_posted(void **state)
{
	own_queue(2);
	pair_connect(&pair);
	ok(dat_ep_set_watermark(b->ep, NONE, 3));
	ok(post_recv(b, 0, 64, 2));
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	ok(post_recv(b, 0, 64, 3));
	want_own_queue_broken(4);
	pair_close(&pair);

	own_queue(4);
	pair_connect(&pair);
	ok(dat_ep_set_watermark(b->ep, NONE, 4));
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_set_watermark(b->ep, NONE, 3));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
	want_own_queue_broken(4);
}

/* The other way round: b connects. */
static void
swap_ends(void)
{
	const struct end end = *a;

	*a = *b;
	*b = end;
}

/*
 * There is nothing to break before the connection is there, and it breaks as soon as it is: at the passive end as at
 * the active one.
 * Proves: ep_set_watermark.7 ep_set_watermark.1
 */
static void
hard__armed_from_the_moment_of_connection(void **state)
{
	for (int active = 0; active < 2; active++) {
		print_message("%s\n", active ? "active" : "passive");
		own_queue(3);
		if (active) {
			swap_ends();
			pair.psp = make_psp(b, CONN_QUAL, b->cr);
		}
		ok(dat_ep_set_watermark(active ? a->ep : b->ep, NONE, 2));
		begin_connection();
		want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
		if (active)
			swap_ends();
		want_own_queue_broken(3);
		pair_close(&pair);
	}
}

static void
want_broken(uint64_t value)
{
	post_many(b, 1, value);
	ok(post_send(a, 0, 64, value));
	want_dto(b, b->recv, value, DAT_DTO_ERR_FLUSHED, 0);
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_peer_broken(value, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_counts(b->srq, 8, 0, 0);
}

/* It may be set in every state, and in those without a connection waits for the next one. */
/* Proves: ep_set_watermark.1 ep_set_watermark.7 */
static void
hard__in_every_state(void **state)
{
	print_message("unconnected\n");
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	pair_connect(&pair);
	want_broken(1);
	print_message("disconnected\n");
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	want_none(b->connect);
	connect_again();
	want_broken(2);
	print_message("completion pending\n");
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	reset_both();
	begin_connection();
	assert_int_equal(end_state(b), DAT_EP_STATE_COMPLETION_PENDING);
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	want_broken(3);
	print_message("connected\n");
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	connect_again();
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	want_broken(4);
	print_message("disconnect pending\n");
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	connect_again();
	ok(post_send(b, 0, 64, 70));
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	ok(dat_ep_set_watermark(b->ep, NONE, 0));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECT_PENDING);
	want_broken(5);
	want_dto(b, b->request, 70, DAT_DTO_ERR_FLUSHED, 0);
	want_silence(b->connect);
}

/* The marks do not know of each other: each acts alone, and both at once tell both. */
/* Proves: ep_set_watermark.1 */
static void
marks__are_independent(void **state)
{
	/* Soft exceeded, hard far away. */
	ok(dat_ep_set_watermark(b->ep, 0, 5));
	post_many(b, 1, 1);
	deliver(&pair, 64);
	want_soft(b->async, b->ep);
	want_dto_now(b, b->recv, 1, DAT_DTO_SUCCESS);
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	/* Hard exceeded, soft far away. */
	ok(dat_ep_set_watermark(b->ep, 5, 0));
	want_broken(2);
	want_none(b->async);
	/* Both, by one buffer. */
	ok(dat_ep_set_watermark(b->ep, 0, 0));
	connect_again();
	want_broken(3);
	want_soft(b->async, b->ep);
	/* The soft one has spoken, the hard one is in force. */
	connect_again();
	want_broken(4);
	want_none(b->async);
	/* Both, by one call. */
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	connect_again();
	ok(post_srq(b, 0, LONG_LEN, 5));
	begin_long(&pair, 5);
	ok(dat_ep_set_watermark(b->ep, 0, 0));
	want_soft(b->async, b->ep);
	want_dto_now(b, b->recv, 5, DAT_DTO_ERR_FLUSHED);
	want_now(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_none(b->async);
}

/*
 * A mark that nothing exceeds does not save a connection whose message finds no buffer, when the peer's patience is
 * finite (decisions D1-D3): its request fails with RECEIVER_NOT_READY, and the connection is over at both ends.
 * Proves: ep_set_watermark.6
 */
static void
hard__none_does_not_help_without_a_buffer(void **state)
{
	DAT_EVENT event;

	set_params("rnr_retry=2 rnr_timer=1");
	srq_pair_up(&pair, 4, 1);
	ok(dat_ep_set_watermark(b->ep, NONE, NONE));
	ok(post_send(a, 0, 64, 1));
	want_dto(a, a->request, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
	event = want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, b->ep);
	want_counts(b->srq, 4, 0, 0);
	want_none(b->async);
}

const struct CMUnitTest tests[] = {
	srq_test(hard__breaks_the_connection, 8, 1),
	srq_test(hard__equal_is_not_more, 64, 1),
	srq_test(hard__at_once_when_exceeded_already, 4, 1),
	rig_test(hard__counts_what_is_posted),
	rig_test(hard__armed_from_the_moment_of_connection),
	srq_test(hard__in_every_state, 8, 1),
	srq_up_test(marks__are_independent, 8, 1),
	rig_test(hard__none_does_not_help_without_a_buffer),
	tests_end,
};
