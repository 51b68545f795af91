/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_STATS_H
#define PERF_STATS_H

/**
 * @file
 * From counts and time stamps to the numbers of the report. Pure: time is an argument, in ticks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Rate of a growing count of messages: the average from start to end, and the best of the
 * intervals between samples.
 */
struct perf_meter {
	uint64_t hz;
	uint64_t warmup;   /**< messages before the measurement starts */
	uint64_t interval; /**< ticks between two samples */
	bool started;
	uint64_t start, base;      /**< time and count where the measurement started */
	uint64_t last, last_count; /**< time and count of the newest sample */
	double peak;               /**< messages per second */
};

/** Make a meter that ignores the first @p warmup messages. */
void perf_meter_init(struct perf_meter *meter, uint64_t hz, uint64_t warmup);

/**
 * Look at the clock. Cheap; call it as often as wanted.
 * @return true: an interval has ended.
 */
bool perf_meter_sample(struct perf_meter *meter, uint64_t now, uint64_t count);

/**
 * End the measurement.
 * @param peak     receives messages per second of the best interval, never less than the average.
 * @param average  receives messages per second of the whole; 0 when nothing was measured.
 */
void perf_meter_end(struct perf_meter *meter, uint64_t now, uint64_t count, double *peak,
		double *average);

/** Latency buckets: PERF_BUCKETS_PER_OCTAVE for each power of two of nanoseconds. */
#define PERF_BUCKETS_PER_OCTAVE 4
#define PERF_BUCKETS            (40 * PERF_BUCKETS_PER_OCTAVE)

/** Results of a latency test, in microseconds. */
struct perf_latency {
	double min, max, typical, average, deviation, p99, p99_9;
	uint64_t bucket[PERF_BUCKETS];
};

/**
 * Time spans, at most @c room of them kept. Minimum, maximum, average and deviation are those of
 * all spans; percentiles are exact up to @c room spans, and beyond those of an even random choice
 * of @c room (reservoir sampling). So a run by time needs no memory without end.
 */
struct perf_samples {
	uint32_t *span; /**< ticks */
	uint64_t room, count;
	uint64_t min, max;
	double sum, squares;
	uint64_t random;
};

/** @return 0; -1: no memory for @p room spans. */
int perf_samples_init(struct perf_samples *samples, uint64_t room);

void perf_samples_free(struct perf_samples *samples);

/** The slow half of perf_samples_add(): all room is taken. */
void perf_samples_replace(struct perf_samples *samples, uint32_t span);

/** Note one span of ticks; what does not fit 32 bits counts as the longest that does. */
static inline void
perf_samples_add(struct perf_samples *samples, uint64_t ticks)
{
	uint32_t span = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;

	if (span < samples->min)
		samples->min = span;
	if (span > samples->max)
		samples->max = span;
	samples->sum += span;
	samples->squares += (double)span * span;
	if (samples->count < samples->room)
		samples->span[samples->count] = span;
	else
		perf_samples_replace(samples, span);
	samples->count++;
}

/**
 * Work the spans out. Sorts them.
 * @param ticks_per_us  ticks that make one microsecond of the result: for half a round trip twice
 *                      those of the clock.
 */
void
perf_samples_end(struct perf_samples *samples, double ticks_per_us, struct perf_latency *latency);

/** @return lower bound, in nanoseconds, of a bucket of struct perf_latency. */
double perf_bucket_ns(unsigned int bucket);

#endif /* PERF_STATS_H */
