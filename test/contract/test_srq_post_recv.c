/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_post_recv: what may be posted, how much of it, and what is refused. */

#include "contract.h"

/* Proves: srq_post_recv.1 */
static void
post_recv__no_segments_for_an_empty_message(void **state)
{
	DAT_LMR_TRIPLET unused;
	struct pair pair;

	memset(&unused, POISON, sizeof(unused));
	srq_pair_up(&pair, 4, 2);
	ok(dat_srq_post_recv(pair.b.srq, 0, NULL, cookie(1)));
	ok(dat_srq_post_recv(pair.b.srq, 0, &unused, cookie(2)));
	want_counts(pair.b.srq, 4, 2, 2);
	for (uint64_t i = 1; i <= 2; i++) {
		ok(dat_ep_post_send(pair.a.ep, 0, NULL, cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 0);
	}
	want_counts(pair.b.srq, 4, 0, 0);
	pair_close(&pair);
}

/*
 * The call needs nobody: no endpoint, no connection, no poll of the adapter. The array is free when it returns.
 *
 * Proves: srq_post_recv.4 bug.S3
 */
static void
post_recv__array_is_free_when_the_call_returns(void **state)
{
	DAT_LMR_TRIPLET iov[2];
	struct pair pair;

	srq_pair_open(&pair, 4, 2);
	fill_bytes(pair.a.buffer, 64, 2);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(srq_param(pair.b.srq).srq_state, DAT_SRQ_STATE_OPERATIONAL);
		iov[0] = segment(&pair.b, i * 64, 32);
		iov[1] = segment(&pair.b, i * 64 + 32, 32);
		ok(dat_srq_post_recv(pair.b.srq, 2, iov, cookie(i)));
		memset(iov, POISON, sizeof(iov));
	}
	pair_connect(&pair);
	for (size_t i = 0; i < 4; i++) {
		deliver(&pair, 64);
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		assert_memory_equal(pair.b.buffer + i * 64, pair.a.buffer, 64);
	}
	pair_close(&pair);
}

