/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that other providers made as responders, each as a world in which it would show. */

#include <stdlib.h>
#include <string.h>

#include "played_scene.h"

#define PSN      FX_RQ_PSN
#define MTU      FX_MTU
#define DEPTH    8
#define PAGE     4096u
#define PAGE64   65536u
#define SPACE    (3 * PAGE64)
#define OP(name) IBV_OPCODE_RC_##name

static uint8_t *space; /* on a boundary of 64 KB */
static uint64_t base;
static uint32_t rkey;

static uint8_t
byte_at(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 256 + i / PAGE64 * 3);
}

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = DEPTH });
	space = aligned_alloc(PAGE64, SPACE);
	assert_non_null(space);
	for (uint32_t i = 0; i < SPACE; i++)
		space[i] = byte_at(i);
	base = (uintptr_t)space;
	region = fx_mr(end.pd, base, SPACE, FX_ALL);
	rkey = roce_mr_key(region);
	fx_tx_none(&end);
	return 0;
}

static int
teardown_space(void **state)
{
	const int left = teardown(state);

	free(space);
	return left;
}

/* A request of the peer; its payload as fx_request() makes it. */
static void
arrives(uint8_t opcode, uint32_t psn, uint32_t payload, uint64_t va, uint32_t length)
{
	const struct fx_target target = { va, rkey, length };

	fx_rx(&end, fx_about(&peer, opcode, psn, payload, &target, FX_ACKREQ));
}

/*
 * Requests that fail before any receive is theirs: each draws exactly one NAK with its reason, with receives there and
 * without, and takes none.
 *
 * Proves: rc.R6
 */
UNIT_RULE_IN(refused__is_said_and_takes_no_receive, setup, teardown_space)
{
	static const struct {
		uint8_t opcode;
		uint32_t payload;
		int64_t at;
		uint32_t length, key_xor;
		uint8_t code;
	} rule[] = {
		{ OP(RDMA_WRITE_ONLY), 8, 0, 8, 1, ROCE_NAK_REMOTE_ACCESS },
		{ OP(RDMA_WRITE_ONLY), 8, SPACE - 7, 8, 0, ROCE_NAK_REMOTE_ACCESS },
		{ OP(RDMA_WRITE_ONLY), 8, 0, 9, 0, ROCE_NAK_INVALID_REQUEST },
		{ OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), 8, 0, 8, 1, ROCE_NAK_REMOTE_ACCESS },
		{ OP(RDMA_WRITE_FIRST), MTU, -1, 2 * MTU, 0, ROCE_NAK_REMOTE_ACCESS },
		{ OP(RDMA_WRITE_MIDDLE), MTU, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
		{ OP(RDMA_READ_REQUEST), 0, 0, 8, 1, ROCE_NAK_REMOTE_ACCESS },
		{ OP(RDMA_READ_REQUEST), 0, 1, SPACE, 0, ROCE_NAK_REMOTE_ACCESS },
		{ OP(FETCH_ADD), 0, 4, 0, 0, ROCE_NAK_INVALID_REQUEST },
		{ OP(COMPARE_SWAP), 0, 0, 0, 1, ROCE_NAK_REMOTE_ACCESS },
		{ OP(SEND_MIDDLE), MTU, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
		{ OP(SEND_LAST), 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	};

	for (size_t i = 0; i < 2 * RTE_DIM(rule); i++) {
		const bool there = i % 2;

		if (there)
			fx_fill_srq(&end, 4, 64);
		rkey ^= rule[i / 2].key_xor;
		arrives(rule[i / 2].opcode, PSN, rule[i / 2].payload,
				base + (uint64_t)rule[i / 2].at, rule[i / 2].length);
		assert_fields(fx_tx_one(&end), (opcode, OP(ACKNOWLEDGE)), (psn, PSN),
				(syndrome, FX_NAK(rule[i / 2].code)));
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
		assert_int_equal(end.async_events, 1);
		assert_int_equal(roce_cq_count(end.recv_cq), 0);
		fx_expect_counts(end.srq, 256, there ? 4 : 0, there ? 4 : 0);
		fx_tx_none(&end);
		assert_int_equal(teardown_space(state), 0);
		setup(state);
	}
}

/*
 * One message of each shape of each verb: the MSN counts those that ended, whatever their last packet is called.
 *
 * Proves: rc.R7
 */
UNIT_RULE_IN(msn__grows_with_the_last_packet_only, setup, teardown_space)
{
	static const struct {
		uint8_t opcode;
		uint32_t payload, length;
	} step[] = {
		{ OP(SEND_FIRST), MTU, 0 },
		{ OP(SEND_MIDDLE), MTU, 0 },
		{ OP(SEND_LAST), 8, 0 },
		{ OP(SEND_FIRST), MTU, 0 },
		{ OP(SEND_LAST_WITH_IMMEDIATE), 8, 0 },
		{ OP(SEND_ONLY), 8, 0 },
		{ OP(SEND_ONLY_WITH_IMMEDIATE), 8, 0 },
		{ OP(RDMA_WRITE_FIRST), MTU, 2 * MTU + 8 },
		{ OP(RDMA_WRITE_MIDDLE), MTU, 0 },
		{ OP(RDMA_WRITE_LAST), 8, 0 },
		{ OP(RDMA_WRITE_FIRST), MTU, MTU + 8 },
		{ OP(RDMA_WRITE_LAST_WITH_IMMEDIATE), 8, 0 },
		{ OP(RDMA_WRITE_ONLY), 8, 8 },
		{ OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), 8, 8 },
		{ OP(RDMA_READ_REQUEST), 0, 8 },
		{ OP(COMPARE_SWAP), 0, 8 },
		{ OP(FETCH_ADD), 0, 8 },
	};
	uint32_t msn = 0;

	fx_fill_srq(&end, 16, 4 * MTU);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < RTE_DIM(step); i++) {
			const uint32_t psn = PSN + round * RTE_DIM(step) + i;

			arrives(step[i].opcode, psn, step[i].payload, base, step[i].length);
			msn += roce_opcode[step[i].opcode].flags & ROCE_OP_END ? 1 : 0;
			assert_fields(fx_tx_one(&end), (psn, psn), (msn, msn));
		}
		assert_int_equal(msn, 11 * (round + 1));
		/* And once more what was just done: not counted. */
		arrives(OP(FETCH_ADD), PSN + (round + 1) * RTE_DIM(step) - 1, 0, base, 8);
		assert_int_equal(fx_tx_one(&end).msn, msn);
		if (round % 2 == 0)
			fx_fill_srq(&end, 12, 4 * MTU);
	}
}

