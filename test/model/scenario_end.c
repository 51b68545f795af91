/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends: objects that know each other go at the same time, each by the hand of another thread. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario.h"

static const struct script_scene ends[] = {
	{
			.name = "end_both",
			.max = 2,
			.before = "post post take0 detach0",
			.thread = { "free", "drop0" },
	},
	{
			.name = "end_both_reap",
			.max = 2,
			.cqs = 2,
			.before = "post post take0 detach0 detach1",
			.thread = { "free", "reap0 drop0", "drop1" },
	},
	{
			.name = "end_last_pair",
			.max = 2,
			.cqs = 2,
			.before = "post detach0",
			.thread = { "detach1", "tryfree tryfree" },
			.must_see = SCRIPT_SAW_REFUSED | SCRIPT_SAW_GRANTED,
	},
	{
			.name = "end_guest",
			.max = 2,
			.before = "post post take0 detach0",
			.thread = { "free", "guest0", "reap0" },
	},
	{
			.name = "end_guests",
			.max = 2,
			.before = "post take0",
			.thread = { "guest0", "guest0", "reap0" },
	},
	SCENARIO_END,
};

/*
 * Different objects may be used by different threads at the same time, to their ends: a queue, the completion queues
 * it completed on, the last queue pair, and other queues on the same completion queue.
 */
static void
end__of_one_leaves_the_others_whole(void **state)
{
	scenario_explore(ends);
}

const struct script_scene *const scenario_end_scenes[] = { ends, NULL };

int
scenario_end(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end__of_one_leaves_the_others_whole),
	};

	return cmocka_run_group_tests_name("ends", tests, NULL, NULL);
}
