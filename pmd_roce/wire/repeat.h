/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_REPEAT_H
#define ROCE_WIRE_REPEAT_H

/**
 * @file
 * Repeat numbers, in the reserved bits of the BTH between two ends of this provider that have agreed on its extensions.
 *
 * Each READ request that is sent again out of its order has the next number. Each answer to a READ, and each selective
 * acknowledgement, has the number that arrived last when it left. So the requester knows which of its repeats the peer had
 * received by then, and which of them are lost, or were answered in vain.
 *
 * Numbers run from 1 to 127 and begin again. 0 is none: of a request that is sent for the first time or in its order, and where
 * no number has arrived. A number is ahead of the 63 before it.
 */

#include <stdbool.h>
#include <stdint.h>

#define ROCE_REPEAT_MAX 127u

static inline uint8_t
roce_repeat_next(uint8_t number)
{
	return (uint8_t)(number % ROCE_REPEAT_MAX + 1);
}

/** Is @p a ahead of @p b? Any number is ahead of 0. */
static inline bool
roce_repeat_is_ahead(uint8_t a, uint8_t b)
{
	const uint32_t by = (a + ROCE_REPEAT_MAX - b) % ROCE_REPEAT_MAX;

	if (a == 0 || b == 0)
		return a != 0;
	return by != 0 && by <= ROCE_REPEAT_MAX / 2;
}

/** How many numbers were given since @p number, the last of which is @p last. Neither is 0. */
static inline uint32_t
roce_repeat_age(uint8_t number, uint8_t last)
{
	return (last + ROCE_REPEAT_MAX - number) % ROCE_REPEAT_MAX;
}

#endif
