/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder for WRITE, READ and atomics: frame in, frames out, memory (IBTA Vol 1, 9.7.4 and 9.7.5). */

#include <string.h>

#include "played_scene.h"

#define PSN         FX_RQ_PSN
#define MTU         FX_MTU
#define DEPTH       3
#define WRITE_ONLY  IBV_OPCODE_RC_RDMA_WRITE_ONLY
#define WRITE_FIRST IBV_OPCODE_RC_RDMA_WRITE_FIRST
#define WRITE_MID   IBV_OPCODE_RC_RDMA_WRITE_MIDDLE
#define WRITE_LAST  IBV_OPCODE_RC_RDMA_WRITE_LAST
#define WRITE_IMM   IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE
#define READ        IBV_OPCODE_RC_RDMA_READ_REQUEST
#define RSP_ONLY    IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
#define RSP_FIRST   IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID     IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST    IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define FADD        IBV_OPCODE_RC_FETCH_ADD
#define ATOMIC_ACK  IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE
#define ACK         IBV_OPCODE_RC_ACKNOWLEDGE
#define SEND        IBV_OPCODE_RC_SEND_ONLY
#define NAK(code)   (ROCE_AETH_NAK | (code))
#define OK          (ROCE_AETH_ACK | ROCE_CREDIT_INVALID)

static uint32_t rkey;
static uint64_t base;

/* The memory's content at the start. */
static uint8_t
byte_at(uint32_t i)
{
	return (uint8_t)(i * 7 + i / 256 + 1);
}

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = DEPTH, .rights = FX_ALL });
	base = (uintptr_t)end.memory;
	rkey = roce_mr_key(region);
	for (uint32_t i = 0; i < FX_MEMORY; i++)
		end.memory[i] = byte_at(i);
	fx_tx_none(&end);
	return 0;
}

static void
arrives(uint8_t opcode, uint32_t psn, uint32_t payload, uint64_t va, uint32_t length)
{
	const struct fx_target target = { va, rkey, length };

	fx_rx(&end, fx_about(&peer, opcode, psn, payload, &target, FX_ACKREQ));
}

static void
expect(struct fx_sent sent, uint8_t opcode, uint32_t psn, uint32_t len)
{
	assert_fields(sent, (opcode, opcode), (psn, psn), (payload_len, len));
}

