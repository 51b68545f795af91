/* SPDX-License-Identifier: BSD-3-Clause */

#include "contract.h"

#include "answers.h"
#include "make.h"

#define POLLS_MAX 10000 /**< of both ends, for something that a few suffice for */
#define SLOT_LEN  64

void
srq_pair_open(struct pair *pair, DAT_COUNT depth, DAT_COUNT iov)
{
	const struct end_options options = { .evd_len = 512 };

	pair_open(pair, &options, &options);
	ok(dat_ep_free(pair->b.ep));
	pair->b.srq = make_srq(&pair->b, depth, iov);
	pair->b.ep = make_srq_ep(&pair->b, pair->b.srq, pair->b.recv);
}

void
srq_pair_up(struct pair *pair, DAT_COUNT depth, DAT_COUNT iov)
{
	srq_pair_open(pair, depth, iov);
	pair_connect(pair);
}

DAT_SRQ_HANDLE
make_srq(const struct end *end, DAT_COUNT depth, DAT_COUNT iov)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = depth, .max_recv_iov = iov };
	DAT_SRQ_HANDLE srq;

	ok(dat_srq_create(end->ia, end->pz, &attr, &srq));
	return srq;
}

DAT_EP_HANDLE
make_srq_ep(const struct end *end, DAT_SRQ_HANDLE srq, DAT_EVD_HANDLE recv)
{
	const DAT_EP_ATTR attr = { 0 };
	DAT_EP_HANDLE ep;

	ok(dat_ep_create_with_srq(
			end->ia, end->pz, recv, end->request, end->connect, srq, &attr, &ep));
	return ep;
}

DAT_EVD_HANDLE
make_dto_evd(const struct end *end, DAT_COUNT len)
{
	return make_evd_of(end, len, DAT_EVD_DTO_FLAG);
}

DAT_LMR_CONTEXT
register_as(const struct end *end, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv, DAT_LMR_HANDLE *lmr)
{
	DAT_LMR_CONTEXT key;

	*lmr = register_bytes(end, BUFFER_LEN, pz, priv, &key, NULL);
	return key;
}

void
add_connection(struct pair *pair)
{
	struct end *a = &pair->a;

	ok(dat_ep_create(a->ia, a->pz, a->recv, a->request, a->connect, NULL, &a->ep));
	pair->b.ep = make_srq_ep(&pair->b, pair->b.srq, pair->b.recv);
	pair_connect(pair);
}

void
fill_bytes(uint8_t *p, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

DAT_SRQ_PARAM
srq_param(DAT_SRQ_HANDLE srq)
{
	DAT_SRQ_PARAM param;

	memset(&param, POISON, sizeof(param));
	ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	return param;
}

void
want_counts(DAT_SRQ_HANDLE srq, DAT_COUNT max, DAT_COUNT available, DAT_COUNT outstanding)
{
	DAT_SRQ_PARAM param = srq_param(srq);

	assert_int_equal(param.max_recv_dtos, max);
	assert_int_equal(param.available_dto_count, available);
	assert_int_equal(param.outstanding_dto_count, outstanding);
}

void
want_unchanged(DAT_SRQ_HANDLE srq, const DAT_SRQ_PARAM *before)
{
	DAT_SRQ_PARAM now = srq_param(srq);

	want_same_answer(ANSWER_SRQ, &now, before);
}

void
post_many(struct end *end, unsigned int n, uint64_t first)
{
	for (uint64_t i = first; i < first + n; i++)
		ok(post_srq(end, i * SLOT_LEN % BUFFER_LEN, SLOT_LEN, i));
}

void
deliver(struct pair *pair, DAT_VLEN length)
{
	ok(post_send(&pair->a, 0, length, 1));
	/* The answer of the other side: what it has of the message is complete. */
	want_dto(&pair->a, pair->a.request, 1, DAT_DTO_SUCCESS, length);
}

void
use_one(struct pair *pair)
{
	deliver(pair, 64);
	want_event(pair->b.recv, DAT_DTO_COMPLETION_EVENT);
}

DAT_COUNT
held(DAT_EP_HANDLE ep)
{
	DAT_COUNT number = -1;

	ok(dat_ep_recv_query(ep, &number, NULL));
	return number;
}

void
poll_once(const struct end *end)
{
	DAT_EVENT event;

	/* No connection request arrives while a test polls this way. */
	want(dat_evd_dequeue(end->cr, &event), DAT_QUEUE_EMPTY);
}

void
begin_long(struct pair *pair, uint64_t value)
{
	ok(post_send(&pair->a, 0, LONG_LEN, value));
	for (int i = 0; i < POLLS_MAX && held(pair->b.ep) == 0; i++) {
		poll_once(&pair->a);
		poll_once(&pair->b);
	}
	assert_int_equal(held(pair->b.ep), 1);
}

void
want_none(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	want(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
}

void
want_low(DAT_EVD_HANDLE async, DAT_SRQ_HANDLE srq)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	ok(dat_evd_dequeue(async, &event));
	assert_int_equal(event.event_number, DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK);
	assert_ptr_equal(event.evd_handle, async);
	assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle, srq);
	assert_int_equal(event.event_data.asynch_error_event_data.reason,
			DAT_SRQ_LOW_WATERMARK_EVENT);
}

void
part(struct pair *pair)
{
	ok(dat_ep_disconnect(pair->b.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}
