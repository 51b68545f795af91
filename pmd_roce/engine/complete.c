/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of requests and receives that ended. */

#include "engine/extbuf.h"
#include "engine/loan.h"
#include "engine/mw.h"

static_assert(ROCE_WR_QUIET == ROCE_EVENT_QUIET, "one bit says it of a request and of its event");

static __rte_noinline void
lose_event(struct roce_qp *qp, struct roce_cq *cq, uint16_t share)
{
	qp->engine->stats.cq_overflow++;
	roce_cq_lost(cq, share);
}

static __rte_always_inline void
send_event(struct roce_qp *qp, const struct roce_wqe *wqe, enum ibv_wc_status status,
		enum roce_event_kind kind, void *owner)
{
	const bool shared = qp->engine->domain->shared;
	struct roce_event *event = roce_cq_reserve(qp->send_cq, shared);

	if (unlikely(event == NULL)) {
		lose_event(qp, qp->send_cq, 0);
		return;
	}
	event->wr_id = wqe->wr_id;
	event->owner = owner;
	event->byte_len = wqe->length;
	event->imm = 0;
	event->kind = (uint8_t)kind;
	event->status = (uint8_t)status;
	event->flags = wqe->flags & ROCE_EVENT_QUIET;
	event->opcode = wqe->opcode;
	event->srq_share = 0;
	event->lent = 0;
	roce_cq_publish(qp->send_cq, shared);
}

void
roce_qp_tell_request(struct roce_qp *qp, const struct roce_wqe *wqe, enum ibv_wc_status status)
{
	bool bind = roce_wqe_is_bind(wqe);

	if (((wqe->flags & ROCE_WR_SIGNALED) || status != IBV_WC_SUCCESS) && qp->send_cq != NULL)
		send_event(qp, wqe, status, bind ? ROCE_EVENT_BIND : ROCE_EVENT_SEND,
				bind ? roce_wqe_bind(wqe)->owner : qp->owner);
}

void
roce_qp_complete_send(struct roce_qp *qp, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);

	if (((wqe->flags & ROCE_WR_SIGNALED) || status != IBV_WC_SUCCESS) && qp->send_cq != NULL)
		send_event(qp, wqe, status, ROCE_EVENT_SEND, qp->owner);
	/* The poster may write the slot again as soon as it sees the new tail. */
	__atomic_store_n(&qp->tx.tail, qp->tx.tail + 1, __ATOMIC_RELEASE);
}

void
roce_qp_complete_bind(struct roce_qp *qp, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);

	/* The consumer will hear that it failed: nothing may be left of it for peers. */
	if (status != IBV_WC_SUCCESS)
		roce_mw_revoke(qp->engine->domain, wqe);
	if (wqe->flags & ROCE_WQE_EXTBUF) {
		roce_extbuf_complete(qp, status);
		return;
	}
	roce_qp_tell_request(qp, wqe, status);
	__atomic_store_n(&qp->tx.tail, qp->tx.tail + 1, __ATOMIC_RELEASE);
}

__rte_noinline void
roce_qp_lose_recv(struct roce_qp *qp, uint32_t told)
{
	lose_event(qp, qp->rx.cq, qp->rx.share);
	if (told & ROCE_EVENT_LENT)
		roce_loan_withdraw(qp, told);
}
