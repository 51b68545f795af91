/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester of READs and atomics: what it asks for, and what it makes of the answers. */

#include <string.h>

#include "played_scene.h"

#define PSN        FX_SQ_PSN
#define MTU        FX_MTU
#define DEPTH      4
#define REMOTE     0x123456780ull
#define READ       IBV_OPCODE_RC_RDMA_READ_REQUEST
#define RSP_ONLY   IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
#define RSP_FIRST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID    IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST   IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define ATOMIC_ACK IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE
#define SEND       IBV_OPCODE_RC_SEND_ONLY
#define OK         (ROCE_AETH_ACK | ROCE_CREDIT_INVALID)

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_rd_atomic = DEPTH, .atomics = true });
	memset(end.memory, 0, FX_MEMORY);
	fx_tx_none(&end);
	return 0;
}

static void
post(uint8_t opcode, uint64_t wr_id, uint32_t len, uint8_t flags)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, len, end.key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = opcode,
		.flags = flags | ROCE_WR_SIGNALED,
		.remote_addr = REMOTE,
		.rkey = 0x99,
	};

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
}

static void
answer(uint8_t opcode, uint32_t psn, uint32_t len)
{
	fx_rx_response(&end, &peer, opcode, psn, len);
}

static void
expect_read(struct fx_sent sent, uint32_t psn, uint64_t va, uint32_t length)
{
	assert_fields(sent, (opcode, READ), (psn, psn), (va, va), (length, length));
}

static void
done(uint64_t wr_id, uint8_t status)
{
	struct roce_event event = fx_event(end.send_cq);

	assert_fields(event, (wr_id, wr_id), (status, status));
}

static void
nothing_is_done(void)
{
	assert_int_equal(roce_cq_count(end.send_cq), 0);
}

UNIT_RULE(read__is_one_frame_and_takes_the_psns_of_its_answer)
{
	const struct fx_sent *sent;

	post(IBV_WR_RDMA_READ, 1, 3 * MTU + 1, 0);
	post(IBV_WR_SEND, 2, 8, 0);
	sent = fx_tx_exactly(&end, 2);
	expect_read(sent[0], PSN, REMOTE, 3 * MTU + 1);
	assert_fields(sent[1], (opcode, SEND), (psn, PSN + 4));
}

UNIT_RULE(read__is_done_with_its_last_frame)
{
	post(IBV_WR_RDMA_READ, 1, 2 * MTU + 3, 0);
	(void)fx_tx_one(&end);
	answer(RSP_FIRST, PSN, MTU);
	answer(RSP_MID, PSN + 1, MTU);
	nothing_is_done();
	answer(RSP_LAST, PSN + 2, 3);
	done(1, IBV_WC_SUCCESS);
	assert_int_equal(end.memory[0], (uint8_t)PSN);
	assert_int_equal(end.memory[MTU], (uint8_t)(PSN + 1));
	assert_int_equal(end.memory[2 * MTU + 2], (uint8_t)(PSN + 4));
	assert_int_equal(end.memory[2 * MTU + 3], 0);
}

/* The answer to a READ acknowledges everything that was asked before it. */
UNIT_RULE(answer__acknowledges_what_was_before)
{
	struct roce_event event[3];

	post(IBV_WR_SEND, 1, 8, 0);
	post(IBV_WR_RDMA_WRITE, 2, 8, 0);
	post(IBV_WR_RDMA_READ, 3, 8, 0);
	fx_tx_drop(&end);
	answer(RSP_ONLY, PSN + 2, 8);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 3), 3);
	assert_int_equal(event[0].wr_id, 1);
	assert_int_equal(event[2].wr_id, 3);
}

/*
 * A frame of the answer is missing: the rest is asked for again, once, from there.
 *
 * Proves: rc.R1
 */
UNIT_RULE(answer__with_a_gap_is_asked_for_again)
{
	struct fx_sent sent;

	post(IBV_WR_RDMA_READ, 1, 4 * MTU, 0);
	(void)fx_tx_one(&end);
	answer(RSP_FIRST, PSN, MTU);
	answer(RSP_MID, PSN + 2, MTU);
	answer(RSP_LAST, PSN + 3, MTU);
	sent = fx_tx_one(&end);
	expect_read(sent, PSN + 1, REMOTE + MTU, 3 * MTU);
	assert_int_equal(fx_stats(&end)->implied_nak_seq_err, 1);
	/* A resumed answer may begin with FIRST, or with MIDDLE as Linux does it. */
	answer(RSP_MID, PSN + 1, MTU);
	answer(RSP_FIRST, PSN + 2, MTU);
	answer(RSP_LAST, PSN + 3, MTU);
	done(1, IBV_WC_SUCCESS);
	assert_int_equal(end.memory[MTU], (uint8_t)(PSN + 1));
}

/* Be silent for so long that the requester would almost speak again. @return frames it said meanwhile. */
static unsigned int
wait_almost(void)
{
	unsigned int n;

	(void)fx_run(&end, end.now + qp->tx.rto - 1, &n);
	return n;
}

