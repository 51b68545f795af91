/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/post_receive.h"
#include "queue/sge.h"
#include "queue/srq.h"

#define SRQ_MAX_WR (1u << 20)
#define LOOKS      8u /**< at the counts, before the takes are stopped for it */

/* The domain's list is for those who look on: a queue of a queue pair's own is not on it. */
static void
enlist(struct roce_domain *domain, struct roce_srq *srq)
{
	rte_spinlock_lock(&domain->srqs_lock);
	srq->id = domain->next_srq++;
	TAILQ_INSERT_TAIL(&domain->srqs, srq, link);
	rte_spinlock_unlock(&domain->srqs_lock);
}

static void
delist(struct roce_domain *domain, struct roce_srq *srq)
{
	rte_spinlock_lock(&domain->srqs_lock);
	TAILQ_REMOVE(&domain->srqs, srq, link);
	rte_spinlock_unlock(&domain->srqs_lock);
}

static int
create(struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, struct roce_srq **srq)
{
	struct roce_domain *domain = pd->domain;
	struct roce_srq *s;
	uint32_t slots;

	if (max_wr == 0 || max_wr > SRQ_MAX_WR || max_sge == 0 || max_sge > ROCE_SGE_MAX)
		return -EINVAL;
	s = roce_alloc(domain, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	slots = rte_align32pow2(max_wr);
	s->stride = (uint32_t)(sizeof(struct roce_rwqe) + max_sge * sizeof(struct roce_sge));
	s->ring = roce_alloc(domain, (size_t)slots * s->stride);
	if (s->ring == NULL) {
		roce_free(domain, s);
		return -ENOMEM;
	}
	s->domain = domain;
	s->pd = pd;
	s->mask = slots - 1;
	s->max_sge = max_sge;
	s->max = max_wr;
	s->validated_epoch = s->valid = roce_key_epoch(&domain->keys);
	roce_keys_recent_init(&s->recent, &domain->keys);
	__atomic_fetch_add(&pd->users, 1, __ATOMIC_RELAXED);
	*srq = s;
	return 0;
}

int
roce_srq_create(struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, void *owner,
		struct roce_srq **srq)
{
	int rc = create(pd, max_wr, max_sge, srq);

	if (rc == 0) {
		(*srq)->owner = owner;
		enlist(pd->domain, *srq);
	}
	return rc;
}

int
roce_srq_create_private(
		struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, struct roce_srq **srq)
{
	int rc = create(pd, max_wr, max_sge, srq);

	if (rc == 0)
		(*srq)->private_queue = true;
	return rc;
}

int
roce_srq_destroy(struct roce_srq *srq)
{
	bool busy;

	/* Under the lock: who made it the last one has let go of it, too (roce_srq_detach). */
	roce_lock(&srq->post_lock);
	busy = srq->users != 0;
	roce_unlock(&srq->post_lock);
	if (busy)
		return -EBUSY;
	if (!srq->private_queue)
		delist(srq->domain, srq);
	roce_srq_reap_counters_release(srq);
	roce_context_forget(srq->pd->context, &srq->async);
	__atomic_fetch_sub(&srq->pd->users, 1, __ATOMIC_RELEASE);
	roce_free(srq->domain, srq->ring);
	roce_free(srq->domain, srq);
	return 0;
}

static_assert(ROCE_WR_ZCRX > ROCE_SGE_MAX, "one look tells what is no ordinary receive (post)");

/* Several segments, or none. @param length receives that of the receive. As roce_keys_check_recent(). */
static int
check_list(const struct roce_srq *srq, const struct roce_recv_wr *wr, uint32_t *length)
{
	uint64_t sum = 0;

	/* The flag alone is more than any number of segments. */
	if (unlikely((wr->num_sge | (wr->flags & ROCE_WR_ZCRX)) > srq->max_sge)) {
		*length = 0;
		return srq->zcrx && wr->num_sge == 0 ? 0 : -EINVAL;
	}
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		uint64_t addr;
		int rc = roce_keys_translate(&srq->domain->keys, srq->pd, &wr->sg[i],
				IBV_ACCESS_LOCAL_WRITE, &addr);

		if (unlikely(rc != 0))
			return rc;
		sum += wr->sg[i].length;
	}
	*length = roce_recv_length(sum);
	return 0;
}

