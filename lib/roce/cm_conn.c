/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of the connection manager for an id, and their consequences for its queue pair. */

#include <errno.h>
#include <string.h>

#include "user.h"

#define READS_WANTED 16 /**< READs and atomics outstanding, by default */

void
roce_user_lock_qp(const struct roce_user *user, const struct roce_qp *qp)
{
	if (qp != NULL && roce_qp_engine(qp) != user->engine0)
		roce_engine_lock(roce_qp_engine(qp));
}

void
roce_user_unlock_qp(const struct roce_user *user, const struct roce_qp *qp)
{
	if (qp != NULL && roce_qp_engine(qp) != user->engine0)
		roce_engine_unlock_inner(roce_qp_engine(qp));
}

/* By number, chosen once: the owner of an accepted queue pair may ask for it before it accepts. */
static uint32_t
first_psn(const struct roce_cm_id *id)
{
	return id->state == ROCE_CM_ID_REQUESTED ? id->first_psn : roce_cm_first_psn(id->user->cm);
}

void
roce_cm_id_offer(struct roce_cm_id *id, const struct roce_cm_conn_param *param,
		struct roce_cm_param *local)
{
	const struct roce_device_attr *attr = &id->user->attr;
	struct roce_qp_made made = { .srq = param->srq, .max_dest_rd_atomic = ROCE_RD_ATOMIC_MAX };

	if (param->qp != NULL)
		roce_qp_describe(param->qp, &made);
	id->first_psn = param->qp != NULL ? roce_qp_first_psn(param->qp) : first_psn(id);
	id->ack_timeout = param->ack_timeout != 0 ? param->ack_timeout : attr->ack_timeout;
	id->initiator_depth = param->initiator_depth != 0 ? param->initiator_depth : READS_WANTED;
	id->responder_resources = param->responder_resources != 0
			? RTE_MIN(param->responder_resources, made.max_dest_rd_atomic)
			: made.max_dest_rd_atomic;
	/* An answer promises no more than was asked for. */
	if (id->state == ROCE_CM_ID_REQUESTED) {
		id->initiator_depth = RTE_MIN(id->initiator_depth, id->peer.responder_resources);
		id->responder_resources =
				RTE_MIN(id->responder_resources, id->peer.initiator_depth);
	}
	*local = (struct roce_cm_param){
		.qpn = param->qp != NULL ? roce_qp_number(param->qp) : param->qp_num,
		.psn = id->first_psn,
		.responder_resources = id->responder_resources,
		.initiator_depth = id->initiator_depth,
		.retry = attr->retry,
		.rnr_retry = param->rnr_retry != 0 ? param->rnr_retry : attr->rnr_retry,
		.ack_timeout = attr->ack_timeout,
		.srq = made.srq,
		.by_number = param->qp == NULL,
		.private_data = param->private_data,
		.private_len = param->private_data_len,
	};
}

int
roce_cm_id_to_rtr(struct roce_cm_id *id, const struct roce_cm_param *peer,
		const struct roce_path *path)
{
	const struct roce_device_attr *attr = &id->user->attr;
	struct roce_qp_connect connect = {
		.path = *path,
		.dest_qp = peer->qpn,
		.rq_psn = id->first_psn,
		.sq_psn = peer->psn,
		.retry = attr->retry,
		/* How often to come back to an empty queue is for its owner to say, within what this end has patience for. */
		.rnr_retry = RTE_MIN(peer->rnr_retry, attr->rnr_retry),
		.rnr_timer = attr->rnr_timer,
		.ack_timeout = id->ack_timeout,
		.max_rd_atomic = RTE_MIN(id->initiator_depth, peer->responder_resources),
		.max_dest_rd_atomic = id->responder_resources,
		.extensions = peer->extensions,
	};

	id->path = *path;
	return roce_qp_to_rtr(id->qp, &connect);
}

void
roce_cm_id_let_go(struct roce_cm_id *id)
{
	if (id->qp != NULL) {
		roce_qp_set_conn(id->qp, NULL);
		/* One that was never connected can still be: its receives stay. */
		if (roce_qp_state(id->qp) != ROCE_QP_RESET) {
			roce_qp_make_final_ack(id->qp);
			roce_qp_to_error(id->qp);
		}
		id->qp = NULL;
	}
	if (id->conn != NULL)
		roce_cm_release(id->conn, roce_device_now(id->user->device));
	id->conn = NULL;
}

/* It did not come to be. */
static void
fail(struct roce_cm_id *id, enum roce_cm_event_type type, int status)
{
	bool accepted = id->state == ROCE_CM_ID_ACCEPTING;

	if (!roce_cm_id_advance(id, ROCE_CM_ID_IN_FAIL))
		return;
	roce_cm_id_let_go(id);
	roce_cm_id_deliver(id, accepted ? ROCE_CM_EVENT_CONNECT_ERROR : type, status);
}

/* Posted work is flushed first, so that its completions precede the event. */
static void
end(struct roce_cm_id *id)
{
	if (!roce_cm_id_advance(id, ROCE_CM_ID_IN_END)) {
		fail(id, ROCE_CM_EVENT_CONNECT_ERROR, 0);
		return;
	}
	roce_cm_id_let_go(id);
	roce_cm_id_deliver(id, ROCE_CM_EVENT_DISCONNECTED, 0);
}

static void
up(struct roce_cm_id *id)
{
	if (!roce_cm_id_advance(id, ROCE_CM_ID_IN_UP))
		return;
	roce_cm_id_deliver(id, ROCE_CM_EVENT_ESTABLISHED, 0);
	if (id->qp != NULL)
		roce_qp_check_high(id->qp);
}

