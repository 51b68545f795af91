/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a queue pair by other objects and layers: number, state, depth. */

#include "queue/qp.h"

uint32_t
roce_qp_number(const struct roce_qp *qp)
{
	return qp->rx.qpn;
}

enum roce_qp_state
roce_qp_state(const struct roce_qp *qp)
{
	uint8_t state = __atomic_load_n(&qp->rx.state, __ATOMIC_RELAXED);

	return state == ROCE_QP_ENDING ? ROCE_QP_RTS : (enum roce_qp_state)state;
}

struct roce_engine *
roce_qp_engine(const struct roce_qp *qp)
{
	return qp->engine;
}

uint32_t
roce_qp_first_psn(const struct roce_qp *qp)
{
	return qp->cold.first_psn;
}

void
roce_qp_set_conn(struct roce_qp *qp, void *conn)
{
	qp->cold.conn = conn;
	/* Events of an earlier connection are dropped; that the queue pair is listed stays true. */
	__atomic_fetch_and(&qp->cold.cm_events, ROCE_ENGINE_ASYNC_LISTED, __ATOMIC_ACQ_REL);
}

void
roce_qp_describe(const struct roce_qp *qp, struct roce_qp_made *made)
{
	*made = (struct roce_qp_made){
		.context = qp->pd->context,
		.conn = qp->cold.conn,
		.srq = !qp->rx.rq->private_queue,
		.max_dest_rd_atomic = qp->remote.max,
	};
}

void
roce_qp_depth(const struct roce_qp *qp, uint32_t *requests, uint32_t *receives)
{
	uint32_t done = roce_qp_done(qp);

	*requests = roce_qp_posted(qp) - done;
	*receives = __atomic_load_n(&qp->rx.holding, __ATOMIC_RELAXED) ? 1 : 0;
	if (qp->rx.rq->private_queue)
		*receives += roce_srq_available(qp->rx.rq);
}

bool
roce_qp_waits_for_release(const struct roce_qp *qp)
{
	return roce_qp_done(qp) != __atomic_load_n(&qp->tx.tail, __ATOMIC_ACQUIRE);
}
