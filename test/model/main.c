/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared receive queue, completions, waits and channels in every order of their threads: the real srq.c, cq.c,
 * complete.c, wait.c and local/receive.c.
 *
 *   model [--soak]                  explore all scenes, with --soak also the long ones
 *   model [--soak] SCENE            explore one
 *   model --replay SCENE:SCHEDULE   run one order again and print its steps
 *   model --compare SCENE           explore without source sets, too: they must not have missed an interleaving
 *
 * The model explores sequential consistency, and that is enough: memory.h fails a run in which two threads touch
 * the same memory without a lock, a release or an acquire between them, on whatever processor; and the only pattern
 * for which a store that is still in its buffer matters, where each of two threads writes one word and then reads
 * the other's, is not in srq.c. It could be in the low watermark (one arms and looks at the count, one takes and looks
 * whether it is armed), but the thread that arms holds the lock under which all take: freeze(). Biased locks
 * (scenario_bias.c) are made of this pattern; there sequential consistency stands for a barrier on both sides.
 *
 * Channels between processes (scenario_channel.c) are made of it, too, with fences of their own. So their stores go
 * through store buffers (buffer.h), and each fence is shown to be needed.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <rte_common.h>

#include "explore.h"
#include "scenario.h"

bool scenario_soak;

static uint64_t all_runs, all_steps;

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* @return a sentence: what is wrong with the scene. NULL: it holds. */
static const char *
explore_scene(const struct script_scene *scene)
{
	struct explore_tally tally;
	double since = seconds();
	bool holds = explore(script_program(scene), EXPLORE_REDUCED, &tally);

	printf("%-24s %9" PRIu64 " interleavings %10" PRIu64 " steps, %2u the longest, %7" PRIu64
	       " given up, %5.1f s\n",
			scene->name, tally.runs, tally.steps, tally.longest, tally.given_up,
			seconds() - since);
	all_runs += tally.runs;
	all_steps += tally.steps;
	if (!holds) {
		printf("VIOLATED %s\n  replay: model --replay %s:%s\n", model_failure(),
				scene->name, explore_schedule());
		return model_failure();
	}
	return (scene->must_see & ~script_saw) == 0 ? NULL : "what should happen in it never does";
}

void
scenario_explore(const struct script_scene *scenes)
{
	for (const struct script_scene *s = scenes; s->name != NULL; s++) {
		const char *fault = s->soak && !scenario_soak ? NULL : explore_scene(s);

		if (fault != NULL)
			fail_msg("%s: %s", s->name, fault);
	}
}

static const struct script_scene *
find(const char *name, size_t length)
{
	const struct script_scene *const *const files[] = {
		scenario_low_scenes,
		scenario_resize_scenes,
		scenario_query_scenes,
		scenario_end_scenes,
	};

	for (size_t i = 0; i < RTE_DIM(files); i++) {
		for (const struct script_scene *const *list = files[i]; *list != NULL; list++) {
			for (const struct script_scene *s = *list; s->name != NULL; s++) {
				if (strlen(s->name) == length &&
						strncmp(s->name, name, length) == 0)
					return s;
			}
		}
	}
	fprintf(stderr, "model: there is no scene '%.*s'\n", (int)length, name);
	exit(2);
}

static int
replay(const char *what)
{
	size_t length = strcspn(what, ":");
	const struct script_scene *scene;
	bool holds;

	if (scenario_wait_replay(what, length, what + length + (what[length] == ':'), &holds))
		return !holds;
	scene = find(what, length);
	return !explore_replay(script_program(scene), what + length + (what[length] == ':'));
}

static int
compare(const char *name)
{
	const struct script_scene *scene = find(name, strlen(name));
	struct explore_tally reduced, all;
	bool holds = explore(script_program(scene), EXPLORE_REDUCED, &reduced) &&
			explore(script_program(scene), EXPLORE_ASLEEP, &all);

	if (!holds) {
		printf("%s: %s\n", name, model_failure());
		return 1;
	}
	printf("%s: %" PRIu64 " interleavings of %" PRIu64 ", given up %" PRIu64 " and %" PRIu64
	       "\n",
			name, reduced.runs, all.runs, reduced.given_up, all.given_up);
	return all.runs != reduced.runs;
}

static int
explore_all(void)
{
	double since = seconds();
	int failed = scenario_litmus() + scenario_litmus_late() + scenario_bias() +
			scenario_complete() + scenario_low() + scenario_resize() +
			scenario_query() + scenario_end() + scenario_wait() + scenario_channel();

	printf("%" PRIu64 " interleavings, %" PRIu64 " steps, %d tests failed, %.1f s\n", all_runs,
			all_steps, failed, seconds() - since);
	return failed != 0;
}

int
main(int argc, char **argv)
{
	bool holds;
	int i = 1;

	if (argc == 3 && strcmp(argv[1], "--replay") == 0)
		return replay(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--compare") == 0)
		return compare(argv[2]);
	if (i < argc && strcmp(argv[i], "--soak") == 0) {
		scenario_soak = true;
		i++;
	}
	if (i < argc && scenario_wait_replay(argv[i], strlen(argv[i]), NULL, &holds))
		return !holds;
	if (i < argc)
		return explore_scene(find(argv[i], strlen(argv[i]))) != NULL;
	return explore_all();
}
