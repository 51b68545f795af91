/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_WATERMARK_H
#define ROCE_RESPONDER_WATERMARK_H

/**
 * @file
 * The high watermarks of a queue pair: how many receives it may have that are not completed.
 */

#include <stdbool.h>
#include <stdint.h>

struct roce_qp;

/** As roce_qp_set_watermarks(). Locked. */
void roce_qp_set_high(struct roce_qp *qp, uint32_t soft, uint32_t hard);

/** Judge the high watermarks now: after a post to its own queue, and when the connection is up. Locked. */
void roce_qp_check_high(struct roce_qp *qp);

/** Has the queue pair more receives than its hard high watermark? Tells about the soft one, once. Locked. */
bool roce_qp_over_high(struct roce_qp *qp);

#endif
