/* SPDX-License-Identifier: BSD-3-Clause */
/* A world: the engine in the place of one side, and the turn of the recorded frames. */

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "queue/domain.h"
#include "replay.h"

#define BURST      32u
#define POLLS_MAX  100000u
#define CQ_DEPTH   4096u
#define SENDS_MAX  512u
#define IDLE_POLLS 8u
#define LINGER     (RP_HZ / 50)

static void
notified(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct rp_end *end = owner;

	RTE_SET_USED(arg);
	RTE_SET_USED(status);
	if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN)
		end->broken = true;
	assert_int_not_equal(kind, ROCE_ENGINE_ASYNC_CQ_OVERFLOW);
}

/* The smallest recorded number of our side: the others follow, and numbers between them are skipped. */
static uint32_t
first_qpn(const struct rp_world *world)
{
	uint32_t first = ROCE_QPN_MASK;

	for (int i = 0; i < world->capture->flows; i++)
		first = RTE_MIN(first, world->capture->flow[i].qpn[world->me]);
	return first;
}

static void
make_domain(struct rp_world *world)
{
	struct roce_domain_config config = {
		.engines = 1,
		.hz = RP_HZ,
		.seed = 1,
		.first_qpn = first_qpn(world),
		.first_psn = UINT32_MAX,
		.addr = { world->capture->ip[world->me] },
		.addrs = 1,
		.pool = { unit_pool() },
		.memory = fx_memory,
		.notify = notified,
		.notify_arg = world,
	};

	assert_int_equal(roce_domain_create(&config, &world->domain), 0);
	world->engine = roce_domain_engine(world->domain, 0);
	/* The recorded responders keep nothing that comes too early, and the frames that follow are for such a one. */
	world->engine->held_max = 0;
	assert_int_equal(roce_pd_create(roce_domain_context(world->domain), &world->pd), 0);
	assert_int_equal(roce_cq_create(roce_domain_context(world->domain), CQ_DEPTH, world,
					 &world->send_cq),
			0);
	assert_int_equal(roce_cq_create(roce_domain_context(world->domain), CQ_DEPTH, world,
					 &world->recv_cq),
			0);
	assert_int_equal(roce_srq_create(world->pd, RP_RECVS, 1, world, &world->srq), 0);
}

static struct roce_qp_attr
attr_of(struct rp_end *end)
{
	struct rp_world *world = end->world;
	const struct rp_flow *flow = &world->capture->flow[end->index];

	return (struct roce_qp_attr){
		.pd = world->pd,
		.send_cq = world->send_cq,
		.recv_cq = world->recv_cq,
		.srq = flow->srq[world->me] ? world->srq : NULL,
		.max_send_wr = SENDS_MAX,
		.max_recv_wr = RP_RECVS,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_dest_rd_atomic = ROCE_RD_ATOMIC_MAX,
		.atomics = true,
		.owner = end,
	};
}

/* Numbers are given in turn: whoever comes before the recorded one ends at once. */
static void
make_qp(struct rp_end *end)
{
	struct rp_world *world = end->world;
	uint32_t wanted = world->capture->flow[end->index].qpn[world->me];
	const struct roce_qp_attr attr = attr_of(end);

	for (;;) {
		assert_int_equal(roce_qp_create(&attr, &end->qp), 0);
		if (roce_qp_number(end->qp) == wanted)
			return;
		assert_true(roce_qp_number(end->qp) < wanted);
		roce_qp_destroy(end->qp);
	}
}

/* The end with the smallest number that has no queue pair yet. */
static struct rp_end *
next_end(struct rp_world *world)
{
	const struct rp_flow *flow = world->capture->flow;
	int next = -1;

	for (int i = 0; i < world->capture->flows; i++) {
		if (world->end[i].qp == NULL &&
				(next < 0 || flow[i].qpn[world->me] < flow[next].qpn[world->me]))
			next = i;
	}
	return next >= 0 ? &world->end[next] : NULL;
}

static void
make_ends(struct rp_world *world)
{
	struct rp_end *end;

	while ((end = next_end(world)) != NULL)
		make_qp(end);
}

static void
open_world(struct rp_world *world)
{
	const struct rp_capture *capture = world->capture;

	for (int i = 0; i < capture->flows; i++) {
		world->end[i] = (struct rp_end){ .world = world, .index = i };
		world->end[i].sent = capture->flow[i].psn[world->me];
		world->end[i].write_psn = capture->flow[i].psn[world->peer];
	}
	world->taken = calloc(capture->frames + 1, sizeof(*world->taken));
	assert_non_null(world->taken);
	make_domain(world);
	rp_memory_open(world);
	make_ends(world);
	rp_cm_open(world);
	roce_engine_lock(world->engine);
	for (int i = 0; i < capture->flows; i++) {
		if (capture->flow[i].conn < 0)
			rp_end_up(&world->end[i], true);
	}
	roce_engine_unlock(world->engine);
	for (int i = 0; i < capture->flows; i++)
		rp_post_receives(&world->end[i], NULL);
}

