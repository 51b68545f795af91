/* SPDX-License-Identifier: BSD-3-Clause */
/* What endpoints make of buffers that dat_srq_post_recv put on their queue. */

#include "contract.h"

static void
want_bytes(const uint8_t *p, uint8_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], value);
}

/*
 * In order, each full before the next begins; pieces of no bytes anywhere, the last one too, change nothing.
 *
 * Proves: srq_post_recv.2 bug.S11
 */
static void
post_recv__segments_fill_in_order(void **state)
{
	static const unsigned int sizes[] = { 10, 0, 20, 30, 0 };
	enum {
		PIECES = sizeof(sizes) / sizeof(sizes[0]),
		ROOM = 60
	};
	static const size_t gap = 100;
	DAT_LMR_TRIPLET iov[PIECES];
	struct pair pair;

	srq_pair_up(&pair, 4, 8);
	fill_bytes(pair.a.buffer, ROOM, 1);
	for (unsigned int i = 0; i < PIECES; i++)
		iov[i] = segment(&pair.b, i * gap, sizes[i]);
	for (unsigned int length = 0; length <= ROOM; length++) {
		unsigned int done = 0;

		memset(pair.b.buffer, POISON, PIECES * gap);
		ok(dat_srq_post_recv(pair.b.srq, PIECES, iov, cookie(length)));
		deliver(&pair, length);
		want_dto(&pair.b, pair.b.recv, length, DAT_DTO_SUCCESS, length);
		for (unsigned int i = 0; i < PIECES; i++) {
			const uint8_t *piece = pair.b.buffer + i * gap;
			unsigned int n = length - done < sizes[i] ? length - done : sizes[i];

			assert_memory_equal(piece, pair.a.buffer + done, n);
			want_bytes(piece + n, POISON, gap - n);
			done += n;
		}
	}
	pair_close(&pair);
}

/* Unique or not, the cookie comes back as it went in. */
/* Proves: srq_post_recv.3 */
static void
post_recv__cookie_comes_back_with_its_endpoint(void **state)
{
	static const uint64_t cookies[] = { 0, 1, 1, UINT64_MAX, 0x0123456789abcdef, UINT64_MAX };
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	add_connection(&pair);
	for (unsigned int i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++)
		ok(post_srq(&pair.b, 0, 64, cookies[i]));
	for (unsigned int i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++) {
		deliver(&pair, 8);
		/* Names the endpoint, too. */
		want_dto(&pair.b, pair.b.recv, cookies[i], DAT_DTO_SUCCESS, 8);
	}
	pair_close(&pair);
}

/*
 * Messages of all lengths into buffers of one piece and of many, round and round the queue.
 *
 * Proves: bug.S4 bug.S5
 */
static void
post_recv__data_is_intact(void **state)
{
	static const DAT_COUNT iovs[] = { 1, 3, 32 };
	enum {
		DEPTH = 7,
		BUFFER = 8192,
		MESSAGES = 200
	};
	DAT_LMR_TRIPLET iov[32];
	struct pair pair;

	for (unsigned int k = 0; k < sizeof(iovs) / sizeof(iovs[0]); k++) {
		DAT_COUNT pieces = iovs[k];
		DAT_VLEN piece = BUFFER / (DAT_VLEN)pieces;

		srq_pair_up(&pair, DEPTH, pieces);
		for (unsigned int n = 0; n < MESSAGES + DEPTH; n++) {
			unsigned int sent = n - DEPTH;
			DAT_VLEN length = (sent * 977u) % (unsigned int)(piece * (DAT_VLEN)pieces);
			size_t at = (n % DEPTH) * (size_t)BUFFER;

			if (n >= DEPTH) {
				fill_bytes(pair.a.buffer, length, sent);
				deliver(&pair, length);
				want_dto(&pair.b, pair.b.recv, n % DEPTH, DAT_DTO_SUCCESS, length);
				assert_memory_equal(pair.b.buffer + at, pair.a.buffer, length);
			}
			for (DAT_COUNT i = 0; i < pieces; i++)
				iov[i] = segment(&pair.b, at + (size_t)i * piece, piece);
			ok(dat_srq_post_recv(pair.b.srq, pieces, iov, cookie(n % DEPTH)));
		}
		pair_close(&pair);
	}
}

