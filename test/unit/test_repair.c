/* SPDX-License-Identifier: BSD-3-Clause */
/* Selective repeat: what is sent again, and what a peer that lies can do. The clock is a variable; a tick is 1 ns. */

#include "requester/repair.h"
#include "repair_scene.h"

/* Of a whole window only what is missing is sent again, at both ends of both words of the map. */
UNIT_RULE(lost__only_the_missing_are_sent_again)
{
	send_many(ROCE_WINDOW);
	/* Missing: 0, 1, 64, 65, 126. */
	sack(0, UINT64_MAX << 1 & ~(UINT64_C(1) << 63),
			~UINT64_C(1) & ~(UINT64_C(1) << 61) & UINT64_MAX >> 1);
	EXPECT_SENT(0, 1, 64, 65, 126);
	acknowledge(ROCE_WINDOW - 1);
	assert_false(qp->tx.repairing);
	assert_int_equal(roce_cq_count(end.send_cq), ROCE_WINDOW);
}

/* No request completes before it is acknowledged, whatever is said to be held. */
UNIT_RULE(forged__completes_nothing)
{
	send_many(8);
	sack(6, 1, 0);
	sack(0, 0x7f, 0);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	assert_int_equal(qp->tx.una, FIRST);
}

/* A peer that says it has what it has not is sent it all the same, one probe for each. */
UNIT_RULE(forged__delays_at_most)
{
	unsigned int n;

	send_many(5);
	sack(3, 1, 0);
	EXPECT_SENT(3);
	for (uint32_t i = 0; i < 4; i++) {
		const struct fx_sent *sent = fx_run(&end, end.now + 100 * US, &n);

		assert_true(n >= 1);
		assert_int_equal(sent[0].psn, FIRST + i);
		acknowledge(i);
	}
	acknowledge(4);
	assert_int_equal(roce_cq_count(end.send_cq), 5);
}

/* PSNs that were never sent, and those older than the window, change nothing. */
UNIT_RULE(forged__of_other_psns_changes_nothing)
{
	const struct roce_repair none = { 0 };

	send_many(4);
	sack(4, 0, 0);
	sack(0, 8, 0);
	sack(1, 4, 0);
	sack(200, 1, 0);
	sack(0, 0, UINT64_C(1) << 63);
	sack((uint32_t)-200, UINT64_MAX, UINT64_MAX);
	sack((uint32_t)-129, 0, UINT64_MAX);
	fx_tx_none(&end);
	assert_memory_equal(&qp->cold.repair, &none, sizeof(none));
	assert_int_equal(fx_stats(&end)->rx_sacks, 7);
}

/* The selective acknowledgement in front of a NAK may be lost: the NAK alone does not have everything sent again. */
UNIT_RULE(nak__without_a_selective_acknowledgement_is_one_frame)
{
	send_many(6);
	missing(2);
	EXPECT_SENT(2);
	missing(2);
	(void)fx_tx_exactly(&end, 0);
	/* One has come since: the next may be without again. */
	sack(2, 1, 0);
	acknowledge(3);
	missing(4);
	EXPECT_SENT(4);
}

/* A peer that holds frames sends NAKs, too: they change nothing that is known. */
UNIT_RULE(nak__of_a_peer_that_holds_does_not_go_back)
{
	send_many(6);
	sack(0, 0x15, 0);
	EXPECT_SENT(0, 2, 4);
	missing(0);
	missing(2);
	missing(4);
	fx_tx_none(&end);
}

/* A peer that cannot hold frames sends NAKs alone: everything behind the second goes again. */
UNIT_RULE(nak__of_a_peer_that_holds_nothing_goes_back)
{
	send_many(6);
	missing(2);
	EXPECT_SENT(2);
	missing(3);
	EXPECT_SENT(3, 4, 5);
}

/* Where no timeout would find out that more is missing, everything goes again at once. */
UNIT_RULE(nak__of_a_connection_without_a_timeout_goes_back)
{
	qp->tx.ack_timeout = 0;
	send_many(6);
	missing(2);
	EXPECT_SENT(2, 3, 4, 5);
}

