/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder, validation: sequence, opcode order, length, resources (IBTA Vol 1, 9.7.4.1). */

#include "responder/resp.h"
#include "played_scene.h"
#include "send_opcodes.h"

#define EPSN FX_RQ_PSN
#define MTU  FX_MTU

static int
setup(void **state)
{
	open_ordinary_scene();
	fx_fill_srq(&end, 200, 3 * MTU);
	return 0;
}

static enum roce_verdict
judge(uint8_t opcode, uint32_t psn, uint32_t len)
{
	const struct roce_pkt pkt = {
		.op = &roce_opcode[opcode],
		.opcode = opcode,
		.psn = psn & ROCE_PSN_MASK,
		.payload_len = len,
	};

	return roce_resp_check(qp, &pkt, pkt.op);
}

/* As if the first packet of a message had come already. */
static void
in_a_message(bool yes)
{
	qp->rx.verb = yes ? ROCE_VERB_SEND : ROCE_VERB_NONE;
	if (yes && !qp->rx.holding)
		qp->rx.holding = roce_srq_take(qp->rx.rq, qp->rx.recv);
	if (!yes && qp->rx.holding) {
		qp->rx.holding = false;
		roce_srq_reap_silent(qp->rx.rq, 1);
	}
	qp->rx.got = yes ? MTU : 0;
}

/* Half the circle behind the expected PSN is old, half is ahead; across the wrap too. */
UNIT_RULE(check__psn_places_the_packet)
{
	static const uint32_t epsn[] = { 0, 1, 0x7fffff, 0x800000, 0xffffff, EPSN };
	static const struct {
		uint32_t ahead;
		enum roce_verdict want;
	} rule[] = {
		{ 0, ROCE_ACCEPT },
		{ 1, ROCE_GAP },
		{ 2, ROCE_GAP },
		{ 0x7fffff, ROCE_GAP },
		{ 0x800000, ROCE_DUPLICATE },
		{ 0xfffffe, ROCE_DUPLICATE },
		{ 0xffffff, ROCE_DUPLICATE },
	};

	for (size_t e = 0; e < RTE_DIM(epsn); e++) {
		for (size_t i = 0; i < RTE_DIM(rule); i++) {
			qp->rx.epsn = epsn[e];
			qp->rx.nak_sent = false;
			assert_int_equal(judge(ONLY, epsn[e] + rule[i].ahead, 0), rule[i].want);
			in_a_message(false);
		}
	}
}

/* Sequence comes first: a duplicate is answered and a gap reported whatever else is wrong with the packet. */
UNIT_RULE(check__psn_is_judged_before_all_else)
{
	assert_int_equal(judge(MIDDLE, EPSN - 1, 3), ROCE_DUPLICATE);
	assert_int_equal(judge(IBV_OPCODE_RC_RDMA_WRITE_FIRST, EPSN - 1, 3), ROCE_DUPLICATE);
	assert_int_equal(judge(LAST, EPSN + 1, MTU + 1), ROCE_GAP);
}

/* A gap is reported once; until the expected packet comes everything ahead is dropped. */
UNIT_RULE(check__gap_is_reported_once)
{
	assert_int_equal(judge(ONLY, EPSN + 1, 0), ROCE_GAP);
	assert_int_equal(judge(ONLY, EPSN + 2, 0), ROCE_DROP);
	assert_int_equal(judge(ONLY, EPSN + 1, 0), ROCE_DROP);
	assert_int_equal(judge(ONLY, EPSN - 1, 0), ROCE_DUPLICATE);
	assert_int_equal(judge(ONLY, EPSN + 3, 0), ROCE_DROP);
	assert_int_equal(judge(ONLY, EPSN, 0), ROCE_ACCEPT);
	in_a_message(false);
	assert_int_equal(judge(ONLY, EPSN + 1, 0), ROCE_GAP);
}

/* The opcodes that may begin a message, and those that may continue one. */
UNIT_RULE(check__opcode_order)
{
	static const struct {
		bool in_message;
		uint8_t opcode;
		uint32_t len;
		enum roce_verdict want;
	} rule[] = {
		{ false, FIRST, MTU, ROCE_ACCEPT },
		{ false, ONLY, 1, ROCE_ACCEPT },
		{ false, ONLY_IMM, 1, ROCE_ACCEPT },
		{ false, MIDDLE, MTU, ROCE_INVALID },
		{ false, LAST, 1, ROCE_INVALID },
		{ false, LAST_IMM, 1, ROCE_INVALID },
		{ true, FIRST, MTU, ROCE_INVALID },
		{ true, ONLY, 1, ROCE_INVALID },
		{ true, ONLY_IMM, 1, ROCE_INVALID },
		{ true, MIDDLE, MTU, ROCE_ACCEPT },
		{ true, LAST, 1, ROCE_ACCEPT },
		{ true, LAST_IMM, 1, ROCE_ACCEPT },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		in_a_message(rule[i].in_message);
		assert_int_equal(judge(rule[i].opcode, EPSN, rule[i].len), rule[i].want);
		in_a_message(false);
	}
}

