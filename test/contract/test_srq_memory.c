/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No memory: every allocation inside dat_srq_create, dat_srq_resize, dat_ep_create_with_srq, dat_evd_create,
 * dat_evd_resize and dat_cno_create fails once. The call says DAT_INSUFFICIENT_RESOURCES, changes nothing and leaks
 * nothing.
 */

#include "failing.h"
#include "rig.h"

#define SLACK 16

/* The queue that is made when no allocation fails. */
static DAT_SRQ_HANDLE made;

static bool
create_fails(const void *of, unsigned int fail)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 10, .max_recv_iov = 3 };
	DAT_SRQ_HANDLE srq = a;
	DAT_RETURN rc;

	begin_failing(fail);
	rc = dat_srq_create(a->ia, a->pz, &attr, &srq);
	if (end_failing()) {
		want_type(rc, DAT_INSUFFICIENT_RESOURCES);
		assert_ptr_equal(srq, a);
		return true;
	}
	ok(rc);
	made = srq;
	return false;
}

static DAT_RETURN
create_ep_failing(const struct end *end, DAT_EVD_HANDLE recv, unsigned int fail, DAT_EP_HANDLE *ep)
{
	const DAT_EP_ATTR attr = { 0 };

	begin_failing(fail);
	return dat_ep_create_with_srq(
			end->ia, end->pz, recv, end->request, end->connect, end->srq, &attr, ep);
}

/* A call takes an object, a queue, a ring: so many allocations at least, or the allocator was not in place. */
#define CREATE_MIN    3
#define EP_CREATE_MIN 4

/* Proves: srq_create.4 bug.S2 */
static void
memory__create_fails_at_each_allocation(void **state)
{
	unsigned int fail = 0;

	while (create_fails(NULL, fail))
		fail++;
	assert_true(fail >= CREATE_MIN);
	want_counts(made, 10, 0, 0);
	ok(dat_srq_free(made));
	/* Of the ones that failed none holds the zone. */
	free_to_the_zone(a);
}

/* Proves: srq_create.4 bug.S2 */
static void
memory__create_leaks_nothing(void **state)
{
	want_no_leak(create_fails, NULL, SLACK);
	ok(dat_srq_free(made));
}

/* The queue of a pair at work: 3 of 10 on it, one taken; it goes on after whatever happened. */
static void
want_usable(uint64_t *next)
{
	DAT_COUNT max = srq_param(b->srq).max_recv_dtos;

	want_counts(b->srq, max, 3, 3);
	deliver_as(*next, 64);
	post_many(b, 1, *next + 3);
	++*next;
	want_counts(b->srq, max, 3, 3);
}

/* To each size that needs another ring, and to some that do not. A resize that failed can be made again. */
/* Proves: srq_resize.4 bug.S1 */
static void
memory__resize_fails_at_each_allocation(void **state)
{
	static const DAT_COUNT sizes[] = { 17, 3, 4, 100, 70, 65, 64, 1000, 10 };
	unsigned int failures = 0;
	uint64_t next = 0;

	srq_pair_up(&pair, 10, 3);
	post_many(b, 3, 0);
	for (unsigned int i = 0; i < COUNT_OF(sizes); i++) {
		for (unsigned int fail = 0;; fail++) {
			DAT_SRQ_PARAM before = srq_param(b->srq);
			DAT_RETURN rc;

			begin_failing(fail);
			rc = dat_srq_resize(b->srq, sizes[i]);
			if (!end_failing()) {
				ok(rc);
				break;
			}
			want_type(rc, DAT_INSUFFICIENT_RESOURCES);
			want_unchanged(b->srq, &before);
			want_usable(&next);
			failures++;
		}
		want_counts(b->srq, sizes[i], 3, 3);
		want_usable(&next);
	}
	assert_true(failures > 0);
}