/* Several segments, or none. As roce_srq_post_segment(). */
static __rte_noinline int
post_list(struct roce_srq *srq, const struct roce_recv_wr *wr)
{
	struct roce_rwqe *slot = roce_srq_slot(srq, srq->posted);
	uint32_t length;
	int rc;

	roce_srq_begin_receive(srq);
	rc = check_list(srq, wr, &length);
	if (unlikely(rc != 0))
		return rc;
	if (unlikely(!roce_srq_has_room(srq, srq->private_queue)))
		return -ENOSPC;
	/* A region that has ended since it was checked changes the key epoch: then the receive is validated again. */
	for (uint32_t i = 0; i < wr->num_sge; i++)
		roce_sge_set(&slot->sge[i], &wr->sg[i],
				roce_keys_address(&srq->domain->keys, &wr->sg[i]));
	roce_srq_publish_receive(srq, wr->wr_id, length, wr->num_sge, wr->flags);
	return 0;
}

static inline int
post(struct roce_srq *srq, const struct roce_recv_wr *wr)
{
	if (unlikely((wr->num_sge | (wr->flags & ROCE_WR_ZCRX)) != 1))
		return post_list(srq, wr);
	return roce_srq_post_segment(srq, wr->sg, wr->wr_id, wr->flags, srq->private_queue);
}

int
roce_srq_post(struct roce_srq *srq, const struct roce_recv_wr *wr)
{
	int rc;

	roce_lock(&srq->post_lock);
	rc = post(srq, wr);
	roce_unlock(&srq->post_lock);
	return rc;
}

/* No thread takes or posts until thaw(). Reaping goes on: it only makes room. */
static void
freeze(struct roce_srq *srq)
{
	roce_engine_lock(srq->domain->engine[0]);
	if (srq->domain->multi_engine)
		rte_spinlock_lock(&srq->take_lock);
	roce_lock(&srq->post_lock);
}

/* The lock of engine 0 stays: the caller delivers its async event under it. */
static void
thaw(struct roce_srq *srq)
{
	roce_unlock(&srq->post_lock);
	if (srq->domain->multi_engine)
		rte_spinlock_unlock(&srq->take_lock);
}

/*
 * Under post_lock. When no take came between the first look and the last, the answer was true at some moment in
 * between: reaped grows one by one, so it had the value found here while taken stood still.
 */
static bool
look(struct roce_srq *srq, struct roce_srq_counts *counts)
{
	uint32_t taken = __atomic_load_n(&srq->taken, __ATOMIC_ACQUIRE);
	uint32_t reaped = roce_srq_count_reaped(srq);

	*counts = (struct roce_srq_counts){
		.max = srq->max,
		.available = srq->posted - taken,
		.outstanding = srq->posted - reaped,
		.low = srq->low,
		.armed = __atomic_load_n(&srq->limit, __ATOMIC_RELAXED) != 0,
		.queue_pairs = srq->users,
	};
	return __atomic_load_n(&srq->taken, __ATOMIC_ACQUIRE) == taken;
}

void
roce_srq_query(struct roce_srq *srq, struct roce_srq_counts *counts)
{
	bool still = false;

	roce_lock(&srq->post_lock);
	for (unsigned int i = 0; i < LOOKS && !still; i++)
		still = look(srq, counts);
	roce_unlock(&srq->post_lock);
	if (likely(still))
		return;
	freeze(srq);
	(void)look(srq, counts);
	thaw(srq);
	roce_engine_unlock(srq->domain->engine[0]);
}

/* The descriptors that lie on the queue, each at the place of its number in the new ring. At rest. */
static void
move_descriptors(const struct roce_srq *srq, uint8_t *ring, uint32_t mask)
{
	uint32_t n;

	for (uint32_t i = srq->taken; i != srq->posted; i += n) {
		n = RTE_MIN(srq->mask + 1 - (i & srq->mask), mask + 1 - (i & mask));
		n = RTE_MIN(n, srq->posted - i);
		memcpy(ring + (size_t)(i & mask) * srq->stride, roce_srq_slot(srq, i),
				(size_t)n * srq->stride);
	}
}

