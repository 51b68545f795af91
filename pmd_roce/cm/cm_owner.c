/* SPDX-License-Identifier: BSD-3-Clause */

/* The calls of the owner of a connection. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cm/cm_conn.h"
#include "cm/cm_fsm.h"
#include "cm/cm_table.h"
#include "wire/psn.h"

#define RESOLVE_US     5000000u /**< a neighbour may be stopped for four seconds */
#define EPHEMERAL_PORT 0x8000u

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
	roce_cm_begin(conn, ROCE_CM_STATE_RESOLVING, now);
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
	conn->src = connect->src;
	conn->tos = connect->tos & (uint8_t)~ROCE_TOS_ECN;
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

	if (private_len > ROCE_CM_PRIVATE_MAX_REJ || (private_len != 0 && private_data == NULL))
		return -EINVAL;
	if (conn->active ? conn->state != ROCE_CM_STATE_REP_RCVD : conn->owned)
		return -EINVAL;
	/* When the peer has given up meanwhile, this only forgets the connection. */
	roce_cm_step(conn, &in);
	roce_cm_release(conn, now);
	return 0;
}

int
roce_cm_ready(struct roce_cm_conn *conn, uint64_t now)
{
	return roce_cm_step_kind(conn, ROCE_CM_IN_READY, now) ? 0 : -ENOTCONN;
}

uint32_t
roce_cm_first_psn(struct roce_cm *cm)
{
	return (uint32_t)roce_cm_random(cm) & ROCE_PSN_MASK;
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
