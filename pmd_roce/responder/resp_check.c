/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder, validation: the cases that the fast checks of resp.h leave to it. */

#include <rte_branch_prediction.h>

#include "queue/fault_dice.h"
#include "responder/resp.h"
#include "responder/watermark.h"
#include "responder/zcrx.h"

/* Behind the expected PSN: everything before it was executed. Ahead: something is missing, reported once. */
__rte_noinline enum roce_verdict
roce_resp_out_of_order(struct roce_qp *qp, int32_t ahead)
{
	if (ahead < 0)
		return ROCE_DUPLICATE;
	qp->engine->stats.out_of_sequence++;
	if (qp->rx.nak_sent)
		return ROCE_DROP;
	qp->rx.nak_sent = true;
	return ROCE_GAP;
}

__rte_noinline enum roce_verdict
roce_resp_nothing_there(struct roce_qp *qp)
{
	qp->engine->stats.out_of_buffer++;
	qp->rx.nak_sent = true;
	return ROCE_NOT_READY;
}

/* A message that finds no receive throws no dice, whenever it comes: so its fate does not depend on when one is posted. */
static bool
is_refused_on_purpose(struct roce_qp *qp)
{
	if (qp->engine->domain->config.faults.rnr == 0 || roce_srq_available(qp->rx.rq) == 0 ||
			!roce_fault_refuses(qp))
		return false;
	qp->cold.dice.refused++;
	qp->engine->stats.injected_rnr_naks++;
	qp->rx.nak_sent = true;
	return true;
}

/* A queue pair that cannot give now takes no receive: the message comes again, and finds it where it was. */
__rte_noinline enum roce_verdict
roce_resp_take_checked(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_verdict verdict;

	if (is_refused_on_purpose(qp))
		return ROCE_NOT_READY;
	if (qp->cold.zcrx != NULL) {
		/* A receive that is posted from now on has not been looked at: it is for the message when it comes again. */
		if (roce_srq_available(qp->rx.rq) == 0) {
			roce_srq_note_empty(qp->rx.rq);
			return roce_resp_nothing_there(qp);
		}
		if (!roce_zcrx_ready(qp, pkt)) {
			qp->rx.nak_sent = true;
			return ROCE_NOT_READY;
		}
	}
	verdict = roce_resp_take_any(qp);
	return verdict == ROCE_ACCEPT && roce_qp_over_high(qp) ? ROCE_OVER_HIGH : verdict;
}

/* Given is the frame of a message that is one packet. */
__rte_noinline enum roce_verdict
roce_resp_too_long(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	const uint16_t only = ROCE_OP_START | ROCE_OP_END;

	return (rx->recv->flags & ROCE_WR_ZCRX) && (pkt->op->flags & only) == only ? ROCE_ZCRX
										   : ROCE_TOO_LONG;
}
