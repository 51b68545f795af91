/* SPDX-License-Identifier: BSD-3-Clause */
/* The poster's thread: judge, fill the slot, publish, ring. No lock, no allocation, no system call. */

#include <errno.h>

#include <rte_branch_prediction.h>

#include "engine/mw.h"
#include "engine/qp.h"

/*
 * The doorbell is a stack: pushing is one compare-and-swap, and the engine takes all of it with one exchange, so
 * nothing can be popped and pushed back in between. A queue pair is on it at most once (rung).
 *
 * The exchange of rung orders the poster's head before it against the engine, which clears rung before it reads
 * head: one of the two sees the other.
 */
void
roce_qp_ring(struct roce_qp *qp)
{
	struct roce_engine *e = qp->post.engine;
	struct roce_qp *top;

	if (__atomic_exchange_n(&qp->post.rung, true, __ATOMIC_SEQ_CST))
		return;
	top = __atomic_load_n(&e->doorbell, __ATOMIC_RELAXED);
	do {
		qp->post.next_rung = top;
	} while (!__atomic_compare_exchange_n(
			&e->doorbell, &top, qp, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void
roce_engine_answer_doorbells(struct roce_engine *e)
{
	struct roce_qp *qp, *next;

	if (likely(__atomic_load_n(&e->doorbell, __ATOMIC_RELAXED) == NULL))
		return;
	for (qp = __atomic_exchange_n(&e->doorbell, NULL, __ATOMIC_ACQUIRE); qp != NULL;
			qp = next) {
		next = qp->post.next_rung;
		(void)__atomic_exchange_n(&qp->post.rung, false, __ATOMIC_SEQ_CST);
		roce_qp_ready(qp);
	}
}

/* SEND and its variants; the rest of the verbs come with their own issue. False: no message. */
static inline bool
classify(const struct roce_wr *wr, struct roce_wqe *wqe)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
		wqe->suffix = ROCE_SUFFIX_NONE;
		break;
	case IBV_WR_SEND_WITH_IMM:
		wqe->suffix = ROCE_SUFFIX_IMM;
		break;
	default:
		return false;
	}
	wqe->verb = ROCE_VERB_SEND;
	return true;
}

static inline int
copy_pieces(const struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	uint64_t length = 0;

	if (unlikely(wr->num_sge > qp->post.max_sge))
		return -EINVAL;
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		int rc = roce_keys_check(qp->post.keys, qp->post.pd, &wr->sg[i], 0);

		if (unlikely(rc != 0))
			return rc;
		length += wr->sg[i].length;
		roce_sge_set(&wqe->sge[i], &wr->sg[i]);
	}
	if (unlikely(length > ROCE_MSG_MAX))
		return -EMSGSIZE;
	wqe->length = (uint32_t)length;
	wqe->num_sge = (uint8_t)wr->num_sge;
	return 0;
}

/* Whatever is no message. */
static __rte_noinline int
prepare_other(struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	int rc;

	if (wr->opcode != IBV_WR_BIND_MW)
		return -EOPNOTSUPP;
	rc = roce_mw_judge(qp, wr->bind);
	if (rc != 0)
		return rc;
	roce_mw_fill(wr->bind, wqe);
	/* The engine learns of it no later than of the slot. */
	__atomic_store_n(&qp->post.binds, true, __ATOMIC_RELAXED);
	return 0;
}

static inline bool
is_full(struct roce_qp *qp)
{
	if (likely(qp->post.head - qp->post.tail_seen < qp->post.max))
		return false;
	qp->post.tail_seen = __atomic_load_n(&qp->tx.tail, __ATOMIC_ACQUIRE);
	return qp->post.head - qp->post.tail_seen >= qp->post.max;
}

int
roce_qp_post_send(struct roce_qp *qp, const struct roce_wr *wr)
{
	struct roce_wqe *wqe = roce_wq_slot(&qp->post.wq, qp->post.head);
	int rc;

	/* The slot is not the engine's before head moves: a refused request leaves no trace. */
	if (unlikely(is_full(qp)))
		return -ENOSPC;
	if (unlikely(!__atomic_load_n(&qp->post.connected, __ATOMIC_RELAXED)))
		return -EINVAL;
	if (likely(classify(wr, wqe))) {
		rc = copy_pieces(qp, wr, wqe);
		wqe->imm = wr->imm;
	} else {
		rc = prepare_other(qp, wr, wqe);
	}
	if (unlikely(rc != 0))
		return rc;
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->flags;
	__atomic_store_n(&qp->post.head, qp->post.head + 1, __ATOMIC_RELEASE);
	roce_qp_ring(qp);
	return 0;
}

int
roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr)
{
	int rc;

	if (unlikely(!qp->rx.rq->private_queue))
		return -EINVAL;
	rc = roce_srq_post(qp->rx.rq, wr);
	/* A broken queue pair flushes what is posted to it: either it sees the receive, or we see its state. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (rc == 0 && unlikely(__atomic_load_n(&qp->rx.state, __ATOMIC_RELAXED) == ROCE_QP_ERR))
		roce_qp_ring(qp);
	return rc;
}
