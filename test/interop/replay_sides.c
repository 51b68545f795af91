/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Was a side recorded whole? Behind a wire that loses frames a recorder sees what one side sent and heard, and not all that
 * the other one did. A side that heard less than the recorder, or sent more, cannot be played: nobody knows what it heard.
 */

#include "replay.h"
#include "unit.h"

#define HANDLING \
	(RP_HZ / 200) /* a frame may be recorded behind another one that was on its way already */

struct side {
	const struct rp_capture *capture;
	uint8_t me;
};

static bool
is_data(const struct rp_frame *frame, int flow, uint8_t from)
{
	return frame->flow == flow && frame->from == from;
}

/* PSNs that a request stands for. */
static uint32_t
packets_of(const struct rp_frame *frame)
{
	return frame->begins != NULL && frame->begins->verb == ROCE_VERB_READ
			? frame->begins->packets
			: 1;
}

/* A damaged frame of this side: the other one, or a wire in between, has seen another one. */
static bool
was_damaged(const struct side *side)
{
	for (uint32_t i = 0; i < side->capture->frames; i++) {
		if (side->capture->frame[i].from == side->me && !side->capture->frame[i].icrc_ok)
			return true;
	}
	return false;
}

/* Requests whose PSNs leave a gap: what is missing was lost before it came to the recorder. */
static bool
requests_are_missing(const struct side *side, int flow)
{
	uint32_t next = side->capture->flow[flow].psn[side->me];

	for (uint32_t i = 0; i < side->capture->frames; i++) {
		const struct rp_frame *frame = &side->capture->frame[i];

		if (!is_data(frame, flow, side->me) || !rp_is_request(frame))
			continue;
		if (roce_psn_diff(frame->pkt.psn, next) > 0)
			return true;
		if (roce_psn_diff(frame->pkt.psn, next) == 0)
			next = roce_psn_add(next,
					frame->begins != NULL && frame->begins->verb == ROCE_VERB_READ
							? frame->begins->packets
							: 1);
	}
	return false;
}

/* Answers to a READ that leave a gap. */
static bool
answers_are_missing(const struct side *side, int flow)
{
	const struct rp_frame *last = NULL;

	for (uint32_t i = 0; i < side->capture->frames; i++) {
		const struct rp_frame *frame = &side->capture->frame[i];

		if (!is_data(frame, flow, side->me) || rp_is_request(frame) ||
				frame->pkt.op->verb != ROCE_VERB_READ)
			continue;
		if (last != NULL && !(frame->pkt.op->flags & ROCE_OP_START) &&
				roce_psn_diff(frame->pkt.psn, last->pkt.psn) > 1)
			return true;
		last = frame;
	}
	return false;
}

/* Did the request that a NAK names come before it, and nothing out of order that would explain the NAK? */
static bool
came_before(const struct side *side, const struct rp_frame *nak)
{
	uint32_t next = side->capture->flow[nak->flow].psn[!side->me];

	for (const struct rp_frame *frame = side->capture->frame; frame < nak; frame++) {
		int32_t ahead = roce_psn_diff(frame->pkt.psn, next);

		if (!is_data(frame, nak->flow, !side->me) || !rp_is_request(frame) || ahead < 0)
			continue;
		if (ahead > 0 || !frame->icrc_ok)
			return false;
		if (next == nak->pkt.psn)
			return true;
		next = roce_psn_add(next, packets_of(frame));
	}
	return false;
}

static bool
found_no_receive(const struct side *side, const struct rp_frame *nak)
{
	for (const struct rp_frame *frame = side->capture->frame; frame < nak; frame++) {
		if (is_data(frame, nak->flow, side->me) && frame->pkt.psn == nak->pkt.psn &&
				rp_says(frame, ROCE_AETH_RNR))
			return true;
	}
	return false;
}

