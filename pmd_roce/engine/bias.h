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
 *   another:  takes the spinlock, owner = 0, barrier, then waits until inside is 0 (or gives up, when it only tries)
 *
 * The barrier makes every running thread of the process pass a full barrier (membarrier(2)): so either the owner sees
 * that it owns no longer, or the other sees that it is inside. Where the system has no such barrier, and in the
 * simulator, nobody ever becomes owner and only the spinlock is left. A lock that was taken away leans again after twice as
 * many turns in a row: locks that threads really share settle on the spinlock.
 *
 * Who lost a lock may still stand between its two looks, for as long as it is not scheduled, and then writes inside. So
 * there is no other owner until it has come for the spinlock itself; if it never does, the spinlock is left.
 *
 * Not for signal handlers, and not recursive, like any spinlock.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

struct roce_bias {
	uintptr_t owner; /**< the thread; 0: nobody. Written under the spinlock; atomic */
	uintptr_t former; /**< whom it was taken from, until it has come for the spinlock; 0: nobody. Under it. */
	uint32_t inside; /**< the owner is, or the former; written by them alone; atomic */
	uint32_t patience; /**< times in a row that make an owner; 0: ROCE_BIAS_PATIENCE. Under the spinlock. */
	uint32_t last; /**< who had the spinlock last, some bits of it; under it */
	uint32_t run;  /**< and how often in a row */
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

/** Between two looks at who is inside. */
#ifndef roce_bias_pause
#define roce_bias_pause(bias) rte_pause()
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

/** Nobody owns it any more. Under the spinlock; not from inside. @return false: who owned it is inside yet. */
bool roce_bias_revoke(struct roce_bias *bias);

/** The same, and wait until nobody is inside: the spinlock is all. */
void roce_bias_revoke_wait(struct roce_bias *bias);

static inline bool
roce_bias_leans(const struct roce_bias *bias)
{
	return (__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) | bias->former) != 0;
}

/** The caller has the spinlock: make it all there is, for now. */
static inline void
roce_bias_take(struct roce_bias *bias)
{
	if (unlikely(roce_bias_leans(bias)))
		roce_bias_revoke_wait(bias);
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

/** Never waits. @return false: somebody has it, perhaps the caller. */
static inline bool
roce_trylock(struct roce_lock *lock)
{
	if (unlikely(__atomic_load_n(&lock->bias.inside, __ATOMIC_RELAXED) != 0))
		return false;
	if (likely(roce_bias_enter(&lock->bias))) {
		lock->fast = true;
		return true;
	}
	if (rte_spinlock_trylock(&lock->spin) == 0)
		return false;
	if (unlikely(roce_bias_leans(&lock->bias)) && !roce_bias_revoke(&lock->bias)) {
		rte_spinlock_unlock(&lock->spin);
		return false;
	}
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
