/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a difference is allowed: questions about a place in a conversation, answered from its frames alone. Names of
 * files mean nothing here.
 */

#include "replay.h"
#include "unit.h"

/* The answers of one side of a flow, in their order. */
static const struct rp_frame *
next_answer(const struct rp_capture *capture, int flow, uint8_t from, const struct rp_frame *behind)
{
	uint32_t i = behind != NULL ? (uint32_t)(behind - capture->frame) + 1 : 0;

	for (; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (frame->flow == flow && frame->from == from && frame->icrc_ok &&
				!rp_is_request(frame))
			return frame;
	}
	return NULL;
}

static bool
is_positive(const struct rp_frame *answer)
{
	return answer->pkt.opcode != IBV_OPCODE_RC_ACKNOWLEDGE || rp_says(answer, ROCE_AETH_ACK);
}

static bool
nak_code(const struct rp_frame *answer, uint8_t *code)
{
	if (!rp_says(answer, ROCE_AETH_NAK))
		return false;
	*code = roce_aeth_syndrome(roce_pkt_aeth(&answer->pkt)) & ROCE_AETH_VALUE_MASK;
	return true;
}

bool
rp_covered(const struct rp_capture *capture, int flow, uint8_t from, uint32_t psn, uint64_t until)
{
	const struct rp_frame *answer = NULL;

	while ((answer = next_answer(capture, flow, from, answer)) != NULL) {
		int32_t ahead = roce_psn_diff(answer->pkt.psn, psn);

		/* A NAK acknowledges what comes before its PSN. */
		if (answer->at <= until && (is_positive(answer) ? ahead >= 0 : ahead > 0))
			return true;
	}
	return false;
}

/* The message of one side that a frame of it belongs to; NULL. */
static const struct rp_message *
message_at(const struct rp_capture *capture, int flow, uint8_t from, uint32_t psn)
{
	for (uint32_t i = 0; i < capture->flow[flow].messages[from]; i++) {
		const struct rp_message *message = &capture->flow[flow].message[from][i];
		int32_t ahead = roce_psn_diff(psn, message->psn);

		if (ahead >= 0 && ahead < (int32_t)message->packets)
			return message;
	}
	return NULL;
}

/* The last NAK, but those of a lost frame, that names a PSN of the message; NULL. */
static const struct rp_frame *
refusal(const struct rp_capture *capture, int flow, uint8_t from, const struct rp_message *message)
{
	const struct rp_frame *answer = NULL;
	uint8_t code;

	while ((answer = next_answer(capture, flow, from, answer)) != NULL) {
		int32_t ahead = roce_psn_diff(answer->pkt.psn, message->psn);

		if (ahead >= 0 && ahead < (int32_t)message->packets && nak_code(answer, &code) &&
				code != ROCE_NAK_PSN_SEQUENCE)
			return answer;
	}
	return NULL;
}

static bool
was_not_ready(const struct rp_capture *capture, int flow, uint8_t from, uint32_t psn)
{
	const struct rp_frame *answer = NULL;

	while ((answer = next_answer(capture, flow, from, answer)) != NULL) {
		if (answer->pkt.psn == psn && rp_says(answer, ROCE_AETH_RNR))
			return true;
	}
	return false;
}

