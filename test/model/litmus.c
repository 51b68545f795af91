/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer itself: small programs of which is known what can happen, and the plain enumeration beside it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "buffer.h"
#include "litmus.h"
#include "memory.h"
#include "scenario.h"

struct litmus litmus;

static void
describe(const volatile void *address, char *text, size_t size)
{
	snprintf(text, size, "a cell");
}

static void
prepare(void)
{
	memory_describe = describe;
	litmus.cells = memory_alloc(NULL, sizeof(*litmus.cells));
	memset(litmus.result, 0, sizeof(litmus.result));
	buffer_begin(litmus.buffered);
}

static void
observe(unsigned int self)
{
}

static void
record(void)
{
	litmus.outcomes |= 1u << (litmus.result[0] * 4 + litmus.result[1]);
}

struct model_access
litmus_access(int order)
{
	return (struct model_access){ .size = 4, .order = order, .what = "a cell", .where = "" };
}

static uint32_t
load(unsigned int var, int order)
{
	const struct model_access a = litmus_access(order);

	return (uint32_t)model_load(&litmus.cells->var[var], &a);
}

static void
store(unsigned int var, uint32_t value, int order)
{
	const struct model_access a = litmus_access(order);

	model_store(&litmus.cells->var[var], value, &a);
}

static void
add(unsigned int var)
{
	const struct model_access a = litmus_access(__ATOMIC_ACQ_REL);

	(void)model_add(&litmus.cells->var[var], 1, &a);
}

static void
lock(unsigned int i)
{
	model_lock(&litmus.cells->lock[i], "a lock", "");
}

static void
unlock(unsigned int i)
{
	model_unlock(&litmus.cells->lock[i], "a lock", "");
}

bool
litmus_compare(unsigned int threads, void (*script)(unsigned int), enum explore_how how,
		struct explore_tally *tally)
{
	const struct model_program program = {
		.name = "litmus",
		.threads = threads,
		.prepare = prepare,
		.script = script,
		.observe = observe,
		.finish = record,
	};
	struct explore_tally all;
	uint32_t reduced;

	litmus.outcomes = 0;
	if (!explore(&program, EXPLORE_REDUCED, tally))
		return false;
	reduced = litmus.outcomes;
	litmus.outcomes = 0;
	assert_true(explore(&program, how, &all));
	assert_int_equal(how == EXPLORE_ALL ? all.classes : all.runs, tally->runs);
	assert_int_equal(litmus.outcomes, reduced);
	return true;
}

static bool
run(unsigned int threads, void (*script)(unsigned int), struct explore_tally *tally)
{
	return litmus_compare(threads, script, EXPLORE_ALL, tally);
}

static bool
run_asleep(unsigned int threads, void (*script)(unsigned int), struct explore_tally *tally)
{
	return litmus_compare(threads, script, EXPLORE_ASLEEP, tally);
}

static void
cross(unsigned int self)
{
	store(self, 1, __ATOMIC_SEQ_CST);
	litmus.result[self] = load(!self, __ATOMIC_SEQ_CST);
}

/* Each writes its word and reads the other's: one at least sees the other. */
static void
explore__is_sequentially_consistent(void **state)
{
	struct explore_tally tally;

	assert_true(run(2, cross, &tally));
	assert_int_equal(
			litmus.outcomes, 1u << (0 * 4 + 1) | 1u << (1 * 4 + 0) | 1u << (1 * 4 + 1));
	assert_int_equal(tally.runs, 3);
}

