/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Waiting, for events and for notifications. A waiter polls the devices that stand still otherwise, first in a hurry,
 * then between sleeps; with service lcores he only sleeps. eventcount.c is the only file that blocks.
 */

#include <pthread.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/eventcount.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/ia_list.h"
#include "dapl/notify.h"
#include "dapl/status.h"
#include "dapl/wait.h"
#include "engine/verbs.h"
#include "device/user.h"
#include "roce/device.h"

#ifndef SPIN_US
#define SPIN_US \
	200u /**< from the last frame to the first sleep, at most; test/model has no time for it */
#endif
#define SPIN_SHIFT_MAX 5u /**< halvings of that at most */

/** Idle polls between two polls of the other adapters: more often than in evd.c, since the caller only waits. */
#define POLL_OTHERS 16u

/* How long to sleep between two polls: a part of the time for which nothing has moved, within limits. */
#define NAP_PART   16u
#define NAP_MIN_NS UINT64_C(50000)
#define NAP_MAX_NS UINT64_C(2000000)

/* From here on a nap is long enough to have the device end it, where it can. */
#define INTERRUPT_MIN_NS UINT64_C(200000)

#define SLEEP_MAX_S UINT64_C(3600) /**< without a limit: at once again */

/* Threads that sleep between two polls of all adapters: the progress thread leaves those to them. */
static unsigned int sleepers; /* atomic */

/** A wait in progress; times are ticks of the device. */
struct wait {
	struct dapl_ia *ia;
	/** Their eventcount advances when find() may find something that it did not find before. */
	struct dapl_waiters *waiters;
	/** @return DAPL_QUEUE_EMPTY: go on waiting; anything else: the wait is over. */
	enum dapl_status (*find)(struct wait *w);
	/** From now on the eventcount advances. */
	void (*arm)(struct wait *w);
	uint64_t hz;
	uint64_t end;   /**< UINT64_MAX: never */
	uint64_t spin;  /**< the longest time without a frame before it sleeps */
	uint64_t still; /**< since then nothing has moved */
	bool slept;     /**< since then */
	unsigned int idle;
};

/* As many ticks as @p us microseconds, at least one for any but zero; no overflow for 32-bit arguments. */
static uint64_t
ticks_of(uint64_t hz, uint32_t us)
{
	return us / US_PER_S * hz + (us % US_PER_S * hz + US_PER_S - 1) / US_PER_S;
}

/* Let this device work, and now and then the others: the peer may live in this process. */
static bool
poll_once(struct wait *w)
{
	bool moved;

	dapl_ia_polled(w->ia);
	moved = !w->ia->attr.serviced && roce_device_poll(w->ia->device) > 0;
	if (w->idle % POLL_OTHERS == 0 || w->slept)
		dapl_ia_poll_others(w->ia);
	return moved;
}

