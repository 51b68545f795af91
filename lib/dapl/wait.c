/* SPDX-License-Identifier: BSD-3-Clause */

/* The only file that blocks. */

#include <errno.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "dapl/dapl.h"

#define SPINS       2000u /**< idle turns before the first nap */
#define TURN_OTHERS 16u   /**< idle turns between two looks at the other adapters */
#define NAP_NS      50000u

/** A wait in progress; times are ticks of the device. */
struct wait {
	struct dapl_evd *evd;
	uint32_t threshold;
	uint64_t hz;
	uint64_t end; /**< UINT64_MAX: never */
	unsigned int idle;
	uint32_t seen; /**< events that were looked at and were to wake nobody */
	bool woken;    /**< since the wait began an event came that was */
};

/* As many ticks as @p us microseconds, at least one for any but zero; no overflow for 32-bit arguments. */
static uint64_t
ticks_of(uint64_t hz, uint32_t us)
{
	return us / US_PER_S * hz + (us % US_PER_S * hz + US_PER_S - 1) / US_PER_S;
}

/* Is an event one that unblocks a waiter? A failure always is: what comes after it fails, too. */
static bool
notifies(const struct roce_event *event, uint8_t notify)
{
	if (event->status != IBV_WC_SUCCESS || event->kind > ROCE_EVENT_BIND)
		return true;
	if (notify == DAPL_NOTIFY_SOLICITED)
		return (event->flags & ROCE_EVENT_SOLICITED) != 0;
	return (event->flags & ROCE_EVENT_QUIET) == 0;
}

/* Look at what came since the last look. */
static bool
is_woken(struct wait *w)
{
	uint8_t notify = __atomic_load_n(&w->evd->notify, __ATOMIC_RELAXED);
	struct roce_event event;

	if (notify == DAPL_NOTIFY_ALL)
		return roce_cq_count(w->evd->cq) >= w->threshold;
	for (; !w->woken && roce_cq_look(w->evd->cq, w->seen, &event); w->seen++)
		w->woken = notifies(&event, notify);
	return w->woken;
}

static bool
take(const struct wait *w, struct roce_event *event, uint32_t *more)
{
	uint32_t count = roce_cq_count(w->evd->cq);

	*more = count;
	if (count < w->threshold)
		return false;
	roce_cq_poll(w->evd->cq, event, 1);
	*more = count - 1;
	return true;
}

/* Let this device work, and now and then the others: the peer may live in this process. */
static bool
turn(struct wait *w)
{
	bool moved = !w->evd->serviced && roce_device_poll(w->evd->device) > 0;

	if (w->idle % TURN_OTHERS == 0 || w->idle >= SPINS)
		dapl_ia_turn_others(w->evd->head.ia);
	return moved;
}

/**
 * Sleep for a short while, or not at all when the device or the caller wants to be served before.
 * @return false: a signal came.
 */
static bool
nap(const struct wait *w, uint64_t now)
{
	uint64_t until = RTE_MIN(w->end, roce_device_deadline(w->evd->device));
	uint64_t ns = NAP_NS;
	struct timespec ts;

	if (until <= now)
		return true;
	/* Below a second only, so that the product cannot overflow. */
	if (until - now < w->hz)
		ns = RTE_MIN(ns, (until - now) * NS_PER_S / w->hz);
	ts = (struct timespec){ .tv_nsec = (long)ns };
	return nanosleep(&ts, NULL) == 0 || errno != EINTR;
}

/* Nothing moved: spin for a while, then nap. @return false: a signal came. */
static bool
idle(struct wait *w, uint64_t now)
{
	if (++w->idle < SPINS) {
		rte_pause();
		return true;
	}
	w->idle = SPINS;
	return is_woken(w) || nap(w, now);
}

/* Nothing of the dispatcher is touched before the first look at the flag: it may be on its way out. */
static enum dapl_status
wait_for(struct wait *w, uint32_t timeout_us, struct roce_event *event, uint32_t *more)
{
	if (__atomic_load_n(&w->evd->aborted, __ATOMIC_SEQ_CST))
		return DAPL_ABORT;
	w->hz = roce_device_hz(w->evd->device);
	if (timeout_us != DAPL_INFINITE)
		w->end = roce_device_now(w->evd->device) + ticks_of(w->hz, timeout_us);
	if (__atomic_load_n(&w->evd->unwaitable, __ATOMIC_ACQUIRE))
		return DAPL_EVD_UNWAITABLE;
	/* Nobody sleeps yet: whatever is there will do. */
	if (take(w, event, more))
		return DAPL_OK;
	for (;;) {
		uint64_t now;
		bool moved;

		if (__atomic_load_n(&w->evd->aborted, __ATOMIC_ACQUIRE))
			return DAPL_ABORT;
		if (__atomic_load_n(&w->evd->unwaitable, __ATOMIC_ACQUIRE))
			return DAPL_EVD_UNWAITABLE;
		if (is_woken(w) && take(w, event, more))
			return DAPL_OK;
		moved = turn(w);
		now = roce_device_now(w->evd->device);
		if (now >= w->end)
			return take(w, event, more) ? DAPL_OK : DAPL_TIMEOUT;
		if (moved)
			w->idle = 0;
		else if (!idle(w, now))
			return DAPL_INTERRUPTED;
	}
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
	struct wait w = { .evd = evd, .threshold = threshold, .end = UINT64_MAX };
	enum dapl_status status = judge_threshold(evd, threshold);

	if (status != DAPL_OK)
		return status;
	if (!dapl_evd_take_over(evd, DAPL_TAKER_WAITER))
		return DAPL_EVD_WAITER;
	status = wait_for(&w, timeout_us, event, more);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_RELEASE);
	return status;
}

void
dapl_evd_set_waitable(struct dapl_evd *evd, bool waitable)
{
	/* Who sleeps, sleeps for a moment only, and looks then. */
	__atomic_store_n(&evd->unwaitable, !waitable, __ATOMIC_SEQ_CST);
}

void
dapl_evd_abort(struct dapl_evd *evd)
{
	const struct timespec ts = { .tv_nsec = NAP_NS };

	__atomic_store_n(&evd->aborted, true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&evd->taker, __ATOMIC_SEQ_CST) != DAPL_TAKER_NONE)
		nanosleep(&ts, NULL);
}
