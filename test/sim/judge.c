/* SPDX-License-Identifier: BSD-3-Clause */

#include <stddef.h>

#include "judge.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/icrc.h"
#include "wire/psn.h"

void
judge_init(struct judge *judge, uint32_t mtu)
{
	judge->mtu = mtu;
	judge->flows = 0;
	judge->again = 0;
	judge->violation = NULL;
}

void
judge_expect(struct judge *judge, uint32_t requester, uint32_t responder, uint32_t psn)
{
	judge->flow[judge->flows++] = (struct judge_flow){
		.requester = requester,
		.responder = responder,
		.acknowledged = psn,
		.next = psn,
	};
}

/* The flow whose requests go to @p qpn, or whose acknowledgements do. */
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

static bool
is_ask(const struct roce_pkt *pkt)
{
	return pkt->op->verb == ROCE_VERB_READ || pkt->op->verb == ROCE_VERB_ATOMIC_CAS ||
			pkt->op->verb == ROCE_VERB_ATOMIC_FADD;
}

/* How many PSNs a request frame stands for: those of its answer. */
static uint32_t
psns_of(const struct judge *judge, const struct roce_pkt *pkt)
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

static void
judge_request(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	if (roce_psn_diff(pkt->psn, flow->acknowledged) < 0)
		judge->violation = "a request was sent whose acknowledgement had arrived";
	else if (roce_psn_diff(pkt->psn, flow->acknowledged) >= JUDGE_WINDOW)
		judge->violation = "a request was sent beyond the window";
	else if (roce_psn_diff(pkt->psn, flow->next) > 0)
		judge->violation = "a PSN was left out";
	if (roce_psn_diff(pkt->psn, flow->next) != 0) {
		judge->again++;
		return;
	}
	flow->next = roce_psn_add(pkt->psn, psns_of(judge, pkt));
	if (!is_ask(pkt))
		return;
	if (flow->asks == JUDGE_ASKS) {
		judge->violation = "more READs than anybody agreed to";
		return;
	}
	flow->ask[flow->asks].psn = pkt->psn;
	flow->ask[flow->asks++].end = flow->next;
}

void
judge_sent(struct judge *judge, struct rte_mbuf *m)
{
	struct roce_pkt pkt;
	struct judge_flow *flow;

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK) {
		judge->violation = "an engine sent a frame that cannot be parsed";
		return;
	}
	if (!roce_icrc_ok(&pkt)) {
		judge->violation = "an engine sent a frame with a wrong ICRC";
		return;
	}
	if (!(pkt.op->flags & ROCE_OP_REQUEST))
		return;
	flow = flow_of(judge, &pkt, true);
	if (flow == NULL)
		judge->violation = "a request was sent to nobody";
	else
		judge_request(judge, flow, &pkt);
}

void
judge_arrived(struct judge *judge, struct rte_mbuf *m)
{
	struct roce_pkt pkt;
	struct judge_flow *flow;
	uint32_t upto;

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK || !(pkt.op->flags & ROCE_OP_RESPONSE) ||
			!roce_icrc_ok(&pkt))
		return;
	flow = flow_of(judge, &pkt, false);
	if (flow == NULL)
		return;
	if (pkt.opcode != IBV_OPCODE_RC_ACKNOWLEDGE) {
		/* Answers count in order only; each acknowledges what was asked before it. */
		if (flow->asks > 0 && pkt.psn == next_answer(flow))
			flow->acknowledged = roce_psn_add(pkt.psn, 1);
		forget_asks(flow);
		return;
	}
	/* An ACK names the last packet that arrived, a NAK the first that did not. */
	upto = (roce_aeth_syndrome(roce_pkt_aeth(&pkt)) & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK
			? roce_psn_add(pkt.psn, 1)
			: pkt.psn;
	if (roce_psn_diff(upto, next_answer(flow)) > 0)
		upto = next_answer(flow);
	if (roce_psn_diff(upto, flow->next) <= 0 && roce_psn_diff(upto, flow->acknowledged) > 0)
		flow->acknowledged = upto;
}
