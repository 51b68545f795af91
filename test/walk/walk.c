/* SPDX-License-Identifier: BSD-3-Clause */

#include "steps.h"
#include "walk.h"

#define DICE           1024u /**< sum of the weights of a mood */
#define AUDIT_EVERY    8192u /**< steps */
#define SNAPSHOT_EVERY 131072u

static const step_fn step_of[WALK_OPS] = {
	[WALK_POST] = step_post,
	[WALK_ARRIVE] = step_arrive,
	[WALK_STRAY] = step_stray,
	[WALK_REAP] = step_reap,
	[WALK_TURN] = step_poll,
	[WALK_QUERY] = step_query,
	[WALK_RESIZE] = step_resize,
	[WALK_SET_LOW] = step_set_low,
	[WALK_SET_HIGH] = step_set_high,
	[WALK_DISCONNECT] = step_disconnect,
	[WALK_RECONNECT] = step_reconnect,
	[WALK_FREE] = step_free,
};

/* Which steps are likely. A mood lasts for some thousand steps: so queues run full, run empty, stay in between. */
struct mood {
	uint32_t lasts; /**< steps, about */
	uint16_t weight[WALK_OPS];
};

static const struct mood moods[] = {
	/* clang-format off */
	/*          post arrive stray reap turn query resize low high dis re free */
	{ 16384, {   330,   350,    6, 222,  30,   50,     6,  10,  4,  2, 13,  1 } }, /* even */
	{  4096, {   270,   405,    6, 224,  30,   50,     6,  10,  4,  2, 16,  1 } }, /* too few receives */
	{  4096, {   400,   265,    6, 243,  30,   40,     8,  12,  3,  2, 14,  1 } }, /* more than fit */
	{  4096, {   395,   400,    6, 104,  30,   50,     8,  12,  3,  2, 13,  1 } }, /* a lazy consumer */
	{  4096, {   290,   310,    4, 200,  20,   80,    40,  60,  4,  2, 13,  1 } }, /* sizes and marks */
	{  1024, {   250,   310,   10, 200,  30,   60,    15,  20, 24, 30, 56, 19 } }, /* upheaval */
	/* clang-format on */
};

/* Dice that fall as the mood wants. */
static void
load_dice(uint8_t *dice, const struct mood *mood)
{
	uint32_t at = 0;

	for (unsigned int op = 0; op < WALK_OPS; op++) {
		for (uint32_t i = 0; i < mood->weight[op] && at < DICE; i++)
			dice[at++] = (uint8_t)op;
	}
	while (at < DICE)
		dice[at++] = WALK_QUERY;
}

static void
add_tally(struct model_tally *sum, const struct model_tally *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/*
 * Every step compares what the engine answers, shows and tells with the model.
 *
 * Proves: srq_create.7 srq_create.9 srq_create.10 srq_free.2 srq_free.3 srq_free.5 srq_post_recv.1 srq_post_recv.2
 * Proves: srq_post_recv.3 srq_post_recv.6 srq_post_recv.7 srq_post_recv.8 srq_post_recv.9 srq_query.3 srq_query.6
 * Proves: srq_query.7 srq_resize.1 srq_resize.2 srq_resize.3 srq_resize.4 srq_resize.5 srq_resize.6 srq_set_lw.1
 * Proves: srq_set_lw.2 srq_set_lw.3 srq_set_lw.6 srq_set_lw.7 srq_set_lw.8 ep_set_watermark.1 ep_set_watermark.2
 * Proves: ep_set_watermark.3 ep_set_watermark.5 bug.S1 bug.S2 bug.S8 bug.S10 bug.S13 bug.S15 bug.S16 bug.S17
 * Proves: bug.S19 bug.S23 bug.S24 bug.S28 bug.S29
 */
void
walk(unsigned int engines, uint64_t seed, uint64_t steps, struct model_tally *tally)
{
	static struct ground g;
	static uint8_t dice[DICE];
	uint64_t mood_ends = 0, audit_at = AUDIT_EVERY, snapshot_at = SNAPSHOT_EVERY;

	trace_begin(engines, seed);
	ground_open(&g, engines, seed);
	while (trace.steps < steps) {
		if (trace.steps >= mood_ends) {
			const struct mood *mood = &moods[ground_draw(&g, RTE_DIM(moods))];

			load_dice(dice, mood);
			mood_ends = trace.steps + 1 + ground_draw(&g, 2 * mood->lasts);
		}
		step_of[dice[ground_draw(&g, DICE)]](&g);
		ground_all_heard(&g);
		if (trace.steps >= audit_at) {
			ground_audit(&g, trace.steps >= snapshot_at);
			snapshot_at += trace.steps >= snapshot_at ? SNAPSHOT_EVERY : 0;
			audit_at += AUDIT_EVERY;
		}
	}
	ground_close(&g);
	add_tally(tally, &g.model.tally);
}
