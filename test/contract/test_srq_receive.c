/* SPDX-License-Identifier: BSD-3-Clause */
/* How endpoints fill buffers that dat_srq_post_recv put on their queue. */

#include "rig.h"

/* In order, each full before the next begins; pieces of no bytes anywhere, the last one too, change nothing. */
/* Proves: srq_post_recv.2 bug.S11 */
static void
post_recv__segments_fill_in_order(void **state)
{
	static const unsigned int sizes[] = { 10, 0, 20, 30, 0 };
#define PIECES COUNT_OF(sizes)
#define ROOM   60
	static const size_t gap = 100;
	DAT_LMR_TRIPLET iov[PIECES];

	srq_pair_up(&pair, 4, 8);
	fill_bytes(a->buffer, ROOM, 1);
	for (unsigned int i = 0; i < PIECES; i++)
		iov[i] = segment(b, i * gap, sizes[i]);
	for (unsigned int length = 0; length <= ROOM; length++) {
		unsigned int done = 0;

		memset(b->buffer, POISON, PIECES * gap);
		ok(dat_srq_post_recv(b->srq, PIECES, iov, cookie(length)));
		deliver_as(length, length);
		for (unsigned int i = 0; i < PIECES; i++) {
			const uint8_t *piece = b->buffer + i * gap;
			unsigned int n = length - done < sizes[i] ? length - done : sizes[i];

			assert_memory_equal(piece, a->buffer + done, n);
			want_bytes(piece + n, POISON, gap - n);
			done += n;
		}
	}
}

/* Unique or not, the cookie comes back as it went in. */
/* Proves: srq_post_recv.3 */
static void
post_recv__cookie_comes_back_with_its_endpoint(void **state)
{
	static const uint64_t cookies[] = { 0, 1, 1, UINT64_MAX, 0x0123456789abcdef, UINT64_MAX };

	add_connection(&pair);
	for (unsigned int i = 0; i < COUNT_OF(cookies); i++)
		ok(post_srq(b, 0, 64, cookies[i]));
	for (unsigned int i = 0; i < COUNT_OF(cookies); i++) {
		deliver(&pair, 8);
		/* Names the endpoint, too. */
		want_dto(b, b->recv, cookies[i], DAT_DTO_SUCCESS, 8);
	}
}

/* Messages of all lengths into buffers of one piece and of many, round and round the queue. */
/* Proves: bug.S4 bug.S5 */
static void
post_recv__data_is_intact(void **state)
{
	static const DAT_COUNT iovs[] = { 1, 3, 32 };
#define DEPTH    7
#define BUFFER   8192
#define MESSAGES 200
	DAT_LMR_TRIPLET iov[32];

	for (unsigned int k = 0; k < COUNT_OF(iovs); k++) {
		DAT_COUNT pieces = iovs[k];
		DAT_VLEN piece = BUFFER / (DAT_VLEN)pieces;

		srq_pair_up(&pair, DEPTH, pieces);
		for (unsigned int n = 0; n < MESSAGES + DEPTH; n++) {
			unsigned int sent = n - DEPTH;
			DAT_VLEN length = (sent * 977u) % (unsigned int)(piece * (DAT_VLEN)pieces);
			size_t at = (n % DEPTH) * (size_t)BUFFER;

			if (n >= DEPTH) {
				fill_bytes(a->buffer, length, sent);
				deliver_as(n % DEPTH, length);
				assert_memory_equal(b->buffer + at, a->buffer, length);
			}
			for (DAT_COUNT i = 0; i < pieces; i++)
				iov[i] = segment(b, at + (size_t)i * piece, piece);
			ok(dat_srq_post_recv(b->srq, pieces, iov, cookie(n % DEPTH)));
		}
		pair_close(&pair);
	}
}

/*
 * Receives of a queue have no flags of their own, and the endpoint's are the defaults: each completion wakes a waiter,
 * whether the sender asked for that or not.
 * Proves: srq_post_recv.10
 */
static void
post_recv__each_completion_notifies(void **state)
{
	static const DAT_COMPLETION_FLAGS flags[] = {
		DAT_COMPLETION_DEFAULT_FLAG,
		DAT_COMPLETION_SOLICITED_WAIT_FLAG,
		DAT_COMPLETION_SUPPRESS_FLAG,
	};

	for (unsigned int i = 0; i < COUNT_OF(flags); i++) {
		ok(post_srq(b, 0, 64, i));
		ok(post_send_with(a, 64, i, flags[i]));
		want_dto(b, b->recv, i, DAT_DTO_SUCCESS, 64);
	}
}

/* The connection is gone at both ends; what the other end is told, and why, is for a test of its own. */
static void
lose(void)
{
	DAT_EVENT event;

	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	event = next_event(a->connect);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, a->ep);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
}

/*
 * A message that is longer than its buffer: a length error, and the connection is gone. The bytes behind the buffer are
 * as they were.
 * Proves: srq_post_recv.8
 */
static void
post_recv__message_longer_than_its_buffer(void **state)
{
	DAT_LMR_TRIPLET iov[2];

	iov[0] = segment(b, 0, 30);
	iov[1] = segment(b, 100, 34);
	ok(dat_srq_post_recv(b->srq, 2, iov, cookie(1)));
	ok(dat_srq_post_recv(b->srq, 2, iov, cookie(2)));
	ok(post_srq(b, 200, 64, 3));
	deliver_as(1, 64);
	memset(b->buffer + 134, POISON, 200);
	ok(post_send(a, 0, 65, 7));
	want_dto(b, b->recv, 2, DAT_DTO_ERR_LOCAL_LENGTH, 0);
	lose();
	want_bytes(b->buffer + 134, POISON, 200);
	want_counts(b->srq, 4, 1, 1);
}

