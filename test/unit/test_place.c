/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The payload of a long packet is copied while its ICRC is computed, so before the ICRC is known to be right. A damaged
 * frame may write to the memory of a posted receive; it must leave no other trace.
 */

#include "srq_scene.h"

#define MTU   4096u
#define OTHER 0xee

static struct roce_srq *srq;
static struct client peer;

static void
open_with(unsigned int engines)
{
	const struct fx_options options = { .engines = engines };

	fx_end_open(&end, 1, &options);
	srq = srq_of(4);
	client_on(&peer, srq, end.recv_cq);
	client_to_reset(&peer);
	peer.connect.path.mtu_code = roce_mtu_code(MTU);
	client_connect(&peer);
	memset(end.memory, OTHER, FX_MEMORY);
}

static int
setup_long(void **state)
{
	open_with(1);
	return 0;
}

static int
setup_engines(void **state)
{
	open_with(2);
	return 0;
}

static int
teardown_long(void **state)
{
	fx_end_close(&end);
	return 0;
}

static void
give(struct rte_mbuf *m)
{
	client_lock(&peer);
	assert_int_equal(roce_engine_rx(roce_qp_engine(peer.qp), &m, 1, end.now), 0);
	client_unlock(&peer);
}

/* A packet of the peer of which one bit changed on the way: the last one of its payload. */
static void
damaged(uint8_t opcode, uint32_t psn, uint32_t len)
{
	const uint64_t before = fx_stats(&end)->rx_icrc_encapsulated;
	struct rte_mbuf *m = fx_request(&peer.peer, opcode, psn, len, FX_ACKREQ);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - ROCE_ICRC_LEN - 1) ^= 0x80;
	give(m);
	if (roce_qp_engine(peer.qp) == end.engine)
		assert_int_equal(fx_stats(&end)->rx_icrc_encapsulated, before + 1);
}

/* Bytes @p from to @p to of the memory are those that the packet with this PSN has from @p at on. */
static void
expect_bytes(uint32_t from, uint32_t to, uint32_t psn, uint32_t at)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(end.memory[i], (uint8_t)(psn + at + i - from));
}

static void
expect_untouched(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(end.memory[i], OTHER);
}

static void
expect_nothing(uint32_t available, uint32_t outstanding)
{
	fx_expect_counts(srq, 4, available, outstanding);
	fx_tx_none(&end);
	assert_int_equal(end.async_events, 0);
	assert_int_equal(roce_qp_state(peer.qp), ROCE_QP_RTS);
}

/* It takes no receive, answers nothing and writes nowhere else; the next one is received as if it had not been there. */
UNIT_RULE_IN(damaged__takes_nothing, setup_long, teardown_long)
{
	const uint32_t len = MTU - 3;

	assert_int_equal(post_of(srq, 1, len), 0);
	assert_int_equal(post_of(srq, 2, len), 0);
	damaged(IBV_OPCODE_RC_SEND_ONLY, peer.psn, len);
	expect_nothing(2, 2);
	expect_untouched(len, FX_MEMORY);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, len);
	expect_bytes(0, len, FX_RQ_PSN, 0);
	expect_untouched(len, FX_MEMORY);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	fx_expect_counts(srq, 4, 1, 2);
	assert_int_equal(reap(end.recv_cq), 1);
}

/* The same inside a message: what came before stays, and what follows lies where it belongs. */
UNIT_RULE_IN(damaged__leaves_the_message_in_progress, setup_long, teardown_long)
{
	const uint32_t len = 2 * MTU + 2048;

	assert_int_equal(post_of(srq, 1, len), 0);
	packet(&peer, IBV_OPCODE_RC_SEND_FIRST, MTU);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	damaged(IBV_OPCODE_RC_SEND_MIDDLE, peer.psn, MTU);
	expect_nothing(0, 1);
	expect_bytes(0, MTU, FX_RQ_PSN, 0);
	expect_untouched(2 * MTU, FX_MEMORY);
	packet(&peer, IBV_OPCODE_RC_SEND_MIDDLE, MTU);
	damaged(IBV_OPCODE_RC_SEND_LAST, peer.psn, 2048);
	packet(&peer, IBV_OPCODE_RC_SEND_LAST, 2048);
	assert_int_equal(reap(end.recv_cq), 1);
	for (uint32_t i = 0; i < 2; i++)
		expect_bytes(i * MTU, (i + 1) * MTU, FX_RQ_PSN + i, 0);
	expect_bytes(2 * MTU, len, FX_RQ_PSN + 2, 0);
	expect_untouched(len, FX_MEMORY);
}

