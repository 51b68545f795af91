/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_SRQ_H
#define ROCE_QUEUE_SRQ_H

/**
 * @file
 * Receive queue, shared by queue pairs of any engines of a domain, or a queue
 * pair's own.
 *
 * A ring of receive descriptors and three counters that only grow:
 *
 *   posted    by posters, under post_lock
 *   taken     by queue pairs; under take_lock when the domain has several engines
 *   reaped    by the consumers of completion queues: the sum of the reap counters
 *             (srq_reap_counter.h) and of what was reaped without a completion
 *
 *   available = posted - taken, outstanding = posted - reaped.
 *
 * Posting is bounded by outstanding, so a slot is free long before it is written
 * again: the reap of its completion happened after the take.
 *
 * Everybody takes under the lock of some engine; with several engines also under
 * take_lock. So whoever holds engine 0's lock and take_lock has stopped the takes,
 * and with post_lock the posts: a new ring or a new watermark finds the queue at
 * rest, and neither a take nor a post pays for that with a fence. Locks are taken
 * in the order engine, take_lock, post_lock.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "queue/bias.h"
#include "queue/cq.h"
#include "queue/domain.h"

/** A receive descriptor in the ring. */
struct roce_rwqe {
	uint64_t wr_id;
	uint32_t length; /**< sum of the segments */
	uint16_t num_sge;
	uint16_t flags; /**< ROCE_WR_*; the low byte is what its event says of the post */
	struct roce_sge sge[];
};

/** In the flags of a receive just taken: its segments are still what they were validated to be. */
#define ROCE_RECV_VALID 0x8000u

/** A receive that a queue pair took: its own copy. */
struct roce_recv {
	uint64_t wr_id;
	uint32_t length;
	uint16_t num_sge;
	uint16_t flags; /**< ROCE_WR_*; the low byte is what its event says of the post */
	struct roce_sge sge[];
};

struct roce_srq {
	struct roce_domain *domain;
	struct roce_pd *pd;
	uint8_t *ring;
	uint32_t mask;
	uint32_t stride; /**< bytes of a descriptor */
	uint32_t max_sge;
	uint32_t max;       /**< written at rest */
	uint32_t low;       /**< low watermark set last; under post_lock */
	uint32_t id;        /**< number among the domain's */
	bool private_queue; /**< of one queue pair: gives credits, is flushed with it */
	bool zcrx;          /**< of one queue pair: it may have receives with ROCE_WR_ZCRX */
	uint32_t users;     /**< queue pairs; under post_lock */
	struct roce_srq_reap_counter *reap_counters; /**< under post_lock */
	void *owner;
	struct roce_pending_async async;
	TAILQ_ENTRY(roce_srq) link; /**< of the domain's shared ones */

	struct roce_lock post_lock __rte_cache_aligned;
	uint32_t posted;
	uint32_t reaped_seen;   /**< lower bound of reaped; under post_lock */
	uint32_t reaped_silent; /**< without a completion; under post_lock */
	uint32_t validated_epoch; /**< roce_key_epoch() when the receives from valid_from on were validated; atomic */
	uint32_t valid_from;            /**< number of the first of them; atomic */
	struct roce_keys_recent recent; /**< under post_lock */

	rte_spinlock_t take_lock __rte_cache_aligned;
	uint32_t taken;
	uint32_t limit; /**< low watermark while it is armed; 0: none, or crossed */
	uint32_t fired; /**< times it was crossed */
	uint32_t valid; /**< validated_epoch for which all that is taken from now on lies behind valid_from */
	uint64_t empty; /**< times a queue pair found nothing */
};

static inline struct roce_rwqe *
roce_srq_slot(const struct roce_srq *srq, uint32_t index)
{
	return (struct roce_rwqe *)(srq->ring + (size_t)(index & srq->mask) * srq->stride);
}

/** Everything ever reaped. Under post_lock. */
static inline uint32_t
roce_srq_count_reaped(struct roce_srq *srq)
{
	uint32_t reaped = srq->reaped_silent;

	for (struct roce_srq_reap_counter *c = srq->reap_counters; c != NULL; c = c->next)
		reaped += roce_srq_reap_counter_read(c);
	srq->reaped_seen = reaped;
	return reaped;
}

/**
 * Does one more receive fit? A queue pair's own queue promises its depth in receives not yet used, whoever reaps them; a
 * shared one in receives outstanding. Under post_lock.
 */
static inline bool
roce_srq_has_room(struct roce_srq *srq, bool private_queue)
{
	if (private_queue)
		return srq->posted - __atomic_load_n(&srq->taken, __ATOMIC_ACQUIRE) < srq->max;
	return likely(srq->posted - srq->reaped_seen < srq->max) ||
			srq->posted - roce_srq_count_reaped(srq) < srq->max;
}