/* The same when the length shows only with a later packet: the end of a long message finds no room. */
static void
post_recv__long_message_longer_than_its_buffer(void **state)
{
	ok(post_srq(b, 0, LONG_LEN - 1, 1));
	ok(post_send(a, 0, LONG_LEN, 7));
	want_dto(b, b->recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
	lose();
	want_counts(b->srq, 4, 0, 0);
}

/*
 * The sender learns why: its request ends with an error of the other side and its connection is broken, although the
 * receiver's connection manager sends a DREQ at the same time. On whatever engine the endpoint lives.
 * Proves: srq_post_recv.8
 */
static void
post_recv__sender_learns_that_its_message_was_too_long(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (i > 0)
			add_connection(&pair);
		ok(post_srq(b, 0, 63, 1));
		ok(post_send(a, 0, 64, 7));
		poll_once(a);
		/* Everything that the receiver has to say is on the way before the sender looks. */
		for (unsigned int polls = 0; polls < 8; polls++)
			poll_once(b);
		want_dto(b, b->recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(a, a->request, 7, DAT_DTO_ERR_REMOTE_RESPONDER, 0);
		want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	}
	want_counts(b->srq, 8, 0, 0);
}

/*
 * Posted when all was well; the region goes before the message comes. That receive fails and its connection breaks;
 * the other connection on the queue goes on.
 * Proves: srq_post_recv.5 srq_create.6
 */
static void
post_recv__memory_is_judged_again_when_data_arrives(void **state)
{
	DAT_LMR_TRIPLET iov;
	DAT_LMR_HANDLE lmr;
	DAT_EP_HANDLE client = a->ep;
	DAT_EP_HANDLE server = b->ep;

	add_connection(&pair);
	iov = segment_of(b, register_as(b, b->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr), 0, 64);
	ok(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)));
	ok(post_srq(b, 64, 64, 2));
	ok(dat_lmr_free(lmr));
	ok(post_send(a, 0, 64, 3));
	want_dto(b, b->recv, 1, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	lose();
	want_event(a->request, DAT_DTO_COMPLETION_EVENT);
	want_counts(b->srq, 4, 1, 1);
	a->ep = client;
	b->ep = server;
	deliver_as(2, 64);
}

/* Unconnected, pending, ended: no endpoint takes. Connected, or on its way to an orderly end: it does. */
/* Proves: srq_post_recv.9 */
static void
post_recv__only_connected_endpoints_take(void **state)
{
	post_many(b, 4, 0);
	assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
	want_counts(b->srq, 4, 4, 4);
	pair_connect(&pair);
	deliver_as(0, 64);
	/* A request that the other side has no buffer for keeps the end from coming. */
	ok(post_send(b, 0, 64, 5));
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECT_PENDING);
	deliver_as(1, 64);
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECT_PENDING);
	want_counts(b->srq, 4, 2, 2);
	ok(post_recv(a, 0, 64, 6));
	want_dto(b, b->request, 5, DAT_DTO_SUCCESS, 64);
	want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
	want_none(b->recv);
	want_counts(b->srq, 4, 2, 2);
	ok(post_srq(b, 0, 64, 7));
	want_counts(b->srq, 4, 3, 3);
	want_none(b->recv);
}

/* A peer with nothing left of the last connection. */
static void
fresh_client(void)
{
	ok(dat_ep_free(a->ep));
	a->request = make_dto_evd(a, 64);
	a->ep = another_ep(a);
}

/*
 * However the connection ends: what the endpoint had taken comes back flushed, before the event of the end; what was
 * on the queue stays; and no descriptor is lost over many rounds.
 * Proves: srq_post_recv.9 bug.S24
 */
static void
post_recv__taken_buffers_are_flushed_at_the_end(void **state)
{
	static const enum ending ways[] = { BY_B_ABRUPT, BY_A_ABRUPT, BY_HARD_MARK };

	for (unsigned int way = 0; way < COUNT_OF(ways); way++) {
		uint64_t posted = 0;

		srq_pair_open(&pair, 4, 1);
		for (uint64_t round = 0; round < 6; round++) {
			fresh_client();
			ok(dat_ep_set_watermark(
					b->ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE));
			pair_connect(&pair);
			while (posted < round + 4)
				ok(post_srq(b, 0, LONG_LEN, posted++));
			want_counts(b->srq, 4, 4, 4);
			begin_long(&pair, 1);
			want_counts(b->srq, 4, 3, 4);
			end_by(ways[way]);
			if (ways[way] == BY_HARD_MARK)
				want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
			else
				want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
			assert_int_equal(held(b->ep), 0);
			want_counts(b->srq, 4, 3, 4);
			want_dto(b, b->recv, round, DAT_DTO_ERR_FLUSHED, 0);
			want_counts(b->srq, 4, 3, 3);
			want_none(b->recv);
			/* DAT 1.2 knows no word about the last buffer of an endpoint. */
			want_none(b->async);
			ok(dat_ep_reset(b->ep));
		}
		pair_close(&pair);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(post_recv__segments_fill_in_order),
	srq_up_test(post_recv__cookie_comes_back_with_its_endpoint, 8, 1),
	rig_test(post_recv__data_is_intact),
	srq_up_test(post_recv__each_completion_notifies, 4, 1),
	srq_up_test(post_recv__message_longer_than_its_buffer, 4, 2),
	srq_up_test(post_recv__long_message_longer_than_its_buffer, 4, 1),
	srq_up_test(post_recv__sender_learns_that_its_message_was_too_long, 8, 1),
	srq_up_test(post_recv__memory_is_judged_again_when_data_arrives, 4, 1),
	srq_test(post_recv__only_connected_endpoints_take, 4, 1),
	rig_test(post_recv__taken_buffers_are_flushed_at_the_end),
	tests_end,
};
