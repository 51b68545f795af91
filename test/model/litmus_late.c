/* SPDX-License-Identifier: BSD-3-Clause */
/* Store buffers: small programs of which is known what x86 lets them see, and the plain enumeration beside it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "buffer.h"
#include "litmus.h"
#include "scenario.h"

#define THREADS 2
#define EACH    3u

/* Steps of each thread as numbers. */
static uint32_t program[THREADS][EACH];

static bool
run(void (*script)(unsigned int))
{
	struct explore_tally tally;

	return litmus_compare(2 * THREADS, script, EXPLORE_ASLEEP, &tally);
}

static int
setup(void **state)
{
	litmus.buffered = THREADS;
	return 0;
}

static int
teardown(void **state)
{
	litmus.buffered = 0;
	buffer_without_fences = 0;
	return 0;
}

static void
store_late(unsigned int var, uint32_t value)
{
	const struct model_access a = litmus_access(__ATOMIC_RELAXED);

	buffer_store(&litmus.cells->var[var], value, &a);
}

static uint32_t
load_own(unsigned int var)
{
	const struct model_access a = litmus_access(__ATOMIC_RELAXED);

	return (uint32_t)buffer_load(&litmus.cells->var[var], &a);
}

static void
cross_late(unsigned int self)
{
	if (buffer_is_drain(self)) {
		buffer_drain(self);
		return;
	}
	store_late(self, 1);
	buffer_fence();
	/* Its own store it has seen in any case. */
	if (load_own(self) == 1)
		litmus.result[self] = load_own(!self);
	buffer_end();
}

/* As cross(): without fences neither may see the other, which x86 allows. A fence of one of them does not help. */
static void
explore__sees_stores_late(void **state)
{
	const uint32_t ordered = 1u << (0 * 4 + 1) | 1u << (1 * 4 + 0) | 1u << (1 * 4 + 1);
	for (uint32_t without = 0; without < 4; without++) {
		buffer_without_fences = without;
		assert_true(run(cross_late));
		assert_int_equal(litmus.outcomes, without == 0 ? ordered : ordered | 1u << 0);
	}
}

static void
publish_late(unsigned int self)
{
	if (buffer_is_drain(self)) {
		buffer_drain(self);
		return;
	}
	if (self == 0) {
		store_late(0, 1);
		store_late(1, 1);
	} else {
		litmus.result[0] = load_own(1);
		litmus.result[1] = load_own(0);
	}
	buffer_end();
}

/* Stores are seen in the order in which they were made: whoever sees the second one sees the first. */
static void
explore__sees_stores_in_order(void **state)
{
	assert_true(run(publish_late));
	assert_int_equal(
			litmus.outcomes, 1u << (0 * 4 + 0) | 1u << (0 * 4 + 1) | 1u << (1 * 4 + 1));
}

/* Random stores, loads, fences and exchanges of two threads, whose stores are seen late. */
static void
do_late_steps(unsigned int self)
{
	const struct model_access a = litmus_access(__ATOMIC_ACQ_REL);

	if (buffer_is_drain(self)) {
		buffer_drain(self);
		return;
	}
	for (unsigned int i = 0; i < EACH && program[self][i] != 0; i++) {
		const uint32_t what = program[self][i] / 64;

		if (what % 8 < 3)
			store_late(what / 8 % LITMUS_VARS, i + 1);
		else if (what % 8 < 6)
			litmus.result[self] = load_own(what / 8 % LITMUS_VARS) % 4;
		else if (what % 8 == 6)
			buffer_fence();
		else
			(void)buffer_exchange(
					&litmus.cells->var[what / 8 % LITMUS_VARS], i + 1, &a);
	}
	buffer_end();
}

static void
explore__misses_no_order_of_late_stores(void **state)
{
	const unsigned int programs = scenario_soak ? 4000 : 150;
	for (unsigned int seed = 1; seed <= programs; seed++) {
		litmus.dice = seed;
		memset(program, 0, sizeof(program));
		for (unsigned int i = 0; i < 6; i++)
			program[i % 2][i / 2] = 64 + litmus_roll(1u << 20);
		assert_true(run(do_late_steps));
	}
}

int
scenario_litmus_late(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(explore__sees_stores_late, setup, teardown),
		cmocka_unit_test_setup_teardown(explore__sees_stores_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(
				explore__misses_no_order_of_late_stores, setup, teardown),
	};

	return cmocka_run_group_tests_name("store buffers", tests, NULL, NULL);
}
