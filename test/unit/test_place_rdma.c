/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long packets in the middle of a WRITE, and of the answer to a READ, are copied while their ICRC is computed, like those
 * of a SEND (test_place.c): to where the packet that is expected goes, as this end knows it, and nowhere else.
 */

#include <string.h>

#include "end_scene.h"
#include "queue/qp.h"
#include "fixture_rdma.h"

#define MTU    4096u
#define OTHER  0xee
#define REMOTE UINT64_C(0x10000)
#define FIRST  IBV_OPCODE_RC_RDMA_WRITE_FIRST
#define MIDDLE IBV_OPCODE_RC_RDMA_WRITE_MIDDLE
#define LAST   IBV_OPCODE_RC_RDMA_WRITE_LAST

static struct roce_qp *qp;
static struct fx_peer peer;
static struct roce_mr *mr;
static struct fx_target target;

static int
setup_long(void **state)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;

	fx_end_open(&end, 1, NULL);
	attr = fx_attr(&end);
	attr.max_send_sge = 2;
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.path.mtu_code = roce_mtu_code(MTU);
	connect.max_rd_atomic = 1;
	qp = fx_play(&end, &attr, &connect, &peer);
	mr = fx_mr(end.pd, (uintptr_t)end.memory, FX_MEMORY,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	target = (struct fx_target){ (uintptr_t)end.memory, roce_mr_key(mr), 4 * MTU };
	memset(end.memory, OTHER, FX_MEMORY);
	return 0;
}

static int
teardown_long(void **state)
{
	fx_end_close(&end);
	return fx_left();
}

/* ---- frames ---- */

static struct rte_mbuf *
write_packet(uint8_t opcode, uint32_t n, uint32_t len)
{
	return fx_about(&peer, opcode, roce_psn_add(FX_RQ_PSN, n), len, &target, 0);
}

/* The last bit of the payload changed on the way. */
static void
damaged(struct rte_mbuf *m)
{
	const uint64_t before = fx_stats(&end)->rx_icrc_encapsulated;

	*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - ROCE_ICRC_LEN - 1) ^= 0x80;
	fx_rx(&end, m);
	assert_int_equal(fx_stats(&end)->rx_icrc_encapsulated, before + 1);
	fx_tx_none(&end);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
}

static void
expect_bytes(uint32_t from, uint32_t to, uint32_t psn)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(end.memory[i], (uint8_t)(psn + i - from));
}

static void
expect_untouched(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(end.memory[i], OTHER);
}

/* ---- WRITE ---- */

/* The packet that is sent again is placed over what a damaged one left; what came before and follows is where it belongs. */
UNIT_RULE_IN(damaged_middle__is_written_over, setup_long, teardown_long)
{
	fx_rx(&end, write_packet(FIRST, 0, MTU));
	damaged(write_packet(MIDDLE, 1, MTU));
	expect_bytes(0, MTU, FX_RQ_PSN);
	expect_untouched(2 * MTU, FX_MEMORY);
	for (uint32_t i = 1; i < 3; i++)
		fx_rx(&end, write_packet(MIDDLE, i, MTU));
	fx_rx(&end, write_packet(LAST, 3, MTU));
	for (uint32_t i = 0; i < 4; i++)
		expect_bytes(i * MTU, (i + 1) * MTU, FX_RQ_PSN + i);
	expect_untouched(4 * MTU, FX_MEMORY);
	assert_int_equal(fx_stats(&end)->rx_write_requests, 1);
}

/* Where a WRITE begins only its frame says, and programs look for its last byte: both are judged first. */
UNIT_RULE_IN(damaged_ends__are_placed_nowhere, setup_long, teardown_long)
{
	damaged(write_packet(FIRST, 0, MTU));
	expect_untouched(0, FX_MEMORY);
	target.length = MTU;
	damaged(write_packet(IBV_OPCODE_RC_RDMA_WRITE_ONLY, 0, MTU));
	expect_untouched(0, FX_MEMORY);
	target.length = 2 * MTU;
	fx_rx(&end, write_packet(FIRST, 0, MTU));
	damaged(write_packet(LAST, 1, MTU));
	expect_untouched(MTU, FX_MEMORY);
}

/* An unexpected packet writes nowhere, damaged or not. */
UNIT_RULE_IN(unexpected_middle__is_placed_nowhere, setup_long, teardown_long)
{
	damaged(write_packet(MIDDLE, 0, MTU));
	expect_untouched(0, FX_MEMORY);
	fx_rx(&end, write_packet(FIRST, 0, MTU));
	damaged(write_packet(MIDDLE, 2, MTU));
	damaged(write_packet(MIDDLE, 0, MTU));
	damaged(write_packet(MIDDLE, 1, MTU - 4));
	fx_rx(&end, write_packet(MIDDLE, 0, MTU));
	fx_rx(&end, write_packet(MIDDLE, 2, MTU));
	expect_bytes(0, MTU, FX_RQ_PSN);
	expect_untouched(MTU, FX_MEMORY);
}

