/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a connection's timewait, as rdma_get_cm_event(3) has it: behind DISCONNECTED, for the ids that are still there. */

#include "cm_rig.h"

static void
over(struct pair *pair)
{
	establish(pair);
	ok(rdma_disconnect(pair->active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
}

static struct rdma_cm_id *
want_exit(struct pair *pair)
{
	struct rdma_cm_event *event = want(pair->channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	struct rdma_cm_id *id = event->id;

	assert_int_equal(event->status, 0);
	ok(rdma_ack_cm_event(event));
	return id;
}

static void
timewait__ends_for_both(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_id *first, *second;

	over(pair);
	first = want_exit(pair);
	second = want_exit(pair);
	assert_true(first != second);
	assert_true(first == pair->active || first == pair->passive);
	assert_true(second == pair->active || second == pair->passive);
}

/* The connection that ended later exits later: until then that of an id which is gone would have come. */
static void
timewait__is_over_with_its_id(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_id *passive;

	over(pair);
	end(pair->active);
	end(pair->passive);
	ok(rdma_ack_cm_event(pair->request));
	pair->request = NULL;
	pair->passive = NULL;
	pair->active = resolved(pair->channel, address(pair->listener));
	over(pair);
	passive = pair->passive;
	end(pair->active);
	pair->active = NULL;
	assert_ptr_equal(want_exit(pair), passive);
}

/* So it is where the queue pair, and the connection with it, was destroyed first. */
static void
timewait__follows_a_queue_pair_that_ends_first(void **state)
{
	struct pair *pair = *state;

	establish(pair);
	ok(ibv_destroy_qp(pair->active->qp));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	ok(rdma_disconnect(pair->active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_ptr_equal(want_exit(pair), pair->passive);
	assert_ptr_equal(want_exit(pair), pair->active);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(timewait__ends_for_both),
		pair_test(timewait__is_over_with_its_id),
		pair_test(timewait__follows_a_queue_pair_that_ends_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
