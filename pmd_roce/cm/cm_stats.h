/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_STATS_H
#define ROCE_CM_CM_STATS_H

/**
 * @file
 * Counters of one connection manager, written under the lock of engine 0. cm_stats.def is the list.
 */

#include <stdint.h>

struct roce_cm_stats {
#define STAT(name, unit, meaning) uint64_t name;
#include "cm/cm_stats.def"
#undef STAT
};

#endif
