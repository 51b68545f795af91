/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering window (RFC 8985, 6.2): how long a frame that others have overtaken is waited for. The round trip is 20 us. */

#include "requester/reorder.h"
#include "repair_scene.h"

#define QUARTER (5 * US)

static uint32_t sent; /* messages of this test */

/* The responder says that a message came twice. */
static void
twice(uint32_t message)
{
	sack(message, 0, 0);
}

/* Message 0 of two is overtaken by the other, is sent again and acknowledged. */
static void
repeat(void)
{
	send_many(2);
	sack(sent, 1, 0);
	EXPECT_SENT(sent);
	acknowledge(sent + 1);
	sent += 2;
}

/* One repeat was needless: frames may be late by a quarter of the round trip. */
static void
learn(void)
{
	sent = 0;
	repeat();
	twice(0);
	assert_int_equal(qp->cold.reorder.quarters, 1);
}

/* A repeat is needless when the first copy has arrived, too. */
UNIT_RULE(repeat__that_came_twice_widens_the_window)
{
	learn();
	assert_int_equal(roce_reorder_window(qp), QUARTER);
	twice(0);
	twice(1);
	assert_int_equal(roce_reorder_window(qp), QUARTER);
	assert_int_equal(fx_stats(&end)->req_reordered, 1);
}

UNIT_RULE(repeat__that_was_needed_leaves_the_window)
{
	sent = 0;
	repeat();
	assert_int_equal(roce_reorder_window(qp), 0);
	assert_int_equal(fx_stats(&end)->req_reordered, 0);
}

/* A network that has copied a frame has not reordered it. */
UNIT_RULE(repeat__of_the_network_tells_nothing)
{
	send_many(2);
	acknowledge(1);
	twice(0);
	twice(1);
	assert_int_equal(roce_reorder_window(qp), 0);
}

/* Neither has one that was silent: the probe goes because nothing came back. */
UNIT_RULE(repeat__for_silence_tells_nothing)
{
	unsigned int n;

	send_many(2);
	(void)fx_run(&end, end.now + 60 * US, &n);
	assert_int_equal(n, 1);
	acknowledge(1);
	twice(0);
	assert_int_equal(roce_reorder_window(qp), 0);
}

/* Nor has one that was repeated, if it was sent once more for silence. */
UNIT_RULE(repeat__and_silence_tell_nothing)
{
	unsigned int n;

	send_many(2);
	sack(0, 1, 0);
	EXPECT_SENT(0);
	(void)fx_run(&end, end.now + 60 * US, &n);
	assert_int_equal(n, 1);
	acknowledge(1);
	twice(0);
	assert_int_equal(roce_reorder_window(qp), 0);
}

/* When something was acknowledged since, repeats tell again. */
UNIT_RULE(repeat__behind_silence_tells_again)
{
	unsigned int n;

	send_many(2);
	(void)fx_run(&end, end.now + 60 * US, &n);
	acknowledge(1);
	sent = 2;
	repeat();
	twice(2);
	assert_int_equal(qp->cold.reorder.quarters, 1);
}

/* A frame that was repeated twice came twice once. */
UNIT_RULE(repeat__that_was_lost_counts_once)
{
	send_many(3);
	sack(0, 1, 0);
	EXPECT_SENT(0);
	send_many(1);
	sack(0, 5, 0);
	EXPECT_SENT(0, 2);
	acknowledge(3);
	twice(0);
	assert_int_equal(qp->cold.reorder.quarters, 1);
}

/* A frame that comes in time is not sent again, even if the peer says that it is missing. */
UNIT_RULE(late__frame_is_waited_for)
{
	learn();
	send_many(3);
	sack(sent, 1, 0);
	fx_tx_none(&end);
	fx_rx_answer(&end, &peer, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE, FIRST + sent);
	end.now += QUARTER - 1;
	fx_tx_none(&end);
	acknowledge(sent + 2);
	assert_int_equal(fx_stats(&end)->retransmits, 1);
	assert_false(qp->tx.repairing);
}