/* A failure takes no arming away, and makes no event. */
/* Proves: bug.S1 */
static void
memory__resize_that_failed_left_the_mark(void **state)
{
	srq_pair_up(&pair, 10, 3);
	post_many(b, 3, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	begin_failing(0);
	want_type(dat_srq_resize(b->srq, 100), DAT_INSUFFICIENT_RESOURCES);
	assert_true(end_failing());
	want_none(b->async);
	deliver(&pair, 64);
	want_low(b->async, b->srq);
	want_none(b->async);
}

/* Proves: bug.S1 */
static void
memory__resize_leaks_nothing(void **state)
{
	size_t before = 0;

	a->srq = make_srq(a, 10, 3);
	post_many(a, 3, 0);
	for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
		if (round == ROUNDS)
			before = bytes_in_use();
		begin_failing(0);
		want_type(dat_srq_resize(a->srq, 100), DAT_INSUFFICIENT_RESOURCES);
		assert_true(end_failing());
		/* Nor does one that succeeds, or is refused after its ring was there. */
		ok(dat_srq_resize(a->srq, 100));
		want_type(dat_srq_resize(a->srq, 2), DAT_INVALID_STATE);
		ok(dat_srq_resize(a->srq, 10));
	}
	want_balance(before, SLACK);
}

/* Proves: ep_create_with_srq.9 bug.S2 */
static void
memory__endpoint_fails_at_each_allocation(void **state)
{
	DAT_EVD_HANDLE recv;
	DAT_EP_HANDLE ep;
	unsigned int fail;
	uint64_t next = 0;

	srq_pair_up(&pair, 10, 3);
	post_many(b, 3, 0);
	/* Fresh, so that the first endpoint has to make what the two of them share. */
	recv = make_dto_evd(b, 8);
	for (fail = 0;; fail++) {
		DAT_SRQ_PARAM before = srq_param(b->srq);
		DAT_RETURN rc;

		ep = &pair;
		rc = create_ep_failing(b, recv, fail, &ep);
		if (!end_failing()) {
			ok(rc);
			break;
		}
		want_type(rc, DAT_INSUFFICIENT_RESOURCES);
		assert_ptr_equal(ep, &pair);
		want_unchanged(b->srq, &before);
		want_usable(&next);
	}
	assert_true(fail >= EP_CREATE_MIN);
	/* Only the endpoints that there are hold the dispatcher and the queue. */
	ok(dat_ep_free(ep));
	ok(dat_evd_free(recv));
	free_srq_ep(b);
}

/* @return true when it came to allocation number @p fail, and the call failed for it. */
static bool
endpoint_fails(const void *of, unsigned int fail)
{
	/* Fresh, so that the endpoint has to make what queue and dispatcher share. */
	DAT_EVD_HANDLE recv = make_dto_evd(a, 8);
	DAT_EP_HANDLE ep;
	DAT_RETURN rc = create_ep_failing(a, recv, fail, &ep);
	bool failed = end_failing();

	if (failed) {
		want_type(rc, DAT_INSUFFICIENT_RESOURCES);
	} else {
		ok(rc);
		ok(dat_ep_free(ep));
	}
	ok(dat_evd_free(recv));
	return failed;
}

/* Proves: bug.S2 */
static void
memory__endpoint_leaks_nothing(void **state)
{
	a->srq = make_srq(a, 10, 3);
	want_no_leak(endpoint_fails, NULL, SLACK);
}

static DAT_RETURN
resize_failing(DAT_EVD_HANDLE evd, DAT_COUNT len, unsigned int fail)
{
	begin_failing(fail);
	return dat_evd_resize(evd, len);
}

/* Of a dispatcher with completions on it, to lengths that need another ring, and to some that do not. */
static void
memory__evd_resize_fails_at_each_allocation(void **state)
{
	static const DAT_COUNT lengths[] = { 17, 3, 4, 100, 70, 65, 64, 1000, 10 };
	unsigned int failures = 0;
	DAT_COUNT before = 512;
	uint64_t next = 0;

	srq_pair_up(&pair, 10, 3);
	post_many(b, 3, 0);
	for (unsigned int i = 0; i < COUNT_OF(lengths); i++) {
		DAT_RETURN rc;

		deliver_n(2, 64);
		rc = resize_failing(b->recv, lengths[i], 0);
		if (end_failing()) {
			failures++;
			want_error(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
			assert_int_equal(evd_param(b->recv).evd_qlen, before);
			rc = resize_failing(b->recv, lengths[i], 1);
			assert_false(end_failing());
		}
		ok(rc);
		before = lengths[i];
		want_counts(b->srq, 10, 1, 3);
		for (int n = 0; n < 2; n++) {
			want_dto(b, b->recv, next, DAT_DTO_SUCCESS, 64);
			post_many(b, 1, next++ + 3);
		}
	}
	assert_true(failures > 0);
}

static void
memory__evd_resize_leaks_nothing(void **state)
{
	size_t before = 0;
	DAT_EVD_HANDLE evd = make_dto_evd(a, 10);

	for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
		if (round == ROUNDS)
			before = bytes_in_use();
		want_type(resize_failing(evd, 100, 0), DAT_INSUFFICIENT_RESOURCES);
		assert_true(end_failing());
		ok(dat_evd_resize(evd, 100));
		ok(dat_evd_resize(evd, 10));
	}
	want_balance(before, SLACK);
}

