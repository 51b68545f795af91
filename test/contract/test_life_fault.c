/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that cannot take their message: the receive says why, its connection ends, and nothing else suffers. */

#include "crowd.h"

#define DEPTH      8
#define REGION_LEN 65536u

/* A region of its own over the first REGION_LEN bytes of b's buffer, and a buffer of all of it on the queue. */
static DAT_LMR_HANDLE
post_own_region(struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov = segment(end, 0, REGION_LEN);
	DAT_LMR_HANDLE lmr = register_bytes(
			end, REGION_LEN, end->pz, DAT_MEM_PRIV_ALL_FLAG, &iov.lmr_context, NULL);

	ok(dat_srq_post_recv(end->srq, 1, &iov, cookie(value)));
	return lmr;
}

/*
 * The region of a posted buffer is freed: the endpoint that takes it fails with a protection status and its
 * connection breaks, here and there. The others and the queue do not notice; the connection can be made again.
 * Proves: srq_create.6 srq_post_recv.5
 */
static void
fault__region_freed_under_a_buffer(void **state)
{
	DAT_LMR_HANDLE lmr;

	crowd_join(2);
	for (uint64_t round = 0; round < 3; round++) {
		lmr = post_own_region(b, 70);
		post_many(b, 2, 1);
		memset(b->buffer, POISON, BUFFER_LEN);
		ok(dat_lmr_free(lmr));
		crowd_pick(0);
		ok(post_send(a, 0, 64, 5));
		want_peer_broken(5, DAT_DTO_ERR_REMOTE_RESPONDER);
		want_dto(b, b->recv, 70, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		want_bytes(b->buffer, POISON, 64);
		want_counts(b->srq, DEPTH, 2, 2);
		crowd_pick(1);
		deliver(&pair, 64);
		want_dto_now(b, b->recv, 1, DAT_DTO_SUCCESS);
		crowd_pick(0);
		connect_again();
		deliver(&pair, 64);
		want_dto_now(b, b->recv, 2, DAT_DTO_SUCCESS);
		want_counts(b->srq, DEPTH, 0, 0);
		want_none(b->async);
		want_none(b->connect);
	}
}

/*
 * The region goes while the message is on its way into it: from that moment not a byte is written, and the rest is as
 * before.
 * Proves: srq_create.6 srq_post_recv.9
 */
static void
fault__region_freed_under_a_message(void **state)
{
	crowd_join(2);
	crowd_pick(1);
	ok(post_srq(b, 0, LONG_LEN, 7));
	begin_long(&pair, 8);
	ok(dat_lmr_free(b->lmr));
	memset(b->buffer, POISON, BUFFER_LEN);
	want_peer_broken(8, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_bytes(b->buffer, POISON, BUFFER_LEN);
	crowd_pick(0);
	ok(dat_srq_post_recv(b->srq, 0, NULL, cookie(9)));
	deliver(&pair, 0);
	want_dto_now(b, b->recv, 9, DAT_DTO_SUCCESS);
	want_counts(b->srq, DEPTH, 0, 0);
}

/*
 * Each buffer of the lost region costs the connection that takes it, and is completed: a queue full of them can be
 * emptied.
 * Proves: srq_create.6 srq_query.6
 */
static void
fault__several_buffers_of_a_lost_region(void **state)
{
	post_many(b, DEPTH, 0);
	ok(dat_lmr_free(b->lmr));
	for (uint64_t i = 0; i < DEPTH; i++) {
		want_counts(b->srq, DEPTH, DEPTH - (DAT_COUNT)i, DEPTH - (DAT_COUNT)i);
		ok(post_send(a, 0, 64, i));
		want_peer_broken(i, DAT_DTO_ERR_REMOTE_RESPONDER);
		want_dto(b, b->recv, i, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		connect_again();
	}
	want_counts(b->srq, DEPTH, 0, 0);
}

/*
 * A message longer than its buffer: a length error here, a remote error there, both broken; nothing is written beyond
 * the buffer. Buffers of one piece, of two, of none; messages of one packet and of many. One that just fits is fine.
 * Proves: srq_post_recv.8 srq_post_recv.1
 */
static void
fault__message_longer_than_its_buffer(void **state)
{
	static const struct {
		DAT_COUNT pieces;
		DAT_VLEN piece, message;
	} rows[] = { { 1, 100, 101 }, { 1, 100, 65536 }, { 2, 50, 101 }, { 0, 0, 1 },
		{ 1, 4096, 4097 }, { 1, 8192, LONG_LEN }, { 2, 5000, 10001 } };

	crowd_join(2);
	for (unsigned int r = 0; r < COUNT_OF(rows); r++) {
		DAT_VLEN fits = (DAT_VLEN)rows[r].pieces * rows[r].piece;
		DAT_LMR_TRIPLET iov[2];

		print_message("row %u\n", r);
		/* The second piece lies before the first: what runs over is seen behind either. */
		iov[0] = segment(b, 100000, rows[r].piece);
		iov[1] = segment(b, 50000, rows[r].piece);
		memset(b->buffer, POISON, BUFFER_LEN);
		memset(a->buffer, 1, BUFFER_LEN);
		for (unsigned int i = 0; i < 2; i++)
			ok(dat_srq_post_recv(b->srq, rows[r].pieces, iov, cookie(i)));
		crowd_pick(0);
		deliver(&pair, fits);
		want_dto_now(b, b->recv, 0, DAT_DTO_SUCCESS);
		ok(post_send(a, 0, rows[r].message, 5));
		want_peer_broken(5, DAT_DTO_ERR_REMOTE_RESPONDER);
		want_dto(b, b->recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		assert_int_equal(b->buffer[100000 + rows[r].piece], POISON);
		assert_int_equal(b->buffer[50000 + rows[r].piece], POISON);
		want_counts(b->srq, DEPTH, 0, 0);
		crowd_pick(1);
		pass(9);
		crowd_pick(0);
		connect_again();
		pass(9);
	}
	want_none(b->async);
}

/* Behind a message that breaks the connection there were more: they are flushed at the sender and take no buffer. */
/* Proves: srq_post_recv.9 srq_post_recv.8 */
static void
fault__messages_behind_it_take_nothing(void **state)
{
	DAT_EVENT event;

	post_many(b, DEPTH, 0);
	ok(post_send(a, 0, 64, 0));
	ok(post_send(a, 0, 65, 1));
	post_sends(2, 4, 64);
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto_now(b, b->recv, 0, DAT_DTO_SUCCESS);
	want_dto_now(b, b->recv, 1, DAT_DTO_ERR_LOCAL_LENGTH);
	for (uint64_t i = 0; i < 4; i++) {
		event = want_event(a->request, DAT_DTO_COMPLETION_EVENT);
		assert_int_equal(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
		if (i >= 2)
			assert_int_equal(event.event_data.dto_completion_event_data.status,
					DAT_DTO_ERR_FLUSHED);
	}
	want_none(b->recv);
	want_counts(b->srq, DEPTH, DEPTH - 2, DEPTH - 2);
}

const struct CMUnitTest tests[] = {
	srq_up_test(fault__region_freed_under_a_buffer, DEPTH, 2),
	srq_up_test(fault__region_freed_under_a_message, DEPTH, 2),
	srq_up_test(fault__several_buffers_of_a_lost_region, DEPTH, 1),
	srq_up_test(fault__message_longer_than_its_buffer, DEPTH, 2),
	srq_up_test(fault__messages_behind_it_take_nothing, DEPTH, 1),
	tests_end,
};