/*
 * A peer that goes through with an answer after a gap (Linux's rxe does) has our question in its queue: asking again
 * meanwhile would only have it do all that once more.
 */
UNIT_RULE(answer__that_is_not_the_next_one_is_a_sign_of_life)
{
	unsigned int n;

	post(IBV_WR_RDMA_READ, 1, 60 * MTU, 0);
	(void)fx_tx_one(&end);
	answer(RSP_MID, PSN + 1, MTU);
	expect_read(fx_tx_one(&end), PSN, REMOTE, 60 * MTU);
	for (uint32_t i = 2; i < 60; i++) {
		assert_int_equal(wait_almost(), 0);
		answer(i < 59 ? RSP_MID : RSP_LAST, PSN + i, MTU);
		fx_tx_none(&end);
	}
	assert_fields(*fx_stats(&end), (early_retransmits, 0), (local_ack_timeout_err, 0));
	/* Silence is none. */
	(void)fx_run(&end, qp->tx.timeout_at, &n);
	assert_int_equal(n, 1);
}

/* But one that never says what is missing does not keep the requester for ever. */
UNIT_RULE(answers__that_never_help_end_it_all)
{
	unsigned int n, polls = 0;

	post(IBV_WR_RDMA_READ, 1, 3 * MTU, 0);
	(void)fx_tx_one(&end);
	while (roce_qp_state(qp) == ROCE_QP_RTS) {
		assert_true(polls++ < 10000);
		(void)fx_run(&end, end.now + FX_HZ / 1000, &n);
		answer(RSP_MID, PSN + 1, MTU);
	}
	done(1, IBV_WC_RETRY_EXC_ERR);
}

/*
 * Something behind the READ was acknowledged: its answer is lost (IBTA Vol 1, 9.7.5.1.1).
 *
 * Proves: rc.R2
 */
UNIT_RULE(acknowledge__behind_a_read_is_an_implied_nak)
{
	const struct fx_sent *sent;
	unsigned int n;

	post(IBV_WR_SEND, 1, 8, 0);
	post(IBV_WR_RDMA_READ, 2, 8, 0);
	post(IBV_WR_SEND, 3, 8, 0);
	(void)fx_tx_all(&end, &n);
	fx_rx_answer(&end, &peer, OK, PSN + 2);
	done(1, IBV_WC_SUCCESS);
	sent = fx_tx_exactly(&end, 2);
	expect_read(sent[0], PSN + 1, REMOTE, 8);
	assert_int_equal(sent[1].psn, PSN + 2);
	answer(RSP_ONLY, PSN + 1, 8);
	done(2, IBV_WC_SUCCESS);
	fx_rx_answer(&end, &peer, OK, PSN + 2);
	done(3, IBV_WC_SUCCESS);
}

/* Proves: rc.R2 */
UNIT_RULE(answer__of_a_lost_first_read_is_asked_for_again)
{
	const struct fx_sent *sent;
	unsigned int n;

	post(IBV_WR_RDMA_READ, 1, 8, 0);
	post(IBV_WR_RDMA_READ, 2, 8, 0);
	(void)fx_tx_all(&end, &n);
	answer(RSP_ONLY, PSN + 1, 8);
	nothing_is_done();
	sent = fx_tx_exactly(&end, 2);
	expect_read(sent[0], PSN, REMOTE, 8);
	expect_read(sent[1], PSN + 1, REMOTE, 8);
}

/* An answer that does not fit the request is dropped and counted; the timer does the rest. */
UNIT_RULE(answer__must_fit)
{
	static const struct {
		uint8_t opcode;
		uint32_t psn, len;
	} rule[] = {
		{ RSP_ONLY, PSN, MTU },
		{ RSP_LAST, PSN, 1 },
		{ RSP_FIRST, PSN, MTU - 1 },
		{ ATOMIC_ACK, PSN, 0 },
		{ RSP_FIRST, PSN - 1, MTU },
		{ RSP_FIRST, PSN + 2, MTU },
	};

	post(IBV_WR_RDMA_READ, 1, MTU + 1, 0);
	(void)fx_tx_one(&end);
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint64_t before = fx_stats(&end)->rx_ghost_acks;

		answer(rule[i].opcode, rule[i].psn, rule[i].len);
		assert_int_equal(fx_stats(&end)->rx_ghost_acks, before + 1);
		nothing_is_done();
		assert_int_equal(end.memory[0], 0);
	}
	answer(RSP_FIRST, PSN, MTU);
	answer(RSP_FIRST, PSN, MTU);
	answer(RSP_LAST, PSN + 1, 1);
	done(1, IBV_WC_SUCCESS);
	/* No request is open any more. */
	answer(RSP_LAST, PSN + 1, 1);
	nothing_is_done();
}

UNIT_RULE(atomic__tells_what_was_there)
{
	uint64_t original;

	post(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, 0);
	assert_int_equal(fx_tx_one(&end).opcode, IBV_OPCODE_RC_FETCH_ADD);
	answer(RSP_ONLY, PSN, 8);
	nothing_is_done();
	answer(ATOMIC_ACK, PSN, 0);
	done(1, IBV_WC_SUCCESS);
	memcpy(&original, end.memory, sizeof(original));
	assert_int_equal(original, FX_ORIGINAL);
}

