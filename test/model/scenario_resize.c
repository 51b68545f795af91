/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resize against takes, posts, reaps and queries. Every take compares the receive with what was posted as that
 * number, whole, and at the end of each run the rest is taken, reaped, and the queue filled to exactly its size: so
 * each scene fails when a receive is lost, doubled, out of order or torn.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario.h"

#define CHOICE (SCRIPT_SAW_REFUSED | SCRIPT_SAW_GRANTED)

/* The rings begin in their middles, so that what moves wraps in the old one, the new one or both. */
static const struct script_scene moved[] = {
	{
			.name = "grow",
			.max = 4,
			.before = "post post take0 take0 reap0 reap0 post post",
			.thread = { "resize8", "take0 take0", "post post" },
	},
	{
			.name = "grow_2engines",
			.max = 4,
			.engines = 2,
			.before = "post post post take0 take0 take0 reap0 reap0 reap0 post post post",
			.thread = { "resize8", "take0 take0", "take1", "post" },
	},
	{
			.name = "shrink",
			.max = 8,
			.before = "post post post take0 take0 take0 reap0 reap0 reap0 post post post",
			.thread = { "resize4", "take0 take0", "reap0 reap0", "post" },
	},
	{
			.name = "shrink_2engines",
			.max = 8,
			.engines = 2,
			.before = "post post post take0 take0 take0 reap0 reap0 reap0 post post post",
			.thread = { "resize3", "take0 take0", "take1", "reap0" },
	},
	{
			.name = "same_slots",
			.max = 3,
			.before = "post post",
			.thread = { "resize4 resize3", "take0 take0", "post", "reap0" },
	},
	{
			.name = "there_and_back_2engines",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post take0 take1 reap0 reap1 post post post",
			.thread = { "resize16 resize4", "take0 reap0", "take1 reap1", "post" },
	},
	{
			.name = "there_and_back_soak",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post take0 take1 reap0 reap1 post post post post",
			.thread = { "resize16 tryresize4", "take0 reap0 take0", "take1 reap1",
					"trypost" },
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * Posted receives stay, in order and whole, in a queue that grows, shrinks or keeps its slots.
 * Proves: srq_resize.1 bug.S13
 */
static void
resize__loses_nothing(void **state)
{
	scenario_explore(moved);
}

static const struct script_scene nearly_empty[] = {
	{
			.name = "empty",
			.max = 2,
			.before = "post take0 reap0",
			.thread = { "resize4", "trytake0 trytake0", "post post" },
			.must_see = SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
	},
	{
			.name = "empty_2engines",
			.max = 4,
			.engines = 2,
			.before = "post take0 reap0 post",
			.thread = { "resize2", "trytake0", "trytake1", "post" },
			.must_see = SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
	},
	{
			.name = "empty_longer_2engines",
			.max = 4,
			.engines = 2,
			.before = "post take0 reap0 post",
			.thread = { "resize2 resize4", "trytake0 trytake0", "trytake1", "post" },
			.must_see = SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
	},
	{
			.name = "empty_soak",
			.max = 4,
			.engines = 2,
			.before = "post take0 reap0",
			.thread = { "resize2 resize4", "trytake0 trytake0", "trytake1 trytake1",
					"post post" },
			.must_see = SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * A take finds nothing only when at some moment of it nothing was there: no message is turned away for a resize.
 * Proves: srq_resize.1 bug.S14
 */
static void
resize__turns_no_message_away(void **state)
{
	scenario_explore(nearly_empty);
}

static const struct script_scene judged[] = {
	{
			.name = "refused",
			.max = 4,
			.before = "post post post take0",
			.thread = { "tryresize2", "take0", "reap0 reap0", "trypost" },
			.must_see = CHOICE,
	},
	{
			.name = "refused_2engines",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post post take0 take1",
			.thread = { "tryresize2", "take0 reap0", "reap1", "trypost" },
			.must_see = CHOICE,
	},
	{
			.name = "refused_twice",
			.max = 4,
			.before = "post post post post take0 take0 take0",
			.thread = { "tryresize3 tryresize2", "reap0 reap0 reap0", "take0" },
			.must_see = CHOICE,
	},
	SCENARIO_END,
};

/*
 * Refused if and only if more were outstanding, on the queue, held, or completed and not reaped; and refused is
 * unchanged.
 * Proves: srq_resize.2 srq_resize.6
 */
static void
resize__is_refused_for_what_is_outstanding(void **state)
{
	scenario_explore(judged);
}

static const struct script_scene starved[] = {
	{
			.name = "starved",
			.max = 4,
			.before = "post post take0 reap0 post",
			.thread = { "starve8 resize8", "take0 take0", "post", "query" },
	},
	{
			.name = "starved_2engines",
			.max = 4,
			.engines = 2,
			.before = "post post take0 reap0 post",
			.thread = { "starve2 resize2", "take0", "take1", "reap0" },
	},
	SCENARIO_END,
};

/*
 * Without memory nothing changes, and the next attempt works.
 * Proves: bug.S1
 */
static void
resize__without_memory_changes_nothing(void **state)
{
	scenario_explore(starved);
}

static const struct script_scene bounded[] = {
	{
			.name = "full_grow",
			.max = 2,
			.before = "post post take0",
			.thread = { "resize3", "trypost trypost", "reap0" },
			.must_see = SCRIPT_SAW_FULL | SCRIPT_SAW_ROOM,
	},
	{
			.name = "full_shrink",
			.max = 3,
			.before = "post post take0 take0",
			.thread = { "tryresize2", "trypost trypost", "reap0 reap0" },
			.must_see = SCRIPT_SAW_FULL | SCRIPT_SAW_ROOM | CHOICE,
	},
	{
			.name = "full_2engines",
			.max = 2,
			.engines = 2,
			.cqs = 2,
			.before = "post post",
			.thread = { "resize4 tryresize2", "take0 reap0", "take1 reap1", "trypost" },
			.must_see = SCRIPT_SAW_FULL | SCRIPT_SAW_ROOM | CHOICE,
	},
	{
			.name = "query_resize",
			.max = 4,
			.before = "post post take0",
			.thread = { "resize8", "query", "take0", "post" },
	},
	{
			.name = "query_resize_2engines",
			.max = 4,
			.engines = 2,
			.before = "post post",
			.thread = { "resize2", "query", "take0", "take1" },
	},
	SCENARIO_END,
};

/*
 * Old size before, new size after, nothing in between: for posts and for queries.
 * Proves: srq_resize.5 srq_query.6 bug.S12
 */
static void
resize__is_one_moment(void **state)
{
	scenario_explore(bounded);
}

const struct script_scene *const scenario_resize_scenes[] = {
	moved,
	nearly_empty,
	judged,
	starved,
	bounded,
	NULL,
};

int
scenario_resize(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resize__loses_nothing),
		cmocka_unit_test(resize__turns_no_message_away),
		cmocka_unit_test(resize__is_refused_for_what_is_outstanding),
		cmocka_unit_test(resize__without_memory_changes_nothing),
		cmocka_unit_test(resize__is_one_moment),
	};

	return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
