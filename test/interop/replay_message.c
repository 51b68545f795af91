/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of each side of a flow, put together from its frames by PSN. */

#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

/* The side of a flow that is looked at, and where. */
struct walk {
	struct rp_capture *capture;
	int flow;
	uint8_t from;
	uint32_t psn;
};

static uint32_t
mtu_of(const struct walk *walk)
{
	return walk->capture->flow[walk->flow].mtu;
}

static struct rp_frame *
frame_at(const struct walk *walk, uint32_t psn)
{
	const struct rp_frame *found =
			rp_frame_find(walk->capture, walk->flow, walk->from, true, psn);

	return found != NULL ? &walk->capture->frame[found - walk->capture->frame] : NULL;
}

static void
take_headers(struct rp_message *message, const struct roce_pkt *pkt)
{
	message->verb = pkt->op->verb;
	if (pkt->op->flags & ROCE_OP_RETH) {
		message->va = rte_be_to_cpu_64(roce_pkt_reth(pkt)->va);
		message->rkey = rte_be_to_cpu_32(roce_pkt_reth(pkt)->rkey);
		message->length = rte_be_to_cpu_32(roce_pkt_reth(pkt)->length);
	} else if (pkt->op->flags & ROCE_OP_ATOMIC) {
		struct roce_atomiceth eth;

		memcpy(&eth, roce_pkt_atomiceth(pkt), sizeof(eth));
		message->va = rte_be_to_cpu_64(eth.va);
		message->rkey = rte_be_to_cpu_32(eth.rkey);
		message->swap_or_add = rte_be_to_cpu_64(eth.swap_or_add);
		message->compare = rte_be_to_cpu_64(eth.compare);
		message->length = sizeof(uint64_t);
	}
}

static void
append(struct rp_message *message, const void *bytes, uint32_t len)
{
	if (len == 0)
		return;
	message->data = realloc(message->data, message->data_known + len);
	assert_non_null(message->data);
	memcpy(message->data + message->data_known, bytes, len);
	message->data_known += len;
}

static void
grow(struct rp_message *message, const struct roce_pkt *pkt)
{
	append(message, rp_payload(pkt), pkt->payload_len);
}

static void
take_end(struct rp_message *message, const struct roce_pkt *pkt)
{
	message->solicited = pkt->solicited;
	if (pkt->op->flags & ROCE_OP_IMM)
		message->suffix = ROCE_SUFFIX_IMM;
	else if (pkt->op->flags & ROCE_OP_IETH)
		message->suffix = ROCE_SUFFIX_INVALIDATE;
	if (message->suffix != ROCE_SUFFIX_NONE)
		message->imm = roce_pkt_imm(pkt);
}

/* The word that was there before, as a number of this machine. */
static void
take_original(struct rp_message *message, const struct roce_pkt *answer)
{
	struct roce_atomicacketh eth;
	uint64_t original;

	memcpy(&eth, answer->bth + answer->op->ext_off, sizeof(eth));
	original = rte_be_to_cpu_64(eth.original);
	append(message, &original, sizeof(original));
}

/* The answer to a READ or atomic. */
static void
take_answer(const struct walk *walk, struct rp_message *message)
{
	for (uint32_t i = 0; i < message->packets; i++) {
		const struct rp_frame *answer = rp_frame_find(walk->capture, walk->flow,
				!walk->from, false, roce_psn_add(message->psn, i));

		if (answer == NULL || answer->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE)
			return;
		if (message->verb == ROCE_VERB_READ)
			grow(message, &answer->pkt);
		else
			take_original(message, &answer->pkt);
	}
}

/* @return false: the capture does not have all of it. */
static bool
take_message(struct walk *walk, struct rp_message *message)
{
	struct rp_frame *first = frame_at(walk, walk->psn);
	struct rp_frame *frame = first;

	*message = (struct rp_message){ .psn = walk->psn, .packets = 1 };
	if (frame == NULL || !(frame->pkt.op->flags & ROCE_OP_START))
		return false;
	take_headers(message, &frame->pkt);
	if (message->verb == ROCE_VERB_READ) {
		message->packets = RTE_MAX((message->length + mtu_of(walk) - 1) / mtu_of(walk), 1u);
		take_end(message, &frame->pkt);
		take_answer(walk, message);
		return true;
	}
	grow(message, &frame->pkt);
	while (!(frame->pkt.op->flags & ROCE_OP_END)) {
		frame = frame_at(walk, roce_psn_add(walk->psn, message->packets));
		if (frame == NULL) {
			free(message->data);
			return false;
		}
		message->packets++;
		grow(message, &frame->pkt);
	}
	take_end(message, &frame->pkt);
	if (frame->pkt.op->flags & ROCE_OP_ATOMIC)
		take_answer(walk, message);
	else
		message->length = message->data_known;
	return true;
}

static void
find_messages(struct walk *walk)
{
	struct rp_flow *flow = &walk->capture->flow[walk->flow];
	struct rp_message message;

	while (take_message(walk, &message)) {
		uint32_t n = flow->messages[walk->from]++;

		flow->message[walk->from] =
				realloc(flow->message[walk->from], (n + 1) * sizeof(message));
		assert_non_null(flow->message[walk->from]);
		flow->message[walk->from][n] = message;
		walk->psn = roce_psn_add(walk->psn, message.packets);
	}
}

/* Which frame begins a message, and which only repeats. */
static void
mark(struct walk *walk)
{
	const struct rp_flow *flow = &walk->capture->flow[walk->flow];
	uint32_t next = 0;
	uint32_t behind = flow->psn[walk->from];

	for (uint32_t i = 0; i < walk->capture->frames; i++) {
		struct rp_frame *frame = &walk->capture->frame[i];

		if (frame->flow != walk->flow || frame->from != walk->from || !rp_is_request(frame))
			continue;
		frame->repeats = roce_psn_diff(frame->pkt.psn, behind) < 0;
		if (frame->repeats)
			continue;
		behind = roce_psn_add(frame->pkt.psn, 1);
		if (next < flow->messages[walk->from] &&
				flow->message[walk->from][next].psn == frame->pkt.psn) {
			const struct rp_message *message = &flow->message[walk->from][next++];

			frame->begins = message;
			if (message->verb == ROCE_VERB_READ)
				behind = roce_psn_add(message->psn, message->packets);
		}
	}
}

void
rp_messages_find(struct rp_capture *capture)
{
	for (int i = 0; i < capture->flows; i++) {
		for (unsigned int side = 0; side < RP_SIDES; side++) {
			struct walk walk = { capture, i, (uint8_t)side,
				capture->flow[i].psn[side] };

			find_messages(&walk);
			mark(&walk);
		}
	}
}
