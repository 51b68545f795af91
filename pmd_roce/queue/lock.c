/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of an engine, and who may wait for it. */

#include <rte_branch_prediction.h>
#include <rte_pause.h>

#include "queue/cq.h"
#include "queue/domain.h"

#define REFUSALS_MAX 64u    /**< polls refused in a row before one insists */
#define TRIES_MAX    16384u /**< of one that insists: some hundreds of microseconds */

void
roce_engine_lock(struct roce_engine *e)
{
	/* A spinlock is unfair: who lets go of it to take it again at once would win for ever. */
	__atomic_fetch_add(&e->wanted, 1, __ATOMIC_RELAXED);
	roce_lock(&e->lock);
	__atomic_fetch_sub(&e->wanted, 1, __ATOMIC_RELAXED);
}

/*
 * Callers of control who come back at once would keep the engine from being polled for ever. Not a poll in a poll, in some
 * callback of it: that one would wait for itself, or enter twice. By the spinlock nobody knows who has it, so even who
 * insists gives up.
 */
static __rte_noinline bool
insist(struct roce_engine *e)
{
	if (__atomic_add_fetch(&e->refused, 1, __ATOMIC_RELAXED) < REFUSALS_MAX)
		return false;
	__atomic_store_n(&e->refused, 0, __ATOMIC_RELAXED);
	if (roce_bias_is_inside(&e->lock.bias))
		return false;
	for (unsigned int i = 0; i < TRIES_MAX; i++) {
		if (roce_trylock(&e->lock))
			return true;
		rte_pause();
	}
	return false;
}

bool
roce_engine_trylock(struct roce_engine *e)
{
	if (likely(__atomic_load_n(&e->wanted, __ATOMIC_RELAXED) == 0 && roce_trylock(&e->lock)))
		return true;
	return insist(e);
}

bool
roce_engine_trylock_once(struct roce_engine *e)
{
	return roce_trylock(&e->lock);
}

void
roce_engine_unlock_inner(struct roce_engine *e)
{
	if (unlikely(__atomic_load_n(&e->domain->pending_cqs, __ATOMIC_RELAXED) != NULL))
		roce_cq_deliver(e->domain);
	roce_unlock(&e->lock);
}

static __rte_noinline void
wake(struct roce_domain *domain)
{
	/* Of several who come here one does it for all. */
	if (__atomic_exchange_n(&domain->wake_pending, false, __ATOMIC_ACQ_REL) &&
			domain->config.wake != NULL)
		domain->config.wake(domain->config.notify_arg);
}

void
roce_engine_wake(struct roce_engine *e)
{
	if (unlikely(__atomic_load_n(&e->domain->wake_pending, __ATOMIC_RELAXED)))
		wake(e->domain);
}

void
roce_engine_unlock(struct roce_engine *e)
{
	struct roce_domain *domain = e->domain;

	roce_engine_unlock_inner(e);
	if (unlikely(__atomic_load_n(&domain->wake_pending, __ATOMIC_RELAXED)))
		wake(domain);
}

void
roce_domain_grace(struct roce_domain *domain)
{
	for (unsigned int i = 0; i < domain->config.engines; i++) {
		roce_engine_lock(domain->engine[i]);
		roce_engine_unlock(domain->engine[i]);
	}
}

void
roce_domain_lock(struct roce_domain *domain)
{
	for (unsigned int i = 0; i < domain->config.engines; i++)
		roce_engine_lock(domain->engine[i]);
}

void
roce_domain_unlock(struct roce_domain *domain)
{
	for (unsigned int i = domain->config.engines - 1; i > 0; i--)
		roce_engine_unlock_inner(domain->engine[i]);
	roce_engine_unlock(domain->engine[0]);
}
