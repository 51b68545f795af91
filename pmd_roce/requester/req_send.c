/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common request: a whole SEND in one frame, sent for the first time. As long as nothing else comes, what is
 * known of the queue pair is not looked at again. The rules are those of req.c.
 */

#include "requester/req.h"
#include "requester/retry.h"

/* May the request go whole in one frame, with its only segment to look at (inline ones have none) and nothing to wait for? */
static inline bool
is_whole_send(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	return wqe->opcode == IBV_WR_SEND && wqe->num_sge == 1 && wqe->length <= qp->rx.mtu &&
			!(wqe->flags & (ROCE_WR_FENCE | ROCE_WQE_EXTBUF)) &&
			wqe->validated_epoch == roce_key_epoch(&qp->engine->domain->keys);
}

static __rte_always_inline void
build_whole_send(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		bool ack_req)
{
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = IBV_OPCODE_RC_SEND_ONLY,
		.ack_req = ack_req,
		.solicited = wqe->flags & ROCE_WR_SOLICITED,
		.payload_len = wqe->length,
	};
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	/* Its PSN takes the place of validated_epoch. */
	wqe->psn = psn;
	wqe->packets = 1;
	wqe->extbuf = 0;
	roce_req_finish_segment(qp, m, at, (const uint8_t *)(uintptr_t)wqe->sge->addr, wqe->length);
}

/* The first @p n of the requests that were not begun left, a frame each; psn and silent are as they are then. */
static inline void
begun_sends(struct roce_qp *qp, uint32_t n, uint32_t psn, uint32_t silent, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint32_t first = tx->psn;

	tx->next += n;
	tx->begun = tx->next;
	tx->ssn = roce_psn_add(tx->ssn, n);
	tx->silent = silent;
	tx->psn = psn;
	roce_req_account_new(tx, first, now);
	if (unlikely(tx->timeout_at == ROCE_NEVER))
		roce_retry_started(qp, now);
}

/*
 * How many messages may begin before one of them has to look at the credits: the last that there is a credit for asks for an
 * acknowledgement, unless what comes behind it needs none, and one may go without.
 */
static inline uint32_t
before_last_credit(const struct roce_qp_tx *tx)
{
	int32_t ahead;

	if (likely(!tx->limited))
		return UINT32_MAX;
	ahead = roce_psn_diff(tx->limit, tx->ssn);
	return ahead > 0 ? (uint32_t)ahead : 0;
}

uint16_t
roce_req_emit_sends(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint32_t posted,
		uint64_t now, bool *dry)
{
	const struct roce_qp_tx *tx = &qp->tx;
	const uint32_t next = tx->next;
	const uint32_t until = RTE_MIN(posted - next, (uint32_t)roce_req_window_left(tx));
	const uint32_t most = RTE_MIN(RTE_MIN(until, room), before_last_credit(tx));
	uint32_t psn = tx->psn;
	uint32_t silent = tx->silent;
	uint64_t bytes = 0;
	uint32_t n;

	if (unlikely(next != tx->begun || tx->offset != 0 || !tx->credits_known || tx->paced))
		return 0;
	for (n = 0; n < most; n++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->wq, next + n);
		struct rte_mbuf *m;

		rte_prefetch0(roce_wq_slot(&qp->wq, next + n + 2));
		if (unlikely(!is_whole_send(qp, wqe)))
			break;
		m = roce_engine_frame(qp->engine);
		if (unlikely(m == NULL)) {
			*dry = true;
			break;
		}
		silent = silent + 1 >= ROCE_ACKREQ_EVERY || n + 1 == until ? 0 : silent + 1;
		build_whole_send(qp, wqe, m, psn, silent == 0);
		psn = roce_psn_add(psn, 1);
		bytes += wqe->length;
		pkts[n] = m;
	}
	if (likely(n > 0))
		begun_sends(qp, n, psn, silent, now);
	qp->engine->stats.tx_bytes += bytes;
	return (uint16_t)n;
}
