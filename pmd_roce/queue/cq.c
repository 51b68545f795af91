/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_branch_prediction.h>

#include "queue/cq.h"
#include "queue/srq.h"

#define CQ_DEPTH_MAX (1u << 24)

int
roce_cq_create(struct roce_context *context, uint32_t depth, void *owner, struct roce_cq **cq)
{
	struct roce_domain *domain = context->domain;
	struct roce_cq *c;
	uint32_t slots;

	if (depth == 0 || depth > CQ_DEPTH_MAX)
		return -EINVAL;
	c = roce_alloc(domain, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	slots = rte_align32pow2(depth);
	c->ring = roce_alloc(domain, (size_t)slots * sizeof(c->ring[0]));
	if (c->ring == NULL) {
		roce_free(domain, c);
		return -ENOMEM;
	}
	c->domain = domain;
	c->context = context;
	c->owner = owner;
	c->depth = depth;
	c->easy_depth = depth;
	c->mask = slots - 1;
	__atomic_fetch_add(&context->users, 1, __ATOMIC_RELAXED);
	*cq = c;
	return 0;
}

int
roce_cq_destroy(struct roce_cq *cq)
{
	struct roce_event event;

	if (__atomic_load_n(&cq->users, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	/* Another thread may still deliver events that were pending before the last waiter left. */
	if (cq->was_armed)
		roce_domain_grace(cq->domain);
	while (roce_cq_poll(cq, &event, 1) > 0)
		;
	roce_srq_reap_counters_destroy(cq);
	roce_context_forget(cq->context, &cq->async);
	__atomic_fetch_sub(&cq->context->users, 1, __ATOMIC_RELEASE);
	roce_free(cq->domain, cq->ring);
	roce_free(cq->domain, cq);
	return 0;
}

unsigned int
roce_cq_count(const struct roce_cq *cq)
{
	/* The consumer's side first: the other way round it could seem ahead of the producer. */
	uint32_t tail = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE);

	return RTE_MIN(__atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) - tail, roce_cq_depth(cq));
}

bool
roce_cq_look(const struct roce_cq *cq, uint32_t i, struct roce_event *event)
{
	uint32_t tail = cq->tail;

	if (i >= __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) - tail)
		return false;
	*event = cq->ring[(tail + i) & cq->mask];
	return true;
}

uint32_t
roce_cq_depth(const struct roce_cq *cq)
{
	return __atomic_load_n(&cq->depth, __ATOMIC_RELAXED);
}

unsigned int
roce_cq_poll(struct roce_cq *cq, struct roce_event *events, unsigned int n)
{
	uint32_t ready = roce_cq_ready(cq);

	if (ready == 0)
		return 0;
	if (n == 1) {
		roce_cq_take(cq, events, 1);
		return 1;
	}
	n = RTE_MIN(n, ready);
	roce_cq_take(cq, events, n);
	return n;
}

void
roce_cq_lost(struct roce_cq *cq, uint16_t srq_tag)
{
	/* The receive is gone with its event: nobody will reap it. */
	if (srq_tag != 0)
		roce_srq_reap_silent(cq->reap_table->counter[srq_tag]->srq, 1);
	roce_context_deliver(cq->context, &cq->async, ROCE_ENGINE_ASYNC_CQ_OVERFLOW, cq->owner, 0);
}

bool
roce_cq_try_push(struct roce_cq *cq, const struct roce_event *event)
{
	struct roce_event *slot = roce_cq_reserve(cq, cq->domain->multi_engine);

	if (unlikely(slot == NULL))
		return false;
	*slot = *event;
	roce_cq_publish(cq, cq->domain->multi_engine);
	return true;
}

bool
roce_cq_push(struct roce_cq *cq, const struct roce_event *event)
{
	if (likely(roce_cq_try_push(cq, event)))
		return true;
	roce_cq_lost(cq, event->srq_tag);
	return false;
}

/* No thread pushes until thaw(). */
static void
freeze(struct roce_cq *cq)
{
	roce_engine_lock(cq->domain->engine[0]);
	if (cq->domain->multi_engine)
		rte_spinlock_lock(&cq->push_lock);
}

/* roce_engine_wake() must follow. */
static void
thaw_inner(struct roce_cq *cq)
{
	if (cq->domain->multi_engine)
		rte_spinlock_unlock(&cq->push_lock);
	roce_engine_unlock_inner(cq->domain->engine[0]);
}

static void
thaw(struct roce_cq *cq)
{
	thaw_inner(cq);
	roce_engine_wake(cq->domain->engine[0]);
}

/* The events that wait, each at the place of its number in the new ring. At rest. */
static void
move_events(const struct roce_cq *cq, struct roce_event *ring, uint32_t mask)
{
	for (uint32_t i = cq->tail; i != cq->head; i++)
		ring[i & mask] = cq->ring[i & cq->mask];
}

/*
 * Count the new events that wake a waiter. An event that the consumer has taken meanwhile counts: its place is not written
 * again before this.
 */
