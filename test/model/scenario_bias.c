/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A biased lock: the real bias.c and bias.h, compiled as the other sources are, since much of it is inline.
 *
 * The bias threshold is 1, and all threads look alike to the lock: each unlock of the spinlock makes an owner where one may
 * be made, so owners change as often as they can. The barrier does nothing: under sequential consistency each store is
 * seen at once by all, which is what the barrier is for. That the real one does it is the kernel's word (membarrier(2)),
 * and test_bias_threads.c.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "queue/bias.h"
#include "explore.h"
#include "memory.h"
#include "scenario.h"

#define HELD 1u /**< virtual object: who is between lock and unlock */

struct scene {
	const char *name;
	/** L: lock and unlock. T: the same, if it is free. W: lock, and unlock when others have made their tries. */
	const char *thread[MODEL_THREADS];
	uint32_t tries; /**< that W waits for */
	bool owned;     /**< by thread 0, from the beginning */
	bool soak;      /**< too long for every day */
};

static const struct scene *scene;
static struct cell {
	struct roce_lock lock;
	uint32_t holders; /**< under it, and the next */
	uint32_t turns;
	uint32_t tries; /**< to be made yet; atomic */
} * cell;

static void
describe(const volatile void *address, char *text, size_t size)
{
	snprintf(text, size, "the lock and what it guards, byte %zu",
			(size_t)((uintptr_t)address - (uintptr_t)cell));
}

static void
no_barrier(void)
{
}

static void
prepare(void)
{
	memory_describe = describe;
	cell = memory_alloc(NULL, sizeof(*cell));
	cell->lock.bias.threshold = 1;
	cell->tries = scene->tries;
	if (scene->owned)
		cell->lock.bias.owner = 4; /* roce_bias_self() of thread 0 */
}

/* The critical section, with a step in it at which all other threads may go on. */
static void
work(void)
{
	if (cell->holders++ != 0)
		model_fail("two threads hold the lock");
	model_mark(HELD, HELD, "inside the lock");
	cell->holders--;
	cell->turns++;
}

static void
act(char word)
{
	if (word == 'T') {
		if (roce_trylock(&cell->lock)) {
			work();
			roce_unlock(&cell->lock);
		}
		__atomic_fetch_sub(&cell->tries, 1, __ATOMIC_RELEASE);
		return;
	}
	roce_lock(&cell->lock);
	work();
	if (word == 'W')
		model_await(&cell->tries, "tries", __func__);
	roce_unlock(&cell->lock);
}

static void
run_script(unsigned int self)
{
	for (const char *word = scene->thread[self]; *word != '\0'; word++)
		act(*word);
}

static void
observe(unsigned int self)
{
}

static void
finish(void)
{
	if (cell->turns == 0 || cell->holders != 0)
		model_fail("nobody had the lock, or somebody has it yet");
	if (cell->lock.spin.locked != 0 || cell->lock.bias.inside[0] != 0 ||
			cell->lock.bias.inside[1] != 0)
		model_fail("the lock is held at the end");
	memory_free(NULL, cell);
}

static const char *
explore_scene(const struct scene *s)
{
	struct model_program program = {
		.name = s->name,
		.prepare = prepare,
		.script = run_script,
		.observe = observe,
		.finish = finish,
	};
	struct explore_tally tally;
	bool holds;

	scene = s;
	while (program.threads < MODEL_THREADS && s->thread[program.threads] != NULL)
		program.threads++;
	holds = explore(&program, EXPLORE_REDUCED, &tally);
	printf("%-24s %9" PRIu64 " interleavings %10" PRIu64 " steps, %2u the longest\n", s->name,
			tally.runs, tally.steps, tally.longest);
	if (holds)
		return NULL;
	printf("VIOLATED %s, in the order %s\n", model_failure(), explore_schedule());
	explore_replay(&program, explore_schedule());
	return model_failure();
}

/* Two turns of a thread make it the owner, when the lock was taken from one before. */
static const struct scene scenes[] = {
	{ .name = "bias_taken_away", .thread = { "L", "L" }, .owned = true },
	{ .name = "bias_changes", .thread = { "LLL", "LLL" } },
	{ .name = "bias_stale", .thread = { "L", "LLL" }, .owned = true },
	{ .name = "bias_try", .thread = { "LL", "TT" }, .owned = true },
	{ .name = "bias_try_and_take", .thread = { "L", "T", "L" }, .owned = true },
	{ .name = "bias_try_awaited", .thread = { "W", "T" }, .tries = 1, .owned = true },
	{ .name = "bias_tries_awaited", .thread = { "W", "T", "T" }, .tries = 2, .owned = true },
	{ .name = "bias_three", .thread = { "L", "L", "L" }, .owned = true },
	{ .name = "bias_stale_three", .thread = { "L", "LLL", "L" }, .owned = true },
	{ .name = "bias_changes_three", .thread = { "LLL", "LLL", "L" }, .soak = true },
	{ .name = NULL },
};

/* One thread at a time, nothing of what it guards is lost, and everybody gets it: a wait without end is a deadlock. */
static void
bias__one_at_a_time(void **state)
{
	roce_engine_use_barrier(no_barrier);
	for (const struct scene *s = scenes; s->name != NULL; s++) {
		const char *fault = s->soak && !scenario_soak ? NULL : explore_scene(s);

		if (fault != NULL)
			fail_msg("%s: %s", s->name, fault);
	}
	roce_engine_use_barrier(NULL);
}

int
scenario_bias(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias__one_at_a_time),
	};

	return cmocka_run_group_tests_name("biased locks", tests, NULL, NULL);
}
