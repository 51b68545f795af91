/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S     1000000000ull
#define CALIBRATE_NS 20000000
/* Columns of /proc/stat; guests' time behind them is contained in them. */
#define STAT_IDLE   3
#define STAT_IOWAIT 4
#define STAT_FIELDS 8

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

void
perf_cpu_times(struct perf_cpu_times *times)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256] = "", *at = line + strlen("cpu "), *end;

	*times = (struct perf_cpu_times){ 0 };
	if (file == NULL)
		return;
	if (fgets(line, sizeof(line), file) != NULL && strncmp(line, "cpu ", 4) == 0)
		for (unsigned int i = 0; i < STAT_FIELDS; i++, at = end) {
			uint64_t ticks = strtoull(at, &end, 10);

			if (end == at)
				break;
			times->all += ticks;
			times->busy += i == STAT_IDLE || i == STAT_IOWAIT ? 0 : ticks;
		}
	fclose(file);
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
