/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of a shared receive queue: exact at every moment of a message's life, however it ends.
 *
 * posted = available + held + completed + reaped, and outstanding is all of these but the reaped.
 */

#include "srq_scene.h"

/*
 * uDAPL 1.2, the example of dat_srq_query: 10 entries, 3 posted, one received, its completion reaped.
 * Proves: srq_query.4
 */
UNIT_RULE(query__is_the_example_of_the_manual)
{
	struct client c;
	struct roce_srq *srq = srq_with(&c, 10, NULL, 3, SHORT_LEN);

	fx_expect_counts(srq, 10, 3, 3);
	arrive(&c);
	fx_expect_counts(srq, 10, 2, 3);
	assert_int_equal(reap(end.recv_cq), 0);
	fx_expect_counts(srq, 10, 2, 2);
}

/*
 * Posted, taken by a first packet, in the middle, complete, reaped: the queue pair's own count goes along.
 * Proves: srq_query.3 srq_query.6 srq_post_recv.7 ep_recv_query.1
 */
UNIT_RULE(query__follows_a_message_through_its_life)
{
	struct client c;
	struct roce_srq *srq = srq_with(&c, 4, NULL, 0, 0);

	assert_int_equal(fx_receives(c.qp), 0);
	assert_int_equal(post_of(srq, 1, LONG_LEN), 0);
	fx_expect_counts(srq, 4, 1, 1);
	assert_int_equal(fx_receives(c.qp), 0);
	begin(&c);
	fx_expect_counts(srq, 4, 0, 1);
	assert_int_equal(fx_receives(c.qp), 1);
	packet(&c, IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
	fx_expect_counts(srq, 4, 0, 1);
	assert_int_equal(fx_receives(c.qp), 1);
	finish(&c);
	fx_expect_counts(srq, 4, 0, 1);
	assert_int_equal(fx_receives(c.qp), 0);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 2 * FX_MTU + 8);
	fx_expect_counts(srq, 4, 0, 0);
}

/*
 * A packet that takes no receive changes no count: a duplicate, a gap, a message that has to wait, one that is
 * invalid, one for a queue pair that is not connected.
 * Proves: srq_post_recv.9
 */
UNIT_RULE(query__does_not_see_what_takes_nothing)
{
	struct client c;
	struct roce_srq *srq = srq_with(&c, 4, NULL, 0, 0);

	arrive(&c);
	fx_expect_counts(srq, 4, 0, 0);
	post_many(srq, 2, 0, SHORT_LEN);
	c.psn = FX_RQ_PSN - 1;
	arrive(&c);
	fx_expect_counts(srq, 4, 2, 2);
	c.psn = FX_RQ_PSN + 1;
	arrive(&c);
	fx_expect_counts(srq, 4, 2, 2);
	c.psn = FX_RQ_PSN;
	packet(&c, IBV_OPCODE_RC_RDMA_WRITE_ONLY, 8);
	fx_expect_counts(srq, 4, 2, 2);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_ERR);
	arrive_again(&c);
	fx_expect_counts(srq, 4, 2, 2);
	client_to_reset(&c);
	arrive_again(&c);
	fx_expect_counts(srq, 4, 2, 2);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/*
 * Every field is written, whatever was there.
 * Proves: bug.S21
 */
UNIT_RULE(query__tells_every_field)
{
	static const uint8_t poison[] = { 0x00, 0x55, 0xff };
	struct roce_srq *srq = srq_of(7);
	struct client c[2];

	for (unsigned int i = 0; i < 2; i++)
		client_on(&c[i], srq, end.recv_cq);
	post_many(srq, 5, 0, SHORT_LEN);
	(void)take(srq);
	assert_int_equal(roce_srq_set_low(srq, 3), 0);
	for (unsigned int i = 0; i < RTE_DIM(poison); i++) {
		struct roce_srq_counts counts;

		memset(&counts, poison[i], sizeof(counts));
		roce_srq_query(srq, &counts);
		assert_fields(counts, (max, 7), (available, 4), (outstanding, 5), (low, 3),
				(armed, true));
		/* Attached to it, connected or not. */
		assert_int_equal(counts.queue_pairs, 2 - i);
		if (i == 0)
			client_to_error(&c[0]);
		if (i < 2)
			roce_qp_destroy(c[i].qp);
	}
}

/*
 * Completions reaped in one go are booked one by one, each on its queue; what was not asked for is not reaped.
 * Proves: srq_query.3
 */
