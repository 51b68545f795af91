/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections of queue pairs that no id has: known by their number, and moved by their owner. */

#include <errno.h>
#include <string.h>

#include "roce/context.h"
#include "roce/device.h"
#include "verbs/rdmacm/cma.h"
#include "verbs/verbs_front.h"

#define HOP_LIMIT 64

struct roce_cm_conn_param
cma_param_by_number(const struct rdma_conn_param *param)
{
	return (struct roce_cm_conn_param){
		.qp_num = param != NULL ? param->qp_num : 0,
		.srq = param != NULL && param->srq,
	};
}

void
cma_show_number(struct cma_id *id, struct rdma_conn_param *param)
{
	struct roce_cm_peer peer;

	if (roce_cm_id_peer(id->roce, &peer) != 0)
		return;
	param->qp_num = peer.qpn;
	param->srq = peer.srq;
	param->rnr_retry_count = peer.rnr_retry;
}

/* The queue pair can send: the peer is told. */
int
rdma_establish(struct rdma_cm_id *id)
{
	struct cma_id *own = cma_id_of(id);
	int rc = -EINVAL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	/* That of an id is established by rdma_connect(). */
	if (id->qp != NULL)
		return cma_refuse(EINVAL);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL && own->answered)
		rc = roce_cm_id_establish(own->roce);
	own->answered &= rc != 0;
	own->connected |= rc == 0;
	pthread_mutex_unlock(&cma_lock);
	return cma_result(rc);
}

/* Where the engine connects a queue pair, it learns by itself that the peer has sent. */
int
rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct cma_id *own = cma_id_of(id);

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	pthread_mutex_lock(&cma_lock);
	if (event == IBV_EVENT_COMM_EST && own->roce != NULL && !own->answered)
		(void)roce_cm_id_establish(own->roce);
	pthread_mutex_unlock(&cma_lock);
	return 0;
}

/* READs and atomics are what the two ends have agreed on; before that nothing is excluded. */
static void
set_init(struct ibv_qp_attr *attr, const struct roce_cm_peer *peer, int *mask)
{
	attr->pkey_index = 0;
	attr->port_num = VERBS_PORT;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (peer == NULL || peer->max_dest_rd_atomic > 0)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

/* On the shared adapter, paths within the host may have another address of 127.0.0.0/8, which is no entry: any will do. */
static uint8_t
sgid_index_of(const struct rdma_cm_id *id, const struct roce_cm_peer *peer)
{
	int index = cma_gid_index(id->verbs, peer->local_ip);

	return index > 0 ? (uint8_t)index : 0;
}

static void
set_rtr(struct ibv_qp_attr *attr, const struct roce_cm_peer *peer, uint8_t sgid_index,
		const struct roce_device_attr *device, int *mask)
{
	struct ibv_ah_attr *av = &attr->ah_attr;

	*av = (struct ibv_ah_attr){
		.grh.traffic_class = peer->traffic_class,
		.grh.hop_limit = HOP_LIMIT,
		.grh.sgid_index = sgid_index,
		.is_global = 1,
		.port_num = VERBS_PORT,
	};
	memcpy(av->grh.dgid.raw, peer->ip, sizeof(peer->ip));
	attr->path_mtu = verbs_mtu_of(peer->mtu);
	attr->dest_qp_num = peer->qpn;
	attr->rq_psn = peer->rq_psn;
	attr->max_dest_rd_atomic = peer->max_dest_rd_atomic;
	attr->min_rnr_timer = device->rnr_timer;
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static void
set_rts(struct ibv_qp_attr *attr, const struct roce_cm_peer *peer,
		const struct roce_device_attr *device, int *mask)
{
	attr->sq_psn = peer->sq_psn;
	attr->timeout = device->ack_timeout;
	attr->retry_cnt = device->retry;
	attr->rnr_retry = peer->rnr_retry;
	attr->max_rd_atomic = peer->max_rd_atomic;
	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

/* The attributes that a queue pair needs on its way to the state that they name. */
int
rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	struct cma_id *own = cma_id_of(id);
	struct roce_device_attr device;
	struct roce_cm_peer peer;
	bool known = false;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	if (id->verbs == NULL)
		return cma_refuse(EINVAL);
	pthread_mutex_lock(&cma_lock);
	if (own->roce != NULL)
		known = roce_cm_id_peer(own->roce, &peer) == 0;
	pthread_mutex_unlock(&cma_lock);
	roce_device_query(roce_context_device(verbs_ctx_of(id->verbs)->roce), &device);
	if (own->ack_timeout != 0)
		device.ack_timeout = own->ack_timeout;
	if (known && own->tos != 0)
		peer.traffic_class = own->tos;
	if (attr->qp_state == IBV_QPS_INIT)
		set_init(attr, known ? &peer : NULL, mask);
	else if (attr->qp_state == IBV_QPS_RTR && known)
		set_rtr(attr, &peer, sgid_index_of(id, &peer), &device, mask);
	else if (attr->qp_state == IBV_QPS_RTS && known)
		set_rts(attr, &peer, &device, mask);
	else
		return cma_refuse(EINVAL);
	return 0;
}
