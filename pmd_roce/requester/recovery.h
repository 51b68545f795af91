/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_RECOVERY_H
#define ROCE_REQUESTER_RECOVERY_H

/**
 * @file
 * Cost of timeouts, and whether they were needed.
 *
 * A READ that is asked for again is answered again, to its end by some
 * responders. The engine measures how long the answers take, and a timeout waits
 * for a multiple of what the repeat would cost. So a responder that pauses has
 * little to answer twice.
 *
 * A timeout was needless when what it repeated had arrived. Two things show that: an acknowledgement of something not
 * sent again since the timeout (as F-RTO, RFC 5682); an answer to a READ that comes once for each time it was asked for
 * (as DSACK, RFC 3708). Then the window is given back, and the silence counts as a round trip, so that the next timeout
 * comes later (as RFC 4015).
 *
 * A frame behind a gap asks for nothing more: it may have been sent before the repeat was asked for. But answers come
 * in order. One that goes back, half a round trip or more after the loss was known, belongs to the repeat: its
 * beginning is lost, which is one loss more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "queue/qp.h"

/** A sample of the round trip (RFC 6298). Only a frame that was sent once may be measured. */
void roce_recovery_measure(struct roce_qp *qp, uint64_t sample);

/** The expected frame of the answer to a READ came, its first when @p begins. Locked. */
void roce_recovery_answered(struct roce_qp *qp, bool begins, uint64_t now);

/** A frame is known to be lost. Locked. */
void roce_recovery_lost(struct roce_qp *qp, uint64_t now);

/**
 * Answer @p psn to a READ came, behind one that is missing. Locked.
 * @return true: it belongs to a repeat, of which the beginning is lost, too: the answers before it were further on.
 */
bool roce_recovery_lost_again(const struct roce_qp *qp, uint32_t psn, uint64_t now);

/** Ticks to wait before what is under way is sent again, READs among it. Locked. @return at most the local ACK timeout. */
uint64_t roce_recovery_wait(const struct roce_qp *qp);

/** A timeout: all that is not acknowledged is sent again. Locked, before limit_at and the window change. */
void roce_recovery_timed_out(struct roce_qp *qp, uint64_t now);

/** Everything before @p psn is acknowledged, the first time since a timeout. Locked, before una changes. */
void roce_recovery_acknowledged(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** The answer @p psn to a READ came once more. Locked. */
void roce_recovery_answered_twice(struct roce_qp *qp, uint32_t psn);

#endif
