/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_BENCH_H
#define ROCE_BENCH_BENCH_H

/**
 * @file
 * Code that the benchmark programs share: an EAL as the provider starts it, and a
 * way to measure that bears a busy machine.
 *
 * Costs are processor time, not elapsed time, and the median of many short
 * rounds: an interrupted round is not billed for the interruption, and a round
 * whose caches were spoiled does not count.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>

struct roce_port;

#define BENCH_BURST 32u /**< packets in a row, as in the provider's poll */
#define BENCH_MTU   4096u

/** Payload sizes, bytes; from the first on, as many as the program wants. */
#define BENCH_SIZES 4u
extern const uint32_t bench_size[BENCH_SIZES];

/** Buffers as dat-perf chooses them by itself: the same cache lines are touched in the same rhythm. */
#define BENCH_MEMORY (2u << 20)
#define BENCH_SENDS  16u
#define BENCH_RECVS  512u

/** Bytes from one buffer to the next. */
static inline uint32_t
bench_stride(uint32_t size)
{
	return RTE_MAX(RTE_ALIGN_CEIL(size, (uint32_t)RTE_CACHE_LINE_SIZE),
			(uint32_t)RTE_CACHE_LINE_SIZE);
}

/** Receive buffers for a size: at most 1 MiB of them. */
static inline uint32_t
bench_recvs(uint32_t size)
{
	return RTE_MIN(BENCH_RECVS, (1u << 20) / bench_stride(size));
}

/** End the program with a sentence on standard error, given as for printf(). */
#define bench_fail(...)                       \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		bench_end();                  \
	} while (0)

/** End the line on standard error, and the program. */
void bench_end(void) __attribute__((noreturn, cold));

/** Is @p word among the arguments? The program ends when there is any other. */
bool bench_wants(int argc, char **argv, const char *word);

/** Start the EAL with the provider's own defaults. */
void bench_start(void);

/** Open a port as the provider does for an adapter with these devargs, as in dat.conf(5). At most two at a time. */
struct roce_port *bench_port(const char *devargs);
/** The same for one that may fail. @return 0, or as roce_port_open(), with a sentence on standard error. */
int bench_try_port(const char *devargs, struct roce_port **port);

/** BENCH_MEMORY bytes, not zero; never freed. */
uint8_t *bench_memory(void);

/** Processor time of this process, nanoseconds. */
uint64_t bench_cpu_ns(void);

/** The middle one of @p n values, which are sorted; 0 when there are none. */
double bench_median(double *value, unsigned int n);

/**
 * Processor time of one item.
 *
 * @param work  does something to BENCH_BURST items; called a few hundred thousand times.
 * @return nanoseconds: the median of 15 rounds of about a millisecond.
 */
double bench_measure(void (*work)(void *arg), void *arg);

#endif
