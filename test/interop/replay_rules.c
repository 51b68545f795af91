/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences: allowed and counted, or a failure. And what the recorded programs were told, as far as frames show it. */

#include <stdio.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define RECV_LEN        65536u
#define TIMEOUT_UNIT_NS UINT64_C(4096) /* IBTA Vol 1, 9.7.6.1.3: 4.096 us times a power of two */
#define TIMEOUT_MAX     31u

static uint32_t failures;

uint32_t
rp_failures(void)
{
	return failures;
}

static const struct rp_frame *
frame_of(const struct rp_capture *capture, uint32_t number)
{
	for (uint32_t i = 0; i < capture->frames && number != 0; i++) {
		if (capture->frame[i].number == number)
			return &capture->frame[i];
	}
	return NULL;
}

void
rp_differ_at(const struct rp_place *place, const char *name)
{
	struct rp_world *world = place->world;

	for (uint32_t i = 0; i < rp_rules(); i++) {
		if (strcmp(rp_rule_name(i), name) == 0 && rp_rule_allows(i, place)) {
			world->result->count[i]++;
			return;
		}
	}
	failures++;
	print_error("%s %s frame %u at %.6f: %s: ours %#llx, recorded %#llx\n",
			world->capture->name, world->me == RP_SERVER ? "server" : "client",
			place->frame != NULL ? place->frame->number : 0,
			(double)world->now / RP_HZ - 5, name, (unsigned long long)place->ours,
			(unsigned long long)place->recorded);
}

void
rp_differ(struct rp_world *world, const char *name, uint32_t frame, uint64_t ours,
		uint64_t recorded)
{
	const struct rp_frame *where = frame_of(world->capture, frame);
	const struct rp_place place = { world, where, where != NULL ? where->flow : -1,
		where != NULL ? where->conn : -1, ours, recorded };

	rp_differ_at(&place, name);
}

void
rp_differ_message(struct rp_end *end, const char *name, uint8_t from,
		const struct rp_message *message, uint64_t ours)
{
	const struct rp_place place = { end->world,
		rp_frame_find(end->world->capture, end->index, from, true, message->psn),
		end->index, -1, ours, 0 };

	rp_differ_at(&place, name);
}

/*
 * A receive is as long as programs have them; but a side that refused a message as too long had shorter ones: long enough
 * for all that it took before.
 */
uint32_t
rp_recv_len(const struct rp_capture *capture, uint8_t me)
{
	uint32_t taken = 1;
	bool short_ones = false;

	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];
		uint8_t syndrome;

		if (frame->flow < 0 || frame->from != me ||
				frame->pkt.opcode != IBV_OPCODE_RC_ACKNOWLEDGE)
			continue;
		syndrome = roce_aeth_syndrome(roce_pkt_aeth(&frame->pkt));
		short_ones |= syndrome == (ROCE_AETH_NAK | ROCE_NAK_REMOTE_OPERATIONAL) ||
				syndrome == (ROCE_AETH_NAK | ROCE_NAK_INVALID_REQUEST);
	}
	if (!short_ones)
		return RECV_LEN;
	for (int i = 0; i < capture->flows; i++) {
		for (uint32_t k = 0; k < capture->flow[i].messages[!me]; k++) {
			const struct rp_message *message = &capture->flow[i].message[!me][k];

			if (message->verb == ROCE_VERB_SEND &&
					rp_recorded_status(capture, i, !me, message->psn) ==
							IBV_WC_SUCCESS)
				taken = RTE_MAX(taken, message->length);
		}
	}
	return taken;
}

/* When did this side send that PSN the last time before @p frame? */
static uint64_t
sent_before(const struct rp_capture *capture, const struct rp_frame *frame)
{
	for (const struct rp_frame *other = frame - 1; other >= capture->frame; other--) {
		if (other->flow == frame->flow && other->from == frame->from &&
				rp_is_request(other) && other->pkt.psn == frame->pkt.psn)
			return other->at;
	}
	return frame->at;
}

/*
 * The longest time after which a side repeated something that no NAK asked for; 0: it never did. Then it does not here
 * either: the guests were emulated and slow, and our requester repeats as soon as an answer takes longer than those before.
 */
static uint64_t
waited(const struct rp_capture *capture, int flow, uint8_t me)
{
	uint64_t longest = 0;
	bool asked = false;

	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (frame->flow != flow)
			continue;
		if (frame->from == me && frame->repeats && !asked)
			longest = RTE_MAX(longest, frame->at - sent_before(capture, frame));
		if (frame->from != me && !rp_is_request(frame))
			asked = rp_says(frame, ROCE_AETH_NAK) || rp_says(frame, ROCE_AETH_RNR);
	}
	return longest;
}

uint8_t
rp_ack_timeout(const struct rp_capture *capture, int flow, uint8_t me)
{
	uint64_t longest = waited(capture, flow, me);
	uint8_t code = 0;

	if (longest == 0)
		return 0;
	while (code < TIMEOUT_MAX && TIMEOUT_UNIT_NS << (code + 1) <= longest)
		code++;
	return RTE_MIN(RTE_MAX(code, 1), capture->flow[flow].ack_timeout);
}
