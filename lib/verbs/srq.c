/* SPDX-License-Identifier: BSD-3-Clause */

/* Shared receive queues. */

#include <errno.h>
#include <stdlib.h>

#include "verbs/verbs_front.h"

static struct ibv_srq *
create(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr)
{
	uint32_t max_sge = attr->max_sge == 0 ? 1 : attr->max_sge;
	struct verbs_srq *srq;
	int rc;

	if (attr->max_wr == 0 || attr->max_wr > VERBS_WR_MAX || max_sge > VERBS_SGE_MAX)
		return verbs_fail(-EINVAL);
	if (verbs_is_forked())
		return verbs_fail(-ENODEV);
	srq = calloc(1, sizeof(*srq));
	if (srq == NULL)
		return verbs_fail(-ENOMEM);
	rc = roce_srq_create(verbs_pd_of(pd)->roce, attr->max_wr, max_sge, srq, &srq->roce);
	if (rc != 0) {
		free(srq);
		return verbs_fail(rc);
	}
	srq->max_sge = max_sge;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = srq_context;
	srq->ibv.pd = pd;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	attr->max_sge = max_sge;
	verbs_pd_get(pd);
	verbs_obj_add(pd->context, &srq->obj, VERBS_KIND_SRQ);
	return &srq->ibv;
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr)
{
	return create(pd, srq_init_attr->srq_context, &srq_init_attr->attr);
}

struct ibv_srq *
verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	const uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;

	if ((init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && init->srq_type != IBV_SRQT_BASIC)
		return verbs_fail(-EOPNOTSUPP);
	if (init->comp_mask & ~known)
		return verbs_fail(-EOPNOTSUPP);
	if (!(init->comp_mask & IBV_SRQ_INIT_ATTR_PD) || init->pd == NULL)
		return verbs_fail(-EINVAL);
	return create(init->pd, init->srq_context, &init->attr);
}

int
ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct verbs_srq *own = verbs_srq_of(srq);
	int rc = 0;

	if (verbs_is_forked())
		return ENODEV;
	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR) {
		if (attr->max_wr == 0 || attr->max_wr > VERBS_WR_MAX ||
				((mask & IBV_SRQ_LIMIT) && attr->srq_limit > attr->max_wr))
			return EINVAL;
		rc = roce_srq_resize(own->roce, attr->max_wr);
	}
	if (rc == 0 && (mask & IBV_SRQ_LIMIT)) {
		rc = roce_srq_set_low(own->roce, attr->srq_limit);
		verbs_progress_attend();
	}
	/* More receives are outstanding than it would hold. */
	return rc == -EBUSY ? EINVAL : verbs_errno(rc);
}

int
ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct verbs_srq *own = verbs_srq_of(srq);
	struct roce_srq_counts counts;

	if (verbs_is_forked())
		return ENODEV;
	roce_srq_query(own->roce, &counts);
	*attr = (struct ibv_srq_attr){
		.max_wr = counts.max,
		.max_sge = own->max_sge,
		.srq_limit = counts.armed ? counts.low : 0,
	};
	return 0;
}

int
ibv_destroy_srq(struct ibv_srq *srq)
{
	struct verbs_srq *own = verbs_srq_of(srq);
	struct verbs_async *async[] = { &own->limit };
	int rc = verbs_is_forked() ? 0 : roce_srq_destroy(own->roce);

	if (rc != 0)
		return verbs_errno(rc);
	verbs_obj_remove(srq->context, &own->obj);
	verbs_pd_put(srq->pd);
	verbs_async_forget(verbs_ctx_of(srq->context), async, 1);
	verbs_obj_await_acks(srq->context, &srq->mutex, &srq->cond, &srq->events_completed,
			&own->async_reported);
	pthread_mutex_destroy(&srq->mutex);
	pthread_cond_destroy(&srq->cond);
	free(own);
	return 0;
}
