/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of objects that nobody asked for: told to their context alone, once, while they are there. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static struct roce_srq *
make_srq(struct end *end, void *owner)
{
	struct roce_srq *srq;

	ok(roce_srq_create(end->pd, 64, 1, owner, &srq));
	return srq;
}

static bool
readable(struct roce_context *context)
{
	struct pollfd p = { .fd = roce_context_fd(context), .events = POLLIN };

	assert_true(p.fd >= 0);
	assert_true(poll(&p, 1, 0) >= 0);
	return p.revents != 0;
}

/* A message of 64 bytes from a to b, to be completed there. */
static void
send_one(struct pair *pair)
{
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	ok(post_send(&pair->a, wr, 0, 64));
	settle(pair);
}

/* Events are lost, and one is told of it for all; what is in the queue is good, and so is what comes later. */
static void
cq__overflow(void **state)
{
	struct pair *pair = *state;
	struct roce_event event;
	struct roce_cq *small;

	ok(roce_cq_create(pair->b.context, 2, &small, &small));
	roce_qp_destroy(pair->b.qp);
	struct roce_qp_attr attr = { .pd = pair->b.pd, .recv_cq = small, .max_recv_wr = 8 };

	ok(roce_qp_create(&attr, &pair->b.qp));
	for (uint64_t i = 0; i < 6; i++)
		ok(post_recv(&pair->b, pair->b.qp, i, 0, 64));
	pair_connect(pair);
	for (int i = 0; i < 5; i++)
		send_one(pair);
	want_async(pair, pair->b.context, ROCE_ASYNC_CQ_ERR, &small);
	want_quiet(pair, &pair->b);
	want_quiet(pair, &pair->a);
	for (uint64_t i = 0; i < 2; i++)
		assert_int_equal(want_completion(pair, small, ROCE_WC_SUCCESS).wr_id, i);
	assert_int_equal(roce_cq_poll(small, &event, 1), 0);
	send_one(pair);
	assert_int_equal(want_completion(pair, small, ROCE_WC_SUCCESS).wr_id, 5);
	roce_cm_id_destroy(pair->b.id);
	pair->b.id = NULL;
	roce_qp_destroy(pair->b.qp);
	pair->b.qp = NULL;
	ok(roce_cq_destroy(small));
}

/* Once for each arming; an event that was not polled goes with its queue. */
static void
srq__limit(void **state)
{
	struct pair *pair = *state;
	struct roce_srq *srq = make_srq(&pair->a, &srq);

	ok(roce_srq_set_low(srq, 4));
	want_async(pair, pair->a.context, ROCE_ASYNC_SRQ_LIMIT, &srq);
	want_quiet(pair, &pair->a);
	ok(roce_srq_set_low(srq, 4));
	ok(roce_srq_set_low(srq, 5));
	ok(roce_srq_destroy(srq));
	want_quiet(pair, &pair->a);
	want_quiet(pair, &pair->b);
}

/* Two users of one device: each hears of its own. */
static void
contexts__hear_of_their_own(void **state)
{
	struct pair *pair = *state;
	struct roce_srq *mine, *theirs;
	struct end second;

	end_join(&second, pair->a.device);
	mine = make_srq(&pair->a, &mine);
	theirs = make_srq(&second, &theirs);
	ok(roce_srq_set_low(theirs, 1));
	want_quiet(pair, &pair->a);
	want_async(pair, second.context, ROCE_ASYNC_SRQ_LIMIT, &theirs);
	ok(roce_srq_set_low(mine, 1));
	want_quiet(pair, &second);
	want_async(pair, pair->a.context, ROCE_ASYNC_SRQ_LIMIT, &mine);
	ok(roce_srq_destroy(mine));
	ok(roce_srq_destroy(theirs));

	/* A connection of the second, beside one of the first. */
	pair_connect(pair);
	struct roce_qp *qp = end_qp(&second, NULL), *qp_b = end_qp(&pair->b, NULL);
	struct roce_cm_id *id_b;

	ok(roce_cm_id_create(second.context, &second, &second.id));
	id_b = connect_qps(pair, second.id, qp, qp_b);
	want_quiet(pair, &pair->a);
	assert_ptr_equal(want_cm(pair, &second, ROCE_CM_EVENT_ESTABLISHED).user, &second);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_quiet(pair, &second);
	roce_cm_id_destroy(id_b);
	roce_qp_destroy(qp_b);
	second.qp = qp;
	end_leave(&second);
}

