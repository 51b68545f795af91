/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/bias.h"

#include <rte_common.h>
#include <rte_pause.h>

#include "engine/engine.h"

/* Written once for all domains of the process, always the same; atomic. */
static void (*process_barrier)(void);

void
roce_engine_use_barrier(void (*barrier)(void))
{
	__atomic_store_n(&process_barrier, barrier, __ATOMIC_RELEASE);
}

void
roce_bias_revoke(struct roce_bias *bias)
{
	uintptr_t owner = __atomic_load_n(&bias->owner, __ATOMIC_RELAXED);
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_PATIENCE;

	if (owner == 0)
		return;
	__atomic_store_n(&bias->owner, 0, __ATOMIC_RELAXED);
	bias->run = 0;
	/* Whoever owns it and stands here is not inside. */
	if (owner == roce_bias_self())
		return;
	bias->patience = RTE_MIN(patience * 2, ROCE_BIAS_PATIENCE_MAX);
	__atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE)();
	while (__atomic_load_n(&bias->inside, __ATOMIC_ACQUIRE) != 0)
		rte_pause();
}

void
roce_bias_give(struct roce_bias *bias)
{
	uintptr_t self = roce_bias_self();
	uint32_t patience = bias->patience != 0 ? bias->patience : ROCE_BIAS_PATIENCE;

	if (bias->last != self) {
		bias->last = self;
		bias->run = 0;
		return;
	}
	if (++bias->run < patience || __atomic_load_n(&process_barrier, __ATOMIC_ACQUIRE) == NULL)
		return;
	bias->run = 0;
	__atomic_store_n(&bias->owner, self, __ATOMIC_RELAXED);
}
