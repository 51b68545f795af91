/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder's frames. */

#include <stddef.h>

#include "judge.h"
#include "wire/aeth.h"
#include "wire/psn.h"

/* The ask whose answer has a frame with this PSN; NULL: it is answered to the end. */
static struct judge_ask *
ask_at(struct judge_flow *flow, uint32_t psn)
{
	for (uint32_t i = 0; i < flow->asks; i++) {
		struct judge_ask *ask = &flow->ask[i];

		if (roce_psn_diff(psn, ask->psn) >= 0 && roce_psn_diff(psn, ask->end) < 0)
			return ask;
	}
	return NULL;
}

/* Does message @p number end at @p end exactly, or before it and the next one behind it? */
static bool
number_fits(const struct judge_flow *flow, uint32_t number, uint32_t end)
{
	if (number > flow->posted || roce_psn_diff(flow->message[number].end, end) > 0)
		return false;
	return number == flow->posted || roce_psn_diff(flow->message[number + 1].end, end) > 0;
}

/* A frame of the answer to a READ or atomic. */
static void
data_sent(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	struct judge_ask *ask = ask_at(flow, pkt->psn);

	if (ask == NULL) {
		/* A late copy of a request: answered again, for nothing. */
		if (roce_psn_diff(pkt->psn, flow->acknowledged) >= 0)
			judge_violate(judge, "an answer that nobody asked for");
		return;
	}
	if (roce_psn_diff(pkt->psn, ask->sent) > 0)
		judge_violate(judge, "an answer leaves something out");
	if (roce_psn_diff(pkt->psn, ask->sent) >= 0)
		ask->sent = roce_psn_add(pkt->psn, 1);
	if ((pkt->op->flags & ROCE_OP_AETH) &&
			!number_fits(flow, roce_aeth_msn(roce_pkt_aeth(pkt)), ask->end))
		judge_violate(judge, "an answer with a wrong message number");
}

/* Everything before @p upto is said to have arrived: so what was asked there was answered. */
static bool
overtakes(const struct judge_flow *flow, uint32_t upto)
{
	for (uint32_t i = 0; i < flow->asks; i++) {
		const struct judge_ask *ask = &flow->ask[i];
		uint32_t end = roce_psn_diff(ask->end, upto) < 0 ? ask->end : upto;

		if (roce_psn_diff(upto, ask->psn) > 0 && roce_psn_diff(ask->sent, end) < 0)
			return true;
	}
	return false;
}

static void
gap_reported(struct judge *judge, struct judge_flow *flow, uint32_t psn)
{
	if (flow->nak_sent && flow->nak_psn == psn)
		judge_violate(judge, "a gap was reported twice");
	flow->nak_sent = true;
	flow->nak_psn = psn;
}

void
judge_answer_sent(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	uint8_t syndrome;
	uint32_t upto;

	if (pkt->opcode != IBV_OPCODE_RC_ACKNOWLEDGE) {
		data_sent(judge, flow, pkt);
		return;
	}
	syndrome = roce_aeth_syndrome(roce_pkt_aeth(pkt));
	upto = (syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK ? roce_psn_add(pkt->psn, 1)
								 : pkt->psn;
	if (roce_psn_diff(upto, flow->heard) > 0)
		judge_violate(judge, "something was acknowledged that did not arrive");
	else if (overtakes(flow, upto))
		judge_violate(judge, "an acknowledgement overtook the answer to a READ");
	else if (!number_fits(flow, roce_aeth_msn(roce_pkt_aeth(pkt)), upto))
		judge_violate(judge, "an acknowledgement with a wrong message number");
	if (syndrome == (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE))
		gap_reported(judge, flow, pkt->psn);
	if ((syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR)
		judge->not_ready++;
}

void
judge_sack_sent(struct judge *judge, const struct judge_flow *flow, const struct roce_pkt *pkt)
{
	struct roce_sack sack = *roce_pkt_sack(pkt);

	if (!judge->extensions)
		judge_violate(judge, "a selective acknowledgement without agreement");
	if (roce_psn_diff(pkt->psn, flow->heard) > 0)
		judge_violate(judge, "a selective acknowledgement expects what it cannot");
	for (uint32_t i = 0; i < 128; i++) {
		uint32_t psn = roce_psn_add(pkt->psn, 1 + i);
		const struct judge_early *early = &flow->early[psn % JUDGE_EARLY];

		if (!(rte_be_to_cpu_64(sack.held[i / 64]) >> i % 64 & 1))
			continue;
		if (early->psns == 0 || early->psn != psn)
			judge_violate(judge, "something is said to be held that did not arrive");
	}
}

void
judge_request_arrived(
		const struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt)
{
	struct judge_early *at = &flow->early[pkt->psn % JUDGE_EARLY];

	if (roce_psn_diff(pkt->psn, flow->heard) >= 0)
		*at = (struct judge_early){ pkt->psn, judge_psns(judge, pkt) };
	/* Those that came early count as soon as nothing before them is missing. */
	for (at = &flow->early[flow->heard % JUDGE_EARLY]; at->psns != 0 && at->psn == flow->heard;
			at = &flow->early[flow->heard % JUDGE_EARLY])
		flow->heard = roce_psn_add(flow->heard, at->psns);
	if (pkt->psn == flow->nak_psn)
		flow->nak_sent = false;
}
