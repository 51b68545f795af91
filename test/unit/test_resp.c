/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder, actions: what is placed, completed and answered. The peer is played by the test. */

#include <string.h>

#include "played_scene.h"
#include "send_opcodes.h"

#define PSN FX_RQ_PSN
#define MTU FX_MTU

static int
setup(void **state)
{
	open_ordinary_scene();
	return 0;
}

static void
arrive(uint8_t opcode, uint32_t number, uint32_t len, unsigned int flags)
{
	fx_rx_request(&end, &peer, opcode, roce_psn_add(PSN, number), len, flags);
}

static void
expect_answer(uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	const struct fx_sent sent = fx_tx_one(&end);

	assert_fields(sent, (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (dest_qp, 0x777),
			(syndrome, syndrome), (psn, psn & ROCE_PSN_MASK), (msn, msn));
}

/* A queue pair with a receive queue of its own of @p posted receives, in place of the ordinary one. */
static void
use_own_queue(uint32_t depth, uint32_t posted)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);

	roce_qp_destroy(qp);
	attr.srq = NULL;
	attr.max_recv_wr = depth;
	qp = fx_qp(&end, &attr);
	for (uint32_t i = 0; i < posted; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, 4 * MTU);

		assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
	}
	fx_up(qp, &connect);
	peer = fx_peer_of(qp, &connect);
}

/*
 * The payload lands in the segments of the receive in order, and nowhere else.
 * Proves: srq_post_recv.2 bug.S5
 */
UNIT_RULE(rx__places_the_message)
{
	struct roce_sge sge[3] = {
		{ (uintptr_t)end.memory + 100, 1000, end.key },
		{ (uintptr_t)end.memory + 5000, 1, end.key },
		{ (uintptr_t)end.memory + 9000, 4000, end.key },
	};
	const struct roce_recv_wr wr = { 7, sge, 3, 0 };

	memset(end.memory, 0xee, FX_MEMORY);
	assert_int_equal(roce_srq_post(end.srq, &wr), 0);
	arrive(FIRST, 0, MTU, 0);
	arrive(MIDDLE, 1, MTU, 0);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	arrive(LAST, 2, 5, 0);
	assert_fields(fx_event(end.recv_cq), (wr_id, 7), (kind, ROCE_EVENT_RECV),
			(status, IBV_WC_SUCCESS), (byte_len, 2 * MTU + 5), (flags, 0));
	for (uint32_t i = 0; i < 2 * MTU + 5; i++) {
		const uint8_t want = (uint8_t)(PSN + i / MTU + i % MTU);
		const uint32_t at = i < 1000 ? 100 + i : i == 1000 ? 5000 : 9000 + i - 1001;

		assert_int_equal(end.memory[at], want);
	}
	assert_int_equal(end.memory[99], 0xee);
	assert_int_equal(end.memory[1100], 0xee);
	assert_int_equal(end.memory[5001], 0xee);
	assert_int_equal(end.memory[9000 + 2 * MTU + 5 - 1001], 0xee);
	assert_fields(*fx_stats(&end), (rx_bytes, 2 * MTU + 5), (rx_send_requests, 1));
}

/* Immediate data arrives as it was on the wire; the wish for a wake-up is the last packet's. */
UNIT_RULE(rx__passes_on_immediate_data_and_solicitation)
{
	static const struct {
		uint8_t opcode;
		unsigned int flags;
		uint8_t want_flags;
		uint32_t want_imm;
	} rule[] = {
		{ ONLY, 0, 0, 0 },
		{ ONLY, FX_SOLICITED, ROCE_EVENT_SOLICITED, 0 },
		{ ONLY_IMM, 0, ROCE_EVENT_IMM, FX_IMM },
		{ ONLY_IMM, FX_SOLICITED, ROCE_EVENT_IMM | ROCE_EVENT_SOLICITED, FX_IMM },
	};
	struct roce_event event;

	fx_fill_srq(&end, RTE_DIM(rule) + 1, 4 * MTU);
	for (uint32_t i = 0; i < RTE_DIM(rule); i++) {
		arrive(rule[i].opcode, i, 3, rule[i].flags);
		event = fx_event(end.recv_cq);
		assert_fields(event, (flags, rule[i].want_flags), (imm, rule[i].want_imm),
				(byte_len, 3));
	}
	arrive(FIRST, 4, MTU, FX_SOLICITED);
	arrive(LAST_IMM, 5, 1, 0);
	assert_fields(fx_event(end.recv_cq), (flags, ROCE_EVENT_IMM), (imm, FX_IMM));
}

