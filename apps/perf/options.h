/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

/**
 * @file
 * The command line of dat-perf, checked before anything is opened: its own letters and long options,
 * perftest's long options, and in a mode perftest's letters, too (perftest.h).
 *
 * Zero in a numeric field means that the user left the choice to plan.h.
 */

#include <stdbool.h>
#include <stdint.h>

/** The most buffers of a queue. */
#define PERF_MAX_DEPTH (1u << 20)

#define PERF_FAULTS 5 /**< kinds of what a wire can do to frames, on purpose */

/** Options that have no letter, as getopt_long() returns them. */
enum perf_option {
	PERF_OPT_USE_SRQ = 256,
	PERF_OPT_NO_SRQ,
	PERF_OPT_CORES,
	PERF_OPT_VERIFY,
	PERF_OPT_GBITS,
	PERF_OPT_JSON,
	PERF_OPT_FAULT, /**< the first of as many as there are kinds */
	PERF_OPT_WARMUP = PERF_OPT_FAULT + PERF_FAULTS,
	PERF_OPT_SRQ_DEPTH,
	PERF_OPT_LOW,
	PERF_OPT_RESIZE,
	PERF_OPT_VERSION,
	PERF_OPT_PERFTEST,
	PERF_OPT_OUT_JSON, /**< from here on options that only perftest gave a name */
	PERF_OPT_OUT_JSON_FILE,
	PERF_OPT_OUTPUT,
	PERF_OPT_LIMIT_BW,
	PERF_OPT_LIMIT_MSGRATE,
	PERF_OPT_WARM_UP,
	PERF_OPT_RUN_INFINITELY,
	PERF_OPT_CPU_UTIL,
	PERF_OPT_REPORT_BOTH,
	PERF_OPT_KEY, /**< the first of as many as there are keys */
	PERF_OPT_TCLASS = PERF_OPT_KEY + 4,
	PERF_OPT_ROW, /**< the first of as many as perftest.h has rows */
};

/** Keys of the provider that options set. */
enum perf_key {
	PERF_KEY_TIMEOUT,
	PERF_KEY_RETRY,
	PERF_KEY_DSCP,
	PERF_KEY_PCP,
	PERF_KEYS,
};

_Static_assert((int)PERF_OPT_TCLASS - (int)PERF_OPT_KEY == (int)PERF_KEYS,
		"an option for each key");

/** Numbers that --output prints alone. */
enum perf_output {
	PERF_OUTPUT_ALL, /**< the table */
	PERF_OUTPUT_BANDWIDTH,
	PERF_OUTPUT_MESSAGE_RATE,
	PERF_OUTPUT_LATENCY,
};

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
	bool perftest; /**< perftest's letters and defaults */
	enum perf_mode mode;
	enum perf_test test;
	const char *ia;   /**< NULL in mode PERF_LOOP */
	const char *host; /**< NULL but in mode PERF_CLIENT */
	uint16_t port;
	uint32_t size; /**< bytes of a message; may be 0 */
	bool size_given;
	bool all_sizes;
	uint64_t iterations;
	uint32_t seconds; /**< run by time instead of by count; with endless between two rows */
	bool endless;     /**< a row again and again, until a signal comes */
	uint32_t endpoints;
	bool srq_given;
	bool use_srq;        /**< never in a one-sided test */
	uint32_t recv_depth; /**< buffers on the SRQ, or on each endpoint without one */
	uint32_t srq_depth;  /**< buffers on the SRQ whatever the windows need; 0: recv_depth */
	uint32_t low;        /**< low watermark of the SRQ; 0: none */
	uint32_t resizes;    /**< changes of the SRQ's size a second; 0: none */
	uint32_t send_depth; /**< unacknowledged sends of one endpoint */
	uint32_t cq_moderation;
	uint32_t outs; /**< READs and atomics of one endpoint under way; 0: as many as the adapter has */
	uint32_t mtu;
	uint32_t cores; /**< threads in mode PERF_LOOP: 1 or 2 */
	bool both;      /**< both directions at once */
	bool events;    /**< sleep in dat_evd_wait instead of polling */
	bool verify;
	bool cpu_util;    /**< tell how busy the machine's processors were */
	bool report_both; /**< tell of each direction, too, where there are two */
	bool gbits;       /**< the table in 10^9 bits a second, else in 2^20 bytes */
	enum perf_output output;
	double limit_bw, limit_msgrate; /**< least averages in the table's units; 0: none */
	bool histogram;
	bool json;
	const char *json_file; /**< NULL: standard output */
	bool outs_given;
	bool key_given[PERF_KEYS];
	uint32_t keys[PERF_KEYS];     /**< values for the provider */
	bool faulty;                  /**< the wire shall do to frames what faults[] says */
	uint32_t faults[PERF_FAULTS]; /**< of each kind, frames of a million */
	bool warmup_given;
	uint64_t warmup;
};

/** @return the name of a key of the provider. */
const char *perf_key_name(enum perf_key key);

/** @return the name of a kind of fault, as an option and as the provider's key. */
const char *perf_fault_name(unsigned int kind);

/** @return the name that -t takes, such as "send_bw". */
const char *perf_test_name(enum perf_test test);

/** @return false: no test has the name. */
bool perf_test_find(const char *name, enum perf_test *test);

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

/**
 * The second half of perf_options_read(): fill in what follows from other options, and check the whole.
 * @return as perf_options_read().
 */
int perf_options_check(struct perf_options *options);

#endif /* PERF_OPTIONS_H */
