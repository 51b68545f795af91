/* SPDX-License-Identifier: BSD-3-Clause */

/* The states of queue pairs: ibv_modify_qp() and ibv_query_qp() on roce/qp_modify.h. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "roce/device.h"
#include "verbs/verbs_front.h"

#define FLOW_LABEL_MASK 0xfffffu
#define RESOLVE_S       4u /**< for which an address is asked for; the engine gives up before */
#define RESOLVE_NS      100000L /**< between two questions */

static_assert((int)ROCE_QPS_RTS == (int)IBV_QPS_RTS && (int)ROCE_QPS_ERR == (int)IBV_QPS_ERR,
		"states have the numbers of verbs");
static_assert((int)ROCE_QP_MOD_DEST_QPN == (int)IBV_QP_DEST_QPN &&
				(int)ROCE_QP_MOD_AV == (int)IBV_QP_AV &&
				(int)ROCE_QP_MOD_EN_SQD_ASYNC_NOTIFY ==
						(int)IBV_QP_EN_SQD_ASYNC_NOTIFY &&
				(int)ROCE_QP_MOD_SQ_PSN == (int)IBV_QP_SQ_PSN,
		"attributes have the numbers of verbs");

static uint32_t
mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static int
judge_av(const struct ibv_ah_attr *av)
{
	union ibv_gid gid;

	if (!av->is_global || !verbs_port_gid(av->grh.sgid_index, &gid))
		return -EINVAL;
	return av->port_num == VERBS_PORT || av->port_num == 0 ? 0 : -EINVAL;
}

/* A number that is none of a state, also one of more than the eight bits that libroce has for it. */
static int
judge_states(const struct ibv_qp_attr *attr, int mask)
{
	if ((mask & IBV_QP_STATE) && (unsigned int)attr->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	return (mask & IBV_QP_CUR_STATE) && (unsigned int)attr->cur_qp_state > IBV_QPS_ERR ? -EINVAL
											   : 0;
}

static struct roce_qp_mod
mod_of(const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_global_route *grh = &attr->ah_attr.grh;
	struct roce_qp_mod mod = {
		.state = (uint8_t)attr->qp_state,
		.cur_state = (uint8_t)attr->cur_qp_state,
		.port_num = attr->port_num,
		.min_rnr_timer = attr->min_rnr_timer,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.traffic_class = grh->traffic_class,
		.hop_limit = grh->hop_limit,
		.pkey_index = attr->pkey_index,
		.access = attr->qp_access_flags,
		.path_mtu = mtu_bytes(attr->path_mtu),
		.dest_qpn = attr->dest_qp_num,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		/* Programs have more than its 20 bits there: UCX says all ones. */
		.flow_label = grh->flow_label & FLOW_LABEL_MASK,
		.en_sqd_async_notify = attr->en_sqd_async_notify != 0,
	};
	union ibv_gid local;

	if (!(mask & IBV_QP_AV))
		return mod;
	memcpy(mod.remote_ip, grh->dgid.raw, sizeof(mod.remote_ip));
	if (verbs_port_gid(grh->sgid_index, &local))
		memcpy(mod.local_ip, local.raw, sizeof(mod.local_ip));
	return mod;
}

/* The peer's address may have to be asked for first: the thread polls the device meanwhile, and so does this one. */
static int
modify(struct verbs_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	const struct timespec pause = { .tv_nsec = RESOLVE_NS };
	struct roce_device *device = verbs_progress_device();
	uint64_t end = roce_device_now(device) + RESOLVE_S * roce_device_hz(device);
	int rc;

	while ((rc = roce_qp_modify(qp->roce, mod, mask)) == -EAGAIN) {
		if (roce_device_now(device) > end)
			return -ETIMEDOUT;
		if (roce_device_poll(device) == 0)
			nanosleep(&pause, NULL);
	}
	return rc;
}

/* Without its completions, and not beside posts. */
static int
reset(struct verbs_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	struct verbs_cq *send_cq = verbs_cq_of(qp->ibv.send_cq),
			*recv_cq = verbs_cq_of(qp->ibv.recv_cq);
	int rc;

	rc = verbs_cq_begin_purge(send_cq, recv_cq);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&qp->send_lock);
	pthread_mutex_lock(&qp->recv_lock);
	rc = modify(qp, mod, mask);
	verbs_cq_end_purge(send_cq, recv_cq, rc == 0 ? qp : NULL);
	pthread_mutex_unlock(&qp->recv_lock);
	pthread_mutex_unlock(&qp->send_lock);
	return rc;
}

int
ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	struct roce_qp_mod mod;
	int rc;

	if (verbs_is_forked())
		return verbs_errno(-ENODEV);
	if (judge_states(attr, mask) != 0)
		return verbs_errno(-EINVAL);
	if ((mask & IBV_QP_AV) && judge_av(&attr->ah_attr) != 0)
		return verbs_errno(-EINVAL);
	mod = mod_of(attr, mask);
	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		rc = reset(own, &mod, (uint32_t)mask);
	else
		rc = modify(own, &mod, (uint32_t)mask);
	if (rc == 0 && (mask & IBV_QP_STATE))
		qp->state = attr->qp_state;
	return verbs_errno(rc);
}

static void
show_path(struct ibv_qp_attr *attr, const struct roce_qp_mod *mod)
{
	struct ibv_ah_attr *av = &attr->ah_attr;
	int index = verbs_port_gid_index(mod->local_ip);

	attr->path_mtu = verbs_mtu_of(mod->path_mtu);
	if (mod->dest_qpn == 0)
		return;
	memcpy(av->grh.dgid.raw, mod->remote_ip, sizeof(mod->remote_ip));
	/* In the shared adapter, paths within the host may have another address of 127.0.0.0/8. */
	av->grh.sgid_index = index > 0 ? (uint8_t)index : 0;
	av->grh.flow_label = mod->flow_label;
	av->grh.hop_limit = mod->hop_limit;
	av->grh.traffic_class = mod->traffic_class;
	av->is_global = 1;
	av->port_num = VERBS_PORT;
}

int
ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	struct roce_qp_mod mod;

	if (verbs_is_forked())
		return ENODEV;
	roce_qp_query(own->roce, &mod);
	qp->state = (enum ibv_qp_state)mod.state;
	*attr = (struct ibv_qp_attr){
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.rq_psn = mod.rq_psn,
		.sq_psn = mod.sq_psn,
		.dest_qp_num = mod.dest_qpn,
		.qp_access_flags = mod.access,
		.cap = own->cap,
		.max_rd_atomic = mod.max_rd_atomic,
		.max_dest_rd_atomic = mod.max_dest_rd_atomic,
		.min_rnr_timer = mod.min_rnr_timer,
		.port_num = mod.port_num,
		.timeout = mod.timeout,
		.retry_cnt = mod.retry_cnt,
		.rnr_retry = mod.rnr_retry,
		.sq_draining = mod.sq_draining,
	};
	show_path(attr, &mod);
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = own->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = own->signal_all,
	};
	return 0;
}

/* Bytes of a message may come in any order: packets that were lost are sent again. */
int
ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	return 0;
}
