/* SPDX-License-Identifier: BSD-3-Clause */

/* What a context is to be told of its objects, for whoever asks instead of being called. */

#include "engine/engine_pvt.h"

/* Moments in the life of a connection, which the connection manager hears of. */
#define NEVER_NOTED (1u << ROCE_ENGINE_ASYNC_QP_ESTABLISHED | 1u << ROCE_ENGINE_ASYNC_QP_DRAINED)

void
roce_async_queue_init(struct roce_async_queue *async_queue)
{
	rte_spinlock_init(&async_queue->lock);
	TAILQ_INIT(&async_queue->list);
	async_queue->count = 0;
}

/* On the list or off it. Under the lock. */
static void
set_count(struct roce_async_queue *async_queue, uint32_t count)
{
	__atomic_store_n(&async_queue->count, count, __ATOMIC_RELEASE);
}

static void
add(struct roce_async_queue *async_queue, struct roce_pending_async *note,
		enum roce_engine_async kind, int status)
{
	rte_spinlock_lock(&async_queue->lock);
	if (note->kinds == 0) {
		TAILQ_INSERT_TAIL(&async_queue->list, note, link);
		set_count(async_queue, async_queue->count + 1);
	}
	note->kinds |= 1u << kind;
	if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN)
		note->status = status;
	rte_spinlock_unlock(&async_queue->lock);
}

void
roce_context_deliver(const struct roce_context *context, struct roce_pending_async *note,
		enum roce_engine_async kind, void *owner, int status)
{
	if (context->async_queue != NULL && !(NEVER_NOTED & 1u << kind)) {
		note->owner = owner;
		add(context->async_queue, note, kind, status);
	}
	context->notify(context->arg, kind, owner, status);
}

void
roce_context_forget(const struct roce_context *context, struct roce_pending_async *note)
{
	struct roce_async_queue *async_queue = context->async_queue;

	if (async_queue == NULL)
		return;
	rte_spinlock_lock(&async_queue->lock);
	if (note->kinds != 0) {
		TAILQ_REMOVE(&async_queue->list, note, link);
		set_count(async_queue, async_queue->count - 1);
	}
	note->kinds = 0;
	rte_spinlock_unlock(&async_queue->lock);
}

bool
roce_async_queue_take(struct roce_async_queue *async_queue, enum roce_engine_async *kind,
		void **owner, int *status)
{
	struct roce_pending_async *note;

	if (__atomic_load_n(&async_queue->count, __ATOMIC_ACQUIRE) == 0)
		return false;
	rte_spinlock_lock(&async_queue->lock);
	note = TAILQ_FIRST(&async_queue->list);
	if (note != NULL) {
		*kind = (enum roce_engine_async)rte_bsf32(note->kinds);
		*owner = note->owner;
		*status = *kind == ROCE_ENGINE_ASYNC_QP_BROKEN ? note->status : 0;
		note->kinds &= note->kinds - 1;
		if (note->kinds == 0) {
			TAILQ_REMOVE(&async_queue->list, note, link);
			set_count(async_queue, async_queue->count - 1);
		}
	}
	rte_spinlock_unlock(&async_queue->lock);
	return note != NULL;
}
