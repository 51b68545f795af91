/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_POST_H
#define ROCE_QUEUE_POST_H

/**
 * @file
 * The doorbell: how the poster's thread tells the engine that a queue pair has something to send.
 */

#include <rte_atomic.h>
#include <rte_branch_prediction.h>

#include "queue/bias.h"
#include "queue/qp.h"

/** roce_qp_ring() of a queue pair that has to be put on the ready list, or of another thread. */
void roce_qp_ring_slow(struct roce_qp *qp);

/**
 * Ring the doorbell: the engine will look at the queue pair. Any thread.
 *
 * The thread that owns the engine's lock has nothing to do for a queue pair that it sees on the ready list. That queue
 * pair will have its visit, and the visit sees head: no other thread polls the engine before it has made the owner pass
 * a barrier.
 */
static inline void
roce_qp_ring(struct roce_qp *qp)
{
	rte_compiler_barrier();
	if (unlikely(!roce_bias_owns(&qp->post.engine->lock.bias) ||
			    roce_qp_listed(qp) != ROCE_LISTED_READY))
		roce_qp_ring_slow(qp);
}

/** The queue that receives are posted to by the queue pair; NULL: it has a shared one. */
static inline struct roce_srq *
roce_qp_own_queue(const struct roce_qp *qp)
{
	return likely(qp->rx.rq->private_queue) ? qp->rx.rq : NULL;
}

/**
 * A receive was posted to the queue pair's own queue. A broken queue pair flushes it: either that queue pair sees the
 * receive, or this thread sees its state.
 */
static inline void
roce_qp_flush_if_broken(struct roce_qp *qp)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&qp->rx.state, __ATOMIC_RELAXED) == ROCE_QP_ERR))
		roce_qp_ring(qp);
}

/** Move every rung queue pair to its engine's ready list, and see what was released (extbuf.h). Locked. */
void roce_engine_answer_doorbells(struct roce_engine *e);

#endif
