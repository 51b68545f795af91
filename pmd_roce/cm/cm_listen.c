/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Service ids and what comes for them. A REQ is validated from the outside in:
 * can we do this at all, does somebody listen, do we know this queue pair
 * already, is there room. Only then a connection is made; every refusal before
 * that is one REJ and no state.
 */

#include <errno.h>

#include <rte_common.h>

#include "cm/cm_fsm.h"
#include "cm/cm_listen.h"
#include "cm/cm_table.h"
#include "cm/cm_wire.h"

#define MTU_CODE_MAX      5
#define PCP_MAX           7
#define MTU_CODE_ETHERNET 3 /* 1024 bytes: fits the usual 1500 */

static struct roce_cm_listener_list *
bucket(struct roce_cm *cm, uint64_t service_id)
{
	uint64_t mixed = service_id * UINT64_C(0x9e3779b97f4a7c15);

	return &cm->listeners[mixed >> 32 & (ROCE_CM_LISTEN_BUCKETS - 1)];
}

static bool
has_all(const struct roce_context *context)
{
	return context == NULL || context->addrs == 0;
}

static bool
has(const struct roce_context *context, const struct roce_ip *ip)
{
	if (has_all(context))
		return true;
	for (uint32_t i = 0; i < context->addrs; i++) {
		if (roce_ip_equal(&context->addr[i], ip))
			return true;
	}
	return false;
}

static bool
share_an_address(const struct roce_context *a, const struct roce_context *b)
{
	if (has_all(a) || has_all(b))
		return true;
	for (uint32_t i = 0; i < a->addrs; i++) {
		if (has(b, &a->addr[i]))
			return true;
	}
	return false;
}

/* The listener of a service at one of our addresses. There is one at most. */
static struct roce_cm_listener *
find_listener(struct roce_cm *cm, uint64_t service_id, const struct roce_ip *ip)
{
	struct roce_cm_listener *listener;

	LIST_FOREACH(listener, bucket(cm, service_id), next) {
		if (listener->service_id == service_id && has(listener->context, ip))
			return listener;
	}
	return NULL;
}

static bool
is_taken(struct roce_cm *cm, uint64_t service_id, const struct roce_context *context)
{
	const struct roce_cm_listener *listener;

	LIST_FOREACH(listener, bucket(cm, service_id), next) {
		if (listener->service_id == service_id &&
				share_an_address(listener->context, context))
			return true;
	}
	return false;
}

void
roce_cm_set_backlog(struct roce_cm_listener *listener, uint32_t backlog)
{
	listener->backlog = RTE_MAX(backlog, 1u);
}

int
roce_cm_listen(struct roce_cm *cm, const struct roce_context *context, uint64_t service_id,
		uint32_t backlog, void *owner, struct roce_cm_listener **out)
{
	struct roce_cm_listener *listener;

	if (is_taken(cm, service_id, context))
		return -EADDRINUSE;
	listener = cm->config.memory.alloc(cm->config.memory.arg, sizeof(*listener));
	if (listener == NULL)
		return -ENOMEM;
	listener->cm = cm;
	listener->context = context;
	listener->owner = owner;
	listener->service_id = service_id;
	roce_cm_set_backlog(listener, backlog);
	LIST_INIT(&listener->waiting);
	LIST_INSERT_HEAD(bucket(cm, service_id), listener, next);
	*out = listener;
	return 0;
}

void
roce_cm_unlisten(struct roce_cm_listener *listener)
{
	struct roce_cm *cm = listener->cm;
	struct roce_cm_conn *conn;

	/* The requests stay where they are: each belongs to whoever was told of it. */
	while ((conn = LIST_FIRST(&listener->waiting)) != NULL) {
		LIST_REMOVE(conn, waiting);
		conn->listener = NULL;
	}
	LIST_REMOVE(listener, next);
	cm->config.memory.free(cm->config.memory.arg, listener);
}

