/* SPDX-License-Identifier: BSD-3-Clause */

/* From events of libroce to those of ids. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/rdmacm/cma.h"

#define FOR_EVER 7 /**< of retries */

static void
set_private_data(struct cma_event *event, const struct roce_cm_event_info *info)
{
	struct rdma_conn_param *conn = &event->rdma.param.conn;
	uint16_t len = info->private_data_len;

	if (len > sizeof(event->private_data))
		len = sizeof(event->private_data);
	if (len > 0)
		memcpy(event->private_data, info->private_data, len);
	conn->private_data = len > 0 ? event->private_data : NULL;
	conn->private_data_len = (uint8_t)len;
}

/* The addresses of a request: the other end's, and ours with the port that it came to. */
static void
set_addresses(struct cma_id *id, const struct cma_id *listener,
		const struct roce_cm_event_info *info)
{
	struct rdma_addr *addr = &id->rdma.route.addr;

	cma_set_addr(&addr->dst_storage, info->remote_ip, htons(info->remote_port));
	cma_set_addr(&addr->src_storage, info->local_ip,
			cma_port_of(&listener->rdma.route.addr.src_addr));
}

/* Each names what this end may answer: what the peer wants to have outstanding, and what it can serve. */
static struct rdma_conn_param
offer_of(const struct roce_cm_event_info *info)
{
	return (struct rdma_conn_param){
		.responder_resources = info->initiator_depth,
		.initiator_depth = info->responder_resources,
		.flow_control = 1,
		.retry_count = FOR_EVER,
		.rnr_retry_count = FOR_EVER,
	};
}

/* @return false: no memory, and the request is to be refused. */
static bool
request(const struct roce_cm_event_info *info)
{
	struct cma_id *listener = info->user;
	struct cma_event *event = calloc(1, sizeof(*event));
	struct cma_id *id = cma_id_new(
			listener->rdma.channel, listener->rdma.context, listener->rdma.ps);

	if (event == NULL || id == NULL) {
		free(event);
		if (id != NULL)
			cma_id_free(id);
		return false;
	}
	id->roce = info->id;
	id->rdma.verbs = listener->rdma.verbs;
	id->rdma.pd = listener->rdma.pd;
	id->rdma.port_num = 1;
	roce_cm_id_set_user(info->id, id);
	set_addresses(id, listener, info);
	event->owner = listener;
	event->used = true;
	event->allocated = true;
	event->rdma = (struct rdma_cm_event){
		.id = &id->rdma,
		.listen_id = &listener->rdma,
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn = offer_of(info),
	};
	cma_show_number(id, &event->rdma.param.conn);
	set_private_data(event, info);
	cma_queue(event);
	return true;
}

static void
answered(struct cma_id *id, const struct roce_cm_event_info *info)
{
	struct cma_event *event = cma_push(id, CMA_SLOT_ANSWER, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

	id->answered = true;
	if (event == NULL)
		return;
	event->rdma.param.conn = offer_of(info);
	cma_show_number(id, &event->rdma.param.conn);
	set_private_data(event, info);
}

static void
set_qp_state(struct cma_id *id, enum ibv_qp_state state)
{
	if (id->led != NULL)
		id->led->ibv.state = state;
}

static void
up(struct cma_id *id, const struct roce_cm_event_info *info)
{
	struct cma_event *event = cma_push(id, CMA_SLOT_UP, RDMA_CM_EVENT_ESTABLISHED, 0);

	id->connected = true;
	set_qp_state(id, IBV_QPS_RTS);
	if (event != NULL)
		set_private_data(event, info);
}

static void
not_up(struct cma_id *id, const struct roce_cm_event_info *info, enum rdma_cm_event_type type)
{
	struct cma_event *event = cma_push(id, CMA_SLOT_UP, type, info->status);

	id->answered = false;
	if (event != NULL)
		set_private_data(event, info);
}

static void
deliver(const struct roce_cm_event_info *info)
{
	struct cma_id *id = info->user;

	switch (info->type) {
	case ROCE_CM_EVENT_CONNECT_REQUEST:
		if (!request(info))
			(void)roce_cm_id_reject(info->id, NULL, 0);
		break;
	case ROCE_CM_EVENT_CONNECT_RESPONSE:
		answered(id, info);
		break;
	case ROCE_CM_EVENT_ESTABLISHED:
		up(id, info);
		break;
	case ROCE_CM_EVENT_REJECTED:
		not_up(id, info, RDMA_CM_EVENT_REJECTED);
		break;
	case ROCE_CM_EVENT_UNREACHABLE:
		not_up(id, info, RDMA_CM_EVENT_UNREACHABLE);
		break;
	case ROCE_CM_EVENT_CONNECT_ERROR:
		/* rdma_cm has a peer that refuses an answer for one that rejects. */
		not_up(id, info,
				info->status > 0 ? RDMA_CM_EVENT_REJECTED
						 : RDMA_CM_EVENT_CONNECT_ERROR);
		break;
	case ROCE_CM_EVENT_DISCONNECTED:
		id->answered = id->connected = false;
		set_qp_state(id, IBV_QPS_ERR);
		(void)cma_push(id, CMA_SLOT_DOWN, RDMA_CM_EVENT_DISCONNECTED, 0);
		cma_timewait_begin(id);
		break;
	}
}

unsigned int
cma_dispatch(struct verbs_ctx *ctx)
{
	struct roce_cm_event_info info;
	unsigned int n = 0;

	pthread_mutex_lock(&cma_lock);
	for (; roce_cm_poll(ctx->roce, &info) == 1; n++)
		deliver(&info);
	pthread_mutex_unlock(&cma_lock);
	cma_linger_expire();
	cma_timewait_expire();
	return n;
}
