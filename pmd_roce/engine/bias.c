/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/bias.h"

#include <rte_common.h>

#include "engine/engine.h"

/* Written once for all domains of the process, always the same; atomic. */
static void (*process_barrier)(void);

void
roce_engine_use_barrier(void (*barrier)(void))
{
	__atomic_store_n(&process_barrier, barrier, __ATOMIC_RELEASE);
}

/* The owner, if there is one, owns it no longer, and knows: or its mark is seen. */
static void
dispossess(struct roce_bias *bias, uintptr_t self)
{
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_RELAXED);
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_THRESHOLD;

	if (owner == 0)
		return;
	bias->run = 0;
	/* Whoever owns it and stands here is not inside, nor between its looks. */
	if ((owner & ~(uintptr_t)1) == self) {
		__atomic_store_n(&bias->owner, 0, __ATOMIC_RELAXED);
		return;
	}
	/* In this order: who is inside finds itself as one of the two (roce_bias_is_inside()). */
	__atomic_store_n(&bias->former[owner & 1], owner & ~(uintptr_t)1, __ATOMIC_RELAXED);
	__atomic_store_n(&bias->owner, 0, __ATOMIC_RELEASE);
	bias->patience = RTE_MIN(patience * 2, ROCE_BIAS_THRESHOLD_MAX);
	__atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE)();
}

/* May a mark still be its former owner's? The caller's own is not: it stands here. @return true: that one is inside. */
static bool
is_held(struct roce_bias *bias, uint32_t mark, uintptr_t self)
{
	if (bias->former[mark] == self)
		__atomic_store_n(&bias->former[mark], 0, __ATOMIC_RELAXED);
	return bias->former[mark] != 0 &&
			__atomic_load_n(&bias->inside[mark], __ATOMIC_ACQUIRE) != 0;
}

bool
roce_bias_revoke(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	bool held = false;

	dispossess(bias, self);
	for (uint32_t mark = 0; mark < ROCE_BIAS_SLOTS; mark++)
		held |= is_held(bias, mark, self);
	return !held;
}

void
roce_bias_revoke_wait(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();

	dispossess(bias, self);
	for (uint32_t mark = 0; mark < ROCE_BIAS_SLOTS; mark++) {
		while (is_held(bias, mark, self))
			roce_bias_pause(&bias->inside[mark]);
	}
}

bool
roce_bias_is_inside(const struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_ACQUIRE);

	for (uint32_t mark = 0; mark < ROCE_BIAS_SLOTS; mark++) {
		uintptr_t former = __atomic_load_n(&bias->former[mark], __ATOMIC_RELAXED);

		if ((owner == (self | mark) || former == self) &&
				__atomic_load_n(&bias->inside[mark], __ATOMIC_RELAXED) != 0)
			return true;
	}
	return false;
}

/* Threads that differ may look alike here: then the lock leans towards one of them though it is not alone. */
static uint16_t
short_name(uintptr_t self)
{
	return (uint16_t)(self >> 4 ^ self >> 20);
}

void
roce_bias_try_acquire(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_THRESHOLD;

	if (bias->last != short_name(self)) {
		bias->last = short_name(self);
		bias->run = 0;
		return;
	}
	if (++bias->run < patience || __atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE) == NULL)
		return;
	bias->run = 0;
	/* Not with a mark that somebody else may write at any time. */
	for (uint32_t mark = 0; mark < ROCE_BIAS_SLOTS; mark++) {
		if (bias->former[mark] == 0) {
			__atomic_store_n(&bias->owner, self | mark, __ATOMIC_RELAXED);
			return;
		}
	}
}