static void
refuse(struct roce_cm *cm, const struct roce_cm_msg *req, const struct roce_path *path,
		uint16_t reason)
{
	struct roce_cm_msg rej = {
		.tid = req->tid,
		.remote_id = req->local_id,
		.attr = ROCE_CM_ATTR_REJ,
		.about = ROCE_CM_ABOUT_REQ,
		.reason = reason,
	};

	roce_cm_answer(cm, path, &rej);
}

/* A larger MTU than ours: the peer may ask again with the one that we name. */
static void
refuse_mtu(struct roce_cm *cm, const struct roce_cm_msg *req, const struct roce_path *path)
{
	uint8_t code = path->mtu_code;
	struct roce_cm_msg rej = {
		.tid = req->tid,
		.remote_id = req->local_id,
		.attr = ROCE_CM_ATTR_REJ,
		.about = ROCE_CM_ABOUT_REQ,
		.reason = ROCE_CM_REJ_INVALID_MTU,
		.ari = &code,
		.ari_len = sizeof(code),
	};

	cm->stats.refused_mtu++;
	roce_cm_answer(cm, path, &rej);
}

/* The reason to reject a request, whichever listener it is for; 0: none. */
static uint16_t
validate(const struct roce_cm_msg *req)
{
	if (req->req.transport != 0)
		return ROCE_CM_REJ_INVALID_TRANSPORT;
	if (!req->req.ip_cm_ok || req->local_id == 0 || req->param.qpn < ROCE_CM_QPN_FIRST ||
			req->param.qpn == ROCE_QPN_MULTICAST)
		return ROCE_CM_REJ_UNSUPPORTED;
	if (req->param.mtu_code == 0 || req->param.mtu_code > MTU_CODE_MAX)
		return ROCE_CM_REJ_INVALID_MTU;
	return 0;
}

/*
 * The peer connects a queue pair that we hold for connected, or reuses an id: it has forgotten the old connection
 * (IBTA Vol 1, 12.9: stale connection). The old one ends and the new one is refused; the peer's next try works.
 * An old one that is over already stands in nobody's way.
 */
static bool
stale(struct roce_cm *cm, const struct roce_cm_msg *req, const struct roce_path *path, uint64_t now)
{
	struct roce_cm_conn *old;

	old = roce_cm_find_peer(cm, ROCE_CM_KEY_ID, &path->dst_ip, req->local_id);
	if (old == NULL || old->state == ROCE_CM_STATE_TIMEWAIT)
		old = roce_cm_find_peer(cm, ROCE_CM_KEY_QPN, &path->dst_ip, req->param.qpn);
	if (old == NULL)
		return false;
	cm->stats.refused_stale++;
	refuse(cm, req, path, ROCE_CM_REJ_STALE);
	roce_cm_step_kind(old, ROCE_CM_IN_STALE, now);
	return true;
}

/* The tag of our frames: whether there is one is ours to say, the VLAN is that of the frame. */
static uint16_t
tag_to(uint16_t own_tci, const struct roce_path *back, uint8_t sl)
{
	uint16_t vid = back->vlan_tci & ROCE_VID_MASK;
	uint16_t pcp = own_tci >> ROCE_PCP_SHIFT;

	if (vid == 0 && own_tci == 0)
		return 0;
	/* The low three bits of the service level are the priority, as Linux and its adapters take it. */
	if ((sl & PCP_MAX) != 0)
		pcp = sl & PCP_MAX;
	return (uint16_t)(pcp << ROCE_PCP_SHIFT | vid);
}

/*
 * Our own route to the peer, but over the stations that its frame came through, and in the class and with the
 * priority that the request names, as Linux does: both directions of a connection are treated alike. Fields that
 * the request leaves at 0 are ours to set. Marks of congestion are no part of the class: whether frames may be marked is each end's own.
 */
