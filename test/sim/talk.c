/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/qp.h"
#include "deed.h"
#include "message.h"
#include "talk.h"

#define ARENA         (4u << 20) /**< bytes of each side */
#define SLOTS_MAX     512u
#define POST_BURST    4u
#define DISCONNECT_NS 100000000u /**< from the end of one queue pair to that of its peer */

/** One end of a queue pair. */
struct end {
	uint32_t talk;
	uint32_t side;
	struct roce_qp *qp;
	struct end *peer;
	uint32_t posted;   /**< messages */
	uint32_t done;     /**< messages before this one are known to be complete */
	uint32_t good;     /**< the same, of those that succeeded */
	uint32_t received; /**< messages */
	bool failed;       /**< a request came back with an error */
	bool broken;
};

/** A receive that waits to be posted again. */
struct repost {
	uint64_t at;
	uint32_t slot;
};

/** What a side shares among its queue pairs. */
struct side {
	struct roce_domain *domain;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	uint8_t *arena;
	uint32_t slots;
	uint32_t posted, reaped; /**< receives, ever */
	uint32_t waiting, first; /**< ring of reposts */
	struct repost repost[SLOTS_MAX];
	struct end end[WORLD_TALKS_MAX];
	struct deed_memory open;
};

static struct side sides[2];
static const struct world_params *world;
static struct judge *watch;
static const char *violation;
static uint32_t slot_size;
static uint64_t dice;
static uint64_t kill_peer_at = UINT64_MAX;

static void
violate(const char *what)
{
	if (violation == NULL)
		violation = what;
}

static void
must(int rc, const char *what)
{
	if (rc != 0) {
		fprintf(stderr, "sim: %s: %s\n", what, strerror(-rc));
		exit(2);
	}
}

struct roce_ip
talk_address(uint32_t side)
{
	return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201 + side));
}

void
talk_notify(void *arg, enum roce_notice_kind kind, void *owner, int status)
{
	struct end *end = owner;

	switch (kind) {
	case ROCE_NOTICE_QP_ESTABLISHED:
		must(roce_qp_to_rts(end->qp), "RTS");
		break;
	case ROCE_NOTICE_QP_BROKEN:
		end->broken = true;
		world_totals.broken++;
		if (world->end == WORLD_WHOLE)
			violate("a connection broke");
		break;
	case ROCE_NOTICE_CQ_OVERFLOW:
		violate("a completion queue overflowed");
		break;
	default:
		break;
	}
}

/* ---- setting up ---- */

static void
open_side(uint32_t index, struct roce_domain *domain)
{
	struct side *side = &sides[index];
	uint8_t *arena = side->arena != NULL ? side->arena : malloc(ARENA);
	uint32_t receives = world->shared ? world->depth : world->depth * world->talks;

	*side = (struct side){ .domain = domain, .arena = arena, .slots = receives };
	must(roce_pd_create(domain, &side->pd), "protection domain");
	must(roce_mr_create(side->pd, (uintptr_t)arena, ARENA, IBV_ACCESS_LOCAL_WRITE, &side->mr),
			"region");
	must(roce_cq_create(domain, world->send_depth * world->talks, side, &side->send_cq),
			"send queue");
	must(roce_cq_create(domain, receives, side, &side->recv_cq), "receive queue");
	if (world->shared)
		must(roce_srq_create(side->pd, receives, 1, side, &side->srq),
				"shared receive queue");
	deed_open(&side->open, index, side->pd);
}

static void
open_end(uint32_t index, uint32_t talk)
{
	struct side *side = &sides[index];
	struct end *end = &side->end[talk];
	struct roce_qp_attr attr = {
		.pd = side->pd,
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.srq = side->srq,
		.max_send_wr = world->send_depth,
		.max_recv_wr = world->depth,
		.max_send_sge = 2,
		.max_recv_sge = 1,
		.max_dest_rd_atomic = world->reads,
		.atomics = true,
		.owner = end,
	};

	*end = (struct end){ .talk = talk, .side = index, .peer = &sides[1 - index].end[talk] };
	must(roce_qp_create(side->domain, &attr, &end->qp), "queue pair");
}

