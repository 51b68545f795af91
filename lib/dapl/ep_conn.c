/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/async.h"
#include "dapl/ep.h"
#include "dapl/ep_conn.h"
#include "dapl/ep_direct.h"
#include "dapl/ep_state.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "roce/device.h"

void
dapl_ep_push(struct dapl_ep *ep, enum dapl_conn_event what, const void *private_data, uint16_t len)
{
	struct roce_event event = {
		.kind = DAPL_EVENT_CONNECTION,
		.opcode = (uint8_t)what,
		.owner = ep,
		.byte_len = len,
	};

	if (len > 0) {
		memcpy(ep->private_data, private_data, len);
		event.wr_id = (uintptr_t)ep->private_data;
	}
	roce_cq_push(ep->connect_evd->cq, &event);
	if ((what == DAPL_CONN_DISCONNECTED || what == DAPL_CONN_BROKEN) && ep->srq != NULL &&
			ep->head.ia->last_wqe)
		dapl_evd_push_async(ep, DAPL_ASYNC_EP_LAST_WQE);
}

void
dapl_ep_forget_conn(struct dapl_ep *ep)
{
	struct roce_cm_conn *conn = ep->conn;

	if (conn == NULL)
		return;
	ep->conn = NULL;
	roce_qp_set_conn(ep->qp, NULL);
	roce_cm_release(conn, roce_device_now(ep->head.ia->device));
}

void
dapl_ep_offer(struct dapl_ep *ep, const struct roce_cm_param *peer, struct roce_cm_param *local)
{
	const struct roce_device_attr *attr = &ep->head.ia->attr;

	ep->first_psn = roce_qp_first_psn(ep->qp);
	*local = (struct roce_cm_param){
		.qpn = roce_qp_number(ep->qp),
		.psn = ep->first_psn,
		.retry = attr->retry,
		.rnr_retry = attr->rnr_retry,
		.ack_timeout = attr->ack_timeout,
		.srq = ep->srq != NULL,
		.responder_resources = (uint8_t)ep->attr.max_rdma_read_in,
		.initiator_depth = (uint8_t)ep->attr.max_rdma_read_out,
	};
	/* An answer promises no more than was asked for. */
	if (peer != NULL) {
		local->responder_resources =
				RTE_MIN(local->responder_resources, peer->initiator_depth);
		local->initiator_depth = RTE_MIN(local->initiator_depth, peer->responder_resources);
	}
}

int
dapl_ep_ready_to_receive(
		struct dapl_ep *ep, const struct roce_cm_param *peer, const struct roce_path *path)
{
	const struct roce_device_attr *attr = &ep->head.ia->attr;
	struct roce_qp_connect connect = {
		.path = *path,
		.dest_qp = peer->qpn,
		.rq_psn = ep->first_psn,
		.sq_psn = peer->psn,
		.retry = attr->retry,
		/* How often to come back to an empty queue is for its owner to say, within what this end has patience for. */
		.rnr_retry = RTE_MIN(peer->rnr_retry, attr->rnr_retry),
		.rnr_timer = attr->rnr_timer,
		.ack_timeout = attr->ack_timeout,
		.max_rd_atomic = RTE_MIN(
				(uint8_t)ep->attr.max_rdma_read_out, peer->responder_resources),
		.max_dest_rd_atomic = (uint8_t)ep->attr.max_rdma_read_in,
		.extensions = peer->extensions,
	};

	return roce_qp_to_rtr(ep->qp, &connect);
}

/* The connection ended: what is posted is flushed first, so that its completions precede the event. */
static void
end(struct dapl_ep *ep, enum dapl_ep_input in, enum dapl_conn_event what)
{
	if (!dapl_ep_advance(ep, in))
		return;
	roce_qp_to_error(ep->qp);
	dapl_ep_push(ep, what, NULL, 0);
}

/* Passive side: established by the peer's RTU or by its first packet, whichever comes first. */
void
dapl_ep_established(struct dapl_ep *ep)
{
	if (ep->state != DAPL_EP_STATE_COMPLETION_PENDING)
		return;
	if (roce_qp_to_rts(ep->qp) != 0) {
		end(ep, DAPL_EP_IN_REFUSED, DAPL_CONN_ACCEPT_ERROR);
		return;
	}
	dapl_ep_advance(ep, DAPL_EP_IN_ESTABLISHED);
	dapl_ep_push(ep, DAPL_CONN_ESTABLISHED, NULL, 0);
	roce_qp_check_high(ep->qp);
}

