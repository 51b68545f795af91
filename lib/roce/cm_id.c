/* SPDX-License-Identifier: BSD-3-Clause */

/* An id: what its owner may ask of it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user.h"

static void
free_id(struct roce_cm_id *id)
{
	__atomic_fetch_sub(&id->user->joined.context.users, 1, __ATOMIC_RELEASE);
	free(id);
}

int
roce_cm_id_create(struct roce_context *context, void *user, struct roce_cm_id **id)
{
	*id = roce_cm_id_new(roce_user_of(context), user);
	return *id != NULL ? 0 : -ENOMEM;
}

/* Refuse a request and forget its id. Under the lock of engine 0. */
static int
refuse(struct roce_cm_id *id, const void *private_data, uint16_t len)
{
	int rc = roce_cm_reject(id->conn, ROCE_CM_REJ_CONSUMER, private_data, len,
			roce_device_now(id->user->device));

	if (rc == 0) {
		id->conn = NULL;
		roce_cm_id_cancel_events(id);
		free_id(id);
	}
	return rc;
}

/* Under the lock of engine 0. */
static void
unlisten(struct roce_cm_id *id)
{
	struct roce_cm_id *request;

	roce_cm_unlisten(id->listener);
	id->listener = NULL;
	while ((request = roce_cm_id_unseen(id)) != NULL)
		(void)refuse(request, NULL, 0);
}

void
roce_cm_id_destroy(struct roce_cm_id *id)
{
	struct roce_user *user;
	const struct roce_qp *qp;
	uint16_t port;
	bool listened;

	if (id == NULL)
		return;
	user = id->user;
	listened = id->listener != NULL;
	port = id->listens_at;
	roce_engine_lock(user->engine0);
	if (id->state == ROCE_CM_ID_REQUESTED) {
		(void)refuse(id, NULL, 0);
	} else {
		if (id->listener != NULL)
			unlisten(id);
		qp = id->qp;
		roce_user_lock_qp(user, qp);
		roce_cm_id_let_go(id);
		roce_user_unlock_qp(user, qp);
		roce_cm_id_cancel_events(id);
		free_id(id);
	}
	roce_engine_unlock(user->engine0);
	if (listened)
		roce_device_drop_service(user->device, ROCE_CM_SERVICE_TCP + port);
}

/* Other processes learn of the port behind that, so that none of them comes before its requests would find a listener. */
int
roce_cm_id_listen(struct roce_cm_id *id, uint16_t port, uint32_t backlog)
{
	struct roce_user *user = id->user;
	bool again = false;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	again = id->listener != NULL && id->listens_at == port;
	if (again)
		roce_cm_set_backlog(id->listener, backlog);
	else if (roce_cm_id_may(id, ROCE_CM_ID_IN_LISTEN))
		rc = roce_cm_listen(user->cm, &user->joined.context, ROCE_CM_SERVICE_TCP + port,
				backlog, id, &id->listener);
	roce_engine_unlock(user->engine0);
	if (again || rc != 0)
		return again ? 0 : rc;
	rc = roce_device_take_service(user->device, ROCE_CM_SERVICE_TCP + port);
	roce_engine_lock(user->engine0);
	if (rc == 0) {
		id->listens_at = port;
		roce_cm_id_advance(id, ROCE_CM_ID_IN_LISTEN);
	} else {
		unlisten(id);
		roce_cm_id_cancel_events(id);
	}
	roce_engine_unlock(user->engine0);
	return rc;
}

/* A queue pair of the same context that nobody connects. Under the lock of engine 0. */
static bool
qp_ok(const struct roce_cm_id *id, const struct roce_qp *qp)
{
	struct roce_qp_made made;

	if (qp == NULL || roce_qp_state(qp) != ROCE_QP_RESET)
		return false;
	roce_qp_describe(qp, &made);
	return made.context == &id->user->joined.context && made.conn == NULL;
}

static bool
qpn_ok(uint32_t qpn)
{
	return qpn > 1 && qpn < ROCE_QPN_MASK;
}

static bool
param_ok(const struct roce_cm_id *id, const struct roce_cm_conn_param *param, uint16_t private_max)
{
	bool found = param->qp != NULL ? qp_ok(id, param->qp) : qpn_ok(param->qp_num);

	return found && param->private_data_len <= private_max &&
			(param->private_data_len == 0 || param->private_data != NULL) &&
			param->initiator_depth <= ROCE_RD_ATOMIC_MAX &&
			param->responder_resources <= ROCE_RD_ATOMIC_MAX && param->rnr_retry <= 7 &&
			param->ack_timeout <= 31;
}

/* The connection is there, and so its queue pair belongs to it; NULL: by number. Under the lock of engine 0. */
static void
adopt(struct roce_cm_id *id, struct roce_qp *qp)
{
	id->qp = qp;
	if (qp != NULL) {
		roce_user_lock_qp(id->user, qp);
		roce_qp_set_conn(qp, id->conn);
		roce_user_unlock_qp(id->user, qp);
	}
	roce_cm_id_advance(id, ROCE_CM_ID_IN_CONNECT);
}

