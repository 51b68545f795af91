/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that share an address: the number of the process in communication ids (cm/cm_table.c). Roced sends an answer to
 * the process that its remote id names, so the number stands there through the life of a connection.
 */

#include "cm_talk.h"

#define SHIFT 22

/* Both ends anew, with these processes; 0: none. */
static void
open_processes(uint16_t first, uint16_t second)
{
	const uint16_t process[] = { first, second };

	for (unsigned int i = 0; i < 2; i++) {
		struct roce_cm_config config = world_config(&world->end[i]);

		config.process = process[i];
		roce_cm_destroy(world->end[i].cm);
		assert_int_equal(roce_cm_create(&config, &world->end[i].cm), 0);
		roce_cm_gsi(world->end[i].cm, &world->end[i].gsi);
	}
}

UNIT_RULE(id__has_the_process_in_its_upper_bits)
{
	struct roce_cm_conn *a, *b;

	open_processes(5, 1022);
	world_connected(&a, &b);
	assert_int_equal(a->local_id >> SHIFT, 5);
	assert_int_equal(b->local_id >> SHIFT, 1022);
	assert_int_equal(a->remote_id, b->local_id);
	assert_ptr_equal(roce_cm_find_local(active->cm, a->local_id), a);
}

/* An id of another process names none of ours. */
UNIT_RULE(id__of_another_process_is_not_found)
{
	struct roce_cm_conn *a, *b;

	open_processes(5, 6);
	world_connected(&a, &b);
	for (uint32_t process = 0; process < 1024; process++) {
		const uint32_t id = process << SHIFT | (a->local_id & ((1u << SHIFT) - 1));

		if (process != 5)
			assert_null(roce_cm_find_local(active->cm, id));
	}
}

/* A place is used again and again, with another id each time, until the bits that are left have all been used. */
UNIT_RULE(id__comes_back_late)
{
	static uint8_t used[(1u << SHIFT) / 8];

	open_processes(5, 6);
	for (unsigned int i = 0; i < 20000; i++) {
		struct roce_cm_conn *conn = roce_cm_conn_new(active->cm);
		uint32_t id;

		assert_non_null(conn);
		id = conn->local_id & ((1u << SHIFT) - 1);
		assert_int_equal(conn->local_id >> SHIFT, 5);
		assert_ptr_equal(roce_cm_find_local(active->cm, conn->local_id), conn);
		assert_false(used[id / 8] & 1u << id % 8);
		used[id / 8] |= (uint8_t)(1u << id % 8);
		roce_cm_conn_free(conn);
	}
}

/* The request, and the word that it is over. */
UNIT_RULE(message__names_the_process_of_its_sender)
{
	struct roce_cm_conn *conn;

	open_processes(5, 6);
	passive->policy = POLICY_HOLD;
	world_listen(passive, 1);
	conn = world_connect(active, 1000000);
	(void)speak(active);
	assert_int_equal(last_msg().local_id >> SHIFT, 5);
	assert_int_equal(last_msg().remote_id, 0);
	roce_cm_release(conn, world->now);
	(void)speak(active);
	assert_int_equal(last_msg().local_id >> SHIFT, 5);
}

/* Without processes all bits are the connection manager's. */
UNIT_RULE(id__is_whole_without_processes)
{
	uint32_t upper = 0;

	for (unsigned int i = 0; i < 4000; i++) {
		struct roce_cm_conn *conn = roce_cm_conn_new(active->cm);

		upper |= 1u << (conn->local_id >> SHIFT) % 32;
		roce_cm_conn_free(conn);
	}
	assert_true(__builtin_popcount(upper) > 1);
}

/*
 * The next process with a number comes after the end of the one before, which breaks its connections. So the request of a
 * connection that is up is an echo however late it comes. Of another host that shares no number it may be a new life.
 */
UNIT_RULE(request__is_an_echo_as_long_as_the_connection_is_up)
{
	for (unsigned int shared = 0; shared < 2; shared++) {
		struct roce_cm_msg rtu = { .attr = ROCE_CM_ATTR_RTU };
		struct roce_cm_msg req;

		open_processes(5, 6);
		if (shared)
			active->ip = passive->ip;
		req = good_request(passive);
		req.local_id |= 5u << SHIFT;
		rtu.local_id = req.local_id;
		world_listen(passive, 4);
		rtu.remote_id = said_to(passive, &req).local_id;
		hear(passive, &rtu);
		world->now += 10 * SECOND;
		hear(passive, &req);
		assert_int_equal(speak(passive), shared ? 0 : 1);
		assert_string_equal(told_all(passive), shared ? "QE" : "QED");
		world_again();
	}
}

