/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of timeouts, and whether they were needed. The clock is a variable; a tick is 1 ns. */

#include "played_scene.h"

#define PSN    FX_SQ_PSN
#define MTU    FX_MTU
#define US     UINT64_C(1000)
#define MS     (1000 * US)
#define REMOTE 0x100000u
#define FIRST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define MID    IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define GAP    (10 * US) /**< between two frames of an answer */
#define LONG   1000u     /**< packets of a long READ */

static uint8_t memory[LONG * MTU];
static struct roce_mr *target;

static int
setup(void **state)
{
	open_scene(&(struct played){
			.max_rd_atomic = 4, .max_dest_rd_atomic = 4, .rights = FX_ALL });
	target = fx_mr(end.pd, (uintptr_t)memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	return 0;
}

static int
finish(void **state)
{
	roce_qp_destroy(qp);
	assert_int_equal(roce_mr_destroy(target), 0);
	return teardown(state);
}

static void
read_packets(uint32_t packets)
{
	const struct roce_sge sge = { (uintptr_t)memory, packets * MTU, roce_mr_key(target) };
	const struct roce_wr wr = {
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = REMOTE,
		.rkey = 0x99,
	};

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	assert_int_equal(fx_tx_one(&end).length, packets * MTU);
}

/* Packets @p from to @p to - 1 of the answer, GAP apart. */
static void
answer(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		end.now += GAP;
		fx_rx_response(&end, &peer, i == 0 ? FIRST : MID, PSN + i, MTU);
	}
}

/* Silence until the requester asks again. @return how long it was. */
static uint64_t
silence(void)
{
	const uint64_t begin = end.now;
	const struct fx_sent *sent;
	unsigned int n = 0;

	while (n == 0) {
		assert_true(end.now - begin < 100 * MS);
		sent = fx_run(&end, RTE_MAX(end.now, roce_engine_deadline(end.engine)), &n);
	}
	assert_int_equal(n, 1);
	assert_int_equal(sent[0].psn, qp->tx.una);
	return sent[0].at - begin;
}

/* An answer is waited for eight times as long as a repeat takes; then twice as long, and so on. */
UNIT_RULE_IN(wait__is_what_a_repeat_costs, setup, finish)
{
	const uint64_t cost = 200 * GAP;

	read_packets(LONG);
	answer(0, LONG - 200);
	assert_in_range(silence(), 8 * cost * 9 / 10, 8 * cost * 11 / 10);
	assert_in_range(silence(), 16 * cost * 9 / 10, 16 * cost * 11 / 10);
	/* But never longer than the local ACK timeout. */
	assert_true(silence() < 67109 * US);
	assert_fields(*fx_stats(&end), (early_retransmits, 2), (local_ack_timeout_err, 1));
}

/* Towards its end an answer costs little to ask for again. */
UNIT_RULE_IN(wait__is_short_for_the_end_of_an_answer, setup, finish)
{
	read_packets(LONG);
	answer(0, LONG - 1);
	assert_true(silence() < 2 * MS);
}

/* Where frames get lost the wait is what a repeat costs, and not more. */
UNIT_RULE_IN(wait__is_shorter_where_frames_are_lost, setup, finish)
{
	const uint64_t cost = 500 * GAP;

	read_packets(LONG);
	answer(0, 200);
	answer(201, 202);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 200);
	answer(200, LONG - 500);
	assert_in_range(silence(), cost * 9 / 10, cost * 2);
}

/* A pause is no part of the rate: the next wait is as long as it would have been. */
UNIT_RULE_IN(wait__does_not_grow_with_a_pause, setup, finish)
{
	const uint64_t cost = 500 * GAP;

	read_packets(LONG);
	answer(0, 100);
	(void)silence();
	(void)silence();
	answer(100, LONG - 500);
	assert_in_range(silence(), 8 * cost * 9 / 10, 8 * cost * 11 / 10);
}

/* A gap that was reported is asked for once more by the timer, and not by stale answers behind it. */
UNIT_RULE_IN(timeout__lets_stale_answers_ask_nothing, setup, finish)
{
	read_packets(LONG);
	answer(0, 100);
	answer(101, 110);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 100);
	(void)silence();
	answer(110, 400);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->implied_nak_seq_err, 1);
	/* The repeat's answer brings what is missing, and a loss in it is one more. */
	answer(100, 200);
	answer(201, 210);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 200);
}

/* A repeat whose beginning is lost, too, goes back behind the gap: that is asked for at once, and not after its end. */
UNIT_RULE_IN(lost_again__is_asked_for_at_once, setup, finish)
{
	read_packets(LONG);
	answer(0, 100);
	answer(101, 102);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 100);
	/* Answers that were on their way make no request. */
	answer(102, 150);
	fx_tx_none(&end);
	for (uint32_t loss = 0; loss < 3; loss++) {
		answer(101 + loss, 102 + loss);
		assert_int_equal(fx_tx_one(&end).psn, PSN + 100);
		answer(102 + loss, 130);
		fx_tx_none(&end);
	}
	assert_fields(*fx_stats(&end), (implied_nak_seq_err, 4), (early_retransmits, 0));
	answer(100, 200);
	fx_tx_none(&end);
	/* A copy of the last one may be one that the network made. */
	answer(201, 202);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 200);
	answer(201, 202);
	fx_tx_none(&end);
}

