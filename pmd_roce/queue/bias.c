/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/bias.h"

#include <rte_common.h>

#include "queue/lock.h"

/* Written once for all domains of the process, always the same; atomic. */
static void (*process_barrier)(void);

void
roce_engine_use_barrier(void (*barrier)(void))
{
	__atomic_store_n(&process_barrier, barrier, __ATOMIC_RELEASE);
}

/* The owner, if there is one, owns it no longer, and knows: or its slot is seen. */
static void
revoke_owner(struct roce_bias *bias, uintptr_t self)
{
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_RELAXED);
	uint32_t threshold = bias->threshold != 0 ? bias->threshold : ROCE_BIAS_THRESHOLD;

	if (owner == 0)
		return;
	bias->streak = 0;
	/* An owner that stands here is not inside, nor between its two reads. */
	if ((owner & ~(uintptr_t)1) == self) {
		__atomic_store_n(&bias->owner, 0, __ATOMIC_RELAXED);
		return;
	}
	/* In this order: who is inside finds itself as one of the two (roce_bias_is_inside()). */
	__atomic_store_n(&bias->former[owner & 1], owner & ~(uintptr_t)1, __ATOMIC_RELAXED);
	__atomic_store_n(&bias->owner, 0, __ATOMIC_RELEASE);
	bias->threshold = RTE_MIN(threshold * 2, ROCE_BIAS_THRESHOLD_MAX);
	__atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE)();
}

/* May a slot still be its former owner's? The caller's own is not: it stands here. @return true: that one is inside. */
static bool
is_held(struct roce_bias *bias, uint32_t slot, uintptr_t self)
{
	if (bias->former[slot] == self)
		__atomic_store_n(&bias->former[slot], 0, __ATOMIC_RELAXED);
	return bias->former[slot] != 0 &&
			__atomic_load_n(&bias->inside[slot], __ATOMIC_ACQUIRE) != 0;
}

bool
roce_bias_try_revoke(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	bool held = false;

	revoke_owner(bias, self);
	for (uint32_t slot = 0; slot < ROCE_BIAS_SLOTS; slot++)
		held |= is_held(bias, slot, self);
	return !held;
}

void
roce_bias_revoke_wait(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();

	revoke_owner(bias, self);
	for (uint32_t slot = 0; slot < ROCE_BIAS_SLOTS; slot++) {
		while (is_held(bias, slot, self))
			roce_bias_pause(&bias->inside[slot]);
	}
}

bool
roce_bias_is_inside(const struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_ACQUIRE);

	for (uint32_t slot = 0; slot < ROCE_BIAS_SLOTS; slot++) {
		uintptr_t former = __atomic_load_n(&bias->former[slot], __ATOMIC_RELAXED);

		if ((owner == (self | slot) || former == self) &&
				__atomic_load_n(&bias->inside[slot], __ATOMIC_RELAXED) != 0)
			return true;
	}
	return false;
}

/* Threads that differ may look alike here: then the lock is biased to one of them though it is not alone. */
static uint16_t
short_name(uintptr_t self)
{
	return (uint16_t)(self >> 4 ^ self >> 20);
}

void
roce_bias_try_acquire(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uint32_t threshold = bias->threshold != 0 ? bias->threshold : ROCE_BIAS_THRESHOLD;

	if (bias->last != short_name(self)) {
		bias->last = short_name(self);
		bias->streak = 0;
		return;
	}
	if (++bias->streak < threshold ||
			__atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE) == NULL)
		return;
	bias->streak = 0;
	/* Not with a slot that another thread may write at any time. */
	for (uint32_t slot = 0; slot < ROCE_BIAS_SLOTS; slot++) {
		if (bias->former[slot] == 0) {
			__atomic_store_n(&bias->owner, self | slot, __ATOMIC_RELAXED);
			return;
		}
	}
}
