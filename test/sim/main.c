/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deterministic simulator.
 *
 *   sim [worlds [first seed]]             live so many worlds, of every scenario its share
 *   sim --messages number [first seed]    live worlds until so many messages were posted, and flip every bit of
 *                                         frames of every size
 *   sim --replay SCENARIO:SEED            live one world again, and print its frames
 *
 * Prints what it did, and for a world that was violated the line that replays it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flip.h"
#include "scenario.h"
#include "trace.h"
#include "world.h"

#define VIOLATIONS_SHOWN 10u
#define ROUND            100000u /**< worlds */

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
replay(const char *what)
{
	char name[32] = "";
	const char *colon = strchr(what, ':');
	const struct scenario *s = NULL;
	struct world_params params;
	const char *violation;
	uint64_t seed = 0;

	if (colon != NULL && (size_t)(colon - what) < sizeof(name)) {
		memcpy(name, what, (size_t)(colon - what));
		seed = strtoull(colon + 1, NULL, 0);
		s = scenario_find(name);
	}
	if (s == NULL) {
		fprintf(stderr, "sim: '%s' is not SCENARIO:SEED\n", what);
		return 2;
	}
	trace_on();
	params = s->make(seed);
	violation = world_run(&params);
	printf("%s:%" PRIu64 ": %s\n", name, seed, violation != NULL ? violation : "holds");
	return violation != NULL;
}

/* @return worlds that were violated. */
static uint64_t
run(const struct scenario *s, uint64_t worlds, uint64_t first)
{
	double since = seconds();
	uint64_t bad = 0;

	for (uint64_t i = 0; i < worlds; i++) {
		struct world_params params = s->make(first + i);
		const char *violation = world_run(&params);

		if (violation == NULL)
			continue;
		if (++bad <= VIOLATIONS_SHOWN)
			printf("VIOLATED %s\n  replay: sim --replay %s:%" PRIu64 "\n", violation,
					s->name, first + i);
	}
	printf("%-9s %9" PRIu64 " worlds %7.1f s  %s\n", s->name, worlds, seconds() - since,
			s->what);
	fflush(stdout);
	return bad;
}

/* Of each scenario its share. */
static uint64_t
run_shares(uint64_t worlds, uint64_t first)
{
	uint64_t bad = 0;

	for (const struct scenario *s = scenarios; s->name != NULL; s++) {
		if (s->flips == 0)
			bad += run(s, worlds * s->share / 100, first);
	}
	return bad;
}

/* The sweeps over every bit of frames of up to @p mtu. */
static uint64_t
run_flips(uint32_t mtu)
{
	uint64_t bad = 0;

	for (const struct scenario *s = scenarios; s->name != NULL; s++) {
		if (s->flips != 0 && s->flips <= mtu)
			bad += run(s, flip_worlds(s->flips), 0);
	}
	if (!flip_report(mtu)) {
		printf("some positions were never flipped\n");
		bad++;
	}
	return bad;
}

static void
print_totals(uint64_t bad, double since)
{
	const struct world_totals *t = &world_totals;

	printf("%" PRIu64 " worlds, %" PRIu64 " messages, %" PRIu64 " of them inline, %" PRIu64
	       " binds, %" PRIu64 " keys invalidated, %" PRIu64 " requests refused, %" PRIu64
	       " connections broken on purpose\n",
			t->worlds, t->messages, t->inlined, t->binds, t->invalidated, t->refused,
			t->broken);
	printf("%" PRIu64 " frames: %" PRIu64 " lost, %" PRIu64 " damaged, %" PRIu64
	       " repeated, %" PRIu64 " marked and %" PRIu64 " notifications, %" PRIu64
	       " sent again, %" PRIu64 " held; no frame to be had %" PRIu64 " times\n",
			t->frames, t->lost, t->damaged, t->repeated, t->marked, t->notified,
			t->retransmits, t->held, t->dry);
	printf("%" PRIu64 " violations, %.1f s\n", bad, seconds() - since);
}

int
main(int argc, char **argv)
{
	bool until = argc > 2 && strcmp(argv[1], "--messages") == 0;
	uint64_t number = argc > 1 ? strtoull(argv[until ? 2 : 1], NULL, 0) : 20000;
	uint64_t first = argc > 2 + until ? strtoull(argv[2 + until], NULL, 0) : 1;
	double begin = seconds();
	uint64_t bad = 0;
	bool whole;

	setvbuf(stdout, NULL, _IOLBF, 0);
	world_start();
	if (argc > 2 && strcmp(argv[1], "--replay") == 0)
		return replay(argv[2]);
	if (until) {
		bad += run_flips(4096);
		for (; world_totals.messages < number; first += ROUND)
			bad += run_shares(ROUND, first);
	} else {
		bad += run_flips(256);
		bad += run_shares(number, first);
	}
	whole = world_stop();
	print_totals(bad, begin);
	return bad != 0 || !whole;
}
