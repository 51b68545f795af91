/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random walks over the shared receive queue of the real engine, with a model beside it.
 *
 *   walk [--engines 1|2|4] [--seed SEED] [--steps STEPS]
 *
 * So many steps in walks of a million each, with the seed and those that follow; without --engines the walks have
 * 1, 2 and 4 in turn. A violation prints what did not hold, the last steps, and the arguments that replay it.
 */

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ground.h"
#include "walk.h"

#define ENOUGH UINT64_C(1000000) /**< steps in which everything should have happened */

struct options {
	unsigned int engines; /**< 0: all in turn */
	uint64_t seed;
	uint64_t steps;
};

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void __rte_noreturn
usage(void)
{
	fprintf(stderr, "usage: walk [--engines 1|2|4] [--seed SEED] [--steps STEPS]\n");
	exit(2);
}

static uint64_t
number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*text < '0' || *text > '9' || *end != '\0')
		usage();
	return n;
}

static struct options
parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "engines", required_argument, NULL, 'e' },
		{ "seed", required_argument, NULL, 's' },
		{ "steps", required_argument, NULL, 'n' },
		{ 0 },
	};
	struct options o = { .seed = 1, .steps = 3 * WALK_STEPS };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'e')
			o.engines = (unsigned int)number(optarg);
		else if (c == 's')
			o.seed = number(optarg);
		else if (c == 'n')
			o.steps = number(optarg);
		else
			usage();
	}
	if (optind != argc || o.engines == 3 || o.engines > GROUND_ENGINES)
		usage();
	return o;
}

/* @return walks. */
static uint64_t
run(const struct options *o, struct model_tally *tally)
{
	static const unsigned int in_turn[] = { 1, 2, 4 };
	uint64_t left = o->steps;
	uint64_t walks = 0;

	while (left > 0) {
		uint64_t steps = RTE_MIN(left, (uint64_t)WALK_STEPS);

		walk(o->engines != 0 ? o->engines : in_turn[walks % RTE_DIM(in_turn)],
				o->seed + walks, steps, tally);
		left -= steps;
		walks++;
	}
	return walks;
}

/* @return how many kinds of things never happened. */
static unsigned int
report(const struct model_tally *t)
{
	const struct {
		const char *name;
		uint64_t n;
	} row[] = {
		{ "receives taken", t->taken },
		{ "messages completed", t->completed },
		{ "receives flushed", t->flushed },
		{ "receives given back unseen", t->returned },
		{ "low watermark events", t->low },
		{ "soft high watermark events", t->soft },
		{ "broken by a hard high watermark", t->hard },
		{ "messages that found no receive", t->empty },
		{ "events lost by overflow", t->overflow },
		{ "messages too long", t->too_long },
		{ "broken by the peer", t->breach },
		{ "established by data", t->established },
		{ "packets executed that had come too early", t->early },
	};
	unsigned int never = 0;

	for (unsigned int op = 0; op < WALK_OPS; op++) {
		printf("  %12" PRIu64 " %s\n", trace.count[op], trace_name((enum walk_op)op));
		never += trace.count[op] == 0;
	}
	for (size_t i = 0; i < RTE_DIM(row); i++) {
		printf("  %12" PRIu64 " %s\n", row[i].n, row[i].name);
		never += row[i].n == 0;
	}
	return never;
}

int
main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct model_tally tally = { 0 };
	unsigned int never;
	uint64_t walks;
	double took;

	printf("walk: seed %" PRIu64 ", %" PRIu64 " steps, ", o.seed, o.steps);
	printf(o.engines != 0 ? "%u engines\n" : "1, 2 and 4 engines in turn\n", o.engines);
	fflush(stdout);
	ground_prepare();
	took = -seconds();
	walks = run(&o, &tally);
	took += seconds();
	never = report(&tally);
	printf("%" PRIu64 " steps in %" PRIu64 " walks from seed %" PRIu64
	       ", no violation, %.1f s, %.2f million steps a second\n",
			o.steps, walks, o.seed, took, 1e-6 * (double)o.steps / took);
	if (never > 0 && o.steps >= ENOUGH) {
		printf("but %u kinds of things never happened: that proves nothing of them\n",
				never);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
