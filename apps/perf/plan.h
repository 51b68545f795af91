/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_PLAN_H
#define PERF_PLAN_H

/**
 * @file
 * The numbers of one measurement, worked out from the options and one message size.
 *
 * Depths that the user left open follow two rules. Buffers must be few enough to stay in the
 * caches, or the memory is measured instead of the messages. And at most half of the receive
 * buffers may be on the way: then a receiver that reaps what its own polling delivered never lets
 * the shared queue run dry.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/** Iterations of a run by time: until told to stop. */
#define PERF_ENDLESS UINT64_MAX

struct perf_plan {
	uint32_t size;   /**< bytes of a message */
	uint32_t stride; /**< bytes from one buffer to the next */
	uint32_t endpoints;
	uint32_t recv_depth; /**< of the SRQ, or of each endpoint */
	uint32_t recv_slots; /**< receive buffers in all */
	/**
	 * Of a one-sided test: places in the memory that the peer reaches, of each endpoint or for
	 * all together (send tests: 0). The same at both ends, whatever their depths are.
	 */
	uint32_t remote_slots;
	bool own_places;     /**< an endpoint's messages have places of their own, at both ends */
	uint32_t window;     /**< unacknowledged sends of one endpoint, at most */
	uint32_t signal;     /**< every so many sends of an endpoint, and its last, complete */
	uint32_t send_slots; /**< send buffers in all */
	uint64_t warmup;     /**< messages before the measurement */
	uint64_t iterations; /**< messages measured; PERF_ENDLESS by time */
	size_t bytes;        /**< memory for all buffers */
};

/**
 * Work out one measurement.
 * @return 0; -1: no machine has that much memory to spare, and the reason was printed.
 */
int perf_plan_make(const struct perf_options *options, uint32_t size, struct perf_plan *plan);

/**
 * Size number @p n that --resize asks for: twice the depth, the depth, half of it, the depth, and so
 * on. Never 0, and never more than an SRQ may have.
 */
uint32_t perf_plan_srq_size(const struct perf_plan *plan, uint64_t n);

/** @return places in the memory that the peer reaches, of all endpoints. */
static inline uint64_t
perf_plan_places(const struct perf_plan *plan)
{
	return (uint64_t)plan->remote_slots * (plan->own_places ? plan->endpoints : 1);
}

/** @return the place, in the memory that the peer reaches, of message @p number of an endpoint. */
static inline uint64_t
perf_plan_place(const struct perf_plan *plan, uint32_t endpoint, uint64_t number)
{
	uint64_t first = plan->own_places ? (uint64_t)endpoint * plan->remote_slots : 0;

	return first + number % plan->remote_slots;
}

/** Messages that endpoint @p index sends of a total of @p messages: shares differ by one at most. */
uint64_t perf_plan_share(const struct perf_plan *plan, uint64_t messages, uint32_t index);

#endif /* PERF_PLAN_H */
