/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: the real wait.c, notify.c and cno.c on the real cq.c. Threads wait for events and for notifications while
 * others push, resize, attach and enable. No time is ever over, so each scene fails when a wake-up or a notification
 * is lost: somebody sleeps on, and that is a deadlock.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "explore.h"
#include "scenario.h"
#include "waits.h"

#define WORDS 4
#define DEPTH 4

/** One action of a thread. */
enum verb {
	DO_NOTHING,
	DO_WAIT,    /**< for an event on dispatcher 0 */
	DO_WAIT2,   /**< for two */
	DO_LOOK,    /**< for an event on dispatcher 0, no longer than that */
	DO_COLLECT, /**< a notification of object 0 */
	DO_COLLECT1,
	DO_PUSH0,  /**< to dispatcher 0, by engine 0 */
	DO_PUSH1,  /**< to dispatcher 1, by the last engine */
	DO_ACROSS, /**< to dispatcher 0, by the last engine */
	DO_RESIZE,
	DO_SEND_HOME, /**< make dispatcher 0 unwaitable */
	DO_ATTACH,    /**< dispatcher 0 to object 0 */
	DO_MOVE,      /**< to object 1 */
	DO_ENABLE,
};

struct scene {
	const char *name;
	unsigned int engines; /**< 0: one */
	unsigned int evds;    /**< 0: one */
	bool attached;        /**< they belong to object 0 already */
	bool disabled;
	bool agent;
	enum verb thread[MODEL_THREADS][WORDS];
	enum dapl_status outcome; /**< of DO_WAIT */
	unsigned int left;        /**< notifications that nobody collects */
	unsigned int spare;       /**< and these: one moment may count an event twice */
	bool soak;                /**< too long for every day */
};

static const struct scene *scene;
static unsigned int collected;
static unsigned int seen; /**< events that who looked took, or was told of */

static void
wait_for_events(uint32_t threshold)
{
	struct roce_event event;
	uint32_t more;

	if (dapl_evd_wait(waits.evd[0], DAPL_INFINITE, threshold, &event, &more) != scene->outcome)
		model_fail("a wait ended as it should not");
}

static void
look(void)
{
	struct roce_event event;
	uint32_t more = 0;

	if (dapl_evd_wait(waits.evd[0], 0, 1, &event, &more) == DAPL_OK)
		seen++;
	seen += more;
}

static void
collect(unsigned int i)
{
	struct dapl_evd *evd;

	if (dapl_cno_wait(waits.cno[i], DAPL_INFINITE, &evd) != DAPL_OK)
		model_fail("a wait for a notification ended as it should not");
	collected += evd != NULL;
}

/* As dapl_evd_resize() does it while somebody waits. */
static void
resize(void)
{
	model_lock(&waits.evd[0]->waiter_lock, "waiter_lock", "resize");
	if (roce_cq_resize_inner(world.cq[0], 2 * DEPTH) != 0)
		model_fail("a resize was refused");
	model_unlock(&waits.evd[0]->waiter_lock, "waiter_lock", "resize");
	roce_engine_wake(world.domain->engine[0]);
}

static void
change(enum verb verb)
{
	switch (verb) {
	case DO_RESIZE:
		resize();
		break;
	case DO_SEND_HOME:
		dapl_evd_set_waitable(waits.evd[0], false);
		break;
	case DO_ATTACH:
		dapl_evd_set_cno(waits.evd[0], waits.cno[0]);
		break;
	case DO_MOVE:
		dapl_evd_set_cno(waits.evd[0], waits.cno[1]);
		break;
	default:
		dapl_evd_set_enabled(waits.evd[0], true);
		break;
	}
}

static void
act(enum verb verb)
{
	unsigned int last = world.domain->config.engines - 1;

	switch (verb) {
	case DO_NOTHING:
		break;
	case DO_WAIT:
	case DO_WAIT2:
		wait_for_events(verb == DO_WAIT ? 1 : 2);
		break;
	case DO_LOOK:
		look();
		break;
	case DO_COLLECT:
	case DO_COLLECT1:
		collect(verb == DO_COLLECT ? 0 : 1);
		break;
	case DO_PUSH0:
	case DO_ACROSS:
		waits_push(0, verb == DO_PUSH0 ? 0 : last);
		break;
	case DO_PUSH1:
		waits_push(1, last);
		break;
	default:
		change(verb);
		break;
	}
}