static uint32_t
psn_of(const struct end *end)
{
	return world->first_psn <= ROCE_PSN_MASK ? world->first_psn : roce_qp_first_psn(end->qp);
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
			.mtu_code = world->mtu_code,
		},
		.dest_qp = roce_qp_number(end->peer->qp),
		.rq_psn = psn_of(end->peer),
		.sq_psn = psn_of(end),
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = 14,
		.max_rd_atomic = world->reads,
		.max_dest_rd_atomic = world->reads,
	};

	judge_expect(watch, roce_qp_number(end->qp), connect.dest_qp, connect.sq_psn);
	roce_engine_lock(e);
	must(roce_qp_to_rtr(end->qp, &connect), "RTR");
	if (early)
		must(roce_qp_to_rts(end->qp), "RTS");
	roce_engine_unlock(e);
}

/* Receives lie in the second half of the arena; slot n of a queue pair's own queue is one of its own. */
static void
post_receive(struct side *side, uint32_t slot)
{
	struct roce_sge sge = {
		.addr = (uintptr_t)side->arena + ARENA / 2 + (uint64_t)slot * slot_size,
		.length = slot_size,
		.lkey = roce_mr_key(side->mr),
	};
	struct roce_recv_wr wr = { .wr_id = slot, .sg = &sge, .num_sge = 1 };

	if (world->shared)
		must(roce_srq_post(side->srq, &wr), "post to the shared queue");
	else
		must(roce_qp_post_recv(side->end[slot / world->depth].qp, &wr),
				"post to a queue pair");
	side->posted++;
}

/* Messages that use up no receive pass unseen. */
static void
skip_unseen(struct end *end)
{
	while (end->received < world->messages) {
		struct message msg = message_of(world, end->talk, 1 - end->side, end->received);

		if (message_is_received(&msg))
			return;
		end->received++;
	}
}

void
talk_begin(const struct world_params *params, struct roce_domain **side_of, struct judge *judge)
{
	bool early = params->seed & 1;

	world = params;
	watch = judge;
	violation = NULL;
	dice = params->seed | 1;
	kill_peer_at = UINT64_MAX;
	slot_size = message_max(params->mtu_code);
	for (uint32_t i = 0; i < 2; i++)
		open_side(i, side_of[i]);
	for (uint32_t talk = 0; talk < params->talks; talk++) {
		open_end(0, talk);
		open_end(1, talk);
		join(&sides[0].end[talk], true);
		join(&sides[1].end[talk], early);
	}
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t talk = 0; talk < params->talks; talk++)
			skip_unseen(&sides[i].end[talk]);
		for (uint32_t slot = 0; slot < sides[i].slots; slot++)
			post_receive(&sides[i], slot);
	}
}

/* ---- talking ---- */

static uint32_t
place_of(const struct end *end, uint32_t seq)
{
	return end->talk * world->send_depth + seq % world->send_depth;
}

static bool
post_message(struct end *end)
{
	struct side *side = &sides[end->side];
	struct message msg = message_of(world, end->talk, end->side, end->posted);
	uint32_t place = place_of(end, end->posted);
	uint8_t *at = side->arena + (size_t)place * slot_size;
	bool atomic = msg.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			msg.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint32_t cut = atomic ? msg.len : msg.len / 3;
	struct roce_sge sge[2] = {
		{ (uintptr_t)at, cut, roce_mr_key(side->mr) },
		{ (uintptr_t)at + cut, msg.len - cut, roce_mr_key(side->mr) },
	};
	struct roce_wr wr = {
		.wr_id = end->posted,
		.sg = sge,
		.num_sge = atomic              ? 1
				: msg.len == 0 ? 0
					       : 2,
		.imm = msg.imm,
		.opcode = msg.opcode,
		.flags = (uint8_t)((msg.signaled ? ROCE_WR_SIGNALED : 0) |
				(msg.solicited ? ROCE_WR_SOLICITED : 0) |
				(msg.fence ? ROCE_WR_FENCE : 0)),
	};

	message_fill(&msg, at);
	if (msg.opcode == IBV_WR_RDMA_READ)
		memset(at, 0xa5, msg.len);
	deed_describe(&sides[1 - end->side].open, 1 - end->side, end->talk, place, &msg, slot_size,
			&wr);
	must(roce_qp_post_send(end->qp, &wr), "post a message");
	end->posted++;
	world_totals.messages++;
	return true;
}

