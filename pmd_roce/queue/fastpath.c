/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of what nearly every message is: a SEND, WRITE or READ of one segment, a receive of one segment, one event that is
 * there already. Each call returns false, without side effects, when a precondition fails; the slow path (post.c, srq.c, cq.c)
 * takes anything. Segments come by value, so that they stay in registers where this is inlined: libdaplroce.so has this
 * file inside, too (lib/dapl/meson.build).
 */

#include <rte_branch_prediction.h>

#include "queue/bias.h"
#include "queue/cq.h"
#include "queue/post.h"
#include "queue/post_receive.h"
#include "queue/post_request.h"
#include "queue/qp.h"
#include "queue/srq.h"

/* @p opcode: a constant. @p remote: the peer's memory, addr and lkey; NULL: the request is about none. */
static __rte_always_inline bool
try_request(struct roce_qp *qp, const struct roce_sge *sge, const struct roce_sge *remote,
		uint8_t opcode, uint64_t wr_id, uint8_t flags)
{
	const struct roce_wr_kind *kind = &roce_wr_kinds[opcode];
	struct roce_wqe *wqe = roce_wq_slot(&qp->post.wq, qp->post.head);

	/* One segment is what every queue pair takes. */
	if (unlikely(roce_qp_begin_request(qp, wqe) != 0 ||
			    roce_qp_set_segment(qp, wqe, sge, kind->access) != 0))
		return false;
	if (remote != NULL && unlikely(qp->post.wq.places < 2))
		return false;
	if (opcode == IBV_WR_RDMA_READ && unlikely(roce_qp_judge_read(qp, wqe) != 0))
		return false;
	roce_wqe_set_kind(wqe, kind, 0);
	if (remote != NULL)
		*roce_wqe_remote(wqe) =
				(struct roce_sge){ .addr = remote->addr, .lkey = remote->lkey };
	roce_qp_publish_request(qp, wqe, wr_id, opcode, flags);
	return true;
}

bool
roce_qp_try_send(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id, uint8_t flags)
{
	return try_request(qp, &sge, NULL, IBV_WR_SEND, wr_id, flags);
}

bool
roce_qp_try_write(struct roce_qp *qp, struct roce_sge sge, struct roce_sge remote, uint64_t wr_id,
		uint8_t flags)
{
	return try_request(qp, &sge, &remote, IBV_WR_RDMA_WRITE, wr_id, flags);
}

bool
roce_qp_try_read(struct roce_qp *qp, struct roce_sge sge, struct roce_sge remote, uint64_t wr_id,
		uint8_t flags)
{
	return try_request(qp, &sge, &remote, IBV_WR_RDMA_READ, wr_id, flags);
}

static inline bool
try_post(struct roce_srq *srq, struct roce_sge sge, uint64_t wr_id, bool private_queue)
{
	/* Its owner alone: everybody else takes the spinlock. */
	uint32_t entered = roce_bias_enter(&srq->post_lock.bias);
	int rc;

	if (unlikely(entered == 0))
		return false;
	rc = roce_srq_post_segment(srq, &sge, wr_id, 0, private_queue);
	roce_bias_leave(&srq->post_lock.bias, entered);
	return likely(rc == 0);
}

bool
roce_srq_try_post(struct roce_srq *srq, struct roce_sge sge, uint64_t wr_id)
{
	return try_post(srq, sge, wr_id, false);
}

bool
roce_qp_try_recv(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id)
{
	struct roce_srq *own = roce_qp_own_queue(qp);

	if (unlikely(own == NULL || !try_post(own, sge, wr_id, true)))
		return false;
	roce_qp_flush_if_broken(qp);
	return true;
}

bool
roce_cq_try_poll(struct roce_cq *cq, struct roce_event *event)
{
	if (roce_cq_ready(cq) == 0)
		return false;
	if (unlikely(cq->ring[cq->tail & cq->mask].kind > ROCE_EVENT_RECV))
		return false;
	roce_cq_take(cq, event, 1);
	return true;
}
