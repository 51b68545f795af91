/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts: what a query answers, and how many receives may be posted. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario.h"

#define FULL_OR_NOT (SCRIPT_SAW_FULL | SCRIPT_SAW_ROOM)

static const struct script_scene counts[] = {
	{
			.name = "query",
			.max = 4,
			.before = "post post",
			.thread = { "query", "take0 take0", "reap0 reap0", "post" },
			.must_see = SCRIPT_SAW_GLANCED,
	},
	{
			.name = "query_shares",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post take0 take1",
			.thread = { "query", "reap0", "reap1", "post" },
	},
	{
			.name = "query_2engines",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post post",
			.thread = { "query", "take0 reap0", "take1 reap1", "post" },
	},
	{
			.name = "query_overflow",
			.max = 3,
			.cq_depth = 1,
			.before = "post post",
			.thread = { "query", "take0 take0", "reap0", "post" },
	},
	{
			.name = "query_overflow_2engines",
			.max = 3,
			.engines = 2,
			.cq_depth = 1,
			.before = "post post",
			.thread = { "query", "take0", "take1", "reap0" },
	},
	{
			.name = "query_soak",
			.max = 4,
			.engines = 2,
			.cqs = 2,
			.before = "post post post",
			.thread = { "query query", "take0 reap0", "take1 reap1", "trypost" },
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * 0 <= available <= outstanding <= max, and the answer was true at one moment between call and return.
 * Proves: srq_query.3 srq_query.6 bug.S13
 */
static void
query__answers_what_was_true_once(void **state)
{
	scenario_explore(counts);
}

/* The thread that takes reaps as well: so an answer that mixes two moments was true at none. */
static const struct script_scene frozen[] = {
	{
			.name = "query_under_fire",
			.max = 16,
			.before = "post post post post post post post post post post take0",
			.thread = { "query",
					"take0 take0 take0 take0 take0 take0 take0 take0 take0 reap0" },
			.must_see = SCRIPT_SAW_FROZEN | SCRIPT_SAW_GLANCED,
	},
	{
			.name = "query_under_fire_2engines",
			.max = 16,
			.engines = 2,
			.before = "post post post post post post post post post post take0",
			.thread = { "query",
					"take1 take1 take1 take1 take1 take1 take1 take1 take1 reap0" },
			.must_see = SCRIPT_SAW_FROZEN | SCRIPT_SAW_GLANCED,
	},
	SCENARIO_END,
};

/*
 * A query that finds takes between its looks again and again stops them, and is right, too.
 * Proves: srq_query.6
 */
static void
query__ends_under_fire(void **state)
{
	scenario_explore(frozen);
}

static const struct script_scene marks[] = {
	{
			.name = "query_mark",
			.max = 4,
			.before = "post post low2",
			.thread = { "query", "take0", "post" },
	},
	{
			.name = "query_mark_2engines",
			.max = 4,
			.engines = 2,
			.before = "post post post low2",
			.thread = { "query", "take0", "take1" },
	},
	{
			.name = "query_arm",
			.max = 4,
			.before = "post post",
			.thread = { "query query", "low2 low0", "take0" },
	},
	SCENARIO_END,
};

/*
 * The mark that was set last, and "armed" never beside a count that is below it.
 * Proves: srq_query.6 srq_query.7
 */
static void
query__tells_the_mark(void **state)
{
	scenario_explore(marks);
}

static const struct script_scene full[] = {
	{
			.name = "full",
			.max = 2,
			.before = "post take0 post take0",
			.thread = { "trypost trypost", "reap0 reap0", "trypost" },
			.must_see = FULL_OR_NOT,
	},
	{
			.name = "full_shares",
			.max = 2,
			.engines = 2,
			.cqs = 2,
			.before = "post take0 post take1",
			.thread = { "trypost trypost", "reap0", "reap1", "query" },
			.must_see = FULL_OR_NOT,
	},
	{
			.name = "full_round",
			.max = 1,
			.before = "",
			.thread = { "trypost trypost", "trytake0 reap0 trytake0", "trypost" },
			.must_see = FULL_OR_NOT | SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
	},
	{
			.name = "full_overflow",
			.max = 2,
			.cq_depth = 1,
			.before = "post post",
			.thread = { "take0 take0", "trypost", "query", "reap0" },
			.must_see = FULL_OR_NOT,
	},
	{
			.name = "full_longer_2engines",
			.max = 2,
			.engines = 2,
			.cqs = 2,
			.before = "post take0 post",
			.thread = { "trypost trypost", "take1 reap1", "reap0", "trypost" },
			.must_see = FULL_OR_NOT,
	},
	{
			.name = "full_soak",
			.max = 2,
			.engines = 2,
			.cqs = 2,
			.before = "post take0 post",
			.thread = { "trypost trypost", "trytake1 reap1", "reap0 trytake0",
					"trypost" },
			.must_see = FULL_OR_NOT,
			.soak = true,
	},
	SCENARIO_END,
};

/*
 * A post is accepted if and only if there was room at some moment of it, whoever reaps where; a slot is written
 * again only after its receive was taken and reaped.
 * Proves: srq_query.3 srq_post_recv.6 srq_post_recv.7 bug.S8 bug.S13 bug.S14
 */
static void
post__is_bounded_by_outstanding(void **state)
{
	scenario_explore(full);
}

static const struct script_scene equal_depths[] = {
	{
			.name = "depth_1",
			.max = 1,
			.cq_depth = 1,
			.before = "post take0",
			.thread = { "reap0", "trypost", "trytake0" },
			.must_see = FULL_OR_NOT | SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
			.lossless = true,
	},
	{
			.name = "depth_2_2engines",
			.max = 2,
			.engines = 2,
			.cq_depth = 2,
			.before = "post take0 post take1",
			.thread = { "reap0 reap0", "trypost", "trytake0", "trytake1" },
			.must_see = FULL_OR_NOT | SCRIPT_SAW_EMPTY | SCRIPT_SAW_TAKEN,
			.lossless = true,
	},
	SCENARIO_END,
};

/*
 * A completion queue as deep as the shared receive queue has room for every receive that a post was accepted for, even
 * if it was accepted while the consumer was still taking an event.
 * Proves: srq_query.3 srq_post_recv.6
 */
static void
post__does_not_overflow_a_completion_queue_of_equal_depth(void **state)
{
	scenario_explore(equal_depths);
}

const struct script_scene *const scenario_query_scenes[] = { counts, frozen, marks, full,
	equal_depths, NULL };

int
scenario_query(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(query__answers_what_was_true_once),
		cmocka_unit_test(query__ends_under_fire),
		cmocka_unit_test(query__tells_the_mark),
		cmocka_unit_test(post__is_bounded_by_outstanding),
		cmocka_unit_test(post__does_not_overflow_a_completion_queue_of_equal_depth),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
