/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_POST_H
#define ROCE_QUEUE_POST_H

/**
 * @file
 * The doorbell: how the poster's thread tells the engine that a queue pair has something to send.
 */

#include "queue/qp.h"

/** Ring the doorbell: the engine will look at the queue pair. Any thread. */
void roce_qp_ring(struct roce_qp *qp);

/** Move every rung queue pair to its engine's ready list, and see what was released (extbuf.h). Locked. */
void roce_engine_answer_doorbells(struct roce_engine *e);

#endif
