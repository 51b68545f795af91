/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#define NS_PER_S     1000000000ull
#define CALIBRATE_NS 20000000

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
perf_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t
perf_hz(void)
{
	static uint64_t hz;
	const struct timespec pause = { .tv_nsec = CALIBRATE_NS };
	uint64_t ns, ticks;

	if (hz != 0)
		return hz;
	ns = clock_ns(CLOCK_MONOTONIC);
	ticks = perf_now();
	nanosleep(&pause, NULL);
	ticks = perf_now() - ticks;
	ns = clock_ns(CLOCK_MONOTONIC) - ns;
	hz = (uint64_t)((double)ticks * (double)NS_PER_S / (double)ns);
	return hz;
}
