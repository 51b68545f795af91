/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "report.h"
#include "stop.h"

/* Longer than any retransmission that may still succeed. */
#define STANDSTILL_S 30
#define LINE_AFTER_S 2

/* The measurement starts in one of these. */
static void
sample(struct perf_watch *watch, uint64_t now, uint64_t measured)
{
	bool started = watch->meter.started;

	perf_meter_sample(&watch->meter, now, measured);
	if (started || !watch->meter.started)
		return;
	watch->cpu_ns = perf_cpu_ns();
	watch->row_at = now;
	watch->row_base = measured;
	if (watch->end->options->cpu_util)
		perf_cpu_times(&watch->cpu_times);
}

void
perf_watch_begin(struct perf_watch *watch, const struct perf_end *end, uint64_t warmup)
{
	uint64_t now, hz = perf_hz();

	now = perf_now();
	*watch = (struct perf_watch){
		.end = end,
		.hz = hz,
		.moved_at = now,
		.line_at = isatty(STDERR_FILENO) && !end->options->endless ? now + LINE_AFTER_S * hz
									   : 0,
	};
	perf_meter_init(&watch->local, hz, end->plan->warmup);
	perf_meter_init(&watch->remote, hz, end->plan->warmup);
	perf_meter_init(&watch->meter, hz, warmup);
	/* Without a warm-up the first message counts, and its time too. */
	sample(watch, now, 0);
	perf_watch_ways(watch, 0, 0);
}

void
perf_watch_ways(struct perf_watch *watch, uint64_t local, uint64_t remote)
{
	const struct perf_options *options = watch->end->options;
	uint64_t now;

	if (!options->report_both || !options->both)
		return;
	now = perf_now();
	perf_meter_sample(&watch->local, now, local);
	perf_meter_sample(&watch->remote, now, remote);
}

double
perf_watch_cpu_util(const struct perf_watch *watch)
{
	struct perf_cpu_times now;

	perf_cpu_times(&now);
	if (now.all <= watch->cpu_times.all)
		return 0;
	return 100.0 * (double)(now.busy - watch->cpu_times.busy) /
			(double)(now.all - watch->cpu_times.all);
}

/* A run without end: its rows are of what was since the last one. */
static void
print_row(struct perf_watch *watch, uint64_t now, uint64_t measured)
{
	double seconds = (double)(now - watch->row_at) / (double)watch->hz;
	struct perf_result result = {
		.test = watch->end->options->test,
		.size = watch->end->plan->size,
		.iterations = (measured - watch->row_base) / watch->directions,
		.measured = true,
		.messages_per_s = (double)(measured - watch->row_base) / seconds,
		.peak_per_s = watch->meter.peak,
	};

	if (result.peak_per_s < result.messages_per_s)
		result.peak_per_s = result.messages_per_s;
	if (result.peak_per_s > watch->best)
		watch->best = result.peak_per_s;
	watch->meter.peak = 0;
	watch->row_at = now;
	watch->row_base = measured;
	if (watch->end->options->cpu_util)
		result.cpu_util = perf_watch_cpu_util(watch);
	perf_report_interval(watch->end->options, &result);
}

static void
show_line(struct perf_watch *watch, uint64_t now, uint64_t measured)
{
	double seconds = (double)(now - watch->meter.start) / (double)watch->hz;
	double rate = (double)(measured - watch->meter.base) / seconds;

	fprintf(stderr, "\r %u bytes: %.0f s, %.3f million messages, %.3f million/s, %.2f Gb/sec ",
			watch->end->plan->size, seconds, (double)measured / 1e6, rate / 1e6,
			rate * watch->end->plan->size * 8 / 1e9);
	fflush(stderr);
	watch->line_shown = true;
	watch->line_at = now + watch->hz / 2;
}

static enum perf_watch_says
stop(struct perf_watch *watch, uint64_t now)
{
	if (watch->stop_at == 0)
		watch->stop_at = now;
	if (now - watch->stop_at <= PERF_STOP_GRACE_S * watch->hz)
		return PERF_STOP;
	perf_watch_end(watch);
	cli_say("what was on the way did not come within %u seconds of the interrupt",
			PERF_STOP_GRACE_S);
	return PERF_GIVE_UP;
}

enum perf_watch_says
perf_watch_tick(struct perf_watch *watch, uint64_t measured, uint64_t moved)
{
	uint64_t now = perf_now(), seconds = watch->end->options->seconds;

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
	if (perf_stop_failed()) {
		perf_watch_end(watch);
		return PERF_GIVE_UP;
	}
	if (perf_stop_wanted(watch->end))
		return stop(watch, now);
	if (watch->line_at != 0 && now > watch->line_at && watch->meter.started)
		show_line(watch, now, measured);
	if (watch->end->options->endless) {
		if (watch->directions != 0 && watch->meter.started &&
				now - watch->row_at >= seconds * watch->hz)
			print_row(watch, now, measured);
		return PERF_GO_ON;
	}
	if (seconds != 0 && watch->meter.started && now - watch->meter.start >= seconds * watch->hz)
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
	if (watch->meter.peak < watch->best)
		watch->meter.peak = watch->best;
	return now;
}
