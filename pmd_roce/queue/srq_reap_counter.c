/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "queue/cq.h"
#include "queue/srq.h"

#define FIRST_SIZE 16u /**< of the table, in counters; it doubles */

/* Room for one tag more. Under reap_lock. @return NULL: no memory. */
static struct roce_srq_reap_table *
make_room(struct roce_cq *cq)
{
	struct roce_srq_reap_table *old = cq->reap_table, *table;
	uint32_t size = old == NULL ? FIRST_SIZE : old->size;

	if (old != NULL && cq->reap_tags + 1 < size)
		return old;
	if (old != NULL)
		size *= 2;
	table = roce_alloc(cq->domain, sizeof(*table) + (size_t)size * sizeof(void *));
	if (table == NULL)
		return NULL;
	if (old != NULL)
		memcpy(table->counter, old->counter, old->size * sizeof(void *));
	table->outgrown = old;
	table->size = size;
	__atomic_store_n(&cq->reap_table, table, __ATOMIC_RELEASE);
	return table;
}

/* Under reap_lock. */
static struct roce_srq_reap_counter *
make_counter(struct roce_cq *cq)
{
	struct roce_srq_reap_table *table;
	struct roce_srq_reap_counter *counter;

	if (cq->reap_tags == ROCE_SRQ_TAG_MAX)
		return NULL;
	table = make_room(cq);
	if (table == NULL)
		return NULL;
	counter = roce_alloc(cq->domain, sizeof(*counter));
	if (counter == NULL)
		return NULL;
	counter->cq = cq;
	counter->tag = (uint16_t)++cq->reap_tags;
	table->counter[counter->tag] = counter;
	return counter;
}

/* One that an SRQ had which has ended, or a new one. Under reap_lock. */
static struct roce_srq_reap_counter *
find_unused(struct roce_cq *cq)
{
	struct roce_srq_reap_counter *counter = cq->reap_unused;

	if (counter == NULL)
		return make_counter(cq);
	cq->reap_unused = counter->next;
	/* Its queue pairs have all been detached, so this is every event that was ever pushed under the tag. */
	counter->base = counter->pushed;
	counter->behind = true;
	return counter;
}

struct roce_srq_reap_counter *
roce_srq_reap_counter_get(struct roce_cq *cq, struct roce_srq *srq)
{
	struct roce_srq_reap_counter *counter;

	for (counter = srq->reap_counters; counter != NULL; counter = counter->next) {
		if (counter->cq == cq) {
			counter->users++;
			return counter;
		}
	}
	rte_spinlock_lock(&cq->reap_lock);
	counter = find_unused(cq);
	if (counter != NULL) {
		counter->srq = srq;
		counter->users = 1;
		counter->next = srq->reap_counters;
		srq->reap_counters = counter;
	}
	rte_spinlock_unlock(&cq->reap_lock);
	return counter;
}

void
roce_srq_reap_counter_put(struct roce_srq_reap_counter *counter, uint32_t pushed)
{
	counter->users--;
	counter->pushed += pushed;
}

void
roce_srq_reap_counters_release(struct roce_srq *srq)
{
	struct roce_srq_reap_counter *counter, *next;

	/* The completion queue of a counter may go away at the same moment (roce_srq_reap_counters_destroy). */
	rte_spinlock_lock(&srq->domain->srqs_lock);
	for (counter = srq->reap_counters; counter != NULL; counter = next) {
		struct roce_cq *cq = counter->cq;

		next = counter->next;
		rte_spinlock_lock(&cq->reap_lock);
		counter->srq = NULL;
		counter->next = cq->reap_unused;
		cq->reap_unused = counter;
		rte_spinlock_unlock(&cq->reap_lock);
	}
	rte_spinlock_unlock(&srq->domain->srqs_lock);
}

static void
forget(struct roce_srq_reap_counter *counter)
{
	struct roce_srq *srq = counter->srq;
	struct roce_srq_reap_counter **link;

	if (srq == NULL)
		return;
	roce_lock(&srq->post_lock);
	for (link = &srq->reap_counters; *link != counter; link = &(*link)->next)
		;
	*link = counter->next;
	srq->reaped_silent += roce_srq_reap_counter_read(counter);
	roce_unlock(&srq->post_lock);
}

void
roce_srq_reap_counters_destroy(struct roce_cq *cq)
{
	struct roce_domain *domain = cq->domain;
	struct roce_srq_reap_table *table = cq->reap_table, *outgrown;

	/* A shared receive queue may go away at the same moment (roce_srq_reap_counters_release). */
	rte_spinlock_lock(&domain->srqs_lock);
	for (uint32_t tag = 1; tag <= cq->reap_tags; tag++) {
		forget(table->counter[tag]);
		roce_free(domain, table->counter[tag]);
	}
	rte_spinlock_unlock(&domain->srqs_lock);
	for (; table != NULL; table = outgrown) {
		outgrown = table->outgrown;
		roce_free(domain, table);
	}
}
