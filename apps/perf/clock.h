/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

/**
 * @file
 * Time stamps cheap enough for every message: the processor's time stamp counter where there is
 * one, calibrated against the system's clock; else the system's clock in nanoseconds.
 */

#include <stdint.h>
#include <time.h>

/** @return the present time in ticks. */
static inline uint64_t
perf_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
#endif
}

/** @return nanoseconds of processor time that all threads of this process have used. */
uint64_t perf_cpu_ns(void);

/** Time of all processors of this machine, in the kernel's ticks, since it runs. */
struct perf_cpu_times {
	uint64_t busy, all;
};

/** Read them; zeros where the kernel does not tell. */
void perf_cpu_times(struct perf_cpu_times *times);

/** Ticks of perf_now() per second. The first call calibrates and takes 20 ms. Not thread safe. */
uint64_t perf_hz(void);

#endif /* PERF_CLOCK_H */
