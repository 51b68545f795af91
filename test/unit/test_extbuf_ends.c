/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of requests, queue pairs, regions and engines while the device still has frames that refer to memory. */

#include <errno.h>

#include "extbuf_scene.h"

static void
to_error(void)
{
	fx_to_error(qa);
}

/* Flushed requests wait as well; one that was acknowledged before has succeeded, whenever that is told. */
UNIT_RULE(error__flushes_what_is_released)
{
	receive(1);
	post(0);
	post(1);
	assert_int_equal(send(), 6);
	for (unsigned int i = 0; i < 3; i++)
		fx_rx(&b, rte_pktmbuf_copy(held[i], unit_pool(), 0, UINT32_MAX));
	answer();
	post(2); /* never sent */
	to_error();
	want_none();
	release(3);
	poll_once();
	want(0, IBV_WC_SUCCESS);
	want_none();
	post(3); /* to a queue pair in error */
	poll_once();
	want_none();
	release(3);
	poll_once();
	for (uint64_t i = 1; i < 4; i++)
		want(i, IBV_WC_WR_FLUSH_ERR);
	want_none();
}

/*
 * The cable is out: a device that never frees a frame keeps no connection alive. It breaks when its retries are used up,
 * the owner is told at once, and ends it; what does not come is the completion.
 */
UNIT_RULE(silence__breaks_though_nothing_is_released)
{
	post(0);
	post(1);
	for (unsigned int i = 0; i < 1000 && roce_qp_state(qa) != ROCE_QP_ERR; i++) {
		uint64_t deadline = roce_engine_deadline(a.engine);

		if (deadline != ROCE_NEVER && deadline > a.now)
			a.now = deadline;
		send();
	}
	assert_int_equal(roce_qp_state(qa), ROCE_QP_ERR);
	assert_fields(a, (async_events, 1), (async_event[0].kind, ROCE_ENGINE_ASYNC_QP_BROKEN));
	want_none();
	assert_int_equal(roce_engine_deadline(a.engine), ROCE_NEVER);
	release(helds);
	poll_once();
	want(0, IBV_WC_RETRY_EXC_ERR);
	want(1, IBV_WC_WR_FLUSH_ERR);
}

/* A queue pair that drains tells so when its peer has everything, whatever the device does. */
UNIT_RULE(drain__does_not_wait_for_the_device)
{
	receive(1);
	post(0);
	send();
	carry(0);
	fx_drain(qa);
	answer();
	poll_once();
	assert_fields(a, (async_events, 1), (async_event[0].kind, ROCE_ENGINE_ASYNC_QP_DRAINED));
	want_none();
}

/* A queue pair ends without waiting for the frames of its requests; only the region has to wait for them. */
UNIT_RULE(destroy__leaves_the_region)
{
	receive(1);
	post(0); /* acknowledged */
	send();
	carry(0);
	answer();
	post(1); /* sent */
	send();
	post(2); /* not even that */
	roce_qp_destroy(qa);
	assert_int_equal(roce_mr_destroy(a.mr), -EBUSY);
	/* The refusal changed nothing: the region can still be used. */
	assert_true(roce_mr_covers(a.domain, a.key, (uintptr_t)a.memory, FX_MEMORY));
	release(helds - 1);
	assert_int_equal(roce_mr_destroy(a.mr), -EBUSY);
	release(1);
	/* Seen at once, without a poll. */
	assert_int_equal(roce_mr_destroy(a.mr), 0);
	want_none();
}

/*
 * RESET and a new connection: what had ended before has its completion, what had not has none, and frames of the last
 * connection complete nothing of this one.
 */
UNIT_RULE(reset__begins_anew)
{
	receive(2);
	post(0);
	send();
	carry(0);
	answer();
	post(1);
	send();
	fx_to_reset(qa);
	roce_qp_destroy(qb);
	qb = fx_qp(&b, NULL);
	fx_join(&a, qa, &b, qb);
	post(2);
	assert_int_equal(send(), 3);
	carry(6);
	answer();
	want_none();
	release(3);
	poll_once();
	want(0, IBV_WC_SUCCESS);
	release(3);
	poll_once();
	want_none();
	release(3);
	poll_once();
	want(2, IBV_WC_SUCCESS);
	want_none();
}

