/* SPDX-License-Identifier: BSD-3-Clause */
/* SEND with invalidate: the last packet of a message ends the binding of a window of the receiver. */

#include "mw_scene.h"

#define LEN (2 * FX_MTU + 100) /* three packets */

static struct fx_end far; /* it sends; the end of the scene receives, and has the window */
static struct roce_qp *from, *to;
static uint32_t key; /* of the window, bound to all of the region */

static int
setup_pair(void **state)
{
	struct roce_mw_bind bind;
	struct roce_qp_attr attr;

	open_scene(1);
	fx_end_open(&far, 2, NULL);
	attr = fx_attr(&far);
	from = fx_qp(&far, &attr);
	attr = fx_attr(&end);
	to = fx_qp(&end, &attr);
	fx_join(&far, from, &end, to);
	bind = part(0, FX_MEMORY, PEER_READS | PEER_WRITES);
	assert_int_equal(post_bind(to, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	expect_bind_event(1, IBV_WC_SUCCESS);
	key = bind.key;
	return 0;
}

static int
teardown_pair(void **state)
{
	fx_end_close(&far);
	return teardown(state);
}

static void
send_invalidate(uint64_t wr_id, uint32_t len, uint32_t what)
{
	const struct roce_sge sge = { (uintptr_t)far.memory, len, far.key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = IBV_WR_SEND_WITH_INV,
		.flags = ROCE_WR_SIGNALED,
		.imm = rte_cpu_to_be_32(what),
	};

	assert_int_equal(roce_qp_post_send(from, &wr), 0);
}

static void
expect_received(uint32_t len)
{
	struct roce_event event = fx_event(end.recv_cq);

	assert_fields(event, (status, IBV_WC_SUCCESS), (flags, ROCE_EVENT_INVALID),
			(imm, rte_cpu_to_be_32(key)), (byte_len, len));
}

UNIT_RULE_IN(send__unbinds_the_window_whatever_its_length, setup_pair, teardown_pair)
{
	static const uint32_t lengths[] = { 0, 1, FX_MTU, LEN };

	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		struct roce_mw_bind bind = part(0, 64, PEER_READS);

		fx_fill_srq(&end, 1, LEN);
		send_invalidate(i, lengths[i], key);
		fx_exchange(&far, &end);
		expect_received(lengths[i]);
		assert_int_equal(fx_event(far.send_cq).status, IBV_WC_SUCCESS);
		assert_int_equal(bound_key(), 0);
		assert_int_equal(peer_may(key, (uintptr_t)end.memory, 1, PEER_READS), -EACCES);
		/* And it can be bound again. */
		assert_int_equal(post_bind(to, 1, &bind, ROCE_WR_SIGNALED), 0);
		settle();
		expect_bind_event(1, IBV_WC_SUCCESS);
		key = bind.key;
	}
}

/* A region under a bound window cannot end; the peer's SEND with invalidate ends the binding. */
UNIT_RULE_IN(send__lets_the_region_end, setup_pair, teardown_pair)
{
	assert_int_equal(roce_mr_destroy(region), -EBUSY);
	fx_fill_srq(&end, 1, LEN);
	send_invalidate(1, 8, key);
	fx_exchange(&far, &end);
	expect_received(8);
	assert_int_equal(roce_mr_destroy(region), 0);
	(void)fx_event(far.send_cq);
}

UNIT_RULE_IN(send__invalidates_with_its_last_packet_only, setup_pair, teardown_pair)
{
	struct rte_mbuf *m[8];
	uint16_t n;

	fx_fill_srq(&end, 1, LEN);
	send_invalidate(1, LEN, key);
	n = fx_take(&far, m, RTE_DIM(m));
	assert_int_equal(n, 3);
	fx_rx(&end, m[0]);
	fx_rx(&end, m[1]);
	assert_int_equal(bound_key(), key);
	fx_rx(&end, m[2]);
	assert_int_equal(bound_key(), 0);
	fx_exchange(&far, &end);
	expect_received(LEN);
	(void)fx_event(far.send_cq);
}

/* Both ends break: the sender hears "access", the receive in use ends with an error of its own. */
static void
expect_refusal(uint32_t what)
{
	fx_fill_srq(&end, 1, LEN);
	send_invalidate(7, 8, what);
	fx_exchange(&far, &end);
	assert_fields(fx_event(far.send_cq), (wr_id, 7), (status, IBV_WC_REM_ACCESS_ERR));
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(roce_qp_state(from), ROCE_QP_ERR);
	assert_int_equal(roce_qp_state(to), ROCE_QP_ERR);
	assert_fields(*fx_stats(&end), (resp_remote_access_errors, 1), (rx_send_requests, 0));
}

UNIT_RULE_IN(send__of_no_key_breaks, setup_pair, teardown_pair)
{
	expect_refusal(key + 1);
	assert_int_equal(bound_key(), key);
}

UNIT_RULE_IN(send__does_not_end_a_region, setup_pair, teardown_pair)
{
	expect_refusal(roce_mr_key(region));
	assert_true(lives(roce_mr_key(region)));
}

UNIT_RULE_IN(send__does_not_end_a_window_of_another_zone, setup_pair, teardown_pair)
{
	struct roce_mw *other;
	struct roce_mw_bind bind;
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp *outsider;
	struct roce_pd *pd = fx_pd(&end);
	struct roce_mr *mr = fx_mr(pd, (uintptr_t)end.memory, 64, ALL_ACCESS);

	assert_int_equal(roce_mw_create(pd, &mw, &other), 0);
	attr.pd = pd;
	attr.srq = NULL;
	outsider = fx_qp(&end, &attr);
	fx_up(outsider, &(struct roce_qp_connect){ .path = { .mtu_code = 3 }, .dest_qp = 9 });
	bind = (struct roce_mw_bind){ .mw = other,
		.mr_key = roce_mr_key(mr),
		.access = PEER_READS,
		.addr = (uintptr_t)end.memory,
		.length = 64 };
	assert_int_equal(post_bind(outsider, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	expect_bind_event(1, IBV_WC_SUCCESS);

	expect_refusal(bind.key);
	assert_true(lives(bind.key));
	roce_qp_destroy(outsider);
	roce_mw_destroy(other);
	assert_int_equal(roce_mr_destroy(mr), 0);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

/*
 * A window of type 1: its key changes with every bind, and an old one ends nothing.
 *
 * Proves: rc.R20
 */
UNIT_RULE_IN(send__of_an_old_key_breaks, setup_pair, teardown_pair)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);
	uint32_t old = key;

	assert_int_equal(post_bind(to, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	expect_bind_event(1, IBV_WC_SUCCESS);
	expect_refusal(old);
	assert_int_equal(bound_key(), bind.key);
}

/* A duplicate is acknowledged again, and does not end a binding that was made in between. */
UNIT_RULE_IN(duplicate__is_not_executed_again, setup_pair, teardown_pair)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);
	struct rte_mbuf *m[4], *copy;

	fx_fill_srq(&end, 2, LEN);
	send_invalidate(1, 8, key);
	assert_int_equal(fx_take(&far, m, RTE_DIM(m)), 1);
	copy = rte_pktmbuf_copy(m[0], m[0]->pool, 0, UINT32_MAX);
	assert_non_null(copy);
	fx_rx(&end, m[0]);
	fx_exchange(&far, &end);
	expect_received(8);
	assert_int_equal(post_bind(to, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	expect_bind_event(1, IBV_WC_SUCCESS);
	fx_rx(&end, copy);
	fx_exchange(&far, &end);
	assert_int_equal(bound_key(), bind.key);
	assert_int_equal(fx_stats(&end)->duplicate_request, 1);
	assert_int_equal(roce_qp_state(to), ROCE_QP_RTS);
	(void)fx_event(far.send_cq);
	fx_expect_counts(end.srq, 256, 1, 1);
}
