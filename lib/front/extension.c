/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Posts that DAT 1.2 does not have: atomic operations, immediate data, and SEND with invalidate.
 *
 * Immediate data are four bytes that nobody turns round, as those of verbs are: OFED's provider hands them on so, and
 * a peer over it must see the number that was posted here.
 */

#include "front/extension.h"
#include "front/posts.h"

/** Arguments that both calls have in common; those before them move the numbers on. */
struct atomic {
	DAT_LMR_TRIPLET *local_iov;
	const DAT_RMR_TRIPLET *remote_iov;
	unsigned int flags;
	DAT_RETURN_SUBTYPE
	local_arg; /**< number of local_iov; that of remote_iov is two more, of the flags three */
};

static DAT_RETURN
argument(const struct atomic *a, unsigned int behind)
{
	return bad_arg((DAT_RETURN_SUBTYPE)((unsigned int)a->local_arg + behind));
}

static DAT_RETURN
post_atomic(DAT_EP_HANDLE ep_handle, struct roce_wr *wr, const struct atomic *a)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_sge sge;
	DAT_RETURN rc;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (a->local_iov == NULL)
		return argument(a, 0);
	if (a->remote_iov == NULL || a->remote_iov->target_address % sizeof(uint64_t) != 0)
		return argument(a, 2);
	if (!flags_ok(ep, a->flags))
		return argument(a, 3);
	if (!dapl_ep_has_atomics(ep))
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (a->local_iov->segment_length != sizeof(uint64_t) ||
			a->remote_iov->segment_length != sizeof(uint64_t))
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	(void)segments_in(&sge, a->local_iov, 1);
	wr->sg = &sge;
	wr->num_sge = 1;
	wr->flags = send_flags(a->flags);
	wr->remote_addr = a->remote_iov->target_address;
	wr->rkey = a->remote_iov->rmr_context;
	rc = front_return(dapl_ep_post_send(ep, wr));
	wr->sg = NULL;
	return rc;
}

DAT_RETURN
front_ib_post_cmp_and_swap(DAT_EP_HANDLE ep_handle, DAT_UINT64 cmp_value, DAT_UINT64 swap_value,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_COMPLETION_FLAGS flags)
{
	const struct atomic a = { local_iov, remote_iov, (unsigned int)flags, DAT_INVALID_ARG4 };
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.compare_add = cmp_value,
		.swap = swap_value,
	};

	return post_atomic(ep_handle, &wr, &a);
}

DAT_RETURN
front_ib_post_fetch_and_add(DAT_EP_HANDLE ep_handle, DAT_UINT64 add_value,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_COMPLETION_FLAGS flags)
{
	const struct atomic a = { local_iov, remote_iov, (unsigned int)flags, DAT_INVALID_ARG3 };
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add = add_value,
	};

	return post_atomic(ep_handle, &wr, &a);
}

DAT_RETURN
front_ib_post_rdma_write_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_UINT32 immed_data,
		DAT_COMPLETION_FLAGS completion_flags)
{
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = immed_data,
	};

	return front_post_write(ep_handle, num_segments, local_iov, remote_iov,
			(unsigned int)completion_flags, DAT_INVALID_ARG7, &wr);
}

DAT_RETURN
front_ib_post_send_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie, DAT_UINT32 immed_data,
		DAT_COMPLETION_FLAGS completion_flags)
{
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm = immed_data,
	};

	return post_message(ep_handle, num_segments, local_iov, (unsigned int)completion_flags,
			DAT_INVALID_ARG6, &wr);
}

DAT_RETURN
front_ib_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		DAT_COMPLETION_FLAGS completion_flags, DAT_BOOLEAN invalidate_flag,
		DAT_RMR_CONTEXT rmr_context)
{
	struct roce_wr wr = {
		.wr_id = user_cookie.as_64,
		.opcode = IBV_WR_SEND,
	};

	if (invalidate_flag != DAT_FALSE) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.imm = rte_cpu_to_be_32(rmr_context);
	}
	return post_message(ep_handle, num_segments, local_iov, (unsigned int)completion_flags,
			DAT_INVALID_ARG5, &wr);
}
