/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_branch_prediction.h>

#include "engine/cq.h"
#include "engine/srq.h"

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
	/* Somebody may still be telling what was noted before the last watcher went. */
	if (cq->was_armed)
		roce_domain_grace(cq->domain);
	while (roce_cq_poll(cq, &event, 1) > 0)
		;
	/* A shared queue may go away at the same moment: each share has one end at least (retire_shares in srq.c). */
	rte_spinlock_lock(&cq->domain->srqs_lock);
	for (uint32_t i = 1; cq->shares != NULL && i < ROCE_CQ_SHARES; i++) {
		struct roce_cq_share *share = cq->shares[i];

		if (share != NULL) {
			roce_srq_forget(share);
			roce_free(cq->domain, share);
		}
	}
	rte_spinlock_unlock(&cq->domain->srqs_lock);
	roce_context_forget(cq->context, &cq->note);
	__atomic_fetch_sub(&cq->context->users, 1, __ATOMIC_RELEASE);
	roce_free(cq->domain, cq->shares);
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
	uint32_t tail = cq->tail;
	uint32_t ready = cq->head_seen - tail;

	if (ready == 0) {
		cq->head_seen = __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE);
		ready = cq->head_seen - tail;
		if (ready == 0)
			return 0;
	}
	if (n == 1) {
		roce_cq_take(cq, tail, events);
		__atomic_store_n(&cq->tail, tail + 1, __ATOMIC_RELEASE);
		return 1;
	}
	n = RTE_MIN(n, ready);
	for (unsigned int i = 0; i < n; i++)
		roce_cq_take(cq, tail + i, &events[i]);
	__atomic_store_n(&cq->tail, tail + n, __ATOMIC_RELEASE);
	return n;
}

void
roce_cq_lost(struct roce_cq *cq, uint16_t srq_share)
{
	/* The receive is gone with its event: nobody will reap it. */
	if (srq_share != 0)
		roce_srq_give_back(cq->shares[srq_share]->srq, 1);
	roce_context_deliver(cq->context, &cq->note, ROCE_ENGINE_ASYNC_CQ_OVERFLOW, cq->owner, 0);
}

bool
roce_cq_try_push(struct roce_cq *cq, const struct roce_event *event)
{
	struct roce_event *slot = roce_cq_reserve(cq, cq->domain->shared);

	if (unlikely(slot == NULL))
		return false;
	*slot = *event;
	roce_cq_publish(cq, cq->domain->shared);
	return true;
}

bool
roce_cq_push(struct roce_cq *cq, const struct roce_event *event)
{
	if (likely(roce_cq_try_push(cq, event)))
		return true;
	roce_cq_lost(cq, event->srq_share);
	return false;
}

/* Nobody pushes until thaw(). */
static void
freeze(struct roce_cq *cq)
{
	roce_engine_lock(cq->domain->engine[0]);
	if (cq->domain->shared)
		rte_spinlock_lock(&cq->push_lock);
}

