/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumers of a world: how they come up, act, and are taken down. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "talk_pvt.h"

#define DISCONNECT_NS 100000000u /**< from the end of one queue pair to that of its peer */

struct talk talk;

void
talk_violate(const char *what)
{
	if (talk.violation == NULL)
		talk.violation = what;
}

void
talk_must(int rc, const char *what)
{
	if (rc != 0) {
		fprintf(stderr, "sim: %s: %s\n", what, strerror(-rc));
		exit(2);
	}
}

uint32_t
talk_dice(uint32_t n)
{
	return sim_roll(&talk.dice, n);
}

struct roce_ip
talk_address(uint32_t side)
{
	return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201 + side));
}

void
talk_notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct end *end = owner;

	switch (kind) {
	case ROCE_ENGINE_ASYNC_QP_ESTABLISHED:
		talk_must(roce_qp_to_rts(end->qp), "RTS");
		break;
	case ROCE_ENGINE_ASYNC_QP_BROKEN:
		end->broken = true;
		world_totals.broken++;
		if (talk.world->end == WORLD_WHOLE ||
				(talk.world->end == WORLD_DENIED && end->talk != 0))
			talk_violate("a connection broke");
		break;
	case ROCE_ENGINE_ASYNC_CQ_OVERFLOW:
		talk_violate("a completion queue overflowed");
		break;
	default:
		break;
	}
}

/* ---- where things are ---- */

static uint32_t
place_of(const struct end *end, uint32_t seq)
{
	return end->talk * talk.world->send_depth + seq % talk.world->send_depth;
}

struct deed_site
talk_site(struct end *end, uint32_t seq)
{
	return (struct deed_site){
		.peer = &talk.side[1 - end->side].open,
		.side = 1 - end->side,
		.talk = end->talk,
		.place = place_of(end, seq),
		.slot_size = talk.slot_size,
	};
}

uint8_t *
talk_source(const struct end *end, uint32_t seq)
{
	return talk.side[end->side].arena + (size_t)place_of(end, seq) * talk.slot_size;
}

uint8_t *
talk_slot(const struct side *side, uint32_t slot)
{
	return side->arena + TALK_ARENA / 2 + (size_t)slot * talk.slot_size;
}