/* It misses a request that the recorder saw. */
static bool
missed_request(const struct side *side, int flow)
{
	for (uint32_t i = 0; i < side->capture->frames; i++) {
		const struct rp_frame *frame = &side->capture->frame[i];

		if (is_data(frame, flow, side->me) && rp_says(frame, ROCE_AETH_NAK) &&
				(roce_aeth_syndrome(roce_pkt_aeth(&frame->pkt)) &
						ROCE_AETH_VALUE_MASK) == ROCE_NAK_PSN_SEQUENCE &&
				came_before(side, frame) && !found_no_receive(side, frame))
			return true;
	}
	return false;
}

/* The last frame before that one which the other side sent and wanted an answer to; NULL. */
static const struct rp_frame *
last_asking(const struct side *side, const struct rp_frame *repeat)
{
	for (const struct rp_frame *frame = repeat - 1; frame >= side->capture->frame; frame--) {
		if (is_data(frame, repeat->flow, repeat->from) && rp_is_request(frame) &&
				frame->icrc_ok && frame->pkt.ack_req)
			return frame;
	}
	return NULL;
}

/* The next answer of a side behind that frame, or the last one before it; NULL. */
static const struct rp_frame *
answer_near(const struct side *side, const struct rp_frame *from, uint8_t who, int step)
{
	const struct rp_frame *begin = side->capture->frame;
	const struct rp_frame *frame;

	for (frame = from + step; frame >= begin && frame < begin + side->capture->frames;
			frame += step) {
		if (is_data(frame, from->flow, who) && !rp_is_request(frame))
			return frame;
	}
	return NULL;
}

/* Did the last answer before it ask for this repeat? */
static bool
was_asked_for(const struct side *side, const struct rp_frame *repeat)
{
	const struct rp_frame *answer = answer_near(side, repeat, !repeat->from, -1);

	return answer != NULL && !rp_says(answer, ROCE_AETH_ACK) &&
			answer->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE;
}

/* It repeats what was acknowledged a while ago. */
static bool
missed_answer(const struct side *side, const struct rp_frame *repeat)
{
	const struct rp_frame *answer = repeat;

	while ((answer = answer_near(side, answer, !side->me, -1)) != NULL) {
		bool exact = answer->pkt.psn == repeat->pkt.psn;

		if (answer->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE &&
								repeat->pkt.op->verb !=
										ROCE_VERB_READ
						? rp_says(answer, ROCE_AETH_ACK) &&
								roce_psn_diff(answer->pkt.psn,
										repeat->pkt.psn) >=
										0
						: exact)
			return answer->at + HANDLING < repeat->at;
	}
	return false;
}

/* It said nothing to a request for a while, and then answered the repeated one. */
static bool
missed_first(const struct side *side, const struct rp_frame *repeat)
{
	const struct rp_frame *asking = last_asking(side, repeat);
	const struct rp_frame *answer;

	if (asking == NULL || asking->at + HANDLING > repeat->at || was_asked_for(side, repeat))
		return false;
	answer = answer_near(side, asking, side->me, 1);
	return answer != NULL && answer > repeat;
}

/* It acknowledges twice what came once. */
static bool
heard_more(const struct side *side, const struct rp_frame *answer)
{
	const struct rp_frame *before = answer_near(side, answer, side->me, -1);

	if (before == NULL || !rp_says(answer, ROCE_AETH_ACK) || !rp_says(before, ROCE_AETH_ACK) ||
			before->pkt.psn != answer->pkt.psn)
		return false;
	for (const struct rp_frame *frame = side->capture->frame; frame < answer; frame++) {
		if (is_data(frame, answer->flow, !side->me) && rp_is_request(frame) &&
				frame->repeats)
			return false;
	}
	return true;
}

static bool
missed_frame(const struct side *side, int flow)
{
	for (uint32_t i = 0; i < side->capture->frames; i++) {
		const struct rp_frame *frame = &side->capture->frame[i];
		bool mine = frame->from == side->me;

		if (frame->flow != flow || (rp_is_request(frame) && !frame->repeats))
			continue;
		if (!rp_is_request(frame)              ? mine && heard_more(side, frame)
						: mine ? missed_answer(side, frame)
						       : missed_first(side, frame))
			return true;
	}
	return false;
}

