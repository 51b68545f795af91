/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the time of a packet goes: each stage alone with warm caches, then a whole message cut at the seams of the
 * engine, in nanoseconds by payload. First the distance of two processors, which these figures of one core do not
 * depend on, but all of two cores do.
 */

#include <stdio.h>

#include "bench.h"
#include "distance.h"
#include "stages.h"

static void
print_table(const char *title, const struct bench_row *row, unsigned int rows)
{
	printf("\n %-24s", title);
	for (unsigned int i = 0; i < BENCH_SIZES; i++)
		printf(" %7u B", bench_size[i]);
	printf("\n");
	for (unsigned int r = 0; r < rows; r++) {
		printf(" %-24s", row[r].name);
		for (unsigned int i = 0; i < BENCH_SIZES; i++)
			printf(" %9.1f", row[r].ns[i]);
		printf("\n");
	}
}

static void
print_json(const char *kind, const struct bench_row *row, unsigned int rows)
{
	for (unsigned int r = 0; r < rows; r++) {
		for (unsigned int i = 0; i < BENCH_SIZES; i++)
			printf("{\"kind\": \"%s\", \"name\": \"%s\", \"size\": %u, \"ns\": %.3f}\n",
					kind, row[r].name, bench_size[i], row[r].ns[i]);
	}
}

static void
print_distance(double ns, bool json)
{
	if (json)
		printf("{\"kind\": \"distance\", \"ns\": %.1f}\n", ns);
	else if (ns > 0)
		printf(" one cache line there and back between two cores: %.0f ns (%s)\n", ns,
				ns > BENCH_FAR_NS ? "far" : "near");
	else
		printf(" this process gets only one core: no distance to measure\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static struct bench_row stage[BENCH_STAGES], phase[BENCH_PHASES];
	bool json = bench_wants(argc, argv, "--json");

	bench_start();
	print_distance(bench_distance(), json);
	for (unsigned int i = 0; i < BENCH_SIZES; i++) {
		bench_stages(stage, i);
		bench_polls(phase, i);
	}
	if (json) {
		print_json("stage", stage, BENCH_STAGES);
		print_json("phase", phase, BENCH_PHASES);
		return 0;
	}
	print_table("one stage alone, ns", stage, BENCH_STAGES);
	print_table("a whole message, ns", phase, BENCH_PHASES);
	return 0;
}
