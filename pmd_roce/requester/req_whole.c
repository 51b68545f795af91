/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common requests: a whole SEND or WRITE in one frame, sent for the first time. As long as nothing else comes, what is
 * known of the queue pair is not looked at again. The rules are those of req.h, with what is known here as constants.
 */

#include "requester/req.h"

/* May the request go whole in one frame, with its only segment to look at (inline ones have none) and nothing to wait for? */
static inline bool
is_whole(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	return (wqe->opcode == IBV_WR_SEND || wqe->opcode == IBV_WR_RDMA_WRITE) &&
			wqe->num_sge == 1 && wqe->length <= qp->rx.mtu &&
			!(wqe->flags & (ROCE_WR_FENCE | ROCE_WQE_EXTBUF)) &&
			roce_req_is_valid(qp, wqe);
}

/* Does the request, a whole one, or the one behind it wait for credits when there are none? */
static __rte_noinline bool
needs_credit(const struct roce_qp *qp, uint32_t request)
{
	return roce_req_uses_receive(qp, request) || roce_req_uses_receive(qp, request + 1);
}

static __rte_always_inline void
build_whole(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		uint8_t opcode, bool ack_req, bool carries)
{
	const struct roce_req_part part = {
		.opcode = opcode,
		.first = true,
		.last = true,
		.valid = true,
		.ack_req = ack_req,
		.carries = carries,
		.len = wqe->length,
	};
	uint8_t *at = roce_req_build(qp, wqe, m, psn, part);

	if (opcode == IBV_OPCODE_RC_RDMA_WRITE_ONLY)
		at = roce_req_put_reth(at, wqe, 0);
	roce_req_begin(wqe, psn, 1);
	roce_req_finish_segment(qp, m, at, (const uint8_t *)(uintptr_t)wqe->sge->addr, wqe->length);
}

/* @p carries: as in build_whole(), a constant. */
static __rte_always_inline void
build_either(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		bool ack_req, bool carries)
{
	if (likely(wqe->opcode == IBV_WR_SEND))
		build_whole(qp, wqe, m, psn, IBV_OPCODE_RC_SEND_ONLY, ack_req, carries);
	else
		build_whole(qp, wqe, m, psn, IBV_OPCODE_RC_RDMA_WRITE_ONLY, ack_req, carries);
}

static __rte_noinline void
build_carrying(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		bool ack_req)
{
	build_either(qp, wqe, m, psn, ack_req, true);
	roce_piggyback_given(qp);
}

uint16_t
roce_req_emit_whole(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room,
		struct roce_req_left left, uint64_t now, bool *dry)
{
	struct roce_qp_tx *tx = &qp->tx;
	const uint32_t next = tx->next;
	const uint32_t until = RTE_MIN(left.posted, (uint32_t)left.window);
	/* The last message that there is a credit for may have to ask for an acknowledgement, or may not. */
	const int32_t steady = RTE_MIN((int32_t)until, roce_req_credits_left(tx) - 1);
	const uint32_t most = RTE_MIN(until, (uint32_t)room);
	const bool carries = roce_piggyback_is_due(qp);
	uint32_t psn = tx->psn;
	uint32_t silent = tx->silent;
	uint64_t bytes = 0;
	uint32_t n;

	if (unlikely(next != tx->begun || tx->offset != 0 || !tx->credits_known || tx->paced))
		return 0;
	for (n = 0; n < most; n++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->wq, next + n);
		const struct roce_req_left here = { until - n, (int32_t)(until - n) };
		struct rte_mbuf *m;
		bool ack_req;

		rte_prefetch0(roce_wq_slot(&qp->wq, next + n + 2));
		if (unlikely(!is_whole(qp, wqe)))
			break;
		if (unlikely((int32_t)n >= steady) && needs_credit(qp, next + n))
			break;
		m = roce_engine_frame(qp->engine);
		if (unlikely(m == NULL)) {
			*dry = true;
			break;
		}
		ack_req = roce_req_wants_ack(qp, silent, here, true, true);
		silent = roce_req_silent_after(silent, ack_req);
		if (unlikely(carries && n == 0))
			build_carrying(qp, wqe, m, psn, ack_req);
		else
			build_either(qp, wqe, m, psn, ack_req, false);
		psn = roce_psn_add(psn, 1);
		bytes += wqe->length;
		pkts[n] = m;
	}
	if (unlikely(n == 0))
		return 0;
	tx->silent = silent;
	roce_req_begun(tx, n);
	roce_req_next(tx, n);
	roce_req_account(qp, n, bytes, now);
	return (uint16_t)n;
}