/* More than the first packet announced is not placed. */
UNIT_RULE_IN(too_long__is_placed_nowhere, setup_long, teardown_long)
{
	target.length = 2 * MTU;
	fx_rx(&end, write_packet(FIRST, 0, MTU));
	damaged(write_packet(MIDDLE, 1, MTU));
	expect_untouched(MTU, FX_MEMORY);
	fx_rx(&end, write_packet(MIDDLE, 1, MTU));
	assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_INVALID_REQUEST));
	expect_untouched(MTU, FX_MEMORY);
}

/* Memory that was deregistered inside a WRITE is not written, be the frame good or not. */
UNIT_RULE_IN(freed_memory__is_not_written, setup_long, teardown_long)
{
	fx_rx(&end, write_packet(FIRST, 0, MTU));
	assert_int_equal(roce_mr_destroy(mr), 0);
	damaged(write_packet(MIDDLE, 1, MTU));
	expect_untouched(MTU, FX_MEMORY);
	fx_rx(&end, write_packet(MIDDLE, 1, MTU));
	assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
	expect_untouched(MTU, FX_MEMORY);
}

/* ---- READ ---- */

#define RSP_FIRST IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID   IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST

static struct rte_mbuf *
response(uint8_t opcode, uint32_t n, uint32_t len)
{
	return fx_response(&peer, opcode, FX_SQ_PSN + n, len, 1);
}

/* Into one segment of @p first bytes, and the rest behind a gap of as many, when there is a rest. */
static void
post_read(uint32_t first, uint32_t len)
{
	const uint64_t at = (uintptr_t)end.memory;
	const struct roce_sge sge[] = {
		{ at, first, roce_mr_key(mr) },
		{ at + 2 * first, len - first, roce_mr_key(mr) },
	};
	const struct roce_wr wr = {
		.wr_id = 1,
		.sg = sge,
		.num_sge = len > first ? 2 : 1,
		.opcode = IBV_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = REMOTE,
		.rkey = 1,
	};

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	(void)fx_tx_one(&end);
}

/* The answer that comes again is placed over what a damaged one left. */
UNIT_RULE_IN(damaged_answer__is_written_over, setup_long, teardown_long)
{
	const uint32_t len = 2 * MTU + 2048;

	post_read(len, len);
	damaged(response(RSP_FIRST, 0, MTU));
	expect_untouched(MTU, FX_MEMORY);
	fx_rx(&end, response(RSP_FIRST, 0, MTU));
	damaged(response(RSP_MID, 1, MTU));
	expect_bytes(0, MTU, FX_SQ_PSN);
	expect_untouched(2 * MTU, FX_MEMORY);
	fx_rx(&end, response(RSP_MID, 1, MTU));
	damaged(response(RSP_LAST, 2, 2048));
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	fx_rx(&end, response(RSP_LAST, 2, 2048));
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < 2; i++)
		expect_bytes(i * MTU, (i + 1) * MTU, FX_SQ_PSN + i);
	expect_bytes(2 * MTU, len, FX_SQ_PSN + 2);
	expect_untouched(len, FX_MEMORY);
}

/* An answer that was not asked for, or not yet, or has a wrong length, is placed nowhere. */
UNIT_RULE_IN(unexpected_answer__is_placed_nowhere, setup_long, teardown_long)
{
	damaged(response(RSP_FIRST, 0, MTU));
	post_read(3 * MTU, 3 * MTU);
	damaged(response(RSP_MID, 1, MTU));
	damaged(response(RSP_FIRST, 0, MTU - 4));
	damaged(response(RSP_LAST, 0, MTU));
	damaged(response(RSP_MID, 3, MTU));
	expect_untouched(0, FX_MEMORY);
	fx_rx(&end, response(RSP_FIRST, 0, MTU));
	damaged(response(RSP_FIRST, 0, MTU));
	expect_bytes(0, MTU, FX_SQ_PSN);
	expect_untouched(MTU, FX_MEMORY);
}

/* Nor is anything placed in memory that was deregistered. */
UNIT_RULE_IN(answer_to_freed_memory__is_placed_nowhere, setup_long, teardown_long)
{
	post_read(2 * MTU, 2 * MTU);
	assert_int_equal(roce_mr_destroy(mr), 0);
	damaged(response(RSP_FIRST, 0, MTU));
	fx_rx(&end, response(RSP_FIRST, 0, MTU));
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_LOC_PROT_ERR);
	expect_untouched(0, FX_MEMORY);
}

/* A READ into several segments gets each byte in its segment. */
UNIT_RULE_IN(segments__are_filled_as_ever, setup_long, teardown_long)
{
	post_read(3000, MTU);
	damaged(response(IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, 0, MTU));
	expect_untouched(0, FX_MEMORY);
	fx_rx(&end, response(IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, 0, MTU));
	expect_bytes(0, 3000, FX_SQ_PSN);
	expect_untouched(3000, 6000);
	expect_bytes(6000, 6000 + MTU - 3000, FX_SQ_PSN + 3000);
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
}
