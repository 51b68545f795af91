/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From a message to its connection: it is found and validated before the table of states sees the message.
 *
 * No received message makes more than one go out, and a REJ, MRA,
 * RTU or DREP of an unknown peer makes none: nobody is amplified, no two managers
 * can keep each other talking.
 */

#include "cm/cm_dispatch.h"
#include "cm/cm_fsm.h"
#include "cm/cm_listen.h"
#include "cm/cm_table.h"
#include "cm/cm_wire.h"

/* Is the peer a process with which this one shares its addresses? Those of another host are behind process 0. */
static bool
is_of_process(const struct roce_cm *cm, const struct roce_cm_conn *conn)
{
	return cm->config.process != 0 && roce_ip_equal(&conn->path.src_ip, &conn->path.dst_ip);
}

/*
 * A request is the same one only when it says the same: a peer that lost its memory may reuse an id. One that runs
 * with a fixed seed even says the same again; but once we are up, an old request is no more than an echo. It stays one where
 * ids have the number of a process: the next process with that number comes after the end of this one, which breaks the connection.
 */
static struct roce_cm_conn *
find_requested(const struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_ip *peer,
		uint64_t now)
{
	struct roce_cm_conn *conn = roce_cm_find_peer(cm, ROCE_CM_KEY_ID, peer, msg->local_id);

	if (conn == NULL || conn->tid != msg->tid || conn->remote_qpn != msg->param.qpn)
		return NULL;
	if (conn->state == ROCE_CM_STATE_ESTABLISHED && now > conn->echo_until &&
			!is_of_process(cm, conn))
		return NULL;
	return conn;
}

static struct roce_cm_conn *
find(const struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_ip *peer,
		uint64_t now)
{
	if (msg->attr == ROCE_CM_ATTR_REQ)
		return find_requested(cm, msg, peer, now);
	/* A peer that gives up before our REP came does not know our id. */
	if (msg->attr == ROCE_CM_ATTR_REJ && msg->remote_id == 0)
		return roce_cm_find_peer(cm, ROCE_CM_KEY_ID, peer, msg->local_id);
	return roce_cm_find_local(cm, msg->remote_id);
}

/* The ids, the role and the queue pair that a message names are those of the connection. */
static bool
fits(const struct roce_cm_conn *conn, const struct roce_cm_msg *msg)
{
	bool same = conn->remote_id == msg->local_id;

	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		return true;
	case ROCE_CM_ATTR_REP:
		return conn->active && (same || conn->remote_id == 0) &&
				msg->param.qpn >= ROCE_CM_QPN_FIRST;
	case ROCE_CM_ATTR_RTU:
		return same && !conn->active;
	case ROCE_CM_ATTR_DREQ:
		return same && msg->qpn == conn->local.qpn;
	case ROCE_CM_ATTR_REJ:
		/* The peer of a connection that is up has our id from our REP, and says it. */
		if (msg->remote_id == 0 && conn->state != ROCE_CM_STATE_REQ_RCVD &&
				conn->state != ROCE_CM_STATE_REP_SENT)
			return false;
		return same || conn->remote_id == 0;
	case ROCE_CM_ATTR_MRA:
		return same || conn->remote_id == 0;
	default:
		return same;
	}
}

static enum roce_cm_input_kind
kind_of(const struct roce_cm_conn *conn, const struct roce_cm_msg *msg)
{
	if (msg->attr == ROCE_CM_ATTR_REJ && msg->reason == ROCE_CM_REJ_INVALID_MTU &&
			msg->ari_len != 0 && conn->state == ROCE_CM_STATE_REQ_SENT &&
			msg->ari[0] != 0 && msg->ari[0] < conn->path.mtu_code)
		return ROCE_CM_IN_SMALLER;
	return msg->attr - ROCE_CM_ATTR_REQ;
}

/*
 * A message for a connection that we do not have. A DREQ is answered, because our DREP may have been lost; a REP
 * is refused, because its sender believes in a connection that nobody wants.
 */
static void
unknown_peer(struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_path *path,
		uint64_t now)
{
	struct roce_cm_msg reply = { .tid = msg->tid, .remote_id = msg->local_id };

	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		roce_cm_listen_request(cm, msg, path, now);
		return;
	case ROCE_CM_ATTR_REP:
		reply.attr = ROCE_CM_ATTR_REJ;
		reply.about = ROCE_CM_ABOUT_REP;
		reply.reason = ROCE_CM_REJ_INVALID_COMM_ID;
		break;
	case ROCE_CM_ATTR_DREQ:
		reply.attr = ROCE_CM_ATTR_DREP;
		reply.local_id = msg->remote_id;
		break;
	default:
		cm->stats.rx_unknown++;
		return;
	}
	cm->stats.rx_unknown++;
	roce_cm_answer(cm, path, &reply);
}

static void
dispatch(struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_path *path,
		uint64_t now)
{
	struct roce_cm_conn *conn = find(cm, msg, &path->dst_ip, now);
	struct roce_cm_input in = { .msg = msg, .now = now };

	if (conn == NULL) {
		unknown_peer(cm, msg, path, now);
		return;
	}
	if (!roce_ip_equal(&conn->path.dst_ip, &path->dst_ip) ||
			!roce_ip_equal(&conn->path.src_ip, &path->src_ip)) {
		cm->stats.rx_wrong_source++;
		return;
	}
	if (!fits(conn, msg)) {
		cm->stats.rx_wrong_ids++;
		return;
	}
	if (msg->attr == ROCE_CM_ATTR_REQ)
		cm->stats.rx_duplicate_req++;
	in.kind = kind_of(conn, msg);
	if (!roce_cm_step(conn, &in))
		cm->stats.rx_unexpected++;
}

void
roce_cm_rx(void *arg, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_cm *cm = arg;
	struct roce_cm_mad copy;
	struct roce_cm_msg msg;
	struct roce_path path;

	if (roce_cm_wire_decode(cm, pkt, &copy, &msg, &path))
		dispatch(cm, &msg, &path, now);
}
