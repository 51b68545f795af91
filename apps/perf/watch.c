/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "clock.h"
#include "end.h"

/* Longer than any retransmission that may still succeed. */
#define STANDSTILL_S 30
#define LINE_AFTER_S 2

/* The measurement starts in one of these. */
static void
sample(struct perf_watch *watch, uint64_t now, uint64_t measured)
{
	bool started = watch->meter.started;

	perf_meter_sample(&watch->meter, now, measured);
	if (!started && watch->meter.started)
		watch->cpu_ns = perf_cpu_ns();
}

void
perf_watch_begin(struct perf_watch *watch, const struct perf_options *options,
		const struct perf_plan *plan, uint64_t warmup)
{
	uint64_t now, hz = perf_hz();

	now = perf_now();
	*watch = (struct perf_watch){
		.options = options,
		.plan = plan,
		.hz = hz,
		.moved_at = now,
		.line_at = isatty(STDERR_FILENO) ? now + LINE_AFTER_S * hz : 0,
	};
	perf_meter_init(&watch->meter, hz, warmup);
	/* Without a warm-up the first message counts, and its time too. */
	sample(watch, now, 0);
}

static void
show_line(struct perf_watch *watch, uint64_t now, uint64_t measured)
{
	double seconds = (double)(now - watch->meter.start) / (double)watch->hz;
	double rate = (double)(measured - watch->meter.base) / seconds;

	fprintf(stderr, "\r %u bytes: %.0f s, %.3f million messages, %.3f million/s, %.2f Gb/sec ",
			watch->plan->size, seconds, (double)measured / 1e6, rate / 1e6,
			rate * watch->plan->size * 8 / 1e9);
	fflush(stderr);
	watch->line_shown = true;
	watch->line_at = now + watch->hz / 2;
}

enum perf_watch_says
perf_watch_tick(struct perf_watch *watch, uint64_t measured, uint64_t moved)
{
	uint64_t now = perf_now();

	sample(watch, now, measured);
	if (moved != watch->moved) {
		watch->moved = moved;
		watch->moved_at = now;
	} else if (now - watch->moved_at > STANDSTILL_S * watch->hz) {
		perf_watch_end(watch);
		cli_say("no message has moved for %u seconds, after %llu", STANDSTILL_S,
				(unsigned long long)measured);
		return PERF_GIVE_UP;
	}
	if (perf_stop) {
		perf_watch_end(watch);
		if (perf_stop == PERF_STOP_SIGNAL)
			cli_say("interrupted after %llu messages", (unsigned long long)measured);
		return PERF_GIVE_UP;
	}
	if (watch->line_at != 0 && now > watch->line_at && watch->meter.started)
		show_line(watch, now, measured);
	if (watch->options->seconds != 0 && watch->meter.started &&
			now - watch->meter.start >= watch->options->seconds * watch->hz)
		return PERF_TIME_UP;
	return PERF_GO_ON;
}

uint64_t
perf_watch_end(struct perf_watch *watch)
{
	uint64_t now = perf_now();

	if (watch->line_shown)
		fputs("\r\033[K", stderr);
	watch->line_shown = false;
	return now;
}
