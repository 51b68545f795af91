/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <time.h>

#include "cli/clock.h"

#define SPINS  1000
#define NAP_NS 50000

void
pace_begin(struct pace *pace)
{
	*pace = (struct pace){ .moved_at = cli_seconds() };
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
		pace->moved_at = cli_seconds();
	if (pace->idle < SPINS)
		pace->idle++;
	if (!quiet && pace->idle < SPINS)
		return 0;
	nanosleep(&nap, NULL);
	return cli_seconds() - pace->moved_at;
}