/* An unexpected packet writes nowhere, damaged or not: the memory is the consumer's again. */
UNIT_RULE_IN(unexpected__is_placed_nowhere, setup_long, teardown_long)
{
	static const int ahead[] = { -1, 1 };

	assert_int_equal(post_of(srq, 1, MTU), 0);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, MTU);
	assert_int_equal(reap(end.recv_cq), 1);
	assert_int_equal(post_of(srq, 2, MTU), 0);
	memset(end.memory, OTHER, FX_MEMORY);
	for (size_t i = 0; i < RTE_DIM(ahead); i++) {
		const uint32_t psn = roce_psn_add(peer.psn, (uint32_t)ahead[i]);

		damaged(IBV_OPCODE_RC_SEND_ONLY, psn, MTU);
		give(fx_request(&peer.peer, IBV_OPCODE_RC_SEND_ONLY, psn, MTU, 0));
		expect_untouched(0, FX_MEMORY);
	}
	/* No message is in progress that a last packet could end; nor is a short one a middle packet. */
	damaged(IBV_OPCODE_RC_SEND_LAST, peer.psn, MTU);
	damaged(IBV_OPCODE_RC_SEND_FIRST, peer.psn, MTU - 4);
	damaged(IBV_OPCODE_RC_RDMA_WRITE_MIDDLE, peer.psn, MTU);
	expect_untouched(0, FX_MEMORY);
	fx_expect_counts(srq, 4, 1, 1);
}

/* The receive of the message before is the consumer's again: what goes on with a message that is over is not placed there. */
UNIT_RULE_IN(finished_message__is_not_gone_on_with, setup_long, teardown_long)
{
	assert_int_equal(post_of(srq, 1, 4 * MTU), 0);
	packet(&peer, IBV_OPCODE_RC_SEND_FIRST, MTU);
	packet(&peer, IBV_OPCODE_RC_SEND_LAST, MTU);
	assert_int_equal(reap(end.recv_cq), 1);
	memset(end.memory, OTHER, FX_MEMORY);
	damaged(IBV_OPCODE_RC_SEND_MIDDLE, peer.psn, MTU);
	damaged(IBV_OPCODE_RC_SEND_LAST, peer.psn, MTU);
	expect_untouched(0, FX_MEMORY);
}

/* A packet that is longer than the receive is not placed in part. */
UNIT_RULE_IN(too_long__is_placed_nowhere, setup_long, teardown_long)
{
	assert_int_equal(post_of(srq, 1, MTU - 1), 0);
	damaged(IBV_OPCODE_RC_SEND_ONLY, peer.psn, MTU);
	expect_untouched(0, FX_MEMORY);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, MTU);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_LOC_LEN_ERR);
	expect_untouched(0, FX_MEMORY);
}

/* Memory that was deregistered is not written, be the frame good or not. */
UNIT_RULE_IN(freed_memory__is_not_written, setup_long, teardown_long)
{
	struct roce_sge sge = { (uintptr_t)end.memory, MTU, 0 };
	const struct roce_recv_wr wr = { 1, &sge, 1, 0 };
	struct roce_mr *mr = fx_mr(end.pd, (uintptr_t)end.memory, MTU, IBV_ACCESS_LOCAL_WRITE);

	sge.lkey = roce_mr_key(mr);
	assert_int_equal(roce_srq_post(srq, &wr), 0);
	assert_int_equal(roce_mr_destroy(mr), 0);
	damaged(IBV_OPCODE_RC_SEND_ONLY, peer.psn, MTU);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, MTU);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_LOC_PROT_ERR);
	expect_untouched(0, FX_MEMORY);
}

/* A receive of several segments gets each byte in its segment. */
UNIT_RULE_IN(segments__are_filled_as_ever, setup_long, teardown_long)
{
	const struct roce_sge sge[2] = {
		{ (uintptr_t)end.memory + MTU, 100, end.key },
		{ (uintptr_t)end.memory, MTU - 100, end.key },
	};
	const struct roce_recv_wr wr = { 1, sge, 2, 0 };

	assert_int_equal(roce_srq_post(srq, &wr), 0);
	damaged(IBV_OPCODE_RC_SEND_ONLY, peer.psn, MTU);
	expect_untouched(0, FX_MEMORY);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, MTU);
	assert_int_equal(reap(end.recv_cq), 1);
	expect_bytes(MTU, MTU + 100, FX_RQ_PSN, 0);
	expect_bytes(0, MTU - 100, FX_RQ_PSN, 100);
}

/* The receive is not known as long as another engine may take it, so the frame is validated first. */
UNIT_RULE_IN(several_engines__place_nothing_that_is_not_taken, setup_engines, teardown_long)
{
	assert_int_equal(post_of(srq, 1, MTU), 0);
	damaged(IBV_OPCODE_RC_SEND_ONLY, peer.psn, MTU);
	expect_untouched(0, FX_MEMORY);
	packet(&peer, IBV_OPCODE_RC_SEND_ONLY, MTU);
	assert_int_equal(reap(end.recv_cq), 1);
	expect_bytes(0, MTU, FX_RQ_PSN, 0);
}
