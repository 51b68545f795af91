/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of what nearly every message is: a SEND of one segment, a receive of one segment, one event that is there
 * already. Each call returns false, without side effects, when a precondition fails; the slow path (post.c, srq.c, cq.c)
 * takes anything. Segments come by value, so that they stay in registers where this is inlined: libdaplroce.so has this
 * file inside, too (lib/dapl/meson.build).
 */

#include <rte_branch_prediction.h>

#include "queue/post.h"
#include "queue/qp.h"
#include "queue/sge.h"
#include "queue/srq.h"

/* A thread that owns the engine and sees the queue pair on its list has nothing to do: post.c says why. */
static inline void
ring(struct roce_qp *qp)
{
	rte_compiler_barrier();
	if (unlikely(!roce_bias_owns(&qp->post.engine->lock.bias) ||
			    roce_qp_listed(qp) != ROCE_LISTED_READY))
		roce_qp_ring(qp);
}

bool
roce_qp_try_send(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id, uint8_t flags)
{
	/* Read first: if a region ends later, the request is validated again when it is sent. */
	uint32_t epoch = roce_key_epoch(qp->post.keys);
	uint32_t head = qp->post.head;
	struct roce_wqe *wqe;

	/* One segment is what every queue pair takes. */
	if (unlikely(head - qp->post.tail_seen >= qp->post.max ||
			    !__atomic_load_n(&qp->post.connected, __ATOMIC_ACQUIRE) ||
			    sge.length > ROCE_MSG_MAX ||
			    roce_keys_check_recent(qp->post.keys, qp->post.pd, &sge, 0,
					    &qp->post.recent) != 0))
		return false;
	wqe = roce_wq_slot(&qp->post.wq, head);
	wqe->wr_id = wr_id;
	wqe->length = sge.length;
	wqe->imm = 0;
	wqe->validated_epoch = epoch;
	wqe->opcode = IBV_WR_SEND;
	wqe->flags = flags | qp->post.wq.flags;
	wqe->num_sge = 1;
	wqe->suffix = ROCE_SUFFIX_NONE;
	wqe->verb = ROCE_VERB_SEND;
	roce_sge_set(wqe->sge, &sge);
	__atomic_store_n(&qp->post.head, head + 1, __ATOMIC_RELEASE);
	ring(qp);
	return true;
}

static inline bool
try_post(struct roce_srq *srq, struct roce_sge sge, uint64_t wr_id, bool shared)
{
	const struct roce_keys *keys = &srq->domain->keys;
	struct roce_rwqe *slot;
	uint32_t entered;

	/* Its owner alone: everybody else takes the spinlock. */
	entered = roce_bias_enter(&srq->post_lock.bias);
	if (unlikely(entered == 0))
		return false;
	/* A region that has ended since the last post is news for all of the queue: roce_srq_post() knows what to do. */
	if (unlikely(roce_key_epoch(keys) != srq->validated_epoch ||
			    roce_keys_check_recent(keys, srq->pd, &sge, IBV_ACCESS_LOCAL_WRITE,
					    &srq->recent) != 0 ||
			    !roce_srq_has_room(srq, !shared))) {
		roce_bias_leave(&srq->post_lock.bias, entered);
		return false;
	}
	slot = roce_srq_slot(srq, srq->posted);
	slot->wr_id = wr_id;
	slot->length = RTE_MIN(sge.length, ROCE_MSG_MAX);
	slot->num_sge = 1;
	slot->flags = 0;
	roce_sge_set(slot->sge, &sge);
	__atomic_store_n(&srq->posted, srq->posted + 1, __ATOMIC_RELEASE);
	roce_bias_leave(&srq->post_lock.bias, entered);
	return true;
}

bool
roce_srq_try_post(struct roce_srq *srq, struct roce_sge sge, uint64_t wr_id)
{
	return try_post(srq, sge, wr_id, true);
}

bool
roce_qp_try_recv(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id)
{
	if (unlikely(!qp->rx.rq->private_queue || !try_post(qp->rx.rq, sge, wr_id, false)))
		return false;
	/* As in roce_qp_post_recv(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&qp->rx.state, __ATOMIC_RELAXED) == ROCE_QP_ERR))
		roce_qp_ring(qp);
	return true;
}

bool
roce_cq_try_poll(struct roce_cq *cq, struct roce_event *event)
{
	uint32_t tail = cq->tail;

	if (cq->head_seen == tail) {
		cq->head_seen = __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE);
		if (cq->head_seen == tail)
			return false;
	}
	if (unlikely(cq->ring[tail & cq->mask].kind > ROCE_EVENT_RECV))
		return false;
	roce_cq_take(cq, event, 1);
	return true;
}
