/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common requests: a whole SEND or WRITE in one frame, or a READ with an answer of one, sent for the first time. As long as
 * nothing else comes, what is known of the queue pair is not looked at again. The rules are those of req.h, with what is known
 * here as constants.
 */

#include "requester/req.h"

/** The requests of a visit that leave like this, one after the other. */
struct visit {
	uint32_t next;  /**< slot of the first */
	uint32_t until; /**< of them are posted, and fit the window */
	uint32_t most;  /**< and have room for their frames */
	uint32_t posted;
	int32_t steady; /**< of them have a credit, and another one behind it */
	uint32_t n;     /**< frames so far */
	uint32_t psn;   /**< of the next */
	uint32_t silent;
	uint32_t reads; /**< READs among them */
	uint64_t bytes;
	bool carries; /**< the first SEND or WRITE takes the acknowledgement along that is due */
	bool dry;     /**< there was no mbuf for the next */
};

/* May the READ into one segment go, with one frame for an answer, and nothing to wait for but its turn? */
static inline bool
is_whole_read(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	return wqe->opcode == IBV_WR_RDMA_READ && wqe->num_sge == 1 && wqe->length <= qp->rx.mtu &&
			!(wqe->flags & ROCE_WR_FENCE);
}

/* May the request go whole in one frame, with its only segment to look at (inline ones have none) and nothing to wait for? */
static __rte_always_inline bool
is_whole(const struct roce_qp *qp, const struct roce_wqe *wqe, uint8_t opcode)
{
	if (opcode == IBV_WR_RDMA_READ)
		return is_whole_read(qp, wqe);
	return wqe->opcode == opcode && wqe->num_sge == 1 && wqe->length <= qp->rx.mtu &&
			!(wqe->flags & (ROCE_WR_FENCE | ROCE_WQE_EXTBUF)) &&
			roce_req_is_valid(qp, wqe);
}

/* All of it, in one frame. */
static __rte_always_inline struct roce_req_part
whole(const struct roce_wqe *wqe, uint8_t opcode, bool ack_req)
{
	return (struct roce_req_part){
		.opcode = opcode == IBV_WR_SEND ? IBV_OPCODE_RC_SEND_ONLY
						: IBV_OPCODE_RC_RDMA_WRITE_ONLY,
		.first = true,
		.last = true,
		.valid = true,
		.ack_req = ack_req,
		.len = wqe->length,
	};
}

static __rte_always_inline void
build_whole(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		struct roce_req_part part)
{
	uint8_t *at = roce_req_build(qp, wqe, m, psn, part);

	if (part.opcode == IBV_OPCODE_RC_RDMA_WRITE_ONLY)
		at = roce_req_put_reth(at, wqe, 0, wqe->length);
	roce_req_begin(wqe, psn, 1);
	roce_req_finish_segment(qp, m, at, (const uint8_t *)(uintptr_t)wqe->sge->addr, wqe->length);
}

static __rte_noinline void
build_carrying(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		uint8_t opcode, bool ack_req)
{
	struct roce_req_part part = whole(wqe, opcode, ack_req);

	part.carries = true;
	build_whole(qp, wqe, m, psn, part);
	roce_piggyback_given(qp);
}

static __rte_always_inline void
build_read(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn)
{
	roce_req_build_read(qp, wqe, m, psn, (struct roce_req_read){ .length = wqe->length });
	roce_req_begin(wqe, psn, 1);
}

/*
 * As many as there are of one operation. @p opcode: IBV_WR_SEND, IBV_WR_RDMA_WRITE or IBV_WR_RDMA_READ, a constant. @p most: frames
 * of the visit, as v->most or less.
 */