static void
run_script(unsigned int self)
{
	for (unsigned int i = 0; i < WORDS; i++)
		act(scene->thread[self][i]);
}

static void
prepare(void)
{
	unsigned int evds = scene->evds != 0 ? scene->evds : 1;

	collected = 0;
	seen = 0;
	waits_make(scene->engines != 0 ? scene->engines : 1, evds, DEPTH);
	if (scene->agent)
		waits_set_agent();
	for (unsigned int i = 0; scene->attached && i < evds; i++)
		dapl_evd_set_cno(waits.evd[i], waits.cno[0]);
	if (scene->disabled)
		dapl_evd_set_enabled(waits.evd[0], false);
}

static void
observe(unsigned int self)
{
}

/* Notifications that are left, each collected by a look. */
static void
finish(void)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < WAITS_CNOS; i++)
		while (dapl_cno_collect(waits.cno[i]) != NULL)
			left++;
	if (left + seen < scene->left || left + seen > scene->left + scene->spare)
		model_fail("%u notifications are left", left);
	if (scene->agent && waits.calls != left + collected)
		model_fail("%u calls of the agent", waits.calls);
	waits_end();
}

static const struct model_program *
program_of(const struct scene *s)
{
	static struct model_program program;

	scene = s;
	program = (struct model_program){
		.name = s->name,
		.prepare = prepare,
		.script = run_script,
		.observe = observe,
		.finish = finish,
	};
	for (unsigned int t = 0; t < MODEL_THREADS; t++)
		if (s->thread[t][0] != DO_NOTHING)
			program.threads = t + 1;
	return &program;
}

/* @return a sentence: what is wrong with it; NULL: it holds. */
static const char *
explore_scene(const struct scene *s)
{
	struct explore_tally tally;
	bool holds = explore(program_of(s), EXPLORE_REDUCED, &tally);

	printf("%-24s %9" PRIu64 " interleavings %10" PRIu64 " steps, %2u the longest\n", s->name,
			tally.runs, tally.steps, tally.longest);
	if (holds)
		return NULL;
	printf("VIOLATED %s\n  replay: model --replay %s:%s\n", model_failure(), s->name,
			explore_schedule());
	return model_failure();
}

static void
explore_scenes(const struct scene *scenes)
{
	for (const struct scene *s = scenes; s->name != NULL; s++) {
		const char *fault = s->soak && !scenario_soak ? NULL : explore_scene(s);

		if (fault != NULL)
			fail_msg("%s: %s", s->name, fault);
	}
}

static const struct scene events[] = {
	{ .name = "event", .thread = { { DO_WAIT }, { DO_PUSH0 } } },
	{ .name = "event_2engines_soak",
			.engines = 2,
			.thread = { { DO_WAIT }, { DO_PUSH0 }, { DO_ACROSS } },
			.soak = true },
	{ .name = "two_events", .thread = { { DO_WAIT2 }, { DO_PUSH0, DO_PUSH0 } } },
	{ .name = "two_events_2engines",
			.engines = 2,
			.thread = { { DO_WAIT2 }, { DO_PUSH0 }, { DO_ACROSS } } },
	{ .name = "event_resize",
			.thread = { { DO_WAIT2 }, { DO_PUSH0, DO_PUSH0 }, { DO_RESIZE } } },
	{ .name = "sent_home",
			.outcome = DAPL_EVD_UNWAITABLE,
			.thread = { { DO_WAIT }, { DO_SEND_HOME } } },
	{ .name = NULL },
};

/* An event, or what else is to end a wait, comes before the last look or ends the sleep. */
static void
wait__is_woken(void **state)
{
	explore_scenes(events);
}

