/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_create: what a new queue is, what it refuses, and what it promises to the endpoints that will use it. */

#include "crowd.h"

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

/* Proves: srq_create.1 srq_create.3 bug.S21 */
static void
create__is_operational_and_empty(void **state)
{
	DAT_SRQ_PARAM param;
	DAT_SRQ_HANDLE srq = make_srq(a, 10, 3);

	want_type_of(srq, DAT_HANDLE_TYPE_SRQ);
	param = srq_param(srq);
	assert_ptr_equal(param.ia_handle, a->ia);
	assert_ptr_equal(param.pz_handle, a->pz);
	assert_int_equal(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	assert_int_equal(param.low_watermark, DAT_SRQ_LW_DEFAULT);
	assert_int_equal(param.available_dto_count, 0);
	assert_int_equal(param.outstanding_dto_count, 0);
	/* No endpoint uses it: nothing stands in the way of its end. */
	ok(dat_srq_free(srq));
}

/* At least what was asked for, says the page; this provider grants exactly that, and so many posts succeed. */
/* Proves: srq_create.2 bug.S7 bug.S8 bug.S26 */
static void
create__grants_exactly_what_was_asked(void **state)
{
	for (DAT_COUNT depth = 1; depth <= SIZES_MAX; depth++) {
		DAT_COUNT iov = 1 + depth % ia_attr(a, DAT_IA_FIELD_ALL).max_iov_segments_per_dto;
		DAT_SRQ_PARAM param;

		a->srq = make_srq(a, depth, iov);
		param = srq_param(a->srq);
		assert_int_equal(param.max_recv_dtos, depth);
		assert_int_equal(param.max_recv_iov, iov);
		post_many(a, (unsigned int)depth, 0);
		want_counts(a->srq, depth, depth, depth);
		want_type(post_srq(a, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(a->srq, depth, depth, depth);
		ok(dat_srq_free(a->srq));
	}
}

/* Proves: srq_create.5 bug.S29 bug.S30 */
static void
create__sizes_at_the_limits(void **state)
{
	const DAT_RETURN bad = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3;
	static const DAT_COUNT wrong[] = { 0, -1, INT32_MIN, INT32_MAX };
	DAT_IA_ATTR limit = ia_attr(a, DAT_IA_FIELD_ALL);

	assert_true(limit.max_srqs > 0 && limit.max_recv_per_srq > 0);
	for (unsigned int i = 0; i < COUNT_OF(wrong); i++) {
		want(try_create(a, wrong[i], 1, 0), bad);
		want(try_create(a, 1, wrong[i], 0), bad);
		want(try_create(a, wrong[i], wrong[i], 0), bad);
	}
	want(try_create(a, limit.max_recv_per_srq + 1, 1, 0), bad);
	want(try_create(a, 1, limit.max_iov_segments_per_dto + 1, 0), bad);
	ok(try_create(a, 1, 1, 0));
	ok(try_create(a, limit.max_recv_per_srq, 1, 0));
	ok(try_create(a, 1, limit.max_iov_segments_per_dto, 0));
}

/* One mistake after the other is mended, from the first argument on: each time the next one is named. */
/* Proves: srq_create.4 srq_create.5 */
static void
create__judges_in_the_order_of_the_arguments(void **state)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 0, .max_recv_iov = 1 };
	struct end other;
	DAT_SRQ_HANDLE srq;

	end_open(&other, "loop0", NULL);
	want_bad_handle(dat_srq_create(DAT_HANDLE_NULL, a->ep, NULL, NULL), IA);
	want_bad_handle(dat_srq_create(a->pz, a->ep, NULL, NULL), IA);
	want_bad_handle(dat_srq_create(a->ia, DAT_HANDLE_NULL, NULL, NULL), PZ);
	want_bad_handle(dat_srq_create(a->ia, a->ep, NULL, NULL), PZ);
	/* A zone of another instance, of the same adapter even. */
	want_bad_handle(dat_srq_create(a->ia, other.pz, NULL, NULL), PZ);
	want_bad_arg(dat_srq_create(a->ia, a->pz, NULL, NULL), 3);
	want_bad_arg(dat_srq_create(a->ia, a->pz, &attr, NULL), 3);
	attr.max_recv_dtos = 1;
	want_bad_arg(dat_srq_create(a->ia, a->pz, &attr, NULL), 4);
	/* Queues are supported here: there is no answer DAT_MODEL_NOT_SUPPORTED. */
	assert_int_equal(provider_attr(a, DAT_PROVIDER_FIELD_ALL).srq_supported, DAT_TRUE);
	ok(dat_srq_create(a->ia, a->pz, &attr, &srq));
	ok(dat_srq_free(srq));
	/* No refused call made an object that would hold the zone. */
	free_to_the_zone(a);
	end_close(&other);
}

/* An empty queue would be below any mark at once, so the mark of a new one is none: anything else is refused. */
/* Proves: srq_create.3 bug.S22 */
static void
create__refuses_a_low_watermark(void **state)
{
	static const DAT_COUNT marks[] = { 1, 7, 8, 9, -1, INT32_MAX, INT32_MIN };

	for (unsigned int i = 0; i < COUNT_OF(marks); i++)
		want_bad_arg(try_create(a, 8, 1, marks[i]), 3);
	ok(try_create(a, 8, 1, DAT_SRQ_LW_DEFAULT));
	want_none(a->async);
}

/* Proves: srq_create.7 */
static void
create__makes_no_event_until_a_mark_is_set(void **state)
{
	for (unsigned int round = 0; round < 3; round++) {
		post_many(b, 4, 0);
		deliver_n(4, 64);
		want_received(0, 4, 64);
		want_counts(b->srq, 4, 0, 0);
	}
	want_none(b->async);
}

/* Proves: srq_create.6 */
static void
create__zone_says_which_memory_may_be_posted(void **state)
{
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz = make_pz(b);
	DAT_LMR_TRIPLET iov = segment(b, 0, 64);

	iov.lmr_context = register_as(b, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)), DAT_PROTECTION_VIOLATION);
	want_counts(b->srq, 4, 0, 0);
	ok(post_srq(b, 0, 64, 2));
	deliver_as(2, 64);
}

