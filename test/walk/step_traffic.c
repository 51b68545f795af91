/* SPDX-License-Identifier: BSD-3-Clause */
/* Post, take, complete, reap: what a consumer and a wire do all the time. */

#include "steps.h"
#include "wire/psn.h"

#define PACKETS_MAX  3u /**< of a message: a whole receive */
#define SEGMENTS_MAX 4u /**< of a receive; one more than the shared queues have at the most */

/* ---- picking ---- */

uint16_t
step_pick_srq(struct ground *g)
{
	uint16_t i = (uint16_t)ground_draw(g, g->srqs);

	while (g->model.srq[i].name == 0)
		i = (uint16_t)(i + 1 < g->srqs ? i + 1 : 0);
	return i;
}

uint16_t
step_pick_cq(struct ground *g)
{
	uint16_t i = (uint16_t)ground_draw(g, g->cqs);

	while (g->model.cq[i].name == 0)
		i = (uint16_t)(i + 1 < g->cqs ? i + 1 : 0);
	return i;
}

uint16_t
step_pick_qp(struct ground *g)
{
	uint16_t i = (uint16_t)ground_draw(g, g->qps);

	for (unsigned int n = 0; n < g->qps; n++) {
		if (g->model.qp[i].name != 0)
			return i;
		i = (uint16_t)(i + 1 < g->qps ? i + 1 : 0);
	}
	return MODEL_NONE;
}

/* A queue pair that receives, or MODEL_NONE. */
static uint16_t
pick_up(struct ground *g)
{
	uint16_t i = (uint16_t)ground_draw(g, g->qps);

	for (unsigned int n = 0; n < g->qps; n++) {
		const struct model_qp *qp = &g->model.qp[i];

		if (qp->name != 0 && (qp->state == ROCE_QP_RTR || qp->state == ROCE_QP_RTS))
			return i;
		i = (uint16_t)(i + 1 < g->qps ? i + 1 : 0);
	}
	return MODEL_NONE;
}

/* ---- post ---- */

/* Cut @p length bytes of a receive into segments of which only the last one is not small. */
static void
cut(const struct ground *g, uint16_t receive, uint32_t length, struct roce_sge *sge,
		uint32_t segments)
{
	uint64_t at = (uintptr_t)g->memory + (size_t)receive * GROUND_RECEIVE;

	for (uint32_t i = 0; i < segments; i++) {
		uint32_t part = i + 1 < segments ? length / 3 : length;

		sge[i] = (struct roce_sge){ at, part, g->key };
		at += part;
		length -= part;
	}
}

void
step_post(struct ground *g)
{
	uint16_t srq = step_pick_srq(g);
	uint16_t receive = model_next_idle(&g->model);
	uint64_t dice = ground_random(g);
	/* Mostly whole, sometimes shorter than a message may be; in no segment or several, now and then too many. */
	uint32_t length = (dice & 127) != 0 ? GROUND_RECEIVE : (dice >> 32) % GROUND_RECEIVE;
	uint32_t segments = (dice & 0x1f00) != 0
			? 1
			: (uint32_t)(dice >> 24 & 63) * (SEGMENTS_MAX + 1) / 64;
	struct roce_sge sge[SEGMENTS_MAX];
	struct roce_recv_wr wr = { .sg = sge, .num_sge = segments };
	int rc;

	length = segments > 0 ? length : 0;
	trace_step(WALK_POST, srq, receive, length, segments);
	if (receive == MODEL_NONE)
		return;
	cut(g, receive, length, sge, segments);
	wr.wr_id = model_cookie_next(&g->model, receive);
	rc = roce_srq_post(g->srq[srq], &wr);
	trace_answer(rc);
	TRACE_SAME("post", rc, model_post(&g->model, srq, length, segments));
}

/* ---- arrive ---- */

/* Payload: mostly small; a packet that is not the last is full, the last of several carries something. */
static uint32_t
length_of(uint64_t dice, bool first, bool last)
{
	uint32_t length;

	if (!last)
		return MODEL_MTU;
	length = (dice & 7) != 0 ? (uint32_t)(dice >> 8 & 63)
				 : (uint32_t)(dice >> 8) % (MODEL_MTU + 1);
	return first || length > 0 ? length : 1;
}

