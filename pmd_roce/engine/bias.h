/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_BIAS_H
#define ROCE_ENGINE_BIAS_H

/**
 * @file
 * A lock that leans towards one thread: who has taken it many times in a row owns it, and from then on enters and
 * leaves by plain stores. A locked instruction costs as much as fifty plain ones, and nearly every queue is used by one
 * thread only.
 *
 *   owner:    inside = 1, then look whether it still owns         (program order only)
 *   another:  takes the spinlock, owner = 0, barrier, then waits until inside is 0
 *
 * The barrier makes every running thread of the process pass a full barrier (membarrier(2)): so either the owner sees
 * that it owns no longer, or the other sees that it is inside. Where the system has no such barrier, and in the
 * simulator, nobody ever becomes owner and only the spinlock is left. A lock that was taken away leans again after twice as
 * many turns in a row: locks that threads really share settle on the spinlock.
 *
 * Not for signal handlers, and not recursive, like any spinlock.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

struct roce_bias {
	uintptr_t owner; /**< the thread; 0: nobody. Written under the spinlock; atomic */
	uint32_t inside; /**< the owner is; written by it alone; atomic */
	uint32_t patience; /**< times in a row that make an owner; 0: ROCE_BIAS_PATIENCE. Under the spinlock. */
	uintptr_t last; /**< who had the spinlock last; under it */
	uint32_t run;   /**< and how often in a row */
};

#define ROCE_BIAS_PATIENCE     256u
#define ROCE_BIAS_PATIENCE_MAX (1u << 20)

/** The calling thread: never 0, and nobody else's as long as it lives. */
#ifndef roce_bias_self
static inline uintptr_t
roce_bias_self(void)
{
#if defined(__x86_64__)
	uintptr_t self;

	/* What the C library's thread pointer points to: itself (System V ABI, ELF handling for thread-local storage). */
	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}
#endif

/** Enter as the owner. @return true: roce_bias_leave() must follow; false: take the spinlock, then roce_bias_take(). */
static inline bool
roce_bias_enter(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();

	if (unlikely(__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) != self))
		return false;
	__atomic_store_n(&bias->inside, 1, __ATOMIC_RELAXED);
	/* The other side's barrier does the rest. */
	rte_compiler_barrier();
	if (likely(__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) == self))
		return true;
	__atomic_store_n(&bias->inside, 0, __ATOMIC_RELEASE);
	return false;
}

static inline void
roce_bias_leave(struct roce_bias *bias)
{
	__atomic_store_n(&bias->inside, 0, __ATOMIC_RELEASE);
}

/** Nobody owns it any more, and nobody is inside: the spinlock is all. Under the spinlock; not from inside. */
void roce_bias_revoke(struct roce_bias *bias);

/** The caller has the spinlock: make it all there is, for now. */
static inline void
roce_bias_take(struct roce_bias *bias)
{
	if (unlikely(__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) != 0))
		roce_bias_revoke(bias);
}

/** The caller gives the spinlock back next: perhaps it owns the lock from now on. */
void roce_bias_give(struct roce_bias *bias);

/** A spinlock with its bias. */
struct roce_lock {
	rte_spinlock_t spin;
	bool fast; /**< it was entered by its owner; for the holder */
	struct roce_bias bias;
};

static inline void
roce_lock(struct roce_lock *lock)
{
	if (likely(roce_bias_enter(&lock->bias))) {
		lock->fast = true;
		return;
	}
	rte_spinlock_lock(&lock->spin);
	roce_bias_take(&lock->bias);
	lock->fast = false;
}

/** @return false: somebody else has it. */
static inline bool
roce_trylock(struct roce_lock *lock)
{
	if (likely(roce_bias_enter(&lock->bias))) {
		lock->fast = true;
		return true;
	}
	if (rte_spinlock_trylock(&lock->spin) == 0)
		return false;
	roce_bias_take(&lock->bias);
	lock->fast = false;
	return true;
}

static inline void
roce_unlock(struct roce_lock *lock)
{
	if (likely(lock->fast)) {
		roce_bias_leave(&lock->bias);
		return;
	}
	roce_bias_give(&lock->bias);
	rte_spinlock_unlock(&lock->spin);
}

#endif