uint8_t
rp_recorded_status(const struct rp_capture *capture, int flow, uint8_t me, uint32_t psn)
{
	static const uint8_t status[] = {
		[ROCE_NAK_INVALID_REQUEST] = IBV_WC_REM_INV_REQ_ERR,
		[ROCE_NAK_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
		[ROCE_NAK_REMOTE_OPERATIONAL] = IBV_WC_REM_OP_ERR,
	};
	const struct rp_flow *f = &capture->flow[flow];

	for (uint32_t i = 0; i < f->messages[me]; i++) {
		const struct rp_message *message = &f->message[me][i];
		uint32_t last = roce_psn_add(message->psn, message->packets - 1);
		bool here = message->psn == psn;
		const struct rp_frame *nak = refusal(capture, flow, !me, message);
		uint8_t code = 0;

		if (nak == NULL && rp_covered(capture, flow, !me, last, UINT64_MAX)) {
			if (here)
				return IBV_WC_SUCCESS;
			continue;
		}
		if (!here)
			return IBV_WC_WR_FLUSH_ERR;
		if (nak != NULL && nak_code(nak, &code) && code < RTE_DIM(status))
			return status[code];
		return was_not_ready(capture, flow, !me, psn) ? IBV_WC_RNR_RETRY_EXC_ERR
							      : IBV_WC_RETRY_EXC_ERR;
	}
	return IBV_WC_SUCCESS;
}

bool
rp_refused(const struct rp_capture *capture, int flow, uint8_t me)
{
	const struct rp_flow *f = &capture->flow[flow];

	for (uint32_t i = 0; i < f->messages[!me]; i++) {
		if (f->message[!me][i].suffix == ROCE_SUFFIX_INVALIDATE ||
				refusal(capture, flow, me, &f->message[!me][i]) != NULL)
			return true;
	}
	return false;
}

bool
rp_mad_answered(const struct rp_capture *capture, const struct rp_frame *said, uint64_t until)
{
	for (uint32_t i = (uint32_t)(said - capture->frame); i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];
		bool data = said->msg.attr == ROCE_CM_ATTR_REP && frame->flow >= 0 &&
				frame->flow == capture->conn[said->conn].flow;

		if (frame->at > until)
			return false;
		if (frame->from != said->from && (data || frame->conn == said->conn) &&
				(said->msg.attr != ROCE_CM_ATTR_REP ||
						frame->msg.attr != ROCE_CM_ATTR_REQ))
			return true;
	}
	return false;
}

/* ---- the questions of replay_rules.def ---- */

static const struct rp_capture *
capture_of(const struct rp_place *place)
{
	return place->world->capture;
}

static bool
always(const struct rp_place *place)
{
	RTE_SET_USED(place);
	return true;
}

/* A frame inside a message, or one that was sent again. */
static bool
inside_or_again(const struct rp_place *place)
{
	return place->frame != NULL &&
			(!(place->frame->pkt.op->flags & ROCE_OP_END) || place->frame->repeats);
}

/* Had nothing that our side heard by now acknowledged the PSN, though it had been sent? */
static bool
still_open(const struct rp_place *place)
{
	const struct rp_world *world = place->world;

	return place->flow >= 0 &&
			!rp_covered(world->capture, place->flow, world->peer, (uint32_t)place->ours,
					world->now);
}

static bool
covered(const struct rp_place *place)
{
	return place->frame != NULL &&
			rp_covered(capture_of(place), place->flow, place->world->peer,
					place->frame->pkt.psn, UINT64_MAX);
}

/* Did the recorded request end with the status that ours has? */
static bool
ended_so(const struct rp_place *place)
{
	return place->frame != NULL &&
			rp_recorded_status(capture_of(place), place->flow, place->world->me,
					place->frame->pkt.psn) == place->ours;
}

/* Does the answer begin with a PSN from which a READ was asked for again? */
static bool
asked_again(const struct rp_place *place)
{
	const struct rp_frame *request = place->frame == NULL
			? NULL
			: rp_frame_find(capture_of(place), place->flow, place->world->peer, true,
					  place->frame->pkt.psn);

	return request != NULL && request->repeats && request->pkt.op->verb == ROCE_VERB_READ;
}

static bool
unfinished(const struct rp_place *place)
{
	return place->frame != NULL &&
			rp_recorded_status(capture_of(place), place->flow, place->world->me,
					place->frame->pkt.psn) != IBV_WC_SUCCESS;
}

static bool
too_long(const struct rp_place *place)
{
	return place->ours == (ROCE_AETH_NAK | ROCE_NAK_INVALID_REQUEST) &&
			place->recorded == (ROCE_AETH_NAK | ROCE_NAK_REMOTE_OPERATIONAL);
}

/* Does this answer belong to a SEND with invalidate? */
static bool
invalidates(const struct rp_place *place)
{
	const struct rp_message *message = place->frame == NULL
			? NULL
			: message_at(capture_of(place), place->flow, place->world->peer,
					  place->frame->pkt.psn);

	return message != NULL && message->suffix == ROCE_SUFFIX_INVALIDATE;
}