/* With no buffer, whose ever queue it is, the peer is told to wait. */
static void
wait_for_a_buffer(void)
{
	ok(post_send(a, 0, 64, 7));
	want_silence(a->request);
	assert_int_equal(end_state(a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	want_none(b->connect);
	ok(feed(0, 64, 8));
	want_passed(8, 7, 64);
}

/* Proves: srq_create.8 */
static void
create__an_empty_queue_is_like_an_endpoints_own(void **state)
{
	wait_for_a_buffer();
	pair_close(&pair);
	srq_pair_up(&pair, 4, 1);
	for (unsigned int round = 0; round < 3; round++)
		wait_for_a_buffer();
	want_counts(b->srq, 4, 0, 0);
}

#define CONNECTIONS 4
#define ROUNDS      40

/* Each connection keeps the order of its sends. Between connections nothing is promised, so nothing is asked. */
/* Proves: srq_create.9 srq_post_recv.3 */
static void
create__order_within_a_connection(void **state)
{
	uint32_t next[CONNECTIONS] = { 0 }, number;

	crowd_join(CONNECTIONS);
	post_many(b, 8, 0);
	for (uint32_t n = 0; n < ROUNDS * CONNECTIONS; n++)
		crowd_send(n % CONNECTIONS, n / CONNECTIONS, (size_t)n * NUMBER_LEN, NUMBER_LEN);
	for (uint32_t n = 0; n < ROUNDS * CONNECTIONS; n++) {
		unsigned int from = crowd_receive(b->recv, 64, &number);

		assert_int_equal(number, next[from]++);
	}
	want_counts(b->srq, 8, 8, 8);
}

/*
 * Two endpoints on one queue, each with a dispatcher of its own; and a buffer that an endpoint has taken is for a
 * while neither on the queue nor on a dispatcher.
 * Proves: srq_create.10
 */
static void
create__endpoints_may_differ_in_their_dispatchers(void **state)
{
	DAT_EVD_HANDLE first = b->recv;
	DAT_EVD_HANDLE second = make_dto_evd(b, 8);

	b->recv = second;
	add_connection(&pair);
	post_long(3, 0);
	begin_long(&pair, 1);
	want_counts(b->srq, 4, 2, 3);
	want_none(first);
	want_dto(b, second, 0, DAT_DTO_SUCCESS, LONG_LEN);
	want_counts(b->srq, 4, 2, 2);
	want_none(first);
}

/* Proves: srq_create.11 */
static void
create__holds_its_zone(void **state)
{
	a->srq = make_srq(a, 4, 1);
	ok(dat_ep_free(a->ep));
	ok(dat_lmr_free(a->lmr));
	want_bad_state(dat_pz_free(a->pz), PZ_IN_USE);
	assert_ptr_equal(srq_param(a->srq).pz_handle, a->pz);
	ok(dat_srq_free(a->srq));
	ok(dat_pz_free(a->pz));
}

/* A queue that is left is an object that is left: the instance does not close in peace. */
static void
create__holds_its_instance(void **state)
{
	struct end twin;

	open_beside(&twin, "loop0", DAT_HANDLE_NULL);
	want_type(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	want_counts(twin.srq, 4, 0, 0);
	ok(dat_srq_free(twin.srq));
	ok(dat_pz_free(twin.pz));
	ok(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG));
	/* The other way takes everything with it. */
	open_beside(&twin, "loop0", DAT_HANDLE_NULL);
	ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
	want_bad_handle(dat_srq_free(twin.srq), SRQ);
}

const struct CMUnitTest tests[] = {
	end_test(create__is_operational_and_empty),
	end_test(create__grants_exactly_what_was_asked),
	end_test(create__sizes_at_the_limits),
	end_test(create__judges_in_the_order_of_the_arguments),
	end_test(create__refuses_a_low_watermark),
	srq_up_test(create__makes_no_event_until_a_mark_is_set, 4, 1),
	srq_up_test(create__zone_says_which_memory_may_be_posted, 4, 1),
	up_test(create__an_empty_queue_is_like_an_endpoints_own),
	srq_up_test(create__order_within_a_connection, 8, 1),
	srq_up_test(create__endpoints_may_differ_in_their_dispatchers, 4, 1),
	end_test(create__holds_its_zone),
	rig_test(create__holds_its_instance),
	tests_end,
};
