/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of requests and receives that ended. */

#include "queue/complete.h"
#include "queue/extbuf.h"
#include "queue/mw.h"

static_assert(ROCE_WR_QUIET == ROCE_EVENT_QUIET, "one bit says it of a request and of its event");

static __rte_noinline void
lose_event(struct roce_qp *qp, struct roce_cq *cq, uint16_t srq_tag)
{
	qp->engine->stats.cq_overflow++;
	roce_cq_lost(cq, srq_tag);
}

/* Fill the event of a request that ended. @return false: it has none; true: roce_cq_publish() must follow. */
static __rte_always_inline bool
fill_event(struct roce_qp *qp, const struct roce_wqe *wqe, enum ibv_wc_status status,
		enum roce_event_kind kind, void *owner)
{
	struct roce_event *event;

	if ((!(wqe->flags & ROCE_WR_SIGNALED) && status == IBV_WC_SUCCESS) || qp->send_cq == NULL)
		return false;
	event = roce_cq_reserve(qp->send_cq, qp->engine->domain->multi_engine);
	if (unlikely(event == NULL)) {
		lose_event(qp, qp->send_cq, 0);
		return false;
	}
	event->wr_id = wqe->wr_id;
	event->owner = owner;
	event->byte_len = wqe->length;
	event->imm = 0;
	event->kind = (uint8_t)kind;
	event->status = (uint8_t)status;
	event->flags = wqe->flags & ROCE_EVENT_QUIET;
	event->opcode = wqe->opcode;
	event->srq_tag = 0;
	event->zcrx = 0;
	return true;
}

/*
 * The slot is the poster's before the consumer can see the completion: a consumer that has seen it finds room for its
 * next request, whichever thread polls the engine. The slot is not read once *done has moved.
 */
static __rte_always_inline void /* NOLINTNEXTLINE(readability-non-const-parameter): a builtin writes it */
end_request(struct roce_qp *qp, uint32_t *done, const struct roce_wqe *wqe,
		enum ibv_wc_status status, enum roce_event_kind kind, void *owner)
{
	bool filled = fill_event(qp, wqe, status, kind, owner);

	__atomic_store_n(done, *done + 1, __ATOMIC_RELEASE);
	if (filled)
		roce_cq_publish(qp->send_cq, qp->engine->domain->multi_engine);
}

void
roce_qp_end_request(struct roce_qp *qp, uint32_t *done, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, *done);
	void *owner = NULL;

	if (!roce_wqe_is_bind(wqe)) {
		end_request(qp, done, wqe, status, ROCE_EVENT_SEND, qp->owner);
		return;
	}
	owner = roce_wqe_bind(wqe)->owner;
	end_request(qp, done, wqe, status, ROCE_EVENT_BIND, owner != NULL ? owner : qp->owner);
}

void
roce_qp_complete_send(struct roce_qp *qp, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);

	end_request(qp, &qp->tx.tail, wqe, status, ROCE_EVENT_SEND, qp->owner);
}

/* Was the request at the tail begun? A bind is executed then. */
static bool
was_executed(const struct roce_qp *qp)
{
	return (int32_t)(qp->tx.begun - qp->tx.tail) > 0;
}

void
roce_qp_complete_bind(struct roce_qp *qp, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);

	/* The consumer will hear that a bind failed: nothing may be left of it for peers. */
	if (status != IBV_WC_SUCCESS && wqe->opcode == IBV_WR_BIND_MW && was_executed(qp))
		roce_mw_revoke(qp->engine->domain, wqe);
	if (wqe->flags & ROCE_WQE_EXTBUF)
		roce_extbuf_complete(qp, status);
	else
		roce_qp_end_request(qp, &qp->tx.tail, status);
}

__rte_noinline void
roce_qp_lose_recv(struct roce_qp *qp)
{
	qp->cold.eventless++;
	lose_event(qp, qp->rx.cq, qp->rx.srq_tag);
}
