/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_BIND_H
#define ROCE_REQUESTER_BIND_H

/**
 * @file
 * Binds in the send queue: requests that take neither a PSN nor a frame.
 */

#include "queue/qp.h"

/** Is the request at next, before @p posted, a bind? */
bool roce_bind_is_next(const struct roce_qp *qp, uint32_t posted);

/** Could the requester go over the bind at next now? */
bool roce_bind_may_pass(const struct roce_qp *qp);

/**
 * Go over the bind at next; execute it, if that was not done before a rewind.
 * @return false: it has to wait, or it failed.
 */
bool roce_bind_pass(struct roce_qp *qp);

#endif
