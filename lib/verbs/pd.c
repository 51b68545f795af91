/* SPDX-License-Identifier: BSD-3-Clause */

/* Protection domains, parent and thread domains, and address handles, of which nothing is made use of yet. */

#include <errno.h>
#include <stdlib.h>

#include "verbs/verbs_front.h"

void
verbs_pd_get(struct ibv_pd *pd)
{
	__atomic_fetch_add(&verbs_pd_of(pd)->users, 1, __ATOMIC_RELAXED);
}

void
verbs_pd_put(struct ibv_pd *pd)
{
	__atomic_fetch_sub(&verbs_pd_of(pd)->users, 1, __ATOMIC_RELAXED);
}

/* A parent domain may have none. */
static void
count_td(struct verbs_td *td, int n)
{
	if (td != NULL)
		__atomic_fetch_add(&td->users, (uint32_t)n, __ATOMIC_RELAXED);
}

static bool
in_use(const uint32_t *users)
{
	return __atomic_load_n(users, __ATOMIC_RELAXED) != 0;
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	struct verbs_pd *pd = calloc(1, sizeof(*pd));
	int rc;

	if (pd == NULL)
		return verbs_fail(-ENOMEM);
	if (verbs_is_forked())
		rc = -ENODEV;
	else
		rc = roce_pd_create(verbs_ctx_of(context)->roce, &pd->roce);
	if (rc != 0) {
		free(pd);
		return verbs_fail(rc);
	}
	pd->ibv.context = context;
	verbs_obj_add(context, &pd->obj, VERBS_KIND_PD);
	return &pd->ibv;
}

/** A parent domain with its thread domain. */
struct parent {
	struct verbs_pd pd; /**< must be first */
	struct verbs_td *td;
};

int
ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct verbs_pd *own = verbs_pd_of(pd);
	int rc = 0;

	if (in_use(&own->users))
		return EBUSY;
	if (own->of != NULL) {
		struct parent *parent = (struct parent *)own;

		verbs_pd_put(&own->of->ibv);
		count_td(parent->td, -1);
	} else if (!verbs_is_forked()) {
		rc = roce_pd_destroy(own->roce);
	}
	if (rc == 0) {
		verbs_obj_remove(pd->context, &own->obj);
		free(own);
	}
	return verbs_errno(rc);
}

/* Memory of queues comes from libroce alone: the program's allocators are not called, as any provider may choose. */
struct ibv_pd *
verbs_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	struct parent *parent;

	if (attr->pd == NULL || verbs_pd_of(attr->pd)->of != NULL)
		return verbs_fail(-EINVAL);
	if (attr->comp_mask & ~known)
		return verbs_fail(-EINVAL);
	parent = calloc(1, sizeof(*parent));
	if (parent == NULL)
		return verbs_fail(-ENOMEM);
	parent->pd.ibv.context = context;
	parent->pd.of = verbs_pd_of(attr->pd);
	parent->pd.roce = parent->pd.of->roce;
	parent->td = (struct verbs_td *)(void *)attr->td;
	verbs_pd_get(attr->pd);
	count_td(parent->td, 1);
	verbs_obj_add(context, &parent->pd.obj, VERBS_KIND_PARENT);
	return &parent->pd.ibv;
}

struct ibv_td *
verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct verbs_td *td;

	if (attr->comp_mask != 0)
		return verbs_fail(-EOPNOTSUPP);
	td = calloc(1, sizeof(*td));
	if (td == NULL)
		return verbs_fail(-ENOMEM);
	td->ibv.context = context;
	verbs_obj_add(context, &td->obj, VERBS_KIND_TD);
	return &td->ibv;
}

int
verbs_dealloc_td(struct ibv_td *td)
{
	struct verbs_td *own = (struct verbs_td *)(void *)td;

	if (in_use(&own->users))
		return EBUSY;
	verbs_obj_remove(td->context, &own->obj);
	free(own);
	return 0;
}

struct ibv_ah *
ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct verbs_ah *ah;
	union ibv_gid gid;

	/* There is no address on Ethernet but by a GID. */
	if (attr->port_num != VERBS_PORT || !attr->is_global ||
			!verbs_port_gid(attr->grh.sgid_index, &gid))
		return verbs_fail(-EINVAL);
	ah = calloc(1, sizeof(*ah));
	if (ah == NULL)
		return verbs_fail(-ENOMEM);
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->attr = *attr;
	verbs_pd_get(pd);
	verbs_obj_add(pd->context, &ah->obj, VERBS_KIND_AH);
	return &ah->ibv;
}

int
ibv_destroy_ah(struct ibv_ah *ah)
{
	struct verbs_ah *own = (struct verbs_ah *)(void *)ah;

	verbs_pd_put(own->ibv.pd);
	verbs_obj_remove(ah->context, &own->obj);
	free(own);
	return 0;
}