/* A queue pair that goes after a reset: the completions of what had ended go with it. */
UNIT_RULE(reset__and_destroy_leave_nothing)
{
	receive(1);
	post(0);
	send();
	carry(0);
	answer();
	post(1);
	fx_to_reset(qa);
	assert_true(roce_qp_waits_for_release(qa));
	roce_qp_destroy(qa);
	release(3);
	poll_once();
	want_none();
}

/* A region that a window is bound to is kept for that; one whose requests are all at rest ends. */
UNIT_RULE(region__ends_when_nothing_refers_to_it)
{
	receive(1);
	post(0);
	send();
	assert_int_equal(roce_mr_destroy(a.mr), -EBUSY);
	carry(0);
	answer();
	assert_int_equal(roce_mr_destroy(a.mr), -EBUSY);
	release(3);
	assert_int_equal(roce_mr_destroy(a.mr), 0);
	/* The request that waited has its completion by that. */
	want(0, IBV_WC_SUCCESS);
}

/* A frame that outlives its engine: whoever frees it finds what he needs, and the last one frees that. */
UNIT_RULE(engine__ends_before_its_frames)
{
	struct fx_end kept;
	unsigned int live;

	post(0);
	post(1);
	assert_int_equal(send(), 6);
	roce_qp_destroy(qa);
	/* The region has to be forgotten by force: the program ends with the device, whose driver keeps frames. */
	kept = a;
	a.mr->visitors = 0;
	assert_int_equal(roce_srq_destroy(a.srq), 0);
	assert_int_equal(roce_cq_destroy(a.send_cq), 0);
	assert_int_equal(roce_cq_destroy(a.recv_cq), 0);
	assert_int_equal(roce_mr_destroy(a.mr), 0);
	assert_int_equal(roce_pd_destroy(a.pd), 0);
	live = fx_live();
	roce_domain_destroy(a.domain);
	assert_true(fx_live() < live);
	live = fx_live();
	release(5);
	assert_int_equal(fx_live(), live);
	release(1);
	assert_int_equal(fx_live(), live - 1);
	free(kept.memory);
	fx_end_open(&a, 1, NULL);
}

/* Clones of a frame, of a program that mirrors what it sends, hold the memory like the frame. */
UNIT_RULE(clone__counts)
{
	struct rte_mempool *pool = unit_pool();
	struct rte_mbuf *clone;

	receive(1);
	assert_int_equal(fx_send(&a, qa, 0, 0, LEAST, ROCE_WR_SIGNALED), 0);
	assert_int_equal(send(), 1);
	clone = rte_pktmbuf_clone(held[0], pool);
	assert_non_null(clone);
	carry(0);
	answer();
	release(1);
	poll_once();
	want_none();
	rte_pktmbuf_free(clone);
	poll_once();
	want(0, IBV_WC_SUCCESS);
}

/* ---- long talks ---- */

#define WORLDS   60u
#define MESSAGES 200u
#define PLACES   8u /* in the memory of a; as many requests as fit its queue */

static uint64_t dice;

