/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include "queue/timer.h"
#include "fixture.h"

#define TURN  1024u /* slots of the wheel: a deadline further away waits more than one turn */
#define GRAIN 10u
#define MANY  200u
#define GANG  5u

static struct roce_wheel *wheel;
static unsigned int fired;
static uint64_t fired_at;
static struct roce_timer *victim;
static uint64_t again_at;
static struct roce_timer gang[GANG];

static int
setup(void **state)
{
	fired = 0;
	return roce_wheel_create(&fx_memory, GRAIN, 1000, &wheel);
}

static int
teardown(void **state)
{
	roce_wheel_destroy(wheel);
	return fx_live() != 0;
}

static void
count(struct roce_timer *timer, uint64_t now)
{
	assert_false(roce_timer_armed(timer));
	assert_true(now >= timer->deadline);
	fired++;
	fired_at = now;
}

static void
count_and_rearm(struct roce_timer *timer, uint64_t now)
{
	count(timer, now);
	roce_timer_arm(wheel, timer, again_at);
}

static void
count_and_cancel_the_others(struct roce_timer *timer, uint64_t now)
{
	count(timer, now);
	for (unsigned int i = 0; i < GANG; i++)
		roce_timer_cancel(wheel, &gang[i]);
}

static void
count_and_move_victim(struct roce_timer *timer, uint64_t now)
{
	count(timer, now);
	roce_timer_arm(wheel, victim, again_at);
}

UNIT_RULE(arm__fires_at_the_first_advance_not_before_the_deadline)
{
	static const uint64_t deadline[] = { 1001, 1009, 1010, 1011, 1999, 1000 + GRAIN * TURN - 1,
		1000 + GRAIN * TURN, 1000 + GRAIN * TURN + 1, 1000 + 5 * GRAIN * TURN + 3 };

	for (size_t i = 0; i < RTE_DIM(deadline); i++) {
		struct roce_timer timer;

		teardown(state);
		setup(state);
		roce_timer_init(&timer, count);
		roce_timer_arm(wheel, &timer, deadline[i]);
		for (uint64_t now = 1000; now < deadline[i]; now += 7) {
			roce_wheel_advance(wheel, now);
			assert_int_equal(fired, 0);
		}
		roce_wheel_advance(wheel, deadline[i] - 1);
		assert_int_equal(fired, 0);
		roce_wheel_advance(wheel, deadline[i]);
		assert_int_equal(fired, 1);
		assert_int_equal(roce_wheel_count(wheel), 0);
	}
}

UNIT_RULE(arm__in_the_past_fires_at_the_next_advance)
{
	struct roce_timer timer;

	roce_timer_init(&timer, count);
	roce_wheel_advance(wheel, 50000);
	roce_timer_arm(wheel, &timer, 3);
	assert_true(roce_wheel_deadline(wheel) <= 50000);
	roce_wheel_advance(wheel, 50000);
	assert_int_equal(fired, 1);
}

UNIT_RULE(arm__of_an_armed_timer_moves_it)
{
	struct roce_timer timer;

	roce_timer_init(&timer, count);
	roce_timer_arm(wheel, &timer, 2000);
	roce_timer_arm(wheel, &timer, 3000);
	assert_int_equal(roce_wheel_count(wheel), 1);
	roce_wheel_advance(wheel, 2999);
	assert_int_equal(fired, 0);
	roce_timer_arm(wheel, &timer, 2999);
	roce_wheel_advance(wheel, 2999);
	assert_int_equal(fired, 1);
}

UNIT_RULE(cancel__means_never)
{
	struct roce_timer timer[3];

	/* Three in one slot: first, middle and last of its list can go. */
	for (unsigned int gone = 0; gone < 3; gone++) {
		fired = 0;
		for (unsigned int i = 0; i < 3; i++) {
			roce_timer_init(&timer[i], count);
			roce_timer_arm(wheel, &timer[i], 2005 + 1000 * gone);
		}
		roce_timer_cancel(wheel, &timer[gone]);
		roce_timer_cancel(wheel, &timer[gone]);
		assert_int_equal(roce_wheel_count(wheel), 2);
		roce_wheel_advance(wheel, 2005 + 1000 * gone);
		assert_int_equal(fired, 2);
	}
}