struct pieces
talk_slot_pieces(uint32_t slot)
{
	return pieces_cut(message_max(talk.world->mtu_code),
			(slot + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

bool
talk_is_denied(const struct end *end, uint32_t seq)
{
	return talk.world->end == WORLD_DENIED && end->talk == 0 && end->side == 0 &&
			seq == talk.world->end_at;
}

/* ---- setting up ---- */

static void
open_side(uint32_t index, struct roce_domain *domain)
{
	const struct world_params *world = talk.world;
	struct side *side = &talk.side[index];

	if (side->arena == NULL)
		side->arena = calloc(1, TALK_ARENA);
	side->domain = domain;
	side->slots = world->shared ? world->depth : world->depth * world->talks;
	side->srq = NULL;
	side->posted = 0;
	side->reaped = 0;
	side->waiting = 0;
	side->first = 0;
	talk_must(side->arena == NULL ? -ENOMEM : 0, "memory");
	talk_must(roce_pd_create(roce_domain_context(domain), &side->pd), "protection domain");
	talk_must(roce_mr_create(side->pd, (uintptr_t)side->arena, TALK_ARENA,
				  IBV_ACCESS_LOCAL_WRITE | ROCE_ACCESS_LOCAL_READ, &side->mr),
			"region");
	talk_must(roce_cq_create(roce_domain_context(domain), talk.send_max * world->talks, side,
				  &side->send_cq),
			"send queue");
	talk_must(roce_cq_create(roce_domain_context(domain), side->slots, side, &side->recv_cq),
			"receive queue");
	if (world->shared)
		talk_must(roce_srq_create(side->pd, side->slots, PIECES_MAX, side, &side->srq),
				"shared receive queue");
	deed_open(&side->open, index, side->pd);
}

static void
open_end(uint32_t index, uint32_t number)
{
	struct side *side = &talk.side[index];
	struct end *end = &side->end[number];
	struct roce_qp_attr attr = {
		.pd = side->pd,
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.srq = side->srq,
		.max_send_wr = talk.send_max,
		.max_recv_wr = talk.world->depth,
		.max_send_sge = PIECES_MAX,
		.max_recv_sge = PIECES_MAX,
		.max_inline = talk.world->max_inline,
		.max_dest_rd_atomic = talk.world->reads,
		.atomics = true,
		.owner = end,
	};

	*end = (struct end){
		.talk = number, .side = index, .peer = &talk.side[1 - index].end[number]
	};
	/* One of both begins with room for small requests alone. */
	talk_must(index == 0 ? roce_qp_create(&attr, &end->qp)
			     : roce_qp_create_small(&attr, &end->qp),
			"queue pair");
	window_open(end);
}

static uint32_t
psn_of(const struct end *end)
{
	return talk.world->first_psn <= ROCE_PSN_MASK ? talk.world->first_psn
						      : roce_qp_first_psn(end->qp);
}

static void
join(struct end *end, bool early)
{
	struct roce_engine *e = roce_qp_engine(end->qp);
	struct roce_qp_connect connect = {
		.path = {
			.src_ip = talk_address(end->side),
			.dst_ip = talk_address(1 - end->side),
			.ttl = 64,
			.mtu_code = talk.world->mtu_code,
		},
		.dest_qp = roce_qp_number(end->peer->qp),
		.rq_psn = psn_of(end->peer),
		.sq_psn = psn_of(end),
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = talk.world->ack_timeout,
		.max_rd_atomic = talk.world->reads,
		.max_dest_rd_atomic = talk.world->reads,
		.extensions = talk.world->extensions,
	};

	end->flow = judge_expect(
			talk.watch, roce_qp_number(end->qp), connect.dest_qp, connect.sq_psn);
	roce_engine_lock(e);
	talk_must(roce_qp_to_rtr(end->qp, &connect), "RTR");
	if (early)
		talk_must(roce_qp_to_rts(end->qp), "RTS");
	roce_engine_unlock(e);
}

void
talk_begin(const struct world_params *params, struct roce_domain **side_of, struct judge *judge)
{
	bool early = params->seed & 1;

	talk.world = params;
	talk.watch = judge;
	talk.violation = NULL;
	talk.dice = params->seed | 1;
	talk.kill_peer_at = UINT64_MAX;
	talk.slot_size = RTE_ALIGN_CEIL(
			message_max(params->mtu_code) + PIECES_MAX * PIECES_GAP + 1, 8u);
	talk.send_max = params->send_depth + (params->binds ? params->send_depth + 4 : 0);
	for (uint32_t i = 0; i < 2; i++)
		open_side(i, side_of[i]);
	for (uint32_t n = 0; n < params->talks; n++) {
		open_end(0, n);
		open_end(1, n);
		join(&talk.side[0].end[n], true);
		join(&talk.side[1].end[n], early);
	}
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t n = 0; n < params->talks; n++)
			hear_skip(&talk.side[i].end[n]);
		for (uint32_t slot = 0; slot < talk.side[i].slots; slot++)
			say_receive(&talk.side[i], slot);
	}
}

/* ---- talking ---- */

static uint32_t
post_again(struct side *side, uint64_t now)
{
	uint32_t n = 0;

	for (; side->waiting > 0 && side->repost[side->first].at <= now; n++) {
		say_receive(side, side->repost[side->first].slot);
		side->first = (side->first + 1) % TALK_SLOTS;
		side->waiting--;
	}
	return n;
}

/* Every receive ever posted is on the queue, held by a queue pair, waiting to be reaped, or reaped. */
static void
check_counts(struct side *side)
{
	struct roce_srq_counts counts;
	uint32_t held = 0;

	if (!talk.world->shared)
		return;
	roce_srq_query(side->srq, &counts);
	for (uint32_t i = 0; i < talk.world->talks; i++)
		held += side->end[i].qp->rx.holding;
	if (counts.available > counts.outstanding || counts.outstanding > counts.max)
		talk_violate("available <= outstanding <= max does not hold");
	if (counts.outstanding != side->posted - side->reaped)
		talk_violate("outstanding is not what was posted less what was reaped");
	if (counts.outstanding - counts.available != held + roce_cq_count(side->recv_cq))
		talk_violate("a receive is neither available, nor held, nor completed");
}

static uint32_t
act_side(struct side *side, uint64_t now)
{
	struct roce_event event;
	uint32_t n = 0;

	for (uint32_t i = 0; i < talk.world->talks; i++)
		n += say_some(&side->end[i]);
	for (; roce_cq_poll(side->send_cq, &event, 1) == 1; n++)
		hear_send(&event);
	check_counts(side);
	for (; roce_cq_poll(side->recv_cq, &event, 1) == 1; n++)
		hear_receive(side, &event, now);
	n += post_again(side, now);
	check_counts(side);
	return n;
}

static void
kill_end(struct end *end)
{
	struct roce_engine *e = roce_qp_engine(end->qp);

	roce_engine_lock(e);
	roce_qp_to_error(end->qp);
	roce_engine_unlock(e);
	end->broken = true;
}

/* In a whole adapter the connection manager tells the peer; until then it may hold a shared receive. */
static void
kill_peer(uint64_t now)
{
	struct end *end = &talk.side[1].end[0];

	if (now < talk.kill_peer_at)
		return;
	talk.kill_peer_at = UINT64_MAX;
	if (!end->broken)
		kill_end(end);
}

uint32_t
talk_act(uint64_t now)
{
	kill_peer(now);
	return act_side(&talk.side[0], now) + act_side(&talk.side[1], now);
}

uint64_t
talk_deadline(void)
{
	uint64_t at = talk.kill_peer_at;

	for (uint32_t i = 0; i < 2; i++) {
		const struct side *side = &talk.side[i];

		if (side->waiting > 0)
			at = RTE_MIN(at, side->repost[side->first].at);
		if (roce_cq_count(side->send_cq) + roce_cq_count(side->recv_cq) > 0)
			at = 0;
		/* A consumer that held back by chance will post the next time. */
		for (uint32_t t = 0; t < talk.world->talks; t++) {
			if (say_may(&side->end[t]))
				at = 0;
		}
	}
	return at;
}

bool
talk_owes_nothing(uint32_t side)
{
	uint32_t requests, receives;

	for (uint32_t t = 0; t < talk.world->talks; t++) {
		const struct end *end = &talk.side[side].end[t];

		/* In RTR it waits for the first frame of its peer: no request has been sent, and no timer runs. */
		if (end->broken || roce_qp_state(end->qp) == ROCE_QP_RTR)
			continue;
		roce_qp_depth(end->qp, &requests, &receives);
		if (requests > 0)
			return false;
	}
	return true;
}

void
talk_kill(uint64_t now)
{
	kill_end(&talk.side[0].end[0]);
	talk.kill_peer_at = now + DISCONNECT_NS;
}

/* All requests came back. Of a broken end the last ones may have succeeded without an event: nobody asked for one. */
static bool
all_sent(const struct end *end)
{
	uint32_t requests, receives;

	if (!end->broken)
		return end->done == talk.world->messages;
	roce_qp_depth(end->qp, &requests, &receives);
	return requests == 0 && (!end->failed || end->ended == end->items);
}

static bool
end_done(const struct end *end)
{
	/* A passive end that never heard from its peer is the connection manager's to give up. */
	bool begun = roce_qp_state(end->qp) != ROCE_QP_RTR || talk.world->end == WORLD_WHOLE;
	bool heard = end->received == talk.world->messages || end->broken || end->peer->broken ||
			talk.world->end == WORLD_DEAD || talk.world->end == WORLD_STOPPED;

	return !begun || (all_sent(end) && heard);
}

bool
talk_done(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct side *side = &talk.side[i];

		for (uint32_t t = 0; t < talk.world->talks; t++) {
			if (!end_done(&side->end[t]))
				return false;
		}
		if (roce_cq_count(side->recv_cq) + roce_cq_count(side->send_cq) != 0 ||
				side->waiting != 0)
			return false;
	}
	return true;
}

const char *
talk_violation(void)
{
	return talk.violation;
}

/* ---- taking down ---- */

static void
check_promises(const struct end *end)
{
	const char *wrong;

	if (end->good > end->peer->received)
		talk_violate("a request succeeded, and its message did not arrive");
	if (talk.world->end != WORLD_WHOLE || end->done != talk.world->messages)
		return;
	wrong = deed_finished(&talk.side[1 - end->side].open, end->talk);
	if (wrong != NULL)
		talk_violate(wrong);
}

void
talk_end(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct side *side = &talk.side[i];

		for (uint32_t t = 0; t < talk.world->talks; t++) {
			check_promises(&side->end[t]);
			window_close(&side->end[t]);
			roce_qp_destroy(side->end[t].qp);
		}
		talk_must(roce_cq_destroy(side->send_cq), "end the send queue");
		talk_must(roce_cq_destroy(side->recv_cq), "end the receive queue");
		if (side->srq != NULL)
			talk_must(roce_srq_destroy(side->srq), "end the shared receive queue");
		deed_close(&side->open);
		talk_must(roce_mr_destroy(side->mr), "end the region");
		talk_must(roce_pd_destroy(side->pd), "end the protection domain");
	}
}
