/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_POSTS_H
#define FRONT_POSTS_H

/** @file What posts of several operations validate alike: segments, limits, completion flags. */

#include "dapl/ep.h"
#include "dapl/ep_post.h"
#include "dapl/ia_limits.h"
#include "front/abi.h"

#define SEND_FLAGS                                                                          \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
			DAT_COMPLETION_BARRIER_FENCE_FLAG))

/* The engine's flags say who makes an event, DAT's who does not. */
static inline uint8_t
send_flags(unsigned int flags)
{
	uint8_t wr = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0 ? 0 : ROCE_WR_SIGNALED;

	if (likely((flags & ~(unsigned int)DAT_COMPLETION_SUPPRESS_FLAG) == 0))
		return wr;
	if ((flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG) != 0)
		wr |= ROCE_WR_SOLICITED;
	if ((flags & DAT_COMPLETION_BARRIER_FENCE_FLAG) != 0)
		wr |= ROCE_WR_FENCE;
	if ((flags & DAT_COMPLETION_UNSIGNALLED_FLAG) != 0)
		wr |= ROCE_WR_QUIET;
	return wr;
}

/* Flags that need a second look: unsignalled is for an endpoint whose requests were made so. */
static inline bool
rare_flags_ok(const struct dapl_ep *ep, unsigned int flags)
{
	return ep->unsignalled_requests &&
			(flags & ~(SEND_FLAGS | DAT_COMPLETION_UNSIGNALLED_FLAG)) == 0;
}

static inline bool
flags_ok(const struct dapl_ep *ep, unsigned int flags)
{
	return likely((flags & ~SEND_FLAGS) == 0) || rare_flags_ok(ep, flags);
}

/**
 * Post a message. @p wr has all that its operation adds, and its context.
 * @param flags_arg number of the argument that @p flags are.
 */
static __rte_always_inline DAT_RETURN
post_message(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, const DAT_LMR_TRIPLET *local_iov,
		unsigned int flags, DAT_RETURN_SUBTYPE flags_arg, struct roce_wr *wr)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge[DAPL_MAX_IOV];
	DAT_RETURN rc;

	if (unlikely(ep == NULL))
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (unlikely((unsigned int)num_segments > ep->max_request_iov))
		return bad_arg(DAT_INVALID_ARG2);
	if (unlikely(local_iov == NULL && num_segments > 0))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(segments_in(sge, local_iov, num_segments) > ep->max_message))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(!flags_ok(ep, flags)))
		return bad_arg(flags_arg);
	wr->sg = sge;
	wr->num_sge = (uint32_t)num_segments;
	wr->flags = send_flags(flags);
	rc = front_return(dapl_ep_post_send(ep, wr));
	wr->sg = NULL;
	return rc;
}

/** The same for an RDMA WRITE, to all of @p remote_iov or to the beginning of it. */
DAT_RETURN front_post_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		const DAT_LMR_TRIPLET *local_iov, const DAT_RMR_TRIPLET *remote_iov,
		unsigned int flags, DAT_RETURN_SUBTYPE flags_arg, struct roce_wr *wr);

#endif