/* @return what is to be freed: the old ring, or the new one when it is not needed. */
static uint8_t *
change_ring(struct roce_srq *srq, uint8_t *ring, uint32_t mask)
{
	uint8_t *old = srq->ring;

	if (ring == NULL)
		return NULL;
	move_descriptors(srq, ring, mask);
	srq->ring = ring;
	srq->mask = mask;
	return old;
}

int
roce_srq_resize(struct roce_srq *srq, uint32_t max_wr)
{
	struct roce_domain *domain = srq->domain;
	uint8_t *ring = NULL;
	uint32_t slots;
	int rc = 0;

	if (max_wr == 0 || max_wr > SRQ_MAX_WR)
		return -EINVAL;
	slots = rte_align32pow2(max_wr);
	if (slots != srq->mask + 1) {
		ring = roce_alloc(domain, (size_t)slots * srq->stride);
		if (ring == NULL)
			return -ENOMEM;
	}
	freeze(srq);
	if (srq->posted - roce_srq_count_reaped(srq) > max_wr || srq->low > max_wr) {
		rc = -EBUSY;
	} else {
		ring = change_ring(srq, ring, slots - 1);
		srq->max = max_wr;
	}
	thaw(srq);
	roce_engine_unlock(domain->engine[0]);
	roce_free(domain, ring);
	return rc;
}

/* Armed and crossed: now it is disarmed. At rest, or in a take with post_lock. */
static inline bool
crosses_low(struct roce_srq *srq, uint32_t available)
{
	if (likely(available >= srq->limit))
		return false;
	__atomic_store_n(&srq->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&srq->fired, srq->fired + 1, __ATOMIC_RELAXED);
	return true;
}

static __rte_noinline void
tell_low(struct roce_srq *srq)
{
	roce_context_deliver(
			srq->pd->context, &srq->async, ROCE_ENGINE_ASYNC_SRQ_LOW, srq->owner, 0);
}

int
roce_srq_set_low(struct roce_srq *srq, uint32_t low)
{
	bool crossed = false;
	int rc = -EINVAL;

	freeze(srq);
	if (low <= srq->max) {
		srq->low = low;
		__atomic_store_n(&srq->limit, low, __ATOMIC_RELAXED);
		crossed = crosses_low(srq, srq->posted - srq->taken);
		rc = 0;
	}
	thaw(srq);
	if (crossed)
		tell_low(srq);
	roce_engine_unlock(srq->domain->engine[0]);
	return rc;
}

/*
 * A take that may cross the watermark. Were posts not stopped, one between the look at posted and the store would
 * make an event for a queue that never was below, or none for one that was. It is told before the message of this
 * take can complete, and before the takes can be stopped: no event of an old watermark comes after a new one is set.
 */
__rte_noinline void
roce_srq_take_at_mark(struct roce_srq *srq, uint32_t taken)
{
	bool crossed;

	roce_lock(&srq->post_lock);
	__atomic_store_n(&srq->taken, taken, __ATOMIC_RELEASE);
	crossed = crosses_low(srq, srq->posted - taken);
	roce_unlock(&srq->post_lock);
	if (crossed)
		tell_low(srq);
}

void
roce_srq_reap_silent(struct roce_srq *srq, uint32_t n)
{
	if (srq == NULL)
		return;
	roce_lock(&srq->post_lock);
	srq->reaped_silent += n;
	roce_unlock(&srq->post_lock);
}

int
roce_srq_attach(struct roce_srq *srq, struct roce_cq *cq, struct roce_srq_reap_counter **counter)
{
	int rc = 0;

	*counter = NULL;
	roce_lock(&srq->post_lock);
	if (cq != NULL) {
		*counter = roce_srq_reap_counter_get(cq, srq);
		rc = *counter != NULL ? 0 : -ENOMEM;
	}
	if (rc == 0)
		srq->users++;
	roce_unlock(&srq->post_lock);
	return rc;
}

void
roce_srq_detach(struct roce_srq *srq, struct roce_srq_reap_counter *counter, uint32_t events)
{
	roce_lock(&srq->post_lock);
	if (counter != NULL)
		roce_srq_reap_counter_put(counter, events);
	srq->users--;
	roce_unlock(&srq->post_lock);
}