/* @return true when it came to allocation number @p fail, and the call failed for it. */
static bool
notification_fails(const void *of, unsigned int fail)
{
	DAT_CNO_HANDLE none = a, cno = none;
	DAT_EVD_HANDLE evd = none;
	DAT_RETURN rc;

	begin_failing(fail);
	rc = dat_cno_create(a->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
	if (rc == DAT_SUCCESS)
		rc = dat_evd_create(a->ia, 16, cno, DAT_EVD_DTO_FLAG, &evd);
	if (end_failing()) {
		want_error(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
		assert_ptr_equal(evd, none);
		/* The dispatcher that was not made does not hold it. */
		if (cno != none)
			ok(dat_cno_free(cno));
		return true;
	}
	ok(rc);
	ok(dat_evd_free(evd));
	ok(dat_cno_free(cno));
	return false;
}

/* A notification object, and a dispatcher that is made for it. */
static void
memory__cno_fails_at_each_allocation(void **state)
{
	assert_true(want_no_leak(notification_fails, NULL, SLACK) >= CREATE_MIN);
}

/* The first request of an endpoint makes room for all of them. */
static void
begin_with_a_message(void)
{
	srq_pair_up(&pair, 10, 3);
	post_many(b, 1, 9);
	deliver(&pair, 64);
	want_dto(b, b->recv, 9, DAT_DTO_SUCCESS, 64);
}

/* To notify, and to collect notifications, allocates nothing at all. */
static void
memory__notifying_allocates_nothing(void **state)
{
	DAT_EVD_HANDLE fired;
	DAT_CNO_HANDLE cno;

	begin_with_a_message();
	ok(dat_cno_create(b->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	begin_failing(NEVER);
	ok(dat_evd_modify_cno(b->recv, cno));
	post_many(b, 3, 0);
	for (uint64_t n = 0; n < 3; n++) {
		deliver(&pair, 64);
		ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
		want_dto(b, fired, n, DAT_DTO_SUCCESS, 64);
	}
	(void)end_failing();
	assert_int_equal(allocations(), 0);
}

/* A post, a query, a mark and their events, a receive and its reaping allocate nothing at all. */
/* Proves: srq_post_recv.4 */
static void
memory__work_allocates_nothing(void **state)
{
	begin_with_a_message();
	begin_failing(NEVER);
	post_many(b, 3, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	deliver(&pair, 64);
	want_low(b->async, b->srq);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, 10, 2, 2);
	(void)end_failing();
	assert_int_equal(allocations(), 0);
}

const struct CMUnitTest tests[] = {
	memory_test(memory__create_fails_at_each_allocation, rig_begin_end),
	memory_test(memory__create_leaks_nothing, rig_begin_end),
	memory_test(memory__resize_fails_at_each_allocation, rig_begin),
	memory_test(memory__resize_that_failed_left_the_mark, rig_begin),
	memory_test(memory__resize_leaks_nothing, rig_begin_end),
	memory_test(memory__endpoint_fails_at_each_allocation, rig_begin),
	memory_test(memory__endpoint_leaks_nothing, rig_begin_end),
	memory_test(memory__evd_resize_fails_at_each_allocation, rig_begin),
	memory_test(memory__evd_resize_leaks_nothing, rig_begin_end),
	memory_test(memory__cno_fails_at_each_allocation, rig_begin_end),
	memory_test(memory__notifying_allocates_nothing, rig_begin),
	memory_test(memory__work_allocates_nothing, rig_begin),
	tests_end,
};

int
main(void)
{
	use_no_hugepages();
	return rig_run();
}
