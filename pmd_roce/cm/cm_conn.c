/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One connection: its bookkeeping, and the calls of its owner. cm_fsm.c has the table of its states.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cm/cm_pvt.h"
#include "wire/aeth.h"
#include "wire/psn.h"

#define TIMEWAIT_MIN_US 20000u
#define RESOLVE_US      5000000u /**< a neighbour may be stopped for four seconds */
#define EPHEMERAL_PORT  0x8000u
#define NS_PER_US       1000u

static void
timer_fired(struct roce_timer *timer, uint64_t now)
{
	struct roce_cm_conn *conn = container_of(timer, struct roce_cm_conn, timer);

	roce_cm_step_kind(conn, ROCE_CM_IN_TIMER, now);
}

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

static void
leave(struct roce_cm_conn *conn)
{
	switch (conn->state) {
	case ROCE_CM_STATE_RESOLVING:
		LIST_REMOVE(conn, waiting);
		break;
	case ROCE_CM_STATE_REQ_RCVD:
		roce_cm_listen_answered(conn);
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

void
roce_cm_conn_move(struct roce_cm_conn *conn, enum roce_cm_state state, uint64_t now)
{
	struct roce_cm *cm = conn->cm;
	/* Messages owed in the old state are moot, but an RTU must not be lost when its DREQ follows at once. */
	uint8_t keep = state == ROCE_CM_STATE_DREQ_SENT ? conn->owes & ROCE_CM_OWE_RTU : 0;

	if (conn->state != 0) {
		leave(conn);
		cm->in_state[conn->state]--;
		roce_timer_cancel(cm->wheel, &conn->timer);
	} else {
		roce_timer_init(&conn->timer, timer_fired);
	}
	if (conn->owes != 0 && keep == 0)
		TAILQ_REMOVE(&cm->talking, conn, talking);
	conn->owes = keep;
	conn->tries = 0;
	conn->prolonged = false;
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

	if (conn->state == ROCE_CM_STATE_RESOLVING || conn->state == ROCE_CM_STATE_REQ_SENT)
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

static bool
param_ok(const struct roce_cm_param *param, uint16_t private_max)
{
	return param->qpn >= ROCE_CM_QPN_FIRST && param->qpn < ROCE_QPN_MASK &&
			param->psn <= ROCE_PSN_MASK && param->private_len <= private_max &&
			(param->private_len == 0 || param->private_data != NULL) &&
			param->retry <= 7 && param->rnr_retry <= 7 && param->ack_timeout <= 31;
}

/* A connection that begins here, by resolving the path. */
static struct roce_cm_conn *
begin(struct roce_cm *cm, const struct roce_context *context, const struct roce_ip *dst,
		void *owner, uint64_t now)
{
	struct roce_cm_conn *conn = roce_cm_conn_new(cm);

	if (conn == NULL)
		return NULL;
	conn->active = true;
	conn->owned = true;
	conn->context = context;
	conn->owner = owner;
	conn->give_up = ROCE_NEVER;
	conn->resolve_by = roce_cm_after(now, roce_cm_ticks(cm, RESOLVE_US));
	conn->path.dst_ip = *dst;
	roce_cm_conn_move(conn, ROCE_CM_STATE_RESOLVING, now);
	/* The first try is the timer's, so that even an immediate answer is not told from inside the call. */
	roce_cm_conn_arm(conn, 0, now);
	return conn;
}

int
roce_cm_connect(struct roce_cm *cm, const struct roce_context *context,
		const struct roce_cm_connect *connect, void *owner, uint64_t now,
		struct roce_cm_conn **out)
{
	const struct roce_cm_param *local = &connect->local;
	struct roce_cm_conn *conn;

	if (!param_ok(local, ROCE_CM_PRIVATE_MAX_REQ) || local->mtu_code > 5)
		return -EINVAL;
	conn = begin(cm, context, &connect->dst, owner, now);
	if (conn == NULL)
		return -ENOMEM;
	conn->service_id = connect->service_id;
	conn->flow_label = (uint32_t)roce_cm_random(cm) & ROCE_CM_FLOW_MASK;
	conn->src_port = EPHEMERAL_PORT | (uint16_t)roce_cm_random(cm);
	conn->tid = roce_cm_random(cm) << 32 | conn->local_id;
	conn->give_up = roce_cm_after(now, roce_cm_ticks(cm, connect->timeout_us));
	conn->ack_timeout = local->ack_timeout;
	conn->local = *local;
	conn->local.private_data = conn->private_data;
	if (local->private_len != 0)
		memcpy(conn->private_data, local->private_data, local->private_len);
	*out = conn;
	return 0;
}

int
roce_cm_find_path(struct roce_cm *cm, const struct roce_context *context, const struct roce_ip *dst,
		void *owner, uint64_t now, struct roce_cm_conn **out)
{
	struct roce_cm_conn *conn = begin(cm, context, dst, owner, now);

	if (conn == NULL)
		return -ENOMEM;
	conn->path_only = true;
	*out = conn;
	return 0;
}

int
roce_cm_accept(struct roce_cm_conn *conn, const struct roce_cm_param *local, void *owner,
		uint64_t now)
{
	struct roce_cm_input in = { .kind = ROCE_CM_IN_ACCEPT, .param = local, .now = now };

	if (!param_ok(local, ROCE_CM_PRIVATE_MAX_REP) || conn->active || conn->owned)
		return -EINVAL;
	if (conn->state != ROCE_CM_STATE_REQ_RCVD)
		return -ENOTCONN;
	conn->owned = true;
	conn->owner = owner;
	roce_cm_step(conn, &in);
	return 0;
}

int
roce_cm_reject(struct roce_cm_conn *conn, uint16_t reason, const void *private_data,
		uint16_t private_len, uint64_t now)
{
	struct roce_cm_param param = { .private_data = private_data, .private_len = private_len };
	struct roce_cm_input in = {
		.kind = ROCE_CM_IN_END, .reason = reason, .param = &param, .now = now
	};

	if (private_len > ROCE_CM_PRIVATE_MAX_REJ || (private_len != 0 && private_data == NULL) ||
			conn->active || conn->owned)
		return -EINVAL;
	/* When the peer has given up meanwhile, this only forgets the connection. */
	roce_cm_step(conn, &in);
	roce_cm_release(conn, now);
	return 0;
}

bool
roce_cm_disconnect(struct roce_cm_conn *conn, uint64_t now)
{
	roce_cm_step_kind(conn, ROCE_CM_IN_END, now);
	return conn->state == ROCE_CM_STATE_DREQ_SENT && conn->owned && !conn->silent;
}

void
roce_cm_release(struct roce_cm_conn *conn, uint64_t now)
{
	conn->owned = false;
	conn->owner = NULL;
	conn->released = true;
	if (conn->state == ROCE_CM_STATE_TIMEWAIT)
		TAILQ_INSERT_TAIL(&conn->cm->lingering, conn, lingering);
	roce_cm_step_kind(conn, ROCE_CM_IN_END, now);
	if (conn->state == ROCE_CM_STATE_CLOSED)
		roce_cm_conn_free(conn);
}

void
roce_cm_resolved(struct roce_cm *cm, uint64_t now)
{
	struct roce_cm_conn *conn;

	/* Only the timers: trying may tell owners, who may begin and end connections, hence change this list. */
	LIST_FOREACH(conn, &cm->resolving, waiting)
		roce_cm_conn_arm(conn, 0, now);
}
