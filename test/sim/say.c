/* SPDX-License-Identifier: BSD-3-Clause */
/* The posts of consumers: receives, messages, binds. */

#include <string.h>

#include "talk_pvt.h"

#define POST_BURST 4u

void
say_item(struct end *end, enum item_kind kind, uint32_t id, bool signaled)
{
	end->item[end->items++] =
			(struct item){ .id = id, .kind = (uint8_t)kind, .signaled = signaled };
}

void
say_receive(struct side *side, uint32_t slot)
{
	struct pieces pieces = talk_slot_pieces(slot);
	uint8_t *at = talk_slot(side, slot);
	struct roce_sge sge[PIECES_MAX];
	struct roce_recv_wr wr = { .wr_id = slot, .sg = sge, .num_sge = pieces.n };

	pieces_list(&pieces, at, roce_mr_key(side->mr), sge);
	pieces_guard(&pieces, at);
	if (talk.world->shared)
		talk_must(roce_srq_post(side->srq, &wr), "post to the shared queue");
	else
		talk_must(roce_qp_post_recv(side->end[slot / talk.world->depth].qp, &wr),
				"post to a queue pair");
	side->posted++;
}

/* One that uses a window must be over before the key ends: the fence sees to it (READs would be answered again). */
static void
give_back(struct end *end, struct message *msg, struct roce_wr *wr)
{
	uint32_t key = msg->opcode == IBV_WR_SEND_WITH_INV ? window_give_back(end) : 0;

	end->ends_key[end->posted] = key;
	if (msg->opcode != IBV_WR_SEND_WITH_INV)
		return;
	if (key == 0) {
		msg->opcode = IBV_WR_SEND;
		return;
	}
	wr->imm = rte_cpu_to_be_32(key);
	msg->fence = true;
}

/* Ask for too much. */
static void
overdo(struct end *end, struct message *msg, struct roce_wr *wr)
{
	struct deed_site site = talk_site(end, end->posted);
	uint32_t how = (uint32_t)(msg->key >> 32) % 7;

	msg->len = how == 4        ? 8
			: how == 6 ? message_max(talk.world->mtu_code) + 1
				   : 1 + msg->len % 600;
	msg->pieces = (struct pieces){ 1, { msg->len } };
	pieces_list(&msg->pieces, talk_source(end, end->posted),
			roce_mr_key(talk.side[end->side].mr), (struct roce_sge *)(uintptr_t)wr->sg);
	end->refusal = deed_forbid(&site, how, wr);
	end->receive_end = how == 6 ? IBV_WC_LOC_LEN_ERR
			: how == 5  ? IBV_WC_REM_INV_REQ_ERR
				    : IBV_WC_SUCCESS;
	msg->opcode = wr->opcode;
	msg->inlined = false;
	wr->num_sge = 1;
}

static void
describe(struct end *end, struct message *msg, struct roce_wr *wr)
{
	struct deed_site site = talk_site(end, end->posted);
	uint32_t key;

	deed_describe(&site, msg, wr);
	key = window_key(end, deed_access(msg->opcode));
	if (key != 0)
		wr->rkey = key;
	give_back(end, msg, wr);
	wr->opcode = msg->opcode;
}

/* An inline request needs no key, and its memory is the consumer's again as soon as it is posted. */
static void
post(struct end *end, const struct message *msg, struct roce_wr *wr)
{
	uint8_t *at = talk_source(end, end->posted);

	wr->flags = (uint8_t)((msg->signaled ? ROCE_WR_SIGNALED : 0) |
			(msg->solicited ? ROCE_WR_SOLICITED : 0) |
			(msg->fence ? ROCE_WR_FENCE : 0) | (msg->inlined ? ROCE_WR_INLINE : 0));
	talk_must(roce_qp_post_send(end->qp, wr), "post a message");
	if (!msg->inlined)
		return;
	memset(talk.bytes, 0xdb, msg->len);
	pieces_put(&msg->pieces, at, talk.bytes);
	world_totals.inlined++;
}

static void
say(struct end *end)
{
	struct message msg = message_of(talk.world, end->talk, end->side, end->posted);
	uint8_t *at = talk_source(end, end->posted);
	struct roce_sge sge[PIECES_MAX];
	struct roce_wr wr = { .wr_id = talk_wr_id(ITEM_MESSAGE, end->posted),
		.sg = sge,
		.num_sge = msg.pieces.n,
		.imm = msg.imm };
	struct judge_message posted;

	pieces_list(&msg.pieces, at, msg.inlined ? 0 : roce_mr_key(talk.side[end->side].mr), sge);
	if (talk_is_denied(end, end->posted))
		overdo(end, &msg, &wr);
	else
		describe(end, &msg, &wr);
	message_fill(&msg, talk.bytes);
	if (msg.opcode == IBV_WR_RDMA_READ)
		memset(talk.bytes, 0xa5, msg.len);
	pieces_put(&msg.pieces, at, talk.bytes);
	pieces_guard(&msg.pieces, at);
	post(end, &msg, &wr);
	posted = (struct judge_message){ .length = msg.len,
		.opcode = msg.opcode,
		.fence = msg.fence,
		.solicited = msg.solicited };
	judge_posted(talk.watch, end->flow, &posted);
	end->binds_before[end->posted] = end->own.binds;
	say_item(end, ITEM_MESSAGE, end->posted, msg.signaled);
	end->posted++;
	world_totals.messages++;
}

bool
say_may(const struct end *end)
{
	if (talk.world->answers && end->posted >= end->received + (end->side == 0))
		return false;
	/* Where every frame is full both ends keep step: keys go to and fro. */
	if (talk.world->full && end->posted > end->peer->posted + 2)
		return false;
	return !end->broken && end->posted < talk.world->messages &&
			end->posted - end->done < talk.world->send_depth;
}

uint32_t
say_some(struct end *end)
{
	uint32_t n = 0;

	for (; n < POST_BURST && say_may(end) && talk_dice(4) != 0; n++) {
		window_post(end);
		say(end);
	}
	return n;
}
