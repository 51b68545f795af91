/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A waiter polls the devices that stand still otherwise, first in a hurry,
 * then between sleeps; with service lcores he only sleeps. eventcount.c is the only file that blocks.
 *
 * While he polls signals are held back, but for a moment now and then; while he sleeps they are not. A handler that ran in
 * either ends the wait (signals.h).
 */

#include <rte_common.h>
#include <rte_pause.h>

#include "dapl/eventcount.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/ia_list.h"
#include "dapl/signals.h"
#include "dapl/status.h"
#include "dapl/wait.h"
#include "dapl/wait_loop.h"
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

#define HOLD_US 50u /**< signals are held back for, at most, and for one poll: a system call each */

/* Threads that sleep between two polls of all adapters: the progress thread leaves those to them. */
static unsigned int sleepers; /* atomic */

/* As many ticks as @p us microseconds, at least one for any but zero; no overflow for 32-bit arguments. */
static uint64_t
ticks_of(uint64_t hz, uint32_t us)
{
	return us / US_PER_S * hz + (us % US_PER_S * hz + US_PER_S - 1) / US_PER_S;
}

/* Let this device work, and now and then the others: the peer may live in this process. */
static bool
poll_once(struct dapl_wait *w)
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
learn(struct dapl_wait *w, uint64_t now)
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
is_told_of_all(const struct dapl_wait *w)
{
	return roce_device_tells_posts(w->ia->device) && dapl_ia_is_alone(w->ia);
}

/* How long nobody needs this thread, which @p polls adapters between its sleeps; 0: it does not sleep at all. */
static uint64_t
may_sleep(const struct dapl_wait *w, bool polls, uint64_t now)
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
 * no longer. @return as dapl_eventcount_sleep_on().
 */
static bool
sleep_for(struct dapl_wait *w, uint32_t seen, uint64_t ns)
{
	bool undisturbed = true;
	bool wants = ns >= INTERRUPT_MIN_NS || roce_device_tells_posts(w->ia->device);
	int fd = -1;

	if (wants && dapl_ia_must_poll(w->ia))
		fd = roce_device_rx_arm(w->ia->device);
	/* A frame that came before the device was armed raises no interrupt. */
	if (fd >= 0 && roce_device_poll(w->ia->device) > 0)
		learn(w, roce_device_now(w->ia->device));
	else
		undisturbed = dapl_eventcount_sleep_on(&w->waiters->count, seen, ns, fd, &w->bed);
	if (fd >= 0)
		roce_device_rx_disarm(w->ia->device);
	return undisturbed;
}

/* No frame moved: spin for a while, then sleep. @return as find(). */
static enum dapl_status
idle(struct dapl_wait *w, uint64_t now)
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

/* Has a handler of a signal run, at latest when it was time to let them in? */
static bool
is_interrupted(struct dapl_wait *w, uint64_t now)
{
	bool over = now >= w->end;

	if (w->signals == NULL || (!over && now - w->let_in < ticks_of(w->hz, HOLD_US)))
		return false;
	w->let_in = now;
	return dapl_signals_let_in(w->signals);
}

/* @return as find(); DAPL_TIMEOUT; DAPL_INTERRUPTED. */
static enum dapl_status
wait_on(struct dapl_wait *w, uint32_t timeout_us)
{
	enum dapl_status status;
	bool moved;

	w->hz = roce_device_hz(w->ia->device);
	w->still = roce_device_now(w->ia->device);
	w->let_in = w->still;
	w->spin = ticks_of(w->hz, SPIN_US);
	w->end = timeout_us == DAPL_INFINITE ? UINT64_MAX : w->still + ticks_of(w->hz, timeout_us);
	for (;;) {
		uint64_t now;

		/* An event that was taken has to be handed over: it comes before a signal. */
		status = w->find(w);
		if (status != DAPL_QUEUE_EMPTY)
			return status;
		moved = poll_once(w);
		now = roce_device_now(w->ia->device);
		if (is_interrupted(w, now))
			return DAPL_INTERRUPTED;
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

void
dapl_wait_begin(struct dapl_wait *w, struct dapl_signals *signals, uint32_t timeout_us)
{
	w->bed.bell = -1;
	if (timeout_us == 0)
		return;
	dapl_signals_hold(signals);
	w->signals = signals;
	w->bed.blocked = &signals->blocked;
}

enum dapl_status
dapl_wait_for(struct dapl_wait *w, uint32_t timeout_us)
{
	enum dapl_status status = wait_on(w, timeout_us);

	learn(w, roce_device_now(w->ia->device));
	dapl_bed_leave(&w->bed);
	return status;
}

void
dapl_wait_end(const struct dapl_wait *w)
{
	if (w->signals != NULL)
		dapl_signals_release(w->signals);
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
