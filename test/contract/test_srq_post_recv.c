/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_post_recv: what may be posted, how much of it, and what is refused. */

#include "rig.h"

/* Proves: srq_post_recv.1 */
static void
post_recv__no_segments_for_an_empty_message(void **state)
{
	DAT_LMR_TRIPLET unused;

	memset(&unused, POISON, sizeof(unused));
	srq_pair_up(&pair, 4, 2);
	ok(dat_srq_post_recv(b->srq, 0, NULL, cookie(1)));
	ok(dat_srq_post_recv(b->srq, 0, &unused, cookie(2)));
	want_counts(b->srq, 4, 2, 2);
	for (uint64_t i = 1; i <= 2; i++) {
		ok(dat_ep_post_send(a->ep, 0, NULL, cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(b, b->recv, i, DAT_DTO_SUCCESS, 0);
	}
	want_counts(b->srq, 4, 0, 0);
}

/* The call needs nobody: no endpoint, no connection, no poll of the adapter. The array is free when it returns. */
/* Proves: srq_post_recv.4 bug.S3 */
static void
post_recv__array_is_free_when_the_call_returns(void **state)
{
	DAT_LMR_TRIPLET iov[2];

	fill_bytes(a->buffer, 64, 2);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(srq_param(b->srq).srq_state, DAT_SRQ_STATE_OPERATIONAL);
		iov[0] = segment(b, i * 64, 32);
		iov[1] = segment(b, i * 64 + 32, 32);
		ok(dat_srq_post_recv(b->srq, 2, iov, cookie(i)));
		memset(iov, POISON, sizeof(iov));
	}
	pair_connect(&pair);
	for (size_t i = 0; i < 4; i++) {
		deliver_as(i, 64);
		assert_memory_equal(b->buffer + i * 64, a->buffer, 64);
	}
}

/* Proves: srq_post_recv.5 srq_post_recv.6 bug.S29 */
static void
post_recv__judges_in_the_order_of_the_arguments(void **state)
{
	DAT_LMR_TRIPLET iov[3];

	a->srq = make_srq(a, 4, 2);
	for (unsigned int i = 0; i < 3; i++)
		iov[i] = segment(a, BUFFER_LEN - 7, 8);
	want_bad_handle(dat_srq_post_recv(DAT_HANDLE_NULL, -1, NULL, cookie(1)), SRQ);
	want_bad_handle(dat_srq_post_recv(a->ep, -1, NULL, cookie(1)), SRQ);
	want_bad_arg(dat_srq_post_recv(a->srq, -1, NULL, cookie(1)), 2);
	want_bad_arg(dat_srq_post_recv(a->srq, INT32_MIN, iov, cookie(1)), 2);
	want_bad_arg(dat_srq_post_recv(a->srq, 3, iov, cookie(1)), 2);
	want_bad_arg(dat_srq_post_recv(a->srq, INT32_MAX, iov, cookie(1)), 2);
	want_bad_arg(dat_srq_post_recv(a->srq, 2, NULL, cookie(1)), 3);
	want_bad_arg(dat_srq_post_recv(a->srq, 2, iov, cookie(1)), 3);
	iov[0] = segment(a, 0, UINT64_MAX);
	want_bad_arg(dat_srq_post_recv(a->srq, 1, iov, cookie(1)), 3);
	iov[0] = segment(a, 0, 8);
	iov[0].virtual_address--;
	want_bad_arg(dat_srq_post_recv(a->srq, 1, iov, cookie(1)), 3);
	/* The first is good, the second is not: nothing is posted. */
	iov[0] = segment(a, 0, 8);
	want_bad_arg(dat_srq_post_recv(a->srq, 2, iov, cookie(1)), 3);
	want_counts(a->srq, 4, 0, 0);
	ok(dat_srq_post_recv(a->srq, 1, iov, cookie(1)));
	want_counts(a->srq, 4, 1, 1);
}

/*
 * Memory of another zone, memory that may not be written, memory that is not registered any more; and after each
 * refusal the queue works.
 * Proves: srq_post_recv.5 bug.S6
 */
static void
post_recv__judges_memory(void **state)
{
	static const DAT_MEM_PRIV_FLAGS unwritable[] = {
		DAT_MEM_PRIV_NONE_FLAG,
		DAT_MEM_PRIV_LOCAL_READ_FLAG,
		DAT_MEM_PRIV_REMOTE_READ_FLAG,
	};
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz = make_pz(b);
	DAT_LMR_TRIPLET iov = segment(b, 0, 64);

	iov.lmr_context = register_as(b, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)), DAT_PROTECTION_VIOLATION);
	ok(dat_lmr_free(lmr));
	want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)), DAT_PRIVILEGES_VIOLATION);
	for (unsigned int i = 0; i < COUNT_OF(unwritable); i++) {
		iov.lmr_context = register_as(b, b->pz, unwritable[i], &lmr);
		want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)), DAT_PRIVILEGES_VIOLATION);
		ok(dat_lmr_free(lmr));
		want_counts(b->srq, 4, 0, 0);
		ok(post_srq(b, 0, 64, i));
		deliver_as(i, 64);
	}
}