UNIT_RULE(query__counts_every_completion_of_a_batch)
{
	struct roce_srq *srq[2] = { srq_of(16), srq_of(16) };
	struct client c[2];

	for (unsigned int i = 0; i < 2; i++) {
		client_on(&c[i], srq[i], end.recv_cq);
		post_many(srq[i], 16, 0, SHORT_LEN);
	}
	for (uint32_t batch = 1; batch <= 5; batch++) {
		struct roce_event event[16];

		/* Of one queue 4, of the other 3, in turns. */
		for (unsigned int i = 0; i < 7; i++)
			arrive(&c[i % 2]);
		for (uint32_t left = 7; left > 0;) {
			const uint32_t n = RTE_MIN(batch, left);

			assert_int_equal(roce_cq_poll(end.recv_cq, event, n), n);
			left -= n;
			fx_expect_counts(srq[0], 16, 12, 12 + (left + 1) / 2);
			fx_expect_counts(srq[1], 16, 13, 13 + left / 2);
		}
		post_many(srq[0], 4, 0, SHORT_LEN);
		post_many(srq[1], 3, 0, SHORT_LEN);
	}
	for (unsigned int i = 0; i < 2; i++) {
		roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq[i]), 0);
	}
}

/* The counts in the model of a run, of three completion queues and one shared queue. */
struct model {
	uint32_t available;
	uint32_t waiting[3];
};

static uint32_t
outstanding(const struct model *m)
{
	return m->available + m->waiting[0] + m->waiting[1] + m->waiting[2];
}

/* One random step: a post, a message to one of six clients, or a reap. */
static void
step(struct model *m, struct roce_srq *srq, struct client *c, struct roce_cq **cq,
		unsigned int *seed)
{
	unsigned int i = (unsigned int)rand_r(seed) % 6;

	switch (rand_r(seed) % 3) {
	case 0:
		if (outstanding(m) == 64) {
			assert_int_equal(post(srq, i), -ENOSPC);
			break;
		}
		assert_int_equal(post(srq, i), 0);
		m->available++;
		break;
	case 1:
		arrive(&c[i]);
		if (m->available == 0) {
			c[i].psn = roce_psn_add(c[i].psn, ROCE_PSN_MASK);
			break;
		}
		m->available--;
		m->waiting[i % 3]++;
		break;
	default:
		if (m->waiting[i % 3] > 0) {
			reap_many(cq[i % 3], 1);
			m->waiting[i % 3]--;
		}
	}
	fx_expect_counts(srq, 64, m->available, outstanding(m));
}

/*
 * Six queue pairs on all the engines there are, three completion queues, one shared queue.
 * Proves: srq_create.10 srq_query.6 bug.S13
 */
