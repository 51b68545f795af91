/* SPDX-License-Identifier: BSD-3-Clause */

#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#define NOBODY MODEL_THREADS

/* A state on the path, and the step made from it. Sets of threads are masks. */
struct node {
	uint32_t enabled;
	uint32_t alternatives; /**< to be explored from here, those done included */
	uint32_t sleeping;     /**< explored before, and nothing dependent happened since */
	unsigned int chosen;
	struct model_op pending[MODEL_THREADS];
	/* The step: clock[u] is how many steps of thread u came before it for certain, itself counted. */
	uint16_t clock[MODEL_THREADS];
	int last[MODEL_THREADS]; /**< node of the last step of each thread before this one; -1 */
};

static struct node path[MODEL_STEPS + 1];
static unsigned int depth;
static char schedule[MODEL_STEPS + 2];

/* Hashes of classes: open addressing, 0 is a free place. */
static uint64_t *seen;
static uint64_t seen_size;

const char *
explore_schedule(void)
{
	return schedule;
}

static unsigned int
lowest(uint32_t mask)
{
	return (unsigned int)__builtin_ctz(mask);
}

/* Steps of other threads that come before whatever thread t does next. */
static uint16_t
knows(const struct node *now, unsigned int t, unsigned int of)
{
	return now->last[t] < 0 ? 0 : path[now->last[t]].clock[of];
}

/* The step of the last node is made: what came before it for certain. */
static void
set_clock(struct node *n)
{
	unsigned int t = n->chosen;
	const struct model_op *op = &n->pending[t];

	for (unsigned int u = 0; u < MODEL_THREADS; u++)
		n->clock[u] = knows(n, t, u);
	n->clock[t]++;
	for (const struct node *i = path; i < n; i++) {
		if (i->chosen == t || i->clock[i->chosen] <= n->clock[i->chosen] ||
				!model_dependent(&i->pending[i->chosen], op))
			continue;
		for (unsigned int u = 0; u < MODEL_THREADS; u++)
			n->clock[u] = RTE_MAX(n->clock[u], i->clock[u]);
	}
}

/* Did the step of node a come before that of node b for certain? */
static bool
precedes(const struct node *a, const struct node *b)
{
	return a->clock[a->chosen] <= b->clock[a->chosen];
}

/*
 * The step of node i is left out, and what follows it but does not have to, up to the step of node n, comes in its
 * place: which threads can begin?
 */
static uint32_t
initials(const struct node *i, const struct node *n)
{
	const struct node *instead[MODEL_STEPS];
	unsigned int count = 0;
	uint32_t met = 0;
	uint32_t first = 0;

	for (const struct node *k = i + 1; k <= n; k++) {
		bool free = true;

		if (k != n && precedes(i, k))
			continue;
		for (unsigned int m = 0; m < count; m++)
			free = free && !precedes(instead[m], k);
		if (free && !(met & 1u << k->chosen))
			first |= 1u << k->chosen;
		met |= 1u << k->chosen;
		instead[count++] = k;
	}
	return first & i->enabled;
}

/* Could they change places, as far as they are concerned? */
static bool
compete(const struct model_op *a, const struct model_op *b)
{
	return model_dependent(a, b) && model_coenabled(a, b);
}

/* Between the two steps is there one that competes with the later one, and must come after the earlier one? */
static bool
far_apart(const struct node *i, const struct node *n)
{
	for (const struct node *k = i + 1; k < n; k++) {
		if (precedes(i, k) && compete(&k->pending[k->chosen], &n->pending[n->chosen]))
			return true;
	}
	return false;
}

/*
 * The step of the last node: with which earlier step could it change places? Nothing that its thread saw before may
 * come from there. Then a thread that can begin the changed order becomes an alternative, unless one of them is.
 */
