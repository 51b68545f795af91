/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_create: what a new queue is, what it refuses, and what it promises to the endpoints that will use it. */

#include "contract.h"

#define SIZES_MAX 65

static DAT_RETURN
try_create(const struct end *end, DAT_COUNT depth, DAT_COUNT iov, DAT_COUNT low)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = depth, .max_recv_iov = iov, .low_watermark = low };
	DAT_SRQ_HANDLE srq = &attr;
	DAT_RETURN rc = dat_srq_create(end->ia, end->pz, &attr, &srq);

	if (rc == DAT_SUCCESS)
		ok(dat_srq_free(srq));
	else
		assert_ptr_equal(srq, &attr);
	return rc;
}

static DAT_IA_ATTR
ia_limits(const struct end *end)
{
	DAT_IA_ATTR attr;

	memset(&attr, POISON, sizeof(attr));
	ok(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	return attr;
}

/* Proves: srq_create.1 srq_create.3 bug.S21 */
static void
create__is_operational_and_empty(void **state)
{
	DAT_HANDLE_TYPE type;
	DAT_SRQ_HANDLE srq;
	DAT_SRQ_PARAM param;
	struct end end;

	end_open(&end, "loop0", NULL);
	srq = make_srq(&end, 10, 3);
	ok(dat_get_handle_type(srq, &type));
	assert_int_equal(type, DAT_HANDLE_TYPE_SRQ);
	param = srq_param(srq);
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_ptr_equal(param.pz_handle, end.pz);
	assert_int_equal(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	assert_int_equal(param.low_watermark, DAT_SRQ_LW_DEFAULT);
	assert_int_equal(param.available_dto_count, 0);
	assert_int_equal(param.outstanding_dto_count, 0);
	/* No endpoint uses it: nothing stands in the way of its end. */
	ok(dat_srq_free(srq));
	end_close(&end);
}

/*
 * At least what was asked for, says the page; this provider grants exactly that, and so many posts succeed.
 *
 * Proves: srq_create.2 bug.S7 bug.S8 bug.S26
 */
static void
create__grants_exactly_what_was_asked(void **state)
{
	struct end end;

	end_open(&end, "loop0", NULL);
	for (DAT_COUNT depth = 1; depth <= SIZES_MAX; depth++) {
		DAT_COUNT iov = 1 + depth % ia_limits(&end).max_iov_segments_per_dto;
		DAT_SRQ_PARAM param;

		end.srq = make_srq(&end, depth, iov);
		param = srq_param(end.srq);
		assert_int_equal(param.max_recv_dtos, depth);
		assert_int_equal(param.max_recv_iov, iov);
		post_many(&end, (unsigned int)depth, 0);
		want_counts(end.srq, depth, depth, depth);
		want_type(post_srq(&end, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(end.srq, depth, depth, depth);
		ok(dat_srq_free(end.srq));
	}
	end_close(&end);
}

/* Proves: srq_create.5 bug.S29 bug.S30 */
static void
create__sizes_at_the_limits(void **state)
{
	const DAT_RETURN bad = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3;
	static const DAT_COUNT wrong[] = { 0, -1, INT32_MIN, INT32_MAX };
	DAT_IA_ATTR limit;
	struct end end;

	end_open(&end, "loop0", NULL);
	limit = ia_limits(&end);
	assert_true(limit.max_srqs > 0 && limit.max_recv_per_srq > 0);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		want(try_create(&end, wrong[i], 1, 0), bad);
		want(try_create(&end, 1, wrong[i], 0), bad);
		want(try_create(&end, wrong[i], wrong[i], 0), bad);
	}
	want(try_create(&end, limit.max_recv_per_srq + 1, 1, 0), bad);
	want(try_create(&end, 1, limit.max_iov_segments_per_dto + 1, 0), bad);
	ok(try_create(&end, 1, 1, 0));
	ok(try_create(&end, limit.max_recv_per_srq, 1, 0));
	ok(try_create(&end, 1, limit.max_iov_segments_per_dto, 0));
	end_close(&end);
}

/*
 * One mistake after the other is mended, from the first argument on: each time the next one is named.
 *
 * Proves: srq_create.4 srq_create.5
 */
static void
create__judges_in_the_order_of_the_arguments(void **state)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 0, .max_recv_iov = 1 };
	DAT_PROVIDER_ATTR provider;
	struct end end, other;
	DAT_SRQ_HANDLE srq;

	end_open(&end, "loop0", NULL);
	end_open(&other, "loop0", NULL);
	want_error(dat_srq_create(DAT_HANDLE_NULL, end.ep, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_srq_create(end.pz, end.ep, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_srq_create(end.ia, DAT_HANDLE_NULL, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_PZ);
	want_error(dat_srq_create(end.ia, end.ep, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_PZ);
	/* A zone of another instance, of the same adapter even. */
	want_error(dat_srq_create(end.ia, other.pz, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_PZ);
	want_error(dat_srq_create(end.ia, end.pz, NULL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_srq_create(end.ia, end.pz, &attr, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	attr.max_recv_dtos = 1;
	want_error(dat_srq_create(end.ia, end.pz, &attr, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	/* Queues are supported here: there is no answer DAT_MODEL_NOT_SUPPORTED. */
	ok(dat_ia_query(end.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider));
	assert_int_equal(provider.srq_supported, DAT_TRUE);
	ok(dat_srq_create(end.ia, end.pz, &attr, &srq));
	ok(dat_srq_free(srq));
	/* Nothing was made on the way that would hold the zone. */
	ok(dat_ep_free(end.ep));
	ok(dat_lmr_free(end.lmr));
	ok(dat_pz_free(end.pz));
	end_close(&other);
	end_close(&end);
}

/*
 * An empty queue would be below any mark at once, so the mark of a new one is none: anything else is refused.
 *
 * Proves: srq_create.3 bug.S22
 */
static void
create__refuses_a_low_watermark(void **state)
{
	static const DAT_COUNT marks[] = { 1, 7, 8, 9, -1, INT32_MAX, INT32_MIN };
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		want_error(try_create(&end, 8, 1, marks[i]), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG3);
	ok(try_create(&end, 8, 1, DAT_SRQ_LW_DEFAULT));
	want_none(end.async);
	end_close(&end);
}

/* Proves: srq_create.7 */
static void
create__makes_no_event_until_a_mark_is_set(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	for (unsigned int round = 0; round < 3; round++) {
		post_many(&pair.b, 4, 0);
		for (unsigned int i = 0; i < 4; i++) {
			deliver(&pair, 64);
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		}
		want_counts(pair.b.srq, 4, 0, 0);
	}
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_create.6 */
static void
create__zone_says_which_memory_may_be_posted(void **state)
{
	DAT_LMR_TRIPLET iov;
	DAT_LMR_HANDLE lmr;
	struct pair pair;
	DAT_PZ_HANDLE pz;

	srq_pair_up(&pair, 4, 1);
	ok(dat_pz_create(pair.b.ia, &pz));
	iov = segment(&pair.b, 0, 64);
	iov.lmr_context = register_as(&pair.b, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	want_type(dat_srq_post_recv(pair.b.srq, 1, &iov, cookie(1)), DAT_PROTECTION_VIOLATION);
	want_counts(pair.b.srq, 4, 0, 0);
	ok(post_srq(&pair.b, 0, 64, 2));
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* With no buffer, whose ever queue it is, the peer is told to wait. */
static void
wait_for_a_buffer(struct pair *pair)
{
	ok(post_send(&pair->a, 0, 64, 7));
	want_silence(pair->a.request);
	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(&pair->b), DAT_EP_STATE_CONNECTED);
	want_none(pair->b.connect);
	if (pair->b.srq != DAT_HANDLE_NULL)
		ok(post_srq(&pair->b, 0, 64, 8));
	else
		ok(post_recv(&pair->b, 0, 64, 8));
	want_dto(&pair->b, pair->b.recv, 8, DAT_DTO_SUCCESS, 64);
	want_dto(&pair->a, pair->a.request, 7, DAT_DTO_SUCCESS, 64);
}

/* Proves: srq_create.8 */
static void
create__an_empty_queue_is_like_an_endpoints_own(void **state)
{
	struct pair pair;

	pair_up(&pair);
	wait_for_a_buffer(&pair);
	pair_close(&pair);
	srq_pair_up(&pair, 4, 1);
	for (unsigned int round = 0; round < 3; round++)
		wait_for_a_buffer(&pair);
	want_counts(pair.b.srq, 4, 0, 0);
	pair_close(&pair);
}

#define CONNECTIONS 4
#define ROUNDS      40

/*
 * Each connection keeps the order of its sends. Between connections nothing is promised, so nothing is asked.
 *
 * Proves: srq_create.9 srq_post_recv.3
 */
static void
create__order_within_a_connection(void **state)
{
	DAT_EP_HANDLE client[CONNECTIONS], server[CONNECTIONS];
	uint32_t next[CONNECTIONS] = { 0 };
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		if (i > 0)
			add_connection(&pair);
		client[i] = pair.a.ep;
		server[i] = pair.b.ep;
	}
	post_many(&pair.b, 8, 0);
	for (uint32_t n = 0; n < ROUNDS * CONNECTIONS; n++) {
		uint32_t word[2] = { n % CONNECTIONS, n / CONNECTIONS };

		memcpy(pair.a.buffer + (size_t)n * 8, word, sizeof(word));
		pair.a.ep = client[word[0]];
		ok(post_send(&pair.a, (size_t)n * 8, 8, n));
	}
	for (uint32_t n = 0; n < ROUNDS * CONNECTIONS; n++) {
		DAT_EVENT event = want_event(pair.b.recv, DAT_DTO_COMPLETION_EVENT);
		const DAT_DTO_COMPLETION_EVENT_DATA *data =
				&event.event_data.dto_completion_event_data;
		uint64_t slot = data->user_cookie.as_64;
		uint32_t word[2];

		assert_int_equal(data->status, DAT_DTO_SUCCESS);
		assert_true(slot < 8);
		memcpy(word, pair.b.buffer + slot * 64, sizeof(word));
		assert_true(word[0] < CONNECTIONS);
		assert_ptr_equal(data->ep_handle, server[word[0]]);
		assert_int_equal(word[1], next[word[0]]++);
		post_many(&pair.b, 1, slot);
	}
	want_counts(pair.b.srq, 8, 8, 8);
	pair_close(&pair);
}

/*
 * Two endpoints on one queue, each with a dispatcher of its own; and a buffer that an endpoint has taken is for a
 * while neither on the queue nor on a dispatcher.
 *
 * Proves: srq_create.10
 */
static void
create__endpoints_may_differ_in_their_dispatchers(void **state)
{
	DAT_EVD_HANDLE first, second;
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	first = pair.b.recv;
	second = make_dto_evd(&pair.b, 8);
	pair.b.recv = second;
	add_connection(&pair);
	for (unsigned int i = 0; i < 3; i++)
		ok(post_srq(&pair.b, 0, LONG_LEN, i));
	begin_long(&pair, 1);
	want_counts(pair.b.srq, 4, 2, 3);
	want_none(first);
	want_dto(&pair.b, second, 0, DAT_DTO_SUCCESS, LONG_LEN);
	want_counts(pair.b.srq, 4, 2, 2);
	want_none(first);
	pair_close(&pair);
}

/* Proves: srq_create.11 */
static void
create__holds_its_zone(void **state)
{
	struct end end;

	end_open(&end, "loop0", NULL);
	end.srq = make_srq(&end, 4, 1);
	ok(dat_ep_free(end.ep));
	ok(dat_lmr_free(end.lmr));
	want_error(dat_pz_free(end.pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	assert_ptr_equal(srq_param(end.srq).pz_handle, end.pz);
	ok(dat_srq_free(end.srq));
	ok(dat_pz_free(end.pz));
	end_close(&end);
}

/* A queue that is left is an object that is left: the instance does not close in peace. */
static void
create__holds_its_instance(void **state)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";
	DAT_SRQ_HANDLE srq;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	ok(dat_ia_open(name, 8, &async, &ia));
	ok(dat_pz_create(ia, &pz));
	ok(dat_srq_create(ia, pz, &attr, &srq));
	want_type(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	want_counts(srq, 4, 0, 0);
	ok(dat_srq_free(srq));
	ok(dat_pz_free(pz));
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	/* The other way takes everything with it. */
	async = DAT_HANDLE_NULL;
	ok(dat_ia_open(name, 8, &async, &ia));
	ok(dat_pz_create(ia, &pz));
	ok(dat_srq_create(ia, pz, &attr, &srq));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	want_error(dat_srq_free(srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(create__is_operational_and_empty),
		dat_test(create__grants_exactly_what_was_asked),
		dat_test(create__sizes_at_the_limits),
		dat_test(create__judges_in_the_order_of_the_arguments),
		dat_test(create__refuses_a_low_watermark),
		dat_test(create__makes_no_event_until_a_mark_is_set),
		dat_test(create__zone_says_which_memory_may_be_posted),
		dat_test(create__an_empty_queue_is_like_an_endpoints_own),
		dat_test(create__order_within_a_connection),
		dat_test(create__endpoints_may_differ_in_their_dispatchers),
		dat_test(create__holds_its_zone),
		dat_test(create__holds_its_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
