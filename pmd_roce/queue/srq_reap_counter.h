/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_SRQ_REAP_COUNTER_H
#define ROCE_QUEUE_SRQ_REAP_COUNTER_H

/**
 * @file
 * Reap counter: how many receives of one shared receive queue the consumer of
 * one completion queue has reaped.
 *
 * An event names its counter by a tag of 16 bits, the counter's place in the
 * table of the completion queue. The consumer alone writes `reaped`, so a reap
 * costs no atomic operation; a query of the shared receive queue adds its
 * counters up.
 *
 * A counter lives as long as both queues do. When the shared receive queue ends,
 * the next one has the counter at once, although events of the first may wait in
 * the ring. Events are taken in the order in which they came, so the first reaps
 * under the tag, up to `base`, are those of queues that have ended. Therefore a
 * completion queue meets any number of shared receive queues one after the other,
 * and 65,535 at a time: a device has 16,384 queue pairs.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

struct roce_cq;
struct roce_srq;

#define ROCE_SRQ_TAG_MAX 65535u /**< tag 0 is no counter's */

struct roce_srq_reap_counter {
	uint32_t reaped; /**< events of the tag ever taken; written by the consumer of the completion queue */
	uint32_t pushed; /**< events of the tag ever pushed by queue pairs that were detached; under the SRQ's post lock */
	uint32_t base;  /**< of `reaped`: those of earlier shared receive queues */
	uint32_t users; /**< queue pairs; under the SRQ's post lock */
	uint16_t tag;
	bool behind; /**< `reaped` may be less than `base` still; under the SRQ's post lock */
	struct roce_cq *cq;
	struct roce_srq *srq;               /**< NULL: unused */
	struct roce_srq_reap_counter *next; /**< of the same SRQ, or of those unused */
} __rte_cache_aligned;

/** The counters of a completion queue by their tags. An outgrown table stays: its consumer may be reading it. */
struct roce_srq_reap_table {
	struct roce_srq_reap_table *outgrown;
	uint32_t size;
	struct roce_srq_reap_counter *counter[];
};

/** Receives of its SRQ that were reaped. Under the SRQ's post lock. */
static inline uint32_t
roce_srq_reap_counter_read(struct roce_srq_reap_counter *counter)
{
	uint32_t reaped = __atomic_load_n(&counter->reaped, __ATOMIC_ACQUIRE) - counter->base;

	/* Once it has come to base it is past it for good; both wrap. */
	if (unlikely(counter->behind)) {
		if ((int32_t)reaped < 0)
			return 0;
		counter->behind = false;
	}
	return reaped;
}

/**
 * The counter of a shared receive queue on this completion queue, made when there is none; one user more.
 * The caller holds the SRQ's post lock. @return NULL: no memory, or no tag.
 */
struct roce_srq_reap_counter *roce_srq_reap_counter_get(struct roce_cq *cq, struct roce_srq *srq);

/** One user less, which pushed so many events under the tag. The caller holds the SRQ's post lock. */
void roce_srq_reap_counter_put(struct roce_srq_reap_counter *counter, uint32_t pushed);

/** The shared receive queue ends: its counters serve others. No thread uses it. */
void roce_srq_reap_counters_release(struct roce_srq *srq);

/** The completion queue ends, and is empty: what was reaped there stays counted. No thread uses it. */
void roce_srq_reap_counters_destroy(struct roce_cq *cq);

#endif
