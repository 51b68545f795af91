/* SPDX-License-Identifier: BSD-3-Clause */
#include "stop.h"

#include <signal.h>

#include "cli/signals.h"
#include "clock.h"
#include "control.h"
#include "traffic.h"

static volatile sig_atomic_t failed;

void
perf_stop_fail(void)
{
	failed = 1;
}

bool
perf_stop_failed(void)
{
	return failed != 0;
}

bool
perf_stop_wanted(const struct perf_end *end)
{
	return cli_signal() != 0 || end->peer.stopped;
}

uint64_t
perf_stop_limit(const struct perf_end *end, unsigned int seconds)
{
	if (perf_stop_wanted(end) && seconds > PERF_STOP_GRACE_S)
		seconds = PERF_STOP_GRACE_S;
	return seconds * perf_hz();
}

int
perf_stop_end(struct perf_end *end)
{
	if (end->stopped)
		return 0;
	end->stopped = true;
	/* A latency test ends with the round trip under way. */
	if (end->goal != 0 && !perf_test_is_latency(end->options->test))
		perf_traffic_stop(end);
	if (end->control == DAT_HANDLE_NULL || end->peer.stopped)
		return 0;
	return perf_control_say(end, PERF_STOPPED, 0);
}