/** Receives that can be taken now. Exact under the engine lock of a domain with one engine. */
static inline uint32_t
roce_srq_available(const struct roce_srq *srq)
{
	uint32_t taken = __atomic_load_n(&srq->taken, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&srq->posted, __ATOMIC_ACQUIRE) - taken;
}

/** A queue pair found nothing. As roce_srq_take(). */
static inline void
roce_srq_note_empty(struct roce_srq *srq)
{
	__atomic_store_n(&srq->empty, srq->empty + 1, __ATOMIC_RELAXED);
}

static_assert(sizeof(struct roce_recv) == sizeof(struct roce_rwqe), "a receive is copied whole");

/** Make @p taken the number of receives taken, where that may cross the low watermark. As roce_srq_take(). */
void roce_srq_take_at_mark(struct roce_srq *srq, uint32_t taken);

/**
 * Has no region ended since receive number @p index, which is taken now, was validated? As roce_srq_take().
 *
 * A poster who sees that one has, first moves valid_from on, then says that it knows: as long as takers do not see that,
 * they know that what they see is old.
 */
static inline bool
roce_srq_is_valid(struct roce_srq *srq, uint32_t index)
{
	uint32_t epoch = __atomic_load_n(&srq->validated_epoch, __ATOMIC_ACQUIRE);

	if (unlikely(epoch != roce_key_epoch(&srq->domain->keys)))
		return false;
	if (unlikely(epoch != srq->valid)) {
		uint32_t from = __atomic_load_n(&srq->valid_from, __ATOMIC_RELAXED);

		if ((int32_t)(index - from) < 0)
			return false;
		srq->valid = epoch;
	}
	return true;
}

/** The oldest of @p available receives is taken. As roce_srq_take(). */
static inline void
roce_srq_pass(struct roce_srq *srq, uint32_t available)
{
	const uint32_t taken = srq->taken + 1;

	if (unlikely(available - 1 < srq->limit))
		roce_srq_take_at_mark(srq, taken);
	else
		__atomic_store_n(&srq->taken, taken, __ATOMIC_RELEASE);
}

/** The take itself, of @p available receives. */
static inline void
roce_srq_take_one(struct roce_srq *srq, uint32_t available, struct roce_recv *recv)
{
	const uint32_t taken = srq->taken;
	const struct roce_rwqe *from = roce_srq_slot(srq, taken);

	if (likely(from->num_sge == 1))
		memcpy(recv, from, sizeof(*recv) + sizeof(recv->sge[0]));
	else
		memcpy(recv, from, sizeof(*recv) + from->num_sge * sizeof(recv->sge[0]));
	if (likely(roce_srq_is_valid(srq, taken)))
		recv->flags |= ROCE_RECV_VALID;
	roce_srq_pass(srq, available);
}

/**
 * Take the oldest receive. Locked (any engine).
 * @param recv room for max_sge segments. @return false: empty.
 */
static inline bool
roce_srq_take(struct roce_srq *srq, struct roce_recv *recv)
{
	const bool locked = srq->domain->multi_engine;
	uint32_t available;

	if (unlikely(locked))
		rte_spinlock_lock(&srq->take_lock);
	available = __atomic_load_n(&srq->posted, __ATOMIC_ACQUIRE) - srq->taken;
	if (likely(available != 0))
		roce_srq_take_one(srq, available, recv);
	else
		roce_srq_note_empty(srq);
	if (unlikely(locked))
		rte_spinlock_unlock(&srq->take_lock);
	return available != 0;
}

/** The receive that is taken next, as it lies on the queue; NULL: empty. As roce_srq_take(), and nobody else takes. */
static inline const struct roce_recv *
roce_srq_next(const struct roce_srq *srq)
{
	return roce_srq_available(srq) != 0
			? (const struct roce_recv *)roce_srq_slot(srq, srq->taken)
			: NULL;
}

/** ROCE_WR_* of the receive that is taken next; 0: empty. Of a queue pair's own queue; locked. */
static inline uint32_t
roce_srq_next_flags(const struct roce_srq *srq)
{
	const struct roce_recv *next = roce_srq_next(srq);

	return next != NULL ? next->flags : 0;
}

/** The receive queue of one queue pair. As roce_srq_create(). */
int roce_srq_create_private(
		struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, struct roce_srq **srq);

/** A taken receive ended without a completion: it counts as reaped. */
void roce_srq_reap_silent(struct roce_srq *srq, uint32_t n);

/** One queue pair more, whose receives complete on @p cq (may be NULL). @return 0; -ENOMEM. */
int
roce_srq_attach(struct roce_srq *srq, struct roce_cq *cq, struct roce_srq_reap_counter **counter);

/** One queue pair less, which pushed @p events to that completion queue. @param counter as from roce_srq_attach(). */
void roce_srq_detach(struct roce_srq *srq, struct roce_srq_reap_counter *counter, uint32_t events);

#endif
