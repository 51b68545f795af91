/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_DISTANCE_H
#define ROCE_BENCH_DISTANCE_H

/**
 * @file
 * How far apart two processors are: the time that one cache line needs to go
 * from one to the other and back. On a virtual machine it changes under way,
 * and halves or doubles every figure of two cores.
 */

/** Round trips above this many nanoseconds are called far. */
#define BENCH_FAR_NS 250.0

/**
 * Measure for at most about a second.
 * @return nanoseconds of a round trip, the median; 0: there is one processor only, or never two at once.
 */
double bench_distance(void);

#endif