UNIT_RULE(advance__by_many_turns_fires_everything_due_once)
{
	struct roce_timer timer[MANY];

	for (unsigned int i = 0; i < MANY; i++) {
		roce_timer_init(&timer[i], count);
		roce_timer_arm(wheel, &timer[i], 1000 + i * 997);
	}
	roce_wheel_advance(wheel, 1000 + (MANY / 2) * 997);
	assert_int_equal(fired, MANY / 2 + 1);
	roce_wheel_advance(wheel, UINT64_C(1) << 50);
	assert_int_equal(fired, MANY);
}

UNIT_RULE(advance__lets_a_callback_arm_the_same_timer_again)
{
	struct roce_timer timer;

	roce_timer_init(&timer, count_and_rearm);
	roce_timer_arm(wheel, &timer, 2000);
	again_at = 2000 + GRAIN * TURN; /* the slot that is being emptied */
	roce_wheel_advance(wheel, 2000);
	assert_int_equal(fired, 1);
	roce_wheel_advance(wheel, again_at - 1);
	assert_int_equal(fired, 1);
	roce_wheel_advance(wheel, again_at);
	assert_int_equal(fired, 2);
	roce_timer_cancel(wheel, &timer);
}

UNIT_RULE(advance__ends_although_a_callback_arms_for_the_past)
{
	struct roce_timer timer;

	for (unsigned int turns = 1; turns <= 3; turns++) {
		roce_timer_init(&timer, count_and_rearm);
		again_at = 0;
		roce_timer_arm(wheel, &timer, 0);
		roce_wheel_advance(wheel, 100000 + turns * GRAIN * TURN * turns);
		fired = 0;
		/* It stays due: some advance soon must fire it, and each at most once. */
		roce_wheel_advance(wheel, 100000 + turns * GRAIN * TURN * turns);
		assert_int_equal(fired, 1);
		roce_timer_cancel(wheel, &timer);
	}
}

UNIT_RULE(advance__respects_a_callback_that_cancels_other_due_timers)
{
	/* All due at once, in one slot and in several: whichever is first cancels the others. */
	for (uint64_t apart = 0; apart <= GRAIN; apart += GRAIN) {
		const uint64_t base = 2000 + apart * 1000;

		fired = 0;
		for (unsigned int i = 0; i < GANG; i++) {
			roce_timer_init(&gang[i], count_and_cancel_the_others);
			roce_timer_arm(wheel, &gang[i], base + i * apart);
		}
		roce_wheel_advance(wheel, base + GANG * GRAIN);
		assert_int_equal(fired, 1);
		assert_int_equal(roce_wheel_count(wheel), 0);
		assert_int_equal(roce_wheel_deadline(wheel), ROCE_NEVER);
	}
}

UNIT_RULE(advance__respects_a_callback_that_moves_another_due_timer)
{
	struct roce_timer mover, moved;

	for (unsigned int order = 0; order < 2; order++) {
		uint64_t base = 2000 + order * 100000;

		fired = 0;
		roce_timer_init(&mover, count_and_move_victim);
		roce_timer_init(&moved, count);
		victim = &moved;
		again_at = base + 500;
		roce_timer_arm(wheel, order == 0 ? &mover : &moved, base);
		roce_timer_arm(wheel, order == 0 ? &moved : &mover, base);
		roce_wheel_advance(wheel, base);
		/* Fired before it was moved, or moved before it fired: in both cases it is armed now. */
		assert_in_range(fired, 1, 2);
		assert_true(roce_timer_armed(&moved));
		fired = 0;
		roce_wheel_advance(wheel, again_at - 1);
		assert_int_equal(fired, 0);
		roce_wheel_advance(wheel, again_at);
		assert_int_equal(fired, 1);
	}
}

