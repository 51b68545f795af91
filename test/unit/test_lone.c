/* SPDX-License-Identifier: BSD-3-Clause */
/* When a request leaves with its post, and when with the next poll (queue/lone.h). */

#include "queue/lone.h"
#include "fixture.h"

#define SEND IBV_OPCODE_RC_SEND_ONLY

static struct fx_end end;
static struct roce_qp *qp;
static struct fx_peer peer;
static uint32_t heard;
static uint32_t posted;
static struct rte_mbuf *left[4]; /* frames that left with a post */
static uint16_t left_n;

static void
no_barrier(void)
{
}

static void
transmit(void *arg, unsigned int engine)
{
	assert_int_equal(engine, 0);
	left_n += roce_engine_tx_ready(
			end.engine, left + left_n, (uint16_t)(RTE_DIM(left) - left_n));
}

static void
own(void)
{
	for (unsigned int i = 0; i <= ROCE_BIAS_THRESHOLD; i++)
		fx_tx_none(&end);
	assert_true(roce_bias_owns(&end.engine->lock.bias));
}

static void
open_end(unsigned int engines)
{
	roce_engine_use_barrier(no_barrier);
	fx_end_open(&end, 1, &(struct fx_options){ .engines = engines });
	end.engine->domain->config.transmit = transmit;
	heard = posted = 0;
	left_n = 0;
}

static int
setup(void **state)
{
	open_end(1);
	qp = fx_played_qp(&end, &peer);
	fx_fill_srq(&end, 200, 64);
	own();
	return 0;
}

static int
setup_engines(void **state)
{
	open_end(2);
	qp = fx_played_qp(&end, &peer);
	fx_fill_srq(&end, 200, 64);
	assert_ptr_equal(qp->engine, end.engine);
	own();
	return 0;
}

static void
post_recv(void)
{
	struct roce_sge sge;
	const struct roce_recv_wr wr = fx_recv(&end, &sge, 0, 0, 64);

	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
}

/* Its own queue has room for four receives, and three are there. */
static int
setup_own_queue(void **state)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;

	open_end(1);
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.extensions = true;
	attr = fx_attr(&end);
	attr.srq = NULL;
	attr.max_recv_wr = 4;
	attr.max_recv_sge = 1;
	qp = fx_play(&end, &attr, &connect, &peer);
	for (unsigned int i = 0; i < 3; i++)
		post_recv();
	own();
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&end);
	roce_engine_use_barrier(NULL);
	return fx_left();
}

static void
post(void)
{
	assert_int_equal(fx_send(&end, qp, posted++, 0, 8, ROCE_WR_SIGNALED), 0);
}

static void
acknowledge(void)
{
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + posted - 1);
}

static void
expect_left(uint8_t opcode)
{
	struct roce_pkt pkt;

	assert_int_equal(left_n, 1);
	assert_int_equal(roce_frame_parse(left[0], &pkt), ROCE_FRAME_OK);
	assert_fields(pkt, (opcode, opcode), (psn, FX_SQ_PSN + posted - 1), (ack_req, true));
	assert_true(roce_icrc_ok(&pkt));
	rte_pktmbuf_free(left[0]);
	left_n = 0;
	fx_tx_none(&end);
}

static void
expect_left_with_the_post(void)
{
	expect_left(SEND);
}

/* The next poll sends @p n requests. */
static void
expect_waits_for_the_poll(unsigned int n)
{
	assert_int_equal(left_n, 0);
	(void)fx_tx_exactly(&end, n);
}

/* One request after the other, each acknowledged before the next. */
static void
learn(void)
{
	for (unsigned int i = 0; i < ROCE_LONE_ENOUGH; i++) {
		post();
		expect_waits_for_the_poll(1);
		acknowledge();
	}
}

UNIT_RULE(request__leaves_with_its_post_after_others_that_went_alone)
{
	uint64_t frames;

	learn();
	frames = fx_stats(&end)->tx_frames;
	for (unsigned int i = 0; i < 3; i++) {
		post();
		expect_left_with_the_post();
		acknowledge();
	}
	assert_int_equal(fx_stats(&end)->tx_frames, frames + 3);
	assert_int_equal(roce_cq_count(end.send_cq), ROCE_LONE_ENOUGH + 3);
}

UNIT_RULE(request__waits_while_another_is_in_flight)
{
	learn();
	post();
	expect_left_with_the_post();
	post();
	expect_waits_for_the_poll(1);
	acknowledge();
	/* And so the next one does: requests come in numbers again. */
	post();
	expect_waits_for_the_poll(1);
}

UNIT_RULE(requests__that_went_together_are_forgotten_by_none)
{
	learn();
	post();
	expect_left_with_the_post();
	post();
	post();
	expect_waits_for_the_poll(2);
	acknowledge();
	learn();
	post();
	expect_left_with_the_post();
}

/* A post reads no clock: the next poll may be the first to learn how late it was. */
UNIT_RULE(request__begins_its_time_with_a_late_poll)
{
	uint32_t round_trip;

	learn();
	round_trip = qp->tx.srtt;
	end.now += FX_HZ;
	post();
	expect_left_with_the_post();
	end.now += 100;
	acknowledge();
	assert_int_equal(qp->tx.srtt, round_trip);
	post();
	expect_left_with_the_post();
	end.now += FX_HZ / 1000000;
	acknowledge();
	assert_int_not_equal(qp->tx.srtt, round_trip);
}

/* Answered before that poll looks at timers: nothing is in flight any more. */
UNIT_RULE(request__may_be_answered_when_a_late_poll_comes)
{
	learn();
	post();
	end.now += FX_HZ;
	assert_int_equal(left_n, 1);
	acknowledge();
	assert_int_equal(roce_cq_count(end.send_cq), ROCE_LONE_ENOUGH + 1);
	expect_left_with_the_post();
	assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
}

