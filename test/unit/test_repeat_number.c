/* SPDX-License-Identifier: BSD-3-Clause */
/* The repeat numbers of READs that are asked for again: what a requester learns from those that its peer has received. */

#include "requester/repair.h"
#include "requester/rewind.h"
#include "repair_scene.h"
#include "wire/repeat.h"

#define RSP_FIRST IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID   IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define RSP_ONLY  IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

/* The answers to @p n READs of one packet, of which the answer to the first is missing. */
static void
lose_first_of(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		read_packets(1, i);
	answer(RSP_ONLY, 1);
}

UNIT_RULE(number__begins_again_at_one)
{
	uint8_t number = 0;

	for (unsigned int i = 1; i <= ROCE_REPEAT_MAX; i++) {
		number = roce_repeat_next(number);
		assert_int_equal(number, i);
	}
	assert_int_equal(roce_repeat_next(number), 1);
}

UNIT_RULE(number__is_ahead_of_the_63_before_it)
{
	for (unsigned int n = 1; n <= ROCE_REPEAT_MAX; n++) {
		uint8_t other = (uint8_t)n;

		assert_false(roce_repeat_is_ahead((uint8_t)n, (uint8_t)n));
		for (unsigned int by = 1; by < ROCE_REPEAT_MAX; by++) {
			other = roce_repeat_next(other);
			assert_int_equal(roce_repeat_is_ahead(other, (uint8_t)n), by <= 63);
		}
		assert_true(roce_repeat_is_ahead((uint8_t)n, 0));
		assert_false(roce_repeat_is_ahead(0, (uint8_t)n));
	}
	assert_false(roce_repeat_is_ahead(0, 0));
}

/* The reserved bits are zero in all other frames. */
UNIT_RULE(number__is_of_what_is_sent_again)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, SHORT, end.key };
	const struct roce_wr wr = { .sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.remote_addr = 0x100000,
		.rkey = 0x99 };

	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		assert_int_equal(fx_tx_one(&end).repeat, 0);
	}
	answer(RSP_ONLY, 1);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 1));
	answer(RSP_ONLY, 3);
	assert_fields(fx_tx_one(&end), (psn, FIRST + 2), (repeat, 2));
}

UNIT_RULE(number__is_none_where_all_goes_again_in_order)
{
	read_packets(8, 0);
	answer(RSP_MID, 3);
	assert_int_equal(asked_twice(1)->repeat, 1);
	roce_req_rewind(qp, qp->tx.una);
	assert_fields(fx_tx_one(&end), (length, 8 * FX_MTU), (repeat, 0));
}

/* Else one that is still to come would seem to be lost. */
UNIT_RULE(number__is_not_used_up_where_there_is_no_frame)
{
	static struct rte_mbuf *all[2000];
	struct roce_engine *e = end.engine;
	unsigned int n = 0;

	lose_first_of(2);
	while (e->spares > 0)
		rte_pktmbuf_free(e->spare[--e->spares]);
	while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	fx_tx_none(&end);
	fx_tx_none(&end);
	rte_pktmbuf_free_bulk(all, n);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 1));
}

UNIT_RULE_IN(number__is_none_for_a_standard_peer, setup_standard, teardown)
{
	const struct fx_sent *sent;

	lose_first_of(2);
	sent = fx_tx_exactly(&end, 2);
	assert_fields(sent[0], (psn, FIRST), (repeat, 0));
	assert_int_equal(sent[1].repeat, 0);
}

/* A request that is short beside its answer fills no line, and one that is lost again costs a round trip. */
UNIT_RULE(number__is_that_of_both_copies)
{
	read_packets(4, 0);
	answer(RSP_FIRST, 0);
	answer(RSP_MID, 2);
	assert_int_equal(asked_twice(1)->repeat, 1);
	fx_tx_none(&end);
}

UNIT_RULE(copies__are_sent_for_answers_of_1024_bytes_and_more)
{
	const struct fx_sent *sent;

	read_bytes(1023, 0);
	read_bytes(1024, 1);
	read_bytes(8, 2);
	fx_rx_response(&end, &peer, RSP_ONLY, FIRST + 2, 8);
	sent = fx_tx_exactly(&end, 3);
	assert_fields(sent[0], (psn, FIRST), (length, 1023), (repeat, 1));
	assert_fields(sent[1], (psn, FIRST + 1), (length, 1024), (repeat, 2));
	assert_fields(sent[2], (psn, FIRST + 1), (length, 1024), (repeat, 2));
}

/* Only the missing bytes count. */
UNIT_RULE(copies__are_not_sent_for_a_short_rest)
{
	read_bytes(FX_MTU + 8, 0);
	read_bytes(8, 2);
	answer(RSP_FIRST, 0);
	fx_rx_response(&end, &peer, RSP_ONLY, FIRST + 2, 8);
	assert_fields(fx_tx_one(&end), (psn, FIRST + 1), (length, 8), (repeat, 1));
}

/* The gap would have been filled first. */
UNIT_RULE(answer__that_left_after_the_repeat_arrived_shows_that_it_is_lost)
{
	lose_first_of(4);
	EXPECT_SENT(0);
	answer(RSP_ONLY, 2);
	fx_tx_none(&end);
	peer.repeat = 1;
	answer(RSP_ONLY, 3);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 2));
	/* And that of the next repeat is not here yet. */
	answer(RSP_ONLY, 3);
	fx_tx_none(&end);
}

/* By its PSN, whatever its number. */
UNIT_RULE(answer__to_a_later_request_shows_that_the_repeat_is_lost)
{
	lose_first_of(2);
	EXPECT_SENT(0);
	read_packets(1, 2);
	answer(RSP_ONLY, 2);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 2));
}

