/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

#define POLLS_TO_HOLD 1000

static void
huge(const struct end *end, DAT_LMR_TRIPLET *iov)
{
	for (unsigned int i = 0; i < HUGE_PIECES; i++)
		iov[i] = segment(end, 0, BUFFER_LEN);
}

DAT_RETURN
post_huge_send(const struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(end, iov);
	return dat_ep_post_send(
			end->ep, HUGE_PIECES, iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_huge_srq(const struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(end, iov);
	return dat_srq_post_recv(end->srq, HUGE_PIECES, iov, cookie(value));
}

void
begin_huge(uint64_t value)
{
	ok(post_huge_send(a, value));
	for (int i = 0; i < POLLS_TO_HOLD && held(b->ep) == 0; i++)
		poll_both(1);
	want_held(b->ep, 1);
}

DAT_RETURN
post_send_with(const struct end *end, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	DAT_LMR_TRIPLET iov = segment(end, 0, length);

	return dat_ep_post_send(end->ep, 1, &iov, cookie(value), (DAT_COMPLETION_FLAGS)flags);
}

DAT_RETURN
post_write(const DAT_LMR_TRIPLET *from, DAT_RMR_TRIPLET to, uint64_t value)
{
	DAT_LMR_TRIPLET iov = *from;

	return dat_ep_post_rdma_write(
			a->ep, 1, &iov, cookie(value), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_read(const DAT_LMR_TRIPLET *to, DAT_RMR_TRIPLET from, uint64_t value)
{
	DAT_LMR_TRIPLET iov = *to;

	return dat_ep_post_rdma_read(
			a->ep, 1, &iov, cookie(value), &from, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
feed(size_t offset, DAT_VLEN length, uint64_t value)
{
	return b->srq != DAT_HANDLE_NULL ? post_srq(b, offset, length, value)
					 : post_recv(b, offset, length, value);
}

void
post_long(unsigned int n, uint64_t first)
{
	for (uint64_t i = first; i < first + n; i++)
		ok(post_srq(b, 0, LONG_LEN, i));
}

void
post_recvs(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		ok(post_recv(b, 0, length, from));
}

void
post_sends(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		ok(post_send(a, 0, length, from));
}

void
deliver_as(uint64_t value, DAT_VLEN length)
{
	deliver(&pair, length);
	want_dto(b, b->recv, value, DAT_DTO_SUCCESS, length);
}

void
deliver_n(unsigned int n, DAT_VLEN length)
{
	while (n-- > 0)
		deliver(&pair, length);
}

void
use_n(unsigned int n)
{
	while (n-- > 0)
		use_one(&pair);
}

void
pass(uint64_t value)
{
	post_many(b, 1, value);
	deliver_as(value, 64);
}

void
transfer(uint64_t value, DAT_VLEN length)
{
	ok(feed(0, length, value));
	ok(post_send(a, 0, length, value));
	want_passed(value, value, length);
}

void
exchange(struct end *from, struct end *to, DAT_VLEN length, uint64_t value)
{
	fill_bytes(from->buffer, length, (uint32_t)value);
	memset(to->buffer + HALF, POISON, length + 1);
	ok(post_recv(to, HALF, HALF, value));
	ok(post_send(from, 0, length, value));
	want_dto(from, from->request, value, DAT_DTO_SUCCESS, length);
	want_dto(to, to->recv, value, DAT_DTO_SUCCESS, length);
	assert_memory_equal(from->buffer, to->buffer + HALF, length);
	assert_int_equal(to->buffer[HALF + length], POISON);
}

DAT_RMR_CONTEXT
post_bind(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv)
{
	DAT_RMR_CONTEXT context = 0;

	ok(dat_rmr_bind(rmr NEW_ARGS(, end->lmr), &iov,
			(DAT_MEM_PRIV_FLAGS)priv NEW_ARGS(, DAT_VA_TYPE_VA), end->ep, cookie(1),
			DAT_COMPLETION_DEFAULT_FLAG, &context));
	return context;
}

void
want_bound(const struct end *end, DAT_RMR_HANDLE rmr)
{
	DAT_EVENT event = want_event(end->request, DAT_RMR_BIND_COMPLETION_EVENT);

	assert_int_equal(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
	assert_ptr_equal(event.event_data.rmr_completion_event_data.rmr_handle, rmr);
}

DAT_RMR_CONTEXT
bind_rmr(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv)
{
	DAT_RMR_CONTEXT context = post_bind(end, rmr, iov, priv);

	want_bound(end, rmr);
	return context;
}