/* No more than the peer agreed to; what follows waits behind, in order. */
UNIT_RULE(depth__is_kept)
{
	const struct fx_sent *sent;
	unsigned int n;

	for (uint32_t i = 0; i < DEPTH + 2; i++)
		post(IBV_WR_RDMA_READ, i, 8, 0);
	post(IBV_WR_SEND, 99, 8, 0);
	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, DEPTH);
	answer(RSP_ONLY, PSN, 8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 1);
	expect_read(sent[0], PSN + DEPTH, REMOTE, 8);
	answer(RSP_ONLY, PSN + 1, 8);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[1].opcode, SEND);
}

/*
 * A fenced request waits for the READs before it, another does not.
 *
 * Proves: rc.R5
 */
UNIT_RULE(fence__waits_for_reads)
{
	post(IBV_WR_RDMA_READ, 1, 2 * MTU, 0);
	post(IBV_WR_SEND, 2, 8, 0);
	post(IBV_WR_SEND, 3, 8, ROCE_WR_FENCE);
	assert_int_equal(fx_tx_drop(&end), 2);
	answer(RSP_FIRST, PSN, MTU);
	fx_tx_none(&end);
	answer(RSP_LAST, PSN + 1, MTU);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 3);
}

/* Credits count receives: what uses up none goes on without, and asks for the answer that a SEND behind it needs. */
UNIT_RULE(credits__are_for_what_uses_receives)
{
	const struct fx_sent *sent;

	post(IBV_WR_SEND, 1, 8, 0);
	(void)fx_tx_one(&end);
	/* Arrived, and no receive is left. */
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | roce_credit_encode(0), PSN, 1));
	for (uint32_t i = 0; i < 3; i++)
		post(IBV_WR_RDMA_WRITE, 2 + i, 8, 0);
	post(IBV_WR_RDMA_READ, 5, 8, 0);
	post(IBV_WR_RDMA_WRITE, 6, 8, 0);
	post(IBV_WR_SEND, 7, 8, 0);
	sent = fx_tx_exactly(&end, 5);
	for (uint32_t i = 0; i < 4; i++)
		assert_false(sent[i].ack_req);
	assert_true(sent[4].ack_req);
}

/* Proves: rc.R5 */
UNIT_RULE(fence__alone_waits_for_nothing)
{
	post(IBV_WR_SEND, 1, 8, ROCE_WR_FENCE);
	assert_int_equal(fx_tx_one(&end).psn, PSN);
}

UNIT_RULE(read__refused_by_the_peer)
{
	post(IBV_WR_RDMA_READ, 1, 8, 0);
	(void)fx_tx_one(&end);
	fx_rx_answer(&end, &peer, ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS, PSN);
	done(1, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* The local memory ended while the answer was on its way. */
UNIT_RULE(read__into_memory_that_goes_away)
{
	struct roce_sge sge = { (uintptr_t)end.memory, 64, 0 };
	struct roce_wr wr = { .wr_id = 5, .sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };
	struct roce_mr *brief = fx_mr(end.pd, (uintptr_t)end.memory, 64, IBV_ACCESS_LOCAL_WRITE);

	sge.lkey = roce_mr_key(brief);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	(void)fx_tx_one(&end);
	roce_mr_destroy(brief);
	answer(RSP_ONLY, PSN, 64);
	done(5, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(end.memory[0], 0);
}

UNIT_RULE(read__needs_memory_to_write_to)
{
	struct roce_sge sge = { (uintptr_t)end.memory, 64, 0 };
	struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };
	struct roce_mr *readable = fx_mr(end.pd, (uintptr_t)end.memory, 64, 0);

	sge.lkey = roce_mr_key(readable);
	assert_int_equal(roce_qp_post_send(qp, &wr), -EACCES);
}

/* An answer takes fewer than half of all PSNs, or nobody could tell what is behind and what is ahead. */
UNIT_RULE(read__of_two_gigabytes_is_too_long_for_small_packets)
{
	struct roce_mr *whole;
	struct roce_sge sge = { 0, ROCE_MSG_MAX, 0 };
	struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };

	fx_end_close(&end);
	open_scene(&(struct played){ .max_rd_atomic = DEPTH, .mtu = 256 });
	whole = fx_mr(end.pd, 0, 1ull << 40, IBV_ACCESS_LOCAL_WRITE);
	sge.lkey = roce_mr_key(whole);
	assert_int_equal(roce_qp_post_send(qp, &wr), -EMSGSIZE);
	sge.length = ROCE_READ_PACKETS_MAX * 256;
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	post(IBV_WR_SEND, 2, 8, 0);
	/* It fills the window: nothing else may leave before most of it is answered. */
	assert_int_equal(fx_tx_one(&end).length, sge.length);
	assert_fields(qp->tx, (psn, roce_psn_add(PSN, ROCE_READ_PACKETS_MAX)), (max, qp->tx.psn));
	assert_int_equal(fx_stats(&end)->retransmits, 0);
	fx_to_error(qp);
}
