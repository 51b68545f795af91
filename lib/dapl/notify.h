/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_NOTIFY_H
#define DAPL_NOTIFY_H

/**
 * @file
 * Threads that sleep until something comes, and the list of those to be woken.
 */

#include <stdbool.h>

#include <sys/queue.h>

#include <rte_spinlock.h>

#include "dapl/eventcount.h"

struct dapl_cno;

/** Threads that sleep until something comes, as long as a list of those to be woken knows them. */
struct dapl_waiters {
	struct dapl_eventcount count;
	struct dapl_cno *cno; /**< whose they are; NULL: those of a dispatcher */
	bool listed;
	TAILQ_ENTRY(dapl_waiters) link;
	uint32_t spin_shift; /**< a wait spins for so many halvings of the longest time; atomic */
};

/** Those to be woken, of all adapters. */
struct dapl_rung {
	rte_spinlock_t lock; /**< innermost of all */
	TAILQ_HEAD(, dapl_waiters) list;
};

extern struct dapl_rung dapl_rung;

/** Something that makes waiters look again happened: wake them, at dapl_wake(). Under notify_lock, or whatever lock. */
void dapl_waiters_ring(struct dapl_waiters *waiters);
/** They are on their way out: nobody is about to wake them any more. */
void dapl_waiters_retire(struct dapl_waiters *waiters);
/** Wake who was rung for, call agents. Upcall of the device; without locks. A thread that polls the list of adapters: later. */
void dapl_wake(void *arg);

#endif