static void
find_races(const struct node *n)
{
	const struct model_op *op = &n->pending[n->chosen];

	for (struct node *i = path; i < n; i++) {
		uint32_t first;

		if (i->chosen == n->chosen || !compete(&i->pending[i->chosen], op) ||
				i->clock[i->chosen] <= knows(n, n->chosen, i->chosen) ||
				far_apart(i, n))
			continue;
		first = initials(i, n);
		if (first == 0)
			i->alternatives |= i->enabled;
		else if (!(first & i->alternatives))
			i->alternatives |= 1u << lowest(first);
	}
}

/*
 * A run is given up at this node: those that can go on sleep, because that was explored. Those that wait for a lock
 * would have competed for it all the same, and in no other run they do so at the nodes of this one.
 */
static void
find_races_of_waiting(struct node *n)
{
	uint32_t waiting = model_unfinished() & ~n->enabled;

	for (unsigned int t = 0; t < MODEL_THREADS; t++) {
		if (!(waiting & 1u << t))
			continue;
		n->chosen = t;
		set_clock(n);
		find_races(n);
	}
}

/* A thread that sleeps at a node sleeps on behind a step that is independent of its own. */
static uint32_t
still_asleep(const struct node *n)
{
	uint32_t sleeping = 0;

	for (unsigned int t = 0; t < MODEL_THREADS; t++) {
		if ((n->sleeping & 1u << t) && t != n->chosen &&
				!model_dependent(&n->pending[t], &n->pending[n->chosen]))
			sleeping |= 1u << t;
	}
	return sleeping;
}

static void
add_node(enum explore_how how)
{
	struct node *n = &path[depth];
	const struct node *before = n - 1;
	uint32_t unfinished = model_unfinished();
	uint32_t awake;

	n->enabled = model_enabled();
	n->chosen = NOBODY;
	n->alternatives = 0;
	n->sleeping = 0;
	for (unsigned int t = 0; t < MODEL_THREADS; t++) {
		n->last[t] = depth == 0 ? -1 : before->last[t];
		if (unfinished & 1u << t)
			n->pending[t] = *model_pending(t);
	}
	if (depth > 0) {
		n->last[before->chosen] = (int)depth - 1;
		n->sleeping = how == EXPLORE_ALL ? 0 : still_asleep(before);
	}
	awake = n->enabled & ~n->sleeping;
	if (awake == 0)
		return;
	/* To go on with the same thread makes schedules that read well. */
	if (depth > 0 && (awake & 1u << before->chosen))
		n->chosen = before->chosen;
	else
		n->chosen = lowest(awake);
	n->alternatives = how == EXPLORE_REDUCED ? 1u << n->chosen : n->enabled;
}

static bool
fail(void)
{
	for (unsigned int i = 0; i < depth; i++)
		schedule[i] = (char)('0' + path[i].chosen);
	schedule[depth] = '\0';
	return false;
}

static void
report_deadlock(uint32_t unfinished)
{
	unsigned int t = lowest(unfinished);

	model_fail("deadlock: thread %u waits for %s in %s", t, model_pending(t)->what,
			model_pending(t)->where);
}

