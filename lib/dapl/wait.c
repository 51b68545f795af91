/* SPDX-License-Identifier: BSD-3-Clause */

/* Waiting, for events and for notifications: the ends of a wait. wait_loop.c has the time between. */

#include <time.h>

#include <rte_common.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/notify.h"
#include "dapl/signals.h"
#include "dapl/status.h"
#include "dapl/wait.h"
#include "dapl/wait_loop.h"
#include "engine/verbs.h"
#include "device/user.h"

#define NAP_NS 50000 /**< between two looks whether a waiter has left */

/** A wait for events. */
struct evd_wait {
	struct dapl_wait w; /**< must be first */
	struct dapl_evd *evd;
	uint32_t threshold;
	uint32_t seen; /**< events that were looked at and were to wake nobody */
	bool awake;    /**< an event that was to wake has been seen */
	bool armed;
	struct roce_event *event;
};

/* Look at what came since the last look. */
static bool
is_woken(struct evd_wait *e)
{
	uint8_t notify = __atomic_load_n(&e->evd->notify, __ATOMIC_RELAXED);
	struct roce_event event;

	if (notify == DAPL_NOTIFY_ALL)
		return true;
	for (; !e->awake && roce_cq_look(e->evd->cq, e->seen, &event); e->seen++)
		e->awake = roce_event_wakes(&event, notify == DAPL_NOTIFY_SOLICITED);
	return e->awake;
}

static bool
take(const struct evd_wait *e)
{
	return roce_cq_count(e->evd->cq) >= e->threshold &&
			roce_cq_poll(e->evd->cq, e->event, 1) > 0;
}

static enum dapl_status
find_event(struct dapl_wait *w)
{
	struct evd_wait *e = (struct evd_wait *)w;
	enum dapl_status status = DAPL_QUEUE_EMPTY;

	if (__atomic_load_n(&e->evd->aborted, __ATOMIC_SEQ_CST))
		return DAPL_ABORT;
	if (__atomic_load_n(&e->evd->unwaitable, __ATOMIC_ACQUIRE))
		return DAPL_EVD_UNWAITABLE;
	/* Between two looks the ring may be exchanged. */
	rte_spinlock_lock(&e->evd->waiter_lock);
	if (is_woken(e) && take(e))
		status = DAPL_OK;
	rte_spinlock_unlock(&e->evd->waiter_lock);
	return status;
}

static void
arm_events(struct dapl_wait *w)
{
	struct evd_wait *e = (struct evd_wait *)w;

	if (!e->armed)
		roce_cq_add_waiter(e->evd->cq);
	e->armed = true;
}

/* The caller does not wait yet: any event will do. @return as find(); DAPL_BAD_THRESHOLD. */
static enum dapl_status
enter(const struct evd_wait *e)
{
	enum dapl_status status = DAPL_QUEUE_EMPTY;

	if (__atomic_load_n(&e->evd->unwaitable, __ATOMIC_ACQUIRE))
		return DAPL_EVD_UNWAITABLE;
	rte_spinlock_lock(&e->evd->waiter_lock);
	if (e->threshold > roce_cq_depth(e->evd->cq))
		status = DAPL_BAD_THRESHOLD;
	else if (take(e))
		status = DAPL_OK;
	rte_spinlock_unlock(&e->evd->waiter_lock);
	return status;
}

/*
 * From here on the notification object hears of events: of each that is not counted here. When the time was over
 * what is there is taken, to wake or not.
 */
static enum dapl_status
leave(const struct evd_wait *e, enum dapl_status status, uint32_t *more)
{
	struct dapl_evd *evd = e->evd;
	struct dapl_ia *ia = evd->head.ia;

	if (e->armed)
		roce_cq_remove_waiter(evd->cq);
	rte_spinlock_lock(&evd->waiter_lock);
	rte_spinlock_lock(&ia->notify_lock);
	if (status == DAPL_TIMEOUT && take(e))
		status = DAPL_OK;
	*more = roce_cq_count(evd->cq);
	__atomic_store_n(&evd->threshold, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_SEQ_CST);
	rte_spinlock_unlock(&ia->notify_lock);
	rte_spinlock_unlock(&evd->waiter_lock);
	return status;
}

/* Thresholds and notifications do not go together. */
static enum dapl_status
judge_threshold(const struct dapl_evd *evd, uint32_t threshold)
{
	if (likely(threshold == 1))
		return DAPL_OK;
	switch (__atomic_load_n(&evd->notify, __ATOMIC_RELAXED)) {
	case DAPL_NOTIFY_SOLICITED:
		return DAPL_EVD_SOLICITED;
	case DAPL_NOTIFY_UNSIGNALLED:
		return DAPL_EVD_UNSIGNALLED;
	default:
		return DAPL_OK;
	}
}

