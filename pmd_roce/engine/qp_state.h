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

/** The part of roce_qp_to_rtr() that the responder wants: posts are refused still, and nothing is sent. Locked. */
int roce_qp_begin_receiving(struct roce_qp *qp, const struct roce_qp_connect *connect);

/** The part that the requester wants, of the values in cold.connect: requests may be posted from now on. Locked. */
void roce_qp_begin_sending(struct roce_qp *qp);

#endif
