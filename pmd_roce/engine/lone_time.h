/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_LONE_TIME_H
#define ROCE_ENGINE_LONE_TIME_H

/**
 * @file
 * The time of a request that left with its post (queue/lone.h), which read no clock.
 */

#include <rte_branch_prediction.h>

#include "queue/qp.h"
#include "requester/retry.h"

/** Long after the poll whose time it has, or not: it may have left just now. */
static __rte_noinline void
roce_lone_left_late(const struct roce_engine *e, uint64_t now)
{
	struct roce_qp *qp = roce_qp_find(e->domain, e->lone_qpn);

	if (qp != NULL && qp->rx.state == ROCE_QP_RTS)
		roce_retry_left_late(qp, now);
}

/** A poll begins: first of all that it does. Locked. */
static inline void
roce_lone_time(struct roce_engine *e, uint64_t now)
{
	if (likely(e->lone_qpn == 0))
		return;
	if (unlikely(now - e->polled_at > e->lone_ticks))
		roce_lone_left_late(e, now);
	e->lone_qpn = 0;
}

#endif
