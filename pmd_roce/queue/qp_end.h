/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_QP_END_H
#define ROCE_QUEUE_QP_END_H

/**
 * @file
 * How a queue pair ends: it breaks, is flushed or drained, and tells the layers above.
 */

#include "queue/qp.h"

/** Deliver to the layer above and, when there is a connection, to the connection manager. Locked. */
void roce_qp_async_event(struct roce_qp *qp, enum roce_engine_async kind, int status);

/** Have it pending for a context that polls; others are not told. Locked. */
void roce_qp_pending_event(struct roce_qp *qp, enum roce_engine_async kind);

/**
 * The transport gives up: the oldest request (or nobody, when it was the responder) fails with @p status, the
 * rest is flushed, the state is ERR and QP_BROKEN is delivered. Locked.
 */
void roce_qp_break(struct roce_qp *qp, enum ibv_wc_status status, bool request);

/** End with a flush what was posted to a broken queue pair. Locked. */
void roce_qp_flush(struct roce_qp *qp);

/** Tell the owner when a drain was asked for and nothing is unfinished. Locked. */
void roce_qp_check_drained(struct roce_qp *qp);

/**
 * RTS to SQD (IBTA Vol 1, 10.3.1.5): requests that were begun go on, and no other begins. tx.draining says that some are not over
 * yet. The queue pair looks at its requests one by one until it is reset. Locked.
 * @param event  deliver ROCE_ENGINE_ASYNC_SQ_DRAINED when they are, which may be at once.
 */
void roce_qp_sqd_enter(struct roce_qp *qp, bool event);

/** SQD, drained, to RTS: requests begin again. Locked. */
void roce_qp_sqd_leave(struct roce_qp *qp);

/**
 * The answer that is still sent when the queue pair ends: the NAK that ends it, or the ACK of messages that its consumer
 * has. Behind answers to READs neither: it would say that these were given. @return ROCE_OWES_NAK, ROCE_OWES_ACK or 0.
 */
uint8_t roce_qp_last_answer(const struct roce_qp_rx *rx);

#endif
