/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that come ahead of one that is missing: they wait, and nothing of them is done before. */

#include "responder/resp.h"
#include "played_scene.h"

#define PSN   FX_RQ_PSN
#define MTU   FX_MTU
#define ONLY  IBV_OPCODE_RC_SEND_ONLY
#define FIRST IBV_OPCODE_RC_SEND_FIRST
#define MID   IBV_OPCODE_RC_SEND_MIDDLE
#define LAST  IBV_OPCODE_RC_SEND_LAST
#define RNR   (ROCE_AETH_RNR | 12)
#define GAP   FX_NAK(ROCE_NAK_PSN_SEQUENCE)
#define LIMIT (1023u / 4) /**< of the pool of the tests */

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = 4, .rights = FX_ALL });
	fx_fill_srq(&end, 200, 4 * MTU);
	return 0;
}

/* The peer's message @p number, a frame of 8 bytes. */
static void
message(uint32_t number)
{
	fx_rx_request(&end, &peer, ONLY, PSN + number, 8, 0);
}

static void
expect_answer(uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	assert_fields(fx_tx_one(&end), (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (syndrome, syndrome),
			(psn, psn), (msn, msn));
}

/* So many events, of receives in the order in which they were posted, from number @p first on. */
static void
expect_messages(uint64_t first, int n)
{
	struct roce_event event[16];

	assert_int_equal(roce_cq_poll(end.recv_cq, event, RTE_DIM(event)), n);
	for (int i = 0; i < n; i++)
		assert_fields(event[i], (wr_id, first + (uint64_t)i), (status, IBV_WC_SUCCESS));
}

static void
expect_held(uint32_t n)
{
	assert_int_equal(qp->cold.held.n, n);
	assert_int_equal(end.engine->held, n);
	assert_int_equal(!!(qp->rx.checks & ROCE_CHECK_HELD), n > 0);
}

/* Beyond a hole nothing is executed, completed or acknowledged, and no receive is taken. */
UNIT_RULE(held__is_not_executed_before_its_turn)
{
	for (uint32_t i = 1; i < 5; i++)
		message(i);
	expect_held(4);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_expect_counts(end.srq, 256, 200, 200);
	expect_answer(GAP, PSN, 0);
	fx_tx_none(&end);
}

/* When the hole closes everything held is executed, and acknowledged at once: nobody asked for an acknowledgement. */
UNIT_RULE(held__is_executed_and_acknowledged_when_the_hole_closes)
{
	for (uint32_t i = 1; i < 5; i++)
		message(i);
	(void)fx_tx_drop(&end);
	message(0);
	expect_held(0);
	expect_messages(0, 5);
	fx_expect_counts(end.srq, 256, 195, 195);
	expect_answer(FX_ACK, PSN + 4, 5);
	message(5);
	expect_messages(5, 1);
	assert_fields(*fx_stats(&end), (out_of_sequence, 4), (rx_held, 4), (rx_held_limited, 0),
			(duplicate_request, 0));
}

/* In the order of the PSNs, also around their end, however the frames came; a copy is dropped. */
UNIT_RULE(held__is_executed_in_order)
{
	static const uint32_t order[] = { 5, 2, 5, 7, 3, 6, 1, 4, 1, 7 };

	qp->rx.epsn = 0xfffffd;
	for (size_t i = 0; i < RTE_DIM(order); i++)
		fx_rx_request(&end, &peer, ONLY, (0xfffffd + order[i]) & ROCE_PSN_MASK, 8, 0);
	expect_held(7);
	(void)fx_tx_drop(&end);
	fx_rx_request(&end, &peer, ONLY, 0xfffffd, 8, 0);
	expect_held(0);
	expect_messages(0, 8);
	expect_answer(FX_ACK, 4, 8);
}

/* Frames of one message, and of the next one. */
UNIT_RULE(held__may_be_part_of_a_message)
{
	struct roce_event event[2];

	fx_rx_request(&end, &peer, FIRST, PSN, MTU, 0);
	fx_rx_request(&end, &peer, LAST, PSN + 3, 5, 0);
	fx_rx_request(&end, &peer, ONLY, PSN + 4, 9, 0);
	fx_rx_request(&end, &peer, MID, PSN + 2, MTU, 0);
	expect_held(3);
	fx_expect_counts(end.srq, 256, 199, 200);
	(void)fx_tx_drop(&end);
	fx_rx_request(&end, &peer, MID, PSN + 1, MTU, 0);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 2), 2);
	assert_fields(event[0], (byte_len, 3 * MTU + 5), (wr_id, 0));
	assert_fields(event[1], (byte_len, 9), (wr_id, 1));
	expect_answer(FX_ACK, PSN + 4, 2);
}