/*
 * Receives of a queue have no flags of their own, and the endpoint's are the defaults: each completion wakes a waiter,
 * whether the sender asked for that or not.
 *
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
	DAT_LMR_TRIPLET iov;
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		iov = segment(&pair.a, 0, 64);
		ok(post_srq(&pair.b, 0, 64, i));
		ok(dat_ep_post_send(pair.a.ep, 1, &iov, cookie(i), flags[i]));
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
	}
	pair_close(&pair);
}

/* The connection is gone at both ends; what the other end is told, and why, is for a test of its own. */
static void
lose(struct pair *pair)
{
	DAT_EVENT event;
	DAT_COUNT more;

	want_event(pair->b.connect, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_evd_wait(pair->a.connect, PATIENCE_US, 1, &event, &more));
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, pair->a.ep);
	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_DISCONNECTED);
}

/*
 * A message that is longer than its buffer: a length error, and the connection is gone. What lies behind the buffer is
 * as it was.
 *
 * Proves: srq_post_recv.8
 */
static void
post_recv__message_longer_than_its_buffer(void **state)
{
	DAT_LMR_TRIPLET iov[2];
	struct pair pair;

	srq_pair_up(&pair, 4, 2);
	iov[0] = segment(&pair.b, 0, 30);
	iov[1] = segment(&pair.b, 100, 34);
	ok(dat_srq_post_recv(pair.b.srq, 2, iov, cookie(1)));
	ok(dat_srq_post_recv(pair.b.srq, 2, iov, cookie(2)));
	ok(post_srq(&pair.b, 200, 64, 3));
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	memset(pair.b.buffer + 134, POISON, 200);
	ok(post_send(&pair.a, 0, 65, 7));
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_ERR_LOCAL_LENGTH, 0);
	lose(&pair);
	want_bytes(pair.b.buffer + 134, POISON, 200);
	want_counts(pair.b.srq, 4, 1, 1);
	pair_close(&pair);
}

/* The same when the length shows only with a later packet: the end of a long message finds no room. */
static void
post_recv__long_message_longer_than_its_buffer(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	ok(post_srq(&pair.b, 0, LONG_LEN - 1, 1));
	ok(post_send(&pair.a, 0, LONG_LEN, 7));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
	lose(&pair);
	want_counts(pair.b.srq, 4, 0, 0);
	pair_close(&pair);
}

/*
 * The sender learns why: its request ends with an error of the other side and its connection is broken, although the
 * receiver's connection manager sends a DREQ at the same time. On whatever engine the endpoint lives.
 *
 * Proves: srq_post_recv.8
 */
static void
post_recv__sender_learns_that_its_message_was_too_long(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	for (unsigned int i = 0; i < 4; i++) {
		if (i > 0)
			add_connection(&pair);
		ok(post_srq(&pair.b, 0, 63, 1));
		ok(post_send(&pair.a, 0, 64, 7));
		poll_once(&pair.a);
		/* Everything that the receiver has to say is on the way before the sender looks. */
		for (unsigned int polls = 0; polls < 8; polls++)
			poll_once(&pair.b);
		want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(&pair.a, pair.a.request, 7, DAT_DTO_ERR_REMOTE_RESPONDER, 0);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	}
	want_counts(pair.b.srq, 8, 0, 0);
	pair_close(&pair);
}

/*
 * Posted when all was well; the region goes before the message comes. That receive fails and its connection breaks;
 * the other connection on the queue goes on.
 *
 * Proves: srq_post_recv.5 srq_create.6
 */