/*
 * The segments of a receive add up to 2^32 and more: it has room for everything, not for what is left of the sum.
 *
 * Proves: rc.R17
 */
UNIT_RULE_IN(receive__of_wrapping_segments_holds_everything, setup, teardown_space)
{
	struct roce_sge sge[4];
	const struct roce_recv_wr wr = { .wr_id = 5, .sg = sge, .num_sge = 4 };
	struct roce_mr *whole = fx_mr(end.pd, 0, UINT64_MAX, IBV_ACCESS_LOCAL_WRITE);
	uint32_t key = roce_mr_key(whole);

	for (unsigned int segments = 2; segments <= 4; segments += 2) {
		/* 2^32 in two segments, and in four; only the first has a byte of ours. */
		for (unsigned int i = 0; i < 4; i++)
			sge[i] = (struct roce_sge){ base, i < segments ? 1u << 31 : 0, key };
		if (segments == 4)
			sge[3].length = UINT32_MAX;
		assert_int_equal(roce_srq_post(end.srq, &wr), 0);
		arrives(OP(SEND_ONLY), PSN + segments / 2 - 1, MTU, 0, 0);
		assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
		assert_int_equal(fx_event(end.recv_cq).byte_len, MTU);
		assert_int_equal(space[MTU - 1], (uint8_t)(PSN + segments / 2 - 1 + MTU - 1));
		assert_int_equal(space[MTU], byte_at(MTU));
	}
}

/*
 * The table of answers is as large as it ever may be, and each connection uses the part that was agreed upon: with
 * answers still due, the connection ends and another comes with more, or less.
 *
 * Proves: rc.R25
 */
