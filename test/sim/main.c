/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deterministic simulator.
 *
 *   sim [worlds [first seed]]     live so many worlds of every scenario in turn
 *   sim --replay SCENARIO:SEED    live one world again
 *
 * Prints what it did, and for a world that was violated the line that replays it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenario.h"
#include "world.h"

#define VIOLATIONS_SHOWN 10u

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
	params = s->make(seed);
	violation = world_run(&params);
	printf("%s:%" PRIu64 ": %s\n", name, seed, violation != NULL ? violation : "holds");
	return violation != NULL;
}

static uint64_t
run(const struct scenario *s, uint64_t worlds, uint64_t first)
{
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
	return bad;
}

int
main(int argc, char **argv)
{
	uint64_t worlds = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	double begin;
	uint64_t bad = 0;
	bool whole;

	world_start();
	if (argc > 2 && strcmp(argv[1], "--replay") == 0)
		return replay(argv[2]);
	begin = seconds();
	for (const struct scenario *s = scenarios; s->name != NULL; s++) {
		uint64_t share = worlds * s->share / 100;
		double since = seconds();

		bad += run(s, share, first);
		printf("%-8s %9" PRIu64 " worlds %6.1f s  %s\n", s->name, share, seconds() - since,
				s->what);
	}
	whole = world_stop();
	printf("%" PRIu64 " worlds, %" PRIu64 " messages, %" PRIu64 " frames (%" PRIu64
	       " lost, %" PRIu64 " damaged, %" PRIu64 " repeated, %" PRIu64 " sent again), %" PRIu64
	       " connections broken on purpose, %" PRIu64 " violations, %.1f s\n",
			world_totals.worlds, world_totals.messages, world_totals.frames,
			world_totals.lost, world_totals.damaged, world_totals.repeated,
			world_totals.retransmits, world_totals.broken, bad, seconds() - begin);
	return bad != 0 || !whole;
}
