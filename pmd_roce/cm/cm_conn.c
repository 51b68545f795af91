/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One connection: what follows from being in a state or leaving it, its timer, its messages and its owner's notify.
 */

#include <errno.h>

#include <rte_common.h>

#include "cm/cm_conn.h"
#include "cm/cm_table.h"
#include "wire/aeth.h"

#define TIMEWAIT_MIN_US 20000u
#define NS_PER_US       1000u

/*
 * Twice the local ACK timeout: that is the packet lifetime with room for the way back, after which nothing of
 * the connection can still be on the wire (IBTA Vol 1, chapter 12). Codes are far from real lifetimes in both
 * directions (0 is "for ever", Linux offers 19 for 2 s), so it is kept between 20 ms and 1 s.
 */
static uint64_t
timewait_us(const struct roce_cm_conn *conn)
{
	uint64_t us = 2 * roce_ack_timeout_ns(conn->ack_timeout) / NS_PER_US;

	return us == 0 ? ROCE_CM_LINGER_US
		       : RTE_MIN(RTE_MAX(us, TIMEWAIT_MIN_US), ROCE_CM_LINGER_US);
}

/* A request is no longer waiting for an answer. */
static void
answered(struct roce_cm_conn *conn)
{
	if (conn->listener == NULL)
		return;
	LIST_REMOVE(conn, waiting);
	conn->listener->waiting_count--;
	conn->listener = NULL;
}

static void
leave(struct roce_cm_conn *conn)
{
	switch (conn->state) {
	case ROCE_CM_STATE_RESOLVING:
		LIST_REMOVE(conn, waiting);
		break;
	case ROCE_CM_STATE_REQ_RCVD:
		answered(conn);
		break;
	case ROCE_CM_STATE_ESTABLISHED:
		roce_cm_index_del(conn, ROCE_CM_KEY_QPN);
		break;
	case ROCE_CM_STATE_TIMEWAIT:
		if (conn->released)
			TAILQ_REMOVE(&conn->cm->lingering, conn, lingering);
		break;
	default:
		break;
	}
}

static void
enter(struct roce_cm_conn *conn, uint64_t now)
{
	switch (conn->state) {
	case ROCE_CM_STATE_RESOLVING:
		LIST_INSERT_HEAD(&conn->cm->resolving, conn, waiting);
		break;
	case ROCE_CM_STATE_ESTABLISHED:
		conn->cm->stats.established++;
		conn->echo_until = roce_cm_after(now, roce_cm_ticks(conn->cm, ROCE_CM_LINGER_US));
		/* It serves only to notice a peer that lost its memory; without room we do not notice. */
		(void)roce_cm_index_add(conn, ROCE_CM_KEY_QPN);
		break;
	case ROCE_CM_STATE_TIMEWAIT:
		roce_cm_conn_arm(conn, timewait_us(conn), now);
		if (conn->released)
			TAILQ_INSERT_TAIL(&conn->cm->lingering, conn, lingering);
		break;
	case ROCE_CM_STATE_CLOSED:
		if (!conn->active)
			roce_cm_index_del(conn, ROCE_CM_KEY_ID);
		break;
	default:
		break;
	}
}

/*
 * Messages owed in the old state are moot. But an RTU must not be lost when its DREQ follows at once, nor the first REP when the
 * owner says of its queue pair that it has received.
 */
static uint8_t
outlives(const struct roce_cm_conn *conn, enum roce_cm_state next)
{
	if (next == ROCE_CM_STATE_DREQ_SENT)
		return conn->owes & ROCE_CM_OWE_RTU;
	if (next == ROCE_CM_STATE_ESTABLISHED && conn->tries == 0)
		return conn->owes & ROCE_CM_OWE_MSG;
	return 0;
}

void
roce_cm_conn_move(struct roce_cm_conn *conn, enum roce_cm_state state, uint64_t now)
{
	struct roce_cm *cm = conn->cm;
	uint8_t keep = outlives(conn, state);

	if (conn->state != 0) {
		leave(conn);
		cm->in_state[conn->state]--;
		roce_timer_cancel(cm->wheel, &conn->timer);
	}
	if (conn->owes != 0 && keep == 0)
		TAILQ_REMOVE(&cm->talking, conn, talking);
	conn->owes = keep;
	conn->tries = 0;
	conn->prolonged = false;
	conn->patient_id = 0;
	conn->state = (uint8_t)state;
	cm->in_state[state]++;
	enter(conn, now);
}

void
roce_cm_conn_owe(struct roce_cm_conn *conn, uint8_t what)
{
	if (conn->owes == 0)
		TAILQ_INSERT_TAIL(&conn->cm->talking, conn, talking);
	conn->cm->at = 0;
	conn->owes |= what;
}

void
roce_cm_conn_arm(struct roce_cm_conn *conn, uint64_t us, uint64_t now)
{
	uint64_t at = roce_cm_after(now, roce_cm_ticks(conn->cm, us));

	if (conn->state == ROCE_CM_STATE_RESOLVING || conn->state == ROCE_CM_STATE_REQ_SENT ||
			conn->state == ROCE_CM_STATE_REP_SENT)
		at = RTE_MIN(at, conn->give_up);
	roce_timer_arm(conn->cm->wheel, &conn->timer, at);
	conn->cm->at = RTE_MIN(conn->cm->at, at);
}

int
roce_cm_conn_tell(struct roce_cm_conn *conn, enum roce_cm_event_kind kind,
		const struct roce_cm_msg *msg)
{
	struct roce_cm_event event = {
		.kind = kind,
		.conn = conn,
		.context = conn->context,
		.owner = conn->owner,
		.peer = msg != NULL ? &msg->param : NULL,
		.path = &conn->path,
		.reason = msg != NULL ? msg->reason : 0,
	};

	if (!conn->owned || conn->silent)
		return -ENOTCONN;
	return conn->cm->config.notify(conn->cm->config.notify_arg, &event);
}