/* The peer sends on where it stopped; when it has heard of all it sent, where the queue pair is. */
static struct model_packet
next_packet(struct ground *g, uint16_t qp)
{
	const struct model_qp *q = &g->model.qp[qp];
	struct ground_sender *sender = &g->sender[qp];
	uint64_t dice = ground_random(g);
	struct model_packet packet = { .qp = qp, .qp_name = q->name, .link = q->link };

	if (sender->in_flight == 0 || sender->link != q->link) {
		sender->link = q->link;
		sender->psn = q->psn;
		sender->packets = q->packets;
		sender->in_flight = 0;
	}
	packet.psn = sender->psn;
	packet.first = sender->packets == 0;
	packet.last = sender->packets + 1 == PACKETS_MAX || (dice & 3) != 0;
	packet.with_imm = packet.last && (dice & 0x1c) == 0;
	packet.imm = (uint32_t)(dice >> 32);
	packet.length = length_of(dice >> 8, packet.first, packet.last);
	packet.stamp = packet.length >= sizeof(packet.stamp) ? ++g->stamps : 0;
	sender->psn = roce_psn_add(sender->psn, 1);
	sender->packets = packet.last ? 0 : sender->packets + 1;
	return packet;
}

static uint32_t
parts_of(const struct model_packet *packet, bool other)
{
	return (packet->first ? 1u : 0) | (packet->last ? 2u : 0) | (other ? 4u : 0);
}

/* Its own engine, or now and then another one that has to hand it over. */
static unsigned int
pick_engine(struct ground *g, uint16_t qp, bool *other)
{
	unsigned int home = roce_qp_engine(g->qp[qp])->index;
	unsigned int engine = home;

	if (g->engines > 1 && ground_chance(g, 4) && g->inbox[home].packets < GROUND_INBOX)
		engine = ground_draw(g, g->engines);
	*other = engine != home;
	return engine;
}

void
step_arrive(struct ground *g)
{
	uint16_t qp = pick_up(g);
	struct model_packet packet;
	unsigned int engine;
	bool other;

	if (qp == MODEL_NONE) {
		step_reconnect(g);
		return;
	}
	engine = pick_engine(g, qp, &other);
	packet = next_packet(g, qp);
	trace_step(WALK_ARRIVE, qp, packet.psn, packet.length, parts_of(&packet, other));
	if (other)
		g->sender[qp].in_flight++;
	else
		g->sender[qp].in_flight = 0;
	ground_deliver(g, engine, &packet, ground_chance(g, 8));
}

/* A packet that no honest peer would send now: a copy, one from the future, one that breaks the order of parts. */
void
step_stray(struct ground *g)
{
	uint16_t qp = step_pick_qp(g);
	struct model_packet packet;
	const struct model_qp *q;
	uint64_t dice = ground_random(g);

	if (qp == MODEL_NONE) {
		step_free(g);
		return;
	}
	q = &g->model.qp[qp];
	packet = (struct model_packet){
		.qp = qp,
		.qp_name = q->name,
		.link = q->link,
		.first = dice & 1,
		.last = dice & 2,
		.psn = q->psn,
	};
	if ((dice & 0xf0) == 0)
		packet.first = q->packets != 0;
	else if (dice & 4)
		packet.psn = roce_psn_add(q->psn, 1 + ground_draw(g, 100));
	else
		packet.psn = roce_psn_add(q->psn, ROCE_PSN_MASK - ground_draw(g, 100));
	packet.length = length_of(dice >> 8, packet.first, packet.last);
	packet.stamp = packet.length >= sizeof(packet.stamp) ? ++g->stamps : 0;
	trace_step(WALK_STRAY, qp, packet.psn, packet.length, parts_of(&packet, false));
	ground_deliver(g, roce_qp_engine(g->qp[qp])->index, &packet, ground_chance(g, 2));
}

/* ---- reap, poll ---- */

void
step_reap(struct ground *g)
{
	uint16_t cq = step_pick_cq(g);
	uint32_t most = 1 + ground_draw(g, 4);

	trace_step(WALK_REAP, cq, most, 0, 0);
	ground_reap(g, cq, most);
}

void
step_poll(struct ground *g)
{
	unsigned int engine = ground_draw(g, g->engines);

	trace_step(WALK_TURN, engine, 0, 0, 0);
	ground_poll(g, engine);
}
