/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumers of both sides: messages, receives, completions, and what was promised about them. */

#include <string.h>

#include "rx_world.h"

static bool
is_read(uint8_t opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool
is_atomic(uint8_t opcode)
{
	return is_read(opcode) && opcode != IBV_WR_RDMA_READ;
}

/* Does a message use up a receive of the peer? */
static bool
is_received(uint8_t opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
			opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

static bool
has_imm(uint8_t opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool
rx_is_sound(const struct rx_end *end)
{
	return end->peer != NULL && !end->tainted && !end->harmed && !end->peer->tainted &&
			!end->peer->harmed;
}

/* ---- posting ---- */

static const uint8_t verbs[8] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV };

/* Each talk has a place of its own for what it is answered. */
static uint8_t *
landing(const struct rx_end *end, const struct rx_message *msg)
{
	uint32_t place = end->talk * (RX_PATTERN + RX_WORDS);

	return rx_region_at(end->side, RX_LAND) + place + msg->offset +
			(is_atomic(msg->opcode) ? RX_PATTERN : 0);
}

/* Local pieces of a message: up to three, of which one may be empty. */
static uint32_t
pieces(const struct rx_end *end, const struct rx_message *msg, uint8_t cuts, struct roce_sge *sge)
{
	const struct rx_side *side = end->side;
	enum rx_region region = is_read(msg->opcode) ? RX_LAND : RX_SEND;
	uint64_t at = (uintptr_t)(region == RX_LAND ? landing(end, msg)
						    : rx_region_at(side, RX_SEND) + msg->offset);
	uint32_t cut = is_atomic(msg->opcode) ? msg->length : msg->length * (cuts & 15) / 16;

	if (msg->length == 0 && (cuts & 16))
		return 0;
	sge[0] = (struct roce_sge){ at, cut, side->key[region] };
	sge[1] = (struct roce_sge){ at + cut, 0, side->key[region] };
	sge[2] = (struct roce_sge){ at + cut, msg->length - cut, side->key[region] };
	return is_atomic(msg->opcode) ? 1 : 3;
}

/*
 * An inline message lies in memory that nobody registered, and is gone when the post returns: here its bytes, afterwards
 * others (spoil()).
 */
static uint8_t inlined[RX_SLOT];

static uint32_t
inline_pieces(const struct rx_message *msg, uint8_t cuts, struct roce_sge *sge)
{
	uint32_t cut = msg->length * (cuts & 15) / 16;

	memcpy(inlined, rx_pattern + msg->offset, msg->length);
	sge[0] = (struct roce_sge){ (uintptr_t)inlined, cut, 0 };
	sge[1] = (struct roce_sge){ (uintptr_t)inlined + cut, msg->length - cut, 0 };
	return 2;
}

static void
spoil(void)
{
	memset(inlined, 0, sizeof(inlined));
}

/* Where at the peer's: the same offset as here. */
static void
aim(const struct rx_side *peer, const struct rx_message *msg, struct roce_wr *wr)
{
	enum rx_region region = is_atomic(msg->opcode) ? RX_ATOMIC
			: is_read(msg->opcode)         ? RX_READ
						       : RX_WRITE;

	wr->remote_addr = (uintptr_t)rx_region_at(peer, region) + msg->offset;
	wr->rkey = peer->key[region];
}

/* A key for the peer to end: mostly one of its window's, or one that it will not. As on the wire. */
static uint32_t
key_to_end(const struct rx_side *peer, const uint8_t *r)
{
	uint32_t back = r[10] & 4 ? r[11] & 3 : 0;
	uint32_t key = peer->window_key[(peer->binds - 1 - back) % RX_WINDOW_KEYS];

	if (r[10] & 8)
		key = peer->key[r[11] % RX_REGIONS];
	if (r[10] & 16)
		key ^= 1u << (r[11] & 31);
	return rte_cpu_to_be_32(key);
}

static const struct rx_side *
peer_side(const struct rx_end *end)
{
	return end->peer != NULL ? end->peer->side : &rx_world.side[1];
}

static struct rx_message
message_of(const struct rx_end *end, const uint8_t *r)
{
	struct rx_message msg = {
		.opcode = verbs[r[2] & 7],
		.length = base_u16(r + 4) % (RX_SLOT + 1),
		.imm = end->posted ^ 0x5eed0000u,
	};

	if (is_atomic(msg.opcode))
		msg.length = 8;
	msg.offset = base_u16(r + 6) % (RX_PATTERN - msg.length);
	if (is_atomic(msg.opcode))
		msg.offset &= RX_WORDS - 8;
	if (msg.opcode == IBV_WR_SEND_WITH_INV)
		msg.imm = key_to_end(peer_side(end), r);
	return msg;
}

/* To a played peer, even what is too long for anybody. */
static void
enlarge(const struct rx_end *end, const uint8_t *r, struct roce_wr *wr, struct roce_sge *sge)
{
	const struct rx_side *side = end->side;

	if (end->peer != NULL || !(r[3] & 8) || is_atomic(wr->opcode))
		return;
	sge[0] = (struct roce_sge){ (uintptr_t)rx_region_at(side, RX_BIG),
		(uint32_t)(RX_BIG_LEN >> (r[8] & 31)), side->key[RX_BIG] };
	wr->num_sge = 1;
}

void
rx_post_message(struct rx_end *end, const uint8_t *r)
{
	struct rx_message msg = message_of(end, r);
	struct roce_sge sge[3] = { { 0 } };
	struct roce_wr wr = {
		.wr_id = end->posted,
		.sg = sge,
		.num_sge = pieces(end, &msg, r[9], sge),
		.imm = msg.imm,
		.opcode = msg.opcode,
		.flags = r[3] & (ROCE_WR_SIGNALED | ROCE_WR_SOLICITED | ROCE_WR_FENCE),
		.compare_add = base_u16(r + 10),
		.swap = base_u16(r + 12),
	};

	if (end->qp == NULL)
		return;
	/* The log keeps what the peer has to find. */
	if (end->peer != NULL && end->posted - end->peer->heard >= RX_LOG)
		return;
	aim(peer_side(end), &msg, &wr);
	if (r[3] & 0x10) {
		wr.flags |= ROCE_WR_INLINE;
		wr.num_sge = inline_pieces(&msg, r[9], sge);
	} else {
		enlarge(end, r, &wr, sge);
	}
	if (roce_qp_post_send(end->qp, &wr) != 0)
		return;
	BASE_MUST(!(r[3] & 0x10) || !is_read(msg.opcode), "what is read is not inline");
	spoil();
	end->dares |= msg.opcode == IBV_WR_SEND_WITH_INV;
	end->log[end->posted % RX_LOG] = msg;
	end->posted++;
}

void
rx_post_bind(struct rx_end *end, const uint8_t *r)
{
	struct rx_side *side = end->side;
	struct roce_mw_bind bind = {
		.mw = side->window,
		.mr_key = side->key[RX_UNDER],
		.access = r[4] &
				(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
						IBV_ACCESS_REMOTE_ATOMIC),
		.addr = (uintptr_t)rx_region_at(side, RX_UNDER) + RX_WINDOW_OFF,
		.length = r[5] & 1 ? 0 : RX_WINDOW_LEN,
	};
	const struct roce_wr wr = {
		.wr_id = UINT64_MAX,
		.bind = &bind,
		.opcode = IBV_WR_BIND_MW,
		.flags = r[3] & (ROCE_WR_SIGNALED | ROCE_WR_FENCE),
	};

	if (end->qp == NULL || side->window == NULL)
		return;
	/* Beyond its region: that is refused. */
	if (r[5] & 2)
		bind.length = RX_PATTERN;
	if (roce_qp_post_send(end->qp, &wr) != 0)
		return;
	BASE_MUST(bind.length <= RX_WINDOW_LEN, "a window is bound inside its region");
	side->window_key[side->binds++ % RX_WINDOW_KEYS] = bind.key;
}

/* Slots are not fought for: nobody waits in vain because somebody else took them all. */
static uint64_t
slots_of(const struct rx_end *end)
{
	static const uint8_t first[RX_TALKS] = { 0, 0, 24, 32, 0, 40, 0, 48 };

	return end == NULL || first[end->talk] == 0 ? UINT64_C(0xffffff)
						    : UINT64_C(0xff) << first[end->talk];
}

void
rx_post_receives(struct rx_side *side, struct rx_end *end, uint32_t n)
{
	for (; n > 0 && (side->free_slots & slots_of(end)) != 0; n--) {
		uint32_t slot = (uint32_t)rte_bsf64(side->free_slots & slots_of(end));
		uint64_t at = (uintptr_t)rx_region_at(side, RX_RECV) + (uint64_t)slot * RX_SLOT;
		uint32_t cut = slot * 37 % RX_SLOT;
		const struct roce_sge sge[2] = { { at, cut, side->key[RX_RECV] },
			{ at + cut, RX_SLOT - cut, side->key[RX_RECV] } };
		const struct roce_recv_wr wr = { .wr_id = slot, .sg = sge, .num_sge = 2 };
		int rc = -1;

		if (end == NULL)
			rc = roce_srq_post(side->srq, &wr);
		else if (end->qp != NULL)
			rc = roce_qp_post_recv(end->qp, &wr);
		if (rc != 0)
			return;
		side->free_slots &= ~(UINT64_C(1) << slot);
	}
}

/* ---- completions ---- */

/* Messages that use up no receive pass unseen. */
static void
skip_unseen(struct rx_end *end)
{
	while (end->heard < end->peer->posted &&
			!is_received(end->peer->log[end->heard % RX_LOG].opcode))
		end->heard++;
}

/* Every bind has a key of its own and is executed once: a key that was ended is never in force again. */
static void
judge_ended_key(const struct rx_side *side, uint32_t key)
{
	struct roce_mw_binding binding;

	BASE_MUST(side->window == NULL || !roce_mw_query(side->window, &binding) ||
					binding.key != key,
			"a key is in force that the peer has ended");
}

static void
judge_received(struct rx_end *end, const struct roce_event *event, const uint8_t *at)
{
	const struct rx_message *msg;
	bool ends;

	skip_unseen(end);
	BASE_MUST(end->heard < end->peer->posted, "a message arrived that nobody sent");
	msg = &end->peer->log[end->heard % RX_LOG];
	BASE_MUST(event->byte_len == msg->length, "a message arrived with a wrong length");
	ends = msg->opcode == IBV_WR_SEND_WITH_INV;
	BASE_MUST(!!(event->flags & ROCE_EVENT_IMM) == has_imm(msg->opcode) &&
					!!(event->flags & ROCE_EVENT_INVALID) == ends &&
					((!has_imm(msg->opcode) && !ends) ||
							event->imm == msg->imm),
			"a message arrived with wrong immediate data, or a wrong key");
	if (msg->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		at = rx_region_at(end->side, RX_WRITE) + msg->offset;
	if (msg->opcode != IBV_WR_RDMA_WRITE_WITH_IMM || !end->side->misled)
		BASE_MUST(memcmp(at, rx_pattern + msg->offset, msg->length) == 0,
				"a message arrived with wrong bytes");
	end->heard++;
}

static void
reap_receive(struct rx_side *side, const struct roce_event *event)
{
	struct rx_end *end = event->owner;
	uint8_t *at;

	BASE_MUST(event->wr_id < RX_SLOTS, "a receive completed that was not posted");
	BASE_MUST(!(side->free_slots >> event->wr_id & 1), "a receive completed twice");
	if (event->status == IBV_WC_SUCCESS && (event->flags & ROCE_EVENT_INVALID))
		judge_ended_key(side, rte_be_to_cpu_32(event->imm));
	at = rx_region_at(side, RX_RECV) + event->wr_id * RX_SLOT;
	side->free_slots |= UINT64_C(1) << event->wr_id;
	if (event->status != IBV_WC_SUCCESS) {
		BASE_MUST(!rx_is_sound(end), "a receive failed, and nobody had done anything");
		return;
	}
	BASE_MUST((event->flags & ROCE_EVENT_WRITE) || event->byte_len <= RX_SLOT,
			"a message is longer than its receive");
	if (rx_is_sound(end))
		judge_received(end, event, at);
}

/* Requests succeed in order, and bring what was asked for. */
static void
judge_sent(struct rx_end *end, uint32_t upto)
{
	for (; end->done <= upto; end->done++) {
		const struct rx_message *msg = &end->log[end->done % RX_LOG];

		if (msg->opcode != IBV_WR_RDMA_READ || end->posted - end->done > RX_LOG)
			continue;
		BASE_MUST(memcmp(landing(end, msg), rx_pattern + msg->offset, msg->length) == 0,
				"a READ brought wrong bytes");
	}
}

static void
reap_send(const struct roce_event *event)
{
	struct rx_end *end = event->owner;
	uint32_t seq = (uint32_t)event->wr_id;

	BASE_MUST(seq < end->posted, "a request completed that was not posted");
	if (!rx_is_sound(end))
		return;
	BASE_MUST(event->status == IBV_WC_SUCCESS,
			"a request failed, and nobody had done anything");
	BASE_MUST(seq >= end->done, "a request completed twice, or out of order");
	judge_sent(end, seq);
}

uint32_t
rx_poll(struct rx_side *side, uint32_t n)
{
	struct roce_event event;
	uint32_t events = 0;

	for (; events < n && roce_cq_poll(side->send_cq, &event, 1) == 1; events++) {
		BASE_MUST(event.kind == ROCE_EVENT_SEND || event.kind == ROCE_EVENT_BIND,
				"a send queue holds requests");
		if (event.kind == ROCE_EVENT_SEND)
			reap_send(&event);
		else
			BASE_MUST(event.owner == side, "a bind is told to the owner of its window");
	}
	for (; events < n && roce_cq_poll(side->recv_cq, &event, 1) == 1; events++) {
		BASE_MUST(event.kind == ROCE_EVENT_RECV, "a receive queue holds receives");
		reap_receive(side, &event);
	}
	if (side->overflows != 0) {
		for (uint32_t talk = 0; talk < RX_REAL; talk++)
			rx_end_harm(&side->end[talk]);
	}
	return events;
}

bool
rx_all_done(const struct rx_end *end)
{
	uint32_t heard = end->heard;
	uint32_t requests, receives;

	if (!rx_is_sound(end) || end->qp == NULL || end->peer->qp == NULL)
		return true;
	if (roce_qp_state(end->qp) != ROCE_QP_RTS || roce_qp_state(end->peer->qp) != ROCE_QP_RTS)
		return true;
	roce_qp_depth(end->qp, &requests, &receives);
	while (heard < end->peer->posted && !is_received(end->peer->log[heard % RX_LOG].opcode))
		heard++;
	return requests == 0 && heard == end->peer->posted;
}