/* Only a packet that asks is acknowledged; one acknowledgement serves all that came before it. */
UNIT_RULE(rx__acknowledges_what_asks)
{
	fx_fill_srq(&end, 8, 4 * MTU);
	arrive(ONLY, 0, 8, 0);
	fx_tx_none(&end);
	arrive(ONLY, 1, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 1, 2);
	arrive(FIRST, 2, MTU, FX_ACKREQ);
	/* The message is not complete: its number does not count yet. */
	expect_answer(FX_ACK, PSN + 2, 2);
	arrive(LAST, 3, 1, FX_ACKREQ);
	arrive(ONLY, 4, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 4, 4);
	assert_int_equal(fx_stats(&end)->tx_acks, 3);
}

/*
 * A message and its completion are there when its acknowledgement leaves, in one burst or not.
 * Proves: srq_create.9
 */
UNIT_RULE(rx__takes_a_burst_in_order)
{
	struct rte_mbuf *burst[20];
	struct roce_event event[20];

	fx_fill_srq(&end, 20, 64);
	for (uint32_t i = 0; i < 20; i++)
		burst[i] = fx_request(&peer, ONLY, PSN + i, 8, i == 19 ? FX_ACKREQ : 0);
	roce_engine_lock(end.engine);
	assert_int_equal(roce_engine_rx(end.engine, burst, 20, end.now), 0);
	roce_engine_unlock(end.engine);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 20), 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(event[i].wr_id, i);
	expect_answer(FX_ACK, PSN + 19, 20);
}

/* One NAK for a gap, carrying the PSN that is missing; when that came, the next gap draws its own. */
UNIT_RULE(rx__reports_a_gap_once)
{
	fx_fill_srq(&end, 8, 64);
	arrive(ONLY, 0, 8, 0);
	arrive(ONLY, 2, 8, FX_ACKREQ);
	arrive(ONLY, 3, 8, FX_ACKREQ);
	expect_answer(FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + 1, 1);
	arrive(ONLY, 4, 8, FX_ACKREQ);
	fx_tx_none(&end);
	arrive(ONLY, 1, 8, 0);
	expect_answer(FX_ACK, PSN + 4, 5);
	arrive(ONLY, 6, 8, 0);
	expect_answer(FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + 5, 5);
	assert_int_equal(roce_cq_count(end.recv_cq), 5);
	assert_int_equal(fx_stats(&end)->out_of_sequence, 4);
}

/* The missing packet arrives before the NAK left: the NAK would be a lie. */
UNIT_RULE(rx__withdraws_a_nak_that_is_not_true_any_more)
{
	fx_fill_srq(&end, 8, 64);
	arrive(ONLY, 1, 8, 0);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 1, 2);
}

/* A duplicate is answered with the newest acknowledgement, takes no receive and touches no memory. */
UNIT_RULE(rx__answers_a_duplicate_and_does_not_execute_it)
{
	struct roce_event event[8];

	fx_fill_srq(&end, 3, 64);
	arrive(ONLY, 0, 8, 0);
	arrive(ONLY, 1, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 1, 2);
	memset(end.memory, 0xee, 64);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 1, 2);
	/* Also one that does not ask: the peer sent it again because it waits. */
	arrive(ONLY, 1, 8, 0);
	expect_answer(FX_ACK, PSN + 1, 2);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 8), 2);
	assert_int_equal(end.memory[0], 0xee);
	fx_expect_counts(end.srq, 256, 1, 1);
	assert_fields(*fx_stats(&end), (duplicate_request, 2), (rx_send_requests, 2));
}

