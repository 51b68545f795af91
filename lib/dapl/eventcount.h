/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EVENTCOUNT_H
#define DAPL_EVENTCOUNT_H

/**
 * @file
 * Eventcount: sleep until something has happened, without a lock around what that is (D. P. Reed and R. K. Kanodia,
 * "Synchronization with Eventcounts and Sequencers", 1979; the word is one of futex(2)).
 *
 * The waiter: prepare, look, and when there is nothing, sleep; then leave. The producer: make it visible,
 * advance, and wake when that says so. Either the look finds it, or the sleep ends.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct dapl_eventcount {
	uint32_t count;    /**< things that happened; atomic */
	uint32_t sleepers; /**< threads between prepare and leave; atomic */
};

/** About to look, and to sleep for want of anything. @return what dapl_eventcount_sleep() wants. */
static inline uint32_t
dapl_eventcount_prepare(struct dapl_eventcount *e)
{
	__atomic_fetch_add(&e->sleepers, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&e->count, __ATOMIC_SEQ_CST);
}

static inline void
dapl_eventcount_leave(struct dapl_eventcount *e)
{
	__atomic_fetch_sub(&e->sleepers, 1, __ATOMIC_RELAXED);
}

/** Something happened. Any thread. @return true: somebody may sleep, dapl_eventcount_wake() must follow. */
static inline bool
dapl_eventcount_advance(struct dapl_eventcount *e)
{
	__atomic_fetch_add(&e->count, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&e->sleepers, __ATOMIC_SEQ_CST) != 0;
}

/**
 * Sleep until the count is not @p seen, at most @p ns; deaf to signals, so for threads that have them blocked. May end early.
 * All sleepers of one eventcount sleep by this call, or all by the other.
 */
void dapl_eventcount_sleep(struct dapl_eventcount *e, uint32_t seen, uint64_t ns);

/** One thread's, for any number of sleeps. */
struct dapl_bed {
	int bell;                /**< what wakes it, an eventfd(2); -1: it has not slept yet */
	const sigset_t *blocked; /**< the thread's signal mask while it sleeps; as pselect(2) would have it */
};

/**
 * The same for a thread that signals may disturb; and @p readable ends it when it is so, if that is a descriptor and not -1.
 * Where there is no descriptor left for a bell it is a nap.
 * @return false: a handler of a signal ran, in this thread and in this sleep.
 */
bool dapl_eventcount_sleep_on(const struct dapl_eventcount *e, uint32_t seen, uint64_t ns,
		int readable, struct dapl_bed *bed);

/** It sleeps no more. */
void dapl_bed_leave(struct dapl_bed *bed);

/** Wake all sleepers. Only the address counts: the eventcount may be gone. */
void dapl_eventcount_wake(const struct dapl_eventcount *e);

#endif
