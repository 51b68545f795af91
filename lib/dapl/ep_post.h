/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EP_POST_H
#define DAPL_EP_POST_H

/**
 * @file
 * Posts to an endpoint. Lean, and so are the calls behind them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "dapl/ep.h"
#include "dapl/status.h"
#include "engine/verbs.h"

/** End with a flush what was posted to an endpoint that is disconnected. Any thread, without a lock. */
void dapl_ep_flush(struct dapl_ep *ep);

/**
 * Behind a post: on an endpoint that is disconnected, or became so meanwhile, its flushed completion is on the dispatcher when
 * the post returns, whichever thread polls. So it is there before the connection event that is taken after the post.
 * The state is stored before the queue pair is flushed, and looked at behind the post: one of the two sees the other.
 */
static inline void
dapl_ep_posted(struct dapl_ep *ep)
{
	if (unlikely(__atomic_load_n(&ep->state, __ATOMIC_RELAXED) == DAPL_EP_STATE_DISCONNECTED))
		dapl_ep_flush(ep);
}

/** Post to the send queue, whatever the operation; lean. @return DAPL_OK; the state that forbids it; as dapl_post_error(). */
enum dapl_status dapl_ep_post_send(struct dapl_ep *ep, const struct roce_wr *wr);
/** A message of one segment, when nothing is in its way. @return false: nothing was done; dapl_ep_post_send() says why, or does it. */
static inline bool
dapl_ep_try_send(struct dapl_ep *ep, struct roce_sge sge, uint64_t wr_id, uint8_t flags)
{
	if (unlikely(__atomic_load_n(&ep->state, __ATOMIC_RELAXED) != DAPL_EP_STATE_CONNECTED) ||
			unlikely(!roce_qp_try_send(ep->qp, sge, wr_id, flags)))
		return false;
	dapl_ep_posted(ep);
	return true;
}
/** The same for an RDMA WRITE. @param remote  as in roce_qp_try_write(). */
static inline bool
dapl_ep_try_write(struct dapl_ep *ep, struct roce_sge sge, struct roce_sge remote, uint64_t wr_id,
		uint8_t flags)
{
	if (unlikely(__atomic_load_n(&ep->state, __ATOMIC_RELAXED) != DAPL_EP_STATE_CONNECTED) ||
			unlikely(!roce_qp_try_write(ep->qp, sge, remote, wr_id, flags)))
		return false;
	dapl_ep_posted(ep);
	return true;
}
/** The same for an RDMA READ. */
static inline bool
dapl_ep_try_read(struct dapl_ep *ep, struct roce_sge sge, struct roce_sge remote, uint64_t wr_id,
		uint8_t flags)
{
	if (unlikely(__atomic_load_n(&ep->state, __ATOMIC_RELAXED) != DAPL_EP_STATE_CONNECTED) ||
			unlikely(!roce_qp_try_read(ep->qp, sge, remote, wr_id, flags)))
		return false;
	dapl_ep_posted(ep);
	return true;
}
/** A receive of one segment to its own queue, when nothing is in its way. @return false: as above, dapl_ep_post_recv(). */
static inline bool
dapl_ep_try_recv(struct dapl_ep *ep, struct roce_sge sge, uint64_t wr_id)
{
	if (unlikely(ep->has_watermark) || unlikely(!roce_qp_try_recv(ep->qp, sge, wr_id)))
		return false;
	dapl_ep_posted(ep);
	return true;
}
/** Post to the endpoint's own receive queue, in any state. @return DAPL_OK; DAPL_SRQ_IN_USE; as dapl_post_error(). */
enum dapl_status dapl_ep_post_recv(struct dapl_ep *ep, const struct roce_recv_wr *wr);

#endif
