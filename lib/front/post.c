/* SPDX-License-Identifier: BSD-3-Clause */

/* The posts of an endpoint: the hot half of the front. */

#include "front/posts.h"

/* A message that is rare, or refused: the reason is the first in the order of the arguments. */
static __rte_noinline DAT_RETURN
post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags)
{
	struct roce_wr wr = { .wr_id = user_cookie.as_64, .opcode = IBV_WR_SEND };

	return post_message(ep_handle, num_segments, local_iov, (unsigned int)completion_flags,
			DAT_INVALID_ARG5, &wr);
}

FRONT_FLAT DAT_RETURN
front_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	unsigned int flags = (unsigned int)completion_flags;

	if (likely(ep != NULL &&
			    is_single(num_segments, local_iov, ep->max_request_iov,
					    ep->max_message) &&
			    (flags & ~(unsigned int)DAT_COMPLETION_SUPPRESS_FLAG) == 0 &&
			    dapl_ep_try_send(ep, single_in(local_iov), user_cookie.as_64,
					    send_flags(flags))))
		return DAT_SUCCESS;
	return post_send(ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}

/**
 * The part that RDMA WRITE and READ have in common: arguments in the order of the call, but for the last.
 * @return DAT_SUCCESS: @p wr is complete but for its segments and flags, and @p length is that of the local segments.
 */
static DAT_RETURN
rdma_in(struct roce_wr *wr, struct roce_sge *sge, const DAT_LMR_TRIPLET *local_iov,
		const DAT_RMR_TRIPLET *remote_iov, uint64_t *length)
{
	if (unlikely(local_iov == NULL && wr->num_sge > 0))
		return bad_arg(DAT_INVALID_ARG3);
	*length = segments_in(sge, local_iov, (DAT_COUNT)wr->num_sge);
	if (unlikely(*length == UINT64_MAX))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(remote_iov == NULL))
		return bad_arg(DAT_INVALID_ARG5);
	wr->remote_addr = remote_iov->target_address;
	wr->rkey = remote_iov->rmr_context;
	return DAT_SUCCESS;
}

DAT_RETURN
front_post_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, const DAT_LMR_TRIPLET *local_iov,
		const DAT_RMR_TRIPLET *remote_iov, unsigned int flags, DAT_RETURN_SUBTYPE flags_arg,
		struct roce_wr *wr)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge[DAPL_MAX_IOV];
	uint64_t length;
	DAT_RETURN rc;

	if (unlikely(ep == NULL))
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (unlikely((unsigned int)num_segments > (unsigned int)ep->attr.max_rdma_write_iov))
		return bad_arg(DAT_INVALID_ARG2);
	wr->num_sge = (uint32_t)num_segments;
	rc = rdma_in(wr, sge, local_iov, remote_iov, &length);
	if (unlikely(rc != DAT_SUCCESS))
		return rc;
	if (unlikely(!flags_ok(ep, flags)))
		return bad_arg(flags_arg);
	wr->flags = send_flags(flags);
	if (unlikely(length > ep->attr.max_rdma_size || length > remote_iov->segment_length))
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	wr->sg = sge;
	rc = front_return(dapl_ep_post_send(ep, wr));
	wr->sg = NULL;
	return rc;
}

/* A WRITE that is rare, or refused: as post_send(). */
static __rte_noinline DAT_RETURN
post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, const DAT_RMR_TRIPLET *remote_iov,
		DAT_COMPLETION_FLAGS completion_flags)
{
	struct roce_wr wr = { .wr_id = user_cookie.as_64, .opcode = IBV_WR_RDMA_WRITE };

	return front_post_write(ep_handle, num_segments, local_iov, remote_iov,
			(unsigned int)completion_flags, DAT_INVALID_ARG6, &wr);
}

FRONT_FLAT DAT_RETURN
front_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	unsigned int flags = (unsigned int)completion_flags;

	if (likely(ep != NULL && remote_iov != NULL &&
			    is_single(num_segments, local_iov,
					    (uint32_t)ep->attr.max_rdma_write_iov,
					    (uint32_t)ep->attr.max_rdma_size) &&
			    local_iov->segment_length <= remote_iov->segment_length &&
			    (flags & ~(unsigned int)DAT_COMPLETION_SUPPRESS_FLAG) == 0 &&
			    dapl_ep_try_write(ep, single_in(local_iov), remote_in(remote_iov),
					    user_cookie.as_64, send_flags(flags))))
		return DAT_SUCCESS;
	return post_rdma_write(ep_handle, num_segments, local_iov, user_cookie, remote_iov,
			completion_flags);
}