/* A duplicate in the middle of a message does not disturb it. */
UNIT_RULE(rx__goes_on_with_a_message_after_a_duplicate)
{
	fx_fill_srq(&end, 2, 4 * MTU);
	arrive(FIRST, 0, MTU, 0);
	arrive(FIRST, 0, MTU, 0);
	arrive(MIDDLE, 1, MTU, 0);
	arrive(FIRST, 0, MTU, 0);
	arrive(LAST, 2, 9, FX_ACKREQ);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 2 * MTU + 9);
	expect_answer(FX_ACK, PSN + 2, 1);
	fx_expect_counts(end.srq, 256, 1, 1);
}

/*
 * No receive: NAK with the timer of the connection; nothing is lost, nothing executed, the message comes again.
 * Proves: srq_create.8
 */
UNIT_RULE(rx__is_not_ready_without_a_receive)
{
	arrive(ONLY, 0, 8, FX_ACKREQ);
	arrive(ONLY, 1, 8, FX_ACKREQ);
	expect_answer(FX_RNR(12), PSN, 0);
	assert_fields(*fx_stats(&end), (rnr_nak_sent, 1), (out_of_buffer, 1));
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_answer(FX_RNR(12), PSN, 0);
	fx_fill_srq(&end, 1, 64);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN, 1);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
}

/* A receive is wanted at the first packet only: once begun, a message needs no more. */
UNIT_RULE(rx__finishes_a_message_on_an_empty_queue)
{
	fx_fill_srq(&end, 1, 4 * MTU);
	arrive(FIRST, 0, MTU, 0);
	arrive(MIDDLE, 1, MTU, 0);
	arrive(LAST, 2, 1, FX_ACKREQ);
	expect_answer(FX_ACK, PSN + 2, 1);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 2 * MTU + 1);
}

struct offence {
	uint8_t opcode;
	uint32_t len;
	uint8_t nak;
	int event;  /* status of the receive; -1: none */
	int broken; /* status of the async event */
};

