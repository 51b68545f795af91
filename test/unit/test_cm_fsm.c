/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include "cm_talk.h"

static const char *const input_name[ROCE_CM_INPUTS] = {
	[ROCE_CM_IN_REQ] = "REQ",
	[ROCE_CM_IN_MRA] = "MRA",
	[ROCE_CM_IN_REJ] = "REJ",
	[ROCE_CM_IN_REP] = "REP",
	[ROCE_CM_IN_RTU] = "RTU",
	[ROCE_CM_IN_DREQ] = "DREQ",
	[ROCE_CM_IN_DREP] = "DREP",
	[ROCE_CM_IN_SMALLER] = "smaller",
	[ROCE_CM_IN_TIMER] = "timer",
	[ROCE_CM_IN_GIVE_UP] = "give up",
	[ROCE_CM_IN_RESOLVED] = "resolved",
	[ROCE_CM_IN_FOUND] = "found",
	[ROCE_CM_IN_READY] = "ready",
	[ROCE_CM_IN_ACCEPT] = "accept",
	[ROCE_CM_IN_QP_UP] = "qp up",
	[ROCE_CM_IN_QP_DOWN] = "qp down",
	[ROCE_CM_IN_STALE] = "stale",
	[ROCE_CM_IN_END] = "end",
};

/* State, input, action, next state: everything that is not here means nothing. */
static const char printed[] = "resolving    timer     resolve       -\n"
			      "resolving    give up   unreachable   closed\n"
			      "resolving    resolved  request       req_sent\n"
			      "resolving    found     found         closed\n"
			      "resolving    end       drop          closed\n"
			      "req_sent     MRA       prolong       -\n"
			      "req_sent     REJ       refused       timewait\n"
			      "req_sent     REP       reply         rep_rcvd\n"
			      "req_sent     smaller   request       req_sent\n"
			      "req_sent     timer     repeat        -\n"
			      "req_sent     give up   timed_out     timewait\n"
			      "req_sent     end       reject        timewait\n"
			      "rep_rcvd     REJ       refused       timewait\n"
			      "rep_rcvd     REP       patience      -\n"
			      "rep_rcvd     DREQ      left          timewait\n"
			      "rep_rcvd     ready     confirm       established\n"
			      "rep_rcvd     end       reject        timewait\n"
			      "req_rcvd     REQ       patience      -\n"
			      "req_rcvd     REJ       refused       timewait\n"
			      "req_rcvd     accept    answer        rep_sent\n"
			      "req_rcvd     end       reject        timewait\n"
			      "rep_sent     REQ       again         -\n"
			      "rep_sent     MRA       prolong       -\n"
			      "rep_sent     REJ       refused       timewait\n"
			      "rep_sent     RTU       establish     established\n"
			      "rep_sent     DREQ      establish     established\n"
			      "rep_sent     timer     repeat        -\n"
			      "rep_sent     give up   timed_out     timewait\n"
			      "rep_sent     ready     establish     established\n"
			      "rep_sent     qp up     establish     established\n"
			      "rep_sent     qp down   reject        timewait\n"
			      "rep_sent     end       reject        timewait\n"
			      "established  REJ       left          timewait\n"
			      "established  REP       confirm       -\n"
			      "established  DREQ      left          timewait\n"
			      "established  qp down   disconnect    dreq_sent\n"
			      "established  stale     left          timewait\n"
			      "established  end       disconnect    dreq_sent\n"
			      "dreq_sent    REJ       left          timewait\n"
			      "dreq_sent    DREQ      left          timewait\n"
			      "dreq_sent    DREP      left          timewait\n"
			      "dreq_sent    timer     repeat        -\n"
			      "dreq_sent    give up   left          timewait\n"
			      "timewait     REQ       again         -\n"
			      "timewait     REP       refuse_reply  -\n"
			      "timewait     DREQ      answer_dreq   -\n"
			      "timewait     timer     forget        closed\n"
			      "closed       REP       refuse_reply  -\n"
			      "closed       DREQ      answer_dreq   -\n";

UNIT_RULE(table__is_this)
{
	static char text[sizeof(printed) + 256];
	size_t used = 0;
	unsigned int next;

	for (unsigned int s = 1; s < ROCE_CM_STATES; s++) {
		for (unsigned int i = 0; i < ROCE_CM_INPUTS; i++) {
			const char *action = roce_cm_fsm_cell(s, i, &next);

			if (action == NULL)
				continue;
			assert_true(used < sizeof(text) - 80);
			used += (size_t)snprintf(text + used, sizeof(text) - used,
					"%-12s %-9s %-13s %s\n", roce_cm_state_name(s),
					input_name[i], action,
					next != 0 ? roce_cm_state_name(next) : "-");
		}
	}
	assert_string_equal(text, printed);
}

static bool
does(unsigned int state, unsigned int input)
{
	unsigned int next;

	return roce_cm_fsm_cell(state, input, &next) != NULL;
}

