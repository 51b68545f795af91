/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_SCENARIO_H
#define ROCE_SIM_SCENARIO_H

/**
 * @file
 * Kinds of worlds: each turns a seed into parameters.
 */

#include "world.h"

struct scenario {
	const char *name;
	const char *what;
	uint32_t share; /**< per cent of all worlds */
	uint32_t flips; /**< one of the sweeps over all bits of frames with so much payload; else 0 */
	struct world_params (*make)(uint64_t seed);
};

/** Ends with a row without name. */
extern const struct scenario scenarios[];

const struct scenario *scenario_find(const char *name);

#endif
