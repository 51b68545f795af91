/* SPDX-License-Identifier: BSD-3-Clause */

/* Queue pairs of ids, and queues that are made for those that bring none. */

#include <errno.h>

#include <rdma/rdma_verbs.h>

#include "verbs/rdmacm/cma.h"

#define REMOTE                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_ATOMIC)

static void
destroy_cqs(struct cma_id *id)
{
	struct rdma_cm_id *rdma = &id->rdma;

	if (!id->made_cqs)
		return;
	if (rdma->send_cq != NULL)
		(void)ibv_destroy_cq(rdma->send_cq);
	if (rdma->recv_cq != NULL)
		(void)ibv_destroy_cq(rdma->recv_cq);
	if (rdma->send_cq_channel != NULL)
		(void)ibv_destroy_comp_channel(rdma->send_cq_channel);
	if (rdma->recv_cq_channel != NULL)
		(void)ibv_destroy_comp_channel(rdma->recv_cq_channel);
	rdma->send_cq = rdma->recv_cq = NULL;
	rdma->send_cq_channel = rdma->recv_cq_channel = NULL;
	id->made_cqs = false;
}

static struct ibv_cq *
make_cq(struct rdma_cm_id *id, uint32_t depth, struct ibv_comp_channel **channel)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (*channel == NULL)
		return NULL;
	return ibv_create_cq(id->verbs, depth == 0 ? 1 : (int)depth, id, *channel, 0);
}

/* Queues with channels for what the program brings none for. They stand in the id, where inline calls look for them. */
static int
make_cqs(struct cma_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct rdma_cm_id *rdma = &id->rdma;

	id->made_cqs = true;
	if (attr->recv_cq == NULL) {
		rdma->recv_cq = make_cq(rdma, attr->cap.max_recv_wr, &rdma->recv_cq_channel);
		attr->recv_cq = rdma->recv_cq;
	}
	if (attr->send_cq == NULL) {
		rdma->send_cq = make_cq(rdma, attr->cap.max_send_wr, &rdma->send_cq_channel);
		attr->send_cq = rdma->send_cq;
	}
	return attr->recv_cq != NULL && attr->send_cq != NULL ? 0 : -1;
}

/* Receives may be posted from now on. */
static int
initialise(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = REMOTE
	};
	int rc = ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	return rc == 0 ? 0 : cma_refuse(rc);
}

static struct ibv_qp *
create(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = ibv_create_qp_ex(id->verbs, attr);

	if (qp == NULL || initialise(qp) == 0)
		return qp;
	(void)ibv_destroy_qp(qp);
	return NULL;
}

int
rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct cma_id *own = cma_id_of(id);
	struct ibv_cq *given_send = attr->send_cq, *given_recv = attr->recv_cq;
	int error;

	if (id->qp != NULL || id->verbs == NULL)
		return cma_refuse(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd == NULL) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd != NULL ? id->pd : cma_pd();
		if (attr->pd == NULL)
			return -1;
	}
	if (attr->pd->context != id->verbs)
		return cma_refuse(EINVAL);
	if (attr->srq == NULL)
		attr->srq = id->srq;
	id->qp = make_cqs(own, attr) == 0 ? create(id, attr) : NULL;
	attr->send_cq = given_send;
	attr->recv_cq = given_recv;
	if (id->qp == NULL) {
		error = errno;
		destroy_cqs(own);
		return cma_refuse(error);
	}
	id->pd = attr->pd;
	return 0;
}

int
rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = verbs_attr_ex_of(qp_init_attr, pd);
	int rc = rdma_create_qp_ex(id, &attr);

	if (rc == 0)
		qp_init_attr->cap = attr.cap;
	return rc;
}

/* The connection ends with it; a program that disconnects behind that is told of the end all the same. */
static void
end_connection(struct cma_id *id)
{
	if (id->rdma.qp == &id->led->ibv)
		id->rdma.qp = NULL;
	cma_qp_let_go(id);
	roce_cm_id_destroy(id->roce);
	id->roce = NULL;
	if (id->leaving && id->connected) {
		id->connected = false;
		(void)cma_push(id, CMA_SLOT_DOWN, RDMA_CM_EVENT_DISCONNECTED, 0);
	}
}

static void
leave(struct verbs_qp *qp)
{
	pthread_mutex_lock(&cma_lock);
	if (qp->led_by != NULL)
		end_connection(qp->led_by);
	pthread_mutex_unlock(&cma_lock);
}

void
cma_qp_lead(struct cma_id *id)
{
	struct verbs_qp *qp = (struct verbs_qp *)(void *)id->rdma.qp;

	cma_qp_let_go(id);
	/* Another id has had it. */
	if (qp->led_by != NULL)
		cma_qp_let_go(qp->led_by);
	id->led = qp;
	qp->led_by = id;
	__atomic_store_n(&qp->leave, leave, __ATOMIC_RELEASE);
}

void
rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct ibv_qp *qp = id->qp;

	if (qp == NULL)
		return;
	(void)ibv_destroy_qp(qp);
	id->qp = NULL;
	destroy_cqs(cma_id_of(id));
}

int
rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	if (id->srq != NULL || id->verbs == NULL)
		return cma_refuse(EINVAL);
	if (pd == NULL)
		pd = id->pd != NULL ? id->pd : cma_pd();
	if (pd == NULL)
		return -1;
	id->srq = ibv_create_srq(pd, attr);
	if (id->srq == NULL)
		return -1;
	id->pd = pd;
	return 0;
}

void
rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id->srq != NULL)
		(void)ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
