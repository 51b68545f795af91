/* SPDX-License-Identifier: BSD-3-Clause */

#include <poll.h>
#include <stdlib.h>

#include "cm_rig.h"

struct sockaddr_in
address(const struct rdma_cm_id *listener)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	sin.sin_port = listener != NULL ? listener->route.addr.src_sin.sin_port : 0;
	return sin;
}

struct rdma_cm_event *
want(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	for (;;) {
		if (poll(&fd, 1, WAIT_MS) != 1)
			fail_msg("no %s came", rdma_event_str(type));
		ok(rdma_get_cm_event(channel, &event));
		/* It comes whenever the time of a connection that is over has passed. */
		if (event->event == type || event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			break;
		ok(rdma_ack_cm_event(event));
	}
	assert_string_equal(rdma_event_str(event->event), rdma_event_str(type));
	return event;
}

void
want_acked(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	ok(rdma_ack_cm_event(want(channel, type)));
}

void
make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	ok(rdma_create_qp(id, NULL, &init));
	assert_int_equal(id->qp->state, IBV_QPS_INIT);
}

struct rdma_cm_id *
routed(struct rdma_event_channel *channel, struct sockaddr_in to)
{
	struct rdma_cm_id *id;

	ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	assert_null(id->verbs);
	ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000));
	want_acked(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_non_null(id->verbs);
	ok(rdma_resolve_route(id, 1000));
	want_acked(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(id->route.num_paths, 1);
	return id;
}

struct rdma_cm_id *
resolved(struct rdma_event_channel *channel, struct sockaddr_in to)
{
	struct rdma_cm_id *id = routed(channel, to);

	make_qp(id);
	return id;
}

int
pair_open(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct sockaddr_in any = { .sin_family = AF_INET };

	assert_non_null(pair);
	pair->channel = rdma_create_event_channel();
	assert_non_null(pair->channel);
	ok(rdma_create_id(pair->channel, &pair->listener, pair, RDMA_PS_TCP));
	ok(rdma_bind_addr(pair->listener, (struct sockaddr *)&any));
	assert_int_not_equal(rdma_get_src_port(pair->listener), 0);
	ok(rdma_listen(pair->listener, 4));
	pair->active = resolved(pair->channel, address(pair->listener));
	*state = pair;
	return 0;
}

void
end(struct rdma_cm_id *id)
{
	if (id == NULL)
		return;
	rdma_destroy_qp(id);
	ok(rdma_destroy_id(id));
}

int
pair_close(void **state)
{
	struct pair *pair = *state;

	if (pair->request != NULL)
		ok(rdma_ack_cm_event(pair->request));
	end(pair->active);
	end(pair->passive);
	end(pair->listener);
	rdma_destroy_event_channel(pair->channel);
	free(pair);
	return 0;
}

void
request(struct pair *pair)
{
	struct rdma_conn_param param = { .private_data = "hello",
		.private_data_len = 6,
		.responder_resources = 3,
		.initiator_depth = 2 };

	ok(rdma_connect(pair->active, &param));
	pair->request = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	pair->passive = pair->request->id;
	assert_ptr_equal(pair->request->listen_id, pair->listener);
	assert_ptr_equal(pair->passive->context, pair);
	assert_string_equal(pair->request->param.conn.private_data, "hello");
	assert_int_equal(pair->request->param.conn.responder_resources, 2);
	assert_int_equal(pair->request->param.conn.initiator_depth, 3);
}

void
establish(struct pair *pair)
{
	request(pair);
	make_qp(pair->passive);
	ok(rdma_accept(pair->passive, NULL));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(pair->active->qp->state, IBV_QPS_RTS);
	assert_int_equal(pair->passive->qp->state, IBV_QPS_RTS);
}
