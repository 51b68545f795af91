/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_LONE_H
#define ROCE_QUEUE_LONE_H

/**
 * @file
 * Requests that leave with the post, not with the next poll.
 *
 * A poll sends what was posted since the last one in a burst, which is cheap for each message. A program that sends one
 * message and waits for the answer has nothing else to send: there the poll, which receives first, only makes the message
 * late. A queue pair learns that its last ROCE_LONE_ENOUGH visits each sent one frame into an empty window. The next
 * request, if it is one frame, leaves with its post when the window is empty again. The engine has nothing else to
 * send, sent no other request so since its last poll, and receives no more than one frame at a time. So many endpoints that
 * are answered together, or that one loop posts to, are still sent to together.
 *
 * A post reads no clock: that took 9 % of a round trip. The request leaves with the time of the last poll. If the next poll
 * comes later than ROCE_LONE_US, the request's timers begin there, and it is no measure of the round trip
 * (engine/lone_time.h).
 */

#include <stdbool.h>

#include <rte_branch_prediction.h>

#include "queue/qp.h"

#define ROCE_LONE_ENOUGH 4u /**< visits in a row until the next request leaves with its post */
#define ROCE_LONE_US     2u /**< microseconds by which its time may be wrong */

/** Has the peer acknowledged all that was sent? Locked. */
static inline bool
roce_window_is_empty(const struct roce_qp_tx *tx)
{
	return tx->psn == tx->una;
}

/** A visit has sent frames of requests. Locked. @param lone  one frame, into an empty window. */
static inline void
roce_lone_learn(struct roce_qp *qp, bool lone)
{
	struct roce_qp_tx *tx = &qp->tx;

	tx->taken = qp->rx.taken;
	if (!lone)
		tx->lone = 0;
	else if (tx->lone < ROCE_LONE_ENOUGH)
		tx->lone++;
}

/** Is the request at next one frame? A bind is none. Locked. */
static inline bool
roce_lone_is_frame(const struct roce_qp *qp)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.next);

	return !roce_wqe_is_bind(wqe) && (roce_wqe_is_read(wqe) || wqe->length <= qp->rx.mtu);
}

/**
 * Are there receives for the peer to send as much as it did? The program may answer a message before it posts its receive
 * again, and the request takes credits along: by a later poll they may be more. So either no receive was taken since the last
 * request, or at least half of what the queue pair's own queue may have is there. A shared queue gives no credits.
 */
static inline bool
roce_lone_has_receives(const struct roce_qp *qp)
{
	const struct roce_srq *rq = qp->rx.rq;

	return !rq->private_queue || qp->rx.taken == qp->tx.taken ||
			2 * roce_srq_available(rq) >= rq->max;
}

/** Does the request that was just posted leave at once, if nothing else is on the ready list? Locked, by the poster. */
static inline bool
roce_lone_leaves(const struct roce_qp *qp)
{
	const struct roce_engine *e = qp->engine;

	return qp->tx.lone >= ROCE_LONE_ENOUGH && e->burst <= 1 && e->lone_qpn == 0 &&
			roce_window_is_empty(&qp->tx) && qp->rx.state == ROCE_QP_RTS &&
			qp->tx.rnr_at == 0 && e->domain->config.transmit != NULL && !qp->tx.paced &&
			roce_lone_is_frame(qp) && roce_lone_has_receives(qp);
}

#endif