/* From the two states in which connections are born, every state can be reached, and from each one CLOSED. */
UNIT_RULE(table__has_no_island_and_no_trap)
{
	bool reached[ROCE_CM_STATES] = {
		[ROCE_CM_STATE_RESOLVING] = true, [ROCE_CM_STATE_REQ_RCVD] = true
	};
	bool ends[ROCE_CM_STATES] = { [ROCE_CM_STATE_CLOSED] = true };
	unsigned int next;

	for (unsigned int round = 0; round < ROCE_CM_STATES; round++) {
		for (unsigned int s = 1; s < ROCE_CM_STATES; s++) {
			for (unsigned int i = 0; i < ROCE_CM_INPUTS; i++) {
				if (roce_cm_fsm_cell(s, i, &next) == NULL || next == 0)
					continue;
				reached[next] |= reached[s];
				ends[s] |= ends[next];
			}
		}
	}
	for (unsigned int s = 1; s < ROCE_CM_STATES; s++) {
		assert_true(reached[s]);
		assert_true(ends[s]);
	}
}

UNIT_RULE(table__lets_the_owner_end_every_live_state)
{
	unsigned int s;

	for (s = 1; s < ROCE_CM_STATE_DREQ_SENT; s++)
		assert_true(does(s, ROCE_CM_IN_END));
	for (; s < ROCE_CM_STATES; s++)
		assert_false(does(s, ROCE_CM_IN_END));
}

/* A state that waits for the peer has a timer; only the consumer's own answer may take for ever. */
UNIT_RULE(table__waits_for_nobody_for_ever)
{
	for (unsigned int s = 1; s < ROCE_CM_STATES; s++) {
		bool patient = s == ROCE_CM_STATE_REP_RCVD || s == ROCE_CM_STATE_REQ_RCVD ||
				s == ROCE_CM_STATE_ESTABLISHED || s == ROCE_CM_STATE_CLOSED;

		assert_int_equal(does(s, ROCE_CM_IN_TIMER), !patient);
		if (does(s, ROCE_CM_IN_TIMER) && s != ROCE_CM_STATE_TIMEWAIT)
			assert_true(does(s, ROCE_CM_IN_GIVE_UP));
	}
}

/* A DREQ is always answered once a REP may have told the peer who we are. */
UNIT_RULE(table__answers_every_dreq)
{
	for (unsigned int s = ROCE_CM_STATE_REP_SENT; s < ROCE_CM_STATES; s++)
		assert_true(does(s, ROCE_CM_IN_DREQ));
}

UNIT_RULE(repeat__doubles_up_to_the_response_time)
{
	static const uint64_t want[] = { 200000, 400000, 800000, 1600000, 3200000, 4294967,
		4294967 };
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(want); i++)
		assert_int_equal(roce_cm_repeat_us(i), want[i]);
	for (unsigned int i = 0; i <= ROCE_CM_RETRIES; i++)
		sum += roce_cm_repeat_us(i);
	assert_int_equal(roce_cm_repeat_us(255), 4294967);
	/* Sixteen REQs take about a minute. */
	assert_in_range(sum, 50000000, 60000000);
}

/* The times at which the wire saw the messages of an end that nobody answers. */
static unsigned int
watch(uint64_t at[32])
{
	uint64_t begin = world->now;
	unsigned int n = 0;

	world->lose_all = true;
	while (world_next() != ROCE_NEVER && world->now < begin + 200 * SECOND) {
		uint64_t sent = world->sent;

		if (!world_poll())
			world->now = RTE_MAX(world_next(), world->now + 1);
		else if (world->sent != sent && n < 32)
			at[n++] = (world->now - begin) / MS;
	}
	return n;
}

/* Sixteen REQs and one REJ to say that it is over. */
UNIT_RULE(request__is_repeated_and_given_up)
{
	uint64_t at[32] = { 0 };
	unsigned int n;

	world_connect(active, UINT64_MAX);
	active->release_on_down = true;
	n = watch(at);
	assert_int_equal(n, 17);
	assert_int_equal(at[0], 0);
	assert_in_range(at[1], 200, 202);
	assert_in_range(at[2], 600, 603);
	assert_in_range(at[3], 1400, 1404);
	assert_in_range(at[16], 50000, 60000);
	assert_int_equal(last_msg().reason, ROCE_CM_REJ_TIMEOUT);
	assert_string_equal(told_all(active), "T");
	assert_int_equal(connections(active), 0);
}

UNIT_RULE(request__ends_with_the_patience_of_the_consumer)
{
	uint64_t begin = world->now;

	active->release_on_down = true;
	world->lose_all = true;
	world_connect(active, 1000000);
	world_settle();
	assert_string_equal(told_all(active), "T");
	assert_in_range(active->told[0].at - begin, SECOND, SECOND + 2 * MS);
	/* 0, 200 and 600 ms, and the REJ. */
	assert_fields(*roce_cm_stats(active->cm), (tx_req, 3), (tx_rej, 1));
}

