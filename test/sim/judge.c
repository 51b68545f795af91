/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester's frames, and what it learned from those that reached it. */

#include <stddef.h>
#include <string.h>

#include "judge.h"
#include "wire/aeth.h"
#include "wire/icrc.h"
#include "wire/psn.h"

#define CONGESTED 3u /**< of the two ECN bits */

void
judge_init(struct judge *judge, const struct world_params *world)
{
	judge->mtu = roce_mtu_bytes(world->mtu_code);
	judge->reads = world->reads;
	judge->line = world->line;
	judge->extensions = world->extensions;
	judge->notifications = 0;
	judge->flows = 0;
	judge->again = 0;
	judge->not_ready = 0;
	judge->violation = NULL;
}

void
judge_violate(struct judge *judge, const char *what)
{
	if (judge->violation == NULL)
		judge->violation = what;
}

struct judge_flow *
judge_expect(struct judge *judge, uint32_t requester, uint32_t responder, uint32_t psn)
{
	struct judge_flow *flow = &judge->flow[judge->flows++];

	flow->requester = requester;
	flow->responder = responder;
	flow->acknowledged = psn;
	flow->next = psn;
	flow->heard = psn;
	memset(flow->early, 0, sizeof(flow->early));
	memset(flow->answered, 0, sizeof(flow->answered));
	flow->answers = 0;
	flow->posted = 0;
	flow->begun = 0;
	flow->limit = 0;
	flow->limited = false;
	flow->nak_sent = false;
	flow->silent_until = 0;
	flow->marked = false;
	flow->marked_at = 0;
	flow->notified = 0;
	flow->slowed = false;
	flow->slow_until = 0;
	flow->asks = 0;
	flow->message[0] = (struct judge_message){ .end = psn };
	return flow;
}

static bool
is_atomic(uint8_t opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

void
judge_posted(struct judge *judge, struct judge_flow *flow, const struct judge_message *message)
{
	uint32_t before = flow->message[flow->posted].end;
	uint32_t packets = 1;

	if (!is_atomic(message->opcode) && message->length > judge->mtu)
		packets = (message->length + judge->mtu - 1) / judge->mtu;
	flow->message[++flow->posted] = *message;
	flow->message[flow->posted].end = roce_psn_add(before, packets);
}

/* The flow whose requests go to a queue pair, or whose answers do. */
static struct judge_flow *
flow_of(struct judge *judge, const struct roce_pkt *pkt, bool request)
{
	for (uint32_t i = 0; i < judge->flows; i++) {
		struct judge_flow *flow = &judge->flow[i];

		if ((request ? flow->responder : flow->requester) == pkt->dest_qp)
			return flow;
	}
	return NULL;
}

/* The flow whose requests the sender of this flow's answers makes. */
static struct judge_flow *
other_way(struct judge *judge, const struct judge_flow *flow)
{
	return &judge->flow[(flow - judge->flow) ^ 1];
}

static bool
is_ask(const struct roce_pkt *pkt)
{
	return pkt->op->verb == ROCE_VERB_READ || pkt->op->verb == ROCE_VERB_ATOMIC_CAS ||
			pkt->op->verb == ROCE_VERB_ATOMIC_FADD;
}

uint32_t
judge_psns(const struct judge *judge, const struct roce_pkt *pkt)
{
	uint32_t length;

	if (pkt->op->verb != ROCE_VERB_READ)
		return 1;
	length = rte_be_to_cpu_32(roce_pkt_reth(pkt)->length);
	return length == 0 ? 1 : (length + judge->mtu - 1) / judge->mtu;
}

/* Answers that are complete are not waited for any more. */
static void
forget_asks(struct judge_flow *flow)
{
	while (flow->asks > 0 && roce_psn_diff(flow->ask[0].end, flow->acknowledged) <= 0) {
		flow->asks--;
		for (uint32_t i = 0; i < flow->asks; i++)
			flow->ask[i] = flow->ask[i + 1];
	}
}

/* The PSN beyond which nothing is acknowledged before an answer comes. */
static uint32_t
next_answer(const struct judge_flow *flow)
{
	if (flow->asks == 0)
		return flow->next;
	return roce_psn_diff(flow->acknowledged, flow->ask[0].psn) > 0 ? flow->acknowledged
								       : flow->ask[0].psn;
}

static enum roce_verb
verb_of(uint8_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return ROCE_VERB_WRITE;
	case IBV_WR_RDMA_READ:
		return ROCE_VERB_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return ROCE_VERB_ATOMIC_CAS;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ROCE_VERB_ATOMIC_FADD;
	default:
		return ROCE_VERB_SEND;
	}
}