/* There was no event. A thread that sees a waiter sees how many events it waits for, and may send it a signal. */
static __rte_noinline enum dapl_status
wait_for_event(struct evd_wait *e, uint32_t timeout_us, uint32_t *more)
{
	struct dapl_signals signals;
	enum dapl_status status;

	dapl_wait_begin(&e->w, &signals, timeout_us);
	__atomic_store_n(&e->evd->threshold, e->threshold, __ATOMIC_RELAXED);
	__atomic_store_n(&e->evd->taker, DAPL_TAKER_WAITER, __ATOMIC_SEQ_CST);
	status = leave(e, dapl_wait_for(&e->w, timeout_us), more);
	dapl_wait_end(&e->w);
	return status;
}

enum dapl_status
dapl_evd_wait(struct dapl_evd *evd, uint32_t timeout_us, uint32_t threshold,
		struct roce_event *event, uint32_t *more)
{
	struct evd_wait e = {
		.w = { .ia = evd->head.ia,
				.waiters = &evd->waiters,
				.find = find_event,
				.arm = arm_events },
		.evd = evd,
		.threshold = threshold,
		.event = event,
	};
	enum dapl_status status = judge_threshold(evd, threshold);

	if (status != DAPL_OK)
		return status;
	if (!dapl_evd_take_over(evd, DAPL_TAKER_ENTRY))
		return DAPL_EVD_WAITER;
	/* The dispatcher is not touched any more when it is on its way out. */
	if (__atomic_load_n(&evd->aborted, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_SEQ_CST);
		return DAPL_ABORT;
	}
	status = enter(&e);
	if (status == DAPL_QUEUE_EMPTY)
		return wait_for_event(&e, timeout_us, more);
	return leave(&e, status, more);
}

void
dapl_evd_set_waitable(struct dapl_evd *evd, bool waitable)
{
	__atomic_store_n(&evd->unwaitable, !waitable, __ATOMIC_SEQ_CST);
	dapl_waiters_ring(&evd->waiters);
	dapl_wake(NULL);
}

void
dapl_evd_abort(struct dapl_evd *evd)
{
	const struct timespec ts = { .tv_nsec = NAP_NS };

	__atomic_store_n(&evd->aborted, true, __ATOMIC_SEQ_CST);
	dapl_waiters_ring(&evd->waiters);
	dapl_wake(NULL);
	while (!dapl_evd_take_over(evd, DAPL_TAKER_RESIZE))
		nanosleep(&ts, NULL);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_RELEASE);
}

/** A wait for a notification. */
struct cno_wait {
	struct dapl_wait w; /**< must be first */
	struct dapl_cno *cno;
	uint32_t orphaned; /**< how often it was, when the wait began */
	struct dapl_evd *evd;
};

static enum dapl_status
find_notification(struct dapl_wait *w)
{
	struct cno_wait *c = (struct cno_wait *)w;
	bool over;

	if (__atomic_load_n(&c->cno->aborted, __ATOMIC_SEQ_CST))
		return DAPL_OK;
	rte_spinlock_lock(&w->ia->notify_lock);
	c->evd = dapl_cno_collect(c->cno);
	over = c->evd != NULL || c->cno->orphaned != c->orphaned;
	rte_spinlock_unlock(&w->ia->notify_lock);
	return over ? DAPL_OK : DAPL_QUEUE_EMPTY;
}

/* The completion queues of its dispatchers are armed all the time. */
static void
arm_notifications(struct dapl_wait *w)
{
}

/* There was no notification. */
static enum dapl_status
wait_for_notification(struct cno_wait *c, uint32_t timeout_us)
{
	struct dapl_signals signals;
	enum dapl_status status;

	dapl_wait_begin(&c->w, &signals, timeout_us);
	status = dapl_wait_for(&c->w, timeout_us);
	if (status == DAPL_TIMEOUT)
		status = find_notification(&c->w);
	dapl_wait_end(&c->w);
	return status;
}

enum dapl_status
dapl_cno_wait(struct dapl_cno *cno, uint32_t timeout_us, struct dapl_evd **evd)
{
	struct cno_wait c = {
		.w = { .ia = cno->head.ia,
				.waiters = &cno->waiters,
				.find = find_notification,
				.arm = arm_notifications },
		.cno = cno,
	};
	enum dapl_status status = DAPL_OK;

	/* Before the first look at the flag: dapl_cno_abort() has raised it, or waits for this thread. */
	__atomic_fetch_add(&cno->waiting, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&cno->aborted, __ATOMIC_SEQ_CST)) {
		rte_spinlock_lock(&c.w.ia->notify_lock);
		c.orphaned = cno->orphaned;
		rte_spinlock_unlock(&c.w.ia->notify_lock);
		status = find_notification(&c.w);
		if (status == DAPL_QUEUE_EMPTY)
			status = wait_for_notification(&c, timeout_us);
	}
	__atomic_fetch_sub(&cno->waiting, 1, __ATOMIC_SEQ_CST);
	*evd = c.evd;
	return status == DAPL_QUEUE_EMPTY ? DAPL_CNO_TIMEOUT : status;
}