/* The repeat of 0 was sent before 4: when that has arrived and 0 has not, the repeat is lost. The repeat of 2 was sent after 4. */
UNIT_RULE(repeat__is_lost_behind_a_later_frame)
{
	send_many(4);
	sack(0, 1, 0);
	EXPECT_SENT(0);
	send_many(1);
	sack(0, 5, 0);
	EXPECT_SENT(2);
	sack(0, 0xd, 0);
	EXPECT_SENT(0);
	fx_tx_none(&end);
}

/* Repeats show each other's loss, too: nothing new may be sent when the window is full. */
UNIT_RULE(repeat__is_lost_behind_a_later_repeat)
{
	send_many(ROCE_WINDOW);
	sack(0, 2, 0);
	EXPECT_SENT(0, 1);
	sack(0, 0xa, 0);
	EXPECT_SENT(3);
	/* 3 was missing, and its repeat has arrived; those of 0 and 1 left before it. */
	sack(0, 0xe, 0);
	EXPECT_SENT(0, 1);
}

/* Also those that left at the same time: they left in the order of their PSNs. */
UNIT_RULE(repeat__is_lost_behind_a_later_one_of_the_same_time)
{
	send_many(8);
	sack(0, 0x75, 0);
	EXPECT_SENT(0, 2, 4);
	sack(0, 0x7d, 0);
	EXPECT_SENT(0, 2);
	fx_tx_none(&end);
}

/* The repeat of 0 is lost, and the next one leaves after that of 6. */
UNIT_RULE(repeat__that_left_later_is_not_lost)
{
	send_many(10);
	sack(0, 0x15, 0);
	EXPECT_SENT(0, 2, 4);
	sack(0, 0x55, 0);
	EXPECT_SENT(6);
	sack(0, 0x57, 0);
	EXPECT_SENT(0);
	sack(0, 0x5f, 0);
	sack(0, 0x7f, 0);
	fx_tx_none(&end);
}

/* So does a probe: it was sent after all of them. */
UNIT_RULE(repeat__is_lost_behind_a_probe)
{
	unsigned int n;

	send_many(8);
	sack(0, 0x77, 0);
	EXPECT_SENT(0, 4);
	assert_int_equal(fx_run(&end, end.now + 60 * US, &n)[0].psn, FIRST);
	assert_int_equal(n, 1);
	acknowledge(3);
	EXPECT_SENT(4);
}

/* Two round trips after the last sign of life the oldest frame goes again, alone; the window stays. */
UNIT_RULE(probe__is_one_frame)
{
	const struct fx_sent *sent;
	uint64_t begin;
	unsigned int n;

	send_many(8);
	begin = end.now;
	sent = fx_run(&end, begin + 60 * US, &n);
	assert_int_equal(n, 1);
	assert_int_equal(sent[0].psn, FIRST);
	assert_true(sent[0].ack_req);
	assert_in_range(sent[0].at - begin, 40 * US, 60 * US);
	assert_fields(qp->tx, (window, ROCE_WINDOW), (psn, FIRST + 8));
	assert_fields(*fx_stats(&end), (req_probes, 1), (early_retransmits, 0), (retransmits, 1));
}

/* When the oldest frame goes again, in us of silence; then all do. @param lost: the peer has just missed one. */
static void
expect_probes(bool lost, const uint64_t *at, unsigned int probes)
{
	const struct fx_sent *sent;
	uint64_t begin;
	unsigned int n;

	send_many(2);
	if (lost)
		missing(0);
	fx_tx_drop(&end);
	begin = end.now;
	sent = fx_run(&end, begin + (at[probes - 1] + 40) * US, &n);
	assert_int_equal(n, probes);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(sent[i].psn, FIRST);
		assert_in_range(sent[i].at - begin, at[i] * US, (at[i] + 20) * US);
	}
	assert_fields(*fx_stats(&end), (req_probes, probes), (early_retransmits, 0));
	sent = fx_run(&end, end.now + 300 * US, &n);
	assert_int_equal(n, 2);
	assert_fields(*fx_stats(&end), (req_probes, probes), (early_retransmits, 1));
}

