/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/tsc.h"

#include <time.h>

#include <rte_cycles.h>

#define TRIES 16u

/** The EAL rounds to 10 MHz: less than this part of any frequency that there is. */
#define TOLERANCE 50u

/** Readings that are nearer to each other than this, or whose spread is a larger part, say too little. */
#define NS_MIN      UINT64_C(1000000)
#define SPREAD_PART 1000u

static uint64_t set_hz; /* 0: not set; atomic */

void
roce_tsc_read(struct roce_tsc_reading *reading)
{
	reading->spread = UINT64_MAX;
	for (unsigned int i = 0; i < TRIES; i++) {
		struct timespec now;
		uint64_t before = rte_rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = rte_rdtsc();
		if (after - before >= reading->spread)
			continue;
		*reading = (struct roce_tsc_reading){
			.ticks = before + (after - before) / 2,
			.ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec,
			.spread = after - before,
		};
	}
}

uint64_t
roce_tsc_judge(const struct roce_tsc_reading *from, const struct roce_tsc_reading *to,
		uint64_t eal_hz)
{
	uint64_t ticks = to->ticks - from->ticks, ns = to->ns - from->ns, hz, off;

	if (ns < NS_MIN || from->spread + to->spread > ticks / SPREAD_PART)
		return eal_hz;
	hz = (uint64_t)((double)ticks * (double)NS_PER_S / (double)ns);
	off = hz > eal_hz ? hz - eal_hz : eal_hz - hz;
	return off > hz / TOLERANCE ? hz : eal_hz;
}

void
roce_tsc_set_hz(uint64_t hz)
{
	__atomic_store_n(&set_hz, hz, __ATOMIC_RELAXED);
}

uint64_t
roce_tsc_hz(void)
{
	uint64_t hz = __atomic_load_n(&set_hz, __ATOMIC_RELAXED);

	return hz != 0 ? hz : rte_get_tsc_hz();
}
