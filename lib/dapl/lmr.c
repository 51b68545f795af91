/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/dapl.h"

#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum dapl_status
dapl_lmr_create(struct dapl_pz *pz, const struct dapl_lmr_create *create, struct dapl_lmr **lmr)
{
	struct dapl_lmr *l = dapl_obj_alloc(sizeof(*l), pz->head.ia);
	int rc;

	if (l == NULL)
		return DAPL_NO_MEMORY;
	rc = roce_mr_create(pz->pd, create->addr, create->length, create->access, &l->mr);
	if (rc != 0) {
		dapl_obj_free(l);
		return rc == -EINVAL ? DAPL_BAD_REGION : DAPL_NO_MEMORY;
	}
	l->pz = pz;
	l->addr = create->addr;
	l->length = create->length;
	l->access = create->access;
	l->priv = create->priv;
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
	dapl_obj_retire(lmr);
	dapl_obj_free(lmr);
	return DAPL_OK;
}