/* So many bytes and not more: the rest of the segments stays as it is. @return segments that are left. */
static uint32_t
cut_segments(struct roce_sge *sge, uint32_t n, uint64_t length)
{
	uint32_t used = 0;

	for (; used < n && length > 0; used++) {
		sge[used].length = (uint32_t)RTE_MIN((uint64_t)sge[used].length, length);
		length -= sge[used].length;
	}
	return used;
}

/* A READ that is rare, or refused: as post_send(). */
static __rte_noinline DAT_RETURN
post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, const DAT_RMR_TRIPLET *remote_iov,
		DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge[DAPL_MAX_IOV];
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.num_sge = (uint32_t)num_segments,
		.opcode = IBV_WR_RDMA_READ,
	};
	uint64_t length;
	DAT_RETURN rc;

	if (unlikely(ep == NULL))
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (unlikely((unsigned int)num_segments > (unsigned int)ep->attr.max_rdma_read_iov))
		return bad_arg(DAT_INVALID_ARG2);
	rc = rdma_in(&wr, sge, local_iov, remote_iov, &length);
	if (unlikely(rc != DAT_SUCCESS))
		return rc;
	if (unlikely(!flags_ok(ep, (unsigned int)completion_flags)))
		return bad_arg(DAT_INVALID_ARG6);
	wr.flags = send_flags((unsigned int)completion_flags);
	/* The remote segment says how much is read; there must be room for it. */
	if (unlikely(remote_iov->segment_length > length ||
			    remote_iov->segment_length > ep->attr.max_rdma_size))
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	wr.sg = sge;
	wr.num_sge = cut_segments(sge, wr.num_sge, remote_iov->segment_length);
	return front_return(dapl_ep_post_send(ep, &wr));
}

/* The bytes of the only segment that are read into: the remote segment says how many. */
static inline struct roce_sge
single_read_in(const DAT_LMR_TRIPLET *local_iov, const DAT_RMR_TRIPLET *remote_iov)
{
	struct roce_sge sge = single_in(local_iov);

	sge.length = (uint32_t)remote_iov->segment_length;
	return sge;
}

FRONT_FLAT DAT_RETURN
front_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, const DAT_RMR_TRIPLET *remote_iov,
		DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	unsigned int flags = (unsigned int)completion_flags;

	/* A READ of nothing is one of no segments. */
	if (likely(ep != NULL && remote_iov != NULL &&
			    is_single(num_segments, local_iov, (uint32_t)ep->attr.max_rdma_read_iov,
					    (uint32_t)ep->attr.max_rdma_size) &&
			    remote_iov->segment_length <= local_iov->segment_length &&
			    remote_iov->segment_length > 0 &&
			    (flags & ~(unsigned int)DAT_COMPLETION_SUPPRESS_FLAG) == 0 &&
			    dapl_ep_try_read(ep, single_read_in(local_iov, remote_iov),
					    remote_in(remote_iov), user_cookie.as_64,
					    send_flags(flags))))
		return DAT_SUCCESS;
	return post_rdma_read(ep_handle, num_segments, local_iov, user_cookie, remote_iov,
			completion_flags);
}

/* A receive that is rare, or refused: as post_send(). */
static __rte_noinline DAT_RETURN
post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
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
	if (unlikely(completion_flags != DAT_COMPLETION_DEFAULT_FLAG) &&
			!(ep->unsignalled_recvs &&
					completion_flags == DAT_COMPLETION_UNSIGNALLED_FLAG))
		return bad_arg(DAT_INVALID_ARG5);
	wr = (struct roce_recv_wr){
		.wr_id = user_cookie.as_64,
		.sg = sge,
		.num_sge = (uint32_t)num_segments,
		.flags = completion_flags != DAT_COMPLETION_DEFAULT_FLAG ? ROCE_WR_QUIET : 0,
	};
	return front_return(dapl_ep_post_recv(ep, &wr));
}

FRONT_FLAT DAT_RETURN
front_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (likely(ep != NULL && is_single(num_segments, local_iov, ep->max_recv_iov, UINT32_MAX) &&
			    completion_flags == DAT_COMPLETION_DEFAULT_FLAG &&
			    dapl_ep_try_recv(ep, single_in(local_iov), user_cookie.as_64)))
		return DAT_SUCCESS;
	return post_recv(ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}
