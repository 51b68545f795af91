/* SPDX-License-Identifier: BSD-3-Clause */
/* The repeat numbers of READs that are asked for again: what a responder does with them, and when it tells of them. */

#include "played_scene.h"

#define PSN      FX_RQ_PSN
#define MTU      FX_MTU
#define READ     IBV_OPCODE_RC_RDMA_READ_REQUEST
#define PACKETS  8u
#define RSP_ONLY IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

static int
open_end(bool agreed)
{
	open_scene(&(struct played){
			.max_dest_rd_atomic = 16, .rights = FX_ALL, .agreed = agreed });
	return 0;
}

static int
setup(void **state)
{
	return open_end(true);
}

static int
setup_standard(void **state)
{
	return open_end(false);
}

/* The peer asks for @p packets from PSN + @p from on, with a repeat number. */
static void
ask(uint32_t from, uint32_t packets, uint8_t repeat)
{
	const struct fx_target target = { (uintptr_t)end.memory + from * MTU, roce_mr_key(region),
		packets * MTU };

	peer.repeat = repeat;
	fx_rx(&end, fx_about(&peer, READ, PSN + from, 0, &target, 0));
}

/* A READ of eight packets is answered. */
static void
answer_read(void)
{
	ask(0, PACKETS, 0);
	assert_int_equal(fx_tx_exactly(&end, PACKETS)->repeat, 0);
}

/* The next frame, of those that wait. */
static struct fx_sent
next_frame(void)
{
	struct fx_sent sent;

	assert_int_equal(fx_tx(&end, &sent, 1), 1);
	return sent;
}

/* A selective acknowledgement leaves, with this number. */
static void
expect_sack(uint8_t repeat)
{
	const struct fx_sent sent = next_frame();

	assert_fields(sent, (opcode, ROCE_OPCODE_SACK), (psn, PSN + PACKETS), (repeat, repeat));
}

/* None does: what leaves is the next packet of the answer. */
static void
expect_no_sack(void)
{
	assert_int_not_equal(next_frame().opcode, ROCE_OPCODE_SACK);
}

/* An answer of eight packets waits, and behind its request one is missing. */
static void
begin_with_gap(void)
{
	ask(0, PACKETS, 0);
	ask(PACKETS + 1, 1, 0);
	expect_sack(0);
}

UNIT_RULE(repeat__is_answered_once_for_two_copies)
{
	answer_read();
	ask(1, 1, 1);
	ask(1, 1, 1);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 1);
	ask(1, 1, 1);
	fx_tx_none(&end);
	ask(1, 1, 2);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 1);
}

UNIT_RULE(copies__are_not_rationed)
{
	answer_read();
	ask(1, 1, 1);
	(void)fx_tx_one(&end);
	for (unsigned int i = 0; i < 200; i++)
		ask(1, 1, 1);
	ask(1, 1, 2);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 1);
}

/* The first copy was lost, or came late. */
UNIT_RULE(repeat__is_answered_in_any_order)
{
	answer_read();
	ask(1, 1, 3);
	ask(4, 1, 2);
	assert_int_equal(fx_tx_exactly(&end, 2)[1].psn, PSN + 4);
	ask(1, 1, 0);
	(void)fx_tx_one(&end);
}

UNIT_RULE(answer__has_the_number_that_arrived_last)
{
	answer_read();
	ask(1, 1, 126);
	assert_int_equal(fx_tx_one(&end).repeat, 126);
	ask(PACKETS, 1, 0);
	assert_int_equal(fx_tx_one(&end).repeat, 126);
	ask(2, 1, 1);
	ask(3, 1, 127);
	assert_int_equal(fx_tx_exactly(&end, 2)[1].repeat, 1);
}

/* A repeat that comes as the first of its READ counts like any other. */
UNIT_RULE(answer__has_the_number_of_its_own_request)
{
	ask(0, 1, 5);
	assert_fields(fx_tx_one(&end), (opcode, RSP_ONLY), (repeat, 5));
}