static void
count_due(struct roce_cq *cq)
{
	bool solicited = __atomic_load_n(&cq->solicited, __ATOMIC_RELAXED);

	for (; cq->count_checked != cq->head; cq->count_checked++)
		cq->due += roce_event_wakes(&cq->ring[cq->count_checked & cq->mask], solicited);
}

int
roce_cq_resize_inner(struct roce_cq *cq, uint32_t depth)
{
	struct roce_domain *domain = cq->domain;
	struct roce_event *ring = NULL, *old;
	uint32_t slots;
	int rc = 0;

	if (depth == 0 || depth > CQ_DEPTH_MAX)
		return -EINVAL;
	slots = rte_align32pow2(depth);
	if (slots != cq->mask + 1) {
		ring = roce_alloc(domain, (size_t)slots * sizeof(ring[0]));
		if (ring == NULL)
			return -ENOMEM;
	}
	freeze(cq);
	if (cq->head - cq->tail > depth) {
		rc = -EBUSY;
	} else {
		/* An event that was taken already is not moved. */
		if (cq->waiters != 0)
			count_due(cq);
		if (ring != NULL) {
			move_events(cq, ring, slots - 1);
			old = cq->ring;
			cq->ring = ring;
			cq->mask = slots - 1;
			ring = old;
		}
		__atomic_store_n(&cq->depth, depth, __ATOMIC_RELAXED);
		cq->easy_depth = cq->waiters != 0 ? 0 : depth;
	}
	thaw_inner(cq);
	roce_free(domain, ring);
	return rc;
}

int
roce_cq_resize(struct roce_cq *cq, uint32_t depth)
{
	struct roce_engine *engine = cq->domain->engine[0];
	int rc = roce_cq_resize_inner(cq, depth);

	roce_engine_wake(engine);
	return rc;
}

/* One more, or one less. Frozen, or between pushes. */
static void
add_waiter(struct roce_cq *cq)
{
	if (cq->waiters++ != 0)
		return;
	cq->was_armed = true;
	cq->easy_depth = 0;
	cq->count_checked = cq->head;
	cq->due = 0;
}

static void
drop_waiter(struct roce_cq *cq)
{
	if (--cq->waiters == 0)
		cq->easy_depth = cq->depth;
}

void
roce_cq_add_waiter(struct roce_cq *cq)
{
	freeze(cq);
	add_waiter(cq);
	thaw(cq);
}

void
roce_cq_remove_waiter(struct roce_cq *cq)
{
	freeze(cq);
	drop_waiter(cq);
	thaw(cq);
}

void
roce_cq_arm(struct roce_cq *cq, bool solicited)
{
	freeze(cq);
	/* A waiter for all events gets them, beside one that wants fewer. */
	if (!cq->once || !solicited)
		roce_cq_set_solicited(cq, solicited);
	if (!cq->once)
		add_waiter(cq);
	cq->once = true;
	thaw(cq);
}

void
roce_cq_set_solicited(struct roce_cq *cq, bool solicited)
{
	__atomic_store_n(&cq->solicited, solicited, __ATOMIC_RELAXED);
}

static void
add_pending(struct roce_cq *cq)
{
	struct roce_domain *domain = cq->domain;
	struct roce_cq *top;

	if (cq->pending)
		return;
	cq->pending = true;
	top = __atomic_load_n(&domain->pending_cqs, __ATOMIC_RELAXED);
	do {
		cq->next_pending = top;
	} while (!__atomic_compare_exchange_n(
			&domain->pending_cqs, &top, cq, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

__rte_noinline bool
roce_cq_find_room(struct roce_cq *cq)
{
	cq->tail_seen = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE);
	if (cq->head - cq->tail_seen >= cq->depth)
		return false;
	if (cq->waiters != 0) {
		/* One event at most is not counted yet: the one that comes now. */
		count_due(cq);
		add_pending(cq);
	}
	return true;
}

/* No thread pushes meanwhile: one engine pushes under its own lock, several take push_lock. */
static void
deliver(struct roce_cq *cq)
{
	uint32_t due;

	cq->pending = false;
	if (cq->waiters == 0)
		return;
	count_due(cq);
	due = cq->due;
	cq->due = 0;
	if (due == 0)
		return;
	if (cq->once) {
		cq->once = false;
		drop_waiter(cq);
	}
	roce_context_deliver(
			cq->context, &cq->async, ROCE_ENGINE_ASYNC_CQ_EVENTS, cq->owner, (int)due);
	__atomic_store_n(&cq->domain->wake_pending, true, __ATOMIC_RELEASE);
}

__rte_noinline void
roce_cq_deliver(struct roce_domain *domain)
{
	struct roce_cq *cq = __atomic_exchange_n(&domain->pending_cqs, NULL, __ATOMIC_ACQUIRE);

	while (cq != NULL) {
		struct roce_cq *next;

		/* Behind a push that is not over, on another engine. */
		if (domain->multi_engine)
			rte_spinlock_lock(&cq->push_lock);
		next = cq->next_pending;
		deliver(cq);
		if (domain->multi_engine)
			rte_spinlock_unlock(&cq->push_lock);
		cq = next;
	}
}