/* Active side: the peer accepted. */
static int
reply(struct dapl_ep *ep, const struct roce_cm_event *event)
{
	const struct roce_cm_param *peer = event->peer;
	uint16_t len = RTE_MIN(peer->private_len, (uint16_t)sizeof(ep->private_data));
	int rc;

	if (ep->state != DAPL_EP_STATE_ACTIVE_PENDING)
		return -ENOTCONN;
	rc = dapl_ep_ready_to_receive(ep, peer, event->path);
	if (rc == 0)
		rc = roce_qp_to_rts(ep->qp);
	if (rc != 0) {
		end(ep, DAPL_EP_IN_REFUSED, DAPL_CONN_NON_PEER_REJECTED);
		return rc;
	}
	dapl_ep_advance(ep, DAPL_EP_IN_ESTABLISHED);
	dapl_ep_push(ep, DAPL_CONN_ESTABLISHED, peer->private_data, len);
	roce_qp_check_high(ep->qp);
	return 0;
}

/* Without messages: only the route to the peer was missing. */
static void
path_resolved(struct dapl_ep *ep, const struct roce_path *path)
{
	int rc = dapl_ep_direct_ready(ep, path);

	dapl_ep_forget_conn(ep);
	if (rc != 0) {
		end(ep, DAPL_EP_IN_REFUSED, DAPL_CONN_UNREACHABLE);
		return;
	}
	dapl_ep_advance(ep, DAPL_EP_IN_ESTABLISHED);
	dapl_ep_push(ep, DAPL_CONN_ESTABLISHED, NULL, 0);
	roce_qp_check_high(ep->qp);
}

/* The connection did not come to be. On the passive side every cause has the same name. */
static void
refused(struct dapl_ep *ep, enum dapl_conn_event what)
{
	if (ep->state == DAPL_EP_STATE_COMPLETION_PENDING)
		what = DAPL_CONN_ACCEPT_ERROR;
	end(ep, DAPL_EP_IN_REFUSED, what);
}

/* Only a consumer that rejects has something to say. */
static void
rejected(struct dapl_ep *ep, const struct roce_cm_event *event)
{
	const struct roce_cm_param *peer = event->peer;

	if (event->reason != ROCE_CM_REJ_CONSUMER || ep->state != DAPL_EP_STATE_ACTIVE_PENDING) {
		refused(ep, DAPL_CONN_NON_PEER_REJECTED);
		return;
	}
	dapl_ep_advance(ep, DAPL_EP_IN_REFUSED);
	roce_qp_to_error(ep->qp);
	dapl_ep_push(ep, DAPL_CONN_PEER_REJECTED, peer->private_data,
			RTE_MIN(peer->private_len, (uint16_t)sizeof(ep->private_data)));
}

static void
peer_left(struct dapl_ep *ep)
{
	if (dapl_ep_next(ep->state, DAPL_EP_IN_PEER_LEFT) != 0)
		end(ep, DAPL_EP_IN_PEER_LEFT, DAPL_CONN_DISCONNECTED);
	else
		refused(ep, DAPL_CONN_NON_PEER_REJECTED);
}

int
dapl_ep_conn_event(struct dapl_ep *ep, const struct roce_cm_event *event)
{
	switch (event->kind) {
	case ROCE_CM_REPLY:
		return reply(ep, event);
	case ROCE_CM_ESTABLISHED:
		dapl_ep_established(ep);
		break;
	case ROCE_CM_REJECTED:
		rejected(ep, event);
		break;
	case ROCE_CM_TIMED_OUT:
		refused(ep, DAPL_CONN_TIMED_OUT);
		break;
	case ROCE_CM_UNREACHABLE:
		refused(ep, DAPL_CONN_UNREACHABLE);
		break;
	case ROCE_CM_DISCONNECTED:
		peer_left(ep);
		break;
	case ROCE_CM_PATH:
		path_resolved(ep, event->path);
		break;
	/* Its engine has delivered QP_BROKEN, under its own lock. */
	case ROCE_CM_BROKEN:
	case ROCE_CM_REQUEST:
		break;
	}
	return 0;
}

/*
 * The engine has flushed the queue pair already, but for what was posted since: dapl_ep_posted(). A passive end that never was
 * up only learns that accept failed.
 */
