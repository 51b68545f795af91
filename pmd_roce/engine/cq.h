/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_CQ_H
#define ROCE_ENGINE_CQ_H

/**
 * @file
 * Completion queue: a ring of events, one consumer, producers under an engine
 * lock (and one of its own when the domain has several engines).
 *
 * Reaping a receive of a shared receive queue is booked on a share: one counter
 * for each pair of a completion queue and a shared receive queue, written by the
 * one consumer alone. So a reap costs no atomic operation, and a query adds the
 * shares up.
 *
 * A queue that somebody watches has no room by the short look of roce_cq_reserve(): the long one judges whether the
 * events before wake anybody, and notes the queue on a stack of the domain. Whoever lets go of an engine's lock first
 * tells what is noted there. So a queue that nobody watches pays nothing.
 */

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "engine/engine_pvt.h"

#define ROCE_CQ_SHARES \
	256u /**< shared receive queues that may complete on one queue, the first unused */

struct roce_cq_share {
	uint32_t reaped;     /**< written by the consumer of the completion queue */
	uint32_t users;      /**< queue pairs; under the SRQ's post lock */
	uint32_t retired_at; /**< when users fell to 0: head of the completion queue */
	uint16_t index;
	struct roce_cq *cq;
	struct roce_srq *srq;       /**< NULL: the SRQ is gone */
	struct roce_cq_share *next; /**< of the same SRQ */
} __rte_cache_aligned;

struct roce_cq {
	struct roce_domain *domain;
	struct roce_context *context;
	void *owner;
	uint32_t depth;      /**< written under push_lock and the lock of engine 0; atomic */
	uint32_t easy_depth; /**< the same; 0 while somebody watches */
	uint32_t mask;
	struct roce_event *ring;
	uint32_t users; /**< queue pairs; atomic */
	struct roce_cq_share **shares;
	rte_spinlock_t shares_lock;
	struct roce_pending_async note;

	rte_spinlock_t push_lock __rte_cache_aligned;
	uint32_t head;      /**< events ever pushed */
	uint32_t tail_seen; /**< lower bound of tail */
	uint32_t watchers;  /**< who wants ROCE_ENGINE_ASYNC_CQ_EVENTS */
	uint32_t judged;    /**< watched: the events before it were judged */
	uint32_t due;       /**< of them, to be told */
	bool was_armed;
	bool once;  /**< one of the watchers goes away when it was told (roce_cq_arm()) */
	bool noted; /**< on the domain's stack */
	struct roce_cq *next_pending;
	bool solicited; /**< only solicited receives, and failures, are told; atomic */

	uint32_t tail __rte_cache_aligned; /**< events ever taken */
	uint32_t head_seen;                /**< lower bound of head */
};

/** Is there room, by a look at the consumer's side? When somebody watches, note that there will be an event. Locked. */
bool roce_cq_find_room(struct roce_cq *cq);

/**
 * The slot of the next event, to be filled whole where it lies; roce_cq_publish() must follow. Locked (any engine).
 *
 * An event that is built on the stack and then copied costs a stall: its narrow stores are read back by wide loads.
 *
 * @param shared that of its domain, as for roce_cq_publish().
 * @return NULL: full; roce_cq_lost() must follow.
 */
static inline struct roce_event *
roce_cq_reserve(struct roce_cq *cq, bool shared)
{
	uint32_t head;

	if (shared)
		rte_spinlock_lock(&cq->push_lock);
	head = cq->head;
	if (likely(head - cq->tail_seen < cq->easy_depth) || roce_cq_find_room(cq))
		return &cq->ring[head & cq->mask];
	if (shared)
		rte_spinlock_unlock(&cq->push_lock);
	return NULL;
}

/** The reserved slot is filled: the consumer may have it. */
static inline void
roce_cq_publish(struct roce_cq *cq, bool shared)
{
	__atomic_store_n(&cq->head, cq->head + 1, __ATOMIC_RELEASE);
	if (shared)
		rte_spinlock_unlock(&cq->push_lock);
}

/**
 * Copy event number @p i, which is the consumer's now, and book the reap of its receive. Only the consumer writes that
 * counter; the release lets a poster reuse the slot of the receive.
 */
static inline void
roce_cq_take(const struct roce_cq *cq, uint32_t i, struct roce_event *event)
{
	struct roce_cq_share *share;

	*event = cq->ring[i & cq->mask];
	if (event->srq_share == 0)
		return;
	share = cq->shares[event->srq_share];
	__atomic_store_n(&share->reaped, share->reaped + 1, __ATOMIC_RELEASE);
}

/** An event found no room: its owner is told, and a receive that went with it counts as reaped. Locked. */
void roce_cq_lost(struct roce_cq *cq, uint16_t srq_share);

/** Tell the watchers of the queues that are noted. Whoever lets go of an engine's lock, before that. */
void roce_cq_deliver(struct roce_domain *domain);

/**
 * The share of a shared receive queue on this completion queue, made when there is none; one user more.
 * The caller holds the SRQ's post lock. @return NULL: no memory, or too many.
 */
struct roce_cq_share *roce_cq_share_get(struct roce_cq *cq, struct roce_srq *srq);

/** One user less. The caller holds the SRQ's post lock. */
void roce_cq_share_put(struct roce_cq_share *share);

#endif