/* A loop posts to many: they go together, but for the first. */
UNIT_RULE(requests__of_several_queue_pairs_between_two_polls)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x778);
	struct fx_peer other_peer;
	struct roce_qp *other = fx_play(&end, NULL, &connect, &other_peer);

	fx_tx_none(&end);
	learn();
	other->tx.lone = ROCE_LONE_ENOUGH;
	other->tx.credits_known = true;
	post();
	assert_int_equal(left_n, 1);
	assert_int_equal(fx_send(&end, other, 0, 0, 8, 0), 0);
	assert_int_equal(left_n, 1);
	(void)fx_tx_exactly(&end, 1);
	expect_left_with_the_post();
}

/* It would hold up the caller. */
UNIT_RULE(request__of_several_frames_waits)
{
	learn();
	assert_int_equal(fx_send(&end, qp, posted++, 0, FX_MTU + 1, 0), 0);
	expect_waits_for_the_poll(2);
}

/* Frames that are paced do not leave with others, and are paced by polls. */
UNIT_RULE(request__waits_for_the_rate_limiter)
{
	learn();
	qp->tx.paced = true;
	post();
	assert_int_equal(left_n, 0);
	qp->tx.paced = false;
	expect_waits_for_the_poll(1);
}

/* It goes with the others on the ready list, in one burst. */
UNIT_RULE(request__waits_while_another_queue_pair_has_something_to_send)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x778);
	struct fx_peer other_peer;
	struct roce_qp *other = fx_play(&end, NULL, &connect, &other_peer);

	fx_tx_none(&end);
	learn();
	assert_int_equal(fx_send(&end, other, 0, 0, 8, 0), 0);
	post();
	expect_waits_for_the_poll(2);
}

/* Frames that came together are answered together. */
UNIT_RULE(request__waits_after_a_burst_of_several_frames)
{
	struct rte_mbuf *pkts[2];

	learn();
	for (unsigned int i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = fx_request(&peer, SEND, FX_RQ_PSN + heard++, 8, 0);
	roce_engine_lock(end.engine);
	assert_int_equal(roce_engine_rx(end.engine, pkts, RTE_DIM(pkts), end.now), 0);
	/* A poll that finds nothing changes nothing. */
	assert_int_equal(roce_engine_rx(end.engine, pkts, 0, end.now), 0);
	roce_engine_unlock(end.engine);
	post();
	expect_waits_for_the_poll(1);
	acknowledge();
	post();
	expect_left_with_the_post();
}

/* Forwarded by another engine, they came all the same. */
UNIT_RULE_IN(request__waits_after_a_burst_of_another_engine, setup_engines, teardown)
{
	learn();
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m = fx_request(&peer, SEND, FX_RQ_PSN + heard++, 8, 0);

		assert_int_equal(rte_ring_mp_enqueue(end.engine->inbox, m), 0);
	}
	roce_engine_lock(end.engine);
	assert_int_equal(roce_engine_rx(end.engine, NULL, 0, end.now), 0);
	roce_engine_unlock(end.engine);
	assert_int_equal(fx_stats(&end)->rx_send_requests, 2);
	post();
	expect_waits_for_the_poll(1);
}

/* Its answer may be the first that a late poll finds, and come from another engine. */
UNIT_RULE_IN(request__begins_its_time_with_a_late_poll_of_another_engine, setup_engines, teardown)
{
	struct rte_mbuf *answer;
	uint32_t round_trip;

	learn();
	round_trip = qp->tx.srtt;
	post();
	assert_int_equal(left_n, 1);
	end.now += FX_HZ;
	answer = fx_answer(&peer, FX_ACK, FX_SQ_PSN + posted - 1, posted);
	assert_int_equal(rte_ring_mp_enqueue(end.engine->inbox, answer), 0);
	roce_engine_lock(end.engine);
	roce_engine_rx_forwarded(end.engine, end.now);
	roce_engine_unlock(end.engine);
	assert_int_equal(roce_cq_count(end.send_cq), ROCE_LONE_ENOUGH + 1);
	assert_int_equal(qp->tx.srtt, round_trip);
	expect_left_with_the_post();
}

/*
 * The program may answer before it posts its receives again: a request would give the peer fewer credits than the next poll
 * will.
 */
UNIT_RULE_IN(request__waits_for_receives_of_the_queue_pair, setup_own_queue, teardown)
{
	learn();
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + heard++, 8, FX_ACKREQ);
	post();
	expect_left(ROCE_OPCODE_PIGGYBACK | SEND);
	acknowledge();
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + heard++, 8, FX_ACKREQ);
	post();
	post_recv();
	expect_waits_for_the_poll(1);
}

/* Another thread may poll meanwhile: the post only rings. */
UNIT_RULE(request__waits_when_the_poster_does_not_own_the_engine)
{
	learn();
	roce_engine_use_barrier(NULL);
	end.engine->lock.bias = (struct roce_bias){ 0 };
	post();
	expect_waits_for_the_poll(1);
}

UNIT_RULE(request__waits_when_the_program_polls_its_port_itself)
{
	learn();
	end.engine->domain->config.transmit = NULL;
	post();
	expect_waits_for_the_poll(1);
}

/* The device may be unable to take it: the poll sends it later. */
static void
refuse(void *arg, unsigned int engine)
{
}

UNIT_RULE(request__that_cannot_leave_is_for_the_next_poll)
{
	learn();
	end.engine->domain->config.transmit = refuse;
	post();
	expect_waits_for_the_poll(1);
}
