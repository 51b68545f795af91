/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory regions. */

#include <errno.h>
#include <stdlib.h>

#include "verbs/verbs_front.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define REMOTE_CHANGES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define OFFERED \
	(IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND)
#define NOT_OFFERED (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND)
#define IGNORED     (IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_HUGETLB)

static_assert((int)ROCE_ACCESS_LOCAL_WRITE == (int)IBV_ACCESS_LOCAL_WRITE &&
				(int)ROCE_ACCESS_REMOTE_WRITE == (int)IBV_ACCESS_REMOTE_WRITE &&
				(int)ROCE_ACCESS_REMOTE_READ == (int)IBV_ACCESS_REMOTE_READ &&
				(int)ROCE_ACCESS_REMOTE_ATOMIC == (int)IBV_ACCESS_REMOTE_ATOMIC,
		"rights have the numbers of verbs");

static int
judge_access(unsigned int access)
{
	access &= ~(unsigned int)IGNORED;
	if (access & ~(unsigned int)(OFFERED | NOT_OFFERED))
		return -EINVAL;
	if (access & NOT_OFFERED)
		return -EOPNOTSUPP;
	if ((access & REMOTE_CHANGES) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/* Without IBV_ACCESS_MW_BIND, which is the front's to judge, and what is ignored. */
static unsigned int
roce_access_of(unsigned int access)
{
	return (access & (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES | IBV_ACCESS_REMOTE_READ)) |
			ROCE_ACCESS_LOCAL_READ;
}

static struct ibv_mr *
register_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct verbs_mr *mr;
	int rc = judge_access(access);

	if (rc == 0 && verbs_is_forked())
		rc = -ENODEV;
	if (rc != 0)
		return verbs_fail(rc);
	mr = calloc(1, sizeof(*mr));
	if (mr == NULL)
		return verbs_fail(-ENOMEM);
	mr->binds = (access & IBV_ACCESS_MW_BIND) != 0;
	rc = roce_mr_create_iova(verbs_pd_of(pd)->roce, (uintptr_t)addr, length, iova,
			roce_access_of(access), &mr->roce);
	if (rc != 0) {
		free(mr);
		return verbs_fail(rc);
	}
	mr->ibv = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.lkey = roce_mr_key(mr->roce),
		.rkey = roce_mr_key(mr->roce),
	};
	verbs_pd_get(pd);
	verbs_obj_add(pd->context, &mr->obj, VERBS_KIND_MR);
	return &mr->ibv;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return register_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *
ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return register_mr(pd, addr, length, iova, (unsigned int)access);
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	return register_mr(pd, addr, length, iova, access);
}

#define REREG_FLAGS (unsigned int)IBV_REREG_MR_FLAGS_SUPPORTED

static_assert((int)ROCE_MR_MOD_TRANSLATION == (int)IBV_REREG_MR_CHANGE_TRANSLATION &&
				(int)ROCE_MR_MOD_PD == (int)IBV_REREG_MR_CHANGE_PD &&
				(int)ROCE_MR_MOD_ACCESS == (int)IBV_REREG_MR_CHANGE_ACCESS,
		"changes have the numbers of verbs");

static int
judge_rereg(const struct ibv_mr *mr, unsigned int flags, const struct ibv_pd *pd,
		unsigned int access)
{
	if (verbs_is_forked())
		return -ENODEV;
	if (flags == 0 || (flags & ~REREG_FLAGS))
		return -EINVAL;
	if ((flags & IBV_REREG_MR_CHANGE_PD) && (pd == NULL || pd->context != mr->context))
		return -EINVAL;
	return flags & IBV_REREG_MR_CHANGE_ACCESS ? judge_access(access) : 0;
}

/* The members that the program sees, and what the front knows of the region. */
static void
show_rereg(struct verbs_mr *mr, unsigned int flags, const struct roce_mr_mod *mod,
		struct ibv_pd *pd, unsigned int access)
{
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->ibv.addr = (void *)(uintptr_t)mod->addr;
		mr->ibv.length = mod->length;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		verbs_pd_get(pd);
		verbs_pd_put(mr->ibv.pd);
		mr->ibv.pd = pd;
	}
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		mr->binds = (access & IBV_ACCESS_MW_BIND) != 0;
}

/* Its results are those of enum ibv_rereg_mr_err_code, with errno. After each failure the region is what it was. */
int
ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct verbs_mr *own = (struct verbs_mr *)(void *)mr;
	struct roce_mr_mod mod = {
		.addr = (uintptr_t)addr,
		.length = length,
		.access = roce_access_of((unsigned int)access),
	};
	int rc = judge_rereg(mr, (unsigned int)flags, pd, (unsigned int)access);

	if (rc == 0 && (flags & IBV_REREG_MR_CHANGE_PD))
		mod.pd = verbs_pd_of(pd)->roce;
	if (rc == 0)
		rc = roce_mr_modify(own->roce, &mod, (uint32_t)flags);
	if (rc != 0) {
		(void)verbs_errno(rc);
		return IBV_REREG_MR_ERR_INPUT;
	}
	show_rereg(own, (unsigned int)flags, &mod, pd, (unsigned int)access);
	return 0;
}

int
ibv_dereg_mr(struct ibv_mr *mr)
{
	struct verbs_mr *own = (struct verbs_mr *)(void *)mr;
	int rc = verbs_is_forked() ? 0 : roce_mr_destroy(own->roce);

	if (rc == 0) {
		verbs_obj_remove(mr->context, &own->obj);
		verbs_pd_put(mr->pd);
		free(own);
	}
	return verbs_errno(rc);
}
