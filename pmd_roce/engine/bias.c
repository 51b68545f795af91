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

bool
roce_bias_revoke(struct roce_bias *bias)
{
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_RELAXED);
	uintptr_t self = roce_bias_self();
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_PATIENCE;

	if (owner != 0) {
		__atomic_store_n(&bias->owner, 0, __ATOMIC_RELAXED);
		bias->run = 0;
	}
	if (owner != 0 && owner != self) {
		bias->former = owner;
		bias->patience = RTE_MIN(patience * 2, ROCE_BIAS_PATIENCE_MAX);
		__atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE)();
	}
	/* Whoever owns it, or owned it, and stands here is not inside, nor between its looks. */
	if (bias->former == self)
		bias->former = 0;
	return bias->former == 0 || __atomic_load_n(&bias->inside, __ATOMIC_ACQUIRE) == 0;
}

void
roce_bias_revoke_wait(struct roce_bias *bias)
{
	while (!roce_bias_revoke(bias))
		roce_bias_pause(bias);
}

/* Threads that differ may look alike here: then the lock leans towards one of them though it is not alone. */
static uint32_t
short_name(uintptr_t self)
{
	return (uint32_t)(self >> 4);
}

void
roce_bias_give(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_PATIENCE;

	if (bias->last != short_name(self)) {
		bias->last = short_name(self);
		bias->run = 0;
		return;
	}
	if (++bias->run < patience || __atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE) == NULL)
		return;
	bias->run = 0;
	/* It would have to share inside with one who may write it at any time. */
	if (bias->former == 0)
		__atomic_store_n(&bias->owner, self, __ATOMIC_RELAXED);
}