/*
 * A first or middle packet carries exactly one path MTU, a last one at least a byte, none more than the MTU.
 *
 * Proves: rc.R23
 */
UNIT_RULE(check__payload_length)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
		enum roce_verdict want;
	} rule[] = {
		{ FIRST, MTU, ROCE_ACCEPT },
		{ FIRST, MTU - 1, ROCE_INVALID },
		{ FIRST, MTU + 1, ROCE_INVALID },
		{ FIRST, 0, ROCE_INVALID },
		{ MIDDLE, MTU, ROCE_ACCEPT },
		{ MIDDLE, MTU - 1, ROCE_INVALID },
		{ MIDDLE, MTU + 1, ROCE_INVALID },
		{ MIDDLE, 0, ROCE_INVALID },
		{ LAST, 0, ROCE_INVALID },
		{ LAST, 1, ROCE_ACCEPT },
		{ LAST, MTU, ROCE_ACCEPT },
		{ LAST, MTU + 1, ROCE_INVALID },
		{ LAST_IMM, 0, ROCE_INVALID },
		{ LAST_IMM, 1, ROCE_ACCEPT },
		{ ONLY, 0, ROCE_ACCEPT },
		{ ONLY, 1, ROCE_ACCEPT },
		{ ONLY, MTU, ROCE_ACCEPT },
		{ ONLY, MTU + 1, ROCE_INVALID },
		{ ONLY_IMM, 0, ROCE_ACCEPT },
		{ ONLY_IMM, MTU, ROCE_ACCEPT },
		{ ONLY_IMM, MTU + 1, ROCE_INVALID },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		in_a_message(!(roce_opcode[rule[i].opcode].flags & ROCE_OP_START));
		assert_int_equal(judge(rule[i].opcode, EPSN, rule[i].len), rule[i].want);
		in_a_message(false);
	}
}

/* Every SEND is served: plain, with immediate data, with invalidate. Datagrams never get here. */
UNIT_RULE(check__verbs)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_info *op = &roce_opcode[opcode];

		if (!(op->flags & ROCE_OP_REQUEST) || op->verb != ROCE_VERB_SEND ||
				(op->flags & ROCE_OP_DETH))
			continue;
		in_a_message(!(op->flags & ROCE_OP_START));
		assert_int_equal(judge((uint8_t)opcode, EPSN, op->flags & ROCE_OP_END ? 8 : MTU),
				ROCE_ACCEPT);
		in_a_message(false);
	}
}

/* The first packet of a message takes a receive, no other does; what is refused takes none. */
UNIT_RULE(check__takes_one_receive_a_message)
{
	const uint32_t before = roce_srq_available(end.srq);

	assert_int_equal(judge(ONLY, EPSN - 1, 8), ROCE_DUPLICATE);
	assert_int_equal(judge(FIRST, EPSN, 8), ROCE_INVALID);
	assert_int_equal(judge(MIDDLE, EPSN, MTU), ROCE_INVALID);
	assert_int_equal(roce_srq_available(end.srq), before);
	assert_false(qp->rx.holding);

	assert_int_equal(judge(FIRST, EPSN, MTU), ROCE_ACCEPT);
	assert_int_equal(roce_srq_available(end.srq), before - 1);
	assert_true(qp->rx.holding);
	qp->rx.verb = ROCE_VERB_SEND;
	assert_int_equal(judge(MIDDLE, EPSN, MTU), ROCE_ACCEPT);
	assert_int_equal(judge(LAST, EPSN, 1), ROCE_ACCEPT);
	assert_int_equal(roce_srq_available(end.srq), before - 1);
	in_a_message(false);
}

/*
 * Without a receive the message must wait, and what follows it is dropped until it comes again.
 * Proves: srq_create.8
 */
UNIT_RULE(check__empty_queue_is_not_ready)
{
	while (roce_srq_take(end.srq, qp->rx.recv))
		roce_srq_reap_silent(end.srq, 1);
	assert_int_equal(judge(ONLY, EPSN, 8), ROCE_NOT_READY);
	assert_int_equal(judge(ONLY, EPSN + 1, 8), ROCE_DROP);
	assert_int_equal(judge(ONLY, EPSN, 8), ROCE_NOT_READY);
	assert_false(qp->rx.holding);
	fx_fill_srq(&end, 1, 64);
	assert_int_equal(judge(ONLY, EPSN, 8), ROCE_ACCEPT);
	in_a_message(false);
	/* The report is forgotten: a gap that comes now is a new one. */
	assert_int_equal(judge(ONLY, EPSN + 1, 8), ROCE_GAP);
}

