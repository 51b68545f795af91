/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder's judgement, in the order of IBTA Vol 1, 9.7.4.1: sequence, opcode, length, resources. */

#include <rte_branch_prediction.h>

#include "engine/loan.h"

bool
roce_resp_length_ok(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	uint16_t flags = pkt->op->flags;

	if (!(flags & ROCE_OP_END))
		return pkt->payload_len == rx->mtu;
	if (!(flags & ROCE_OP_START) && pkt->payload_len == 0)
		return false;
	return pkt->payload_len <= rx->mtu;
}

bool
roce_resp_order_ok(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	if (pkt->op->flags & ROCE_OP_START)
		return rx->verb == ROCE_VERB_NONE;
	return rx->verb == pkt->op->verb;
}

/* Behind the expected PSN: everything before it was executed. Ahead: something is missing, reported once. */
static __rte_noinline enum roce_verdict
out_of_order(struct roce_qp *qp, int32_t ahead)
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

static enum roce_verdict
nothing_there(struct roce_qp *qp)
{
	qp->engine->stats.out_of_buffer++;
	qp->rx.nak_sent = true;
	return ROCE_NOT_READY;
}

static inline enum roce_verdict
take(struct roce_qp *qp)
{
	struct roce_qp_rx *rx = &qp->rx;

	if (unlikely(!roce_srq_take(rx->rq, rx->recv)))
		return nothing_there(qp);
	roce_qp_hold(qp, true);
	rx->taken++;
	return ROCE_ACCEPT;
}

/* What is not ready to lend takes no receive: the message comes again, and finds it where it was. */
static __rte_noinline enum roce_verdict
take_watched(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_verdict verdict;

	if (qp->cold.loans != NULL) {
		/* What is posted from now on has not been looked at: it is for the message when it comes again. */
		if (roce_srq_available(qp->rx.rq) == 0) {
			roce_srq_note_empty(qp->rx.rq);
			return nothing_there(qp);
		}
		if (!roce_loan_ready(qp, pkt)) {
			qp->rx.nak_sent = true;
			return ROCE_NOT_READY;
		}
	}
	verdict = take(qp);
	return verdict == ROCE_ACCEPT && roce_qp_over_high(qp) ? ROCE_OVER_HIGH : verdict;
}

enum roce_verdict
roce_resp_take(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	return likely(!qp->rx.watched) ? take(qp) : take_watched(qp, pkt);
}

/* Is the message, which does not fit the receive, one of a packet whose frame can be lent? */
static __rte_noinline bool
may_lend(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	const uint16_t only = ROCE_OP_START | ROCE_OP_END;

	return (rx->recv->flags & ROCE_WR_LEND) && (pkt->op->flags & only) == only;
}

enum roce_verdict
roce_resp_check(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_qp_rx *rx = &qp->rx;
	int32_t ahead = roce_psn_diff(pkt->psn, rx->epsn);

	if (unlikely(ahead != 0))
		return out_of_order(qp, ahead);
	rx->nak_sent = false;
	if (unlikely(pkt->op->verb != ROCE_VERB_SEND))
		return roce_resp_check_rdma(qp, pkt);
	if (unlikely(!roce_resp_order_ok(rx, pkt) || !roce_resp_length_ok(rx, pkt)))
		return ROCE_INVALID;
	if (pkt->op->flags & ROCE_OP_START) {
		enum roce_verdict verdict = roce_resp_take(qp, pkt);

		if (unlikely(verdict != ROCE_ACCEPT))
			return verdict;
		rx->got = 0;
	}
	/* One that lends has no room of its own. */
	if (unlikely(rx->recv->length - rx->got < pkt->payload_len))
		return may_lend(rx, pkt) ? ROCE_LEND : ROCE_TOO_LONG;
	return ROCE_ACCEPT;
}
