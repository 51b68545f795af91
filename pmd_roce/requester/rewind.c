/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester: back to a PSN that is sent again, and requests whose memory is gone. */

#include "queue/fault_dice.h"
#include "queue/qp_end.h"
#include "requester/rewind.h"

/* How far the sequence number of messages moves from request @p from to request @p to: binds have none. */
static int32_t
ssn_diff(const struct roce_qp *qp, uint32_t from, uint32_t to)
{
	bool back = (int32_t)(to - from) < 0;
	uint32_t last = back ? from : to;
	int32_t messages = 0;

	if (!roce_qp_one_by_one(qp))
		return (int32_t)(to - from);
	for (uint32_t i = back ? to : from; i != last; i++)
		messages += !roce_wqe_is_bind(roce_wq_slot(&qp->wq, i));
	return back ? -messages : messages;
}

void
roce_req_seek(struct roce_qp *qp, uint32_t psn)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint32_t next = tx->begun;
	uint32_t offset = 0;

	for (uint32_t i = tx->tail; i != tx->begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);
		int32_t ahead = roce_psn_diff(psn, wqe->psn);

		if (ahead >= 0 && (uint32_t)ahead < wqe->packets) {
			next = i;
			offset = (uint32_t)ahead * qp->rx.mtu;
			break;
		}
	}
	tx->ssn = roce_psn_add(tx->ssn, (uint32_t)ssn_diff(qp, tx->next, next));
	tx->next = next;
	tx->offset = offset;
	tx->psn = psn;
}

void
roce_req_rewind(struct roce_qp *qp, uint32_t psn)
{
	struct roce_qp_tx *tx = &qp->tx;

	roce_req_seek(qp, psn);
	tx->silent = 0;
	if (roce_psn_diff(tx->timed_psn, psn) >= 0)
		tx->timed_at = 0;
	tx->prot_error = false;
	tx->fence_wait = false;
	roce_qp_ready(qp);
}

/* The status with which the request at next, which cannot be sent, ends. */
static enum ibv_wc_status
status_of_next(const struct roce_qp *qp)
{
	if (roce_fault_fails(qp, qp->tx.next))
		return IBV_WC_RETRY_EXC_ERR;
	return roce_wqe_is_bind(roce_wq_slot(&qp->wq, qp->tx.next)) ? IBV_WC_MW_BIND_ERR
								    : IBV_WC_LOC_PROT_ERR;
}

void
roce_req_report_prot_error(struct roce_qp *qp)
{
	enum ibv_wc_status status;

	if (!qp->tx.prot_error || qp->tx.tail != qp->tx.next)
		return;
	status = status_of_next(qp);
	qp->engine->stats.injected_wc_errors += status == IBV_WC_RETRY_EXC_ERR;
	roce_qp_break(qp, status, true);
}

__rte_noinline void
roce_req_fail_local(struct roce_qp *qp)
{
	qp->engine->stats.req_local_protection_error++;
	roce_req_fail_next(qp);
}

__rte_noinline void
roce_req_fail_next(struct roce_qp *qp)
{
	qp->tx.prot_error = true;
	roce_req_report_prot_error(qp);
	if (qp->tx.prot_error)
		roce_req_end_silence(qp);
}

void
roce_req_end_silence(struct roce_qp *qp)
{
	if (qp->tx.silent == 0)
		return;
	roce_req_rewind(qp, qp->tx.una);
	roce_qp_ready(qp);
}
