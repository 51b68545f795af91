/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REWIND_H
#define ROCE_REQUESTER_REWIND_H

/**
 * @file
 * The requester's place in the send queue: it goes back to what is sent again, and stops at a request that fails.
 */

#include "queue/qp.h"

/** Send again from @p psn, which is sent and not acknowledged. */
void roce_req_rewind(struct roce_qp *qp, uint32_t psn);

/** When the request that cannot be sent is the oldest one: it fails, and with it the connection. */
void roce_req_report_prot_error(struct roce_qp *qp);

/** The memory of the request at next is gone. The request fails when everything before it is acknowledged. */
void roce_req_fail_local(struct roce_qp *qp);

#endif
