/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_RETRY_H
#define ROCE_REQUESTER_RETRY_H

/**
 * @file
 * When the requester sends again, and when it gives up.
 */

#include "queue/qp.h"

/** The first frame after silence, or after a rewind, left. */
void roce_retry_started(struct roce_qp *qp, uint64_t now);

/**
 * The only frame in flight has an earlier time than it left at, perhaps: its timers begin now, and its answer measures
 * nothing. When it was answered already, nothing changes.
 */
void roce_retry_left_late(struct roce_qp *qp, uint64_t now);

/** Something new was acknowledged: counters start over. */
void roce_retry_progress(struct roce_qp *qp, uint64_t now);

/** The peer has got something that it does not acknowledge yet: silence begins now. */
void roce_retry_sacked(struct roce_qp *qp, uint64_t now);

/** The peer is busy with answers to our READs, if not with those that are missing: silence begins now. */
void roce_retry_heard(struct roce_qp *qp, uint64_t now);

/** Be silent for the time of an RNR NAK, then send again from @p psn. */
void roce_retry_rnr(struct roce_qp *qp, uint32_t psn, uint8_t timer_code, uint64_t now);

/** Have the timer of the requester fire no later than @p at. */
void roce_retry_watch(struct roce_qp *qp, uint64_t at);

/** The timer of the requester. */
void roce_retry_fire(struct roce_timer *timer, uint64_t now);

/** Values at the start of a connection. */
void roce_retry_init(struct roce_qp *qp);

/** The timeout or the numbers of retries changed, while nothing is in flight. Locked. */
void roce_retry_adjust(struct roce_qp *qp);

#endif