/* Behind what was held the next hole is reported at once: nothing else may come. */
UNIT_RULE(held__next_hole_is_reported_at_once)
{
	message(1);
	message(2);
	message(4);
	expect_answer(GAP, PSN, 0);
	message(0);
	expect_held(1);
	expect_messages(0, 3);
	expect_answer(GAP, PSN + 3, 3);
	/* And once only. */
	message(5);
	fx_tx_none(&end);
	message(3);
	expect_messages(3, 3);
	expect_answer(FX_ACK, PSN + 5, 6);
}

/* A packet that comes in order where nothing held follows reports nothing: the next one may be right behind it. */
UNIT_RULE(held__behind_another_hole_waits_on)
{
	message(2);
	expect_answer(GAP, PSN, 0);
	message(0);
	fx_tx_none(&end);
	expect_messages(0, 1);
	expect_held(1);
	message(1);
	expect_messages(1, 2);
	expect_answer(FX_ACK, PSN + 2, 3);
}

/*
 * A message that finds no receive ends all that is held behind it, and what follows is not held: the requester sends all of it
 * again. So a receive that is posted meanwhile is taken by the message whose turn it is.
 */
UNIT_RULE(held__is_dropped_when_there_is_no_receive)
{
	struct roce_recv_wr wr;
	struct roce_sge sge;

	for (uint32_t i = 0; i < 198; i++) {
		message(i);
		assert_int_equal(fx_event(end.recv_cq).wr_id, i);
	}
	for (uint32_t i = 199; i < 203; i++)
		message(i);
	(void)fx_tx_drop(&end);
	message(198);
	expect_messages(198, 2);
	expect_answer(RNR, PSN + 200, 200);
	expect_held(0);
	message(201);
	expect_held(0);
	wr = fx_recv(&end, &sge, 200, 0, 64);
	assert_int_equal(roce_srq_post(end.srq, &wr), 0);
	message(202);
	fx_tx_none(&end);
	fx_expect_counts(end.srq, 256, 1, 1);
	message(200);
	expect_messages(200, 1);
	/* Behind a receive that was there a gap is one again. */
	message(202);
	expect_answer(GAP, PSN + 201, 201);
	expect_held(1);
}

/* READs and atomics are done in order only. */
UNIT_RULE(held__reads_and_atomics_are_done_in_order)
{
	const struct fx_target word = { (uintptr_t)end.memory, roce_mr_key(region), 3 };
	const struct fx_target read = { (uintptr_t)end.memory, roce_mr_key(region), 8 };
	const struct fx_sent *sent;
	uint64_t value;

	memset(end.memory, 0, 8);
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_FETCH_ADD, PSN + 1, 0, &word, 0));
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, PSN + 2, 0, &read, 0));
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_FETCH_ADD, PSN + 3, 0, &word, 0));
	expect_held(3);
	expect_answer(GAP, PSN, 0);
	memcpy(&value, end.memory, sizeof(value));
	assert_int_equal(value, 0);
	message(0);
	sent = fx_tx_exactly(&end, 3);
	assert_int_equal(sent[0].psn, PSN + 1);
	assert_int_equal(sent[1].psn, PSN + 2);
	assert_int_equal(sent[2].psn, PSN + 3);
	memcpy(&value, end.memory, sizeof(value));
	/* Both additions were done once; what message 0 wrote there came before. */
	assert_int_equal(value, UINT64_C(0x0706050403020100) + 6);
}

/* A READ stands for as many PSNs as its answer. */
UNIT_RULE(held__read_counts_with_its_answer)
{
	const struct fx_target read = { (uintptr_t)end.memory, roce_mr_key(region), 3 * MTU };

	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, PSN + 1, 0, &read, 0));
	message(4);
	(void)fx_tx_drop(&end);
	message(0);
	expect_messages(0, 2);
	assert_int_equal(fx_tx_exactly(&end, 4)[3].psn, PSN + 4);
}