UNIT_RULE(counts__hold_over_completion_queues_and_engines)
{
	for (unsigned int engines = 1; engines <= 4; engines++) {
		struct model model = { 0 };
		struct roce_srq *srq;
		struct roce_cq *cq[3];
		struct client c[6];
		unsigned int seed = 7;

		reopen(engines);
		srq = srq_of(64);
		/* The counters go round on the way. */
		age(srq, UINT32_MAX - 200);
		for (unsigned int i = 0; i < 6; i++) {
			if (i < 3)
				cq[i] = cq_of(64);
			client_on(&c[i], srq, cq[i % 3]);
			assert_ptr_equal(roce_qp_engine(c[i].qp),
					roce_domain_engine(end.domain,
							roce_qp_number(c[i].qp) %
									rte_align32pow2(engines)));
		}
		for (unsigned int i = 0; i < 5000; i++)
			step(&model, srq, c, cq, &seed);
		for (unsigned int i = 0; i < 6; i++)
			roce_qp_destroy(c[i].qp);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(roce_cq_destroy(cq[i]), 0);
		/* Completions that died with their queue are reaped. */
		fx_expect_counts(srq, 64, model.available, model.available);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/* A completion queue that dies with events inside reaps them: the receives can be posted again. */
UNIT_RULE(counts__hold_when_a_completion_queue_dies_with_events)
{
	struct roce_srq *srq = srq_of(4);
	struct roce_cq *cq = cq_of(8);
	struct client c;

	client_on(&c, srq, cq);
	post_many(srq, 4, 0, SHORT_LEN);
	for (uint32_t i = 0; i < 3; i++)
		arrive(&c);
	reap_many(cq, 1);
	roce_qp_destroy(c.qp);
	fx_expect_counts(srq, 4, 1, 3);
	assert_int_equal(roce_cq_destroy(cq), 0);
	fx_expect_counts(srq, 4, 1, 1);
	post_many(srq, 3, 0, SHORT_LEN);
	assert_int_equal(post(srq, 9), -ENOSPC);
}

/* A completion that finds its queue full is lost; the receive is not. */
UNIT_RULE(overflow__gives_the_receive_back)
{
	for (unsigned int engines = 1; engines <= 2; engines++) {
		struct roce_srq *srq;
		struct roce_cq *cq;
		struct client c;

		reopen(engines);
		srq = srq_of(3);
		cq = cq_of(1);
		client_on(&c, srq, cq);
		post_many(srq, 3, 0, SHORT_LEN);
		arrive(&c);
		fx_expect_counts(srq, 3, 2, 3);
		arrive(&c);
		fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_CQ_OVERFLOW);
		fx_expect_counts(srq, 3, 1, 2);
		assert_int_equal(reap(cq), 0);
		fx_expect_counts(srq, 3, 1, 1);
		arrive(&c);
		assert_int_equal(reap(cq), 2);
		fx_expect_counts(srq, 3, 0, 0);
		roce_qp_destroy(c.qp);
		assert_int_equal(roce_cq_destroy(cq), 0);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/* A queue pair without a completion queue: nobody reaps, so the receive is free at once. */
UNIT_RULE(nobody__wants_to_know)
{
	struct client c;

	client_on(&c, end.srq, NULL);
	fx_fill_srq(&end, 3, LONG_LEN);
	arrive(&c);
	fx_expect_counts(end.srq, 256, 2, 2);
	begin(&c);
	fx_expect_counts(end.srq, 256, 1, 2);
	client_to_error(&c);
	fx_expect_counts(end.srq, 256, 1, 1);
}

enum ending {
	BY_ERROR,
	BY_RESET,
	BY_DESTROY,
};

static void
end_by(struct client *c, enum ending how)
{
	if (how == BY_ERROR)
		client_to_error(c);
	else if (how == BY_RESET)
		client_to_reset(c);
	else
		roce_qp_destroy(c->qp);
}

/*
 * A held receive ends with its queue pair: flushed to the completion queue by an error, dropped by a reset and
 * by the end of the queue pair. A receive that was not taken stays on the shared queue.
 * Proves: srq_post_recv.9 bug.S24
 */
UNIT_RULE(end__returns_the_held_receive)
{
	for (enum ending how = BY_ERROR; how <= BY_DESTROY; how++) {
		struct client c;
		struct roce_srq *srq = srq_with(&c, 4, NULL, 0, 0);

		assert_int_equal(post_of(srq, 42, LONG_LEN), 0);
		assert_int_equal(post(srq, 43), 0);
		begin(&c);
		fx_expect_counts(srq, 4, 1, 2);
		end_by(&c, how);
		if (how == BY_ERROR) {
			fx_expect_counts(srq, 4, 1, 2);
			assert_fields(fx_event(end.recv_cq), (wr_id, 42),
					(status, IBV_WC_WR_FLUSH_ERR), (owner, &c));
		}
		fx_expect_counts(srq, 4, 1, 1);
		assert_int_equal(roce_cq_count(end.recv_cq), 0);
		/* It is gone once, not once more when the queue pair ends at last. */
		if (how != BY_DESTROY)
			roce_qp_destroy(c.qp);
		fx_expect_counts(srq, 4, 1, 1);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * Completions that nobody reaped when the connection ended stay, and count until they are; nothing comes late.
 * Proves: bug.S23 bug.S24
 */
UNIT_RULE(end__leaves_completions_to_be_reaped)
{
	for (enum ending how = BY_ERROR; how <= BY_DESTROY; how++) {
		struct client c;
		struct roce_srq *srq = srq_with(&c, 8, NULL, 5, LONG_LEN);

		arrive(&c);
		arrive(&c);
		begin(&c);
		fx_expect_counts(srq, 8, 2, 5);
		end_by(&c, how);
		fx_expect_counts(srq, 8, 2, how == BY_ERROR ? 5 : 4);
		if (how != BY_DESTROY) {
			/* The peer does not know yet. */
			finish(&c);
			arrive(&c);
			roce_qp_destroy(c.qp);
		}
		if (how == BY_RESET)
			fx_tx_none(&end);
		else
			assert_int_equal(fx_tx_one(&end).opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
		fx_expect_counts(srq, 8, 2, how == BY_ERROR ? 5 : 4);
		assert_int_equal(roce_cq_count(end.recv_cq), how == BY_ERROR ? 3 : 2);
		reap_many(end.recv_cq, how == BY_ERROR ? 3 : 2);
		fx_expect_counts(srq, 8, 2, 2);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/* The counts are of the queue, not of its queue pairs: they come and go, and connect again, without a trace. */
UNIT_RULE(end__of_a_connection_is_followed_by_the_next)
{
	struct client c;
	struct roce_srq *srq = srq_with(&c, 3, NULL, 0, 0);

	for (unsigned int round = 0; round < 20; round++) {
		post_many(srq, 3, 0, LONG_LEN);
		arrive(&c);
		begin(&c);
		client_to_error(&c);
		fx_expect_counts(srq, 3, 1, 3);
		assert_int_equal(post(srq, 9), -ENOSPC);
		reap_many(end.recv_cq, 2);
		client_to_reset(&c);
		client_connect(&c);
		arrive(&c);
		assert_int_equal(reap(end.recv_cq), 2);
		fx_expect_counts(srq, 3, 0, 0);
	}
}
