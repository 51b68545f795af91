/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REQ_H
#define ROCE_REQUESTER_REQ_H

/**
 * @file
 * The requester: what its files share (req.c, req_send.c).
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/frames.h"
#include "queue/qp.h"

/** PSNs sent and not acknowledged. A READ of 2^31 bytes has 2^23 of them: no signed difference. */
static inline uint32_t
roce_req_in_flight(const struct roce_qp_tx *tx)
{
	return (tx->psn - tx->una) & ROCE_PSN_MASK;
}

/** PSNs that may still be sent; not above zero: none. */
static inline int32_t
roce_req_window_left(const struct roce_qp_tx *tx)
{
	return (int32_t)tx->window - (int32_t)roce_req_in_flight(tx);
}

/** Frames that were never sent before leave, the first with @p psn; the next will have tx.psn. */
static inline void
roce_req_account_new(struct roce_qp_tx *tx, uint32_t psn, uint64_t now)
{
	tx->max = tx->psn;
	/* Any new frame is worth a measurement: at the end of a burst it would not survive a lossy wire. */
	if (tx->timed_at == 0) {
		tx->timed_psn = psn;
		tx->timed_at = now;
	}
}

/** Contiguous payload, and ICRC; both in one pass where that pays. */
static __rte_always_inline void
roce_req_finish_segment(struct roce_qp *qp, struct rte_mbuf *m, uint8_t *to, const uint8_t *from,
		uint32_t len)
{
	if (len >= ROCE_ONE_PASS) {
		roce_icrc_put_copy(m, &qp->cold.template, to, from, len);
		return;
	}
	memcpy(to, from, len);
	roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
}

/** Frames with requests, at most @p room. Locked. @return how many. */
uint16_t roce_req_emit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now);

/** Is there a request frame that may be sent now? */
bool roce_req_wants(const struct roce_qp *qp);

/**
 * The whole SENDs in one frame each that come next and are sent for the first time, as frames; what comes behind them, and
 * what is not that simple, is left. Locked; roce_req_emit() has found that the request at next may be sent.
 *
 * @param posted as roce_qp_posted(). @param dry set when there was no frame to be had.
 * @return how many, at most @p room.
 */
uint16_t roce_req_emit_sends(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room,
		uint32_t posted, uint64_t now, bool *dry);

#endif