/* The order of independent steps does not matter, so the hashes of the steps are added. */
static uint64_t
class_of_path(void)
{
	uint64_t sum = 1;

	for (const struct node *n = path; n < path + depth; n++) {
		uint64_t hash = n->chosen + 1;

		for (unsigned int u = 0; u < MODEL_THREADS; u++)
			hash = (hash ^ n->clock[u]) * 0x9e3779b97f4a7c15ull;
		sum += (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
	}
	return sum == 0 ? 1 : sum;
}

static bool
insert(uint64_t *table, uint64_t size, uint64_t hash)
{
	uint64_t i = hash & (size - 1);

	while (table[i] != 0 && table[i] != hash)
		i = (i + 1) & (size - 1);
	if (table[i] == hash)
		return false;
	table[i] = hash;
	return true;
}

/* Without reduction the same class comes again and again. */
static void
count_class(struct explore_tally *tally)
{
	uint64_t bigger = seen_size == 0 ? 1024 : seen_size * 2;

	if (tally->classes * 2 >= seen_size) {
		uint64_t *table = calloc(bigger, sizeof(table[0]));

		if (table == NULL)
			abort();
		for (uint64_t i = 0; i < seen_size; i++) {
			if (seen[i] != 0)
				(void)insert(table, bigger, seen[i]);
		}
		free(seen);
		seen = table;
		seen_size = bigger;
	}
	if (insert(seen, seen_size, class_of_path()))
		tally->classes++;
}

/* Go on from the last node until no thread can; path[0..depth) are the steps. */
static bool
run_on(const struct model_program *program, enum explore_how how, struct explore_tally *tally)
{
	for (;;) {
		struct node *n = &path[depth];

		if (model_failure() != NULL)
			return fail();
		add_node(how);
		if (n->chosen == NOBODY)
			break;
		if (depth == MODEL_STEPS) {
			model_fail("a run of more than %u steps", MODEL_STEPS);
			return fail();
		}
		set_clock(n);
		if (how == EXPLORE_REDUCED)
			find_races(n);
		depth++;
		model_step(n->chosen);
		tally->steps++;
	}
	tally->longest = RTE_MAX(tally->longest, depth);
	if (path[depth].enabled != 0) {
		find_races_of_waiting(&path[depth]);
		tally->given_up++;
		return true;
	}
	if (model_unfinished() != 0)
		report_deadlock(model_unfinished());
	else
		program->finish();
	tally->runs++;
	if (how == EXPLORE_ALL)
		count_class(tally);
	return model_failure() == NULL || fail();
}

/* Back to the last choice that has an alternative left. @return false: there is none. */
static bool
choose_next(enum explore_how how)
{
	while (depth > 0) {
		struct node *n = &path[depth - 1];
		uint32_t left;

		/* Asleep from now on: to go this way again would be to repeat it. */
		n->sleeping |= 1u << n->chosen;
		left = n->alternatives & ~n->sleeping;
		if (left != 0) {
			n->chosen = lowest(left);
			set_clock(n);
			if (how == EXPLORE_REDUCED)
				find_races(n);
			return true;
		}
		depth--;
	}
	return false;
}

bool
explore(const struct model_program *program, enum explore_how how, struct explore_tally *tally)
{
	*tally = (struct explore_tally){ 0 };
	depth = 0;
	if (how == EXPLORE_ALL) {
		free(seen);
		seen = NULL;
		seen_size = 0;
	}
	do {
		unsigned int prefix = depth;

		model_begin(program);
		for (depth = 0; depth < prefix && model_failure() == NULL; depth++) {
			model_step(path[depth].chosen);
			tally->steps++;
		}
		if (!run_on(program, how, tally))
			return false;
	} while (choose_next(how));
	return true;
}

static void
print_step(unsigned int number, unsigned int t)
{
	static const char *const name[] = {
		[MODEL_READ] = "reads",
		[MODEL_WRITE] = "writes",
		[MODEL_LOCK] = "locks",
		[MODEL_TRYLOCK] = "tries",
		[MODEL_UNLOCK] = "unlocks",
		[MODEL_MARK] = "",
		[MODEL_UNTIL] = "waits for",
	};
	const struct model_op *op = model_pending(t);

	printf("%4u  %*sthread %u %s %s%s%s\n", number, (int)t * 4, "", t, name[op->kind], op->what,
			op->where[0] != '\0' ? " in " : "", op->where);
}

bool
explore_replay(const struct model_program *program, const char *text)
{
	uint32_t enabled;

	model_begin(program);
	for (depth = 0; model_failure() == NULL && (enabled = model_enabled()) != 0; depth++) {
		unsigned int t = *text >= '0' && *text < '0' + MODEL_THREADS
				? (unsigned int)(*text++ - '0')
				: lowest(enabled);

		if (!(enabled & 1u << t))
			t = lowest(enabled);
		print_step(depth, t);
		model_step(t);
	}
	if (model_failure() == NULL && model_unfinished() != 0)
		report_deadlock(model_unfinished());
	if (model_failure() == NULL)
		program->finish();
	printf("%s\n", model_failure() != NULL ? model_failure() : "holds");
	return model_failure() == NULL;
}