/* A queue pair that breaks is told with the cause, at both ends; the connection ends without anybody's call. */
static void
qp__fatal(void **state)
{
	struct pair *pair = *state;
	struct roce_wr wr = { .opcode = ROCE_WR_RDMA_WRITE, .rkey = 0xbad, .remote_addr = 64 };

	pair_connect(pair);
	ok(post_send(&pair->a, wr, 0, 64));
	want_completion(pair, pair->a.cq, ROCE_WC_REM_ACCESS_ERR);
	assert_int_equal(want_async(pair, pair->a.context, ROCE_ASYNC_QP_FATAL, &pair->a).status,
			ROCE_WC_REM_ACCESS_ERR);
	want_async(pair, pair->b.context, ROCE_ASYNC_QP_FATAL, &pair->b);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_ERR);
	want_quiet(pair, &pair->a);
	want_quiet(pair, &pair->b);
}

/* More receives than the soft mark: told; the queue pair works on. More than the hard one: it breaks. */
static void
qp__watermarks(void **state)
{
	struct pair *pair = *state;

	for (uint64_t i = 0; i < 3; i++)
		ok(post_recv(&pair->b, pair->b.qp, i, 0, 64));
	pair_connect(pair);
	roce_qp_set_watermarks(pair->b.qp, 3, ROCE_HIGH_NONE);
	want_quiet(pair, &pair->b);
	roce_qp_set_watermarks(pair->b.qp, 2, ROCE_HIGH_NONE);
	want_async(pair, pair->b.context, ROCE_ASYNC_QP_HIGH, &pair->b);
	want_quiet(pair, &pair->b);
	roce_qp_set_watermarks(pair->b.qp, ROCE_HIGH_NONE, 2);
	want_async(pair, pair->b.context, ROCE_ASYNC_QP_FATAL, &pair->b);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
}

/* An event that was not polled goes with its queue pair. */
static void
qp__event_goes_with_it(void **state)
{
	struct pair *pair = *state;
	struct roce_wr wr = { .opcode = ROCE_WR_RDMA_WRITE, .rkey = 0xbad, .remote_addr = 64 };

	pair_connect(pair);
	ok(post_send(&pair->a, wr, 0, 64));
	settle(pair);
	roce_cm_id_destroy(pair->a.id);
	pair->a.id = NULL;
	roce_qp_destroy(pair->a.qp);
	pair->a.qp = NULL;
	want_quiet(pair, &pair->a);
}

/* Armed once, told once; solicited events alone, unless somebody wants all. */
static void
cq__armed(void **state)
{
	struct pair *pair = *state;
	struct roce_wr loud = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SOLICITED };

	for (uint64_t i = 0; i < 8; i++)
		ok(post_recv(&pair->b, pair->b.qp, i, 0, 64));
	pair_connect(pair);
	send_one(pair);
	want_quiet(pair, &pair->b);
	roce_cq_arm(pair->b.cq, false);
	want_quiet(pair, &pair->b);
	send_one(pair);
	want_async(pair, pair->b.context, ROCE_ASYNC_CQ_READY, &pair->b);
	send_one(pair);
	want_quiet(pair, &pair->b);
	roce_cq_arm(pair->b.cq, true);
	send_one(pair);
	want_quiet(pair, &pair->b);
	ok(post_send(&pair->a, loud, 0, 64));
	want_async(pair, pair->b.context, ROCE_ASYNC_CQ_READY, &pair->b);
	roce_cq_arm(pair->b.cq, false);
	roce_cq_arm(pair->b.cq, true);
	send_one(pair);
	want_async(pair, pair->b.context, ROCE_ASYNC_CQ_READY, &pair->b);
}

/* Readable while there is something to poll of either kind, asked for before it happened or after. */
static void
fd__says_whether_there_is_an_event(void **state)
{
	struct pair *pair = *state;
	struct roce_srq *srq = make_srq(&pair->b, &srq);
	struct roce_cm_event_info event;
	struct roce_async_event async;

	ok(roce_srq_set_low(srq, 1));
	assert_true(readable(pair->b.context));
	assert_int_equal(roce_context_fd(pair->b.context), roce_context_fd(pair->b.context));
	assert_int_equal(roce_cm_poll(pair->b.context, &event), 0);
	assert_true(readable(pair->b.context));
	assert_int_equal(roce_context_poll(pair->b.context, &async), 1);
	assert_int_equal(roce_context_poll(pair->b.context, &async), 0);
	assert_false(readable(pair->b.context));
	pair_connect(pair);
	want_quiet(pair, &pair->b);
	assert_false(readable(pair->b.context));
	ok(roce_cm_id_disconnect(pair->a.id));
	settle(pair);
	assert_true(readable(pair->b.context));
	assert_int_equal(roce_context_poll(pair->b.context, &async), 0);
	assert_true(readable(pair->b.context));
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	want_quiet(pair, &pair->b);
	assert_false(readable(pair->b.context));
	ok(roce_srq_destroy(srq));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(cq__overflow),
		pair_test(srq__limit),
		pair_test(contexts__hear_of_their_own),
		pair_test(qp__fatal),
		pair_test(qp__watermarks),
		pair_test(qp__event_goes_with_it),
		pair_test(cq__armed),
		pair_test(fd__says_whether_there_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