static uint32_t
post_messages(struct end *end)
{
	uint32_t n = 0;

	while (n < POST_BURST && !end->broken && end->posted < world->messages &&
			end->posted - end->done < world->send_depth &&
			(sim_random(&dice) & 3) != 0 && post_message(end))
		n++;
	return n;
}

/* Requests up to @p seq succeeded, signalled or not. */
static void
check_deeds(const struct end *end, uint32_t seq)
{
	uint32_t other = 1 - end->side;

	for (uint32_t i = end->done; i <= seq; i++) {
		struct message msg = message_of(world, end->talk, end->side, i);
		uint32_t place = place_of(end, i);
		const char *wrong = deed_check(&sides[other].open, other, place, &msg, slot_size,
				sides[end->side].arena + (size_t)place * slot_size);

		if (wrong != NULL)
			violate(wrong);
	}
}

static void
reap_send(const struct roce_event *event)
{
	struct end *end = event->owner;
	uint32_t seq = (uint32_t)event->wr_id;
	struct message msg = message_of(world, end->talk, end->side, seq);

	if (event->kind != ROCE_EVENT_SEND || seq < end->done || seq >= end->posted)
		violate("a request completed twice, or never was");
	if (event->status == IBV_WC_SUCCESS) {
		if (end->failed)
			violate("a request succeeded behind one that failed");
		if (!msg.signaled)
			violate("an unsignalled request made an event");
		if (event->byte_len != msg.len)
			violate("a request completed with a wrong length");
		check_deeds(end, seq);
		end->good = seq + 1;
	} else {
		/* Behind the first error nothing may be left out, signalled or not. */
		if (end->failed && seq != end->done)
			violate("a flushed request is missing");
		if (end->failed ? event->status != IBV_WC_WR_FLUSH_ERR
				: event->status != IBV_WC_WR_FLUSH_ERR &&
								event->status !=
										IBV_WC_RETRY_EXC_ERR)
			violate("a request failed with a status that the world does not allow");
		if (world->end == WORLD_WHOLE)
			violate("a request failed");
		end->failed = true;
	}
	end->done = seq + 1;
}

