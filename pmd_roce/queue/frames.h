/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_FRAMES_H
#define ROCE_QUEUE_FRAMES_H

/**
 * @file
 * Empty frames of an engine, and the ICRC of those that are made in a poll.
 */

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "queue/domain.h"
#include "wire/icrc.h"

#define ROCE_ONE_PASS 512u /**< payload from which copy and ICRC are one pass (crc_wide.inc) */

/** More empty frames. Locked. @return false: the pool is dry, which is counted. */
bool roce_engine_refill(struct roce_engine *e);

/** An empty frame; NULL (counted) when the pool is dry. Locked. */
static inline struct rte_mbuf *
roce_engine_frame(struct roce_engine *e)
{
	if (unlikely(e->spares == 0) && !roce_engine_refill(e))
		return NULL;
	return e->spare[--e->spares];
}

/** The ICRC of every frame that waits for it. Before the frames are given away. Locked. */
static inline void
roce_engine_icrc_put(struct roce_engine *e)
{
	for (unsigned int i = 0; i < e->icrc_dues; i++)
		roce_icrc_put(e->icrc_due[i].m, e->icrc_due[i].template);
	e->icrc_dues = 0;
}

/**
 * The ICRC of a frame at the end of this poll. Its wide loads would have to wait for the many narrow stores that made
 * the frame; behind the rest of a burst they need not. The frame and its queue pair stay until then. Locked.
 */
static inline void
roce_engine_icrc_later(
		struct roce_engine *e, struct rte_mbuf *m, const struct roce_template *template)
{
	if (unlikely(e->icrc_dues == ROCE_ICRC_MAX))
		roce_engine_icrc_put(e);
	e->icrc_due[e->icrc_dues++] = (struct roce_icrc_due){ m, template };
}

/** One that was not needed. Others may have been fetched meanwhile, as many as there is room for. Locked. */
static inline void
roce_engine_unframe(struct roce_engine *e, struct rte_mbuf *m)
{
	if (likely(e->spares < ROCE_SPARE_MAX))
		e->spare[e->spares++] = m;
	else
		rte_pktmbuf_free(m);
}

#endif
