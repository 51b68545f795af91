/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_HELLO_H
#define PERF_HELLO_H

/**
 * @file
 * Messages of the two ends in the private data of their connections: which measurement
 * this is, which endpoint, and what memory the peer may reach in a one-sided test. Both check it by
 * the same rule, so both can say what differs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** RDMA-CM leaves 56 bytes of private data to its users. */
#define PERF_HELLO_LEN 56

/** Index of the connection over which the ends steer the measurement; not an endpoint under test. */
#define PERF_HELLO_CONTROL UINT32_MAX

struct perf_hello {
	uint32_t index;   /**< endpoint, or PERF_HELLO_CONTROL */
	uint32_t session; /**< number of the measurement in this run */
	uint8_t test;     /**< enum perf_test */
	bool both, verify;
	uint32_t size;
	uint32_t endpoints;
	uint32_t seconds;
	uint64_t iterations; /**< those of a message count run; by time PERF_ENDLESS */
	uint64_t warmup;
	uint32_t rmr_context; /**< of the memory that the peer may reach; not compared */
	uint64_t address;     /**< of its first byte */
};

/** Write @p hello in network byte order. */
void perf_hello_encode(const struct perf_hello *hello, uint8_t bytes[PERF_HELLO_LEN]);

/**
 * Read private data.
 * @return false: they are not a hello of this version; @p hello is undefined.
 */
bool perf_hello_decode(const void *bytes, size_t len, struct perf_hello *hello);

/**
 * Do two ends agree?
 * @param sentence  receives, when they do not, what differs.
 */
bool perf_hello_agrees(const struct perf_hello *mine, const struct perf_hello *theirs,
		char *sentence, size_t len);

#endif /* PERF_HELLO_H */
