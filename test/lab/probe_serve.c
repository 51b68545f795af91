/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of rdmaprobe: it accepts or rejects, posts receives when it is told to, and waits for the end. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdmaprobe.h"

#define MUTE_MS        20000
#define ESTABLISHED_MS 60000
#define TIMEWAIT_MS    500

enum {
	CM,
	ASYNC,
	SOURCES,
};

static struct rdma_cm_id *
listening(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *found;
	struct rdma_cm_id *listener;

	if (rdma_getaddrinfo(opt.addr, opt.port, &hints, &found) != 0 ||
			rdma_create_id(probe_channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
			rdma_bind_addr(listener, found->ai_src_addr) != 0 ||
			rdma_listen(listener, 16) != 0)
		probe_die("listen");
	rdma_freeaddrinfo(found);
	printf("%9.3f listening on port %s\n", probe_now(), opt.port);
	return listener;
}

static void
reject(struct rdma_cm_id *id)
{
	if (rdma_reject(id, opt.text, (uint8_t)strlen(opt.text)) != 0)
		probe_die("rdma_reject");
}

static void
take_async(struct rdma_cm_id *id)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(id->verbs, &event) != 0)
		return;
	printf("%9.3f async event %s\n", probe_now(), ibv_event_type_str(event.event_type));
	if (event.event_type == IBV_EVENT_COMM_EST)
		(void)rdma_notify(id, IBV_EVENT_COMM_EST);
	ibv_ack_async_event(&event);
}

/* The RTU may be lost: data on the new queue pair tells of the connection as well. @return false: it broke. */
static bool
established(struct rdma_cm_id *id, struct pollfd *source)
{
	struct rdma_cm_event *event;
	bool up;

	do {
		if (poll(source, SOURCES, ESTABLISHED_MS) <= 0) {
			errno = ETIMEDOUT;
			probe_die("accepted, not established");
		}
		if (source[ASYNC].revents != 0)
			take_async(id);
	} while (source[CM].revents == 0);
	event = probe_event(0);
	if (event == NULL)
		return false;
	up = event->event == RDMA_CM_EVENT_ESTABLISHED;
	(void)rdma_ack_cm_event(event);
	return up;
}

static void
accept_it(struct rdma_cm_id *id, const struct rdma_conn_param *in)
{
	struct {
		struct probe_offer offer;
		char text[160];
	} reply = { probe_offered(), "" };
	struct rdma_conn_param out = { .private_data = &reply,
		.responder_resources = in->initiator_depth,
		.initiator_depth = in->responder_resources,
		.flow_control = in->flow_control,
		.rnr_retry_count = (uint8_t)opt.rnr_retry };

	(void)snprintf(reply.text, sizeof(reply.text), "%s", opt.text);
	out.private_data_len = (uint8_t)(sizeof(reply.offer) + strlen(reply.text));
	if (rdma_accept(id, &out) != 0)
		probe_die("rdma_accept");
}

/* The fate of a queue pair as soon as its connection is up. */
static void
prepare(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.min_rnr_timer = (uint8_t)opt.rnr_timer };

	if (opt.rnr_timer >= 0 &&
			ibv_modify_qp(probe_qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER) != 0)
		probe_die("modify_qp min_rnr_timer");
	probe_show_qp();
	if (opt.limit > 0)
		probe_limit(opt.limit);
	if (opt.kill_qp) {
		rdma_destroy_qp(id);
		probe_qp = NULL;
	}
}

/* Post receives once, at that time; 0: never. */
static void
post_at(double *at)
{
	if (*at <= 0 || probe_now() <= *at)
		return;
	probe_receives(opt.receives);
	*at = 0;
}

static bool
disconnected(void)
{
	struct rdma_cm_event *event = probe_event(0);
	bool over;

	if (event == NULL)
		return false;
	over = event->event == RDMA_CM_EVENT_DISCONNECTED;
	(void)rdma_ack_cm_event(event);
	return over;
}

static void
attend(struct rdma_cm_id *id, struct pollfd *source)
{
	double first = opt.delay > 0 ? probe_now() + opt.delay : 0;
	double refill = opt.refill > 0 ? probe_now() + opt.refill : 0;

	for (;;) {
		post_at(&first);
		post_at(&refill);
		if (probe_qp != NULL)
			(void)probe_drain();
		if (poll(source, SOURCES, 1) <= 0)
			continue;
		if (source[ASYNC].revents != 0)
			take_async(id);
		if (source[CM].revents != 0 && disconnected())
			return;
	}
}

static void
end(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	(void)rdma_disconnect(id);
	while (probe_qp != NULL && probe_drain() > 0)
		;
	event = probe_event(TIMEWAIT_MS);
	if (event != NULL)
		(void)rdma_ack_cm_event(event);
	if (probe_qp != NULL)
		rdma_destroy_qp(id);
	(void)rdma_destroy_id(id);
}

static void
answer(struct rdma_cm_event *request)
{
	struct rdma_cm_id *id = request->id;
	struct pollfd source[SOURCES] = { { probe_channel->fd, POLLIN, 0 },
		{ id->verbs->async_fd, POLLIN, 0 } };
	const struct rdma_conn_param in = request->param.conn;

	probe_resources(id);
	if (opt.delay == 0 && opt.receives > 0)
		probe_receives(opt.receives);
	(void)rdma_ack_cm_event(request);
	accept_it(id, &in);
	if (established(id, source)) {
		prepare(id);
		attend(id, source);
	}
	end(id);
}

int
probe_serve(void)
{
	struct rdma_cm_id *listener = listening();

	for (int i = 0; i < opt.connections; i++) {
		struct rdma_cm_event *request = probe_expect(RDMA_CM_EVENT_CONNECT_REQUEST);
		struct rdma_cm_id *id = request->id;

		if (opt.mute) {
			(void)rdma_ack_cm_event(request);
			probe_sleep(opt.delay > 0 ? opt.delay : MUTE_MS);
		} else if (opt.reject) {
			reject(id);
			(void)rdma_ack_cm_event(request);
			(void)rdma_destroy_id(id);
			probe_sleep(200);
		} else {
			answer(request);
			printf("%9.3f connection %d over, %d receives flushed\n", probe_now(),
					i + 1, probe_flushed());
		}
	}
	(void)rdma_destroy_id(listener);
	return 0;
}