/* Number of the message that a PSN belongs to; 0: none that was posted. */
static uint32_t
message_at(const struct judge_flow *flow, uint32_t psn)
{
	uint32_t n = flow->begun;

	if (psn == flow->message[n].end)
		return n < flow->posted ? n + 1 : 0;
	while (n > 0 && roce_psn_diff(psn, flow->message[n - 1].end) < 0)
		n--;
	return n;
}

/* A READ asks for the rest; between ends that have agreed, for any packets of it. (A first one for less leaves PSNs out.) */
static bool
asks_for_part(const struct judge *judge, uint32_t left, const struct roce_pkt *pkt)
{
	uint32_t length = rte_be_to_cpu_32(roce_pkt_reth(pkt)->length);

	return length == left ||
			(judge->extensions && length > 0 && length < left &&
					length % judge->mtu == 0);
}

/* Does the frame look like this part of the message? */
static bool
is_part(const struct judge *judge, const struct judge_message *msg, uint32_t part,
		const struct roce_pkt *pkt)
{
	uint32_t left = msg->length - part * judge->mtu;
	bool last = left <= judge->mtu;
	uint16_t flags = pkt->op->flags;
	bool imm = msg->opcode == IBV_WR_SEND_WITH_IMM || msg->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (pkt->op->verb != verb_of(msg->opcode))
		return false;
	if (msg->opcode == IBV_WR_RDMA_READ)
		return asks_for_part(judge, left, pkt);
	if (is_atomic(msg->opcode))
		return part == 0;
	return !!(flags & ROCE_OP_START) == (part == 0) && !!(flags & ROCE_OP_END) == last &&
			!!(flags & ROCE_OP_IMM) == (last && imm) &&
			!!(flags & ROCE_OP_IETH) == (last && msg->opcode == IBV_WR_SEND_WITH_INV) &&
			pkt->solicited == (last && msg->solicited) &&
			pkt->payload_len == (last ? left : judge->mtu);
}

static void
begin_message(struct judge *judge, struct judge_flow *flow, uint32_t number)
{
	const struct judge_message *msg = &flow->message[number];
	bool uses_receive = verb_of(msg->opcode) == ROCE_VERB_SEND ||
			msg->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	flow->begun = number;
	if (msg->fence && flow->asks > 0)
		judge_violate(judge, "a fenced request began before a READ was answered");
	if (flow->limited && uses_receive && number > flow->limit &&
			flow->next != flow->acknowledged)
		judge_violate(judge, "a request was sent ahead of the credits");
}

static void
add_ask(struct judge *judge, struct judge_flow *flow, uint32_t psn)
{
	if (flow->asks == RTE_MIN(judge->reads, JUDGE_ASKS)) {
		judge_violate(judge, "more READs than anybody agreed to");
		return;
	}
	flow->ask[flow->asks++] = (struct judge_ask){ .psn = psn, .end = flow->next, .sent = psn };
}

static void
judge_request(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt,
		uint64_t now)
{
	uint32_t number = message_at(flow, pkt->psn);
	uint32_t before = number > 0 ? flow->message[number - 1].end : 0;

	if (roce_psn_diff(pkt->psn, flow->acknowledged) < 0)
		judge_violate(judge, "a request was sent whose acknowledgement had arrived");
	else if (roce_psn_diff(pkt->psn, flow->acknowledged) >= JUDGE_WINDOW)
		judge_violate(judge, "a request was sent beyond the window");
	else if (roce_psn_diff(pkt->psn, flow->next) > 0)
		judge_violate(judge, "a PSN was left out");
	else if (number == 0)
		judge_violate(judge, "a request was sent that nobody posted");
	else if (!is_part(judge, &flow->message[number], (pkt->psn - before) & ROCE_PSN_MASK, pkt))
		judge_violate(judge, "a request does not look like what was posted");
	else if (now < flow->silent_until)
		judge_violate(judge, "a request was sent while the receiver is not ready");
	flow->silent_until = 0;
	if (roce_psn_diff(pkt->psn, flow->next) != 0) {
		judge->again++;
		return;
	}
	if (number != flow->begun)
		begin_message(judge, flow, number);
	flow->next = roce_psn_add(pkt->psn, judge_psns(judge, pkt));
	if (is_ask(pkt))
		add_ask(judge, flow, pkt->psn);
}