/* The reserved bits of a standard peer mean nothing, and its answers have none. */
UNIT_RULE_IN(repeat__of_a_standard_peer_has_no_number, setup_standard, teardown)
{
	answer_read();
	ask(7, 1, 1);
	assert_int_equal(fx_tx_one(&end).repeat, 0);
	ask(7, 1, 1);
	assert_int_equal(fx_tx_one(&end).repeat, 0);
}

/* While answers wait, it takes the place of one. */
UNIT_RULE(sack__tells_of_gaps_and_not_of_each_frame)
{
	begin_with_gap();
	ask(PACKETS + 2, 1, 0);
	expect_no_sack();
	ask(PACKETS + 4, 1, 0);
	expect_sack(0);
	/* It fills a gap. */
	ask(PACKETS + 3, 1, 0);
	expect_no_sack();
}

UNIT_RULE(sack__tells_of_each_frame_where_no_answer_waits)
{
	const struct fx_sent *sent;

	begin_with_gap();
	/* Of what was held meanwhile it tells when the answers have ended, before the NAK. */
	ask(PACKETS + 2, 1, 0);
	sent = fx_tx_exactly(&end, PACKETS + 2);
	assert_fields(sent[PACKETS], (opcode, ROCE_OPCODE_SACK), (psn, PSN + PACKETS));
	ask(PACKETS + 3, 1, 0);
	expect_sack(0);
	ask(PACKETS + 4, 1, 0);
	expect_sack(0);
}

/* It may be lost. */
UNIT_RULE(sack__tells_of_frames_once_in_a_while)
{
	begin_with_gap();
	for (uint32_t i = 2; i < 32; i++)
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + PACKETS + i, 8, 0);
	expect_no_sack();
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + PACKETS + 32, 8, 0);
	expect_sack(0);
}

/* It was told of when it appeared. */
UNIT_RULE(sack__does_not_tell_of_the_next_gap_again)
{
	begin_with_gap();
	ask(PACKETS + 3, 1, 0);
	expect_sack(0);
	ask(PACKETS, 1, 0);
	expect_no_sack();
}

/* One without a held frame would name a duplicate. */
UNIT_RULE(sack__is_not_owed_when_nothing_is_held_any_more)
{
	ask(1, 1, 0);
	ask(0, 1, 0);
	assert_int_equal(fx_tx_exactly(&end, 2)[1].psn, PSN + 1);
}

/* A READ ends where its answer does. */
UNIT_RULE(sack__tells_of_no_gap_behind_a_read)
{
	ask(0, PACKETS, 0);
	ask(PACKETS + 1, 2, 0);
	expect_sack(0);
	ask(PACKETS + 3, 2, 0);
	expect_no_sack();
	ask(PACKETS + 6, 1, 0);
	expect_sack(0);
}

/* A repeat is missing, or late. */
UNIT_RULE(sack__tells_of_numbers_that_are_missing)
{
	begin_with_gap();
	ask(1, 1, 1);
	expect_no_sack();
	ask(2, 1, 2);
	expect_no_sack();
	ask(3, 1, 4);
	expect_sack(4);
	ask(3, 1, 3);
	expect_no_sack();
	/* Of a READ that is held, too. */
	ask(PACKETS + 2, 1, 6);
	expect_sack(6);
}

/* It counts when it comes, and not again when its turn has come: others may be ahead of it then. */
UNIT_RULE(answer__has_no_number_of_a_held_request)
{
	answer_read();
	ask(PACKETS + 1, 1, 1);
	ask(1, 1, 60);
	ask(2, 1, 120);
	(void)fx_tx_drop(&end);
	ask(PACKETS, 1, 0);
	assert_fields(fx_tx_exactly(&end, 2)[1], (psn, PSN + PACKETS + 1), (repeat, 120));
}
