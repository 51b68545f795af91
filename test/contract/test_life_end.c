/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a connection: what its endpoint holds comes back, what lies on the queue stays, and no place is lost. */

#include "rig.h"

#define DEPTH 8
#define PART  4096 /**< bytes that are sent from where they lie, with zero_copy= */

/* How a connection ends while b's endpoint holds the buffer of a message in progress. */
static const struct {
	const char *name;
	enum ending how;
	DAT_EVENT_NUMBER told; /**< to b */
	DAT_DTO_COMPLETION_STATUS status;
} ways[] = {
	/* clang-format off */
	{ "b, abrupt",   BY_B_ABRUPT,    DAT_CONNECTION_EVENT_DISCONNECTED, DAT_DTO_ERR_FLUSHED },
	{ "b, graceful", BY_B_GRACEFUL,  DAT_CONNECTION_EVENT_DISCONNECTED, DAT_DTO_ERR_FLUSHED },
	{ "a, abrupt",   BY_A_ABRUPT,    DAT_CONNECTION_EVENT_DISCONNECTED, DAT_DTO_ERR_FLUSHED },
	{ "a is freed",  BY_A_FREE,      DAT_CONNECTION_EVENT_DISCONNECTED, DAT_DTO_ERR_FLUSHED },
	{ "hard mark",   BY_HARD_MARK,   DAT_CONNECTION_EVENT_BROKEN,       DAT_DTO_ERR_FLUSHED },
	{ "lost memory", BY_LOST_MEMORY, DAT_CONNECTION_EVENT_BROKEN,       DAT_DTO_ERR_LOCAL_PROTECTION },
	/* clang-format on */
};

/* b's endpoint, with all its events on one dispatcher or not, holds buffer 0 of a queue with three more. */
static void
open_and_hold(bool one_evd)
{
	srq_pair_open(&pair, DEPTH, HUGE_PIECES);
	if (one_evd)
		use_one_evd(b);
	use_ep(a, &(DAT_EP_ATTR){ .max_request_iov = HUGE_PIECES });
	pair_connect(&pair);
	ok(post_huge_srq(b, 0));
	for (uint64_t i = 1; i < 4; i++)
		ok(post_srq(b, 0, 64, i));
	begin_huge(50);
	want_counts(b->srq, DEPTH, 3, 4);
}

/*
 * However a connection ends: the buffer that its endpoint held is completed, once and not with success, before the
 * event of the end when one dispatcher has both (C1). The buffers on the queue stay where they are; nothing else is
 * told.
 * Proves: srq_post_recv.9 ep_set_watermark.3
 */
static void
end__held_buffer_comes_back_before_the_event(void **state)
{
	for (unsigned int way = 0; way < COUNT_OF(ways); way++) {
		print_message("%s\n", ways[way].name);
		open_and_hold(true);
		end_by(ways[way].how);
		want_dto(b, b->recv, 0, ways[way].status, 0);
		want_event(b->recv, ways[way].told);
		assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
		want_held(b->ep, 0);
		want_counts(b->srq, DEPTH, 3, 3);
		want_silence(b->recv);
		want_none(b->async);
		want_counts(b->srq, DEPTH, 3, 3);
		pair_close(&pair);
	}
}

/* The same with a dispatcher for each stream. The place is taken until the flushed completion is reaped (B3). */
/* Proves: srq_post_recv.9 srq_query.3 srq_query.6 */
static void
end__flushed_counts_until_it_is_reaped(void **state)
{
	for (unsigned int way = 0; way < COUNT_OF(ways); way++) {
		print_message("%s\n", ways[way].name);
		open_and_hold(false);
		end_by(ways[way].how);
		want_event(b->connect, ways[way].told);
		want_held(b->ep, 0);
		want_counts(b->srq, DEPTH, 3, 4);
		want_dto(b, b->recv, 0, ways[way].status, 0);
		want_counts(b->srq, DEPTH, 3, 3);
		want_silence(b->recv);
		pair_close(&pair);
	}
}

/*
 * A graceful end by the sender waits for what was posted before it: the message in progress arrives whole, and one
 * behind it, too.
 * Proves: srq_post_recv.9
 */
static void
end__graceful_finishes_first(void **state)
{
	open_and_hold(true);
	ok(post_send(a, 0, 64, 51));
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, HUGE_LEN);
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, 64);
	want_event(b->recv, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_dto(a, a->request, 50, DAT_DTO_SUCCESS, HUGE_LEN);
	want_dto(a, a->request, 51, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, DEPTH, 2, 2);
}

/*
 * An endpoint that is not connected, not any more or not yet, takes no buffer, and what was not taken is there for
 * others and for its own next connection.
 * Proves: srq_post_recv.9 srq_post_recv.4
 */
static void
end__only_connected_endpoints_take(void **state)
{
	for (uint64_t round = 0; round < 5; round++) {
		begin_connection();
		post_many(b, 2, 2 * round);
		want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
		want_counts(b->srq, DEPTH, 2 + (DAT_COUNT)round, 2 + (DAT_COUNT)round);
		deliver(&pair, 64);
		ok(post_send(a, 0, 64, 9));
		/* Not polled meanwhile: the message comes when nobody is there. */
		ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
		want_dto(a, a->request, 9, DAT_DTO_ERR_FLUSHED, 0);
		want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
		want_dto(b, b->recv, round, DAT_DTO_SUCCESS, 64);
		want_none(b->recv);
		want_counts(b->srq, DEPTH, 1 + (DAT_COUNT)round, 1 + (DAT_COUNT)round);
		reset_both();
	}
}

static bool
is_request_idle(const struct end *end)
{
	DAT_EP_STATE state;
	DAT_BOOLEAN recv_idle, request_idle;

	ok(dat_ep_get_status(end->ep, &state, &recv_idle, &request_idle));
	return request_idle == DAT_TRUE;
}