/* The acknowledgement that a request carries, as a packet of its own. */
static struct roce_pkt
piggybacked(const struct roce_pkt *pkt)
{
	struct roce_pkt ack = *pkt;

	ack.opcode = IBV_OPCODE_RC_ACKNOWLEDGE;
	ack.op = &roce_opcode[IBV_OPCODE_RC_ACKNOWLEDGE];
	ack.psn = rte_be_to_cpu_32(roce_pkt_piggyback(pkt)->psn);
	return ack;
}

static void
judge_piggyback_sent(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	const struct roce_pkt ack = piggybacked(pkt);

	if (!judge->extensions)
		judge_violate(judge, "an acknowledgement in a request without agreement");
	if ((roce_aeth_syndrome(roce_pkt_aeth(&ack)) & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK)
		judge_violate(judge, "a request carries a NAK");
	judge_answer_sent(judge, flow, &ack);
}

void
judge_sent(struct judge *judge, struct rte_mbuf *m, uint64_t now)
{
	struct roce_pkt pkt;
	struct judge_flow *flow;

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK) {
		judge_violate(judge, "an engine sent a frame that cannot be parsed");
		return;
	}
	if (!roce_icrc_ok(&pkt)) {
		judge_violate(judge, "an engine sent a frame with a wrong ICRC");
		return;
	}
	flow = flow_of(judge, &pkt, pkt.op->flags & ROCE_OP_REQUEST);
	if (flow == NULL) {
		judge_violate(judge, "a frame was sent to nobody");
	} else if (pkt.opcode == ROCE_OPCODE_CNP) {
		judge_notified(judge, flow, now);
	} else if (pkt.opcode == ROCE_OPCODE_SACK) {
		judge_sack_sent(judge, flow, &pkt);
	} else if (pkt.op->flags & ROCE_OP_REQUEST) {
		if (pkt.op->flags & ROCE_OP_PIGGYBACK)
			judge_piggyback_sent(judge, other_way(judge, flow), &pkt);
		judge_speed(judge, flow, &pkt, now);
		judge_request(judge, flow, &pkt, now);
	} else {
		if (pkt.opcode != IBV_OPCODE_RC_ACKNOWLEDGE)
			judge_speed(judge, other_way(judge, flow), &pkt, now);
		judge_answer_sent(judge, flow, &pkt);
	}
}

