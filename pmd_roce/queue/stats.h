/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_STATS_H
#define ROCE_QUEUE_STATS_H

/**
 * @file
 * Counters of one engine, written by its poller alone. stats.def is the list.
 */

#include <stdint.h>

struct roce_stats {
#define STAT(name, unit, meaning) uint64_t name;
#include "queue/stats.def"
#undef STAT
};

#endif