static void
keep_private_data(struct roce_cm_id *id, const struct roce_cm_param *peer)
{
	id->private_len = RTE_MIN(peer->private_len, (uint16_t)sizeof(id->private_data));
	if (id->private_len > 0)
		memcpy(id->private_data, peer->private_data, id->private_len);
}

static void
keep_peer(struct roce_cm_id *id, const struct roce_cm_event *event)
{
	id->peer = *event->peer;
	id->path = *event->path;
	keep_private_data(id, event->peer);
	id->peer.private_data = NULL;
}

/* The peer accepted. @return 0; ROCE_CM_LATER; else the manager refuses its answer, and ends the connection. */
static int
reply(struct roce_cm_id *id, const struct roce_cm_event *event)
{
	int rc;

	if (id->state != ROCE_CM_ID_CONNECTING)
		return -ENOTCONN;
	keep_peer(id, event);
	if (id->qp == NULL) {
		roce_cm_id_advance(id, ROCE_CM_ID_IN_ANSWER);
		roce_cm_id_deliver(id, ROCE_CM_EVENT_CONNECT_RESPONSE, 0);
		return ROCE_CM_LATER;
	}
	rc = roce_cm_id_to_rtr(id, event->peer, event->path);
	if (rc == 0)
		rc = roce_qp_to_rts(id->qp);
	if (rc != 0) {
		fail(id, ROCE_CM_EVENT_CONNECT_ERROR, rc);
		return rc;
	}
	up(id);
	return 0;
}

/* Told by the peer's RTU or by its first packet, whichever comes first. */
static void
established(struct roce_cm_id *id)
{
	if (id->state != ROCE_CM_ID_ACCEPTING)
		return;
	if (id->qp == NULL || roce_qp_to_rts(id->qp) == 0)
		up(id);
	else
		fail(id, ROCE_CM_EVENT_CONNECT_ERROR, 0);
}

/* Only a consumer that rejects has something to say. */
static void
rejected(struct roce_cm_id *id, const struct roce_cm_event *event)
{
	id->private_len = 0;
	if (event->reason == ROCE_CM_REJ_CONSUMER)
		keep_private_data(id, event->peer);
	fail(id, ROCE_CM_EVENT_REJECTED, event->reason);
}

/* Without messages: only the route to the peer was missing. */
static void
path_resolved(struct roce_cm_id *id, const struct roce_path *path)
{
	uint8_t mtu_code = id->connect.path.mtu_code;
	int rc;

	id->connect.path = *path;
	if (mtu_code != 0)
		id->connect.path.mtu_code = mtu_code;
	roce_qp_set_conn(id->qp, NULL);
	roce_cm_release(id->conn, roce_device_now(id->user->device));
	id->conn = NULL;
	rc = roce_qp_to_rtr(id->qp, &id->connect);
	if (rc == 0)
		rc = roce_qp_to_rts(id->qp);
	if (rc == 0)
		up(id);
	else
		fail(id, ROCE_CM_EVENT_CONNECT_ERROR, rc);
}

static int
conn_event(struct roce_cm_id *id, const struct roce_cm_event *event)
{
	switch (event->kind) {
	case ROCE_CM_REPLY:
		return reply(id, event);
	case ROCE_CM_ESTABLISHED:
		established(id);
		break;
	case ROCE_CM_REJECTED:
		rejected(id, event);
		break;
	case ROCE_CM_TIMED_OUT:
		fail(id, ROCE_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case ROCE_CM_UNREACHABLE:
		fail(id, ROCE_CM_EVENT_UNREACHABLE, -EHOSTUNREACH);
		break;
	case ROCE_CM_DISCONNECTED:
	case ROCE_CM_BROKEN:
		end(id);
		break;
	case ROCE_CM_PATH:
		path_resolved(id, event->path);
		break;
	case ROCE_CM_REQUEST:
		break;
	}
	return 0;
}

/* A request for a listener. @return 0; -ENOMEM: refused, as one too many. */
static int
arrive(struct roce_cm_id *listen_id, const struct roce_cm_event *event)
{
	struct roce_cm_id *id = roce_cm_id_new(listen_id->user, listen_id->owner);

	if (id == NULL)
		return -ENOMEM;
	id->state = ROCE_CM_ID_REQUESTED;
	id->conn = event->conn;
	id->listen_id = listen_id;
	id->remote_port = event->peer_port;
	keep_peer(id, event);
	id->initiator_depth = RTE_MIN(id->peer.responder_resources, ROCE_RD_ATOMIC_MAX);
	id->responder_resources = RTE_MIN(id->peer.initiator_depth, ROCE_RD_ATOMIC_MAX);
	id->first_psn = roce_cm_first_psn(id->user->cm);
	roce_cm_id_deliver(id, ROCE_CM_EVENT_CONNECT_REQUEST, 0);
	return 0;
}

int
roce_cm_id_notify(void *arg, const struct roce_cm_event *event)
{
	struct roce_cm_id *id = event->owner;
	const struct roce_qp *qp;
	int rc;

	if (event->kind == ROCE_CM_REQUEST)
		return arrive(id, event);
	qp = id->qp;
	if (qp != NULL && event->kind == ROCE_CM_DISCONNECTED)
		roce_device_receive(id->user->device);
	roce_user_lock_qp(id->user, qp);
	rc = conn_event(id, event);
	roce_user_unlock_qp(id->user, qp);
	return rc;
}