UNIT_RULE(answer__shows_nothing_of_repeats_with_later_numbers)
{
	lose_first_of(5);
	EXPECT_SENT(0);
	answer(RSP_ONLY, 3);
	EXPECT_SENT(2);
	peer.repeat = 1;
	answer(RSP_ONLY, 4);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 3));
	fx_tx_none(&end);
}

/* Gaps are filled in order: the one behind comes later. */
UNIT_RULE(answer__shows_nothing_of_a_gap_behind_it)
{
	lose_first_of(4);
	EXPECT_SENT(0);
	answer(RSP_ONLY, 3);
	EXPECT_SENT(2);
	peer.repeat = 2;
	answer(RSP_ONLY, 0);
	fx_tx_none(&end);
	assert_int_equal(qp->tx.una, FIRST + 2);
}

/* A peer that tells of repeats that never left is not believed. */
UNIT_RULE(answer__with_a_number_that_was_never_given_shows_nothing)
{
	lose_first_of(3);
	EXPECT_SENT(0);
	peer.repeat = 2;
	answer(RSP_ONLY, 2);
	fx_tx_none(&end);
}

UNIT_RULE(number__goes_on_when_all_is_forgotten)
{
	lose_first_of(2);
	assert_int_equal(fx_tx_one(&end).repeat, 1);
	roce_repair_forget(qp);
	roce_req_rewind(qp, qp->tx.max);
	peer.repeat = 0;
	answer(RSP_ONLY, 1);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 2));
}

/* A request that the peer has not executed: it says what it expects, and which repeats it has received. */
UNIT_RULE(sack__shows_that_a_repeated_request_is_lost)
{
	for (uint32_t i = 0; i < 6; i++)
		read_packets(1, i);
	sack(0, 2, 0);
	EXPECT_SENT(0, 1);
	sack(0, 6, 0);
	fx_tx_none(&end);
	peer.repeat = 1;
	sack(0, 14, 0);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 3));
}

/* It was recorded, and the numbers have come round since. */
UNIT_RULE(sack__from_behind_shows_nothing_of_repeats)
{
	lose_first_of(6);
	EXPECT_SENT(0);
	peer.repeat = 0;
	answer(RSP_ONLY, 0);
	answer(RSP_ONLY, 3);
	EXPECT_SENT(2);
	peer.repeat = 2;
	sack(1, 4, 0);
	fx_tx_none(&end);
	sack(2, 2, 0);
	EXPECT_SENT(2);
}

/* Its answer is missing, and not its request. */
UNIT_RULE(sack__shows_nothing_of_a_request_that_was_executed)
{
	lose_first_of(6);
	EXPECT_SENT(0);
	peer.repeat = 1;
	sack(2, 2, 0);
	EXPECT_SENT(2, 3);
}

/* The other PSNs of a READ are of its answer, and none of them is missing because its request is. */
UNIT_RULE(sack__misses_of_a_read_its_request_alone)
{
	struct fx_sent sent;

	for (uint32_t i = 0; i < 4; i++)
		read_packets(4, 4 * i);
	/* It holds the second and the fourth. */
	sack(0, UINT64_C(1) << 3 | UINT64_C(1) << 11, 0);
	assert_true(qp->cold.repair.lost == (1 | UINT64_C(1) << 8));
	sent = asked_twice(2)[1];
	assert_fields(sent, (psn, FIRST + 8), (length, 4 * FX_MTU), (repeat, 2));
	peer.repeat = 2;
	for (uint32_t i = 0; i < 6; i++)
		answer(i % 4 == 0 ? RSP_FIRST : i == 3 ? RSP_LAST : RSP_MID, i);
	fx_tx_none(&end);
	answer(RSP_LAST, 7);
	assert_fields(*asked_twice(1), (psn, FIRST + 6), (length, FX_MTU));
}

/* Each packet of its answer may be lost again. */
UNIT_RULE(sack__of_a_repeated_read_shows_nothing_of_its_answer)
{
	for (uint32_t i = 0; i < 3; i++)
		read_packets(4, 4 * i);
	sack(0, UINT64_C(1) << 7, 0);
	(void)asked_twice(2);
	peer.repeat = 2;
	sack(0, UINT64_C(1) << 3 | UINT64_C(1) << 7, 0);
	/* But that of the first, whose request is lost again. */
	assert_true(qp->cold.repair.lost == 1);
	assert_fields(*asked_twice(1), (psn, FIRST), (repeat, 3));
	peer.repeat = 3;
	for (uint32_t i = 0; i < 5; i++)
		answer(i % 4 == 0 ? RSP_FIRST : i == 3 ? RSP_LAST : RSP_MID, i);
	answer(RSP_MID, 6);
	assert_fields(*asked_twice(1), (psn, FIRST + 5), (length, FX_MTU), (repeat, 4));
}

/* More than half of the numbers may be under way. */
UNIT_RULE(answer__shows_what_is_lost_of_many_repeats)
{
	struct roce_repair *r = &qp->cold.repair;

	lose_first_of(3);
	EXPECT_SENT(0);
	r->last_number = 100;
	peer.repeat = 99;
	answer(RSP_ONLY, 2);
	assert_fields(fx_tx_one(&end), (psn, FIRST), (repeat, 101));
}

/* Inside of a gap begins no frame: the one in front of it asks for all. */
UNIT_RULE(psn__of_no_frame_is_not_sent_again)
{
	read_packets(8, 0);
	answer(RSP_FIRST, 0);
	qp->cold.repair.lost = UINT64_C(1) << 2;
	qp->tx.repeats = true;
	roce_qp_ready(qp);
	fx_tx_none(&end);
	assert_true(qp->cold.repair.lost == 0 && qp->cold.repair.newer == 0);
	answer(RSP_MID, 2);
	assert_int_equal(asked_twice(1)->psn, FIRST + 1);
}