static void
check_received(struct end *end, const struct roce_event *event, const uint8_t *at)
{
	struct message msg = message_of(world, end->talk, 1 - end->side, end->received);

	if (end->received >= end->peer->posted)
		violate("a message arrived that nobody sent");
	else if (event->byte_len != msg.len)
		violate("a message arrived with a wrong length: lost, repeated or out of order");
	else if (!!(event->flags & ROCE_EVENT_IMM) != msg.has_imm ||
			event->imm != (msg.has_imm ? msg.imm : 0))
		violate("a message arrived with wrong immediate data");
	else if (!!(event->flags & ROCE_EVENT_SOLICITED) != msg.solicited)
		violate("a message arrived with a wrong solicited flag");
	else if (!!(event->flags & ROCE_EVENT_WRITE) != (msg.opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
		violate("a SEND seems a WRITE, or a WRITE a SEND");
	else if (!(event->flags & ROCE_EVENT_WRITE) && !message_equal(&msg, at))
		violate("a message arrived with wrong bytes");
	end->received++;
	skip_unseen(end);
}

static void
reap_receive(struct side *side, const struct roce_event *event, uint64_t now)
{
	struct end *end = event->owner;
	uint32_t slot = (uint32_t)event->wr_id;

	side->reaped++;
	if (event->kind != ROCE_EVENT_RECV || slot >= side->slots) {
		violate("an event for a receive that was not posted");
		return;
	}
	if (event->status == IBV_WC_SUCCESS)
		check_received(end, event, side->arena + ARENA / 2 + (size_t)slot * slot_size);
	else if (world->end == WORLD_WHOLE || event->status != IBV_WC_WR_FLUSH_ERR)
		violate("a receive failed");
	if (!world->shared && event->status != IBV_WC_SUCCESS)
		return;
	side->repost[(side->first + side->waiting++) % SLOTS_MAX] =
			(struct repost){ .at = now + world->repost_ns, .slot = slot };
}

static uint32_t
post_again(struct side *side, uint64_t now)
{
	uint32_t n = 0;

	for (; side->waiting > 0 && side->repost[side->first].at <= now; n++) {
		post_receive(side, side->repost[side->first].slot);
		side->first = (side->first + 1) % SLOTS_MAX;
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

	if (!world->shared)
		return;
	roce_srq_query(side->srq, &counts);
	for (uint32_t i = 0; i < world->talks; i++)
		held += side->end[i].qp->rx.holding;
	if (counts.available > counts.outstanding || counts.outstanding > counts.max)
		violate("available <= outstanding <= max does not hold");
	if (counts.outstanding != side->posted - side->reaped)
		violate("outstanding is not what was posted less what was reaped");
	if (counts.outstanding - counts.available != held + roce_cq_count(side->recv_cq))
		violate("a receive is neither available, nor held, nor completed");
}

static uint32_t
act_side(struct side *side, uint64_t now)
{
	struct roce_event event;
	uint32_t n = 0;

	for (uint32_t i = 0; i < world->talks; i++)
		n += post_messages(&side->end[i]);
	for (; roce_cq_poll(side->send_cq, &event, 1) == 1; n++)
		reap_send(&event);
	check_counts(side);
	for (; roce_cq_poll(side->recv_cq, &event, 1) == 1; n++)
		reap_receive(side, &event, now);
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
	struct end *end = &sides[1].end[0];

	if (now < kill_peer_at)
		return;
	kill_peer_at = UINT64_MAX;
	if (!end->broken)
		kill_end(end);
}

uint32_t
talk_act(uint64_t now)
{
	kill_peer(now);
	return act_side(&sides[0], now) + act_side(&sides[1], now);
}

uint64_t
talk_deadline(void)
{
	uint64_t at = kill_peer_at;

	for (uint32_t i = 0; i < 2; i++) {
		const struct side *side = &sides[i];

		if (side->waiting > 0)
			at = RTE_MIN(at, side->repost[side->first].at);
		if (roce_cq_count(side->send_cq) + roce_cq_count(side->recv_cq) > 0)
			at = 0;
		/* A consumer that held back by chance will post the next time. */
		for (uint32_t t = 0; t < world->talks; t++) {
			const struct end *end = &side->end[t];

			if (!end->broken && end->posted < world->messages &&
					end->posted - end->done < world->send_depth)
				at = 0;
		}
	}
	return at;
}

void
talk_kill(uint64_t now)
{
	kill_end(&sides[0].end[0]);
	kill_peer_at = now + DISCONNECT_NS;
}

/* All requests came back. Of a broken end the last ones may have succeeded without an event: nobody asked for one. */
static bool
all_sent(const struct end *end)
{
	uint32_t requests, receives;

	if (!end->broken)
		return end->done == world->messages;
	roce_qp_depth(end->qp, &requests, &receives);
	return requests == 0 && (!end->failed || end->done == end->posted);
}

static bool
end_done(const struct end *end)
{
	/* A passive end that never heard from its peer is the connection manager's to give up. */
	bool begun = roce_qp_state(end->qp) != ROCE_QP_RTR || world->end == WORLD_WHOLE;
	bool heard = end->received == world->messages || end->broken || end->peer->broken ||
			world->end == WORLD_DEAD;

	return !begun || (all_sent(end) && heard);
}

bool
talk_done(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t t = 0; t < world->talks; t++) {
			if (!end_done(&sides[i].end[t]))
				return false;
		}
		if (roce_cq_count(sides[i].recv_cq) + roce_cq_count(sides[i].send_cq) != 0 ||
				sides[i].waiting != 0)
			return false;
	}
	return true;
}

const char *
talk_violation(void)
{
	return violation;
}

/* ---- taking down ---- */

static void
check_promises(const struct end *end)
{
	if (end->good > end->peer->received)
		violate("a request succeeded, and its message did not arrive");
}

void
talk_end(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t t = 0; t < world->talks; t++) {
			check_promises(&sides[i].end[t]);
			roce_qp_destroy(sides[i].end[t].qp);
		}
		must(roce_cq_destroy(sides[i].send_cq), "end the send queue");
		must(roce_cq_destroy(sides[i].recv_cq), "end the receive queue");
		if (sides[i].srq != NULL)
			must(roce_srq_destroy(sides[i].srq), "end the shared receive queue");
		deed_close(&sides[i].open);
		roce_mr_destroy(sides[i].mr);
		must(roce_pd_destroy(sides[i].pd), "end the protection domain");
	}
}