static const struct rp_frame *
mad_before(const struct side *side, const struct rp_frame *again)
{
	for (const struct rp_frame *frame = again - 1; frame >= side->capture->frame; frame--) {
		if (frame->conn == again->conn && frame->from == again->from &&
				frame->msg.attr == again->msg.attr)
			return frame;
	}
	return NULL;
}

static bool
mad_between(const struct side *side, const struct rp_frame *from, const struct rp_frame *until,
		uint16_t a, uint16_t b)
{
	for (const struct rp_frame *frame = from; frame < until; frame++) {
		if (frame->conn == from->conn && frame->from == side->me &&
				(frame->msg.attr == a || frame->msg.attr == b))
			return true;
	}
	return false;
}

/* The other side says again what this one would have answered at once, had it heard it: or its answer was lost. */
static bool
was_silent(const struct side *side, const struct rp_frame *first, const struct rp_frame *again)
{
	const struct rp_frame *end = side->capture->frame + side->capture->frames;

	switch (again->msg.attr) {
	case ROCE_CM_ATTR_REQ:
		/* Its program may take its time; then the repeated one is told so. */
		return !mad_between(side, first, end, ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_MRA) &&
				!mad_between(side, first, again, ROCE_CM_ATTR_REP,
						ROCE_CM_ATTR_REJ);
	case ROCE_CM_ATTR_REP:
		return !mad_between(side, first, again, ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_REJ);
	case ROCE_CM_ATTR_DREQ:
		return !mad_between(side, first, again, ROCE_CM_ATTR_DREP, ROCE_CM_ATTR_DREQ);
	default:
		return false;
	}
}

/* It says again what was answered before; or so soon that it was the wire that said it again. */
static bool
says_needlessly(const struct side *side, const struct rp_frame *first, const struct rp_frame *again)
{
	uint16_t attr = again->msg.attr;

	if (attr != ROCE_CM_ATTR_REQ && attr != ROCE_CM_ATTR_REP && attr != ROCE_CM_ATTR_DREQ)
		return false;
	return first->at + HANDLING > again->at ||
			rp_mad_answered(side->capture, first, again->at - HANDLING);
}

/* Did it use the connection without having said that it is ready? */
static bool
is_unready(const struct side *side, const struct rp_frame *frame)
{
	const struct rp_conn *conn = &side->capture->conn[frame->conn];

	return frame->from == side->me && conn->active == side->me && conn->reply != NULL &&
			frame > conn->reply && frame->msg.attr == ROCE_CM_ATTR_DREQ &&
			!mad_between(side, conn->req, frame, ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_RTU);
}

static bool
mads_are_missing(const struct side *side)
{
	for (uint32_t i = 0; i < side->capture->frames; i++) {
		const struct rp_frame *frame = &side->capture->frame[i];
		const struct rp_frame *first = frame->conn >= 0 ? mad_before(side, frame) : NULL;

		if (frame->conn >= 0 && is_unready(side, frame))
			return true;
		if (first == NULL)
			continue;
		if (frame->from == side->me ? says_needlessly(side, first, frame)
					    : was_silent(side, first, frame))
			return true;
	}
	return false;
}

static bool
says_something(const struct side *side)
{
	for (uint32_t i = 0; i < side->capture->frames; i++) {
		if (side->capture->frame[i].from == side->me)
			return true;
	}
	return false;
}

bool
rp_side_is_whole(const struct rp_capture *capture, enum rp_side me)
{
	const struct side side = { capture, (uint8_t)me };

	if (!says_something(&side) || was_damaged(&side) || mads_are_missing(&side))
		return false;
	for (int i = 0; i < capture->flows; i++) {
		if (requests_are_missing(&side, i) || answers_are_missing(&side, i) ||
				missed_request(&side, i) || missed_frame(&side, i))
			return false;
	}
	return true;
}
