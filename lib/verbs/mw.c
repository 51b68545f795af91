/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory windows, and what ends them. */

#include <errno.h>
#include <stdlib.h>

#include "verbs/verbs_front.h"

#define RIGHTS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC)

static struct verbs_mw *
mw_of(struct ibv_mw *mw)
{
	return (struct verbs_mw *)(void *)mw;
}

struct ibv_mw *
verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct verbs_mw *mw;
	int rc;

	if (verbs_is_forked())
		return verbs_fail(-ENODEV);
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return verbs_fail(-EINVAL);
	mw = calloc(1, sizeof(*mw));
	if (mw == NULL)
		return verbs_fail(-ENOMEM);
	/* Completions of its binds are the queue pair's, as all others. */
	if (type == IBV_MW_TYPE_1)
		rc = roce_mw_create(verbs_pd_of(pd)->roce, NULL, &mw->roce);
	else
		rc = roce_mw_create_type2(verbs_pd_of(pd)->roce, NULL, &mw->roce);
	if (rc != 0) {
		free(mw);
		return verbs_fail(rc);
	}
	mw->ibv = (struct ibv_mw){
		.context = pd->context, .pd = pd, .rkey = roce_mw_key(mw->roce), .type = type
	};
	verbs_pd_get(pd);
	verbs_obj_add(pd->context, &mw->obj, VERBS_KIND_MW);
	return &mw->ibv;
}

int
verbs_dealloc_mw(struct ibv_mw *mw)
{
	struct verbs_mw *own = mw_of(mw);

	if (!verbs_is_forked())
		roce_mw_destroy(own->roce);
	verbs_obj_remove(mw->context, &own->obj);
	verbs_pd_put(mw->pd);
	free(own);
	return 0;
}

/* The region must say that windows may be bound to it. To nothing a window of type 1 is bound without one. */
static int
judge_bind(const struct ibv_mw_bind_info *info)
{
	if (info->mw_access_flags & ~(unsigned int)RIGHTS)
		return info->mw_access_flags & IBV_ACCESS_ZERO_BASED ? -EOPNOTSUPP : -EINVAL;
	if (info->length == 0)
		return 0;
	if (info->mr == NULL)
		return -EINVAL;
	return ((const struct verbs_mr *)(const void *)info->mr)->binds ? 0 : -EINVAL;
}

int
verbs_bind_of(struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info,
		struct roce_mw_bind *bind)
{
	*bind = (struct roce_mw_bind){
		.mw = mw_of(mw)->roce,
		.mr_key = info->mr != NULL ? info->mr->lkey : 0,
		.access = info->mw_access_flags,
		.addr = info->addr,
		.length = info->length,
		.key = rkey,
	};
	return judge_bind(info);
}

void
verbs_bind_posted(struct ibv_mw *mw, const struct roce_mw_bind *bind)
{
	/* The key of a window of type 2 is the program's to keep, which has chosen it. */
	if (mw->type == IBV_MW_TYPE_1)
		mw->rkey = bind->key;
}

int
verbs_post_bind(struct verbs_qp *qp, struct ibv_mw *mw, uint32_t rkey,
		const struct ibv_mw_bind_info *info, uint64_t wr_id, uint8_t flags)
{
	struct roce_mw_bind bind;
	struct roce_wr wr = {
		.wr_id = wr_id, .bind = &bind, .opcode = ROCE_WR_BIND_MW, .flags = flags
	};
	int rc = verbs_bind_of(mw, rkey, info, &bind);

	if (rc == 0)
		rc = roce_qp_post_send(qp->roce, &wr);
	if (rc == 0)
		verbs_bind_posted(mw, &bind);
	return rc;
}

int
verbs_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	int flags = verbs_wr_flags(own, bind->send_flags);
	int rc;

	if (verbs_is_forked())
		return ENODEV;
	if (flags < 0)
		return EINVAL;
	pthread_mutex_lock(&own->send_lock);
	rc = verbs_post_bind(own, mw, 0, &bind->bind_info, bind->wr_id, (uint8_t)flags);
	pthread_mutex_unlock(&own->send_lock);
	return verbs_errno(rc);
}
