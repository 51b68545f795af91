/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Connections that come and go faster than TIMEWAIT ends: places are for the living. Both ends have 1100 of them, and a
 * TIMEWAIT lasts 134 ms.
 */

#include "cm_talk.h"

#define AT_ONCE 32u

/* Open some connections, and end each as soon as it is up; all of it in a millisecond. */
static void
come_and_go(struct world *world)
{
	struct roce_cm_conn *conn[AT_ONCE];

	world->end[0].events = 0;
	world->end[1].events = 0;
	world->end[1].release_on_down = true;
	for (unsigned int i = 0; i < AT_ONCE; i++)
		conn[i] = world_connect(&world->end[0], 1000000);
	world_run(world, world->now + MS / 2);
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		assert_int_equal(conn[i]->state, ROCE_CM_STATE_ESTABLISHED);
		roce_cm_release(conn[i], world->now);
	}
	world_run(world, world->now + MS / 2);
}

static uint64_t
cut_short(const struct end *end)
{
	return roce_cm_stats(end->cm)->timewait_cut;
}

/* 32000 a second and more: without room for the new, each second connection would be refused. */
static void
crowd__does_not_keep_new_connections_out(void **state)
{
	struct world *world = world_create();

	world_listen(&world->end[1], AT_ONCE);
	for (unsigned int i = 0; i < 200; i++)
		come_and_go(world);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(cut_short(&world->end[i]) > 0);
		assert_int_equal(roce_cm_stats(world->end[i].cm)->established, 200 * AT_ONCE);
		assert_int_equal(roce_cm_stats(world->end[i].cm)->refused_backlog, 0);
		/* An eighth is for those to come. */
		assert_in_range(in_state(&world->end[i], ROCE_CM_STATE_TIMEWAIT), 900,
				1100 - 1100 / 8);
	}
	world_settle(world);
	world_destroy(world);
}

/* As long as there are places, each has its time. */
static void
crowd__cuts_nothing_while_there_is_room(void **state)
{
	struct world *world = world_create();

	world_listen(&world->end[1], AT_ONCE);
	for (unsigned int i = 0; i < 900 / AT_ONCE; i++)
		come_and_go(world);
	assert_int_equal(cut_short(&world->end[0]), 0);
	assert_int_equal(cut_short(&world->end[1]), 0);
	assert_int_equal(in_state(&world->end[0], ROCE_CM_STATE_TIMEWAIT), 900 / AT_ONCE * AT_ONCE);
	world_settle(world);
	world_destroy(world);
}

/* The living are not touched, nor one that is over but not released: its owner still has the pointer. */
static void
crowd__leaves_alone_what_somebody_has(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	struct roce_cm_conn *up, *held;

	world_listen(&world->end[1], AT_ONCE);
	up = world_connect(end, 1000000);
	held = world_connect(end, 1000000);
	world_run(world, world->now + MS);
	assert_true(roce_cm_disconnect(held, world->now));
	for (unsigned int i = 0; i < 60; i++)
		come_and_go(world);
	assert_true(cut_short(end) > 0);
	assert_int_equal(up->state, ROCE_CM_STATE_ESTABLISHED);
	assert_int_equal(held->state, ROCE_CM_STATE_TIMEWAIT);
	/* From now on it is one of those that wait for time alone. */
	roce_cm_release(held, world->now);
	roce_cm_release(up, world->now);
	world_settle(world);
	assert_int_equal(connections(end), 0);
	world_destroy(world);
}

/* A peer that missed our DREQ is answered all the same: from no state. */
static void
crowd__answers_for_those_it_forgot(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[1];
	struct roce_cm_conn *first;
	uint64_t answered;

	world_listen(end, AT_ONCE);
	end->release_on_down = true;
	first = world_connect(&world->end[0], 1000000);
	world_run(world, world->now + MS);
	/* Its DREP is lost, and it asks again when the other end knows nothing of it any more. */
	world->sent = 0;
	world->lose = 0x2;
	assert_true(roce_cm_disconnect(first, world->now));
	world_run(world, world->now + MS / 10);
	assert_int_equal(first->state, ROCE_CM_STATE_DREQ_SENT);
	world->lose = 0;
	for (unsigned int i = 0; i < 40; i++)
		come_and_go(world);
	assert_true(cut_short(end) > 0);
	answered = roce_cm_stats(end->cm)->rx_unknown;
	world_run_ms(world, 50);
	assert_int_equal(roce_cm_stats(end->cm)->rx_unknown, answered + 1);
	assert_int_equal(first->state, ROCE_CM_STATE_TIMEWAIT);
	roce_cm_release(first, world->now);
	world_settle(world);
	world_destroy(world);
}

/* Nearly all places are taken, and frames leave one by one: what is over still says its last word first. */
static void
crowd__lets_everybody_finish_speaking(void **state)
{
	static struct roce_cm_conn *living[960];
	struct world *world = world_create();
	struct end *end = &world->end[0];

	world_listen(&world->end[1], AT_ONCE);
	for (unsigned int i = 0; i < RTE_DIM(living); i++) {
		living[i] = world_connect(end, 1000000);
		if (i % AT_ONCE == AT_ONCE - 1)
			world_run(world, world->now + MS);
	}
	world->burst = 1;
	come_and_go(world);
	assert_true(cut_short(&world->end[1]) > 0);
	world_run_ms(world, 200);
	assert_int_equal(roce_cm_stats(end->cm)->repeats, 0);
	for (unsigned int i = 0; i < RTE_DIM(living); i++)
		roce_cm_release(living[i], world->now);
	world->burst = 32;
	world->end[0].events = 0;
	world->end[1].events = 0;
	world_settle(world);
	world_destroy(world);
}

RULES = {
	cmocka_unit_test(crowd__does_not_keep_new_connections_out),
	cmocka_unit_test(crowd__cuts_nothing_while_there_is_room),
	cmocka_unit_test(crowd__leaves_alone_what_somebody_has),
	cmocka_unit_test(crowd__answers_for_those_it_forgot),
	cmocka_unit_test(crowd__lets_everybody_finish_speaking),
};