/*
 * The receive bounds the message: to the byte, on its first packet and on every later one.
 * Proves: srq_post_recv.8
 */
UNIT_RULE(check__longer_than_the_receive)
{
	static const struct {
		uint32_t got;
		uint8_t opcode;
		uint32_t len;
		enum roce_verdict want;
	} rule[] = {
		{ 2 * MTU, MIDDLE, MTU, ROCE_ACCEPT },
		{ 2 * MTU, LAST, MTU, ROCE_ACCEPT },
		{ 2 * MTU + 1, MIDDLE, MTU, ROCE_TOO_LONG },
		{ 3 * MTU - 1, LAST, 1, ROCE_ACCEPT },
		{ 3 * MTU - 1, LAST, 2, ROCE_TOO_LONG },
		{ 3 * MTU, LAST, 1, ROCE_TOO_LONG },
		{ 3 * MTU, MIDDLE, MTU, ROCE_TOO_LONG },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		in_a_message(true);
		assert_int_equal(qp->rx.recv->length, 3 * MTU);
		qp->rx.got = rule[i].got;
		assert_int_equal(judge(rule[i].opcode, EPSN, rule[i].len), rule[i].want);
		in_a_message(false);
	}
	while (roce_srq_take(end.srq, qp->rx.recv))
		roce_srq_reap_silent(end.srq, 1);
	for (uint32_t len = 63; len <= 65; len++) {
		fx_fill_srq(&end, 1, 64);
		assert_int_equal(judge(ONLY, EPSN, len), len <= 64 ? ROCE_ACCEPT : ROCE_TOO_LONG);
		in_a_message(false);
	}
}

/* The hard watermark is judged when a message takes its receive, before the message itself is; it allows equality. */
UNIT_RULE(check__over_the_hard_watermark)
{
	static const struct {
		uint32_t soft, hard;
		uint32_t len;
		enum roce_verdict want;
	} rule[] = {
		{ ROCE_HIGH_NONE, ROCE_HIGH_NONE, MTU, ROCE_ACCEPT },
		{ ROCE_HIGH_NONE, 1, MTU, ROCE_ACCEPT },
		{ 0, ROCE_HIGH_NONE, MTU, ROCE_ACCEPT },
		{ 0, 1, MTU, ROCE_ACCEPT },
		{ ROCE_HIGH_NONE, 0, MTU, ROCE_OVER_HIGH },
		{ 0, 0, MTU, ROCE_OVER_HIGH },
		{ ROCE_HIGH_NONE, 0, 0, ROCE_OVER_HIGH },
		{ ROCE_HIGH_NONE, 0, MTU + 1, ROCE_INVALID },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		const uint32_t before = roce_srq_available(end.srq);
		const bool takes = rule[i].want != ROCE_INVALID;

		end.async_events = 0;
		roce_qp_set_high(qp, rule[i].soft, rule[i].hard);
		assert_int_equal(judge(ONLY, EPSN, rule[i].len), rule[i].want);
		assert_int_equal(end.async_events, rule[i].soft == 0);
		assert_int_equal(roce_srq_available(end.srq), before - takes);
		assert_int_equal(qp->rx.holding, takes);
		in_a_message(false);
	}
}

/* Longer than the receive, and one receive too many: this end's limit is what the peer hears of. */
UNIT_RULE(check__over_the_hard_watermark_comes_before_too_long)
{
	roce_qp_set_high(qp, ROCE_HIGH_NONE, 0);
	while (roce_srq_take(end.srq, qp->rx.recv))
		roce_srq_reap_silent(end.srq, 1);
	/* No receive is there to take, so none is one too many. */
	assert_int_equal(judge(ONLY, EPSN, 65), ROCE_NOT_READY);
	fx_fill_srq(&end, 1, 64);
	assert_int_equal(judge(ONLY, EPSN, 65), ROCE_OVER_HIGH);
	in_a_message(false);
}

/* Once begun, a message is not judged again: what it takes was judged when it took it. */
UNIT_RULE(check__over_the_hard_watermark_is_for_first_packets)
{
	in_a_message(true);
	/* Set behind the engine's back: as if a setting and this packet met. */
	qp->cold.hard_high = 0;
	qp->rx.checks = ROCE_CHECK_TAKE;
	assert_int_equal(judge(MIDDLE, EPSN, MTU), ROCE_ACCEPT);
	assert_int_equal(judge(LAST, EPSN, 1), ROCE_ACCEPT);
	in_a_message(false);
}