static struct roce_path
path_to(const struct roce_cm_listener *listener, const struct roce_cm_req_info *req,
		const struct roce_path *back, uint64_t now)
{
	static const struct roce_ip any;
	const struct roce_cm_config *config = &listener->cm->config;
	struct roce_path path = *back;
	uint8_t class = req->traffic_class & (uint8_t)~ROCE_TOS_ECN;

	path.mtu_code = MTU_CODE_ETHERNET;
	/* Its answer does not matter: the neighbour is where the frame came from, known to ARP or not. */
	(void)config->resolve(
			config->resolve_arg, listener->context, &back->dst_ip, &any, &path, now);
	if (path.mtu_code == 0)
		path.mtu_code = MTU_CODE_ETHERNET;
	path.src_mac = back->src_mac;
	path.dst_mac = back->dst_mac;
	path.vlan_tci = tag_to(path.vlan_tci, back, req->sl);
	if (class != 0)
		path.tos = class;
	path.src_ip = back->src_ip;
	path.dst_ip = back->dst_ip;
	if (path.ttl == 0)
		path.ttl = back->ttl;
	path.udp_sport = roce_cm_msg_sport(req->flow_label);
	return path;
}

static struct roce_cm_conn *
passive_new(struct roce_cm_listener *listener, const struct roce_cm_msg *req,
		const struct roce_path *path, uint64_t now)
{
	struct roce_cm_conn *conn = roce_cm_conn_new(listener->cm);

	if (conn == NULL)
		return NULL;
	conn->remote_id = req->local_id;
	conn->remote_qpn = req->param.qpn;
	conn->extensions = req->param.extensions;
	conn->tid = req->tid;
	conn->service_id = req->req.service_id;
	conn->flow_label = req->req.flow_label;
	conn->src_port = req->req.src_port;
	conn->ack_timeout = req->param.ack_timeout;
	conn->path = *path;
	conn->path.mtu_code = req->param.mtu_code;
	if (roce_cm_index_add(conn, ROCE_CM_KEY_ID) != 0) {
		roce_cm_conn_free(conn);
		return NULL;
	}
	roce_cm_begin(conn, ROCE_CM_STATE_REQ_RCVD, now);
	conn->context = listener->context;
	conn->listener = listener;
	LIST_INSERT_HEAD(&listener->waiting, conn, waiting);
	listener->waiting_count++;
	return conn;
}

/* Tell the listener. When it does not want the request, that ends as if there had been no room. */
static void
deliver(struct roce_cm_conn *conn, const struct roce_cm_msg *req, uint64_t now)
{
	struct roce_cm *cm = conn->cm;
	struct roce_cm_event event = {
		.kind = ROCE_CM_REQUEST,
		.conn = conn,
		.context = conn->context,
		.owner = conn->listener->owner,
		.peer = &req->param,
		.path = &conn->path,
		.service_id = conn->service_id,
		.peer_port = conn->src_port,
	};
	struct roce_cm_input no = {
		.kind = ROCE_CM_IN_END, .reason = ROCE_CM_REJ_NO_RESOURCES, .now = now
	};

	if (cm->config.notify(cm->config.notify_arg, &event) == 0)
		return;
	cm->stats.refused_backlog++;
	roce_cm_step(conn, &no);
	roce_cm_release(conn, now);
}

void
roce_cm_listen_request(struct roce_cm *cm, const struct roce_cm_msg *req,
		const struct roce_path *back, uint64_t now)
{
	struct roce_cm_listener *listener = find_listener(cm, req->req.service_id, &back->src_ip);
	struct roce_cm_conn *conn;
	struct roce_path path;
	uint16_t reason = validate(req);

	if (listener == NULL) {
		cm->stats.refused_no_listener++;
		refuse(cm, req, back, ROCE_CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	if (reason != 0) {
		cm->stats.refused_unsupported++;
		refuse(cm, req, back, reason);
		return;
	}
	if (stale(cm, req, back, now))
		return;
	path = path_to(listener, &req->req, back, now);
	if (req->param.mtu_code > path.mtu_code) {
		refuse_mtu(cm, req, &path);
		return;
	}
	conn = NULL;
	if (listener->waiting_count < listener->backlog)
		conn = passive_new(listener, req, &path, now);
	if (conn == NULL) {
		cm->stats.refused_backlog++;
		refuse(cm, req, &path, ROCE_CM_REJ_NO_RESOURCES);
		return;
	}
	deliver(conn, req, now);
}