UNIT_RULE(reply__is_repeated_and_given_up)
{
	world_listen(passive, 1);
	active->release_on_down = true;
	passive->release_on_down = true;
	/* Only the REQ arrives, and the peer is gone after a second. */
	world_connect(active, 1000000);
	world->lose = ~UINT64_C(1);
	world_run_ms(100);
	world->lose_all = true;
	world_settle();
	assert_string_equal(told_all(passive), "QT");
	assert_fields(*roce_cm_stats(passive->cm), (tx_rep, 16), (tx_rej, 1));
	/* The peer may not know our id: the GUID tells it. */
	assert_fields(last_msg(), (attr, ROCE_CM_ATTR_REJ), (ari_len, 8));
}

UNIT_RULE(dreq__is_repeated_and_given_up)
{
	struct roce_cm_conn *conn;
	uint64_t begin;

	world_listen(passive, 1);
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(10);
	world->lose_all = true;
	begin = world->now;
	assert_true(roce_cm_disconnect(conn, world->now));
	/* Asking twice changes nothing. */
	assert_true(roce_cm_disconnect(conn, world->now));
	active->release_on_down = true;
	/* A closing adapter waits no longer, and one loss must not leave the peer behind. */
	world_run_ms(250);
	assert_int_equal(roce_cm_stats(active->cm)->tx_dreq, 3);
	world_settle();
	assert_string_equal(told_all(active), "PD");
	assert_int_equal(roce_cm_stats(active->cm)->tx_dreq, 13);
	assert_in_range(active->told[1].at - begin, 10 * SECOND, 11 * SECOND);
}

/* An MRA makes us wait, once for each REQ and never longer than a minute or so. */
UNIT_RULE(prolong__waits_as_the_peer_asks)
{
	static const struct {
		uint8_t code;
		uint64_t least_ms, most_ms;
	} rule[] = { { 0, 200, 203 }, { 20, 4494, 4500 }, { 31, 68900, 68930 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_msg mra = { .attr = ROCE_CM_ATTR_MRA,
			.service_timeout = rule[i].code };
		uint64_t begin = world->now;

		mra.remote_id = world_connect(active, UINT64_MAX)->local_id;
		assert_int_equal(speak(active), 1);
		mra.local_id = 77;
		for (unsigned int k = 0; k < 3; k++) {
			hear(active, &mra);
			world->now += 50 * MS;
		}
		world->lose_all = true;
		while (roce_cm_stats(active->cm)->tx_req < 2) {
			if (!world_poll())
				world->now = RTE_MAX(world_next(), world->now + 1);
		}
		assert_in_range((world->now - begin) / MS, rule[i].least_ms, rule[i].most_ms);
		world_again();
	}
}

/*
 * A client that answers each REP with an MRA holds a place of the server for two minutes, whatever it asks for. The longest
 * time that one MRA gets is within that.
 */
UNIT_RULE(prolong__ends_two_minutes_behind_the_first_reply)
{
	static const struct {
		uint8_t code;
		uint64_t least, most; /**< replies */
	} rule[] = { { 31, 2, 2 }, { 24, 2, 2 }, { 22, 6, 8 }, { 20, 13, 16 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_msg mra = { .attr = ROCE_CM_ATTR_MRA,
			.about = ROCE_CM_ABOUT_REP,
			.service_timeout = rule[i].code };
		uint64_t begin;

		world_listen(passive, 1);
		passive->release_on_down = true;
		mra.local_id = world_connect(active, UINT64_MAX)->local_id;
		/* The REQ alone arrives. */
		world->lose = ~UINT64_C(1);
		while (passive->events == 0)
			world_run_ms(1);
		begin = world->now;
		mra.remote_id = passive->told[0].conn->local_id;
		world->lose_all = true;
		while (told_times(passive, ROCE_CM_TIMED_OUT) == 0) {
			hear(passive, &mra);
			world_run_ms(50);
			assert_true(world->now - begin < 1000 * SECOND);
		}
		assert_in_range((world->now - begin) / MS, 119000, 121000);
		assert_in_range(roce_cm_stats(passive->cm)->tx_rep, rule[i].least, rule[i].most);
		assert_string_equal(told_all(passive), "QT");
		world_again();
	}
}

/* Twice the local ACK timeout, between 20 ms and a second. */
UNIT_RULE(timewait__has_bounds)
{
	static const struct {
		uint8_t code;
		uint64_t ms;
	} rule[] = { { 0, 1000 }, { 1, 20 }, { 14, 134 }, { 19, 1000 }, { 31, 1000 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_connect connect = {
			.dst = passive->ip,
			.service_id = SERVICE,
			.local = offer(active, NULL),
			.timeout_us = UINT64_MAX,
		};
		struct roce_cm_conn *conn;
		uint64_t over;

		connect.local.ack_timeout = rule[i].code;
		world_listen(passive, 1);
		assert_int_equal(roce_cm_connect(active->cm, NULL, &connect, active, world->now,
						 &conn),
				0);
		world_run_ms(10);
		roce_cm_release(conn, world->now);
		world_run_ms(1);
		assert_int_equal(in_state(active, ROCE_CM_STATE_TIMEWAIT), 1);
		over = world->now;
		while (connections(active) != 0)
			world_run_ms(1);
		assert_in_range((world->now - over) / MS, rule[i].ms - 3, rule[i].ms + 3);
		world_again();
	}
}
