/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_LITMUS_H
#define ROCE_MODEL_LITMUS_H

/**
 * @file
 * Small programs of which is known what can happen: their memory, and the comparison with plain enumeration.
 */

#include <stdbool.h>
#include <stdint.h>

#include "explore.h"

#define LITMUS_VARS  2
#define LITMUS_LOCKS 2

/** The memory of every program, in the arena. */
struct litmus_cells {
	uint32_t var[LITMUS_VARS];
	uint32_t plain;
	rte_spinlock_t lock[LITMUS_LOCKS];
};

extern struct litmus {
	struct litmus_cells *cells;
	uint32_t result[MODEL_THREADS];
	uint32_t outcomes; /**< of all runs, one bit each: 4 times the result of thread 0, and that of thread 1 */
	unsigned int buffered; /**< threads with a store buffer; their drains are further threads */
	uint64_t dice;
} litmus;

/** Four bytes of a cell. */
struct model_access litmus_access(int order);

/** @return below @p sides. */
uint32_t litmus_roll(uint32_t sides);

/** @return true: no failure; then the reduction has missed no class and repeated none, as @p how tells. */
bool litmus_compare(unsigned int threads, void (*script)(unsigned int), enum explore_how how,
		struct explore_tally *tally);

#endif
