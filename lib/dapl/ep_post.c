/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ep.h"
#include "dapl/ep_post.h"
#include "dapl/ep_state.h"
#include "dapl/status.h"
#include "engine/verbs.h"

void
dapl_ep_flush(struct dapl_ep *ep)
{
	dapl_ep_lock(ep);
	/* It may have been reset meanwhile. */
	if (ep->state == DAPL_EP_STATE_DISCONNECTED)
		roce_qp_to_error(ep->qp);
	dapl_ep_unlock(ep);
}

enum dapl_status
dapl_ep_post_send(struct dapl_ep *ep, const struct roce_wr *wr)
{
	uint8_t state = __atomic_load_n(&ep->state, __ATOMIC_RELAXED);
	int rc;

	if (unlikely(state != DAPL_EP_STATE_CONNECTED && state != DAPL_EP_STATE_DISCONNECTED))
		return dapl_ep_state_error(state);
	rc = roce_qp_post_send(ep->qp, wr);
	if (unlikely(rc != 0))
		return dapl_post_error(rc);
	dapl_ep_posted(ep);
	return DAPL_OK;
}

enum dapl_status
dapl_ep_post_recv(struct dapl_ep *ep, const struct roce_recv_wr *wr)
{
	int rc;

	if (unlikely(ep->has_srq))
		return DAPL_SRQ_IN_USE;
	rc = roce_qp_post_recv(ep->qp, wr);
	if (unlikely(rc != 0))
		return dapl_post_error(rc);
	if (unlikely(ep->has_watermark)) {
		dapl_ep_lock(ep);
		roce_qp_check_high(ep->qp);
		dapl_ep_unlock(ep);
	}
	dapl_ep_posted(ep);
	return DAPL_OK;
}
