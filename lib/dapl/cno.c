/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <time.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/ia.h"
#include "dapl/notify.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"

#define NAP_NS 50000 /**< between two looks whether somebody has left */
#define NOTIFICATIONS_MAX \
	(1u << 30) /**< notifications of a dispatcher: far more than events that it holds */

enum dapl_status
dapl_cno_create(struct dapl_ia *ia, const struct dapl_agent *agent, struct dapl_cno **cno)
{
	struct dapl_cno *c = dapl_obj_alloc(sizeof(*c), ia);

	if (c == NULL)
		return DAPL_NO_MEMORY;
	c->waiters.cno = c;
	c->agent = *agent;
	TAILQ_INIT(&c->fired);
	TAILQ_INIT(&c->undelivered);
	dapl_obj_publish(c, DAPL_CNO);
	*cno = c;
	return DAPL_OK;
}

static void
nap(void)
{
	const struct timespec ts = { .tv_nsec = NAP_NS };

	nanosleep(&ts, NULL);
}

/* Is the caller inside the agent? */
static bool
is_agent(struct dapl_cno *cno)
{
	return __atomic_load_n(&cno->caller, __ATOMIC_RELAXED) == (uintptr_t)pthread_self();
}

void
dapl_cno_destroy(struct dapl_cno *cno)
{
	dapl_obj_retire(cno);
	/* The last dispatcher may still be taking its leave. */
	rte_spinlock_lock(&cno->head.ia->notify_lock);
	rte_spinlock_unlock(&cno->head.ia->notify_lock);
	dapl_waiters_retire(&cno->waiters);
	dapl_obj_free(cno);
}

enum dapl_status
dapl_cno_free(struct dapl_cno *cno)
{
	if (dapl_obj_in_use(cno) || is_agent(cno) ||
			__atomic_load_n(&cno->waiting, __ATOMIC_SEQ_CST) != 0)
		return DAPL_CNO_IN_USE;
	dapl_cno_destroy(cno);
	return DAPL_OK;
}

void
dapl_cno_abort(struct dapl_cno *cno)
{
	struct dapl_ia *ia = cno->head.ia;

	__atomic_store_n(&cno->aborted, true, __ATOMIC_SEQ_CST);
	rte_spinlock_lock(&ia->notify_lock);
	cno->orphaned++;
	dapl_waiters_ring(&cno->waiters);
	rte_spinlock_unlock(&ia->notify_lock);
	dapl_wake(NULL);
	while (__atomic_load_n(&cno->waiting, __ATOMIC_SEQ_CST) != 0)
		nap();
}

/* A call of the old agent that has begun is waited for. */
static bool
is_over(struct dapl_cno *cno, uint32_t calls)
{
	struct dapl_ia *ia = cno->head.ia;
	bool over;

	rte_spinlock_lock(&ia->notify_lock);
	over = cno->caller == 0 || cno->calls != calls;
	rte_spinlock_unlock(&ia->notify_lock);
	return over;
}

void
dapl_cno_set_agent(struct dapl_cno *cno, const struct dapl_agent *agent)
{
	struct dapl_ia *ia = cno->head.ia;
	uint32_t calls;

	rte_spinlock_lock(&ia->notify_lock);
	cno->agent = *agent;
	calls = cno->calls;
	rte_spinlock_unlock(&ia->notify_lock);
	while (!is_agent(cno) && !is_over(cno, calls))
		nap();
}

struct dapl_agent
dapl_cno_agent(struct dapl_cno *cno)
{
	struct dapl_ia *ia = cno->head.ia;
	struct dapl_agent agent;

	rte_spinlock_lock(&ia->notify_lock);
	agent = cno->agent;
	rte_spinlock_unlock(&ia->notify_lock);
	return agent;
}

/* Put a dispatcher that has notifications on the lists of its notification object, and ring. Under notify_lock. */
static void
enlist(struct dapl_evd *evd, bool was_fired, bool was_undelivered)
{
	struct dapl_cno *cno = evd->cno;

	if (cno == NULL || __atomic_load_n(&evd->disabled, __ATOMIC_RELAXED))
		return;
	if (evd->fired != 0 && !was_fired)
		TAILQ_INSERT_TAIL(&cno->fired, evd, fired_link);
	if (evd->undelivered != 0 && !was_undelivered)
		TAILQ_INSERT_TAIL(&cno->undelivered, evd, undelivered_link);
	if (evd->fired != 0 || evd->undelivered != 0)
		dapl_waiters_ring(&cno->waiters);
}

/* Its notifications stay counted, and can be had no more. Under notify_lock. */
static void
delist(struct dapl_evd *evd)
{
	struct dapl_cno *cno = evd->cno;

	if (cno == NULL || __atomic_load_n(&evd->disabled, __ATOMIC_RELAXED))
		return;
	if (evd->fired != 0)
		TAILQ_REMOVE(&cno->fired, evd, fired_link);
	if (evd->undelivered != 0)
		TAILQ_REMOVE(&cno->undelivered, evd, undelivered_link);
}

