/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REORDER_H
#define ROCE_REQUESTER_REORDER_H

/**
 * @file
 * Reordering window: how late a frame may come before it counts as lost (RFC 8985, 6.2).
 *
 * Between two ends that agree on selective acknowledgements, a frame of which a later one has arrived is lost or late. Where no
 * frame ever came late it is lost at once, and no loss costs a wait. A repeat that finds its first copy there was needless: the
 * responder says so (as DSACK, RFC 2883), and of answers to READs the requester sees it. Each one widens the window by a quarter of
 * the round trip, up to a whole one. Sixteen waits in vain, more than waits that ended well, narrow it by as much. If that
 * happens to a whole round trip, waiting does not help here: nothing is waited for until 256 more repeats were needless.
 * All functions: locked.
 */

#include "queue/qp.h"

#define ROCE_REORDER_QUARTERS_MAX 4u
#define ROCE_REORDER_LOSSES       16u
#define ROCE_REORDER_UNHEARD      256u

/** Ticks for which a frame that was overtaken is waited for; 0: it is lost at once. */
static inline uint64_t
roce_reorder_window(const struct roce_qp *qp)
{
	return (uint64_t)qp->cold.reorder.quarters * qp->tx.srtt / 4;
}

/** The frame at @p psn, which was overtaken, is sent again. The last eight are known. */
void roce_reorder_repeated(struct roce_qp *qp, uint32_t psn);

/** The frame at @p psn has arrived twice: was that a repeat of one of the last frames that were overtaken? */
void roce_reorder_duplicate(struct roce_qp *qp, uint32_t psn);

/** Frames did not come within the window. */
void roce_reorder_lost(struct roce_qp *qp);

/** Frames came that were waited for. */
void roce_reorder_in_time(struct roce_qp *qp);

/** No repeat is known any more: the PSNs begin anew, or frames were sent again that may have arrived. */
void roce_reorder_forget(struct roce_qp *qp);

#endif
