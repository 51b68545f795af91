/* SPDX-License-Identifier: BSD-3-Clause */

#include <stddef.h>

#include "judge.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/icrc.h"
#include "wire/psn.h"

void
judge_init(struct judge *judge)
{
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

static void
judge_request(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	if (roce_psn_diff(pkt->psn, flow->acknowledged) < 0)
		judge->violation = "a request was sent whose acknowledgement had arrived";
	else if (roce_psn_diff(pkt->psn, flow->acknowledged) >= JUDGE_WINDOW)
		judge->violation = "a request was sent beyond the window";
	else if (roce_psn_diff(pkt->psn, flow->next) > 0)
		judge->violation = "a PSN was left out";
	if (roce_psn_diff(pkt->psn, flow->next) == 0)
		flow->next = roce_psn_add(pkt->psn, 1);
	else
		judge->again++;
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

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK || pkt.op->verb != ROCE_VERB_ACK ||
			!roce_icrc_ok(&pkt))
		return;
	flow = flow_of(judge, &pkt, false);
	if (flow == NULL)
		return;
	/* An ACK names the last packet that arrived, a NAK the first that did not. */
	upto = (roce_aeth_syndrome(roce_pkt_aeth(&pkt)) & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK
			? roce_psn_add(pkt.psn, 1)
			: pkt.psn;
	if (roce_psn_diff(upto, flow->next) <= 0 && roce_psn_diff(upto, flow->acknowledged) > 0)
		flow->acknowledged = upto;
}
