/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of queue pairs on purpose: messages that are refused though there is a receive. */

#include "fixture.h"
#include "fixture_rdma.h"
#include "queue/fault_dice.h"
#include "rules.h"

#define ALWAYS   (UINT64_C(1) << 32)
#define QUARTER  (ALWAYS / 4)
#define MESSAGES 64u
#define LEN      64u

static struct fx_end end;
static struct roce_qp *qp;
static struct fx_peer peer;

static void
open_end(struct roce_fault_config faults)
{
	const struct fx_options options = { .faults = faults };

	fx_end_open(&end, 1, &options);
	qp = fx_played_qp(&end, &peer);
}

static int
teardown(void **state)
{
	if (end.domain != NULL)
		fx_end_close(&end);
	return fx_left();
}

/* A packet of the peer. @return was it answered with an RNR NAK? Else it is acknowledged. */
static bool
refused(uint8_t opcode, uint32_t psn, uint32_t len)
{
	struct fx_sent answer;

	fx_rx_request(&end, &peer, opcode, psn, len, FX_ACKREQ);
	answer = fx_tx_one(&end);
	assert_fields(answer, (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (psn, psn));
	if ((answer.syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK)
		return false;
	/* The timer that was agreed upon. */
	assert_int_equal(answer.syndrome, FX_RNR(12));
	return true;
}

/* Messages, each sent until it arrives; bit i: message i was refused at first. @p late: receives come after the first try. */
static uint64_t
fates(uint64_t seed, unsigned int others, bool late)
{
	uint64_t mask = 0;

	open_end((struct roce_fault_config){ .seed = seed, .rnr = QUARTER });
	for (unsigned int i = 0; i < others; i++)
		qp = fx_played_qp(&end, &peer);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const uint32_t psn = FX_RQ_PSN + i;

		if (late)
			assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN));
		fx_fill_srq(&end, 1, LEN);
		if (!refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN))
			continue;
		mask |= UINT64_C(1) << i;
		while (refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN))
			;
	}
	assert_int_equal(fx_stats(&end)->rx_send_requests, MESSAGES);
	assert_int_equal(fx_stats(&end)->out_of_buffer, late ? MESSAGES : 0);
	assert_true(fx_stats(&end)->injected_rnr_naks >= (uint64_t)__builtin_popcountll(mask));
	fx_end_close(&end);
	return mask;
}

/* Which messages are refused is a function of the seed, of the queue pair and of the order of messages; no time has a say. */
UNIT_RULE_IN(rnr__falls_by_seed_and_queue_pair, NULL, teardown)
{
	const uint64_t mask = fates(1, 0, false);

	assert_in_range(__builtin_popcountll(mask), MESSAGES / 8, MESSAGES * 3 / 8);
	assert_true(fates(1, 0, false) == mask);
	assert_true(fates(1, 0, true) == mask);
	assert_true(fates(2, 0, false) != mask);
	assert_true(fates(1, 1, false) != mask);
}

/* The receive stays where it is, and the next message has it; silence as behind a queue that is empty. */
UNIT_RULE_IN(rnr__takes_no_receive, NULL, teardown)
{
	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	fx_fill_srq(&end, 1, LEN);
	assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
	fx_expect_counts(end.srq, 256, 1, 1);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + 1, LEN, FX_ACKREQ);
	fx_tx_none(&end);
	assert_fields(*fx_stats(&end), (injected_rnr_naks, 1), (rnr_nak_sent, 1),
			(out_of_buffer, 0));
}

/* Once begun, a message is not refused any more. */
UNIT_RULE_IN(rnr__is_for_first_packets, NULL, teardown)
{
	open_end((struct roce_fault_config){ .seed = 3, .rnr = QUARTER });
	for (uint32_t i = 0; i < 3 * MESSAGES; i += 3) {
		fx_fill_srq(&end, 1, 3 * FX_MTU);
		while (refused(IBV_OPCODE_RC_SEND_FIRST, FX_RQ_PSN + i, FX_MTU))
			;
		assert_false(refused(IBV_OPCODE_RC_SEND_MIDDLE, FX_RQ_PSN + i + 1, FX_MTU));
		assert_false(refused(IBV_OPCODE_RC_SEND_LAST, FX_RQ_PSN + i + 2, 1));
	}
	assert_true(fx_stats(&end)->injected_rnr_naks > 0);
}

/* A request of the peer about this end's memory. */
static bool
write_refused(uint8_t opcode, uint32_t psn, const struct fx_target *target)
{
	fx_rx(&end, fx_about(&peer, opcode, psn, target->length, target, FX_ACKREQ));
	return fx_tx_one(&end).syndrome == FX_RNR(12);
}

/* A WRITE takes a receive for its immediate data alone. */
UNIT_RULE_IN(rnr__is_for_what_takes_a_receive, NULL, teardown)
{
	struct fx_target target = { .length = 8 };

	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	fx_fill_srq(&end, 1, LEN);
	target.va = (uintptr_t)end.memory;
	target.rkey = roce_mr_key(fx_mr(end.pd, target.va, FX_MEMORY, FX_ALL));
	assert_false(write_refused(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN, &target));
	assert_true(write_refused(
			IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, FX_RQ_PSN + 1, &target));
	fx_expect_counts(end.srq, 256, 1, 1);
}

/* Other checks where a receive is taken begin and end, and the dice are thrown all the same. */
UNIT_RULE_IN(rnr__goes_on_behind_watermarks, NULL, teardown)
{
	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	roce_qp_set_watermarks(qp, 5, 6);
	roce_qp_set_watermarks(qp, ROCE_HIGH_NONE, ROCE_HIGH_NONE);
	fx_fill_srq(&end, 1, LEN);
	assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
}

/* Without faults the fast path has every message. */
UNIT_RULE_IN(rnr__off_checks_nothing, NULL, teardown)
{
	open_end((struct roce_fault_config){ .seed = 1 });
	assert_int_equal(qp->rx.checks, 0);
	fx_fill_srq(&end, 1, LEN);
	assert_false(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
}
