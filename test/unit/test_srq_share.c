/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that share a receive queue: taking from it, joining, leaving; and one with a receive queue of its own. */

#include "srq_scene.h"

/* The oldest receive goes to whoever comes first. */
UNIT_RULE(take__gives_the_oldest_to_whoever_comes)
{
	struct client c[3];

	for (unsigned int i = 0; i < 3; i++)
		client_on(&c[i], end.srq, end.recv_cq);
	fx_fill_srq(&end, 30, 64);
	for (unsigned int i = 0; i < 30; i++) {
		arrive(&c[(i * 7) % 3]);
		assert_int_equal(reap(end.recv_cq), i);
	}
	for (unsigned int i = 0; i < 3; i++)
		roce_qp_destroy(c[i].qp);
}

/*
 * More at once than any word has bits, ended in random order: every receive comes back once, and all can be posted
 * again.
 * Proves: bug.S10
 */
UNIT_RULE(take__of_many_at_once_ends_in_any_order)
{
	enum {
		MANY = 130
	};
	static struct client c[MANY];
	struct roce_srq *srq = srq_of(MANY);
	unsigned int order[MANY] = { 0 }, seed = 3;
	bool seen[MANY] = { false };

	for (unsigned int i = 0; i < MANY; i++) {
		unsigned int j = (unsigned int)rand_r(&seed) % (i + 1);

		client_on(&c[i], srq, end.recv_cq);
		order[i] = order[j];
		order[j] = i;
	}
	post_many(srq, MANY, 0, LONG_LEN);
	for (unsigned int i = 0; i < MANY; i++)
		begin(&c[i]);
	fx_expect_counts(srq, MANY, 0, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t wr_id;

		finish(&c[order[i]]);
		wr_id = reap(end.recv_cq);
		assert_int_equal(wr_id, order[i]);
		assert_false(seen[wr_id]);
		seen[wr_id] = true;
		fx_expect_counts(srq, MANY, 0, MANY - 1 - i);
	}
	post_many(srq, MANY, 0, SHORT_LEN);
	assert_int_equal(post(srq, 999), -ENOSPC);
	for (unsigned int i = 0; i < MANY; i++)
		roce_qp_destroy(c[i].qp);
}

/* The queue pair that comes back to the same pair of queues finds its reap counter again. */
UNIT_RULE(attach__again_goes_on_counting)
{
	struct client c;

	for (unsigned int round = 0; round < 600; round++) {
		client_on(&c, end.srq, end.recv_cq);
		fx_fill_srq(&end, 1, 64);
		arrive(&c);
		fx_expect_counts(end.srq, 256, 0, 1);
		roce_qp_destroy(c.qp);
		fx_expect_counts(end.srq, 256, 0, 1);
		assert_int_equal(reap(end.recv_cq), 0);
		fx_expect_counts(end.srq, 256, 0, 0);
	}
}

/* Several queue pairs on one pair of queues have one reap counter: it serves until the last of them has gone. */
UNIT_RULE(attach__of_several_is_one_counter)
{
	for (unsigned int round = 0; round < 600; round++) {
		struct roce_srq *srq = srq_of(3);
		struct client c[3];

		for (unsigned int i = 0; i < 3; i++)
			client_on(&c[i], srq, end.recv_cq);
		post_many(srq, 3, 0, SHORT_LEN);
		for (unsigned int i = 0; i < 3; i++) {
			arrive(&c[i]);
			roce_qp_destroy(c[i].qp);
			fx_expect_counts(srq, 3, 2 - i, 3);
		}
		reap_many(end.recv_cq, 3);
		fx_expect_counts(srq, 3, 0, 0);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * A queue pair that could not be made does not hold the queue, whichever allocation it was that failed.
 * Proves: bug.S2
 */
UNIT_RULE(attach__that_fails_holds_nothing)
{
	for (unsigned int nth = 1;; nth++) {
		struct roce_srq *srq = srq_of(4);
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_qp *qp = NULL;
		int rc;

		attr.srq = srq;
		attr.recv_cq = cq_of(4);
		fx_fail(nth);
		rc = roce_qp_create(&attr, &qp);
		assert_int_equal(rc, fx_failed() ? -ENOMEM : 0);
		if (rc == 0) {
			assert_int_equal(roce_srq_destroy(srq), -EBUSY);
			roce_qp_destroy(qp);
		}
		assert_int_equal(roce_srq_destroy(srq), 0);
		assert_int_equal(roce_cq_destroy(attr.recv_cq), 0);
		if (rc == 0)
			break;
		assert_in_range(nth, 1, 9);
	}
	fx_fail(0);
}

/* A queue of its own promises its depth in receives not yet used, whether or not their events are reaped. */
UNIT_RULE(own_queue__holds_its_depth_and_orders)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_event event[8];
	struct client c = { .connect = fx_connect(&end, fx_ip(99), 0x777) };
	struct roce_sge sge;

	attr.srq = NULL;
	attr.max_recv_wr = 3;
	c.qp = fx_qp(&end, &attr);
	for (uint64_t i = 0; i < 4; i++) {
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, 64);

		assert_int_equal(roce_qp_post_recv(c.qp, &wr), i < 3 ? 0 : -ENOSPC);
	}
	client_connect(&c);
	for (uint32_t i = 0; i < 5; i++) {
		struct roce_recv_wr wr = fx_recv(&end, &sge, 3 + i, 0, 64);

		arrive(&c);
		assert_int_equal(roce_qp_post_recv(c.qp, &wr), 0);
		assert_int_equal(roce_qp_post_recv(c.qp, &wr), -ENOSPC);
	}
	assert_int_equal(fx_receives(c.qp), 3);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 8), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(event[i].wr_id, i);

	client_to_error(&c);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 8), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_fields(event[i], (wr_id, 5 + i), (status, IBV_WC_WR_FLUSH_ERR));
	}
}
