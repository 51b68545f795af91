/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_EXTENSION_H
#define FRONT_EXTENSION_H

/**
 * @file
 * Posts of operations that the table of calls does not have. Their results, and the order in which they validate, stand in
 * the manual of the calls of the same name: dat_ib_post_fetch_and_add(3), dat_ib_post_send_immed(3).
 */

#include "front/abi.h"

DAT_RETURN front_ib_post_cmp_and_swap(DAT_EP_HANDLE ep_handle, DAT_UINT64 cmp_value,
		DAT_UINT64 swap_value, DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_COMPLETION_FLAGS completion_flags);

DAT_RETURN front_ib_post_fetch_and_add(DAT_EP_HANDLE ep_handle, DAT_UINT64 add_value,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_COMPLETION_FLAGS completion_flags);

DAT_RETURN front_ib_post_rdma_write_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		const DAT_RMR_TRIPLET *remote_iov, DAT_UINT32 immed_data,
		DAT_COMPLETION_FLAGS completion_flags);

DAT_RETURN front_ib_post_send_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie, DAT_UINT32 immed_data,
		DAT_COMPLETION_FLAGS completion_flags);

DAT_RETURN front_ib_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		DAT_COMPLETION_FLAGS completion_flags, DAT_BOOLEAN invalidate_flag,
		DAT_RMR_CONTEXT rmr_context);

#endif