/* Behind the window it is lost, even if nothing else arrives, and is sent again once. */
UNIT_RULE(late__frame_is_lost_behind_the_window)
{
	const struct fx_sent *again;
	uint64_t begin;
	unsigned int n;

	learn();
	send_many(2);
	begin = end.now;
	sack(sent, 1, 0);
	fx_rx_answer(&end, &peer, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE, FIRST + sent);
	fx_tx_none(&end);
	again = fx_run(&end, begin + 4 * QUARTER, &n);
	assert_int_equal(n, 1);
	assert_int_equal(again[0].psn, FIRST + sent);
	assert_in_range(again[0].at - begin, QUARTER, 2 * QUARTER);
}

/* Frames that are overtaken meanwhile wait for a window of their own. */
UNIT_RULE(late__frames_each_wait_for_a_window)
{
	unsigned int n;
	const struct fx_sent *again;
	uint64_t second;

	learn();
	send_many(5);
	sack(sent, 1, 0);
	end.now += QUARTER - US;
	second = end.now;
	sack(sent, 5, 0);
	again = fx_run(&end, second + 4 * QUARTER, &n);
	assert_int_equal(n, 2);
	assert_int_equal(again[0].psn, FIRST + sent);
	assert_true(again[0].at < second + QUARTER);
	assert_int_equal(again[1].psn, FIRST + sent + 2);
	assert_true(again[1].at >= second + QUARTER);
}

/* One of two messages is lost, after a wait. */
static void
lose(void)
{
	unsigned int n;

	send_many(2);
	sack(sent, 1, 0);
	(void)fx_run(&end, end.now + 5 * QUARTER, &n);
	assert_int_equal(n, 1);
	acknowledge(sent + 1);
	sent += 2;
}

/* One of two messages is late, and comes in time. */
static void
wait_well(void)
{
	send_many(2);
	sack(sent, 1, 0);
	acknowledge(sent + 1);
	sent += 2;
}

/* Losses narrow it: on a network that has become orderly no loss costs a wait any more. */
UNIT_RULE(window__is_narrowed_by_waits_in_vain)
{
	learn();
	for (uint32_t i = 0; i < ROCE_REORDER_LOSSES; i++) {
		assert_int_equal(qp->cold.reorder.quarters, 1);
		lose();
	}
	assert_int_equal(roce_reorder_window(qp), 0);
}

/* But not where as many frames come in time. */
UNIT_RULE(window__is_kept_by_waits_that_end_well)
{
	learn();
	for (uint32_t i = 0; i < 2 * ROCE_REORDER_LOSSES; i++) {
		lose();
		wait_well();
	}
	assert_int_equal(qp->cold.reorder.quarters, 1);
}

static void
widen(uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		roce_reorder_repeated(qp, FIRST + i);
		twice(i);
	}
}

/* Where frames come later than a round trip, waiting does not help, and repeats cost less. */
UNIT_RULE(window__is_given_up_where_a_round_trip_does_not_help)
{
	learn();
	widen(ROCE_REORDER_QUARTERS_MAX);
	for (uint32_t i = 0; i < ROCE_REORDER_LOSSES; i++)
		lose();
	assert_int_equal(roce_reorder_window(qp), 0);
	widen(ROCE_REORDER_UNHEARD);
	assert_int_equal(roce_reorder_window(qp), 0);
	widen(1);
	assert_int_not_equal(roce_reorder_window(qp), 0);
}

/* No frame waits for longer than a round trip, whatever the peer says. */
UNIT_RULE(window__is_a_round_trip_at_most)
{
	learn();
	widen(8);
	assert_int_equal(roce_reorder_window(qp), qp->tx.srtt);
}

/* An answer to a READ is asked for again only when it is late for a window. */
UNIT_RULE(answer__that_is_late_is_waited_for)
{
	const uint8_t only = IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY;
	unsigned int n;

	learn();
	for (uint32_t i = 0; i < 3; i++)
		read_packets(1, i);
	answer(only, sent + 1);
	fx_tx_none(&end);
	answer(only, sent);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->implied_nak_seq_err, 0);
	assert_int_equal(qp->tx.reads, 1);

	read_packets(1, 3);
	answer(only, sent + 3);
	fx_tx_none(&end);
	assert_int_equal(fx_run(&end, end.now + 2 * QUARTER, &n)[0].psn, FIRST + sent + 2);
	assert_int_equal(n, 1);
}