/* Two processes of one host, the first of which is about to end in the rule. */
static void
open_neighbours(void)
{
	open_processes(5, 6);
	active->ip = passive->ip;
}

/* Process 6 waits for the answer of its own consumer, and has asked process 5 for patience. */
static struct roce_cm_conn *
ask_for_patience(void)
{
	struct roce_cm_conn *conn;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 4);
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(300);
	assert_int_equal(active->cm->stats.repeats, 1);
	assert_true(conn->prolonged);
	assert_int_equal(speak(active), 0);
	return conn;
}

/* A request to a process that has ended does not wait 17 seconds: another process may listen there now. */
UNIT_RULE(request__goes_out_again_when_the_process_that_wanted_patience_has_ended)
{
	struct roce_cm_conn *conn;

	open_neighbours();
	conn = ask_for_patience();
	roce_cm_lose_process(active->cm, 7, world->now);
	assert_int_equal(speak(active), 0);
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_int_equal(speak(active), 1);
	assert_int_equal(last_msg().attr, ROCE_CM_ATTR_REQ);
	assert_int_equal(last_msg().local_id, conn->local_id);
	/* Once: what answers then is another process, or nobody. */
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_int_equal(speak(active), 0);
	assert_string_equal(told_all(active), "");
}

UNIT_RULE(request__is_over_when_the_process_that_asks_has_ended)
{
	open_neighbours();
	(void)ask_for_patience();
	roce_cm_lose_process(passive->cm, 4, world->now);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_REQ_RCVD), 1);
	roce_cm_lose_process(passive->cm, 5, world->now);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_TIMEWAIT), 1);
	/* As after a REJ: accept finds out. */
	assert_string_equal(told_all(passive), "Q");
}

/* The same between its REP and the RTU, and when it was asked to disconnect: nothing is sent again. */
UNIT_RULE(answer__of_a_process_that_has_ended_is_not_waited_for)
{
	struct roce_cm_conn *a, *b;

	open_neighbours();
	world_listen(passive, 4);
	a = world_connect(active, UINT64_MAX);
	world->lose = ~UINT64_C(1);
	world_run_ms(50);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_REP_SENT), 1);
	roce_cm_lose_process(passive->cm, 5, world->now);
	assert_string_equal(told_all(passive), "QR");
	world_run_ms(1000);
	assert_int_equal(passive->cm->stats.repeats, 0);
	roce_cm_release(a, world->now);

	world_again();
	open_neighbours();
	world_connected(&a, &b);
	world->lose_all = true;
	roce_cm_disconnect(a, world->now);
	world_run_ms(10);
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_string_equal(told_all(active), "PD");
	world_run_ms(1000);
	assert_int_equal(active->cm->stats.repeats, 0);
}

/* Its queue pair ends it, and says why. */
UNIT_RULE(connection__that_is_up_ends_by_its_queue_pair)
{
	struct roce_cm_conn *a, *b;

	open_neighbours();
	world_connected(&a, &b);
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_string_equal(told_all(active), "P");
	assert_int_equal(in_state(active, ROCE_CM_STATE_ESTABLISHED), 1);
}

/* Unless that is known by its number alone. */
UNIT_RULE(connection_by_number__ends_with_the_process)
{
	struct roce_cm_conn *a, *b;

	open_neighbours();
	world_connected(&a, &b);
	a->local.by_number = true;
	roce_cm_lose_process(active->cm, 7, world->now);
	assert_string_equal(told_all(active), "P");
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_string_equal(told_all(active), "PD");
}

UNIT_RULE(answer__that_waits_for_its_queue_pair_ends_with_the_process)
{
	open_neighbours();
	world_listen(passive, 4);
	active->reply_rc = ROCE_CM_LATER;
	world_connect(active, UINT64_MAX);
	world_run_ms(50);
	assert_int_equal(in_state(active, ROCE_CM_STATE_REP_RCVD), 1);
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_string_equal(told_all(active), "PR");
}

/* The number of a process says nothing of what came from another host. */
UNIT_RULE(request__of_another_host_outlives_a_process_of_this_one)
{
	open_processes(5, 6);
	(void)ask_for_patience();
	roce_cm_lose_process(passive->cm, 5, world->now);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_REQ_RCVD), 1);
	roce_cm_lose_process(active->cm, 6, world->now);
	assert_int_equal(speak(active), 0);
}
