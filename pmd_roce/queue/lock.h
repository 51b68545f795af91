/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_LOCK_H
#define ROCE_QUEUE_LOCK_H

/**
 * @file
 * The lock of an engine: for control, for a poll, and of all engines of a domain.
 *
 * A control call that waits for the lock keeps polls out; locks of several engines are taken in ascending index.
 */

#include <stdbool.h>

struct roce_domain;
struct roce_engine;

/** For control: pollers stand back until everybody who waits here was served. */
void roce_engine_lock(struct roce_engine *e);
/**
 * Makes every other running thread of the process pass a full memory barrier. From then on locks that one thread
 * takes again and again cost it no locked instruction (bias.h); without, as in the simulator, they all do.
 */
void roce_engine_use_barrier(void (*barrier)(void));
/**
 * For a poll. @return false: somebody works on the engine, or waits to; but not for ever: after so many refusals it waits for
 * a while. The caller who has it already is always refused.
 */
bool roce_engine_trylock(struct roce_engine *e);
/** For those who look again and again until nobody works on the engine, and have a reason to give up. */
bool roce_engine_trylock_once(struct roce_engine *e);
/** May call wake(), so it is for the last lock that the caller has. */
void roce_engine_unlock(struct roce_engine *e);
/** For the others. */
void roce_engine_unlock_inner(struct roce_engine *e);
/** The part of roce_engine_unlock() behind the lock, for a thread that had other locks yet when it released this one. */
void roce_engine_wake(struct roce_engine *e);

/** Lock and unlock every engine once: whoever works under a lock has left what was unlinked before. */
void roce_domain_grace(struct roce_domain *domain);

/** Lock every engine, in ascending order; unlock them. */
void roce_domain_lock(struct roce_domain *domain);
void roce_domain_unlock(struct roce_domain *domain);

#endif
