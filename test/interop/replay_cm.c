/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager of a world, and what its owner does: it listens where the recorded one did, it connects,
 * accepts, rejects and disconnects when that is seen to have happened, with the recorded parameters.
 */

#include "fixture.h"
#include "replay.h"

#define BACKLOG     8u
#define CONNECTIONS 64u

static struct roce_path
path_of(const struct rp_world *world, const struct rp_flow *flow)
{
	const struct rp_capture *capture = world->capture;

	return (struct roce_path){
		.src_mac = capture->mac[world->me],
		.dst_mac = capture->mac[world->peer],
		.src_ip = capture->ip[world->me],
		.dst_ip = capture->ip[world->peer],
		.udp_sport = flow != NULL ? flow->sport : 0,
		.tos = flow != NULL ? flow->tos[world->me] : 0,
		.ttl = 64,
		.mtu_code = roce_mtu_code(flow != NULL ? flow->mtu : 0),
	};
}

void
rp_end_up(struct rp_end *end, bool ready)
{
	struct rp_world *world = end->world;
	const struct rp_flow *flow = &world->capture->flow[end->index];
	const struct roce_qp_connect connect = {
		.path = path_of(world, flow),
		.dest_qp = flow->qpn[world->peer],
		.rq_psn = flow->psn[world->peer],
		.sq_psn = flow->psn[world->me],
		.retry = flow->retry,
		.rnr_retry = flow->rnr_retry[world->me],
		.rnr_timer = flow->rnr_timer[world->me],
		.ack_timeout = rp_ack_timeout(world->capture, end->index, world->me),
		.max_rd_atomic = flow->reads[world->me],
		.max_dest_rd_atomic = flow->reads[world->peer],
	};

	assert_int_equal(roce_qp_to_rtr(end->qp, &connect), 0);
	if (ready)
		assert_int_equal(roce_qp_to_rts(end->qp), 0);
}

static struct rp_end *
end_of(struct rp_world *world, int conn)
{
	int flow = world->capture->conn[conn].flow;

	return flow >= 0 ? &world->end[flow] : NULL;
}

static int
resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now)
{
	const struct rp_world *world = arg;

	RTE_SET_USED(dst);
	RTE_SET_USED(src);
	RTE_SET_USED(now);
	*path = path_of(world, NULL);
	path->tos = world->capture->conn[0].req->msg.req.traffic_class;
	path->mtu_code = world->capture->conn[0].req->msg.param.mtu_code;
	return 0;
}

/* A request names its queue pair and its first PSN: no two are alike. */
static int
conn_of_request(const struct rp_world *world, const struct roce_cm_param *peer)
{
	for (int i = 0; i < world->capture->conns; i++) {
		const struct rp_conn *conn = &world->capture->conn[i];

		if (conn->active == world->peer && conn->req->msg.param.qpn == peer->qpn &&
				conn->req->msg.param.psn == peer->psn)
			return i;
	}
	fail_msg("%s: a request that was not recorded", world->capture->name);
	return -1;
}

static int
notified(void *arg, const struct roce_cm_event *event)
{
	struct rp_world *world = arg;
	struct rp_link *link = event->owner;
	struct rp_end *end;

	if (event->kind == ROCE_CM_REQUEST) {
		world->link[conn_of_request(world, event->peer)].conn = event->conn;
		return 0;
	}
	end = end_of(world, (int)(link - world->link));
	if (event->kind == ROCE_CM_REPLY) {
		assert_non_null(end);
		rp_end_up(end, true);
	} else if (event->kind == ROCE_CM_ESTABLISHED) {
		assert_int_equal(roce_qp_to_rts(end->qp), 0);
	}
	return 0;
}

/* The GUID of our side, in whatever it sent. */
static uint64_t
guid_of(const struct rp_world *world)
{
	for (uint32_t i = 0; i < world->capture->frames; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (frame->conn >= 0 && frame->from == world->me && frame->msg.ca_guid != 0)
			return frame->msg.ca_guid;
	}
	return 1;
}

