/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WALK_WALK_H
#define ROCE_WALK_WALK_H

/**
 * @file
 * A walk: so many random steps on fresh ground, everything that follows from
 * the number of engines and the seed.
 */

#include <stdint.h>

#include "model.h"

/** A walk is as long as that at the most: longer ones are several, with the seeds that follow. */
#define WALK_STEPS 1000000u

/** Walk. A violation ends the program. The walk's own tally is added to @p tally. */
void walk(unsigned int engines, uint64_t seed, uint64_t steps, struct model_tally *tally);

#endif
