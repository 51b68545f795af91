/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

struct trace trace;

/* The name of each kind of step, and those of its arguments. */
static const struct {
	const char *name;
	const char *arg[TRACE_ARGS];
} kind[WALK_OPS] = {
	[WALK_POST] = { "post", { "srq", "receive", "length", "segments" } },
	[WALK_ARRIVE] = { "arrive",
			{ "qp", "psn", "length", "parts (1 first, 2 last, 4 other engine)" } },
	[WALK_STRAY] = { "stray",
			{ "qp", "psn", "length", "parts (1 first, 2 last, 4 other engine)" } },
	[WALK_REAP] = { "reap", { "cq", "at most" } },
	[WALK_TURN] = { "turn", { "engine" } },
	[WALK_QUERY] = { "query", { "srq" } },
	[WALK_RESIZE] = { "resize", { "srq", "max", "failing allocation" } },
	[WALK_SET_LOW] = { "set_low", { "srq", "low" } },
	[WALK_SET_HIGH] = { "set_high", { "qp", "soft", "hard" } },
	[WALK_DISCONNECT] = { "disconnect", { "qp" } },
	[WALK_RECONNECT] = { "reconnect", { "qp", "psn", "ready" } },
	[WALK_FREE] = { "free",
			{ "kind (0 qp, 1 cq, 2 srq)", "index", "and its qps",
					"failing allocation" } },
};

void
trace_begin(unsigned int engines, uint64_t seed)
{
	memset(trace.step, 0, sizeof(trace.step));
	trace.engines = engines;
	trace.seed = seed;
	trace.steps = 0;
	trace.at = 0;
}

const char *
trace_name(enum walk_op op)
{
	return kind[op].name;
}

static void
print_step(const struct trace_step *step)
{
	printf("  %10" PRIu64 " %-10s", step->number, kind[step->op].name);
	for (unsigned int i = 0; i < TRACE_ARGS && kind[step->op].arg[i] != NULL; i++)
		printf("  %s %" PRIu32, kind[step->op].arg[i], step->arg[i]);
	printf("  -> %d\n", step->answer);
}

void
trace_violated(const char *form, ...)
{
	va_list args;

	printf("VIOLATED seed %" PRIu64 ", step %" PRIu64 ": ", trace.seed, trace.steps);
	va_start(args, form);
	vprintf(form, args);
	va_end(args);
	printf("\n  the last steps:\n");
	for (unsigned int i = 1; i <= TRACE_STEPS; i++) {
		const struct trace_step *step = &trace.step[(trace.at + i) % TRACE_STEPS];

		if (step->number != 0)
			print_step(step);
	}
	printf("  replay: walk --engines %u --seed %" PRIu64 " --steps %" PRIu64 "\n",
			trace.engines, trace.seed, trace.steps);
	fflush(stdout);
	exit(EXIT_FAILURE);
}