/* Probes are lost, too. */
UNIT_RULE(probes__are_six_where_frames_are_lost)
{
	expect_probes(true, (const uint64_t[]){ 40, 80, 120, 160, 240, 400 }, 6);
}

UNIT_RULE(probes__are_three_where_none_was_lost)
{
	expect_probes(false, (const uint64_t[]){ 40, 120, 280 }, 3);
}

/* It may only be late. */
UNIT_RULE_IN(probes__are_three_towards_a_standard_peer, setup_standard, teardown)
{
	expect_probes(true, (const uint64_t[]){ 40, 120, 280 }, 3);
}

/* From then on all that is missing goes again. */
UNIT_RULE(probes__end_with_the_local_ack_timeout)
{
	unsigned int n;

	send_many(2);
	missing(0);
	fx_tx_drop(&end);
	qp->tx.limit_at = end.now + 100 * US;
	(void)fx_run(&end, end.now + 110 * US, &n);
	assert_int_equal(n, 4);
	assert_fields(*fx_stats(&end), (req_probes, 2), (local_ack_timeout_err, 1));
	/* With a window of one, since the second silence in a row. */
	(void)fx_run(&end, end.now + 600 * US, &n);
	assert_int_equal(n, 1);
	assert_fields(*fx_stats(&end), (req_probes, 2), (early_retransmits, 1));
}

/* Its answer shows that all that was sent before it is lost, whoever the peer is. */
static void
probe_shows_the_rest(void)
{
	unsigned int n;

	send_many(8);
	(void)fx_run(&end, end.now + 60 * US, &n);
	end.now += 20 * US;
	acknowledge(0);
	EXPECT_SENT(1, 2, 3, 4, 5, 6, 7);
	acknowledge(7);
	assert_int_equal(roce_cq_count(end.send_cq), 8);
}

UNIT_RULE(probe__shows_that_the_rest_is_lost)
{
	probe_shows_the_rest();
}

UNIT_RULE_IN(probe__shows_that_the_rest_is_lost_to_a_standard_peer, setup_standard, teardown)
{
	probe_shows_the_rest();
}

/* A peer that holds what follows acknowledges it with the probe: nothing else is sent again. */
UNIT_RULE_IN(probe__closes_the_gap_of_a_peer_that_holds, setup_standard, teardown)
{
	unsigned int n;

	send_many(8);
	(void)fx_run(&end, end.now + 60 * US, &n);
	acknowledge(7);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->retransmits, 1);
}

/* A round trip ends when the frame has arrived, not when those before it have. */
UNIT_RULE(measure__ends_with_the_selective_acknowledgement)
{
	uint32_t before = qp->tx.srtt;

	send_many(1);
	acknowledge(0);
	before = qp->tx.srtt;
	send_many(4);
	qp->tx.timed_psn = FIRST + 3;
	end.now += before;
	sack(1, 2, 0);
	assert_int_equal(qp->tx.timed_at, 0);
	(void)fx_tx_drop(&end);
	end.now += 1000 * US;
	acknowledge(4);
	assert_in_range(qp->tx.srtt, before - 2, before + 2);
}

/* Karn's rule: of a frame that was sent again nobody knows which one was answered. */
UNIT_RULE(measure__ends_with_a_repeat)
{
	send_many(4);
	assert_int_equal(qp->tx.timed_psn, FIRST);
	assert_int_not_equal(qp->tx.timed_at, 0);
	sack(0, 1, 0);
	EXPECT_SENT(0);
	assert_int_equal(qp->tx.timed_at, 0);
}

/* Receiver not ready: the responder has dropped what it held, and all of it goes again. */
UNIT_RULE(rnr__forgets_what_was_held)
{
	unsigned int n;
	const struct fx_sent *sent;

	send_many(4);
	sack(0, 6, 0);
	EXPECT_SENT(0, 1);
	fx_rx_answer(&end, &peer, FX_RNR(1), FIRST);
	assert_false(qp->tx.repairing);
	sent = fx_run(&end, end.now + 20 * US, &n);
	assert_int_equal(n, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(sent[i].psn, FIRST + i);
}
