/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The poster's thread: validate, fill the slot, publish, ring. No lock, no allocation, no system call; but for the first large
 * request of a queue pair with small slots (wq.c), and for one that leaves at once (lone.h).
 */

#include <errno.h>

#include <rte_branch_prediction.h>

#include "queue/bias.h"
#include "queue/extbuf.h"
#include "queue/lone.h"
#include "queue/mw.h"
#include "queue/post.h"
#include "queue/post_fill.h"
#include "queue/post_request.h"
#include "queue/srq.h"

/* Once between two polls: posts that follow would go with each other. */
static __rte_noinline void
transmit(struct roce_engine *e, const struct roce_qp *qp)
{
	const struct roce_domain_config *config = &e->domain->config;

	e->lone_qpn = qp->rx.qpn;
	config->transmit(config->notify_arg, e->index);
}

/*
 * The owner of the lock enters by plain stores, and puts the queue pair on the list itself. If a request leaves at once, and
 * completes something, the next poll tells waiters of that.
 */
static inline bool
ready_as_owner(struct roce_engine *e, struct roce_qp *qp)
{
	bool first;

	/* In a callback out of a poll it is inside already. */
	if (unlikely(!roce_bias_owns(&e->lock.bias)) || unlikely(!roce_trylock(&e->lock)))
		return false;
	first = TAILQ_EMPTY(&e->ready);
	roce_qp_ready(qp);
	if (first && roce_lone_leaves(qp))
		transmit(e, qp);
	roce_unlock(&e->lock);
	return true;
}

/*
 * The doorbell is a stack: pushing is one compare-and-swap, and the engine takes all of it with one exchange, so
 * nothing can be popped and pushed back in between. A queue pair is on it at most once (rung).
 *
 * The exchange of rung orders the poster's head before it against the engine, which clears rung before it reads
 * head: one of the two sees the other. So it is with the stack and the count of sleepers: a thread counts itself, polls once
 * more, and sleeps. The owner polls by itself.
 */
void
roce_qp_ring_slow(struct roce_qp *qp)
{
	struct roce_engine *e = qp->post.engine;
	struct roce_qp *top;

	if (likely(ready_as_owner(e, qp)) ||
			__atomic_exchange_n(&qp->post.rung, true, __ATOMIC_SEQ_CST))
		return;
	top = __atomic_load_n(&e->doorbell, __ATOMIC_RELAXED);
	do {
		qp->post.next_rung = top;
	} while (!__atomic_compare_exchange_n(
			&e->doorbell, &top, qp, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if (unlikely(__atomic_load_n(&e->domain->sleepers, __ATOMIC_SEQ_CST) != 0) &&
			e->domain->config.wake_poller != NULL)
		e->domain->config.wake_poller(e->domain->config.notify_arg);
}

void
roce_engine_answer_doorbells(struct roce_engine *e)
{
	struct roce_qp *qp, *next;

	if (unlikely(e->extbufs != NULL))
		roce_extbufs_collect(e);
	if (likely(__atomic_load_n(&e->doorbell, __ATOMIC_RELAXED) == NULL))
		return;
	for (qp = __atomic_exchange_n(&e->doorbell, NULL, __ATOMIC_ACQUIRE); qp != NULL;
			qp = next) {
		next = qp->post.next_rung;
		(void)__atomic_exchange_n(&qp->post.rung, false, __ATOMIC_SEQ_CST);
		roce_qp_ready(qp);
	}
}

int
roce_mw_judge(const struct roce_qp *qp, const struct roce_mw_bind *bind)
{
	return roce_mw_judge_bind(qp->post.keys, qp->post.pd, bind);
}

/* Perhaps there is no slot for it yet, or it is too small, and need not be. */
static __rte_noinline int
post_in_new_slots(struct roce_qp *qp, const struct roce_wr *wr, int rc)
{
	if (rc == -ENOSPC)
		rc = roce_wq_begin(qp, 1);
	else if (rc == -EINVAL)
		rc = roce_wq_grow(qp, wr);
	return rc == 0 ? roce_qp_post_send(qp, wr) : rc;
}

int
roce_qp_post_send(struct roce_qp *qp, const struct roce_wr *wr)
{
	struct roce_wqe *wqe = roce_wq_slot(&qp->post.wq, qp->post.head);
	int rc = roce_qp_begin_request(qp, wqe);

	if (unlikely(rc != 0))
		return rc == -ENOSPC ? post_in_new_slots(qp, wr, rc) : rc;
	rc = roce_wqe_fill(qp, wr, wqe);
	if (unlikely(rc != 0))
		return post_in_new_slots(qp, wr, rc);
	roce_qp_publish_request(qp, wqe, wr->wr_id, wr->opcode, wr->flags);
	return 0;
}

int
roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr)
{
	struct roce_srq *own = roce_qp_own_queue(qp);
	int rc;

	if (unlikely(own == NULL))
		return -EINVAL;
	rc = roce_srq_post(own, wr);
	if (likely(rc == 0))
		roce_qp_flush_if_broken(qp);
	return rc;
}