static void
expect_broken(const struct offence *o)
{
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_int_equal(end.async_events, 1);
	assert_fields(end.async_event[0], (kind, ROCE_ENGINE_ASYNC_QP_BROKEN), (status, o->broken));
	if (o->event >= 0)
		assert_int_equal(fx_event(end.recv_cq).status, o->event);
	else
		assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/* A request that the peer may not make ends the connection; the NAK with the reason leaves after the state changed. */
UNIT_RULE(rx__refuses_and_breaks)
{
	static const struct offence rule[] = {
		{ MIDDLE, MTU, ROCE_NAK_INVALID_REQUEST, -1, IBV_WC_REM_INV_REQ_ERR },
		{ FIRST, 8, ROCE_NAK_INVALID_REQUEST, -1, IBV_WC_REM_INV_REQ_ERR },
		{ IBV_OPCODE_RC_RDMA_WRITE_ONLY, 8, ROCE_NAK_INVALID_REQUEST, -1,
				IBV_WC_REM_INV_REQ_ERR },
		{ IBV_OPCODE_RC_RDMA_READ_REQUEST, 0, ROCE_NAK_INVALID_REQUEST, -1,
				IBV_WC_REM_INV_REQ_ERR },
		{ IBV_OPCODE_RC_COMPARE_SWAP, 0, ROCE_NAK_INVALID_REQUEST, -1,
				IBV_WC_REM_INV_REQ_ERR },
		{ ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, 8, ROCE_NAK_REMOTE_ACCESS,
				IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR },
		{ ONLY, 65, ROCE_NAK_INVALID_REQUEST, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		fx_fill_srq(&end, 1, 64);
		arrive(rule[i].opcode, 0, rule[i].len, FX_ACKREQ);
		expect_broken(&rule[i]);
		expect_answer(FX_NAK(rule[i].nak), PSN, 0);
		/* Broken is silent: neither this nor anything else is answered any more. */
		arrive(ONLY, 0, 8, FX_ACKREQ);
		fx_tx_none(&end);
		teardown(state);
		setup(state);
	}
}

/*
 * The memory of a receive was deregistered while it waited: judged again when the data is here.
 * Proves: srq_create.6 srq_post_recv.5
 */
UNIT_RULE(rx__judges_receive_memory_when_data_arrives)
{
	static const struct offence want = { 0, 0, 0, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_PROT_ERR };

	fx_fill_srq(&end, 1, 64);
	roce_mr_destroy(end.mr);
	memset(end.memory, 0xee, 64);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_broken(&want);
	expect_answer(FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), PSN, 0);
	assert_int_equal(end.memory[0], 0xee);
	assert_int_equal(fx_stats(&end)->resp_local_protection_error, 1);
}

/*
 * A receive of a message that breaks in the middle comes back flushed.
 * Proves: srq_post_recv.9
 */
UNIT_RULE(rx__flushes_the_held_receive_when_it_breaks)
{
	static const struct offence want = { 0, 0, 0, IBV_WC_WR_FLUSH_ERR, IBV_WC_REM_INV_REQ_ERR };

	fx_fill_srq(&end, 2, 4 * MTU);
	arrive(FIRST, 0, MTU, 0);
	arrive(FIRST, 1, MTU, 0);
	expect_broken(&want);
	expect_answer(FX_NAK(ROCE_NAK_INVALID_REQUEST), PSN + 1, 0);
	fx_expect_counts(end.srq, 256, 1, 1);
}

/*
 * An unreliable datagram is no request of a reliable connection, whatever its numbers say.
 *
 * Proves: rc.R24
 */
UNIT_RULE(rx__ignores_datagrams)
{
	fx_fill_srq(&end, 1, 64);
	arrive(IBV_OPCODE_UD_SEND_ONLY, 0, 8, FX_ACKREQ);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_tx_none(&end);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	expect_answer(FX_ACK, PSN, 1);
}

/* PSN and message number are 24 bits and go round. */
UNIT_RULE(rx__goes_round_at_2_24)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	connect.rq_psn = 0xfffffe;
	fx_to_reset(qp);
	fx_up(qp, &connect);
	fx_fill_srq(&end, 8, 64);
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t psn = roce_psn_add(0xfffffe, i);

		fx_rx_request(&end, &peer, ONLY, psn, 8, FX_ACKREQ);
		expect_answer(FX_ACK, psn, i + 1);
		/* The one before is a duplicate also across the wrap. */
		fx_rx_request(&end, &peer, ONLY, psn, 8, FX_ACKREQ);
		expect_answer(FX_ACK, psn, i + 1);
	}
	fx_rx_request(&end, &peer, ONLY, 3, 8, 0);
	expect_answer(FX_NAK(ROCE_NAK_PSN_SEQUENCE), 2, 4);
}

/* A queue of its own tells its receives by credit code; a shared one does not promise (31). */
UNIT_RULE(ack__carries_credits)
{
	static const struct {
		uint32_t posted;
		uint8_t code;
	} rule[] = { { 1, 0 }, { 2, 1 }, { 5, 4 }, { 6, 4 }, { 7, 5 }, { 13, 7 }, { 17, 8 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		use_own_queue(32, rule[i].posted);
		arrive(ONLY, 0, 8, FX_ACKREQ);
		expect_answer(rule[i].code, PSN, 1);
	}
}

/*
 * The limit that a requester reads is message number plus credits. In the middle of a message its number does
 * not count yet, so its receive, in use, must: else the limit steps back and the peer stops early.
 */
UNIT_RULE(ack__does_not_take_a_promise_back)
{
	use_own_queue(4, 4);
	arrive(FIRST, 0, MTU, FX_ACKREQ);
	expect_answer(ROCE_AETH_ACK | 4, PSN, 0);
	arrive(LAST, 1, 8, FX_ACKREQ);
	expect_answer(ROCE_AETH_ACK | 3, PSN + 1, 1);
}

/* Frames may run out; what is owed stays owed. */
UNIT_RULE(emit__waits_for_a_frame)
{
	static struct rte_mbuf *all[2000];
	unsigned int n = 0;

	fx_fill_srq(&end, 2, 64);
	arrive(ONLY, 0, 8, FX_ACKREQ);
	while ((all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	fx_tx_none(&end);
	assert_true(fx_stats(&end)->tx_no_mbuf > 0);
	rte_pktmbuf_free_bulk(all, n);
	expect_answer(FX_ACK, PSN, 1);
}
