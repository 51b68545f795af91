/* SPDX-License-Identifier: BSD-3-Clause */
/* Selective repeat of READs: answers that are missing are asked for, and no others. The clock is a variable; a tick is 1 ns. */

#include "requester/reorder.h"
#include "requester/repair.h"
#include "requester/rewind.h"
#include "repair_scene.h"

#define RSP_FIRST IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID   IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define RSP_ONLY  IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

/* An answer ahead of a missing one is placed, and only the READ that misses something is asked for again. */
UNIT_RULE(answer__that_comes_early_is_not_asked_for_again)
{
	struct fx_sent sent;

	read_packets(1, 0);
	read_packets(1, 1);
	read_packets(1, 2);
	answer(RSP_ONLY, 1);
	sent = fx_tx_one(&end);
	assert_fields(sent, (psn, FIRST), (opcode, IBV_OPCODE_RC_RDMA_READ_REQUEST),
			(length, SHORT));
	answer(RSP_ONLY, 2);
	fx_tx_none(&end);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	answer(RSP_ONLY, 0);
	assert_int_equal(roce_cq_count(end.send_cq), 3);
	assert_int_equal(end.memory[FX_MTU], (uint8_t)(FIRST + 1));
	assert_fields(qp->tx, (reads, 0), (una, FIRST + 3), (repairing, false));
}

/* Inside of an answer what is missing is asked for, and nothing that came early. */
UNIT_RULE(answer__is_asked_for_where_it_is_missing)
{
	struct fx_sent sent;

	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 2);
	sent = *asked_twice(1);
	assert_fields(sent, (psn, FIRST + 1), (length, FX_MTU), (va, 0x100000 + FX_MTU));
	answer(RSP_MID, 3);
	fx_tx_none(&end);
	/* A second gap does not wait for the first. */
	answer(RSP_MID, 6);
	sent = *asked_twice(1);
	assert_fields(sent, (psn, FIRST + 4), (length, 2 * FX_MTU), (va, 0x100000 + 4 * FX_MTU));
	answer(RSP_LAST, 7);
	fx_tx_none(&end);
	answer(RSP_MID, 1);
	answer(RSP_MID, 4);
	answer(RSP_MID, 5);
	assert_int_equal(roce_cq_count(end.send_cq), 1);
	assert_false(qp->tx.repairing);
}

/* The packets of a gap come in order: one that is overtaken by another is lost once more. */
UNIT_RULE(answer__that_is_lost_again_in_a_gap_is_asked_for_alone)
{
	struct fx_sent sent;

	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 5);
	sent = *asked_twice(1);
	assert_int_equal(sent.length, 4 * FX_MTU);
	peer.repeat = sent.repeat;
	answer(RSP_MID, 1);
	fx_tx_none(&end);
	answer(RSP_MID, 3);
	sent = *asked_twice(1);
	assert_fields(sent, (psn, FIRST + 2), (length, FX_MTU));
	answer(RSP_MID, 4);
	fx_tx_none(&end);
}

/* A gap that is asked for again by a probe is asked for once more only when the probe's answers show a loss. */
UNIT_RULE(answer__to_a_probe_is_waited_for)
{
	const struct fx_sent *probe;
	unsigned int n;

	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 5);
	assert_int_equal(asked_twice(1)->length, 4 * FX_MTU);
	probe = fx_run(&end, end.now + 60 * US, &n);
	assert_int_equal(n, 2);
	assert_int_equal(probe[0].length, 4 * FX_MTU);
	peer.repeat = probe[0].repeat;
	for (uint32_t i = 1; i < 5; i++) {
		answer(RSP_MID, i);
		fx_tx_none(&end);
	}
}

/* There is no place to remember it, but it comes behind all others: those that were not asked for yet are. */
UNIT_RULE(answer__too_far_ahead_is_dropped)
{
	struct fx_sent sent;

	read_packets(1, 0);
	read_packets(64, 0);
	read_packets(64, 0);
	answer(RSP_LAST, 64);
	EXPECT_SENT(0, 1, 1);
	answer(RSP_LAST, 128);
	sent = *asked_twice(1);
	assert_fields(sent, (psn, FIRST + 65), (length, 64 * FX_MTU));
	answer(RSP_LAST, 128);
	fx_tx_none(&end);
	/* Those that were, too, when it left after their repeats had arrived. */
	peer.repeat = 2;
	answer(RSP_LAST, 128);
	EXPECT_SENT(0, 1, 1);
}

