/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate data and SEND with invalidate: dat_ib_extensions.h. */

#include "rig.h"

#include <dat/dat_ib_extensions.h>

#define VALUE 0x12345678u

static const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;

/** The next receive completion at b, and what came with it. */
static DAT_IB_EXTENSION_EVENT_DATA
next_receive(uint64_t value, DAT_VLEN length)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_IB_EXTENSION_EVENT_DATA data;
	DAT_EVENT event;
	DAT_COUNT more;

	memset(&data, POISON, sizeof(data));
	ok(dat_ib_evd_wait(b->recv, PATIENCE_US, 1, &event, &more, &data));
	dto = &event.event_data.dto_completion_event_data;
	assert_int_equal(event.event_number, DAT_DTO_COMPLETION_EVENT);
	assert_ptr_equal(event.evd_handle, b->recv);
	assert_ptr_equal(dto->ep_handle, b->ep);
	assert_int_equal(dto->user_cookie.as_64, value);
	assert_int_equal(dto->status, DAT_DTO_SUCCESS);
	assert_int_equal(dto->transfered_length, length);
	return data;
}

static void
want_data(DAT_IB_EXTENSION_EVENT_DATA data, DAT_IB_EXT_TYPE type, DAT_UINT32 immed_data,
		DAT_RMR_CONTEXT rmr_context)
{
	assert_int_equal(data.type, type);
	assert_int_equal(data.immed_data, immed_data);
	assert_int_equal(data.rmr_context, rmr_context);
}

/* The next completion is there already, and brings that. */
static DAT_DTO_COMPLETION_EVENT_DATA
want_dequeued(DAT_EVD_HANDLE evd, DAT_IB_EXT_TYPE type, DAT_UINT32 immed_data)
{
	DAT_IB_EXTENSION_EVENT_DATA data;
	DAT_EVENT event;

	ok(dat_ib_evd_dequeue(evd, &event, &data));
	want_data(data, type, immed_data, 0);
	return event.event_data.dto_completion_event_data;
}

static void
send_immed__brings_message_and_number(void **state)
{
	static const DAT_VLEN lengths[] = { 0, 1, 64, 4096, 4097, 100000 };
	DAT_LMR_TRIPLET iov;

	for (uint64_t i = 0; i < COUNT_OF(lengths); i++) {
		fill_bytes(a->buffer, lengths[i], (uint32_t)i);
		ok(post_recv(b, HALF, HALF, i));
		iov = segment(a, 0, lengths[i]);
		ok(dat_ib_post_send_immed(a->ep, lengths[i] > 0, &iov, cookie(i),
				VALUE + (DAT_UINT32)i, flags));
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, lengths[i]);
		want_data(next_receive(i, lengths[i]), DAT_IB_RECV_IMMED_DATA,
				VALUE + (DAT_UINT32)i, 0);
		assert_memory_equal(a->buffer, b->buffer + HALF, lengths[i]);
	}
}

/* The bytes go where the write says, the receive is used up and its buffer stays as it is. */
static void
rdma_write_immed__brings_bytes_to_memory_and_a_number_to_the_receive(void **state)
{
	static const DAT_VLEN lengths[] = { 0, 1, 4097, 100000 };
	DAT_LMR_TRIPLET iov;
	DAT_RMR_TRIPLET to;

	for (uint64_t i = 0; i < COUNT_OF(lengths); i++) {
		fill_bytes(a->buffer, lengths[i], (uint32_t)i);
		memset(b->buffer, POISON, 64);
		ok(post_recv(b, 0, 64, i));
		iov = segment(a, 0, lengths[i]);
		to = target(b, HALF, lengths[i]);
		ok(dat_ib_post_rdma_write_immed(
				a->ep, lengths[i] > 0, &iov, cookie(i), &to, VALUE, flags));
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, lengths[i]);
		want_data(next_receive(i, lengths[i]), DAT_IB_RDMA_WRITE_IMMED_DATA, VALUE, 0);
		assert_memory_equal(a->buffer, b->buffer + HALF, lengths[i]);
		want_bytes(b->buffer, POISON, 64);
	}
}

/* The events of DAT 1.2 do not tell that it is a write: their length is what lies in the buffer of the receive, none. */
static void
rdma_write_immed__has_no_length_for_those_who_cannot_know(void **state)
{
	DAT_LMR_TRIPLET iov = segment(a, 0, 100000);
	DAT_RMR_TRIPLET to = target(b, HALF, 100000);

	for (uint64_t i = 0; i < 3; i++) {
		ok(post_recv(b, 0, 64, i));
		ok(dat_ib_post_rdma_write_immed(a->ep, 1, &iov, cookie(i), &to, VALUE, flags));
	}
	want_sent(0, 3, 100000);
	/* The first and the second are there already, and are dequeued. */
	assert_int_equal(want_now(b->recv, DAT_DTO_COMPLETION_EVENT)
					 .event_data.dto_completion_event_data.transfered_length,
			0);
	assert_int_equal(want_dequeued(b->recv, DAT_IB_RDMA_WRITE_IMMED_DATA, VALUE)
					 .transfered_length,
			100000);
	/* The third is waited for. */
	want_dto(b, b->recv, 2, DAT_DTO_SUCCESS, 0);
}