/* Full is when as many are outstanding as the queue holds: on the queue, taken, or completed and not reaped. */
/* Proves: srq_post_recv.6 srq_post_recv.7 bug.S8 bug.S9 */
static void
post_recv__is_bounded_by_what_is_outstanding(void **state)
{
	for (DAT_COUNT depth = 1; depth <= 65; depth += depth < 9 ? 1 : 7) {
		srq_pair_up(&pair, depth, 1);
		for (DAT_COUNT i = 0; i < depth + 3; i++) {
			DAT_COUNT n = i < depth ? i : depth;

			want_counts(b->srq, depth, n, n);
			if (i < depth)
				ok(post_srq(b, 0, 64, (uint64_t)i));
			else
				want(post_srq(b, 0, 64, 99),
						DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES);
		}
		deliver(&pair, 8);
		want_counts(b->srq, depth, depth - 1, depth);
		want_type(post_srq(b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(b->srq, depth, depth - 1, depth);
		want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 8);
		ok(post_srq(b, 0, 64, 98));
		want_type(post_srq(b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(b->srq, depth, depth, depth);
		pair_close(&pair);
	}
}

/* A buffer that an endpoint holds in the middle of a message is outstanding, too. */
/* Proves: srq_post_recv.6 */
static void
post_recv__what_an_endpoint_holds_is_outstanding(void **state)
{
	post_long(2, 1);
	begin_long(&pair, 1);
	want_counts(b->srq, 2, 1, 2);
	want_type(post_srq(b, 0, 64, 3), DAT_INSUFFICIENT_RESOURCES);
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, LONG_LEN);
	ok(post_srq(b, 0, 64, 3));
}

#define TOGETHER 200

/* Far more at once than any word has bits, reaped from two dispatchers in an order that is not that of posting. */
/* Proves: bug.S10 srq_create.10 */
static void
post_recv__many_at_once_reaped_in_any_order(void **state)
{
	DAT_EP_HANDLE client[2], server[2];
	DAT_EVD_HANDLE evd[2];

	for (unsigned int i = 0; i < 2; i++) {
		if (i > 0) {
			b->recv = make_dto_evd(b, TOGETHER);
			add_connection(&pair);
		}
		client[i] = a->ep;
		server[i] = b->ep;
		evd[i] = b->recv;
	}
	for (unsigned int round = 0; round < 3; round++) {
		DAT_COUNT left = TOGETHER;

		post_many(b, TOGETHER, 0);
		want_type(post_srq(b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
		for (unsigned int i = 0; i < TOGETHER; i++) {
			a->ep = client[i % 2];
			deliver(&pair, 64);
		}
		want_counts(b->srq, TOGETHER, 0, TOGETHER);
		/* All of the second before the first. */
		for (unsigned int i = 0; i < TOGETHER; i++) {
			unsigned int which = i < TOGETHER / 2;

			b->ep = server[which];
			want_dto(b, evd[which], 2 * (i % (TOGETHER / 2)) + which, DAT_DTO_SUCCESS,
					64);
			want_counts(b->srq, TOGETHER, 0, --left);
		}
	}
}

/*
 * No endpoint on a queue has receives of its own: a post to it is refused by its state, except that more pieces than any
 * post may have are named before.
 */
static void
post_recv__not_to_the_endpoint(void **state)
{
#define MANY 200
	DAT_LMR_TRIPLET iov[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		iov[i] = segment(b, 0, 8);
	want_bad_state(post_recv(b, 0, 64, 1), SRQ_IN_USE);
	want_bad_arg(dat_ep_post_recv(b->ep, MANY, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), 2);
	want_counts(b->srq, 4, 0, 0);
}

const struct CMUnitTest tests[] = {
	rig_test(post_recv__no_segments_for_an_empty_message),
	srq_test(post_recv__array_is_free_when_the_call_returns, 4, 2),
	end_test(post_recv__judges_in_the_order_of_the_arguments),
	srq_up_test(post_recv__judges_memory, 4, 1),
	rig_test(post_recv__is_bounded_by_what_is_outstanding),
	srq_up_test(post_recv__what_an_endpoint_holds_is_outstanding, 2, 1),
	srq_up_test(post_recv__many_at_once_reaped_in_any_order, TOGETHER, 1),
	srq_up_test(post_recv__not_to_the_endpoint, 4, 1),
	tests_end,
};