/* So many more notifications. Under notify_lock. */
static void
fire(struct dapl_evd *evd, uint32_t n)
{
	bool was_fired = evd->fired != 0, was_undelivered = evd->undelivered != 0;

	evd->fired = RTE_MIN(evd->fired + n, NOTIFICATIONS_MAX);
	if (evd->cno->agent.call != NULL)
		evd->undelivered = RTE_MIN(evd->undelivered + n, NOTIFICATIONS_MAX);
	enlist(evd, was_fired, was_undelivered);
}

void
dapl_evd_notify(struct dapl_evd *evd, uint32_t n)
{
	struct dapl_ia *ia = evd->head.ia;

	rte_spinlock_lock(&ia->notify_lock);
	/* A thread that waits on the dispatcher itself has it to itself. */
	if (__atomic_load_n(&evd->taker, __ATOMIC_RELAXED) == DAPL_TAKER_WAITER) {
		if (roce_cq_count(evd->cq) >= __atomic_load_n(&evd->threshold, __ATOMIC_RELAXED))
			dapl_waiters_ring(&evd->waiters);
	} else if (evd->cno != NULL) {
		/* Of those that somebody has taken already nobody needs to hear. */
		fire(evd, RTE_MIN(n, roce_cq_count(evd->cq)));
	}
	rte_spinlock_unlock(&ia->notify_lock);
}

struct dapl_evd *
dapl_cno_collect(struct dapl_cno *cno)
{
	struct dapl_evd *evd;

	while ((evd = TAILQ_FIRST(&cno->fired)) != NULL) {
		TAILQ_REMOVE(&cno->fired, evd, fired_link);
		/* Events that were taken meanwhile need no notification any more. */
		evd->fired = RTE_MIN(evd->fired, roce_cq_count(evd->cq));
		if (evd->fired == 0)
			continue;
		if (--evd->fired != 0)
			TAILQ_INSERT_TAIL(&cno->fired, evd, fired_link);
		break;
	}
	return evd;
}

/* Under notify_lock. */
static void
change_cno(struct dapl_evd *evd, struct dapl_cno *cno)
{
	struct dapl_cno *old = evd->cno;

	delist(evd);
	evd->cno = cno;
	if (old != NULL && cno != NULL) {
		enlist(evd, false, false);
		return;
	}
	evd->fired = 0;
	evd->undelivered = 0;
	/* The events that are there were not delivered. */
	if (cno != NULL)
		fire(evd, roce_cq_count(evd->cq));
}

void
dapl_evd_set_cno(struct dapl_evd *evd, struct dapl_cno *cno)
{
	struct dapl_ia *ia = evd->head.ia;
	struct dapl_cno *old = evd->cno;

	if (cno == old)
		return;
	dapl_obj_use(cno);
	/* Events from here on are delivered; those before are seen here. */
	if (old == NULL)
		roce_cq_add_waiter(evd->cq);
	rte_spinlock_lock(&ia->notify_lock);
	change_cno(evd, cno);
	rte_spinlock_unlock(&ia->notify_lock);
	if (cno == NULL)
		roce_cq_remove_waiter(evd->cq);
	dapl_obj_drop(old);
	dapl_wake(NULL);
}

void
dapl_evd_leave_cno(struct dapl_evd *evd)
{
	struct dapl_ia *ia = evd->head.ia;
	struct dapl_cno *cno = evd->cno;

	if (cno == NULL)
		return;
	rte_spinlock_lock(&ia->notify_lock);
	change_cno(evd, NULL);
	dapl_obj_drop(cno);
	if (!dapl_obj_in_use(cno) && !__atomic_load_n(&cno->aborted, __ATOMIC_RELAXED)) {
		cno->orphaned++;
		dapl_waiters_ring(&cno->waiters);
	}
	rte_spinlock_unlock(&ia->notify_lock);
	roce_cq_remove_waiter(evd->cq);
	dapl_wake(NULL);
}

struct dapl_cno *
dapl_evd_cno(struct dapl_evd *evd)
{
	struct dapl_ia *ia = evd->head.ia;
	struct dapl_cno *cno;

	rte_spinlock_lock(&ia->notify_lock);
	cno = evd->cno;
	rte_spinlock_unlock(&ia->notify_lock);
	return cno;
}

void
dapl_evd_set_enabled(struct dapl_evd *evd, bool enabled)
{
	struct dapl_ia *ia = evd->head.ia;

	rte_spinlock_lock(&ia->notify_lock);
	if (evd->disabled == enabled) {
		if (enabled) {
			__atomic_store_n(&evd->disabled, false, __ATOMIC_SEQ_CST);
			enlist(evd, false, false);
		} else {
			delist(evd);
			__atomic_store_n(&evd->disabled, true, __ATOMIC_SEQ_CST);
		}
	}
	rte_spinlock_unlock(&ia->notify_lock);
	dapl_wake(NULL);
}