/* The address that a connection to @p dst shall begin from: none, or one of the device's of that family. */
static bool
source_ok(const struct roce_user *user, const struct roce_ip *src, const struct roce_ip *dst)
{
	static const struct roce_ip any;
	const struct roce_context *context = &user->joined.context;

	for (uint32_t i = 0; i < context->addrs; i++) {
		if (roce_ip_equal(&context->addr[i], src))
			return roce_ip_is_v4(src) == roce_ip_is_v4(dst);
	}
	return roce_ip_equal(src, &any);
}

int
roce_cm_id_connect(struct roce_cm_id *id, const uint8_t ip[16], uint16_t port,
		const struct roce_cm_conn_param *param, uint64_t timeout_us)
{
	struct roce_user *user = id->user;
	struct roce_cm_connect connect = {
		.service_id = ROCE_CM_SERVICE_TCP + port,
		.tos = param->traffic_class,
		.timeout_us = timeout_us,
	};
	int rc = -EINVAL;

	memcpy(connect.dst.b, ip, sizeof(connect.dst.b));
	memcpy(connect.src.b, param->local_ip, sizeof(connect.src.b));
	roce_engine_lock(user->engine0);
	if (roce_cm_id_may(id, ROCE_CM_ID_IN_CONNECT) &&
			param_ok(id, param, ROCE_CM_PRIVATE_REQUEST) &&
			source_ok(user, &connect.src, &connect.dst)) {
		roce_cm_id_offer(id, param, &connect.local);
		rc = roce_cm_connect(user->cm, &user->joined.context, &connect, id,
				roce_device_now(user->device), &id->conn);
	}
	if (rc == 0) {
		id->path.dst_ip = connect.dst;
		adopt(id, param->qp);
	}
	roce_engine_unlock(user->engine0);
	return rc;
}

static bool
peer_ok(const struct roce_user *user, const struct roce_cm_peer *peer)
{
	return qpn_ok(peer->qpn) && peer->rnr_retry <= 7 && peer->rq_psn <= 0xffffff &&
			peer->sq_psn <= 0xffffff && peer->mtu <= user->attr.mtu &&
			(peer->mtu == 0 || roce_mtu_code(peer->mtu) != 0) &&
			peer->max_rd_atomic <= ROCE_RD_ATOMIC_MAX;
}

/* The parameters that two managers would have agreed on. */
static struct roce_qp_connect
connect_of(const struct roce_user *user, const struct roce_cm_peer *peer)
{
	struct roce_qp_connect connect = {
		.path.mtu_code = peer->mtu != 0 ? roce_mtu_code(peer->mtu) : 0,
		.dest_qp = peer->qpn,
		.rq_psn = peer->rq_psn,
		.sq_psn = peer->sq_psn,
		.retry = user->attr.retry,
		.rnr_retry = peer->rnr_retry != 0 ? peer->rnr_retry : user->attr.rnr_retry,
		.rnr_timer = user->attr.rnr_timer,
		.ack_timeout = user->attr.ack_timeout,
		.max_rd_atomic = peer->max_rd_atomic,
		.max_dest_rd_atomic = peer->max_dest_rd_atomic,
	};

	memcpy(connect.path.dst_ip.b, peer->ip, sizeof(peer->ip));
	return connect;
}

int
roce_cm_id_connect_peer(struct roce_cm_id *id, struct roce_qp *qp, const struct roce_cm_peer *peer)
{
	struct roce_user *user = id->user;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	if (roce_cm_id_may(id, ROCE_CM_ID_IN_CONNECT) && qp_ok(id, qp) && peer_ok(user, peer)) {
		id->connect = connect_of(user, peer);
		id->path.dst_ip = id->connect.path.dst_ip;
		rc = roce_cm_find_path(user->cm, &user->joined.context, &id->path.dst_ip, id,
				roce_device_now(user->device), &id->conn);
	}
	if (rc == 0)
		adopt(id, qp);
	roce_engine_unlock(user->engine0);
	return rc;
}

/*
 * Answer with a REP, which leaves with the next poll, when the queue pair is ready for what follows. Under both locks.
 */
static int
answer(struct roce_cm_id *id, const struct roce_cm_conn_param *param)
{
	const uint8_t class = param->traffic_class & (uint8_t)~ROCE_TOS_ECN;
	struct roce_cm_param local;
	int rc;

	roce_cm_id_offer(id, param, &local);
	rc = roce_cm_accept(id->conn, &local, id, roce_device_now(id->user->device));
	/* That of the request was polled. */
	id->private_len = 0;
	if (rc == 0 && class != 0)
		id->path.tos = class;
	if (rc == 0 && param->qp != NULL) {
		id->qp = param->qp;
		roce_qp_set_conn(id->qp, id->conn);
		rc = roce_cm_id_to_rtr(id, &id->peer, &id->path);
	}
	if (rc == 0) {
		roce_cm_id_advance(id, ROCE_CM_ID_IN_ACCEPT);
	} else {
		roce_cm_id_advance(id, ROCE_CM_ID_IN_FAIL);
		roce_cm_id_let_go(id);
	}
	return rc;
}

