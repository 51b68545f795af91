/* SPDX-License-Identifier: BSD-3-Clause */

/* Queue pairs of reliable connections: birth and death. Their states are in qp_state.c. */

#include <errno.h>
#include <stdlib.h>

#include "verbs/verbs_front.h"

#define INLINE_MIN \
	64u /**< programs count on some bytes that they did not ask for: adapters have them */

#define KNOWN_MASK \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static int
judge(const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd == NULL)
		return -EINVAL;
	if (attr->qp_type != IBV_QPT_RC || (attr->comp_mask & ~(uint32_t)KNOWN_MASK))
		return -EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags != 0)
		return -EOPNOTSUPP;
	if (attr->send_cq == NULL || attr->recv_cq == NULL)
		return -EINVAL;
	if (cap->max_send_wr > VERBS_WR_MAX || cap->max_send_sge > VERBS_SGE_MAX ||
			cap->max_inline_data > ROCE_INLINE_MAX)
		return -EINVAL;
	if (attr->srq == NULL &&
			(cap->max_recv_wr > VERBS_WR_MAX || cap->max_recv_sge > VERBS_SGE_MAX))
		return -EINVAL;
	return 0;
}

static uint16_t
at_least_one(uint32_t n)
{
	return n == 0 ? 1 : (uint16_t)n;
}

/* A queue pair has the room that was asked for, but at least for one; with a shared queue none for receives. */
static struct ibv_qp_cap
cap_of(const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_cap cap = attr->cap;

	if (cap.max_send_wr == 0)
		cap.max_send_wr = 1;
	cap.max_send_sge = at_least_one(cap.max_send_sge);
	if (cap.max_inline_data < INLINE_MIN)
		cap.max_inline_data = INLINE_MIN;
	if (attr->srq != NULL) {
		cap.max_recv_wr = 0;
		cap.max_recv_sge = 0;
		return cap;
	}
	if (cap.max_recv_wr == 0)
		cap.max_recv_wr = 1;
	cap.max_recv_sge = at_least_one(cap.max_recv_sge);
	return cap;
}

static int
create_below(struct verbs_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	const struct roce_qp_attr below = {
		.pd = verbs_pd_of(attr->pd)->roce,
		.send_cq = verbs_cq_of(attr->send_cq)->roce,
		.recv_cq = verbs_cq_of(attr->recv_cq)->roce,
		.srq = attr->srq != NULL ? verbs_srq_of(attr->srq)->roce : NULL,
		.max_send_wr = qp->cap.max_send_wr,
		.max_recv_wr = qp->cap.max_recv_wr,
		.max_send_sge = (uint16_t)qp->cap.max_send_sge,
		.max_recv_sge = (uint16_t)qp->cap.max_recv_sge,
		.max_inline = (uint16_t)qp->cap.max_inline_data,
		.max_dest_rd_atomic = VERBS_RD_ATOMIC_MAX,
		.atomics = true,
		.owner = qp,
	};

	return roce_qp_create(&below, &qp->roce);
}

static void
fill(struct verbs_qp *qp, struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *ibv = &qp->ibv;

	ibv->context = context;
	ibv->qp_context = attr->qp_context;
	ibv->pd = attr->pd;
	ibv->send_cq = attr->send_cq;
	ibv->recv_cq = attr->recv_cq;
	ibv->srq = attr->srq;
	ibv->qp_num = roce_qp_number(qp->roce);
	ibv->state = IBV_QPS_RESET;
	ibv->qp_type = IBV_QPT_RC;
	pthread_mutex_init(&ibv->mutex, NULL);
	pthread_cond_init(&ibv->cond, NULL);
	pthread_mutex_init(&qp->send_lock, NULL);
	pthread_mutex_init(&qp->recv_lock, NULL);
}

struct ibv_qp *
verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_qp *qp;
	int rc = judge(attr);

	if (rc == 0 && verbs_is_forked())
		rc = -ENODEV;
	if (rc != 0)
		return verbs_fail(rc);
	qp = calloc(1, sizeof(*qp));
	if (qp == NULL)
		return verbs_fail(-ENOMEM);
	qp->cap = cap_of(attr);
	qp->signal_all = attr->sq_sig_all != 0;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		rc = verbs_wr_init(qp, attr->send_ops_flags);
	if (rc == 0)
		rc = create_below(qp, attr);
	if (rc != 0) {
		verbs_wr_fini(qp);
		free(qp);
		return verbs_fail(rc);
	}
	fill(qp, context, attr);
	attr->cap = qp->cap;
	verbs_pd_get(attr->pd);
	verbs_obj_add(context, &qp->obj, VERBS_KIND_QP);
	return &qp->ibv;
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = verbs_attr_ex_of(qp_init_attr, pd);
	struct ibv_qp *qp = verbs_create_qp_ex(pd->context, &attr);

	if (qp != NULL)
		qp_init_attr->cap = attr.cap;
	return qp;
}

/* Its completions go with it: none refers to it any more. */
static int
purge_after(struct verbs_qp *qp)
{
	struct verbs_cq *send_cq = verbs_cq_of(qp->ibv.send_cq),
			*recv_cq = verbs_cq_of(qp->ibv.recv_cq);

	if (verbs_cq_begin_purge(send_cq, recv_cq) != 0)
		return ENOMEM;
	/* Its queues have no user any more when it has ended: the program must not end them meanwhile, and does not. */
	roce_qp_destroy(qp->roce);
	verbs_cq_end_purge(send_cq, recv_cq, qp);
	return 0;
}

int
ibv_destroy_qp(struct ibv_qp *qp)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	struct verbs_async *async[] = { &own->fatal, &own->comm_est, &own->last_wqe,
		&own->sq_drained };
	int rc = 0;

	if (!verbs_is_forked()) {
		void (*leave)(struct verbs_qp *) = __atomic_load_n(&own->leave, __ATOMIC_ACQUIRE);

		if (leave != NULL)
			leave(own);
		rc = purge_after(own);
	}
	if (rc != 0)
		return rc;
	verbs_obj_remove(qp->context, &own->obj);
	verbs_pd_put(qp->pd);
	verbs_async_forget(verbs_ctx_of(qp->context), async, sizeof(async) / sizeof(async[0]));
	verbs_obj_await_acks(qp->context, &qp->mutex, &qp->cond, &qp->events_completed,
			&own->async_reported);
	pthread_mutex_destroy(&qp->mutex);
	pthread_cond_destroy(&qp->cond);
	pthread_mutex_destroy(&own->send_lock);
	pthread_mutex_destroy(&own->recv_lock);
	verbs_wr_fini(own);
	free(own);
	return 0;
}

struct ibv_qp_ex *
ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct verbs_qp *own = verbs_qp_of(qp);

	return own->has_ex ? &own->ex : NULL;
}
