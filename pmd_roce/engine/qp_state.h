/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_QP_STATE_H
#define ROCE_ENGINE_QP_STATE_H

/**
 * @file
 * The state of a queue pair that begins or ends a connection.
 */

#include "queue/qp.h"

/** Begin at RESET: cursors, flags, timer. */
void roce_qp_init(struct roce_qp *qp);

#endif