UNIT_RULE_IN(depth__changes_from_connection_to_connection, setup, teardown_space)
{
	static const uint8_t depths[] = { DEPTH, 1, 5, DEPTH, 2, DEPTH + 9, 0, 3 };
	unsigned int n;

	for (size_t i = 0; i < RTE_DIM(depths); i++) {
		const struct played how = { .max_dest_rd_atomic = depths[i] };
		const struct roce_qp_connect connect = connect_to_peer(&how);
		const uint8_t may = RTE_MIN(depths[i], (uint8_t)DEPTH);
		const struct fx_sent *sent;

		fx_to_reset(qp);
		fx_up(qp, &connect);
		peer = fx_peer_of(qp, &connect);
		fx_tx_none(&end);
		for (uint32_t k = 0; k < may; k++)
			arrives(OP(RDMA_READ_REQUEST), PSN + k, 0, base + k, 8);
		/* Twice from the start, so that every place is used and used again. */
		sent = fx_tx_all(&end, &n);
		assert_int_equal(n, may);
		for (uint32_t k = 0; k < may; k++)
			assert_int_equal(sent[k].first, byte_at(k));
		for (uint32_t k = 0; k <= may; k++)
			arrives(OP(RDMA_READ_REQUEST), PSN + may + k, 0, base + k, 8);
		/* One too many, behind answers that are still due. In half of the rounds they stay it. */
		if (i % 2)
			continue;
		sent = fx_tx_exactly(&end, may + 1);
		assert_int_equal(sent[may].syndrome, FX_NAK(ROCE_NAK_INVALID_REQUEST));
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	}
}

/* A WRITE, and a READ of the same and a byte around it: right bytes, and nobody else's. */
static void
there_and_back(uint32_t psn, uint64_t at, uint32_t len)
{
	struct rte_mbuf *pkts[8];
	uint32_t got = 0;
	uint16_t n;

	arrives(OP(RDMA_WRITE_ONLY), psn, len, base + at, len);
	(void)fx_tx_one(&end);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(space[at + i], (uint8_t)(psn + i));
	assert_int_equal(space[at - 1], byte_at(at - 1));
	assert_int_equal(space[at + len], byte_at(at + len));
	arrives(OP(RDMA_READ_REQUEST), psn + 1, 0, base + at - 1, len + 2);
	n = fx_take(&end, pkts, 8);
	for (uint16_t i = 0; i < n; i++) {
		struct roce_pkt pkt;

		assert_int_equal(roce_frame_parse(pkts[i], &pkt), ROCE_FRAME_OK);
		assert_memory_equal(rte_pktmbuf_mtod_offset(pkts[i], uint8_t *, pkt.payload_off),
				space + at - 1 + got, pkt.payload_len);
		got += pkt.payload_len;
		rte_pktmbuf_free(pkts[i]);
	}
	assert_int_equal(got, len + 2);
	for (uint32_t i = 0; i < len; i++)
		space[at + i] = byte_at(at + i);
}

/*
 * Across every boundary that a page might have, at each offset near it, in regions that begin and end at odd places.
 *
 * Proves: rc.R26 rc.R27
 */
UNIT_RULE_IN(memory__is_found_across_any_boundary, setup, teardown_space)
{
	static const uint32_t boundary[] = { PAGE, 2 * PAGE, PAGE64 - PAGE, PAGE64, PAGE64 + PAGE,
		2 * PAGE64 };
	static const uint32_t lens[] = { 1, 2, 7, 64, MTU };
	static const uint32_t begins[] = { 0, 1, 4095, 2049 };
	uint32_t psn = PSN;

	for (size_t b = 0; b < RTE_DIM(begins); b++) {
		struct roce_mr *odd = fx_mr(
				end.pd, base + begins[b], SPACE - begins[b] - 2 * b - 1, FX_ALL);

		rkey = roce_mr_key(odd);
		for (size_t i = 0; i < RTE_DIM(boundary) * RTE_DIM(lens); i++) {
			const uint32_t at = boundary[i / RTE_DIM(lens)];
			const uint32_t len = lens[i % RTE_DIM(lens)];

			for (uint32_t before = 0; before <= len; before += RTE_MAX(1u, len / 5)) {
				if (at - before - 1 < begins[b])
					continue;
				there_and_back(psn, at - before, len);
				psn += 2 + (len + 2 > MTU);
			}
		}
		assert_int_equal(roce_mr_destroy(odd), 0);
	}
}
