/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_RATE_H
#define INFO_RATE_H

/**
 * @file
 * From two looks at a counter to a rate.
 */

#include <stdint.h>

/** Bits that counters of telemetry have. */
#define INFO_BITS_STATS    64u
#define INFO_BITS_QP       32u
#define INFO_BITS_RECEIVED 24u

/**
 * How far a counter went, which goes round after 2^bits.
 * @param bits  1..64.
 * @return the distance; 0 when it went back, which is taken for a new beginning: more than half way round.
 */
uint64_t info_distance(uint64_t before, uint64_t now, unsigned int bits);

/** A rate for people: "0", "7.3", "812", "1.24k", "15.0M". @p text has at least 16 bytes. @return @p text. */
const char *info_rate_text(double rate, char *text);

#endif /* INFO_RATE_H */
