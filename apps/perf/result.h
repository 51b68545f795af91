/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_RESULT_H
#define PERF_RESULT_H

/**
 * @file
 * Results of one measurement, and the four ways to make one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "adapter.h"
#include "end.h"
#include "options.h"
#include "stats.h"

/** A rate of messages: its average and its best interval. */
struct perf_rate {
	double average, peak;
};

struct perf_result {
	enum perf_test test;
	uint32_t size;
	uint64_t iterations; /**< messages measured, in one direction */
	bool measured; /**< false: this end has no rate or latency; it only answered, or was interrupted before */
	bool interrupted; /**< the measurement ended early, by a signal here or at the other end */
	double messages_per_s, peak_per_s; /**< of a bandwidth test */
	bool ways;                         /**< there are the two below */
	struct perf_rate local,
			remote; /**< of what this end sends, and of what the other one does */
	double cpu_util; /**< percent of all processors' time that was not idle, if it was asked for */
	double cpu_ns;     /**< of a bandwidth test: processor time of this process for a message */
	double connect_us; /**< until all endpoints were connected; 0: this end was waited for */
	struct perf_latency latency;   /**< of a latency test */
	struct perf_counters counters; /**< growth during the measurement */
	struct perf_violations bad;
};

/** @return Gb/sec of @p messages_per_s messages of @p size bytes. */
static inline double
perf_gbits(double messages_per_s, uint32_t size)
{
	return messages_per_s * size * 8 / 1e9;
}

/** @return bandwidth in the table's unit. */
static inline double
perf_bandwidth(const struct perf_options *options, double messages_per_s, uint32_t size)
{
	return options->gbits ? perf_gbits(messages_per_s, size)
			      : messages_per_s * size / (1u << 20);
}

/**
 * Bandwidth: the client sends, writes or reads as fast as its windows allow, the server too when both
 * directions are measured. _pair: one thread polls both ends; _alone: the peer is polled by somebody else.
 * @return 0; -1 on error; the error was printed.
 */
int perf_bw_pair(struct perf_end *client, struct perf_end *server, struct perf_result *result);
int perf_bw_alone(struct perf_end *end, struct perf_result *result);

/** Latency: one message or WRITE goes to and fro, and half of each round trip is noted. As above. */
int perf_lat_pair(struct perf_end *client, struct perf_end *server, struct perf_result *result);
int perf_lat_alone(struct perf_end *end, struct perf_result *result);

#endif /* PERF_RESULT_H */
