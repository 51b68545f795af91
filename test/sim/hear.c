/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions that consumers get, compared with the requests and receives that they posted. */

#include <string.h>

#include "talk_pvt.h"

/* Requests up to @p seq succeeded, signalled or not. */
static void
check_deeds(struct end *end, uint32_t seq)
{
	for (uint32_t i = end->done; i <= seq; i++) {
		struct message msg = message_of(talk.world, end->talk, end->side, i);
		const uint8_t *at = talk_source(end, i);
		struct deed_site site = talk_site(end, i);
		const char *wrong;

		pieces_get(&msg.pieces, at, talk.bytes, msg.len);
		wrong = deed_check(&site, &msg, talk.bytes);
		if (wrong != NULL)
			talk_violate(wrong);
		if (!pieces_guarded(&msg.pieces, at))
			talk_violate("a request wrote outside of its memory");
	}
}

/* The request that an event is about. In between there may be some that nobody wanted to hear of. */
static const struct item *
next_item(struct end *end, const struct roce_event *event)
{
	for (; end->ended < end->items; end->ended++) {
		const struct item *item = &end->item[end->ended];

		end->binds_ended += item->kind != ITEM_MESSAGE;
		if (event->wr_id == talk_wr_id((enum item_kind)item->kind, item->id)) {
			if ((event->kind == ROCE_EVENT_BIND) != (item->kind != ITEM_MESSAGE))
				talk_violate("an event of the wrong kind");
			end->ended++;
			return item;
		}
		if (item->signaled)
			talk_violate("an event was left out");
		/* Behind the first error nothing may be left out, signalled or not. */
		if (end->failed)
			talk_violate("a flushed request is missing");
	}
	talk_violate("a request completed twice, or out of order, or never was");
	return NULL;
}

static bool
may_fail(const struct end *end, uint32_t seq, uint8_t status)
{
	if (status == IBV_WC_WR_FLUSH_ERR)
		return true;
	if (end->failed)
		return false;
	if (status == IBV_WC_RETRY_EXC_ERR)
		return true;
	return talk_is_denied(end, seq) && status == end->refusal;
}

static void
send_failed(struct end *end, uint32_t seq, uint8_t status)
{
	if (talk.world->end == WORLD_WHOLE)
		talk_violate("a request failed");
	if (!may_fail(end, seq, status))
		talk_violate("a request failed with a status that the world does not allow");
	if (talk_is_denied(end, seq) && status == end->refusal)
		world_totals.refused++;
}

void
hear_send(const struct roce_event *event)
{
	struct end *end = event->owner;
	const struct item *item = next_item(end, event);
	bool success = event->status == IBV_WC_SUCCESS;
	uint32_t seq;

	if (item == NULL)
		return;
	if (success && end->failed)
		talk_violate("a request succeeded behind one that failed");
	if (success && !item->signaled)
		talk_violate("an unsignalled request made an event");
	if (!success && item->kind == ITEM_MESSAGE)
		send_failed(end, item->id, event->status);
	if (!success)
		end->failed = true;
	if (item->kind != ITEM_MESSAGE) {
		window_bound(end, item, event->status);
		return;
	}
	seq = item->id;
	if (success) {
		if (event->byte_len != message_of(talk.world, end->talk, end->side, seq).len)
			talk_violate("a request completed with a wrong length");
		if (talk_is_denied(end, seq))
			talk_violate("a request succeeded that asked for too much");
		check_deeds(end, seq);
		end->good = seq + 1;
	}
	end->done = seq + 1;
}

void
hear_skip(struct end *end)
{
	while (end->received < talk.world->messages) {
		struct message msg =
				message_of(talk.world, end->talk, 1 - end->side, end->received);

		if (message_is_received(&msg))
			return;
		end->received++;
	}
}

static void
check_bytes(const struct side *side, uint32_t slot, const struct message *msg, bool written)
{
	struct pieces pieces = talk_slot_pieces(slot);
	const uint8_t *at = talk_slot(side, slot);

	if (!pieces_guarded(&pieces, at))
		talk_violate("a message was put outside of its receive");
	if (written)
		return;
	pieces_get(&pieces, at, talk.bytes, msg->len);
	if (!message_equal(msg, talk.bytes))
		talk_violate("a message arrived with wrong bytes");
}

/* Immediate data, or the key that the message invalidates, or neither. */
static bool
flags_fit(const struct roce_event *event, const struct message *msg, uint32_t key)
{
	uint8_t flags = (uint8_t)((msg->has_imm ? ROCE_EVENT_IMM : 0) |
			(key != 0 ? ROCE_EVENT_INVALID : 0) |
			(msg->solicited ? ROCE_EVENT_SOLICITED : 0) |
			(msg->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? ROCE_EVENT_WRITE : 0));
	uint32_t imm = key != 0 ? rte_cpu_to_be_32(key) : msg->has_imm ? msg->imm : 0;

	return event->flags == flags && event->imm == imm;
}

static void
check_received(struct side *side, const struct roce_event *event)
{
	struct end *end = event->owner;
	struct message msg = message_of(talk.world, end->talk, 1 - end->side, end->received);
	uint32_t key;

	if (end->received >= end->peer->posted || talk_is_denied(end->peer, end->received)) {
		talk_violate("a message arrived that nobody sent, or that should not");
		return;
	}
	key = end->peer->ends_key[end->received];
	if (event->byte_len != msg.len)
		talk_violate("a message arrived with a wrong length: lost, repeated or out of order");
	else if (!flags_fit(event, &msg, key))
		talk_violate("a message arrived with wrong flags, immediate data or key");
	else
		check_bytes(side, (uint32_t)event->wr_id, &msg, event->flags & ROCE_EVENT_WRITE);
	window_order(end, end->peer->binds_before[end->received]);
	if (key != 0)
		window_ended(end, key);
	end->received++;
	hear_skip(end);
}

/* A receive fails where the connection may break; one that the refused message took, with a reason of its own. */
static bool
may_end_so(const struct end *end, uint8_t status)
{
	if (talk.world->end == WORLD_WHOLE)
		return false;
	return status == IBV_WC_WR_FLUSH_ERR ||
			(end->peer->receive_end != 0 && status == end->peer->receive_end &&
					end->received >= talk.world->end_at);
}

void
hear_receive(struct side *side, const struct roce_event *event, uint64_t now)
{
	uint32_t slot = (uint32_t)event->wr_id;

	side->reaped++;
	if (event->kind != ROCE_EVENT_RECV || slot >= side->slots) {
		talk_violate("an event for a receive that was not posted");
		return;
	}
	if (event->status == IBV_WC_SUCCESS)
		check_received(side, event);
	else if (!may_end_so(event->owner, event->status))
		talk_violate("a receive failed");
	if (!talk.world->shared && event->status != IBV_WC_SUCCESS)
		return;
	side->repost[(side->first + side->waiting++) % TALK_SLOTS] =
			(struct repost){ .at = now + talk.world->repost_ns, .slot = slot };
}