/*
 * A reset is the border between two connections: the requests of the last one are completed when it returns. With
 * zero_copy= it waits for that, up to a quarter of a second: the peer has frames that refer to their memory.
 */
static void
end__reset_leaves_no_request_to_the_next_connection(void **state)
{
	ok(feed(0, PART, 0));
	ok(post_send(a, 0, PART, 1));
	poll_once(a);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
	ok(dat_ep_reset(a->ep));
	assert_true(is_request_idle(a));
	want_dto_now(a, a->request, 1, DAT_DTO_ERR_FLUSHED);
	want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
	/* The message and the end of the connection may be received by different engines, in either order. */
	assert_int_equal(next_dto(b->recv).user_cookie.as_64, 0);
	ok(dat_ep_reset(b->ep));
	pair_connect(&pair);
	transfer(2, PART);
}

/* The fate of completions, one of them flushed, that nobody reaped when the connection ended. */
enum drop {
	DROP_BY_REAP,
	DROP_BY_RESET,     /**< may drop them, or leave them to be reaped */
	DROP_BY_RECONNECT, /**< likewise */
	DROP_BY_EP_FREE,   /**< likewise */
	DROP_BY_EVD_FREE,
	DROPS,
};

static void
drop(enum drop how)
{
	switch (how) {
	case DROP_BY_REAP:
		break;
	case DROP_BY_RESET:
		ok(dat_ep_reset(b->ep));
		break;
	case DROP_BY_RECONNECT:
		connect_again();
		break;
	default:
		ok(dat_ep_free(b->ep));
		break;
	}
	if (how == DROP_BY_EVD_FREE)
		ok(dat_evd_free(b->recv));
	else
		drain(b->recv);
}

/*
 * Completions that nobody reaped when the connection ended, good ones and a flushed one: reaped later or dropped, by
 * reset, by freeing the endpoint or the dispatcher, they give their places back, each once (C4, B3).
 * Proves: srq_query.3 srq_post_recv.9 bug.S23 bug.S24
 */
static void
end__places_of_unreaped_completions_come_back(void **state)
{
	for (enum drop how = 0; how < DROPS; how++) {
		print_message("drop %d\n", (int)how);
		srq_pair_up(&pair, DEPTH, 1);
		post_long(DEPTH, 0);
		deliver_n(3, 64);
		begin_long(&pair, 3);
		part(&pair);
		want_counts(b->srq, DEPTH, 4, DEPTH);
		want_type(post_srq(b, 0, 64, 1), DAT_INSUFFICIENT_RESOURCES);
		want_dto(a, a->request, 3, DAT_DTO_ERR_FLUSHED, 0);
		drop(how);
		want_counts(b->srq, DEPTH, 4, 4);
		post_many(b, 4, 0);
		want_type(post_srq(b, 0, 64, 1), DAT_INSUFFICIENT_RESOURCES);
		want_counts(b->srq, DEPTH, DEPTH, DEPTH);
		pair_close(&pair);
	}
}

/*
 * An endpoint that is freed while it holds a buffer: the place comes back, with a completion or without, and the
 * peer hears the end. No event comes late.
 * Proves: srq_query.3 srq_query.6 bug.S23 bug.S24
 */
static void
end__freed_while_it_holds_a_buffer(void **state)
{
	open_and_hold(false);
	ok(dat_ep_free(b->ep));
	drain(b->recv);
	want_counts(b->srq, DEPTH, 3, 3);
	want_dto(a, a->request, 50, DAT_DTO_ERR_FLUSHED, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(b->recv);
	want_none(b->connect);
	want_none(b->async);
	want_counts(b->srq, DEPTH, 3, 3);
}

/*
 * The queue may go before the completions of its buffers are reaped: they are good still, and free nothing any more.
 * A new queue on the same dispatcher is not mistaken for it.
 * Proves: srq_free.3 srq_free.5 bug.S23 bug.S19
 */
static void
end__queue_goes_before_its_completions(void **state)
{
	DAT_EP_HANDLE gone;

	for (uint64_t round = 0; round < 20; round++) {
		post_many(b, DEPTH, 0);
		deliver_n(3, 64);
		part(&pair);
		gone = b->ep;
		ok(dat_ep_free(gone));
		ok(dat_srq_free(b->srq));
		ok(dat_ep_free(a->ep));
		b->srq = make_srq(b, DEPTH, 1);
		add_connection(&pair);
		post_many(b, 2, 10);
		deliver(&pair, 64);
		for (uint64_t i = 0; i < 3; i++) {
			DAT_EVENT event = want_now(b->recv, DAT_DTO_COMPLETION_EVENT);

			assert_int_equal(event.event_data.dto_completion_event_data.user_cookie
							 .as_64,
					i);
			assert_ptr_equal(
					event.event_data.dto_completion_event_data.ep_handle, gone);
			want_counts(b->srq, DEPTH, 1, 2);
		}
		want_dto_now(b, b->recv, 10, DAT_DTO_SUCCESS);
		want_counts(b->srq, DEPTH, 1, 1);
		deliver(&pair, 64);
		want_dto_now(b, b->recv, 11, DAT_DTO_SUCCESS);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(end__held_buffer_comes_back_before_the_event),
	rig_test(end__flushed_counts_until_it_is_reaped),
	rig_test(end__graceful_finishes_first),
	srq_test(end__only_connected_endpoints_take, DEPTH, 1),
	up_test(end__reset_leaves_no_request_to_the_next_connection),
	rig_test(end__places_of_unreaped_completions_come_back),
	rig_test(end__freed_while_it_holds_a_buffer),
	srq_up_test(end__queue_goes_before_its_completions, DEPTH, 1),
	tests_end,
};
