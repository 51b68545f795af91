/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair: error, flush, drain, and who hears of it. */

#include "queue/complete.h"
#include "queue/extbuf.h"
#include "queue/qp_end.h"

void
roce_qp_async_event(struct roce_qp *qp, enum roce_engine_async kind, int status)
{
	struct roce_domain *domain = qp->engine->domain;
	struct roce_qp *top;

	roce_context_deliver(qp->pd->context, &qp->cold.async, kind, qp->owner, status);
	if (qp->cold.conn == NULL)
		return;
	/* The connection manager lives on engine 0, whose lock may not be taken here: it finds this stack. */
	if (__atomic_fetch_or(&qp->cold.cm_events, 1u << kind | ROCE_ENGINE_ASYNC_LISTED,
			    __ATOMIC_ACQ_REL) &
			ROCE_ENGINE_ASYNC_LISTED)
		return;
	top = __atomic_load_n(&domain->cm_pending, __ATOMIC_RELAXED);
	do {
		qp->cold.next_cm_pending = top;
	} while (!__atomic_compare_exchange_n(
			&domain->cm_pending, &top, qp, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void
roce_qp_pending_event(struct roce_qp *qp, enum roce_engine_async kind)
{
	if (qp->pd->context->async_queue != NULL)
		roce_context_deliver(qp->pd->context, &qp->cold.async, kind, qp->owner, 0);
}

/* The request at the tail, of whatever kind, ends badly. */
static void
fail_oldest(struct roce_qp *qp, enum ibv_wc_status status)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);

	if (roce_wqe_is_bind(wqe))
		roce_qp_complete_bind(qp, status);
	else if (wqe->flags & ROCE_WQE_EXTBUF)
		roce_extbuf_complete(qp, status);
	else
		roce_qp_complete_send(qp, status);
}

/* Receives: the one in use, then, of a queue of its own, all the others. Shared ones stay where they are. */
static void
flush_receives(struct roce_qp *qp)
{
	qp->rx.got = 0;
	if (qp->rx.holding)
		(void)roce_qp_complete_recv(qp, IBV_WC_WR_FLUSH_ERR, 0, 0);
	qp->rx.verb = ROCE_VERB_NONE;
	if (!qp->rx.rq->private_queue)
		return;
	while (roce_srq_take(qp->rx.rq, qp->rx.recv))
		(void)roce_qp_complete_recv(qp, IBV_WC_WR_FLUSH_ERR, 0, 0);
}

static void
flush_requests(struct roce_qp *qp)
{
	while (qp->tx.tail != roce_qp_posted(qp))
		fail_oldest(qp, IBV_WC_WR_FLUSH_ERR);
	qp->tx.next = qp->tx.tail;
	qp->tx.begun = qp->tx.tail;
	qp->tx.offset = 0;
	qp->tx.prot_error = false;
	qp->tx.fence_wait = false;
	qp->tx.reads = 0;
	qp->tx.timeout_at = ROCE_NEVER;
	qp->tx.limit_at = ROCE_NEVER;
	qp->tx.rnr_at = 0;
}

/* In SQD: all requests that were begun are over. */
static void
check_sqd(struct roce_qp *qp)
{
	/* Of requests without a copy of their bytes the completions come later. */
	if (roce_qp_done(qp) != qp->tx.begun)
		return;
	qp->tx.draining = false;
	if (qp->cold.sqd_event)
		roce_qp_pending_event(qp, ROCE_ENGINE_ASYNC_SQ_DRAINED);
}

void
roce_qp_check_drained(struct roce_qp *qp)
{
	if (!qp->tx.draining)
		return;
	if (qp->cold.sqd) {
		check_sqd(qp);
		return;
	}
	if (qp->tx.tail != roce_qp_posted(qp))
		return;
	/* The owner may end it at once, and the peer would wait for its acknowledgement: delivered when that is out. */
	if ((qp->rx.owes & (ROCE_OWES_ACK | ROCE_OWES_READ)) == ROCE_OWES_ACK)
		return;
	qp->tx.draining = false;
	roce_qp_async_event(qp, ROCE_ENGINE_ASYNC_QP_DRAINED, 0);
}

void
roce_qp_flush(struct roce_qp *qp)
{
	flush_requests(qp);
	flush_receives(qp);
}

/* Is it a NAK after which the peer does not try again? */
static bool
explains_the_end(uint8_t syndrome)
{
	return syndrome != (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE) &&
			(syndrome & ROCE_AETH_KIND_MASK) != ROCE_AETH_RNR;
}

uint8_t
roce_qp_last_answer(const struct roce_qp_rx *rx)
{
	if (rx->owes & ROCE_OWES_READ)
		return 0;
	if ((rx->owes & ROCE_OWES_NAK) && explains_the_end(rx->syndrome))
		return ROCE_OWES_NAK;
	/* A NAK implies the acknowledgement of what came before it. */
	if ((rx->owes & ROCE_OWES_ACK) || ((rx->owes & ROCE_OWES_NAK) && rx->unacked > 0))
		return ROCE_OWES_ACK;
	return 0;
}

void
roce_qp_to_error(struct roce_qp *qp)
{
	const bool ended = qp->cold.ended;

	qp->cold.ended = true;
	__atomic_store_n(&qp->rx.state, ROCE_QP_ERR, __ATOMIC_SEQ_CST);
	__atomic_store_n(&qp->post.connected, true, __ATOMIC_RELEASE);
	roce_timer_cancel(qp->engine->wheel, &qp->tx.timer);
	roce_held_drop(qp);
	qp->tx.draining = false;
	qp->rx.owes = roce_qp_last_answer(&qp->rx);
	/* It waits for no company any more. */
	if (qp->rx.owes != 0)
		roce_qp_ready(qp);
	roce_qp_flush(qp);
	/* IBTA Vol 1, 11.6.3.2: the consumer may count on the completions of all receives that it took. */
	if (!ended && !qp->rx.rq->private_queue)
		roce_qp_pending_event(qp, ROCE_ENGINE_ASYNC_QP_LAST_WQE);
}

void
roce_qp_break(struct roce_qp *qp, enum ibv_wc_status status, bool request)
{
	if (request && qp->tx.tail != roce_qp_posted(qp))
		fail_oldest(qp, status);
	roce_qp_to_error(qp);
	roce_qp_async_event(qp, ROCE_ENGINE_ASYNC_QP_BROKEN, status);
}

void
roce_qp_sqd_enter(struct roce_qp *qp, bool event)
{
	qp->cold.sqd = true;
	qp->cold.sqd_event = event;
	qp->tx.draining = true;
	__atomic_store_n(&qp->post.one_by_one, true, __ATOMIC_RELAXED);
	roce_qp_check_drained(qp);
}

void
roce_qp_sqd_leave(struct roce_qp *qp)
{
	qp->cold.sqd = false;
	roce_qp_ready(qp);
}

void
roce_qp_drain(struct roce_qp *qp)
{
	qp->tx.draining = true;
	roce_qp_ready(qp);
}
