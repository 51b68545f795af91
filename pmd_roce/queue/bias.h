/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_BIAS_H
#define ROCE_QUEUE_BIAS_H

/**
 * @file
 * A biased lock: a thread that has taken it many times in a row owns it, and from then on enters and leaves by plain
 * stores. A locked instruction costs as much as fifty plain ones, and nearly every queue is used by one
 * thread only.
 *
 *   owner:    inside = 1, then look whether it still owns         (program order only)
 *   another:  takes the spinlock, owner = 0, barrier, then waits until inside is 0 (or gives up, when it only tries)
 *
 * The barrier makes every running thread of the process pass a full barrier (membarrier(2)): so either the owner sees
 * that it owns no longer, or the other sees that it is inside. Where the system has no such barrier, and in the
 * simulator, no thread ever becomes owner and only the spinlock is left. Each time the bias is revoked, the bias threshold
 * (the streak of takes that makes an owner) doubles: locks that threads really share settle on the spinlock.
 *
 * A preempted former owner may still write its owner slot (inside). So the next owner gets another slot, and the first
 * is not reused until that thread takes the spinlock. There are two slots: one may stay with a thread that has set
 * everything up and never comes back.
 *
 * Not for signal handlers, and not recursive, like any spinlock.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

#define ROCE_BIAS_SLOTS 2u

struct roce_bias {
	/** The thread, and in the lowest bit its owner slot; 0: nobody. Written under the spinlock; atomic */
	uintptr_t owner;
	/** Whom it was taken from, by slot, until it has come for the spinlock; 0: nobody. Written under it; atomic */
	uintptr_t former[ROCE_BIAS_SLOTS];
	uint32_t inside[ROCE_BIAS_SLOTS]; /**< the slot's owner is; written by it alone; atomic */
	uint32_t threshold; /**< times in a row that make an owner; 0: ROCE_BIAS_THRESHOLD. Under the spinlock. */
	uint16_t last;   /**< who had the spinlock last, some bits of it; under it */
	uint16_t streak; /**< and how often in a row */
};

#define ROCE_BIAS_THRESHOLD     256u
#define ROCE_BIAS_THRESHOLD_MAX (1u << 15)

/** The calling thread: even, never 0, and nobody else's as long as it lives. */
#ifndef roce_bias_self
static inline uintptr_t
roce_bias_self(void)
{
#if defined(__x86_64__)
	uintptr_t self;

	/* The C library's thread pointer points to itself (System V ABI, ELF handling for thread-local storage). */
	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}
#endif

/** Between two looks at an owner slot. */
#ifndef roce_bias_pause
#define roce_bias_pause(slot) rte_pause()
#endif

/** Does the calling thread own it? */
static inline bool
roce_bias_owns(const struct roce_bias *bias)
{
	return (__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) & ~(uintptr_t)1) ==
			roce_bias_self();
}

/**
 * Enter as the owner.
 * @return for roce_bias_leave(), which must follow; 0: take the spinlock, then roce_bias_revoke().
 */
static inline uint32_t
roce_bias_enter(struct roce_bias *bias)
{
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_RELAXED);
	uint32_t slot = owner & 1;

	if (unlikely((owner & ~(uintptr_t)1) != roce_bias_self()))
		return 0;
	__atomic_store_n(&bias->inside[slot], 1, __ATOMIC_RELAXED);
	/* The other side's barrier does the rest. */
	rte_compiler_barrier();
	if (likely(__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) == owner))
		return slot + 1;
	__atomic_store_n(&bias->inside[slot], 0, __ATOMIC_RELEASE);
	return 0;
}

static inline void
roce_bias_leave(struct roce_bias *bias, uint32_t entered)
{
	__atomic_store_n(&bias->inside[entered - 1], 0, __ATOMIC_RELEASE);
}

/** Is the calling thread inside as the owner, or as who was so until it was taken away? Not under the spinlock. */
bool roce_bias_is_inside(const struct roce_bias *bias);

/** End the ownership, without waiting. Under the spinlock; not from inside. @return false: the former owner is still inside. */
bool roce_bias_try_revoke(struct roce_bias *bias);

/** The slow path of roce_bias_revoke(): end the ownership and wait until no owner is inside. */
void roce_bias_revoke_wait(struct roce_bias *bias);

static inline bool
roce_bias_is_biased(const struct roce_bias *bias)
{
	return (__atomic_load_n(&bias->owner, __ATOMIC_RELAXED) | bias->former[0] |
			       bias->former[1]) != 0;
}

/** The caller has the spinlock: revoke the bias, so that the spinlock alone protects, for now. */
static inline void
roce_bias_revoke(struct roce_bias *bias)
{
	if (unlikely(roce_bias_is_biased(bias)))
		roce_bias_revoke_wait(bias);
}

/** The caller gives the spinlock back next: perhaps it owns the lock from now on. */
void roce_bias_try_acquire(struct roce_bias *bias);

/** A spinlock with its bias. */
struct roce_lock {
	rte_spinlock_t spin;
	uint8_t entered; /**< of its owner; 0: by the spinlock. For the holder. */
	struct roce_bias bias;
};

static inline void
roce_lock(struct roce_lock *lock)
{
	uint32_t entered = roce_bias_enter(&lock->bias);

	if (unlikely(entered == 0)) {
		rte_spinlock_lock(&lock->spin);
		roce_bias_revoke(&lock->bias);
	}
	lock->entered = (uint8_t)entered;
}

/** Never waits. @return false: somebody has it, perhaps the caller. */
static inline bool
roce_trylock(struct roce_lock *lock)
{
	uint32_t entered;

	if (unlikely((__atomic_load_n(&lock->bias.inside[0], __ATOMIC_RELAXED) |
				     __atomic_load_n(&lock->bias.inside[1], __ATOMIC_RELAXED)) !=
			    0))
		return false;
	entered = roce_bias_enter(&lock->bias);
	if (unlikely(entered == 0)) {
		if (rte_spinlock_trylock(&lock->spin) == 0)
			return false;
		if (unlikely(roce_bias_is_biased(&lock->bias)) &&
				!roce_bias_try_revoke(&lock->bias)) {
			rte_spinlock_unlock(&lock->spin);
			return false;
		}
	}
	lock->entered = (uint8_t)entered;
	return true;
}

static inline void
roce_unlock(struct roce_lock *lock)
{
	if (likely(lock->entered != 0)) {
		roce_bias_leave(&lock->bias, lock->entered);
		return;
	}
	roce_bias_try_acquire(&lock->bias);
	rte_spinlock_unlock(&lock->spin);
}

#endif