static void
add_torn(unsigned int self)
{
	store(0, load(0, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	litmus.result[0] = litmus.cells->var[0];
}

static void
add_locked(unsigned int self)
{
	lock(0);
	add_torn(self);
	unlock(0);
}

static void
explore__finds_the_lost_update(void **state)
{
	struct explore_tally tally;

	assert_true(run(2, add_torn, &tally));
	assert_int_equal(litmus.outcomes, 1u << 4 | 1u << 8);
	assert_true(run(3, add_locked, &tally));
	assert_int_equal(litmus.outcomes, 1u << 12);
	/* As many orders as the lock has; what happens under it has none of its own. */
	assert_int_equal(tally.runs, 3 * 2 * 1);
}

static void
lock_crosswise(unsigned int self)
{
	lock(self);
	lock(!self);
	unlock(!self);
	unlock(self);
}

static void
explore__finds_the_deadlock(void **state)
{
	struct explore_tally tally;

	assert_false(run(2, lock_crosswise, &tally));
	assert_non_null(strstr(model_failure(), "deadlock"));
	/* One lock each, and then no step any more. */
	assert_int_equal(strlen(explore_schedule()), 2);
}

static int order_of_publisher;

static void
publish(unsigned int self)
{
	if (self == 0) {
		model_plain(&litmus.cells->plain, 4, true);
		store(0, 1, order_of_publisher);
	} else if (load(0, __ATOMIC_ACQUIRE) == 1) {
		model_plain(&litmus.cells->plain, 4, false);
	}
}

/* On x86 it works all the same: that is why no machine tells. */
static void
explore__finds_the_missing_release(void **state)
{
	struct explore_tally tally;

	order_of_publisher = __ATOMIC_RELEASE;
	assert_true(run(2, publish, &tally));
	order_of_publisher = __ATOMIC_RELAXED;
	assert_false(run(2, publish, &tally));
	assert_non_null(strstr(model_failure(), "data race"));
}

static void
free_early(unsigned int self)
{
	if (self == 0)
		memory_free(NULL, litmus.cells);
	else
		(void)load(0, __ATOMIC_ACQUIRE);
}

static void
explore__finds_the_early_free(void **state)
{
	struct explore_tally tally;

	assert_false(run(2, free_early, &tally));
}

/*
 * The owner of lock 1 sleeps when its steps are independent of the mark. Then the other two, of which one waits for
 * lock 1 and one for lock 0, come no further, and yet compete for lock 0.
 */
static void
wait_for_sleeper(unsigned int self)
{
	if (self == 0) {
		lock(1);
		(void)load(0, __ATOMIC_ACQUIRE);
		(void)load(0, __ATOMIC_ACQUIRE);
		unlock(1);
	} else if (self == 1) {
		model_mark(1, 0, "a mark");
		lock(0);
		lock(1);
		unlock(1);
		unlock(0);
	} else {
		lock(0);
		model_mark(0, 1, "a mark");
		store(0, 1, __ATOMIC_RELEASE);
		unlock(0);
	}
}

static void
explore__counts_those_who_wait(void **state)
{
	struct explore_tally tally;

	assert_true(run_asleep(3, wait_for_sleeper, &tally));
}

/* ---- any program ---- */

#define THREADS 3
#define EACH    8u

/* Steps of each thread as numbers, from which do_step() makes an access, a lock or a mark. */
static uint32_t program[THREADS][EACH];

uint32_t
litmus_roll(uint32_t sides)
{
	litmus.dice = litmus.dice * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(litmus.dice >> 33) % sides;
}

static void
access_something(uint32_t what)
{
	unsigned int var = what % LITMUS_VARS;

	switch (what / LITMUS_VARS % 4) {
	case 0:
		store(var, what, __ATOMIC_RELEASE);
		break;
	case 1:
		add(var);
		break;
	case 2:
		(void)load(var, __ATOMIC_ACQUIRE);
		break;
	default:
		model_mark(what & 1, what & 1 ? 0 : 1, "a mark");
		break;
	}
}

/* @return visible steps it has, at most. */
static unsigned int
do_step(uint32_t number, bool doing)
{
	unsigned int which = number / 16 % LITMUS_LOCKS;

	switch (number / 64 % 6) {
	case 0:
		if (doing) {
			lock(which);
			access_something(number);
			unlock(which);
		}
		return 3;
	case 1:
		/* In one order only: crosswise would be a deadlock. */
		if (doing) {
			lock(0);
			lock(1);
			unlock(which);
			unlock(!which);
		}
		return 4;
	case 2:
		if (doing && model_trylock(&litmus.cells->lock[which], "a lock", "")) {
			access_something(number);
			unlock(which);
		}
		return 3;
	default:
		if (doing)
			access_something(number);
		return 1;
	}
}

static void
do_steps(unsigned int self)
{
	for (unsigned int i = 0; i < EACH && program[self][i] != 0; i++)
		(void)do_step(program[self][i], true);
}

static void
make_program(uint64_t seed, unsigned int left)
{
	litmus.dice = seed;
	memset(program, 0, sizeof(program));
	for (unsigned int i = 0; i < EACH; i++) {
		for (unsigned int t = 0; t < THREADS; t++) {
			uint32_t number = 64 + litmus_roll(1u << 20);
			unsigned int steps = do_step(number, false);

			if (steps > left)
				return;
			left -= steps;
			program[t][i] = number;
		}
	}
}

/* Random programs of accesses, locks, tried locks and marks: one run for each class, and no class missed. */
static void
explore__misses_no_order_and_repeats_none(void **state)
{
	const unsigned int programs = scenario_soak ? 20000 : 600;
	struct explore_tally tally;

	for (unsigned int seed = 1; seed <= programs; seed++) {
		/* So many steps can be enumerated in all orders. */
		make_program(seed, 9);
		assert_true(run(THREADS, do_steps, &tally));
		make_program(seed, 17);
		assert_true(run_asleep(THREADS, do_steps, &tally));
	}
}

int
scenario_litmus(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explore__is_sequentially_consistent),
		cmocka_unit_test(explore__finds_the_lost_update),
		cmocka_unit_test(explore__finds_the_deadlock),
		cmocka_unit_test(explore__finds_the_missing_release),
		cmocka_unit_test(explore__finds_the_early_free),
		cmocka_unit_test(explore__counts_those_who_wait),
		cmocka_unit_test(explore__misses_no_order_and_repeats_none),
	};

	return cmocka_run_group_tests_name("explorer", tests, NULL, NULL);
}
