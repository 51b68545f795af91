/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

/**
 * @file
 * The command line of dat-perf: perftest's letters, checked before anything is opened.
 *
 * Zero in a numeric field means that the user left the choice to plan.h.
 */

#include <stdbool.h>
#include <stdint.h>

/** The most buffers of a queue. */
#define PERF_MAX_DEPTH (1u << 20)

#define PERF_FAULTS 5 /**< kinds of what a wire can do to frames, on purpose */

/** Every test that has a name. */
enum perf_test {
	PERF_SEND_BW,
	PERF_SEND_LAT,
	PERF_WRITE_BW,
	PERF_WRITE_LAT,
	PERF_READ_BW,
	PERF_READ_LAT,
	PERF_ATOMIC_BW,
	PERF_ATOMIC_LAT,
	PERF_TESTS,
};

/** Places of the two ends. */
enum perf_mode {
	PERF_LOOP,   /**< both ends in this process, on loop0 and loop1 */
	PERF_SERVER, /**< -D and no host */
	PERF_CLIENT, /**< -D and a host */
};

struct perf_options {
	enum perf_mode mode;
	enum perf_test test;
	const char *ia;   /**< NULL in mode PERF_LOOP */
	const char *host; /**< NULL but in mode PERF_CLIENT */
	uint16_t port;
	uint32_t size; /**< bytes of a message; may be 0 */
	bool all_sizes;
	uint64_t iterations;
	uint32_t seconds; /**< run by time instead of by count */
	uint32_t endpoints;
	bool srq_given;
	bool use_srq;        /**< never in a one-sided test */
	uint32_t recv_depth; /**< buffers on the SRQ, or on each endpoint without one */
	uint32_t srq_depth;  /**< buffers on the SRQ whatever the windows need; 0: recv_depth */
	uint32_t low;        /**< low watermark of the SRQ; 0: none */
	uint32_t resizes;    /**< changes of the SRQ's size a second; 0: none */
	uint32_t send_depth; /**< unacknowledged sends of one endpoint */
	uint32_t cq_moderation;
	uint32_t outs; /**< READs and atomics of one endpoint under way */
	uint32_t mtu;
	uint32_t cores; /**< threads in mode PERF_LOOP: 1 or 2 */
	bool both;      /**< both directions at once */
	bool events;    /**< sleep in dat_evd_wait instead of polling */
	bool verify;
	bool gbits;
	bool histogram;
	bool json;
	const char *json_file; /**< NULL: standard output */
	bool outs_given;
	bool faulty;                  /**< the wire shall do to frames what faults[] says */
	uint32_t faults[PERF_FAULTS]; /**< of each kind, frames of a million */
	bool warmup_given;
	uint64_t warmup;
};

/** @return the name of a kind of fault, as an option and as the provider's key. */
const char *perf_fault_name(unsigned int kind);

/** @return the name that -t takes, such as "send_bw". */
const char *perf_test_name(enum perf_test test);

/** @return true for the tests that measure a round trip. */
bool perf_test_is_latency(enum perf_test test);

/** @return true for the tests in which an operation brings something back: READ and atomics. */
bool perf_test_fetches(enum perf_test test);

/** @return true for the tests of atomic operations. */
bool perf_test_is_atomic(enum perf_test test);

/** @return true for the tests in which the peer's program has no part: RDMA WRITE, READ and atomics. */
bool perf_test_is_one_sided(enum perf_test test);

/**
 * Read a command line. The strings of @p argv must outlive @p options.
 * @return -1: go on; else the status to exit with: 0 after --help or --version, 2 after one
 *         sentence on standard error.
 */
int perf_options_read(struct perf_options *options, int argc, char **argv);

#endif /* PERF_OPTIONS_H */