static uint32_t
roll(uint32_t sides)
{
	dice ^= dice >> 12;
	dice ^= dice << 25;
	dice ^= dice >> 27;
	return (uint32_t)((dice * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % sides;
}

/* Does a frame that the device has lead to the memory of message @p place? */
static bool
device_refers_to(uint32_t place)
{
	const uint8_t *from = a.memory + place * ROOM;

	for (unsigned int i = 0; i < helds; i++) {
		for (const struct rte_mbuf *m = held[i]; m != NULL; m = m->next) {
			const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

			if (at >= from && at < from + ROOM)
				return true;
		}
	}
	return false;
}

struct talk {
	uint32_t posted, completed, received;
	uint32_t loss; /* of a hundred frames */
	uint32_t hold; /* of a hundred polls, so many without a release */
};

static void
fill(uint32_t message)
{
	uint8_t *at = a.memory + message % PLACES * ROOM;

	for (uint32_t i = 0; i < SEND; i++)
		at[i] = (uint8_t)(message * 7 + i);
}

/* The consumer of a: posts while there is room, and writes to the memory of each message that completed. */
static void
consume(struct talk *talk)
{
	struct roce_event event;

	while (roce_cq_poll(a.send_cq, &event, 1) == 1) {
		assert_fields(event, (status, IBV_WC_SUCCESS), (wr_id, talk->completed));
		assert_false(device_refers_to(talk->completed % PLACES));
		memset(a.memory + talk->completed % PLACES * ROOM, 0xdd, ROOM);
		talk->completed++;
	}
	while (talk->posted < MESSAGES && talk->posted - talk->completed < PLACES && roll(3) > 0) {
		uint32_t place = talk->posted % PLACES;

		fill(talk->posted);
		assert_int_equal(fx_send(&a, qa, talk->posted, place * ROOM, 1 + roll(SEND),
						 ROCE_WR_SIGNALED),
				0);
		talk->posted++;
	}
}

/* The consumer of b: what arrives is what was posted, in order. */
static void
check_received(struct talk *talk)
{
	struct roce_event event;

	while (roce_cq_poll(b.recv_cq, &event, 1) == 1) {
		assert_int_equal(event.status, IBV_WC_SUCCESS);
		for (uint32_t i = 0; i < event.byte_len; i++)
			assert_int_equal(b.memory[MIRROR + i], (uint8_t)(talk->received * 7 + i));
		talk->received++;
		receive(1);
	}
}

static void
carry_some(struct talk *talk, unsigned int from)
{
	for (unsigned int i = from; i < helds; i++) {
		if (roll(100) >= talk->loss) {
			fx_rx(&b, rte_pktmbuf_copy(held[i], unit_pool(), 0, UINT32_MAX));
			check_received(talk);
		}
	}
}

static void
answer_some(const struct talk *talk)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(&b, pkts, 32);

	for (uint16_t i = 0; i < n; i++) {
		if (roll(100) >= talk->loss)
			fx_rx(&a, pkts[i]);
		else
			rte_pktmbuf_free(pkts[i]);
	}
}

/* The device frees in an order of its own. */
static void
release_some(const struct talk *talk)
{
	if (roll(100) < talk->hold)
		return;
	for (uint32_t n = roll(helds + 1); n > 0; n--) {
		uint32_t i = roll(helds);

		rte_pktmbuf_free(held[i]);
		held[i] = held[--helds];
	}
}

/*
 * The rule itself, against losses, retransmissions and a device that releases late and in any order: when a request
 * completes no frame that the device has leads to its memory, what the consumer does to it then reaches nobody, and each
 * message arrives once.
 */
UNIT_RULE(talk__never_completes_before_the_release)
{
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		struct talk talk = { 0 };
		unsigned int polls = 0;

		dice = seed * UINT64_C(0x9e3779b97f4a7c15);
		talk.loss = roll(3) * 5;
		talk.hold = roll(100);
		receive(4);
		/* All receives of b have the same memory: it looks at each message before the next. */
		b.engine->held_max = 0;
		while (talk.completed < MESSAGES) {
			unsigned int from = helds;

			assert_true(++polls < 1000000);
			consume(&talk);
			if (helds + 32 < HELD)
				helds += fx_take(&a, held + helds, 32);
			carry_some(&talk, from);
			answer_some(&talk);
			release_some(&talk);
			a.now += 20000;
			b.now += 20000;
		}
		assert_int_equal(talk.received, MESSAGES);
		assert_true(fx_stats(&a)->tx_zero_copy > 0);
		teardown(state);
		setup(state);
	}
}