static const struct scene notifications[] = {
	{ .name = "note", .attached = true, .thread = { { DO_COLLECT }, { DO_PUSH0 } } },
	{ .name = "note_twice",
			.attached = true,
			.thread = { { DO_COLLECT, DO_COLLECT }, { DO_PUSH0, DO_PUSH0 } } },
	{ .name = "note_left",
			.attached = true,
			.left = 1,
			.thread = { { DO_COLLECT }, { DO_PUSH0, DO_PUSH0 } } },
	{ .name = "note_2engines",
			.engines = 2,
			.attached = true,
			.left = 1,
			.thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_ACROSS } } },
	{ .name = "note_2evds_soak",
			.engines = 2,
			.evds = 2,
			.attached = true,
			.left = 1,
			.thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_PUSH1 } },
			.soak = true },
	{ .name = "note_resize",
			.attached = true,
			.thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_RESIZE } } },
	{ .name = "note_agent",
			.attached = true,
			.agent = true,
			.left = 1,
			.thread = { { DO_COLLECT }, { DO_PUSH0, DO_PUSH0 } } },
	{ .name = "note_agent_2engines_soak",
			.engines = 2,
			.attached = true,
			.agent = true,
			.left = 1,
			.thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_ACROSS } },
			.soak = true },
	{ .name = "note_both_soak",
			.engines = 2,
			.attached = true,
			.thread = { { DO_COLLECT, DO_COLLECT }, { DO_PUSH0 }, { DO_ACROSS } },
			.soak = true },
	{ .name = NULL },
};

/* Each event makes one notification, which somebody gets, and one call of the agent. */
static void
notify__is_exact(void **state)
{
	explore_scenes(notifications);
}

static const struct scene changes[] = {
	{ .name = "attach", .spare = 1, .thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_ATTACH } } },
	{ .name = "attach_2engines",
			.engines = 2,
			.spare = 1,
			.thread = { { DO_COLLECT }, { DO_ACROSS }, { DO_ATTACH } } },
	{ .name = "move",
			.attached = true,
			.thread = { { DO_COLLECT1 }, { DO_PUSH0 }, { DO_MOVE } } },
	{ .name = "enable",
			.attached = true,
			.disabled = true,
			.thread = { { DO_COLLECT }, { DO_PUSH0 }, { DO_ENABLE } } },
	{ .name = NULL },
};

/* An event that comes while something changes is notified behind the change, if not before. */
static void
notify__outlives_changes(void **state)
{
	explore_scenes(changes);
}

static const struct scene owners[] = {
	{ .name = "look",
			.attached = true,
			.left = 1,
			.spare = 1,
			.thread = { { DO_LOOK }, { DO_PUSH0 } } },
	{ .name = "look_twice",
			.attached = true,
			.left = 2,
			.spare = 2,
			.thread = { { DO_LOOK }, { DO_PUSH0, DO_PUSH0 } } },
	{ .name = "look_2engines",
			.engines = 2,
			.attached = true,
			.left = 2,
			.spare = 2,
			.thread = { { DO_LOOK }, { DO_PUSH0 }, { DO_ACROSS } } },
	{ .name = NULL },
};

/* An event is taken or counted by who waits on the dispatcher itself, or it is notified: never neither. */
static void
notify__or_is_seen_by_who_leaves(void **state)
{
	explore_scenes(owners);
}

static const struct scene *
find(const char *name, size_t length)
{
	static const struct scene *const lists[] = { events, notifications, changes, owners };

	for (size_t i = 0; i < RTE_DIM(lists); i++)
		for (const struct scene *s = lists[i]; s->name != NULL; s++)
			if (strlen(s->name) == length && strncmp(s->name, name, length) == 0)
				return s;
	return NULL;
}

bool
scenario_wait_replay(const char *name, size_t length, const char *schedule, bool *holds)
{
	const struct scene *s = find(name, length);

	if (s == NULL)
		return false;
	*holds = schedule != NULL ? explore_replay(program_of(s), schedule)
				  : explore_scene(s) == NULL;
	return true;
}

int
scenario_wait(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait__is_woken),
		cmocka_unit_test(notify__is_exact),
		cmocka_unit_test(notify__outlives_changes),
		cmocka_unit_test(notify__or_is_seen_by_who_leaves),
	};

	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
