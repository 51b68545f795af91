/* SPDX-License-Identifier: BSD-3-Clause */
/* Empty frames of an engine, fetched in bulk. */

#include "queue/frames.h"

__rte_noinline bool
roce_engine_refill(struct roce_engine *e)
{
	if (rte_pktmbuf_alloc_bulk(e->pool, e->spare, ROCE_SPARE_MAX) == 0) {
		e->spares = ROCE_SPARE_MAX;
	} else if ((e->spare[0] = rte_pktmbuf_alloc(e->pool)) != NULL) {
		e->spares = 1;
	} else {
		e->stats.tx_no_mbuf++;
		return false;
	}
	return true;
}
