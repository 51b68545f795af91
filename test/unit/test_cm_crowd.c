/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Connections that come and go faster than TIMEWAIT ends: places are for the living. Both ends have 1100 of them, and a
 * TIMEWAIT lasts 134 ms.
 */

#include "cm_talk.h"

#define AT_ONCE 32u

/* Open some connections, and end each as soon as it is up; all of it in a millisecond. */
static void
come_and_go(void)
{
	struct roce_cm_conn *conn[AT_ONCE];

	active->events = 0;
	passive->events = 0;
	passive->release_on_down = true;
	for (unsigned int i = 0; i < AT_ONCE; i++)
		conn[i] = world_connect(active, 1000000);
	world_run(world->now + MS / 2);
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		assert_int_equal(conn[i]->state, ROCE_CM_STATE_ESTABLISHED);
		roce_cm_release(conn[i], world->now);
	}
	world_run(world->now + MS / 2);
}

static uint64_t
cut_short(const struct end *end)
{
	return roce_cm_stats(end->cm)->timewait_cut;
}

/* 32000 a second and more: without room for the new, each second connection would be refused. */
UNIT_RULE(crowd__does_not_keep_new_connections_out)
{
	world_listen(passive, AT_ONCE);
	for (unsigned int i = 0; i < 200; i++)
		come_and_go();
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(cut_short(&world->end[i]) > 0);
		assert_int_equal(roce_cm_stats(world->end[i].cm)->established, 200 * AT_ONCE);
		assert_int_equal(roce_cm_stats(world->end[i].cm)->refused_backlog, 0);
		/* An eighth is for those to come. */
		assert_in_range(in_state(&world->end[i], ROCE_CM_STATE_TIMEWAIT), 900,
				1100 - 1100 / 8);
	}
	world_settle();
}

/* As long as there are places, each has its time. */
UNIT_RULE(crowd__cuts_nothing_while_there_is_room)
{
	world_listen(passive, AT_ONCE);
	for (unsigned int i = 0; i < 900 / AT_ONCE; i++)
		come_and_go();
	assert_int_equal(cut_short(active), 0);
	assert_int_equal(cut_short(passive), 0);
	assert_int_equal(in_state(active, ROCE_CM_STATE_TIMEWAIT), 900 / AT_ONCE * AT_ONCE);
	world_settle();
}

/* The living are not touched, nor one that is over but not released: its owner still has the pointer. */
UNIT_RULE(crowd__leaves_alone_what_somebody_has)
{
	struct roce_cm_conn *up, *held;

	world_listen(passive, AT_ONCE);
	up = world_connect(active, 1000000);
	held = world_connect(active, 1000000);
	world_run(world->now + MS);
	assert_true(roce_cm_disconnect(held, world->now));
	for (unsigned int i = 0; i < 60; i++)
		come_and_go();
	assert_true(cut_short(active) > 0);
	assert_int_equal(up->state, ROCE_CM_STATE_ESTABLISHED);
	assert_int_equal(held->state, ROCE_CM_STATE_TIMEWAIT);
	/* From now on it is one of those that wait for time alone. */
	roce_cm_release(held, world->now);
	roce_cm_release(up, world->now);
	world_settle();
	assert_int_equal(connections(active), 0);
}

/* A peer that missed our DREQ is answered all the same: from no state. */
UNIT_RULE(crowd__answers_for_those_it_forgot)
{
	struct roce_cm_conn *first;
	uint64_t answered;

	world_listen(passive, AT_ONCE);
	passive->release_on_down = true;
	first = world_connect(active, 1000000);
	world_run(world->now + MS);
	/* Its DREP is lost, and it asks again when the other passive knows nothing of it any more. */
	world->sent = 0;
	world->lose = 0x2;
	assert_true(roce_cm_disconnect(first, world->now));
	world_run(world->now + MS / 10);
	assert_int_equal(first->state, ROCE_CM_STATE_DREQ_SENT);
	world->lose = 0;
	for (unsigned int i = 0; i < 40; i++)
		come_and_go();
	assert_true(cut_short(passive) > 0);
	answered = roce_cm_stats(passive->cm)->rx_unknown;
	world_run_ms(50);
	assert_int_equal(roce_cm_stats(passive->cm)->rx_unknown, answered + 1);
	assert_int_equal(first->state, ROCE_CM_STATE_TIMEWAIT);
	roce_cm_release(first, world->now);
	world_settle();
}

/* Nearly all places are taken, and frames leave one by one: what is over still says its last word first. */
UNIT_RULE(crowd__lets_everybody_finish_speaking)
{
	static struct roce_cm_conn *living[960];

	world_listen(passive, AT_ONCE);
	for (unsigned int i = 0; i < RTE_DIM(living); i++) {
		living[i] = world_connect(active, 1000000);
		if (i % AT_ONCE == AT_ONCE - 1)
			world_run(world->now + MS);
	}
	world->burst = 1;
	come_and_go();
	assert_true(cut_short(passive) > 0);
	world_run_ms(200);
	assert_int_equal(roce_cm_stats(active->cm)->repeats, 0);
	for (unsigned int i = 0; i < RTE_DIM(living); i++)
		roce_cm_release(living[i], world->now);
	world->burst = 32;
	active->events = 0;
	passive->events = 0;
	world_settle();
}
