/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder's judgement where it is not the usual one. */

#include <rte_branch_prediction.h>

#include "engine/loan.h"
#include "engine/resp.h"

/* Behind the expected PSN: everything before it was executed. Ahead: something is missing, reported once. */
__rte_noinline enum roce_verdict
roce_resp_out_of_order(struct roce_qp *qp, int32_t ahead)
{
	if (ahead < 0) {
		qp->engine->stats.duplicate_request++;
		return ROCE_DUPLICATE;
	}
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

/* What is not ready to lend takes no receive: the message comes again, and finds it where it was. */
__rte_noinline enum roce_verdict
roce_resp_take_watched(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_verdict verdict;

	if (qp->cold.loans != NULL) {
		/* What is posted from now on has not been looked at: it is for the message when it comes again. */
		if (roce_srq_available(qp->rx.rq) == 0) {
			roce_srq_note_empty(qp->rx.rq);
			return roce_resp_nothing_there(qp);
		}
		if (!roce_loan_ready(qp, pkt)) {
			qp->rx.nak_sent = true;
			return ROCE_NOT_READY;
		}
	}
	verdict = roce_resp_take_any(qp);
	return verdict == ROCE_ACCEPT && roce_qp_over_high(qp) ? ROCE_OVER_HIGH : verdict;
}

/* Lent is the frame of a message that is one packet. */
__rte_noinline enum roce_verdict
roce_resp_too_long(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	const uint16_t only = ROCE_OP_START | ROCE_OP_END;

	return (rx->recv->flags & ROCE_WR_LEND) && (pkt->op->flags & only) == only ? ROCE_LEND
										   : ROCE_TOO_LONG;
}

/* A piece of a receive, where the engine may write now. NULL: it lies in several, or does not fit. */
static uint8_t *
place_in(const struct roce_qp *qp, const struct roce_recv *recv, uint32_t offset, uint32_t len)
{
	const struct roce_keys *keys = &qp->engine->domain->keys;
	struct roce_sge piece = { recv->sge->addr + offset, len, recv->sge->lkey };

	if (recv->num_sge != 1 || recv->length - offset < len ||
			roce_keys_check(keys, qp->rx.rq->pd, &piece, IBV_ACCESS_LOCAL_WRITE) != 0)
		return NULL;
	return (uint8_t *)(uintptr_t)piece.addr;
}

__rte_noinline uint8_t *
roce_resp_foresee(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_qp_rx *rx = &qp->rx;
	const struct roce_opcode_info *op = pkt->op;
	const struct roce_recv *next;

	if (op->verb != ROCE_VERB_SEND || (op->flags & ROCE_OP_DETH) || pkt->psn != rx->epsn ||
			rx->state != ROCE_QP_RTS || !roce_resp_order_ok(rx, op) ||
			!roce_resp_length_ok(rx, op, pkt->payload_len) ||
			!roce_pkt_ends_in_first(pkt))
		return NULL;
	if (!(op->flags & ROCE_OP_START))
		return place_in(qp, rx->recv, rx->got, pkt->payload_len);
	/* With several engines, another one may take it first. */
	if (rx->watched || qp->engine->domain->shared)
		return NULL;
	next = roce_srq_next(rx->rq);
	return next != NULL ? place_in(qp, next, 0, pkt->payload_len) : NULL;
}