/* Frames that overtake each other just behind the gap are no repeat. */
UNIT_RULE_IN(lost_again__is_not_what_was_overtaken, setup, finish)
{
	read_packets(LONG);
	answer(0, 100);
	answer(103, 104);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 100);
	fx_rx_response(&end, &peer, MID, PSN + 102, MTU);
	fx_rx_response(&end, &peer, MID, PSN + 101, MTU);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->implied_nak_seq_err, 1);
}

static void
send_many(uint32_t n)
{
	fx_send_many(&end, qp, n, 8, 0);
	fx_tx_drop(&end);
}

static void
acknowledge(uint32_t number)
{
	fx_rx_answer(&end, &peer, FX_ACK, PSN + number);
}

/* An acknowledgement of what the timeout did not send again: the first copy had arrived. */
UNIT_RULE_IN(acknowledged__shows_a_needless_timeout, setup, finish)
{
	uint32_t before;
	unsigned int n;

	for (uint32_t i = 0; i < 20; i++) {
		send_many(1);
		end.now += 20 * US;
		acknowledge(i);
	}
	before = qp->tx.srtt;
	send_many(16);
	/* Three probes, then everything. */
	for (unsigned int probe = 0; probe < 3; probe++)
		assert_in_range(silence(), 40 * US << probe, 60 * US << probe);
	assert_int_equal(qp->tx.window, ROCE_WINDOW);
	(void)fx_run(&end, end.now + 250 * US, &n);
	assert_fields(qp->tx, (window, ROCE_WINDOW / 2), (psn, qp->tx.max));
	assert_int_equal(n, 16);
	end.now = qp->cold.recovery.repeated_at + US;
	acknowledge(35);
	assert_fields(qp->tx, (window, ROCE_WINDOW), (threshold, ROCE_WINDOW));
	/* So the next probe comes later. */
	assert_true(qp->tx.srtt > before + 20 * US);
	send_many(1);
	assert_true(silence() >= 2 * qp->tx.srtt);
}

/* One of what it did send again says nothing; and a repeat is no measurement (Karn's rule). */
UNIT_RULE_IN(acknowledged__of_the_repeat_alone_shows_nothing, setup, finish)
{
	uint32_t srtt, rttvar;
	unsigned int n;

	for (uint32_t i = 0; i < 20; i++) {
		send_many(1);
		end.now += 20 * US;
		acknowledge(i);
	}
	srtt = qp->tx.srtt;
	rttvar = qp->tx.rttvar;
	send_many(16);
	for (unsigned int probe = 0; probe < 3; probe++)
		(void)silence();
	(void)fx_run(&end, end.now + 250 * US, &n);
	assert_int_equal(n, 16);
	end.now += MS;
	acknowledge(20);
	assert_fields(qp->tx, (window, ROCE_WINDOW / 2 + 1), (srtt, srtt), (rttvar, rttvar));
}

/*
 * The answer came, and then once more for each time it was asked for by a timeout: both timeouts were needless. Once less
 * shows nothing: then the first answer was lost.
 */
UNIT_RULE_IN(answered_twice__shows_needless_timeouts, setup, finish)
{
	uint32_t before;

	read_packets(LONG);
	answer(0, 200);
	before = qp->tx.srtt;
	(void)silence();
	(void)silence();
	answer(200, LONG - 100);
	fx_rx_response(&end, &peer, FIRST, PSN + 200, MTU);
	assert_int_equal(qp->tx.srtt, before);
	fx_rx_response(&end, &peer, FIRST, PSN + 200, MTU);
	assert_true(qp->tx.srtt > before + 100 * US);
	before = qp->tx.srtt;
	fx_rx_response(&end, &peer, FIRST, PSN + 200, MTU);
	assert_int_equal(qp->tx.srtt, before);
}

/* A queue pair that has ended answers no READ any more, however much of the answer is missing. */
UNIT_RULE_IN(answers__end_with_the_queue_pair, setup, finish)
{
	const struct fx_target what = { (uintptr_t)end.memory, roce_mr_key(region), FX_MEMORY };
	struct fx_sent sent[4];

	for (unsigned int i = 0; i < 3; i++) {
		fx_rx(&end,
				fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST,
						FX_RQ_PSN + i * FX_MEMORY / MTU, 0, &what, 0));
	}
	assert_int_equal(fx_tx(&end, sent, 4), 4);
	fx_to_error(qp);
	fx_tx_none(&end);
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, FX_RQ_PSN, 0, &what, 0));
	fx_tx_none(&end);
}
