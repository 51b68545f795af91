/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_WATCH_H
#define PERF_WATCH_H

/**
 * @file
 * The clock while messages flow: samples the rate, ends a run by time or by a signal,
 * notices a standstill, and shows progress on a terminal.
 */

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "end.h"
#include "result.h"
#include "stats.h"

enum perf_watch_says {
	PERF_GO_ON,
	PERF_TIME_UP, /**< said once the measured seconds are over, from then on */
	PERF_STOP, /**< told to end: perf_stop_end(), and go on until what is on the way is done */
	PERF_GIVE_UP, /**< standstill, the other thread's failure, or no end within PERF_STOP_GRACE_S; printed */
};

struct perf_watch {
	struct perf_meter meter;
	const struct perf_end *end;
	uint64_t hz;
	uint64_t cpu_ns;          /**< perf_cpu_ns() where the measurement started */
	uint64_t moved, moved_at; /**< what had moved when it last did, and when */
	uint64_t stop_at;         /**< when it was told to end; 0: it was not */
	uint64_t listen_at;       /**< of a latency test: when to hear what the other end says */
	uint64_t line_at;         /**< when to show the next progress line; 0: never */
	bool line_shown;
	struct perf_cpu_times
			cpu_times; /**< where the measurement started, if they are asked for */
	struct perf_meter local, remote; /**< of each direction, if they are asked for */
	/**
	 * Of a run without end: directions that the counts hold. 0: this end prints no rows, since it sees nothing, or
	 * another thread prints them.
	 */
	unsigned int directions;
	uint64_t row_at, row_base; /**< when the last row was printed, and the count then */
	double best;               /**< peak before the last row */
};

/** Begin. @param warmup  messages, counted as in perf_watch_tick(), before the measurement. */
void perf_watch_begin(struct perf_watch *watch, const struct perf_end *end, uint64_t warmup);

/**
 * Look at the clock; every few microseconds is often enough.
 * @param measured  messages that count for the rate, so far.
 * @param moved     anything that grows while there is progress.
 */
enum perf_watch_says perf_watch_tick(struct perf_watch *watch, uint64_t measured, uint64_t moved);

/** Look at each direction, as often as at both. Does nothing where they are not asked for. */
void perf_watch_ways(struct perf_watch *watch, uint64_t local, uint64_t remote);

/** @return percent of the processors' time since the measurement started that was not idle. */
double perf_watch_cpu_util(const struct perf_watch *watch);

/** End: the terminal is clean again. @return the present time in ticks. */
uint64_t perf_watch_end(struct perf_watch *watch);

#endif /* PERF_WATCH_H */