/* When all goes again in order, a READ asks for its end as well: no answer behind it would show that it is missing. */
UNIT_RULE(answer__is_asked_for_to_its_end_where_all_goes_again)
{
	const struct fx_sent *again;
	unsigned int n;

	read_packets(8, 0);
	answer(RSP_MID, 3);
	assert_int_equal(asked_twice(1)->length, 3 * FX_MTU);
	roce_repair_forget(qp);
	roce_req_rewind(qp, qp->tx.una);
	again = fx_tx_all(&end, &n);
	assert_int_equal(n, 1);
	assert_int_equal(again[0].length, 8 * FX_MTU);
	/* Packets that are on the way by that are not asked for because another is missing. */
	answer(RSP_MID, 5);
	assert_int_equal(asked_twice(1)->psn, FIRST + 4);
}

/* The frames of a gap that come before it was asked for are not asked for. */
UNIT_RULE(answer__divides_a_gap)
{
	const struct fx_sent *sent;

	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 5);
	answer(RSP_MID, 2);
	sent = asked_twice(2);
	assert_fields(sent[0], (psn, FIRST + 1), (length, FX_MTU));
	assert_fields(sent[1], (psn, FIRST + 3), (length, 2 * FX_MTU));
}

/* A gap that a probe has asked for is no longer one that is waited for because frames come late. */
UNIT_RULE(answer__is_not_waited_for_when_a_probe_has_asked)
{
	unsigned int n;

	qp->cold.reorder.quarters = ROCE_REORDER_QUARTERS_MAX;
	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 5);
	fx_tx_none(&end);
	roce_repair_probe(qp, end.now);
	assert_int_equal(asked_twice(1)->length, 4 * FX_MTU);
	answer(RSP_MID, 1);
	(void)fx_run(&end, end.now + 25 * US, &n);
	assert_int_equal(n, 0);
}

/* Messages between READs are executed when a later READ was answered. */
UNIT_RULE(answer__that_came_early_acknowledges_what_is_before_it)
{
	read_packets(1, 0);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	(void)fx_tx_one(&end);
	read_packets(1, 1);
	answer(RSP_ONLY, 2);
	(void)fx_tx_one(&end);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	answer(RSP_ONLY, 0);
	assert_int_equal(roce_cq_count(end.send_cq), 3);
}

/* A READ that was asked for again is not asked for once more because the peer holds something. */
UNIT_RULE(answer__is_asked_for_once_whatever_is_held)
{
	read_packets(1, 0);
	read_packets(1, 1);
	read_packets(1, 2);
	send_many(2);
	answer(RSP_ONLY, 1);
	EXPECT_SENT(0);
	sack(3, 1, 0);
	EXPECT_SENT(3);
	answer(RSP_ONLY, 2);
	fx_tx_none(&end);
	/* Until an answer shows that this was lost, too: its READ was sent after that. */
	send_many(1);
	read_packets(1, 3);
	sack(3, 3, 0);
	EXPECT_SENT(3);
	answer(RSP_ONLY, 6);
	EXPECT_SENT(0);
}

/* An acknowledgement behind READs has those asked for whose answers are missing, and nothing sent again that has arrived. */
UNIT_RULE(answer__that_an_acknowledgement_misses_is_asked_for)
{
	unsigned int n;

	read_packets(1, 0);
	read_packets(1, 1);
	read_packets(1, 2);
	send_many(2);
	answer(RSP_ONLY, 1);
	EXPECT_SENT(0);
	acknowledge(3);
	EXPECT_SENT(2);
	acknowledge(4);
	fx_tx_none(&end);
	answer(RSP_ONLY, 0);
	answer(RSP_ONLY, 2);
	assert_int_equal(qp->tx.reads, 0);
	/* The peer answers a READ by its answer alone, so the acknowledgement is asked for by a probe. */
	assert_int_equal(fx_run(&end, end.now + 60 * US, &n)[0].psn, FIRST + 3);
	acknowledge(4);
	assert_int_equal(roce_cq_count(end.send_cq), 5);
}

