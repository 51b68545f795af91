/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <time.h>

#define SPINS  1000
#define NAP_NS 50000

double
pace_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void
pace_begin(struct pace *pace)
{
	*pace = (struct pace){ .moved_at = pace_now() };
}

double
pace_rest(struct pace *pace, bool moved, bool quiet)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (moved) {
		pace->idle = 0;
		return 0;
	}
	if (pace->idle == 0)
		pace->moved_at = pace_now();
	if (pace->idle < SPINS)
		pace->idle++;
	if (!quiet && pace->idle < SPINS)
		return 0;
	nanosleep(&nap, NULL);
	return pace_now() - pace->moved_at;
}