static void
post_recv__memory_is_judged_again_when_data_arrives(void **state)
{
	DAT_EP_HANDLE client, server;
	DAT_LMR_TRIPLET iov;
	DAT_LMR_HANDLE lmr;
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	client = pair.a.ep;
	server = pair.b.ep;
	add_connection(&pair);
	iov = segment(&pair.b, 0, 64);
	iov.lmr_context = register_as(&pair.b, pair.b.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	ok(dat_srq_post_recv(pair.b.srq, 1, &iov, cookie(1)));
	ok(post_srq(&pair.b, 64, 64, 2));
	ok(dat_lmr_free(lmr));
	ok(post_send(&pair.a, 0, 64, 3));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	lose(&pair);
	want_event(pair.a.request, DAT_DTO_COMPLETION_EVENT);
	want_counts(pair.b.srq, 4, 1, 1);
	pair.a.ep = client;
	pair.b.ep = server;
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/*
 * Unconnected, pending, ended: no endpoint takes. Connected, or on its way to an orderly end: it does.
 *
 * Proves: srq_post_recv.9
 */
static void
post_recv__only_connected_endpoints_take(void **state)
{
	struct pair pair;

	srq_pair_open(&pair, 4, 1);
	post_many(&pair.b, 4, 0);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_UNCONNECTED);
	want_counts(pair.b.srq, 4, 4, 4);
	pair_connect(&pair);
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	/* A request that the other side has no buffer for keeps the end from coming. */
	ok(post_send(&pair.b, 0, 64, 5));
	ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECT_PENDING);
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECT_PENDING);
	want_counts(pair.b.srq, 4, 2, 2);
	ok(post_recv(&pair.a, 0, 64, 6));
	want_dto(&pair.b, pair.b.request, 5, DAT_DTO_SUCCESS, 64);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	want_none(pair.b.recv);
	want_counts(pair.b.srq, 4, 2, 2);
	ok(post_srq(&pair.b, 0, 64, 7));
	want_counts(pair.b.srq, 4, 3, 3);
	want_none(pair.b.recv);
	pair_close(&pair);
}

/* How a connection ends, seen from b. */
enum ending {
	LEAVES,
	IS_LEFT,
	BREAKS,
	ENDINGS
};

static void
end_by(struct pair *pair, enum ending how)
{
	DAT_EVENT_NUMBER number = how == BREAKS ? DAT_CONNECTION_EVENT_BROKEN
						: DAT_CONNECTION_EVENT_DISCONNECTED;

	if (how == LEAVES)
		ok(dat_ep_disconnect(pair->b.ep, DAT_CLOSE_ABRUPT_FLAG));
	else if (how == IS_LEFT)
		ok(dat_ep_disconnect(pair->a.ep, DAT_CLOSE_ABRUPT_FLAG));
	else
		ok(dat_ep_set_watermark(pair->b.ep, DAT_WATERMARK_INFINITE, 0));
	want_event(pair->b.connect, number);
	if (how != BREAKS)
		want_event(pair->a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* A peer with nothing left of the last connection. */
static void
fresh_client(struct pair *pair)
{
	struct end *a = &pair->a;

	ok(dat_ep_free(a->ep));
	a->request = make_dto_evd(a, 64);
	ok(dat_ep_create(a->ia, a->pz, a->recv, a->request, a->connect, NULL, &a->ep));
}

/*
 * However the connection ends: what the endpoint had taken comes back flushed, before the event of the end; what was
 * on the queue stays; and no descriptor is lost over many rounds.
 *
 * Proves: srq_post_recv.9 bug.S24
 */
static void
post_recv__taken_buffers_are_flushed_at_the_end(void **state)
{
	struct pair pair;

	for (enum ending how = LEAVES; how < ENDINGS; how++) {
		uint64_t posted = 0;

		srq_pair_open(&pair, 4, 1);
		for (uint64_t round = 0; round < 6; round++) {
			fresh_client(&pair);
			ok(dat_ep_set_watermark(
					pair.b.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE));
			pair_connect(&pair);
			while (posted < round + 4)
				ok(post_srq(&pair.b, 0, LONG_LEN, posted++));
			want_counts(pair.b.srq, 4, 4, 4);
			begin_long(&pair, 1);
			want_counts(pair.b.srq, 4, 3, 4);
			end_by(&pair, how);
			assert_int_equal(held(pair.b.ep), 0);
			want_counts(pair.b.srq, 4, 3, 4);
			want_dto(&pair.b, pair.b.recv, round, DAT_DTO_ERR_FLUSHED, 0);
			want_counts(pair.b.srq, 4, 3, 3);
			want_none(pair.b.recv);
			/* DAT 1.2 knows no word about the last buffer of an endpoint. */
			want_none(pair.b.async);
			ok(dat_ep_reset(pair.b.ep));
		}
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(post_recv__segments_fill_in_order),
		dat_test(post_recv__cookie_comes_back_with_its_endpoint),
		dat_test(post_recv__data_is_intact),
		dat_test(post_recv__each_completion_notifies),
		dat_test(post_recv__message_longer_than_its_buffer),
		dat_test(post_recv__long_message_longer_than_its_buffer),
		dat_test(post_recv__sender_learns_that_its_message_was_too_long),
		dat_test(post_recv__memory_is_judged_again_when_data_arrives),
		dat_test(post_recv__only_connected_endpoints_take),
		dat_test(post_recv__taken_buffers_are_flushed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