/* Learn the peer's credits from an acknowledgement; an old one has none. */
static void
learn_credits(struct judge_flow *flow, const struct roce_pkt *pkt)
{
	const struct roce_aeth *aeth = roce_pkt_aeth(pkt);
	uint8_t code = roce_aeth_syndrome(aeth) & ROCE_AETH_VALUE_MASK;
	uint32_t limit;

	if ((roce_aeth_syndrome(aeth) & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK ||
			code == ROCE_CREDIT_INVALID || roce_psn_diff(pkt->psn, flow->next) >= 0)
		return;
	/* The responder's queue may shrink in the eyes of the code, which is rounded: the highest limit counts. */
	limit = roce_aeth_msn(aeth) + roce_credit_decode(code);
	flow->limit = RTE_MAX(flow->limit, limit);
	if (pkt->opcode == IBV_OPCODE_RC_ACKNOWLEDGE &&
			roce_psn_diff(pkt->psn, flow->acknowledged) >= -1)
		flow->limited = true;
}

static void
acknowledge(struct judge_flow *flow, uint32_t upto)
{
	if (roce_psn_diff(upto, flow->next) > 0 || roce_psn_diff(upto, flow->acknowledged) <= 0)
		return;
	flow->acknowledged = upto;
	flow->silent_until = 0;
	forget_asks(flow);
}

static void
not_ready(struct judge_flow *flow, const struct roce_pkt *pkt, uint64_t now)
{
	uint8_t code = roce_aeth_syndrome(roce_pkt_aeth(pkt)) & ROCE_AETH_VALUE_MASK;

	/* Copies of one that is being obeyed begin nothing new. */
	if (flow->acknowledged == pkt->psn && flow->next != pkt->psn && flow->silent_until == 0)
		flow->silent_until = now + UINT64_C(1000) * roce_rnr_timer_us(code);
}

static void
ack_arrived(struct judge_flow *flow, const struct roce_pkt *pkt, uint64_t now)
{
	uint8_t kind = roce_aeth_syndrome(roce_pkt_aeth(pkt)) & ROCE_AETH_KIND_MASK;
	uint32_t upto, answered;

	/* An ACK names the last packet that arrived, a NAK the first that did not. */
	upto = kind == ROCE_AETH_ACK ? roce_psn_add(pkt->psn, 1) : pkt->psn;
	answered = next_answer(flow);
	if (roce_psn_diff(upto, answered) > 0) {
		acknowledge(flow, answered);
		return;
	}
	acknowledge(flow, upto);
	if (kind == ROCE_AETH_RNR)
		not_ready(flow, pkt, now);
}

/* Ahead of one that is missing: between ends that have agreed, it counts when that has come. */
static void
answer_early(const struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	struct judge_early *at = &flow->answered[pkt->psn % JUDGE_EARLY];

	acknowledge(flow, next_answer(flow));
	if (!judge->extensions || pkt->op->verb != ROCE_VERB_READ ||
			roce_psn_diff(pkt->psn, flow->acknowledged) >= 128 ||
			(at->psns != 0 && at->psn == pkt->psn))
		return;
	*at = (struct judge_early){ pkt->psn, 1 };
	flow->answers++;
}

/* The expected one, and those that came early. */
static void
answer_in_order(struct judge_flow *flow, uint32_t psn)
{
	acknowledge(flow, roce_psn_add(psn, 1));
	while (flow->answers > 0 && flow->asks > 0) {
		struct judge_early *at;

		acknowledge(flow, next_answer(flow));
		at = &flow->answered[flow->acknowledged % JUDGE_EARLY];
		if (at->psns == 0 || at->psn != flow->acknowledged)
			break;
		at->psns = 0;
		flow->answers--;
		acknowledge(flow, roce_psn_add(flow->acknowledged, 1));
	}
}

static void
answer_arrived(const struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt,
		uint64_t now)
{
	if (pkt->op->flags & ROCE_OP_AETH)
		learn_credits(flow, pkt);
	if (pkt->opcode == IBV_OPCODE_RC_ACKNOWLEDGE)
		ack_arrived(flow, pkt, now);
	/* Answers count in order only. One behind a gap still says that everything before the gap arrived. */
	else if (flow->asks > 0 && pkt->psn == next_answer(flow))
		answer_in_order(flow, pkt->psn);
	else if (flow->asks > 0 && roce_psn_diff(pkt->psn, next_answer(flow)) > 0 &&
			roce_psn_diff(pkt->psn, flow->next) < 0)
		answer_early(judge, flow, pkt);
}

void
judge_arrived(struct judge *judge, struct rte_mbuf *m, uint64_t now)
{
	struct roce_pkt pkt;
	struct judge_flow *flow;

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK || !roce_icrc_ok(&pkt))
		return;
	flow = flow_of(judge, &pkt, pkt.op->flags & ROCE_OP_REQUEST);
	if (flow == NULL)
		return;
	if (pkt.opcode == ROCE_OPCODE_CNP) {
		judge_slowed(judge, flow, now);
		return;
	}
	if (pkt.opcode == ROCE_OPCODE_SACK)
		return;
	if (pkt.op->flags & ROCE_OP_REQUEST) {
		if (pkt.op->flags & ROCE_OP_PIGGYBACK) {
			const struct roce_pkt ack = piggybacked(&pkt);

			answer_arrived(judge, other_way(judge, flow), &ack, now);
		}
		if (pkt.ecn == CONGESTED)
			judge_marked(flow, now);
		judge_request_arrived(judge, flow, &pkt);
		return;
	}
	if (pkt.ecn == CONGESTED)
		judge_marked(other_way(judge, flow), now);
	answer_arrived(judge, flow, &pkt, now);
}