static void
destroy(struct rp_end *end)
{
	if (end->qp == NULL)
		return;
	roce_engine_lock(end->world->engine);
	roce_qp_set_conn(end->qp, NULL);
	roce_engine_unlock(end->world->engine);
	roce_qp_destroy(end->qp);
	end->qp = NULL;
	end->broken = true;
}

static void
close_world(struct rp_world *world)
{
	for (int i = 0; i < world->capture->flows; i++)
		destroy(&world->end[i]);
	rp_cm_close(world);
	rp_memory_close(world);
	assert_int_equal(roce_srq_destroy(world->srq), 0);
	assert_int_equal(roce_cq_destroy(world->recv_cq), 0);
	assert_int_equal(roce_cq_destroy(world->send_cq), 0);
	assert_int_equal(roce_pd_destroy(world->pd), 0);
	roce_domain_destroy(world->domain);
	free(world->taken);
	assert_int_equal(fx_live(), 0);
	assert_true(unit_pool_is_full());
}

/* Everything that can be said now. @return frames. */
static unsigned int
speak(struct rp_world *world)
{
	unsigned int total = 0;

	for (;;) {
		struct rte_mbuf *pkts[BURST];
		uint16_t n;

		roce_engine_lock(world->engine);
		n = roce_engine_tx(world->engine, pkts, BURST, world->now);
		roce_engine_unlock(world->engine);
		for (uint16_t i = 0; i < n; i++)
			rp_judge(world, pkts[i]);
		rp_post_reap(world);
		if (n == 0)
			return total;
		total += n;
	}
}

/* Let the time pass until @p until: timers fire when they want to. */
static void
pass(struct rp_world *world, uint64_t until)
{
	unsigned int idle = 0;

	for (unsigned int polls = 0; polls < POLLS_MAX; polls++) {
		uint64_t deadline;

		idle = speak(world) > 0 ? 0 : idle + 1;
		roce_engine_lock(world->engine);
		deadline = roce_engine_deadline(world->engine);
		roce_engine_unlock(world->engine);
		if (deadline > until || (deadline <= world->now && idle > IDLE_POLLS)) {
			world->now = RTE_MAX(world->now, until);
			return;
		}
		world->now = RTE_MAX(deadline, world->now);
	}
	fail_msg("%s: the engine never rests", world->capture->name);
}

static void
feed(struct rp_world *world, struct rte_mbuf *m)
{
	roce_engine_lock(world->engine);
	assert_int_equal(roce_engine_rx(world->engine, &m, 1, world->now), 0);
	roce_engine_unlock(world->engine);
}

/*
 * An acknowledgement of more than our side has sent by now: the recorded one was faster. As long as it goes on then, it
 * first hears what the peer would have said to what it did send.
 */
static void
hear_ahead(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_end *end = frame->flow >= 0 ? &world->end[frame->flow] : NULL;

	while (end != NULL && rp_says(frame, ROCE_AETH_ACK) && end->done < end->said &&
			roce_psn_diff(frame->pkt.psn, end->sent) >= 0) {
		uint32_t sent = end->sent;

		feed(world, rp_feed_ack(frame, roce_psn_add(sent, ROCE_PSN_MASK)));
		(void)speak(world);
		if (end->sent == sent)
			return;
	}
}

static void
hear(struct rp_world *world, const struct rp_frame *frame)
{
	if (frame->flow >= 0 && !world->end[frame->flow].broken &&
			world->capture->flow[frame->flow].dead_at[world->me] ==
					frame - world->capture->frame)
		destroy(&world->end[frame->flow]);
	if (frame->flow >= 0 && rp_is_request(frame)) {
		rp_post_receives(&world->end[frame->flow], frame);
		rp_memory_recall(world, frame);
	}
	hear_ahead(world, frame);
	feed(world, rp_feed_copy(world, frame));
	if (frame->flow >= 0 && rp_is_request(frame))
		rp_memory_check(world, frame);
}

/* Our side said something: whoever made it do so does it again. */
static void
act(struct rp_world *world, const struct rp_frame *frame)
{
	world->result->recorded++;
	if (frame->flow < 0)
		rp_cm_act(world, frame);
	else if (frame->begins != NULL)
		rp_post_message(&world->end[frame->flow], frame->begins);
}

void
rp_play(const struct rp_capture *capture, enum rp_side me, struct rp_result *result)
{
	struct rp_world world = {
		.capture = capture,
		.me = (uint8_t)me,
		.peer = (uint8_t)!me,
		.now = RP_HZ,
		.recv_len = rp_recv_len(capture, (uint8_t)me),
		.result = result,
	};

	open_world(&world);
	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		pass(&world, frame->at);
		if (frame->from == me)
			act(&world, frame);
		else
			hear(&world, frame);
		(void)speak(&world);
	}
	/* A connection manager sends the DREQ a little later than its queue pair ends. */
	pass(&world, world.now + LINGER);
	rp_judge_finish(&world);
	rp_post_finish(&world);
	rp_drops_finish(&world);
	close_world(&world);
}
