/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants of a connection manager: those that hold at any time, and those at the end. */

#include "cm_world.h"

/* In these states a connection waits for its owner or its peer; every other state has a timer. */
static bool
rests(uint8_t state)
{
	return state == ROCE_CM_STATE_REQ_RCVD || state == ROCE_CM_STATE_REP_RCVD ||
			state == ROCE_CM_STATE_ESTABLISHED || state == ROCE_CM_STATE_CLOSED;
}

static void
check_conn(const struct roce_cm_conn *conn, uint32_t *count, uint32_t *talkers)
{
	BASE_MUST(conn->state >= ROCE_CM_STATE_RESOLVING && conn->state < ROCE_CM_STATES,
			"a connection is in a state");
	BASE_MUST(rests(conn->state) || roce_timer_armed(&conn->timer),
			"a connection that waits for an answer waits for a while");
	BASE_MUST(!conn->released || conn->state != ROCE_CM_STATE_CLOSED,
			"a connection that is closed and released is gone");
	BASE_MUST(!conn->released || !conn->owned, "what was released has no owner");
	count[conn->state]++;
	*talkers += conn->owes != 0;
}

static void
check_table(const struct roce_cm *cm)
{
	uint32_t count[ROCE_CM_STATES] = { 0 };
	uint32_t conns = 0, talkers = 0, talking = 0;
	const struct roce_cm_conn *conn;

	for (uint32_t i = 0; i < cm->slots; i++) {
		if (cm->slot[i].conn == NULL)
			continue;
		conns++;
		check_conn(cm->slot[i].conn, count, &talkers);
	}
	BASE_MUST(conns == cm->used && cm->used <= CM_TABLE, "connections are bounded and counted");
	for (unsigned int i = 1; i < ROCE_CM_STATES; i++)
		BASE_MUST(count[i] == cm->in_state[i], "the counts by state are right");
	TAILQ_FOREACH(conn, &cm->talking, talking)
		talking++;
	BASE_MUST(talking == talkers, "who owes something is on the list, and nobody else");
	BASE_MUST(cm->answers <= ROCE_CM_ANSWERS, "answers to unknown peers are bounded");
	BASE_MUST(rte_hash_count(cm->index) <= (int32_t)(2 * cm->used), "the index is bounded");
}

/* Requests that wait stand in their listener's count. */
static void
check_listeners(const struct cm_end *end)
{
	for (unsigned int i = 0; i < CM_LISTENERS; i++) {
		const struct roce_cm_listener *listener = end->listener[i];
		const struct roce_cm_conn *conn;
		uint32_t waiting = 0;

		if (listener == NULL)
			continue;
		LIST_FOREACH(conn, &listener->waiting, waiting)
			waiting++;
		BASE_MUST(waiting == listener->waiting_count && waiting <= listener->backlog,
				"no more requests wait than the backlog allows");
	}
}

/* A message that comes in makes at most one message go out. */
static void
check_amplification(const struct cm_end *end)
{
	const struct roce_cm_stats *s = roce_cm_stats(end->cm);
	uint64_t in = s->rx_req + s->rx_mra + s->rx_rej + s->rx_rep + s->rx_rtu + s->rx_dreq +
			s->rx_drep;

	BASE_MUST(end->sent <= in + s->repeats + s->timed_out + end->actions,
			"more messages went out than there was reason for");
}

static unsigned int
listeners_of(const struct cm_end *end)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < CM_LISTENERS; i++)
		n += end->listener[i] != NULL;
	return n;
}

void
cm_check(const struct cm_end *end)
{
	check_table(end->cm);
	check_listeners(end);
	check_amplification(end);
	BASE_MUST(base_live() ==
					cm_world.live + cm_world.end[0].cm->used +
							cm_world.end[1].cm->used +
							listeners_of(&cm_world.end[0]) +
							listeners_of(&cm_world.end[1]),
			"memory is that of connections and listeners");
}

void
cm_check_idle(const struct cm_end *end)
{
	for (unsigned int i = 0; i < CM_OWNERS; i++) {
		enum cm_phase phase = end->owner[i].phase;

		BASE_MUST(phase != CM_CONNECTING, "who connects hears an answer at last");
		BASE_MUST(phase != CM_ACCEPTED, "who accepts hears the end at last");
		BASE_MUST(phase != CM_LEAVING, "who disconnects hears the end at last");
	}
}
