/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds and local invalidates in the send queue, both called binds here: requests that take neither a PSN nor a frame.
 *
 * The requester executes one when it comes to it for the first time, that is when everything before it was sent; so
 * a rewind, which only goes back over what was begun, never leads to a bind that was not executed, and leads over
 * those that were. It completes in its turn: at once when nothing before it is unfinished, else with the
 * acknowledgement of the request in front of it.
 */

#include "queue/complete.h"
#include "queue/mw.h"
#include "requester/bind.h"
#include "requester/rewind.h"

/** PSNs by which a bind that was executed seems to lie ahead: further than any acknowledgement can reach. */
#define OUT_OF_REACH (1u << 22)

static inline struct roce_wqe *
request_next(const struct roce_qp *qp)
{
	return roce_wq_slot(&qp->wq, qp->tx.next);
}

/* The bind at next was executed before a rewind led back to it. */
static inline bool
is_executed(const struct roce_qp_tx *tx)
{
	return tx->next != tx->begun;
}

bool
roce_bind_is_next(const struct roce_qp *qp, uint32_t posted)
{
	return qp->tx.next != posted && roce_wqe_is_bind(request_next(qp));
}

bool
roce_bind_may_pass(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;

	if (is_executed(tx))
		return true;
	return qp->rx.state == ROCE_QP_RTS && !tx->prot_error &&
			(!(request_next(qp)->flags & ROCE_WR_FENCE) || tx->tail == tx->next);
}

bool
roce_bind_pass(struct roce_qp *qp)
{
	struct roce_wqe *wqe = request_next(qp);
	struct roce_qp_tx *tx = &qp->tx;

	if (!roce_bind_may_pass(qp))
		return false;
	if (is_executed(tx)) {
		tx->next++;
		return true;
	}
	if (roce_mw_execute(qp, wqe) != 0) {
		roce_req_fail_local(qp);
		return false;
	}
	wqe->psn = roce_psn_add(tx->psn, OUT_OF_REACH);
	wqe->packets = 0;
	tx->next++;
	tx->begun = tx->next;
	if (tx->tail + 1 == tx->next)
		roce_qp_complete_bind(qp, IBV_WC_SUCCESS);
	return true;
}