/* A NAK of a lost frame whose PSN an RNR NAK has named. */
static bool
rnr_named(const struct rp_place *place)
{
	uint8_t code;

	return place->frame != NULL && nak_code(place->frame, &code) &&
			code == ROCE_NAK_PSN_SEQUENCE &&
			was_not_ready(capture_of(place), place->flow, place->world->me,
					place->frame->pkt.psn);
}

/* Has our side refused a message for good, or should it have? */
static bool
refused(const struct rp_place *place)
{
	for (int i = 0; i < capture_of(place)->flows; i++) {
		if ((place->flow < 0 || place->flow == i) &&
				rp_refused(capture_of(place), i, place->world->me))
			return true;
	}
	return false;
}

static bool
not_received(const struct rp_place *place)
{
	return place->frame != NULL &&
			!rp_covered(capture_of(place), place->flow, place->world->me,
					place->frame->pkt.psn, UINT64_MAX);
}

/* As many frames as that are damaged. */
static bool
damaged(const struct rp_place *place)
{
	uint32_t times = 0;

	for (uint32_t i = 0; i < capture_of(place)->frames; i++)
		times += capture_of(place)->frame[i].from == place->world->peer &&
				!capture_of(place)->frame[i].icrc_ok;
	return place->ours == times;
}

static bool
dead(const struct rp_place *place)
{
	for (int i = 0; i < capture_of(place)->flows; i++) {
		if (capture_of(place)->flow[i].dead_at[place->world->me] != RP_NEVER)
			return true;
	}
	return false;
}

static bool
said_by(const struct rp_place *place, int conn, uint8_t side, uint16_t attr)
{
	for (uint32_t i = 0; i < capture_of(place)->frames; i++) {
		const struct rp_frame *frame = &capture_of(place)->frame[i];

		if (frame->conn == conn && frame->from == side && frame->msg.attr == attr)
			return true;
	}
	return false;
}

static bool
both_disconnect(const struct rp_place *place)
{
	for (int i = 0; i < capture_of(place)->conns; i++) {
		if (said_by(place, i, RP_CLIENT, ROCE_CM_ATTR_DREQ) &&
				said_by(place, i, RP_SERVER, ROCE_CM_ATTR_DREQ))
			return true;
	}
	return false;
}

/* Had the peer said nothing by now that answers what our side says again? Answers are said again when they are asked for. */
static bool
unanswered(const struct rp_place *place)
{
	const struct rp_world *world = place->world;

	for (uint32_t i = 0; i < world->capture->frames && place->conn >= 0; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (frame->conn != place->conn || frame->from != world->me ||
				frame->msg.attr != place->ours)
			continue;
		return !rp_mad_answered(world->capture, frame, world->now);
	}
	return false;
}

static bool
given_up(const struct rp_place *place)
{
	return place->conn >= 0 && capture_of(place)->conn[place->conn].reply == NULL;
}

static bool
over_before(const struct rp_place *place)
{
	int flow = place->conn >= 0 ? capture_of(place)->conn[place->conn].flow : -1;

	return flow >= 0 &&
			(place->world->end[flow].broken ||
					said_by(place, place->conn, place->world->peer,
							ROCE_CM_ATTR_DREQ));
}

static const struct {
	const char *name;
	bool (*when)(const struct rp_place *place);
	const char *reason;
} rule[] = {
#define RULE(name, when, reason) { name, when, reason },
#include "replay_rules.def"
#undef RULE
};

static_assert(RTE_DIM(rule) <= RP_RULES_MAX, "room for each rule");

uint32_t
rp_rules(void)
{
	return RTE_DIM(rule);
}

const char *
rp_rule_name(uint32_t index)
{
	return rule[index].name;
}

const char *
rp_rule_reason(uint32_t index)
{
	return rule[index].reason;
}

bool
rp_rule_allows(uint32_t index, const struct rp_place *place)
{
	return rule[index].when(place);
}