static void
send_with_invalidate__unbinds_a_window(void **state)
{
	DAT_LMR_TRIPLET iov;
	DAT_RMR_CONTEXT context;
	DAT_RMR_HANDLE rmr;

	/* Binds need a dispatcher that takes them. */
	b->request = make_evd(b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
	use_ep(b, NULL);
	pair_connect(&pair);
	rmr = make_rmr(b);
	context = bind_rmr(b, rmr, segment(b, HALF, 4096), DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
	post_recvs(0, 2, 64);
	iov = segment(a, 0, 64);
	/* Not asked to: an ordinary message, whatever the context. */
	ok(dat_ib_post_send_with_invalidate(a->ep, 1, &iov, cookie(0), flags, DAT_FALSE, context));
	want_dto(a, a->request, 0, DAT_DTO_SUCCESS, 64);
	want_data(next_receive(0, 64), DAT_IB_RECV_PLAIN, 0, 0);
	assert_int_equal(rmr_param(rmr).rmr_context, context);

	ok(dat_ib_post_send_with_invalidate(a->ep, 1, &iov, cookie(1), flags, DAT_TRUE, context));
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, 64);
	want_data(next_receive(1, 64), DAT_IB_RECV_INVALIDATE, 0, context);
	assert_int_equal(rmr_param(rmr).rmr_context, 0);

	/* There is no such window any more. */
	ok(post_recv(b, 0, 64, 2));
	ok(dat_ib_post_send_with_invalidate(a->ep, 1, &iov, cookie(2), flags, DAT_TRUE, context));
	want_dto(a, a->request, 2, DAT_DTO_ERR_REMOTE_ACCESS, 0);
	want_both(DAT_CONNECTION_EVENT_BROKEN);
}

static void
rdma_write_immed__arguments_in_their_order(void **state)
{
	const DAT_COMPLETION_FLAGS bad = (DAT_COMPLETION_FLAGS)0x40000000;
	DAT_LMR_TRIPLET iov = segment(a, 0, 64), endless = segment(a, 0, UINT64_C(1) << 32);
	DAT_RMR_TRIPLET to;

#define WRITE(ep, n, iov, to, f) dat_ib_post_rdma_write_immed(ep, n, iov, cookie(1), to, VALUE, f)
	to = target(b, HALF, 63);
	want_bad_handle(WRITE(a->lmr, 5, NULL, NULL, bad), EP);
	want_bad_arg(WRITE(a->ep, 5, NULL, NULL, bad), 2);
	want_bad_arg(WRITE(a->ep, -1, NULL, NULL, bad), 2);
	want_bad_arg(WRITE(a->ep, 1, NULL, NULL, bad), 3);
	want_bad_arg(WRITE(a->ep, 1, &endless, NULL, bad), 3);
	want_bad_arg(WRITE(a->ep, 1, &iov, NULL, bad), 5);
	want_bad_arg(WRITE(a->ep, 1, &iov, &to, bad), 7);
	want_type(WRITE(a->ep, 1, &iov, &to, flags), DAT_LENGTH_ERROR);
	to = target(b, HALF, 64);
	want_bad_state(WRITE(a->ep, 1, &iov, &to, flags), EP_UNCONNECTED);
	pair_connect(&pair);
	iov.lmr_context ^= 0xff;
	want_type(WRITE(a->ep, 1, &iov, &to, flags), DAT_PRIVILEGES_VIOLATION);
	/* Refused, so nothing was posted. */
	want_silence(a->request);
#undef WRITE
}

static void
send_immed__arguments_in_their_order(void **state)
{
	const DAT_COMPLETION_FLAGS bad = (DAT_COMPLETION_FLAGS)0x40000000;
	DAT_LMR_TRIPLET iov = segment(a, 0, 64), endless = segment(a, 0, UINT64_C(1) << 32);

#define SEND(ep, n, iov, f) dat_ib_post_send_immed(ep, n, iov, cookie(1), VALUE, f)
	want_bad_handle(SEND(a->lmr, 5, NULL, bad), EP);
	want_bad_arg(SEND(a->ep, 5, NULL, bad), 2);
	want_bad_arg(SEND(a->ep, -1, NULL, bad), 2);
	want_bad_arg(SEND(a->ep, 1, NULL, bad), 3);
	want_bad_arg(SEND(a->ep, 1, &endless, bad), 3);
	want_bad_arg(SEND(a->ep, 1, &iov, bad), 6);
	want_bad_state(SEND(a->ep, 1, &iov, flags), EP_UNCONNECTED);
	pair_connect(&pair);
	iov.lmr_context ^= 0xff;
	want_type(SEND(a->ep, 1, &iov, flags), DAT_PRIVILEGES_VIOLATION);
	want_silence(a->request);
#undef SEND
}

static void
send_with_invalidate__arguments_in_their_order(void **state)
{
	const DAT_COMPLETION_FLAGS bad = (DAT_COMPLETION_FLAGS)0x40000000;
	DAT_LMR_TRIPLET iov = segment(a, 0, 64);

#define SEND(ep, n, iov, f) \
	dat_ib_post_send_with_invalidate(ep, n, iov, cookie(1), f, DAT_TRUE, VALUE)
	want_bad_handle(SEND(a->lmr, 5, NULL, bad), EP);
	want_bad_arg(SEND(a->ep, 5, NULL, bad), 2);
	want_bad_arg(SEND(a->ep, 1, NULL, bad), 3);
	want_bad_arg(SEND(a->ep, 1, &iov, bad), 5);
	want_bad_state(SEND(a->ep, 1, &iov, flags), EP_UNCONNECTED);
#undef SEND
}

/* The same events in the same order, whichever call takes them. */
static void
evd_dequeue__is_dat_evd_dequeue_with_more(void **state)
{
	DAT_IB_EXTENSION_EVENT_DATA data;
	DAT_EVENT event;
	DAT_LMR_TRIPLET iov = segment(a, 0, 64);

	for (uint64_t i = 0; i < 4; i++)
		ok(post_recv(b, HALF, 64, i));
	ok(post_send(a, 0, 64, 0));
	for (uint64_t i = 1; i < 4; i++)
		ok(dat_ib_post_send_immed(a->ep, 1, &iov, cookie(i), VALUE + (DAT_UINT32)i, flags));
	want_sent(0, 4, 64);
	assert_int_equal(want_dequeued(b->recv, DAT_IB_RECV_PLAIN, 0).user_cookie.as_64, 0);
	assert_int_equal(
			want_dequeued(b->recv, DAT_IB_RECV_IMMED_DATA, VALUE + 1).user_cookie.as_64,
			1);
	/* An ordinary completion for a program that does not ask. */
	want_dto_now(b, b->recv, 2, DAT_DTO_SUCCESS);
	want_dequeued(b->recv, DAT_IB_RECV_IMMED_DATA, VALUE + 3);
	/* Bare, as dat_evd_dequeue() says it, and nothing is written. */
	memset(&data, POISON, sizeof(data));
	want(dat_ib_evd_dequeue(b->recv, &event, &data), DAT_QUEUE_EMPTY);
	assert_int_equal(data.immed_data, 0xa5a5a5a5);
	/* Neither requests nor failures bring anything. */
	ok(dat_ib_post_send_immed(a->ep, 1, &iov, cookie(9), VALUE, flags));
	ok(post_recv(b, HALF, 1, 9));
	poll_until(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(want_dequeued(b->recv, DAT_IB_RECV_PLAIN, 0).status,
			DAT_DTO_ERR_LOCAL_LENGTH);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dequeued(a->request, DAT_IB_RECV_PLAIN, 0);
}

static void
evd_calls__arguments_in_their_order(void **state)
{
	DAT_IB_EXTENSION_EVENT_DATA data;
	DAT_EVENT event;
	DAT_COUNT more;

	want_error(dat_ib_evd_dequeue(b->lmr, NULL, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_bad_arg(dat_ib_evd_dequeue(b->recv, NULL, NULL), 2);
	want_bad_arg(dat_ib_evd_dequeue(b->recv, &event, NULL), 3);
	want_error(dat_ib_evd_wait(b->lmr, 0, 0, NULL, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE1);
	want_bad_arg(dat_ib_evd_wait(b->recv, 0, 0, NULL, NULL, NULL), 3);
	want_bad_arg(dat_ib_evd_wait(b->recv, 0, EVD_LEN + 1, NULL, NULL, NULL), 3);
	want_bad_arg(dat_ib_evd_wait(b->recv, 0, 1, NULL, NULL, NULL), 4);
	want_bad_arg(dat_ib_evd_wait(b->recv, 0, 1, &event, NULL, NULL), 5);
	want_bad_arg(dat_ib_evd_wait(b->recv, 0, 1, &event, &more, NULL), 6);
	more = 7;
	want_type(dat_ib_evd_wait(b->recv, 0, 1, &event, &more, &data), DAT_TIMEOUT_EXPIRED);
	assert_int_equal(more, 0);
	ok(dat_evd_set_unwaitable(b->recv));
	want_bad_state(dat_ib_evd_wait(b->recv, 0, 1, &event, &more, &data), EVD_UNWAITABLE);
}

const struct CMUnitTest tests[] = {
	up_test(send_immed__brings_message_and_number),
	up_test(rdma_write_immed__brings_bytes_to_memory_and_a_number_to_the_receive),
	up_test(rdma_write_immed__has_no_length_for_those_who_cannot_know),
	pair_test(send_with_invalidate__unbinds_a_window),
	pair_test(rdma_write_immed__arguments_in_their_order),
	pair_test(send_immed__arguments_in_their_order),
	pair_test(send_with_invalidate__arguments_in_their_order),
	up_test(evd_dequeue__is_dat_evd_dequeue_with_more),
	pair_test(evd_calls__arguments_in_their_order),
	tests_end,
};