/* No overflow, whatever the clock says. */
static uint64_t
ns_of(uint64_t hz, uint64_t ticks)
{
	if (ticks / hz >= SLEEP_MAX_S)
		return SLEEP_MAX_S * NS_PER_S;
	return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

/*
 * Something has moved, or the wait is over. A sleep that was shorter than the longest spin cost more than spinning, so the next
 * wait spins for all of that time; a longer one would have been spun for in vain, so the next one spins for half of what it did.
 */
static void
learn(struct wait *w, uint64_t now)
{
	uint32_t shift = __atomic_load_n(&w->waiters->spin_shift, __ATOMIC_RELAXED);

	if (w->slept) {
		shift = now - w->still <= w->spin ? 0 : RTE_MIN(shift + 1, SPIN_SHIFT_MAX);
		__atomic_store_n(&w->waiters->spin_shift, shift, __ATOMIC_RELAXED);
	}
	w->slept = false;
	w->idle = 0;
	w->still = now;
}

/* Does the device end a sleep for all that this thread is needed for, but for the passing of time? */
static bool
is_told_of_all(const struct wait *w)
{
	return roce_device_tells_posts(w->ia->device) && dapl_ia_is_alone(w->ia);
}

/* How long nobody needs this thread, which @p polls adapters between its sleeps; 0: it does not sleep at all. */
static uint64_t
may_sleep(const struct wait *w, bool polls, uint64_t now)
{
	uint64_t until = w->end, nap;

	if (!polls)
		return ns_of(w->hz, until - now);
	until = RTE_MIN(until, roce_device_deadline(w->ia->device));
	if (until <= now)
		return 0;
	nap = is_told_of_all(w) ? NAP_MAX_NS : ns_of(w->hz, now - w->still) / NAP_PART;
	return RTE_MIN(ns_of(w->hz, until - now), RTE_MAX(NAP_MIN_NS, RTE_MIN(nap, NAP_MAX_NS)));
}

/*
 * Sleep, and where the device tells of frames, until one comes. One that does not tell of posts of other threads makes a nap
 * no longer. @return as dapl_eventcount_sleep().
 */
static bool
sleep_for(struct wait *w, uint32_t seen, uint64_t ns)
{
	bool undisturbed = true;
	bool wants = ns >= INTERRUPT_MIN_NS || roce_device_tells_posts(w->ia->device);
	int fd = -1, cancel;

	if (wants && dapl_ia_must_poll(w->ia))
		fd = roce_device_rx_arm(w->ia->device);
	if (fd < 0)
		return dapl_eventcount_sleep(&w->waiters->count, seen, ns);
	/* Others know of this sleeper by its stack: it must not end in poll(), where a thread may be cancelled. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* A frame that came before the device was armed raises no interrupt. */
	if (roce_device_poll(w->ia->device) > 0) {
		learn(w, roce_device_now(w->ia->device));
	} else {
		undisturbed = dapl_eventcount_sleep_on(&w->waiters->count, seen, ns, fd);
	}
	roce_device_rx_disarm(w->ia->device);
	pthread_setcancelstate(cancel, NULL);
	return undisturbed;
}

/* No frame moved: spin for a while, then sleep. @return as find(). */
static enum dapl_status
idle(struct wait *w, uint64_t now)
{
	enum dapl_status status = DAPL_QUEUE_EMPTY;
	uint32_t seen;
	bool polls;
	uint64_t ns;

	w->idle++;
	if (now - w->still < w->spin >>
			__atomic_load_n(&w->waiters->spin_shift, __ATOMIC_RELAXED)) {
		rte_pause();
		return DAPL_QUEUE_EMPTY;
	}
	w->slept = true;
	polls = dapl_ia_must_poll(w->ia);
	ns = may_sleep(w, polls, now);
	if (ns == 0)
		return DAPL_QUEUE_EMPTY;
	w->arm(w);
	seen = dapl_eventcount_prepare(&w->waiters->count);
	status = w->find(w);
	if (status == DAPL_QUEUE_EMPTY) {
		/* With service lcores alone it sleeps for long, and polls no adapter that is opened meanwhile. */
		__atomic_fetch_add(&sleepers, polls, __ATOMIC_RELAXED);
		if (!sleep_for(w, seen, ns))
			status = DAPL_INTERRUPTED;
		__atomic_fetch_sub(&sleepers, polls, __ATOMIC_RELAXED);
	}
	dapl_eventcount_leave(&w->waiters->count);
	return status;
}

/* @return as find(); DAPL_TIMEOUT; DAPL_INTERRUPTED. */
static enum dapl_status
wait_on(struct wait *w, uint32_t timeout_us)
{
	enum dapl_status status;
	bool moved;

	w->hz = roce_device_hz(w->ia->device);
	w->still = roce_device_now(w->ia->device);
	w->spin = ticks_of(w->hz, SPIN_US);
	w->end = timeout_us == DAPL_INFINITE ? UINT64_MAX : w->still + ticks_of(w->hz, timeout_us);
	for (;;) {
		uint64_t now;

		status = w->find(w);
		if (status != DAPL_QUEUE_EMPTY)
			return status;
		moved = poll_once(w);
		now = roce_device_now(w->ia->device);
		if (now >= w->end)
			return DAPL_TIMEOUT;
		if (moved) {
			learn(w, now);
			continue;
		}
		status = idle(w, now);
		if (status != DAPL_QUEUE_EMPTY)
			return status;
	}
}

static enum dapl_status
wait_for(struct wait *w, uint32_t timeout_us)
{
	enum dapl_status status = wait_on(w, timeout_us);

	learn(w, roce_device_now(w->ia->device));
	return status;
}

/** A wait for events. */
struct evd_wait {
	struct wait w; /**< must be first */
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
find_event(struct wait *w)
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
arm_events(struct wait *w)
{
	struct evd_wait *e = (struct evd_wait *)w;

	if (!e->armed)
		roce_cq_add_waiter(e->evd->cq);
	e->armed = true;
}

/* No thread sleeps yet: any event will do. @return as find(); DAPL_BAD_THRESHOLD. */
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
	/* A thread that sees a waiter sees how many events it waits for. */
	__atomic_store_n(&evd->threshold, threshold, __ATOMIC_RELAXED);
	__atomic_store_n(&evd->taker, DAPL_TAKER_WAITER, __ATOMIC_SEQ_CST);
	status = enter(&e);
	if (status == DAPL_QUEUE_EMPTY)
		status = wait_for(&e.w, timeout_us);
	return leave(&e, status, more);
}

bool
dapl_wait_sleeps(void)
{
	return __atomic_load_n(&sleepers, __ATOMIC_RELAXED) != 0;
}

void
dapl_wait_forget_parent(void)
{
	sleepers = 0;
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
	const struct timespec ts = { .tv_nsec = (long)NAP_MIN_NS };

	__atomic_store_n(&evd->aborted, true, __ATOMIC_SEQ_CST);
	dapl_waiters_ring(&evd->waiters);
	dapl_wake(NULL);
	while (!dapl_evd_take_over(evd, DAPL_TAKER_RESIZE))
		nanosleep(&ts, NULL);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_RELEASE);
}

/** A wait for a notification. */
struct cno_wait {
	struct wait w; /**< must be first */
	struct dapl_cno *cno;
	uint32_t orphaned; /**< how often it was, when the wait began */
	struct dapl_evd *evd;
};

static enum dapl_status
find_notification(struct wait *w)
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
arm_notifications(struct wait *w)
{
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
		status = wait_for(&c.w, timeout_us);
		if (status == DAPL_TIMEOUT)
			status = find_notification(&c.w);
	}
	__atomic_fetch_sub(&cno->waiting, 1, __ATOMIC_SEQ_CST);
	*evd = c.evd;
	return status == DAPL_QUEUE_EMPTY ? DAPL_CNO_TIMEOUT : status;
}
