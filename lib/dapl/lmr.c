/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "dapl/lmr.h"
#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/shared.h"
#include "dapl/status.h"
#include "engine/verbs.h"

#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static enum dapl_status
register_memory(struct dapl_lmr *l)
{
	int rc = roce_mr_create(l->pz->pd, l->addr, l->length, l->access, &l->mr);

	if (rc != 0)
		return rc == -EINVAL ? DAPL_BAD_REGION : DAPL_NO_MEMORY;
	return DAPL_OK;
}

/* Name first: who asks for memory that is not shared gets no entry in any table. */
static enum dapl_status
register_shared(struct dapl_lmr *l, const void *cookie)
{
	enum dapl_status status;

	if (!dapl_shared_find_backing(l->addr, l->length, &l->shared.backing))
		return DAPL_NOT_SHARED;
	l->shared.length = l->length;
	memcpy(l->shared.cookie, cookie, sizeof(l->shared.cookie));
	if (!dapl_shared_add(&l->shared))
		return DAPL_BAD_COOKIE;
	status = register_memory(l);
	if (status != DAPL_OK)
		dapl_shared_remove(&l->shared);
	return status;
}

enum dapl_status
dapl_lmr_create(struct dapl_pz *pz, const struct dapl_lmr_create *create, struct dapl_lmr **lmr)
{
	struct dapl_lmr *l = dapl_obj_alloc(sizeof(*l), pz->head.ia);
	enum dapl_status status;

	if (l == NULL)
		return DAPL_NO_MEMORY;
	l->type = create->type;
	l->of = create->of;
	l->pz = pz;
	l->addr = create->of != NULL ? create->of->addr : create->addr;
	l->length = create->of != NULL ? create->of->length : create->length;
	l->access = create->access;
	l->priv = create->priv;
	if (l->type == DAPL_LMR_SHARED)
		status = register_shared(l, create->cookie);
	else
		status = register_memory(l);
	if (status != DAPL_OK) {
		dapl_obj_free(l);
		return status;
	}
	l->key = roce_mr_key(l->mr);
	l->peer_key = (create->access & REMOTE_ACCESS) != 0 ? l->key : 0;
	dapl_obj_publish(l, DAPL_LMR);
	*lmr = l;
	return DAPL_OK;
}

enum dapl_status
dapl_lmr_free(struct dapl_lmr *lmr)
{
	/* Refused while it counts windows; the handle is good until then. */
	if (roce_mr_destroy(lmr->mr) != 0)
		return DAPL_LMR_IN_USE;
	if (lmr->type == DAPL_LMR_SHARED)
		dapl_shared_remove(&lmr->shared);
	dapl_obj_retire(lmr);
	dapl_obj_free(lmr);
	return DAPL_OK;
}
