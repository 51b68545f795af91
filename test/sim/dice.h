/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_DICE_H
#define ROCE_SIM_DICE_H

/** @file Random numbers that a seed repeats on any machine. */

#include <stdint.h>

/** Next number of a xorshift sequence; @p state is not 0. */
static inline uint64_t
sim_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/** One of 0 to @p n - 1. */
static inline uint32_t
sim_roll(uint64_t *state, uint32_t n)
{
	return (uint32_t)((sim_random(state) >> 33) % n);
}

#endif
