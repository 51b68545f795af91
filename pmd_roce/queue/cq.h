/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_CQ_H
#define ROCE_QUEUE_CQ_H

/**
 * @file
 * Completion queue: a ring of events, one consumer, producers under an engine
 * lock (and one of its own when the domain has several engines).
 *
 * Reaping a receive of a shared receive queue is booked on a reap counter
 * (srq_reap_counter.h), written by the one consumer alone.
 *
 * A queue with waiters is armed: its easy_depth is 0, which forces every push in roce_cq_reserve() onto the slow path.
 * That checks which of the events before wake a waiter, and puts the queue on the domain's stack of pending queues. A
 * thread that releases an engine's lock first delivers the events of the queues on that stack. A queue that is not
 * armed pays nothing.
 */

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "queue/domain.h"
#include "queue/srq_reap_counter.h"

struct roce_cq {
	struct roce_domain *domain;
	struct roce_context *context;
	void *owner;
	uint32_t depth;      /**< written under push_lock and the lock of engine 0; atomic */
	uint32_t easy_depth; /**< the same; 0 while it is armed */
	uint32_t mask;
	struct roce_event *ring;
	uint32_t users; /**< queue pairs; atomic */
	struct roce_srq_reap_table
			*reap_table; /**< written under reap_lock, atomic; NULL: none yet */
	struct roce_srq_reap_counter *reap_unused; /**< under reap_lock */
	uint32_t reap_tags; /**< in use or unused: 1 to this one; under reap_lock */
	rte_spinlock_t reap_lock;
	struct roce_pending_async async;

	rte_spinlock_t push_lock __rte_cache_aligned;
	uint32_t head;          /**< events ever pushed */
	uint32_t tail_seen;     /**< lower bound of tail */
	uint32_t waiters;       /**< for ROCE_ENGINE_ASYNC_CQ_EVENTS */
	uint32_t count_checked; /**< armed: events that were looked at */
	uint32_t due;           /**< of them, those that wake a waiter and are to be delivered */
	bool was_armed;
	bool once;    /**< one of the waiters leaves at the first delivery (roce_cq_arm()) */
	bool pending; /**< on the domain's stack */
	struct roce_cq *next_pending;
	bool solicited; /**< only solicited receives, and failures, wake; atomic */

	uint32_t tail __rte_cache_aligned; /**< events ever taken */
	uint32_t head_seen;                /**< lower bound of head */
};

/** Is there room, by a look at the consumer's side? An armed queue becomes pending. Locked. */
bool roce_cq_find_room(struct roce_cq *cq);

/**
 * The slot of the next event, to be filled whole where it lies; roce_cq_publish() must follow. Locked (any engine).
 *
 * An event that is built on the stack and then copied costs a stall: its narrow stores are read back by wide loads.
 *
 * @param multi_engine that of its domain, as for roce_cq_publish().
 * @return NULL: full; roce_cq_lost() must follow.
 */
static inline struct roce_event *
roce_cq_reserve(struct roce_cq *cq, bool multi_engine)
{
	uint32_t head;

	if (multi_engine)
		rte_spinlock_lock(&cq->push_lock);
	head = cq->head;
	if (likely(head - cq->tail_seen < cq->easy_depth) || roce_cq_find_room(cq))
		return &cq->ring[head & cq->mask];
	if (multi_engine)
		rte_spinlock_unlock(&cq->push_lock);
	return NULL;
}

/** The reserved slot is filled: the consumer may have it. */
static inline void
roce_cq_publish(struct roce_cq *cq, bool multi_engine)
{
	__atomic_store_n(&cq->head, cq->head + 1, __ATOMIC_RELEASE);
	if (multi_engine)
		rte_spinlock_unlock(&cq->push_lock);
}

/** Events that are there to be taken; the producer's side is looked at when none is known of. Consumer. */
static inline uint32_t
roce_cq_ready(struct roce_cq *cq)
{
	uint32_t tail = cq->tail;

	if (cq->head_seen == tail)
		cq->head_seen = __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE);
	return cq->head_seen - tail;
}

/** Count the reap of a receive. Only the consumer writes that counter; the release lets a poster reuse the slot. */
static inline void
roce_cq_reap(const struct roce_cq *cq, const struct roce_event *event)
{
	const struct roce_srq_reap_table *table;
	struct roce_srq_reap_counter *counter;

	if (event->srq_tag == 0)
		return;
	table = __atomic_load_n(&cq->reap_table, __ATOMIC_ACQUIRE);
	counter = table->counter[event->srq_tag];
	__atomic_store_n(&counter->reaped, counter->reaped + 1, __ATOMIC_RELEASE);
}

/**
 * Take the next @p n events, which must be there. Consumer.
 *
 * Their places are free before their receives are reaped: a queue as deep as its shared receive queue never overflows,
 * whatever thread posts as soon as there is room.
 */
static inline void
roce_cq_take(struct roce_cq *cq, struct roce_event *events, uint32_t n)
{
	uint32_t tail = cq->tail;

	for (uint32_t i = 0; i < n; i++)
		events[i] = cq->ring[(tail + i) & cq->mask];
	__atomic_store_n(&cq->tail, tail + n, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < n; i++)
		roce_cq_reap(cq, &events[i]);
}

/** An event found no room: its owner gets CQ_OVERFLOW, and a receive that went with it counts as reaped. Locked. */
void roce_cq_lost(struct roce_cq *cq, uint16_t srq_tag);

/** Deliver CQ_EVENTS of the pending queues. Called by each thread right before it releases an engine's lock. */
void roce_cq_deliver(struct roce_domain *domain);

#endif