/* Without a timeout there is no probe: all goes again. */
UNIT_RULE(answer__of_a_connection_without_a_timeout_goes_back)
{
	qp->tx.ack_timeout = 0;
	read_packets(1, 0);
	send_many(1);
	acknowledge(1);
	EXPECT_SENT(0, 1);
}

/* So has a NAK, and its own packet. */
UNIT_RULE(answer__that_a_nak_misses_is_asked_for)
{
	read_packets(1, 0);
	read_packets(1, 1);
	send_many(3);
	answer(RSP_ONLY, 1);
	EXPECT_SENT(0);
	sack(3, 1, 0);
	missing(3);
	EXPECT_SENT(3);
	fx_tx_none(&end);
	answer(RSP_ONLY, 0);
	acknowledge(4);
	assert_int_equal(roce_cq_count(end.send_cq), 5);
}

/* A peer that holds nothing may have lost answers as well as requests: all goes again, from the first that is missing. */
UNIT_RULE(answer__is_asked_for_where_everything_goes_again)
{
	read_packets(1, 0);
	send_many(3);
	missing(1);
	EXPECT_SENT(0, 1);
	missing(2);
	EXPECT_SENT(0, 1, 2, 3);
}

/* Each time that all goes again, an answer may show that one before it is lost once more. */
UNIT_RULE(answer__that_comes_twice_shows_a_loss)
{
	unsigned int n;

	read_packets(1, 0);
	read_packets(1, 1);
	answer(RSP_ONLY, 1);
	EXPECT_SENT(0);
	roce_repair_forget(qp);
	answer(RSP_ONLY, 1);
	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, 1);
}

/* The peer had the request early, and has executed it since. */
UNIT_RULE(answer__to_a_request_that_was_held_is_asked_for)
{
	for (uint32_t i = 0; i < 3; i++)
		read_packets(1, i);
	sack(0, 3, 0);
	EXPECT_SENT(0);
	answer(RSP_ONLY, 0);
	fx_tx_none(&end);
	answer(RSP_ONLY, 2);
	EXPECT_SENT(1);
}

/* Receiver not ready: the answer in front of it is asked for first, and the message after it. */
UNIT_RULE(answer__is_asked_for_before_a_receiver_is_waited_for)
{
	read_packets(1, 0);
	send_many(1);
	fx_rx_answer(&end, &peer, FX_RNR(1), FIRST + 1);
	EXPECT_SENT(0, 1);
}

/* Where frames are lost, an answer that does not come is asked for again by a probe, alone. */
UNIT_RULE(answer__is_probed_for_where_frames_are_lost)
{
	unsigned int n;

	read_packets(1, 0);
	read_packets(1, 1);
	read_packets(1, 2);
	answer(RSP_ONLY, 1);
	EXPECT_SENT(0);
	assert_int_equal(fx_run(&end, end.now + 60 * US, &n)[0].psn, FIRST);
	assert_int_equal(n, 1);
	/* It was sent behind the last READ, whose answer is lost, then. */
	answer(RSP_ONLY, 0);
	fx_tx_none(&end);
	assert_int_equal(fx_run(&end, end.now + 60 * US, &n)[0].psn, FIRST + 2);
	assert_int_equal(n, 1);
}

/* Elsewhere a silence is a pause of the peer, and an answer costs too much to be asked for early: all are, later. */
UNIT_RULE(answer__is_not_probed_for_where_no_frame_was_lost)
{
	const uint64_t begin = end.now;
	const struct fx_sent *again;
	unsigned int n;

	read_packets(1, 0);
	read_packets(1, 1);
	(void)fx_run(&end, begin + 150 * US, &n);
	assert_int_equal(n, 0);
	again = fx_run(&end, begin + 300 * US, &n);
	assert_int_equal(n, 2);
	assert_int_equal(again[0].psn, FIRST);
	assert_int_equal(again[1].psn, FIRST + 1);
}

/* Of a peer without the agreement answers are taken in order only, as IBTA has it. */
UNIT_RULE_IN(answer__of_a_standard_peer_is_taken_in_order, setup_standard, teardown)
{
	read_packets(1, 0);
	read_packets(1, 1);
	answer(RSP_ONLY, 1);
	assert_int_equal(fx_tx_exactly(&end, 2)[1].psn, FIRST + 1);
	answer(RSP_ONLY, 0);
	assert_int_equal(roce_cq_count(end.send_cq), 1);
}