/* The one answer is a NAK at @p psn, and the connection is over. */
static void
refused(uint32_t psn, uint8_t code)
{
	struct fx_sent sent = fx_tx_one(&end);

	expect(sent, ACK, psn, 0);
	assert_int_equal(sent.syndrome, NAK(code));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_int_equal(end.async_event[0].kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
}

UNIT_RULE(write__places_and_acknowledges)
{
	arrives(WRITE_FIRST, PSN, MTU, base + 8, 2 * MTU + 5);
	arrives(WRITE_MID, PSN + 1, MTU, 0, 0);
	arrives(WRITE_LAST, PSN + 2, 5, 0, 0);
	assert_int_equal(end.memory[8], (uint8_t)PSN);
	assert_int_equal(end.memory[8 + MTU], (uint8_t)(PSN + 1));
	assert_int_equal(end.memory[8 + 2 * MTU + 4], (uint8_t)(PSN + 2 + 4));
	assert_int_equal(end.memory[8 + 2 * MTU + 5], byte_at(8 + 2 * MTU + 5));
	expect(fx_tx_one(&end), ACK, PSN + 2, 0);
	assert_int_equal(qp->rx.msn, 1);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/* One READ more than was agreed upon is the last of a burst of WRITEs and READs: what was before it is done. */
UNIT_RULE(requests__that_come_together_are_executed_in_order)
{
	static const uint8_t opcode[] = { WRITE_ONLY, WRITE_ONLY, READ, READ, WRITE_ONLY, READ,
		READ };
	struct rte_mbuf *pkts[RTE_DIM(opcode)];
	const struct fx_sent *sent;
	uint16_t left;

	for (uint32_t i = 0; i < RTE_DIM(opcode); i++) {
		const struct fx_target target = { base + 64 * i, rkey, 8 };

		pkts[i] = fx_about(
				&peer, opcode[i], PSN + i, opcode[i] == READ ? 0 : 8, &target, 0);
	}
	roce_engine_lock(end.engine);
	left = roce_engine_rx(end.engine, pkts, RTE_DIM(opcode), end.now);
	roce_engine_unlock(end.engine);
	assert_int_equal(left, 0);
	for (uint32_t i = 0; i < RTE_DIM(opcode); i++)
		assert_int_equal(end.memory[64 * i],
				opcode[i] == READ ? byte_at(64 * i) : (uint8_t)(PSN + i));
	sent = fx_tx_exactly(&end, 4);
	expect(sent[0], RSP_ONLY, PSN + 2, 8);
	expect(sent[1], RSP_ONLY, PSN + 3, 8);
	expect(sent[2], RSP_ONLY, PSN + 5, 8);
	expect(sent[3], ACK, PSN + 6, 0);
	assert_int_equal(sent[3].syndrome, NAK(ROCE_NAK_INVALID_REQUEST));
	assert_int_equal(sent[2].first, byte_at(64 * 5));
}

/* The lengths of the packets must add up to the announced one; each rule ends the connection. */
UNIT_RULE(write__lengths_must_add_up)
{
	static const struct {
		uint8_t opcode[2];
		uint32_t payload[2], length;
	} rule[] = {
		{ { WRITE_ONLY }, { 5 }, 6 },
		{ { WRITE_ONLY }, { 5 }, 4 },
		{ { WRITE_ONLY }, { 0 }, 1 },
		{ { WRITE_ONLY }, { 4 }, UINT32_MAX },
		{ { WRITE_FIRST }, { MTU }, MTU },
		{ { WRITE_FIRST }, { MTU - 4 }, 2 * MTU },
		{ { WRITE_FIRST, WRITE_LAST }, { MTU, 5 }, MTU + 6 },
		{ { WRITE_FIRST, WRITE_LAST }, { MTU, 5 }, MTU + 4 },
		{ { WRITE_FIRST, WRITE_MID }, { MTU, MTU }, 2 * MTU },
		{ { WRITE_FIRST, WRITE_FIRST }, { MTU, MTU }, 3 * MTU },
		{ { WRITE_FIRST, SEND }, { MTU, 4 }, 3 * MTU },
		{ { WRITE_FIRST, READ }, { MTU, 0 }, 3 * MTU },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		bool second = rule[i].payload[0] == MTU && rule[i].length > MTU;

		arrives(rule[i].opcode[0], PSN, rule[i].payload[0], base, rule[i].length);
		if (second)
			arrives(rule[i].opcode[1], PSN + 1, rule[i].payload[1], base, 4);
		refused(PSN + second, ROCE_NAK_INVALID_REQUEST);
		assert_int_equal(teardown(state), 0);
		setup(state);
	}
}

/*
 * Key, bounds, rights, zone; nothing at all needs none of them.
 *
 * Proves: rc.R6
 */
UNIT_RULE(memory__is_judged)
{
	static const uint8_t opcodes[] = { WRITE_ONLY, READ, FADD };
	static const struct {
		int64_t offset;
		uint32_t key_xor;
	} rule[] = { { 0, 1 }, { 0, 0x100 }, { FX_MEMORY, 0 }, { FX_MEMORY - 0, 0 }, { -8, 0 },
		{ INT64_MAX - 7, 0 } };

	for (size_t o = 0; o < RTE_DIM(opcodes); o++) {
		for (size_t i = 0; i < RTE_DIM(rule); i++) {
			uint32_t payload = opcodes[o] == WRITE_ONLY ? 8 : 0;

			rkey ^= rule[i].key_xor;
			arrives(opcodes[o], PSN, payload, base + (uint64_t)rule[i].offset, 8);
			refused(PSN, ROCE_NAK_REMOTE_ACCESS);
			assert_int_equal(fx_stats(&end)->resp_remote_access_errors, 1);
			assert_int_equal(teardown(state), 0);
			setup(state);
		}
	}
	rkey = 0;
	arrives(WRITE_ONLY, PSN, 0, 12345, 0);
	expect(fx_tx_one(&end), ACK, PSN, 0);
	arrives(READ, PSN + 1, 0, 12345, 0);
	expect(fx_tx_one(&end), RSP_ONLY, PSN + 1, 0);
}

/* Proves: rc.R6 */
UNIT_RULE(rights__are_judged)
{
	static const struct {
		uint8_t opcode;
		unsigned int right;
	} rule[] = { { WRITE_ONLY, IBV_ACCESS_REMOTE_WRITE }, { READ, IBV_ACCESS_REMOTE_READ },
		{ FADD, IBV_ACCESS_REMOTE_ATOMIC } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint32_t payload = rule[i].opcode == WRITE_ONLY ? 8 : 0;
		struct roce_mr *other = fx_mr(end.pd, base, 64, FX_ALL & ~rule[i].right);

		rkey = roce_mr_key(other);
		arrives(rule[i].opcode, PSN, payload, base, 8);
		refused(PSN, ROCE_NAK_REMOTE_ACCESS);
		roce_mr_destroy(other);
		assert_int_equal(teardown(state), 0);
		setup(state);
	}
}

/* Proves: rc.R16 */
UNIT_RULE(write_imm__needs_a_receive)
{
	struct fx_sent sent;

	arrives(WRITE_IMM, PSN, 8, base, 8);
	sent = fx_tx_one(&end);
	assert_int_equal(sent.syndrome & ROCE_AETH_KIND_MASK, ROCE_AETH_RNR);
	assert_int_not_equal(end.memory[0], (uint8_t)PSN);
	fx_fill_srq(&end, 1, 0);
	arrives(WRITE_IMM, PSN, 8, base, 8);
	expect(fx_tx_one(&end), ACK, PSN, 0);
	assert_int_equal(end.memory[0], (uint8_t)PSN);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 8);
}

UNIT_RULE(read__is_answered_in_packets)
{
	const struct fx_sent *sent;

	arrives(READ, PSN, 0, base + 3, 3 * MTU + 1);
	sent = fx_tx_exactly(&end, 4);
	expect(sent[0], RSP_FIRST, PSN, MTU);
	expect(sent[1], RSP_MID, PSN + 1, MTU);
	expect(sent[2], RSP_MID, PSN + 2, MTU);
	expect(sent[3], RSP_LAST, PSN + 3, 1);
	assert_int_equal(sent[0].syndrome, OK);
	assert_int_equal(sent[3].msn, 1);
	assert_int_equal(sent[0].first, end.memory[3]);
	assert_int_equal(sent[3].first, end.memory[3 + 3 * MTU]);
	/* The next request stands behind the answer. */
	arrives(WRITE_ONLY, PSN + 4, 1, base, 1);
	expect(fx_tx_one(&end), ACK, PSN + 4, 0);
}

/* An acknowledgement sent ahead of the answer would say that the answer was given. */
UNIT_RULE(read__is_answered_before_what_follows)
{
	const struct fx_sent *sent;

	arrives(WRITE_ONLY, PSN, 1, base, 1);
	arrives(READ, PSN + 1, 0, base, MTU + 1);
	arrives(WRITE_ONLY, PSN + 3, 1, base, 1);
	sent = fx_tx_exactly(&end, 3);
	expect(sent[0], RSP_FIRST, PSN + 1, MTU);
	expect(sent[1], RSP_LAST, PSN + 2, 1);
	expect(sent[2], ACK, PSN + 3, 0);
}

UNIT_RULE(read__acknowledges_what_was_before)
{
	arrives(WRITE_ONLY, PSN, 1, base, 1);
	arrives(READ, PSN + 1, 0, base, 1);
	expect(fx_tx_one(&end), RSP_ONLY, PSN + 1, 1);
}

/* The NAK that ends the connection comes behind the answers that are due. */
UNIT_RULE(read__is_answered_before_the_end)
{
	const struct fx_sent *sent;

	arrives(READ, PSN, 0, base, 2 * MTU);
	arrives(WRITE_ONLY, PSN + 2, 8, base + FX_MEMORY, 8);
	/* No request is executed any more. */
	arrives(WRITE_ONLY, PSN + 2, 1, base, 1);
	sent = fx_tx_exactly(&end, 3);
	expect(sent[0], RSP_FIRST, PSN, MTU);
	expect(sent[1], RSP_LAST, PSN + 1, MTU);
	expect(sent[2], ACK, PSN + 2, 0);
	assert_int_equal(sent[2].syndrome, NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/*
 * A duplicate READ is answered again, from wherever it asks.
 *
 * Proves: rc.R1
 */
UNIT_RULE(read__again_from_the_middle)
{
	const struct fx_sent *sent;
	unsigned int n;

	arrives(READ, PSN, 0, base, 3 * MTU);
	(void)fx_tx_all(&end, &n);
	arrives(READ, PSN + 1, 0, base + MTU, 2 * MTU);
	sent = fx_tx_exactly(&end, 2);
	expect(sent[0], RSP_FIRST, PSN + 1, MTU);
	expect(sent[1], RSP_LAST, PSN + 2, MTU);
	assert_int_equal(sent[0].first, end.memory[MTU]);
	/* A part that ends before the first request did; then more than that, which is refused for ever. */
	arrives(READ, PSN + 1, 0, base + MTU, MTU);
	expect(fx_tx_one(&end), IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN + 1, MTU);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	arrives(READ, PSN + 1, 0, base + MTU, 3 * MTU);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* Proves: rc.R13 */
UNIT_RULE(atomic__is_answered_again_and_not_done_again)
{
	uint64_t *word = (uint64_t *)(uintptr_t)base;

	*word = 10;
	arrives(FADD, PSN, 0, base, 5);
	expect(fx_tx_one(&end), ATOMIC_ACK, PSN, 0);
	assert_int_equal(*word, 15);
	for (int i = 0; i < 3; i++) {
		arrives(FADD, PSN, 0, base, 5);
		expect(fx_tx_one(&end), ATOMIC_ACK, PSN, 0);
		assert_int_equal(*word, 15);
	}
	assert_int_equal(qp->rx.msn, 1);
}

/* An answer of 2^24 PSNs ago is still kept: it is not that of the newest one with this PSN. */
static uint64_t
original_sent(void)
{
	struct roce_atomicacketh eth;
	struct rte_mbuf *m[2];
	struct roce_pkt pkt;

	assert_int_equal(fx_take(&end, m, 2), 1);
	assert_int_equal(roce_frame_parse(m[0], &pkt), ROCE_FRAME_OK);
	assert_int_equal(pkt.opcode, ATOMIC_ACK);
	memcpy(&eth, pkt.bth + pkt.op->ext_off, sizeof(eth));
	rte_pktmbuf_free(m[0]);
	return rte_be_to_cpu_64(eth.original);
}

UNIT_RULE(atomic__of_the_last_circle_is_not_the_answer)
{
	uint64_t *word = (uint64_t *)(uintptr_t)base;

	*word = 10;
	arrives(FADD, PSN, 0, base, 5);
	assert_int_equal(original_sent(), 10);
	/* 2^24 - 1 packets without READ or atomic. */
	qp->rx.epsn = PSN;
	arrives(FADD, PSN, 0, base, 7);
	assert_int_equal(original_sent(), 15);
	assert_int_equal(*word, 22);
	arrives(FADD, PSN, 0, base, 7);
	assert_int_equal(original_sent(), 15);
}

UNIT_RULE(read__of_the_last_circle_is_not_asked_for)
{
	arrives(READ, PSN, 0, base, 3 * MTU);
	fx_tx_drop(&end);
	qp->rx.epsn = PSN + 1; /* nearly 2^24 packets without READ or atomic */
	arrives(READ, PSN + 1, 0, base, MTU);
	expect(fx_tx_one(&end), RSP_ONLY, PSN + 1, MTU);
	arrives(READ, PSN + 1, 0, base, MTU);
	expect(fx_tx_one(&end), RSP_ONLY, PSN + 1, MTU);
}

/* The NAK that the refusal of a repeated READ is; the connection goes on. */
static void
refused_again(uint32_t psn)
{
	struct fx_sent sent = fx_tx_one(&end);

	expect(sent, ACK, psn, 0);
	assert_int_equal(sent.syndrome, NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
}

/* The network repeats a request that is being answered, and the memory goes away: the peer hears of it in its place. */
UNIT_RULE(read__repeated_while_answered_is_refused_where_the_peer_is)
{
	struct rte_mbuf *m[2];

	arrives(READ, PSN, 0, base, 3 * MTU);
	assert_int_equal(fx_take(&end, m, 2), 1);
	rte_pktmbuf_free(m[0]);
	arrives(READ, PSN, 0, base, 3 * MTU);
	assert_int_equal(roce_mr_destroy(region), 0);
	refused_again(PSN);
	arrives(READ, PSN + 1, 0, base + MTU, 2 * MTU);
	refused_again(PSN + 1);
}

/* Only as many as the connection allows are remembered; what is older stays unanswered. */
UNIT_RULE(atomic__too_old_is_not_answered)
{
	for (uint32_t i = 0; i < DEPTH + 1; i++) {
		arrives(FADD, PSN + i, 0, base, 1);
		expect(fx_tx_one(&end), ATOMIC_ACK, PSN + i, 0);
	}
	arrives(FADD, PSN, 0, base, 1);
	fx_tx_none(&end);
	arrives(FADD, PSN + 1, 0, base, 1);
	expect(fx_tx_one(&end), ATOMIC_ACK, PSN + 1, 0);
}

UNIT_RULE(atomic__must_be_aligned)
{
	arrives(FADD, PSN, 0, base + 4, 1);
	refused(PSN, ROCE_NAK_INVALID_REQUEST);
}

/* One more than agreed upon is a violation, as long as the oldest was never answered. */
UNIT_RULE(depth__is_kept)
{
	const struct fx_sent *sent;

	for (uint32_t i = 0; i <= DEPTH; i++)
		arrives(READ, PSN + i, 0, base, 1);
	sent = fx_tx_exactly(&end, DEPTH + 1);
	for (uint32_t i = 0; i < DEPTH; i++)
		expect(sent[i], RSP_ONLY, PSN + i, 1);
	assert_int_equal(sent[DEPTH].syndrome, NAK(ROCE_NAK_INVALID_REQUEST));
}

/* A late copy of an answered READ must not stand in the way of a new one. */
UNIT_RULE(depth__does_not_count_what_is_repeated)
{
	const struct fx_sent *sent;
	unsigned int n;

	for (uint32_t i = 0; i < DEPTH; i++)
		arrives(READ, PSN + i, 0, base, 1);
	(void)fx_tx_all(&end, &n);
	arrives(READ, PSN, 0, base, 1);
	arrives(READ, PSN + DEPTH, 0, base, 1);
	sent = fx_tx_exactly(&end, 1);
	expect(sent[0], RSP_ONLY, PSN + DEPTH, 1);
}

/*
 * The region ends between the request and its answer.
 *
 * Proves: rc.R21
 */
UNIT_RULE(read__of_memory_that_goes_away)
{
	struct roce_mr *brief = fx_mr(end.pd, base, 64, FX_ALL);

	rkey = roce_mr_key(brief);
	arrives(READ, PSN, 0, base, 64);
	roce_mr_destroy(brief);
	refused(PSN, ROCE_NAK_REMOTE_ACCESS);
}
