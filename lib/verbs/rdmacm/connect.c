/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections: listen, connect, accept, reject, disconnect. */

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "verbs/rdmacm/cma.h"

#define BACKLOG_DEFAULT 1024
#define PORT_TRIES      64 /**< of ports that are chosen here */
#define RNR_FOR_EVER    7

static uint8_t
at_most(uint8_t n, uint8_t max)
{
	return n < max ? n : max;
}

/* @p param may be NULL: no private data, and as many READs as there may be. */
static struct roce_cm_conn_param
param_of(const struct cma_id *id, const struct rdma_conn_param *param)
{
	const struct verbs_qp *qp = (const struct verbs_qp *)(const void *)id->rdma.qp;
	struct roce_cm_conn_param to = qp != NULL ? (struct roce_cm_conn_param){ .qp = qp->roce }
						  : cma_param_by_number(param);

	to.ack_timeout = id->ack_timeout;
	to.traffic_class = id->tos;
	if (param == NULL)
		return to;
	to.private_data = param->private_data;
	to.private_data_len = param->private_data_len;
	to.responder_resources = at_most(param->responder_resources, VERBS_RD_ATOMIC_MAX);
	to.initiator_depth = at_most(param->initiator_depth, VERBS_RD_ATOMIC_MAX);
	to.rnr_retry = at_most(param->rnr_retry_count, RNR_FOR_EVER);
	return to;
}

static int
listen_at(struct cma_id *id, uint32_t requests)
{
	struct sockaddr *src = &id->rdma.route.addr.src_addr;
	int rc = -EADDRINUSE;

	for (unsigned int i = 0; i < PORT_TRIES && rc == -EADDRINUSE; i++) {
		uint16_t port = ntohs(cma_port_of(src));

		rc = roce_cm_id_listen(id->roce, port, requests);
		if (rc == 0 || !id->any_port)
			break;
		cma_set_port(src, htons((uint16_t)(port + 1)));
	}
	return rc;
}

int
rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cma_id *own = cma_id_of(id);
	struct sockaddr_in any = { .sin_family = AF_INET };
	uint32_t requests = backlog > 0 ? (uint32_t)backlog : BACKLOG_DEFAULT;
	int rc;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	if (id->route.addr.src_addr.sa_family == 0 &&
			rdma_bind_addr(id, (struct sockaddr *)&any) != 0)
		return -1;
	if (cma_id_attach(own) != 0)
		return -1;
	pthread_mutex_lock(&cma_lock);
	own->listens = cma_linger_take(own, requests);
	pthread_mutex_unlock(&cma_lock);
	if (own->listens)
		return 0;
	/* It asks roced, which takes its time; the listener has no events yet. */
	rc = listen_at(own, requests);
	own->listens = rc == 0;
	return cma_result(rc);
}

/* The end of connect and accept, behind their call of libroce, until which event. Lets go of the lock. */
static int
establish(struct cma_id *id, int rc, enum rdma_cm_event_type type)
{
	if (rc == 0 && id->rdma.qp != NULL)
		cma_qp_lead(id);
	pthread_mutex_unlock(&cma_lock);
	return rc == 0 ? cma_complete(id, type) : cma_result(rc);
}

/* Other addresses of this host, as those of 127.0.0.0/8, need not be of the device. */
static void
set_source(const struct cma_id *id, struct roce_cm_conn_param *param)
{
	uint8_t ip[16];

	if (id->bound && cma_ip_of(&id->rdma.route.addr.src_addr, ip) &&
			cma_gid_index(id->rdma.verbs, ip) >= 0)
		memcpy(param->local_ip, ip, sizeof(ip));
}

int
rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct cma_id *own = cma_id_of(id);
	struct roce_cm_conn_param param;
	uint8_t ip[16];
	int rc = -EINVAL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	if (!cma_ip_of(&id->route.addr.dst_addr, ip))
		return cma_refuse(EINVAL);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL) {
		param = param_of(own, conn_param);
		set_source(own, &param);
		rc = roce_cm_id_connect(
				own->roce, ip, ntohs(rdma_get_dst_port(id)), &param, UINT64_MAX);
	}
	return establish(own, rc,
			id->qp != NULL ? RDMA_CM_EVENT_ESTABLISHED
				       : RDMA_CM_EVENT_CONNECT_RESPONSE);
}

int
rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct cma_id *own = cma_id_of(id);
	struct roce_cm_conn_param param;
	int rc = -EINVAL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL) {
		param = param_of(own, conn_param);
		rc = roce_cm_id_accept(own->roce, &param);
	}
	return establish(own, rc, RDMA_CM_EVENT_ESTABLISHED);
}

int
rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	const struct ibv_context *context = id->verbs;
	struct cma_id *own = cma_id_of(id);
	int rc = -EINVAL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL)
		rc = roce_cm_id_reject(own->roce, private_data, private_data_len);
	/* That ended the id of libroce. */
	if (rc == 0)
		own->roce = NULL;
	pthread_mutex_unlock(&cma_lock);
	if (rc == 0)
		cma_send(context);
	return cma_result(rc);
}

int
rdma_disconnect(struct rdma_cm_id *id)
{
	const struct ibv_context *context = id->verbs;
	struct cma_id *own = cma_id_of(id);
	bool fetched, waits;
	int rc = -EINVAL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL) {
		rc = roce_cm_id_disconnect(own->roce);
	} else if (own->connected) {
		own->connected = false;
		(void)cma_push(own, CMA_SLOT_DOWN, RDMA_CM_EVENT_DISCONNECTED, 0);
		cma_timewait_begin(own);
		rc = 0;
	}
	/* It is over already: the event that says so is there, is on its way, or was fetched, as it comes but once. */
	fetched = rc == -EINVAL && own->down && !own->slots[CMA_SLOT_DOWN].queued;
	if (rc == -EINVAL && (own->connected || own->down))
		rc = 0;
	own->leaving = rc == 0;
	waits = rc == 0 && !fetched && own->synchronous;
	pthread_mutex_unlock(&cma_lock);
	if (rc == 0)
		cma_send(context);
	/* Another thread may have fetched the event by now, and ended the id. */
	if (!waits)
		return cma_result(rc);
	return cma_complete(own, RDMA_CM_EVENT_DISCONNECTED);
}

/* Without sockets of RDMA every descriptor is one of the kernel. */
int rpoll(struct pollfd *fds, nfds_t n, int timeout);

int
rpoll(struct pollfd *fds, nfds_t n, int timeout)
{
	return poll(fds, n, timeout);
}
