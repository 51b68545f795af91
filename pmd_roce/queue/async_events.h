/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_ASYNC_EVENTS_H
#define ROCE_QUEUE_ASYNC_EVENTS_H

/**
 * @file
 * Async events: which there are, how they reach the layer above, and who waits for one.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_spinlock.h>

#include "wire/frame.h"

struct roce_domain;

#define ROCE_ADDRS_MAX 8

/** Async events: rare, and delivered to the layer above at once. lib/roce makes enum roce_async_event_type of them. */
enum roce_engine_async {
	ROCE_ENGINE_ASYNC_QP_ESTABLISHED = 1, /**< first packet in state RTR: the peer is ready */
	ROCE_ENGINE_ASYNC_QP_BROKEN, /**< the transport gave up: state is ERR, everything is flushed */
	ROCE_ENGINE_ASYNC_QP_DRAINED, /**< roce_qp_drain() is done */
	ROCE_ENGINE_ASYNC_CQ_OVERFLOW,
	ROCE_ENGINE_ASYNC_SRQ_LOW, /**< fewer receives are on the shared queue than its low watermark */
	ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, /**< the queue pair holds more receives than its soft high watermark */
	ROCE_ENGINE_ASYNC_CQ_EVENTS, /**< an armed completion queue has so many more events that wake */
	ROCE_ENGINE_ASYNC_QP_COMM_EST, /**< QP_ESTABLISHED where there is no connection; for contexts that poll */
	ROCE_ENGINE_ASYNC_QP_LAST_WQE, /**< in ERR, and takes from its shared queue no more; for contexts that poll */
	ROCE_ENGINE_ASYNC_SQ_DRAINED, /**< in SQD, and all requests that were begun are over; for contexts that poll */
};

/**
 * Delivers an async event, under the lock of the engine it happened on: ESTABLISHED before the first receive completes,
 * BROKEN when the queue pair is in ERR and everything is flushed. The receiver may record, push events to completion
 * queues and change its own state under the same lock; nothing else.
 *
 * @param owner  of the queue pair, completion queue or shared receive queue.
 * @param status QP_BROKEN: enum ibv_wc_status of the cause; CQ_EVENTS: how many. CQ_EVENTS is delivered when the lock
 *   is about to be dropped, and the receiver may not push events then.
 */
typedef void (*roce_notify_fn)(void *arg, enum roce_engine_async kind, void *owner, int status);

/**
 * The pending async events of an object. It stands in the object, so that no event is lost for want of memory; an event
 * that happens again before it was polled is delivered once.
 */
struct roce_pending_async {
	TAILQ_ENTRY(roce_pending_async) link;
	void *owner;
	uint32_t kinds; /**< bits 1 << enum roce_engine_async; 0: it is on no list */
	int status;     /**< of ROCE_ENGINE_ASYNC_QP_BROKEN */
};

TAILQ_HEAD(roce_pending_async_list, roce_pending_async);

/** The objects of a context with pending async events, that which waits longest first. */
struct roce_async_queue {
	rte_spinlock_t lock; /**< taken under any other */
	uint32_t count;      /**< on the list; written under the lock, atomic */
	struct roce_pending_async_list list;
};

void roce_async_queue_init(struct roce_async_queue *queue);

/** Take one pending async event. Any thread. @return false: there is none, and nothing was written. */
bool roce_async_queue_take(struct roce_async_queue *queue, enum roce_engine_async *kind,
		void **owner, int *status);

/**
 * A user of a domain, as a struct ibv_context of verbs: protection domains, completion queues and connections are made
 * for it, and it gets their async events, and those of what hangs on them. It outlives them.
 */
struct roce_context {
	struct roce_domain *domain;
	roce_notify_fn notify;
	void *arg; /**< handed to notify() */
	/**
	 * NULL, or where an async event becomes pending before notify() is called: all but
	 * ROCE_ENGINE_ASYNC_QP_ESTABLISHED and _DRAINED. The pending events of an object vanish with it.
	 */
	struct roce_async_queue *async_queue;
	uint32_t users; /**< protection domains, completion queues, and what the layer above counts; atomic */
	uint32_t addrs; /**< of addr; 0: all that the domain has */
	struct roce_ip addr
			[ROCE_ADDRS_MAX]; /**< its connections are made from and to these alone */
};

/** Deliver an async event of an object to its context; @p pending is the object's. Locked (any engine). */
void roce_context_deliver(const struct roce_context *context, struct roce_pending_async *pending,
		enum roce_engine_async kind, void *owner, int status);

/** The object goes away, and its pending async events with it. No engine delivers one of it any more. */
void roce_context_forget(const struct roce_context *context, struct roce_pending_async *pending);

#endif
