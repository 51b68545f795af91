/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <time.h>

double
cli_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double
cli_runtime_step(struct cli_runtime *runtime)
{
	double seen = cli_seconds(), since = seen - runtime->seen;

	runtime->seen = seen;
	runtime->now += since < CLI_RUNTIME_STEP_S ? since : CLI_RUNTIME_STEP_S;
	return runtime->now;
}