/* Proves: srq_post_recv.5 srq_post_recv.6 bug.S29 */
static void
post_recv__judges_in_the_order_of_the_arguments(void **state)
{
	DAT_LMR_TRIPLET iov[3];
	struct end end;

	end_open(&end, "loop0", NULL);
	end.srq = make_srq(&end, 4, 2);
	for (unsigned int i = 0; i < 3; i++)
		iov[i] = segment(&end, BUFFER_LEN - 7, 8);
	want_error(dat_srq_post_recv(DAT_HANDLE_NULL, -1, NULL, cookie(1)), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_post_recv(end.ep, -1, NULL, cookie(1)), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_post_recv(end.srq, -1, NULL, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, INT32_MIN, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, 3, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, INT32_MAX, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, 2, NULL, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_srq_post_recv(end.srq, 2, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	iov[0] = segment(&end, 0, UINT64_MAX);
	want_error(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	iov[0] = segment(&end, 0, 8);
	iov[0].virtual_address--;
	want_error(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	/* The first is good, the second is not: nothing is posted. */
	iov[0] = segment(&end, 0, 8);
	want_error(dat_srq_post_recv(end.srq, 2, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_counts(end.srq, 4, 0, 0);
	ok(dat_srq_post_recv(end.srq, 1, iov, cookie(1)));
	want_counts(end.srq, 4, 1, 1);
	end_close(&end);
}

/*
 * Memory of another zone, memory that may not be written, memory that is not registered any more; and after each
 * refusal the queue works.
 *
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
	DAT_LMR_TRIPLET iov;
	DAT_LMR_HANDLE lmr;
	struct pair pair;
	DAT_PZ_HANDLE pz;

	srq_pair_up(&pair, 4, 1);
	ok(dat_pz_create(pair.b.ia, &pz));
	iov = segment(&pair.b, 0, 64);
	iov.lmr_context = register_as(&pair.b, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	want_type(dat_srq_post_recv(pair.b.srq, 1, &iov, cookie(1)), DAT_PROTECTION_VIOLATION);
	ok(dat_lmr_free(lmr));
	want_type(dat_srq_post_recv(pair.b.srq, 1, &iov, cookie(1)), DAT_PRIVILEGES_VIOLATION);
	for (unsigned int i = 0; i < sizeof(unwritable) / sizeof(unwritable[0]); i++) {
		iov.lmr_context = register_as(&pair.b, pair.b.pz, unwritable[i], &lmr);
		want_type(dat_srq_post_recv(pair.b.srq, 1, &iov, cookie(1)),
				DAT_PRIVILEGES_VIOLATION);
		ok(dat_lmr_free(lmr));
		want_counts(pair.b.srq, 4, 0, 0);
		ok(post_srq(&pair.b, 0, 64, i));
		deliver(&pair, 64);
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
	}
	pair_close(&pair);
}

/*
 * Full is when as many are outstanding as the queue holds: on the queue, taken, or completed and not reaped.
 *
 * Proves: srq_post_recv.6 srq_post_recv.7 bug.S8 bug.S9
 */
static void
post_recv__is_bounded_by_what_is_outstanding(void **state)
{
	struct pair pair;

	for (DAT_COUNT depth = 1; depth <= 65; depth += depth < 9 ? 1 : 7) {
		srq_pair_up(&pair, depth, 1);
		for (DAT_COUNT i = 0; i < depth + 3; i++) {
			DAT_COUNT n = i < depth ? i : depth;

			want_counts(pair.b.srq, depth, n, n);
			if (i < depth)
				ok(post_srq(&pair.b, 0, 64, (uint64_t)i));
			else
				want(post_srq(&pair.b, 0, 64, 99),
						DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES);
		}
		deliver(&pair, 8);
		want_counts(pair.b.srq, depth, depth - 1, depth);
		want_type(post_srq(&pair.b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(pair.b.srq, depth, depth - 1, depth);
		want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 8);
		ok(post_srq(&pair.b, 0, 64, 98));
		want_type(post_srq(&pair.b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(pair.b.srq, depth, depth, depth);
		pair_close(&pair);
	}
}

/* What is held by an endpoint in the middle of a message is outstanding, too. */
/* Proves: srq_post_recv.6 */
static void
post_recv__what_an_endpoint_holds_is_outstanding(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 2, 1);
	ok(post_srq(&pair.b, 0, LONG_LEN, 1));
	ok(post_srq(&pair.b, 0, LONG_LEN, 2));
	begin_long(&pair, 1);
	want_counts(pair.b.srq, 2, 1, 2);
	want_type(post_srq(&pair.b, 0, 64, 3), DAT_INSUFFICIENT_RESOURCES);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, LONG_LEN);
	ok(post_srq(&pair.b, 0, 64, 3));
	pair_close(&pair);
}

#define TOGETHER 200

/*
 * Far more at once than any word has bits, reaped from two dispatchers in an order that is not that of posting.
 *
 * Proves: bug.S10 srq_create.10
 */
static void
post_recv__many_at_once_reaped_in_any_order(void **state)
{
	DAT_EP_HANDLE client[2], server[2];
	DAT_EVD_HANDLE evd[2];
	struct pair pair;

	srq_pair_up(&pair, TOGETHER, 1);
	for (unsigned int i = 0; i < 2; i++) {
		if (i > 0) {
			pair.b.recv = make_dto_evd(&pair.b, TOGETHER);
			add_connection(&pair);
		}
		client[i] = pair.a.ep;
		server[i] = pair.b.ep;
		evd[i] = pair.b.recv;
	}
	for (unsigned int round = 0; round < 3; round++) {
		DAT_COUNT left = TOGETHER;

		post_many(&pair.b, TOGETHER, 0);
		want_type(post_srq(&pair.b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
		for (unsigned int i = 0; i < TOGETHER; i++) {
			pair.a.ep = client[i % 2];
			deliver(&pair, 64);
		}
		want_counts(pair.b.srq, TOGETHER, 0, TOGETHER);
		/* All of the second before the first. */
		for (unsigned int i = 0; i < TOGETHER; i++) {
			unsigned int which = i < TOGETHER / 2;

			pair.b.ep = server[which];
			want_dto(&pair.b, evd[which], 2 * (i % (TOGETHER / 2)) + which,
					DAT_DTO_SUCCESS, 64);
			want_counts(pair.b.srq, TOGETHER, 0, --left);
		}
	}
	pair_close(&pair);
}

/*
 * No endpoint on a queue has receives of its own: a post to it is refused by its state, except that more pieces than any
 * post may have are named before.
 */
static void
post_recv__not_to_the_endpoint(void **state)
{
	enum {
		MANY = 200
	};
	DAT_LMR_TRIPLET iov[MANY];
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	for (unsigned int i = 0; i < MANY; i++)
		iov[i] = segment(&pair.b, 0, 8);
	want_error(post_recv(&pair.b, 0, 64, 1), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	want_error(dat_ep_post_recv(pair.b.ep, MANY, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_counts(pair.b.srq, 4, 0, 0);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(post_recv__no_segments_for_an_empty_message),
		dat_test(post_recv__array_is_free_when_the_call_returns),
		dat_test(post_recv__judges_in_the_order_of_the_arguments),
		dat_test(post_recv__judges_memory),
		dat_test(post_recv__is_bounded_by_what_is_outstanding),
		dat_test(post_recv__what_an_endpoint_holds_is_outstanding),
		dat_test(post_recv__many_at_once_reaped_in_any_order),
		dat_test(post_recv__not_to_the_endpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
