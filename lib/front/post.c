/* SPDX-License-Identifier: BSD-3-Clause */

/* The posts of an endpoint: the hot half of the front. */

#include "front/abi.h"

#define SEND_FLAGS                                                                          \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
			DAT_COMPLETION_BARRIER_FENCE_FLAG))

/* The engine's flags say who makes an event, DAT's who does not. */
static inline uint8_t
send_flags(unsigned int flags)
{
	uint8_t wr = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0 ? 0 : ROCE_WR_SIGNALED;

	if ((flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG) != 0)
		wr |= ROCE_WR_SOLICITED;
	if ((flags & DAT_COMPLETION_BARRIER_FENCE_FLAG) != 0)
		wr |= ROCE_WR_FENCE;
	return wr;
}

DAT_RETURN
FRONT(ep_post_send)
(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge[DAPL_MAX_IOV];
	struct roce_wr wr;

	if (unlikely(ep == NULL))
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (unlikely((unsigned int)num_segments > ep->max_request_iov))
		return bad_arg(DAT_INVALID_ARG2);
	if (unlikely(local_iov == NULL && num_segments > 0))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(segments_in(sge, local_iov, num_segments) > ep->max_message))
		return bad_arg(DAT_INVALID_ARG3);
	/* Unsignalled only on an endpoint made so, and there is none. */
	if (unlikely(((unsigned int)completion_flags & ~SEND_FLAGS) != 0))
		return bad_arg(DAT_INVALID_ARG5);
	wr = (struct roce_wr){
		.wr_id = user_cookie.as_64,
		.sg = sge,
		.num_sge = (uint32_t)num_segments,
		.opcode = IBV_WR_SEND,
		.flags = send_flags((unsigned int)completion_flags),
	};
	return front_return(dapl_ep_post_send(ep, &wr));
}

DAT_RETURN
FRONT(ep_post_recv)
(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge[DAPL_MAX_IOV];
	struct roce_recv_wr wr;

	if (unlikely(ep == NULL))
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (unlikely((unsigned int)num_segments > ep->max_recv_iov))
		return bad_arg(DAT_INVALID_ARG2);
	if (unlikely(local_iov == NULL && num_segments > 0))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(segments_in(sge, local_iov, num_segments) == UINT64_MAX))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(completion_flags != DAT_COMPLETION_DEFAULT_FLAG))
		return bad_arg(DAT_INVALID_ARG5);
	wr = (struct roce_recv_wr){
		.wr_id = user_cookie.as_64,
		.sg = sge,
		.num_sge = (uint32_t)num_segments,
	};
	return front_return(dapl_ep_post_recv(ep, &wr));
}