static __rte_always_inline void
emit_run(struct roce_qp *qp, struct rte_mbuf **pkts, struct visit *v, uint8_t opcode, uint32_t most)
{
	const uint32_t next = v->next, until = v->until;
	uint32_t n, psn = v->psn, silent = v->silent;
	uint64_t bytes = v->bytes;

	for (n = v->n; n < most; n++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->wq, next + n);
		const struct roce_req_left here = { until - n, (int32_t)(until - n), false };
		struct rte_mbuf *m;
		bool ack_req;

		rte_prefetch0(roce_wq_slot(&qp->wq, next + n + 2));
		if (unlikely(!is_whole(qp, wqe, opcode)))
			break;
		/* No credit is left for the request behind it, which is posted: does that one need one? */
		if (unlikely((int32_t)n >= v->steady) && n + 1 < v->posted &&
				roce_req_uses_receive(qp, next + n + 1))
			break;
		m = roce_engine_frame(qp->engine);
		if (unlikely(m == NULL)) {
			v->dry = true;
			break;
		}
		pkts[n] = m;
		if (opcode == IBV_WR_RDMA_READ) {
			build_read(qp, wqe, m, psn);
			silent = 0;
			psn = roce_psn_add(psn, 1);
			continue;
		}
		ack_req = roce_req_wants_ack(qp, silent, here, true, true);
		silent = roce_req_silent_after(silent, ack_req);
		if (unlikely(v->carries)) {
			build_carrying(qp, wqe, m, psn, opcode, ack_req);
			v->carries = false;
		} else {
			build_whole(qp, wqe, m, psn, whole(wqe, opcode, ack_req));
		}
		psn = roce_psn_add(psn, 1);
		bytes += wqe->length;
	}
	v->n = n;
	v->psn = psn;
	v->silent = silent;
	v->bytes = bytes;
}

/* No more than may be outstanding; fewer, where some are already that a modified queue pair would not have begun. */
static inline void
emit_reads(struct roce_qp *qp, struct rte_mbuf **pkts, struct visit *v)
{
	const uint32_t before = v->n, reads = qp->tx.reads + v->reads;
	const uint32_t allowed = RTE_MAX(qp->cold.connect.max_rd_atomic, reads) - reads;

	emit_run(qp, pkts, v, IBV_WR_RDMA_READ, RTE_MIN(v->most, before + allowed));
	v->reads += v->n - before;
}

/* WRITEs or READs. @return are there any? */
static __rte_noinline bool
emit_others(struct roce_qp *qp, struct rte_mbuf **pkts, struct visit *v)
{
	const uint32_t before = v->n;

	if (roce_wq_slot(&qp->wq, v->next + before)->opcode == IBV_WR_RDMA_WRITE)
		emit_run(qp, pkts, v, IBV_WR_RDMA_WRITE, v->most);
	else
		emit_reads(qp, pkts, v);
	return v->n != before;
}

/* Is the request behind what was sent a WRITE or READ that may go on like this? */
static inline bool
goes_on_with_other(const struct roce_qp *qp, const struct visit *v)
{
	uint8_t opcode;

	if (v->n >= v->most || v->dry)
		return false;
	opcode = roce_wq_slot(&qp->wq, v->next + v->n)->opcode;
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ;
}

/* The timers begin with the first frame: they are not those of a READ that comes behind it. */
static inline void
account(struct roce_qp *qp, const struct visit *v, uint64_t now)
{
	uint32_t rest = v->n;

	if (unlikely(v->reads != 0)) {
		const bool first = roce_wq_slot(&qp->wq, v->next)->opcode == IBV_WR_RDMA_READ;

		qp->tx.reads += first;
		roce_req_account(qp, 1, 0, now);
		qp->tx.reads += v->reads - first;
		rest--;
	}
	if (likely(rest != 0))
		roce_req_account(qp, rest, v->bytes, now);
}

uint16_t
roce_req_emit_whole(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room,
		struct roce_req_left left, uint64_t now, bool *dry)
{
	struct roce_qp_tx *tx = &qp->tx;
	const uint32_t until = RTE_MIN(left.posted, (uint32_t)left.window);
	struct visit v = {
		.next = tx->next,
		.until = until,
		.most = RTE_MIN(until, (uint32_t)room),
		.posted = left.posted,
		.steady = RTE_MIN((int32_t)until, roce_req_credits_left(tx) - 1),
		.psn = tx->psn,
		.silent = tx->silent,
		.carries = roce_piggyback_is_due(qp),
	};

	if (unlikely(v.next != tx->begun || tx->offset != 0 || !tx->credits_known || tx->paced))
		return 0;
	do {
		emit_run(qp, pkts, &v, IBV_WR_SEND, v.most);
	} while (unlikely(goes_on_with_other(qp, &v)) && emit_others(qp, pkts, &v));
	*dry = v.dry;
	if (unlikely(v.n == 0))
		return 0;
	tx->silent = v.silent;
	roce_req_begun(tx, v.n);
	roce_req_next(tx, v.n);
	account(qp, &v, now);
	return (uint16_t)v.n;
}
