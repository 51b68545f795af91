/* SPDX-License-Identifier: BSD-3-Clause */

/* Pending async events of a context's objects, for a context that polls for them instead of being called. */

#include "queue/async_events.h"

/* These two are for the connection manager. */
#define NEVER_QUEUED (1u << ROCE_ENGINE_ASYNC_QP_ESTABLISHED | 1u << ROCE_ENGINE_ASYNC_QP_DRAINED)

void
roce_async_queue_init(struct roce_async_queue *queue)
{
	rte_spinlock_init(&queue->lock);
	TAILQ_INIT(&queue->list);
	queue->count = 0;
}

/* On the list or off it. Under the lock. */
static void
set_count(struct roce_async_queue *queue, uint32_t count)
{
	__atomic_store_n(&queue->count, count, __ATOMIC_RELEASE);
}

static void
add(struct roce_async_queue *queue, struct roce_pending_async *pending, enum roce_engine_async kind,
		int status)
{
	rte_spinlock_lock(&queue->lock);
	if (pending->kinds == 0) {
		TAILQ_INSERT_TAIL(&queue->list, pending, link);
		set_count(queue, queue->count + 1);
	}
	pending->kinds |= 1u << kind;
	if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN)
		pending->status = status;
	rte_spinlock_unlock(&queue->lock);
}

void
roce_context_deliver(const struct roce_context *context, struct roce_pending_async *pending,
		enum roce_engine_async kind, void *owner, int status)
{
	if (context->async_queue != NULL && !(NEVER_QUEUED & 1u << kind)) {
		pending->owner = owner;
		add(context->async_queue, pending, kind, status);
	}
	context->notify(context->arg, kind, owner, status);
}

void
roce_context_forget(const struct roce_context *context, struct roce_pending_async *pending)
{
	struct roce_async_queue *queue = context->async_queue;

	if (queue == NULL)
		return;
	rte_spinlock_lock(&queue->lock);
	if (pending->kinds != 0) {
		TAILQ_REMOVE(&queue->list, pending, link);
		set_count(queue, queue->count - 1);
	}
	pending->kinds = 0;
	rte_spinlock_unlock(&queue->lock);
}

bool
roce_async_queue_take(struct roce_async_queue *queue, enum roce_engine_async *kind, void **owner,
		int *status)
{
	struct roce_pending_async *pending;

	if (__atomic_load_n(&queue->count, __ATOMIC_ACQUIRE) == 0)
		return false;
	rte_spinlock_lock(&queue->lock);
	pending = TAILQ_FIRST(&queue->list);
	if (pending != NULL) {
		*kind = (enum roce_engine_async)rte_bsf32(pending->kinds);
		*owner = pending->owner;
		*status = *kind == ROCE_ENGINE_ASYNC_QP_BROKEN ? pending->status : 0;
		pending->kinds &= pending->kinds - 1;
		if (pending->kinds == 0) {
			TAILQ_REMOVE(&queue->list, pending, link);
			set_count(queue, queue->count - 1);
		}
	}
	rte_spinlock_unlock(&queue->lock);
	return pending != NULL;
}