/* A frame that claims a PSN of the answer to a READ is never executed. */
UNIT_RULE(held__inside_of_an_answer_is_dropped)
{
	const struct fx_target read = { (uintptr_t)end.memory, roce_mr_key(region), 3 * MTU };

	message(1);
	message(3);
	(void)fx_tx_drop(&end);
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, PSN, 0, &read, 0));
	expect_held(0);
	expect_messages(0, 1);
	assert_int_equal(fx_tx_exactly(&end, 4)[3].psn, PSN + 3);
	assert_int_equal(fx_stats(&end)->duplicate_request, 1);
}

/* So many for each queue pair; what is too much is dropped and counted, and comes again. */
UNIT_RULE(bound__is_a_window_for_each_queue_pair)
{
	for (uint32_t i = 1; i <= ROCE_HELD_QP + 2; i++)
		message(i);
	expect_held(ROCE_HELD_QP);
	assert_fields(*fx_stats(&end), (rx_held, ROCE_HELD_QP), (rx_held_limited, 2));
	expect_answer(GAP, PSN, 0);
	message(0);
	expect_answer(FX_ACK, PSN + ROCE_HELD_QP, ROCE_HELD_QP + 1);
	message(ROCE_HELD_QP + 1);
	message(ROCE_HELD_QP + 2);
	assert_int_equal(roce_cq_count(end.recv_cq), ROCE_HELD_QP + 3);
}

/* A frame far ahead is late, or made up. */
UNIT_RULE(bound__is_not_far_ahead)
{
	message(ROCE_HELD_AHEAD);
	expect_held(0);
	message(ROCE_HELD_AHEAD - 1);
	expect_held(1);
}

/* All engines together hold no more than a quarter of the pool. */
UNIT_RULE(bound__is_a_quarter_of_the_pool)
{
	assert_int_equal(end.engine->held_max, LIMIT);
}

/* A frame that others refer to is not written to, and not kept. */
UNIT_RULE(bound__leaves_frames_that_others_have)
{
	struct rte_mbuf *m = fx_request(&peer, ONLY, PSN + 1, 8, 0);

	rte_mbuf_refcnt_update(m, 1);
	fx_rx(&end, m);
	expect_held(0);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	rte_pktmbuf_free(m);
}

/* The end of a queue pair frees what it holds; fx_left() counts the frames. */
UNIT_RULE(end__frees_what_is_held)
{
	static void (*const ending[])(
			struct roce_qp *) = { fx_to_error, fx_to_reset, roce_qp_destroy };

	for (size_t i = 0; i < RTE_DIM(ending); i++) {
		message(1);
		message(3);
		expect_held(2);
		ending[i](qp);
		assert_int_equal(end.engine->held, 0);
		(void)fx_tx_drop(&end);
		if (ending[i] != roce_qp_destroy)
			roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
	}
}

/* No request behind one that is refused is executed. */
UNIT_RULE(end__refused_request_ends_what_is_held)
{
	message(2);
	fx_rx_request(&end, &peer, MID, PSN + 1, MTU, 0);
	(void)fx_tx_drop(&end);
	message(0);
	assert_int_equal(qp->rx.state, ROCE_QP_ERR);
	expect_held(0);
	expect_messages(0, 1);
	expect_answer(FX_NAK(ROCE_NAK_INVALID_REQUEST), PSN + 1, 1);
}

/* A NAK that waits behind the answer to a READ: the queue pair executes nothing more. */
UNIT_RULE(end__refusal_behind_a_read_frees_what_is_held)
{
	const struct fx_target read = { (uintptr_t)end.memory, roce_mr_key(region), 8 };

	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, PSN, 0, &read, 0));
	message(2);
	expect_held(1);
	fx_rx_request(&end, &peer, MID, PSN + 1, MTU, 0);
	assert_int_equal(qp->rx.state, ROCE_QP_ENDING);
	expect_held(0);
	(void)fx_tx_drop(&end);
}

/* All connections of an adapter that goes away. */
UNIT_RULE(end__domain_that_breaks_frees_what_is_held)
{
	message(1);
	roce_domain_lock(end.domain);
	roce_domain_break(end.domain);
	roce_domain_unlock(end.domain);
	assert_int_equal(end.engine->held, 0);
	(void)fx_tx_drop(&end);
}