UNIT_RULE(deadline__is_never_later_than_the_earliest_timer)
{
	struct roce_timer timer[MANY];
	uint64_t now = 1000;
	unsigned int seed = 1;

	assert_int_equal(roce_wheel_deadline(wheel), ROCE_NEVER);
	for (unsigned int i = 0; i < MANY; i++)
		roce_timer_init(&timer[i], count);
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int i = (unsigned int)rand_r(&seed) % MANY;
		uint64_t earliest = ROCE_NEVER;

		if (rand_r(&seed) % 4 == 0)
			roce_timer_cancel(wheel, &timer[i]);
		else
			roce_timer_arm(wheel, &timer[i],
					now + (uint64_t)rand_r(&seed) % (3 * GRAIN * TURN));
		if (rand_r(&seed) % 8 == 0)
			now += (uint64_t)rand_r(&seed) % (step % 5 == 0 ? 2 * GRAIN * TURN : 50);
		roce_wheel_advance(wheel, now);
		for (unsigned int k = 0; k < MANY; k++) {
			if (!roce_timer_armed(&timer[k]))
				continue;
			assert_true(timer[k].deadline > now);
			earliest = RTE_MIN(earliest, timer[k].deadline);
		}
		assert_true(roce_wheel_deadline(wheel) <= earliest);
		assert_int_equal(roce_wheel_deadline(wheel) == ROCE_NEVER, earliest == ROCE_NEVER);
	}
}

UNIT_RULE(deadline__moves_on_so_that_following_it_reaches_a_far_timer)
{
	struct roce_timer timer;
	unsigned int steps = 0;
	uint64_t now = 1000;

	roce_timer_init(&timer, count);
	roce_timer_arm(wheel, &timer, 1000 + 100 * GRAIN * TURN);
	while (fired == 0) {
		uint64_t next = roce_wheel_deadline(wheel);

		assert_true(next > now);
		assert_true(++steps < 300);
		now = next;
		roce_wheel_advance(wheel, now);
	}
	assert_int_equal(fired_at, 1000 + 100 * GRAIN * TURN);
}

/* The deadline is in the future even if the wheel stood still for long because no timer was due. */
UNIT_RULE(deadline__is_never_in_the_past)
{
	struct roce_timer timer;

	for (uint64_t turns = 1; turns <= 4; turns++) {
		const uint64_t at = turns * 1000000 + turns * GRAIN * TURN;

		roce_timer_init(&timer, count);
		roce_timer_arm(wheel, &timer, at);
		for (uint64_t now = turns * 1000000; now < at; now += GRAIN * 7) {
			roce_wheel_advance(wheel, now);
			assert_true(roce_wheel_deadline(wheel) > now);
			assert_true(roce_wheel_deadline(wheel) <= at);
		}
		roce_wheel_advance(wheel, at);
		assert_int_equal(fired, turns);
	}
}

/* A timer that was cancelled does not count for the deadline. */
UNIT_RULE(deadline__forgets_what_was_cancelled)
{
	struct roce_timer near[2], far;

	for (unsigned int i = 0; i < 2; i++) {
		roce_timer_init(&near[i], count);
		roce_timer_arm(wheel, &near[i], 2000 + i);
	}
	roce_timer_init(&far, count);
	roce_timer_arm(wheel, &far, 5000);
	assert_int_equal(roce_wheel_deadline(wheel), 2000);
	roce_timer_cancel(wheel, &near[0]);
	assert_int_equal(roce_wheel_deadline(wheel), 2001);
	roce_timer_cancel(wheel, &near[1]);
	assert_int_equal(roce_wheel_deadline(wheel), 5000);
	roce_timer_cancel(wheel, &far);
	assert_int_equal(roce_wheel_deadline(wheel), ROCE_NEVER);
}

UNIT_RULE(create__without_memory_fails)
{
	struct roce_wheel *none;

	fx_fail(1);
	assert_int_equal(roce_wheel_create(&fx_memory, 1, 0, &none), -ENOMEM);
	roce_wheel_destroy(NULL);
}
