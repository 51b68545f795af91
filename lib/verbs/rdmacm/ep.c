/* SPDX-License-Identifier: BSD-3-Clause */

/* Endpoints: an id with its address resolved and its queue pair made, in one call; requests of a listening one. */

#include <errno.h>
#include <stdlib.h>

#include <rdma/rdma_verbs.h>

#include "verbs/rdmacm/cma.h"

/* A listener: requests get queue pairs made with its attributes. */
static int
prepare_passive(struct rdma_cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		const struct ibv_qp_init_attr *attr)
{
	struct cma_id *own = cma_id_of(id);

	if (rdma_bind_addr(id, res->ai_src_addr) != 0)
		return -1;
	if (attr == NULL)
		return 0;
	if (pd != NULL)
		id->pd = pd;
	own->ep_attr = *attr;
	own->has_ep_attr = true;
	return 0;
}

static int
prepare_active(struct rdma_cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		struct ibv_qp_init_attr *attr)
{
	if (rdma_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, 2000) != 0 ||
			rdma_resolve_route(id, 2000) != 0)
		return -1;
	return attr != NULL ? rdma_create_qp(id, pd, attr) : 0;
}

int
rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		struct ibv_qp_init_attr *qp_init_attr)
{
	struct rdma_cm_id *made;
	int rc, error;

	if (rdma_create_id(NULL, &made, NULL, (enum rdma_port_space)res->ai_port_space) != 0)
		return -1;
	if (qp_init_attr != NULL && res->ai_qp_type != 0)
		qp_init_attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	if (res->ai_flags & RAI_PASSIVE)
		rc = prepare_passive(made, res, pd, qp_init_attr);
	else
		rc = prepare_active(made, res, pd, qp_init_attr);
	if (rc != 0) {
		error = errno;
		rdma_destroy_ep(made);
		return cma_refuse(error);
	}
	*id = made;
	return 0;
}

void
rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	(void)rdma_destroy_id(id);
}

/* The id of a request reports to a channel of its own, as its calls wait for their events. */
static int
detach(struct cma_id *id)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (channel == NULL)
		return -1;
	pthread_mutex_lock(&cma_lock);
	cma_move(id, channel);
	id->synchronous = true;
	pthread_mutex_unlock(&cma_lock);
	return 0;
}

static int
prepare_request(const struct cma_id *listener, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = listener->ep_attr;

	if (detach(cma_id_of(id)) != 0)
		return -1;
	return listener->has_ep_attr ? rdma_create_qp(id, listener->rdma.pd, &attr) : 0;
}

int
rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct cma_id *listener = cma_id_of(listen);
	struct rdma_cm_event *event;

	if (!listener->synchronous)
		return cma_refuse(EINVAL);
	if (listen->event != NULL) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event) != 0)
		return -1;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		rdma_ack_cm_event(event);
		return cma_refuse(EINVAL);
	}
	if (prepare_request(listener, event->id) != 0) {
		int error = errno;

		(void)rdma_reject(event->id, NULL, 0);
		rdma_destroy_ep(event->id);
		rdma_ack_cm_event(event);
		return cma_refuse(error);
	}
	/* It is the new id's to show, and to acknowledge with its next call. */
	*id = event->id;
	(*id)->event = event;
	return 0;
}
