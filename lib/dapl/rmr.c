/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/ep.h"
#include "dapl/ep_post.h"
#include "dapl/ep_state.h"
#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/rmr.h"
#include "dapl/status.h"
#include "engine/verbs.h"

enum dapl_status
dapl_rmr_create(struct dapl_pz *pz, struct dapl_rmr **rmr)
{
	struct dapl_rmr *r = dapl_obj_alloc(sizeof(*r), pz->head.ia);

	if (r == NULL)
		return DAPL_NO_MEMORY;
	if (roce_mw_create(pz->pd, r, &r->mw) != 0) {
		dapl_obj_free(r);
		return DAPL_NO_MEMORY;
	}
	r->pz = pz;
	dapl_obj_publish(r, DAPL_RMR);
	*rmr = r;
	return DAPL_OK;
}

enum dapl_status
dapl_rmr_free(struct dapl_rmr *rmr)
{
	dapl_obj_retire(rmr);
	roce_mw_destroy(rmr->mw);
	dapl_obj_free(rmr);
	return DAPL_OK;
}

static enum dapl_status
bind_error(int rc)
{
	return rc == -ENOENT || rc == -ERANGE ? DAPL_BAD_TRIPLET : dapl_post_error(rc);
}

enum dapl_status
dapl_rmr_bind(struct dapl_rmr *rmr, struct dapl_ep *ep, const struct roce_wr *wr)
{
	uint8_t state = __atomic_load_n(&ep->state, __ATOMIC_RELAXED);
	int rc;

	wr->bind->mw = rmr->mw;
	rc = roce_mw_judge(ep->qp, wr->bind);
	if (rc != 0)
		return bind_error(rc);
	if (state != DAPL_EP_STATE_CONNECTED && state != DAPL_EP_STATE_DISCONNECTED)
		return dapl_ep_state_error(state);
	rc = roce_qp_post_send(ep->qp, wr);
	if (rc != 0)
		return bind_error(rc);
	dapl_ep_posted(ep);
	return DAPL_OK;
}