void
dapl_ep_broken(struct dapl_ep *ep)
{
	if (ep->state == DAPL_EP_STATE_COMPLETION_PENDING) {
		end(ep, DAPL_EP_IN_REFUSED, DAPL_CONN_ACCEPT_ERROR);
	} else {
		end(ep, DAPL_EP_IN_BROKEN, DAPL_CONN_BROKEN);
	}
}

/* The connection manager hears of it too, and sends the DREQ; where there is none, this is the end. */
void
dapl_ep_drained(struct dapl_ep *ep)
{
	if (ep->conn == NULL)
		end(ep, DAPL_EP_IN_DRAINED, DAPL_CONN_DISCONNECTED);
}

static enum dapl_status
begin(struct dapl_ep *ep, const struct dapl_ep_connect *connect, const struct roce_ip *dst)
{
	struct dapl_ia *ia = ep->head.ia;
	bool for_ever = connect->timeout_us == DAPL_INFINITE;
	struct roce_cm_connect cm = {
		.dst = *dst,
		.service_id = dapl_service_id(connect->conn_qual),
		.timeout_us = for_ever ? UINT64_MAX : connect->timeout_us,
	};
	int rc;

	dapl_ep_offer(ep, NULL, &cm.local);
	cm.local.private_data = connect->private_data;
	cm.local.private_len = connect->private_len;
	rc = roce_cm_connect(
			ia->cm, &ia->user.context, &cm, ep, roce_device_now(ia->device), &ep->conn);
	if (rc != 0)
		return rc == -ENOMEM ? DAPL_NO_MEMORY : DAPL_BAD_ADDRESS;
	dapl_ia_begin(ia);
	roce_qp_set_conn(ep->qp, ep->conn);
	dapl_ip_to_sockaddr(dst, &ep->remote);
	ep->remote_qual = connect->conn_qual;
	ep->local_qual = 0;
	dapl_ep_advance(ep, DAPL_EP_IN_CONNECT);
	return DAPL_OK;
}

enum dapl_status
dapl_ep_connect(struct dapl_ep *ep, const struct dapl_ep_connect *connect)
{
	enum dapl_status status;
	struct roce_ip dst;

	if (!dapl_ip_from_sockaddr(connect->remote, &dst))
		return DAPL_BAD_ADDRESS;
	dapl_ep_lock(ep);
	if (dapl_ep_next(ep->state, DAPL_EP_IN_CONNECT) == 0)
		status = dapl_ep_state_error(ep->state);
	else if (ep->connect_evd == NULL)
		status = DAPL_EP_NO_CONNECT_EVD;
	else
		status = begin(ep, connect, &dst);
	dapl_ep_unlock(ep);
	return status;
}

enum dapl_status
dapl_ep_dup_connect(
		struct dapl_ep *ep, struct dapl_ep *other, const struct dapl_ep_connect *connect)
{
	struct dapl_ep_connect copy = *connect;
	union dapl_sockaddr remote;
	unsigned int state;

	dapl_ep_lock(other);
	state = other->state;
	remote = other->remote;
	copy.conn_qual = other->remote_qual;
	dapl_ep_unlock(other);
	if (state != DAPL_EP_STATE_CONNECTED)
		return dapl_ep_state_error(state);
	copy.remote = &remote.sa;
	return dapl_ep_connect(ep, &copy);
}

enum dapl_status
dapl_ep_disconnect(struct dapl_ep *ep, bool graceful)
{
	enum dapl_status status = DAPL_OK;
	unsigned int before;

	dapl_ep_lock(ep);
	before = ep->state;
	if (!dapl_ep_advance(ep, graceful ? DAPL_EP_IN_GRACEFUL : DAPL_EP_IN_ABRUPT)) {
		status = dapl_ep_state_error(before);
	} else if (ep->state == before) {
		/* Under way, or over: nothing more to do. */
	} else if (ep->state == DAPL_EP_STATE_DISCONNECT_PENDING) {
		roce_qp_drain(ep->qp);
	} else {
		roce_qp_make_final_ack(ep->qp);
		roce_qp_to_error(ep->qp);
		dapl_ep_forget_conn(ep);
		dapl_ep_push(ep, DAPL_CONN_DISCONNECTED, NULL, 0);
	}
	dapl_ep_unlock(ep);
	return status;
}
