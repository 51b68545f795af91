/* SPDX-License-Identifier: BSD-3-Clause */
/* Arm, take, fire: the low watermark. judge_async_events() says what is right. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario.h"

#define ONE    SCRIPT_SAW_EVENT
#define EITHER (SCRIPT_SAW_SILENCE | SCRIPT_SAW_EVENT)
#define TWO    SCRIPT_SAW_EVENTS

/* Three or four are there, and in every order fewer than two are left: one async event whoever came first. */
static const struct script_scene once[] = {
	{
			.name = "arm",
			.max = 8,
			.before = "post post post",
			.thread = { "low2", "take0 take0 take0" },
			.must_see = ONE,
	},
	{
			.name = "arm_turns",
			.max = 8,
			.before = "post post post",
			.thread = { "low2", "take0 take0", "take0" },
			.must_see = ONE,
	},
	{
			.name = "arm_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post post",
			.thread = { "low2", "take0 take0", "take1 take1" },
			.must_see = ONE,
	},
	{
			.name = "armed_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post post post low3",
			.thread = { "take0 take0", "take1 take1 take1" },
			.must_see = ONE,
	},
	{
			.name = "arm_longer_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post post post post",
			.thread = { "low3", "take0 take0 take0", "take1 take1 take1" },
			.must_see = ONE,
	},
	SCENARIO_END,
};

/*
 * One async event for an arming, no more and no fewer, by the call that armed or by the take that went below.
 * Proves: srq_set_lw.1 srq_set_lw.2 bug.S15
 */
static void
low__is_told_once_for_each_arming(void **state)
{
	scenario_explore(once);
}

static const struct script_scene at_once[] = {
	{
			.name = "below",
			.max = 8,
			.before = "post post",
			.thread = { "low4", "take0", "post" },
			.must_see = ONE,
	},
	{
			.name = "below_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post",
			.thread = { "low4", "take0", "take1", "post" },
			.must_see = ONE,
	},
	SCENARIO_END,
};

/*
 * Armed while less is available: told inside the call, and not again by the takes that come meanwhile.
 * Proves: srq_set_lw.1 srq_set_lw.2 srq_set_lw.7 bug.S15
 */
static void
low__below_already_is_told_at_once(void **state)
{
	scenario_explore(at_once);
}

/* A post may keep the queue from going below, or come too late for that. */
static const struct script_scene posts[] = {
	{
			.name = "equal_post",
			.max = 8,
			.before = "post post low2",
			.thread = { "take0", "post" },
			.must_see = EITHER,
	},
	{
			.name = "equal_posts",
			.max = 8,
			.before = "post post low2",
			.thread = { "take0 take0", "post post", "post" },
			.must_see = EITHER,
	},
	{
			.name = "equal_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post low2",
			.thread = { "take0", "take1", "post post" },
			.must_see = EITHER,
	},
	{
			.name = "arm_post",
			.max = 8,
			.before = "post post post",
			.thread = { "low2", "take0 take0", "post post" },
			.must_see = EITHER,
	},
	{
			.name = "arm_post_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post",
			.thread = { "low2", "take0", "take1", "post" },
			.must_see = EITHER,
	},
	{
			.name = "arm_posts_soak",
			.max = 12,
			.engines = 2,
			.before = "post post post post",
			.thread = { "low2", "take0 take0", "take1 take1", "post post" },
			.must_see = EITHER,
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * Told if and only if less was available at some moment: as many as the mark are enough, and a post counts from the
 * moment on at which a query would count it.
 * Proves: srq_set_lw.2 bug.S15
 */
static void
low__is_told_only_of_what_was(void **state)
{
	scenario_explore(posts);
}

static const struct script_scene again[] = {
	{
			.name = "again",
			.max = 8,
			.before = "post post post",
			.thread = { "low2 low2", "take0 take0" },
			.must_see = ONE | TWO,
	},
	{
			.name = "again_post",
			.max = 8,
			.before = "post post post",
			.thread = { "low2 low3", "take0 take0", "post" },
			.must_see = ONE | TWO,
	},
	{
			.name = "again_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post post low3",
			.thread = { "low2 low3", "take0 take0", "take1" },
			.must_see = ONE | TWO,
	},
	{
			.name = "refilled",
			.max = 8,
			.before = "post post low2 take0 post",
			.thread = { "post post", "take0 take0" },
			.must_see = ONE,
	},
	{
			.name = "refilled_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post low2 take0 post post",
			.thread = { "take0", "take1 take1", "post", "query" },
			.must_see = ONE,
	},
	{
			.name = "again_longer_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post post",
			.thread = { "low2 low3 low2", "take0 take0", "take1", "post" },
			.must_see = EITHER | TWO,
	},
	{
			.name = "again_soak",
			.max = 8,
			.engines = 2,
			.before = "post post post post post low4",
			.thread = { "low2 low3 low2", "take0 take0", "take1 take1", "post" },
			.must_see = ONE | TWO,
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * Each call arms anew, whether or not the one before was told of; without a call neither further takes nor a refill
 * and another fall bring a second async event.
 * Proves: srq_set_lw.1 srq_set_lw.8
 */
static void
low__is_told_again_only_when_armed_again(void **state)
{
	scenario_explore(again);
}

static const struct script_scene disarmed[] = {
	{
			.name = "disarm",
			.max = 8,
			.before = "post post low2",
			.thread = { "low0", "take0 take0" },
			.must_see = EITHER,
	},
	{
			.name = "disarm_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post low2",
			.thread = { "low0", "take0", "take1 take1" },
			.must_see = EITHER,
	},
	{
			.name = "arm_disarm_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post",
			.thread = { "low2 low0", "take0 take0", "take1" },
			.must_see = EITHER,
	},
	SCENARIO_END,
};

/*
 * No async event of an arming is delivered after the return of the call that ended it: 0, or another value.
 * Proves: srq_set_lw.1 srq_set_lw.6
 */
static void
low__zero_disarms(void **state)
{
	scenario_explore(disarmed);
}

static const struct script_scene bounds[] = {
	{
			.name = "mark_and_size",
			.max = 4,
			.before = "post post",
			.thread = { "low3", "tryresize2 resize8", "take0" },
			.must_see = EITHER | SCRIPT_SAW_REFUSED | SCRIPT_SAW_GRANTED,
	},
	{
			.name = "mark_and_size_2engines",
			.max = 2,
			.engines = 2,
			.before = "post post",
			.thread = { "low3", "resize4", "take0", "take1" },
			.must_see = EITHER | SCRIPT_SAW_REFUSED | SCRIPT_SAW_GRANTED,
	},
	SCENARIO_END,
};

/*
 * A mark above the size and a size below the mark are refused, whichever came first, and never stand together.
 * Proves: srq_set_lw.3 srq_resize.3
 */
static void
low__and_size_agree(void **state)
{
	scenario_explore(bounds);
}

const struct script_scene *const scenario_low_scenes[] = {
	once,
	at_once,
	posts,
	again,
	disarmed,
	bounds,
	NULL,
};

int
scenario_low(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(low__is_told_once_for_each_arming),
		cmocka_unit_test(low__below_already_is_told_at_once),
		cmocka_unit_test(low__is_told_only_of_what_was),
		cmocka_unit_test(low__is_told_again_only_when_armed_again),
		cmocka_unit_test(low__zero_disarms),
		cmocka_unit_test(low__and_size_agree),
	};

	return cmocka_run_group_tests_name("low watermark", tests, NULL, NULL);
}