/* Somebody listens where a request was answered; but for the answer that nobody does. */
static void
listen_for(struct rp_world *world, int index)
{
	const struct rp_conn *conn = &world->capture->conn[index];

	if (conn->active == world->me || conn->reply == NULL ||
			(conn->reply->msg.attr == ROCE_CM_ATTR_REJ &&
					conn->reply->msg.reason == ROCE_CM_REJ_INVALID_SERVICE_ID))
		return;
	/* Several requests may be for one. */
	(void)roce_cm_listen(world->cm, NULL, conn->req->msg.req.service_id, BACKLOG, world,
			&world->listener[index]);
}

void
rp_cm_open(struct rp_world *world)
{
	const struct roce_cm_config config = {
		.hz = RP_HZ,
		.seed = 1,
		.ca_guid = guid_of(world),
		.pool = unit_pool(),
		.memory = fx_memory,
		.connections_max = CONNECTIONS,
		.resolve = resolve,
		.resolve_arg = world,
		.notify = notified,
		.notify_arg = world,
	};
	struct roce_gsi gsi;

	if (world->capture->conns == 0)
		return;
	assert_int_equal(roce_cm_create(&config, &world->cm), 0);
	roce_cm_gsi(world->cm, &gsi);
	roce_domain_set_gsi(world->domain, &gsi);
	roce_engine_lock(world->engine);
	for (int i = 0; i < world->capture->conns; i++)
		listen_for(world, i);
	roce_engine_unlock(world->engine);
}

void
rp_cm_close(struct rp_world *world)
{
	if (world->cm == NULL)
		return;
	roce_domain_set_gsi(world->domain, &(struct roce_gsi){ .rx = NULL });
	roce_cm_destroy(world->cm);
}

static void
connect_to(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_link *link = &world->link[frame->conn];
	const struct roce_cm_connect connect = {
		.dst = world->capture->ip[world->peer],
		.service_id = frame->msg.req.service_id,
		.local = frame->msg.param,
		.timeout_us = UINT64_MAX,
	};
	struct rp_end *end = end_of(world, frame->conn);

	assert_int_equal(roce_cm_connect(world->cm, NULL, &connect, link, world->now, &link->conn),
			0);
	if (end != NULL)
		roce_qp_set_conn(end->qp, link->conn);
}

static void
accept_it(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_link *link = &world->link[frame->conn];
	struct rp_end *end = end_of(world, frame->conn);

	assert_non_null(end);
	rp_end_up(end, false);
	roce_qp_set_conn(end->qp, link->conn);
	assert_int_equal(roce_cm_accept(link->conn, &frame->msg.param, link, world->now), 0);
}

static void
reject_it(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_link *link = &world->link[frame->conn];

	/* Our connection manager says alone that nobody listens. */
	if (link->conn == NULL || frame->msg.reason != ROCE_CM_REJ_CONSUMER)
		return;
	assert_int_equal(
			roce_cm_reject(link->conn, frame->msg.reason, frame->msg.param.private_data,
					frame->msg.param.private_len, world->now),
			0);
	link->conn = NULL;
}

/* Only the first of each kind comes from a call of the consumer: the others are the connection manager's own repeats. */
static bool
is_first(const struct rp_world *world, const struct rp_frame *frame)
{
	const struct rp_frame *other;

	for (other = world->capture->frame; other != frame; other++) {
		if (other->conn == frame->conn && other->from == frame->from &&
				other->msg.attr == frame->msg.attr)
			return false;
	}
	return true;
}

void
rp_cm_act(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_link *link = &world->link[frame->conn];

	if (!is_first(world, frame))
		return;
	roce_engine_lock(world->engine);
	switch (frame->msg.attr) {
	case ROCE_CM_ATTR_REQ:
		connect_to(world, frame);
		break;
	case ROCE_CM_ATTR_REP:
		accept_it(world, frame);
		break;
	case ROCE_CM_ATTR_REJ:
		reject_it(world, frame);
		break;
	case ROCE_CM_ATTR_DREQ:
		if (link->conn != NULL)
			(void)roce_cm_disconnect(link->conn, world->now);
		break;
	default:
		/* RTU, DREP and MRA are the connection manager's. */
		break;
	}
	roce_engine_unlock(world->engine);
}