int
roce_cm_id_accept(struct roce_cm_id *id, const struct roce_cm_conn_param *param)
{
	struct roce_user *user = id->user;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	if (roce_cm_id_may(id, ROCE_CM_ID_IN_ACCEPT) &&
			param_ok(id, param, ROCE_CM_PRIVATE_REPLY)) {
		roce_user_lock_qp(user, param->qp);
		rc = answer(id, param);
		roce_user_unlock_qp(user, param->qp);
	}
	roce_engine_unlock(user->engine0);
	return rc;
}

int
roce_cm_id_reject(struct roce_cm_id *id, const void *private_data, uint16_t private_data_len)
{
	struct roce_user *user = id->user;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	if (id->state == ROCE_CM_ID_REQUESTED || id->state == ROCE_CM_ID_ANSWERED)
		rc = refuse(id, private_data, private_data_len);
	roce_engine_unlock(user->engine0);
	return rc;
}

/* The peer is not asked: there is no connection manager on the way. Under both locks. */
static void
end_direct(struct roce_cm_id *id)
{
	roce_cm_id_advance(id, ROCE_CM_ID_IN_END);
	roce_cm_id_let_go(id);
	roce_cm_id_deliver(id, ROCE_CM_EVENT_DISCONNECTED, 0);
}

/*
 * Requests that are not finished are flushed. When there is none, the queue pair lives until its last acknowledgement is
 * out (the manager hears of that, and sends the DREQ): the peer would take what arrived here for lost.
 */
static void
leave(struct roce_cm_id *id)
{
	uint32_t requests, receives;

	if (id->qp == NULL) {
		roce_cm_disconnect(id->conn, roce_device_now(id->user->device));
		return;
	}
	roce_qp_depth(id->qp, &requests, &receives);
	if (requests == 0 && roce_qp_state(id->qp) == ROCE_QP_RTS) {
		roce_qp_drain(id->qp);
		return;
	}
	roce_qp_make_final_ack(id->qp);
	roce_qp_to_error(id->qp);
	roce_cm_disconnect(id->conn, roce_device_now(id->user->device));
}

/* Under the lock of engine 0. */
static void
describe_peer(const struct roce_cm_id *id, struct roce_cm_peer *peer)
{
	*peer = (struct roce_cm_peer){
		.qpn = id->peer.qpn,
		.rq_psn = id->first_psn,
		.sq_psn = id->peer.psn,
		.mtu = roce_mtu_bytes(id->path.mtu_code),
		.max_rd_atomic = RTE_MIN(id->initiator_depth, id->peer.responder_resources),
		.max_dest_rd_atomic = id->responder_resources,
		.rnr_retry = id->peer.rnr_retry,
		.srq = id->peer.srq,
		.traffic_class = id->path.tos,
	};
	memcpy(peer->ip, id->path.dst_ip.b, sizeof(peer->ip));
	memcpy(peer->local_ip, id->path.src_ip.b, sizeof(peer->local_ip));
}

int
roce_cm_id_peer(struct roce_cm_id *id, struct roce_cm_peer *peer)
{
	struct roce_user *user = id->user;
	int rc = -ENOTCONN;

	roce_engine_lock(user->engine0);
	if (id->conn != NULL && id->peer.qpn != 0) {
		describe_peer(id, peer);
		rc = 0;
	}
	roce_engine_unlock(user->engine0);
	return rc;
}

int
roce_cm_id_establish(struct roce_cm_id *id)
{
	struct roce_user *user = id->user;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	if (id->qp == NULL &&
			(id->state == ROCE_CM_ID_ANSWERED || id->state == ROCE_CM_ID_ACCEPTING) &&
			roce_cm_ready(id->conn, roce_device_now(user->device)) == 0) {
		rc = 0;
		/* That of an accepted connection has happened inside. */
		if (id->state == ROCE_CM_ID_ANSWERED)
			roce_cm_id_advance(id, ROCE_CM_ID_IN_UP);
	}
	roce_engine_unlock(user->engine0);
	return rc;
}

int
roce_cm_id_disconnect(struct roce_cm_id *id)
{
	struct roce_user *user = id->user;
	struct roce_qp *qp;
	int rc = -EINVAL;

	roce_engine_lock(user->engine0);
	qp = id->qp;
	roce_user_lock_qp(user, qp);
	if (roce_cm_id_advance(id, ROCE_CM_ID_IN_DISCONNECT)) {
		rc = 0;
		if (id->conn == NULL)
			end_direct(id);
		else
			leave(id);
	}
	roce_user_unlock_qp(user, qp);
	roce_engine_unlock(user->engine0);
	return rc;
}