/* roce_engine_wake() must follow. */
static void
thaw_inner(struct roce_cq *cq)
{
	if (cq->domain->shared)
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

/* What is pushed wakes whom it should, whoever has taken it meanwhile: nothing of it is overwritten before this. */
static void
judge(struct roce_cq *cq)
{
	bool solicited = __atomic_load_n(&cq->solicited, __ATOMIC_RELAXED);

	for (; cq->judged != cq->head; cq->judged++)
		cq->due += roce_event_wakes(&cq->ring[cq->judged & cq->mask], solicited);
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
		if (cq->watchers != 0)
			judge(cq);
		if (ring != NULL) {
			move_events(cq, ring, slots - 1);
			old = cq->ring;
			cq->ring = ring;
			cq->mask = slots - 1;
			ring = old;
		}
		__atomic_store_n(&cq->depth, depth, __ATOMIC_RELAXED);
		cq->easy_depth = cq->watchers != 0 ? 0 : depth;
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
	if (cq->watchers++ != 0)
		return;
	cq->was_armed = true;
	cq->easy_depth = 0;
	cq->judged = cq->head;
	cq->due = 0;
}

static void
drop_waiter(struct roce_cq *cq)
{
	if (--cq->watchers == 0)
		cq->easy_depth = cq->depth;
}

void
roce_cq_watch(struct roce_cq *cq)
{
	freeze(cq);
	add_waiter(cq);
	thaw(cq);
}

void
roce_cq_unwatch(struct roce_cq *cq)
{
	freeze(cq);
	drop_waiter(cq);
	thaw(cq);
}

void
roce_cq_arm(struct roce_cq *cq, bool solicited)
{
	freeze(cq);
	/* Whoever wants all events gets them, beside one who wants fewer. */
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
note(struct roce_cq *cq)
{
	struct roce_domain *domain = cq->domain;
	struct roce_cq *top;

	if (cq->noted)
		return;
	cq->noted = true;
	top = __atomic_load_n(&domain->noted, __ATOMIC_RELAXED);
	do {
		cq->next_pending = top;
	} while (!__atomic_compare_exchange_n(
			&domain->noted, &top, cq, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

__rte_noinline bool
roce_cq_find_room(struct roce_cq *cq)
{
	cq->tail_seen = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE);
	if (cq->head - cq->tail_seen >= cq->depth)
		return false;
	if (cq->watchers != 0) {
		/* One event at most is not judged yet: the one that comes now. */
		judge(cq);
		note(cq);
	}
	return true;
}

/* Nobody pushes meanwhile: one engine pushes under its own lock, several take push_lock. */
static void
settle(struct roce_cq *cq)
{
	uint32_t due;

	cq->noted = false;
	if (cq->watchers == 0)
		return;
	judge(cq);
	due = cq->due;
	cq->due = 0;
	if (due == 0)
		return;
	if (cq->once) {
		cq->once = false;
		drop_waiter(cq);
	}
	roce_context_deliver(
			cq->context, &cq->note, ROCE_ENGINE_ASYNC_CQ_EVENTS, cq->owner, (int)due);
	__atomic_store_n(&cq->domain->told, true, __ATOMIC_RELEASE);
}

__rte_noinline void
roce_cq_deliver(struct roce_domain *domain)
{
	struct roce_cq *cq = __atomic_exchange_n(&domain->noted, NULL, __ATOMIC_ACQUIRE);

	while (cq != NULL) {
		struct roce_cq *next;

		/* Behind a push that is not over, on another engine. */
		if (domain->shared)
			rte_spinlock_lock(&cq->push_lock);
		next = cq->next_pending;
		settle(cq);
		if (domain->shared)
			rte_spinlock_unlock(&cq->push_lock);
		cq = next;
	}
}

/* A share whose last event was reaped can serve another shared receive queue. Under shares_lock. */
static bool
reusable(const struct roce_cq_share *share)
{
	return share->srq == NULL && share->users == 0 &&
			(int32_t)(__atomic_load_n(&share->cq->tail, __ATOMIC_ACQUIRE) -
					share->retired_at) >= 0;
}

static struct roce_cq_share *
new_share(struct roce_cq *cq)
{
	struct roce_cq_share *share;
	uint16_t i;

	if (cq->shares == NULL)
		cq->shares = roce_alloc(cq->domain, ROCE_CQ_SHARES * sizeof(cq->shares[0]));
	if (cq->shares == NULL)
		return NULL;
	for (i = 1; i < ROCE_CQ_SHARES; i++) {
		share = cq->shares[i];
		if (share == NULL)
			break;
		if (reusable(share))
			return share;
	}
	if (i == ROCE_CQ_SHARES)
		return NULL;
	share = roce_alloc(cq->domain, sizeof(*share));
	if (share != NULL) {
		share->cq = cq;
		share->index = i;
		cq->shares[i] = share;
	}
	return share;
}

struct roce_cq_share *
roce_cq_share_get(struct roce_cq *cq, struct roce_srq *srq)
{
	struct roce_cq_share *share;

	for (share = srq->shares; share != NULL; share = share->next) {
		if (share->cq == cq) {
			share->users++;
			return share;
		}
	}
	rte_spinlock_lock(&cq->shares_lock);
	share = new_share(cq);
	if (share != NULL) {
		share->srq = srq;
		share->users = 1;
		share->reaped = 0;
		share->next = srq->shares;
		srq->shares = share;
	}
	rte_spinlock_unlock(&cq->shares_lock);
	return share;
}

void
roce_cq_share_put(struct roce_cq_share *share)
{
	share->users--;
	share->retired_at = __atomic_load_n(&share->cq->head, __ATOMIC_ACQUIRE);
}
