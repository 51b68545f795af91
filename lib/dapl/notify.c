/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From an engine's async event to the threads and agents that wait for it. Under an engine's lock it is only recorded who;
 * whoever has let go of a lock, wakes and calls.
 */

#include <pthread.h>

#include <rte_pause.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/eventcount.h"
#include "dapl/ia.h"
#include "dapl/ia_list.h"
#include "dapl/notify.h"

struct dapl_rung dapl_rung = {
	.lock = RTE_SPINLOCK_INITIALIZER,
	.list = TAILQ_HEAD_INITIALIZER(dapl_rung.list),
};

void
dapl_waiters_ring(struct dapl_waiters *waiters)
{
	bool sleepers = dapl_eventcount_advance(&waiters->count);

	if (!sleepers && (waiters->cno == NULL || waiters->cno->agent.call == NULL))
		return;
	rte_spinlock_lock(&dapl_rung.lock);
	if (!waiters->listed) {
		waiters->listed = true;
		TAILQ_INSERT_TAIL(&dapl_rung.list, waiters, link);
	}
	rte_spinlock_unlock(&dapl_rung.lock);
}

void
dapl_waiters_retire(struct dapl_waiters *waiters)
{
	rte_spinlock_lock(&dapl_rung.lock);
	if (waiters->listed)
		TAILQ_REMOVE(&dapl_rung.list, waiters, link);
	waiters->listed = false;
	/* Its agent may be running. */
	while (waiters->cno != NULL && waiters->cno->callers != 0) {
		rte_spinlock_unlock(&dapl_rung.lock);
		rte_pause();
		rte_spinlock_lock(&dapl_rung.lock);
	}
	rte_spinlock_unlock(&dapl_rung.lock);
}

/* The next who is to be woken. @return false: there is none. */
static bool
take_rung(const struct dapl_eventcount **count, struct dapl_cno **cno)
{
	struct dapl_waiters *waiters;

	rte_spinlock_lock(&dapl_rung.lock);
	waiters = TAILQ_FIRST(&dapl_rung.list);
	if (waiters != NULL) {
		TAILQ_REMOVE(&dapl_rung.list, waiters, link);
		waiters->listed = false;
		*count = &waiters->count;
		*cno = waiters->cno;
		if (*cno != NULL)
			(*cno)->callers++;
	}
	rte_spinlock_unlock(&dapl_rung.lock);
	return waiters != NULL;
}

static void
let_go(struct dapl_cno *cno)
{
	rte_spinlock_lock(&dapl_rung.lock);
	cno->callers--;
	rte_spinlock_unlock(&dapl_rung.lock);
}

/* The next notification for the agent. Under notify_lock. @return false: there is none. */
static bool
next_call(struct dapl_cno *cno, struct dapl_evd **evd)
{
	while ((*evd = TAILQ_FIRST(&cno->undelivered)) != NULL) {
		TAILQ_REMOVE(&cno->undelivered, *evd, undelivered_link);
		if (cno->agent.call == NULL) {
			(*evd)->undelivered = 0;
			continue;
		}
		if (--(*evd)->undelivered != 0)
			TAILQ_INSERT_TAIL(&cno->undelivered, *evd, undelivered_link);
		return true;
	}
	if (cno->orphaned_delivered == cno->orphaned)
		return false;
	cno->orphaned_delivered = cno->orphaned;
	return cno->agent.call != NULL;
}

/*
 * One thread calls for all: an agent does not run twice at a time, and may make calls that let an engine notify. It is
 * called without locks; what it is called for may be gone by then.
 */
static void
call_agent(struct dapl_cno *cno)
{
	struct dapl_ia *ia = cno->head.ia;
	struct dapl_evd *evd;

	rte_spinlock_lock(&ia->notify_lock);
	while (cno->caller == 0 && next_call(cno, &evd)) {
		struct dapl_agent agent = cno->agent;

		__atomic_store_n(&cno->caller, (uintptr_t)pthread_self(), __ATOMIC_RELAXED);
		rte_spinlock_unlock(&ia->notify_lock);
		agent.call(agent.data, evd);
		rte_spinlock_lock(&ia->notify_lock);
		__atomic_store_n(&cno->caller, 0, __ATOMIC_RELAXED);
		cno->calls++;
	}
	rte_spinlock_unlock(&ia->notify_lock);
}

void
dapl_wake(void *arg)
{
	const struct dapl_eventcount *count;
	struct dapl_cno *cno;

	/* No agent runs under the lock of the list of adapters. */
	if (dapl_ia_defer_wake())
		return;
	while (take_rung(&count, &cno)) {
		dapl_eventcount_wake(count);
		if (cno == NULL)
			continue;
		call_agent(cno);
		let_go(cno);
	}
}
