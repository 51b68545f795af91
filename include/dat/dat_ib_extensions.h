/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_IB_EXTENSIONS_H
#define DAT_IB_EXTENSIONS_H

/**
 * @file
 * InfiniBand atomic operations of this Provider, for which DAT 1.2 has no call. Names, arguments and results are
 * those of the IB extensions of DAT 2.0.
 *
 * A program asks the adapter first: `dat_ia_query` gives, among the provider specific attributes, one of the name
 * DAT_IB_EXTENSION_ATTR. Where it is missing, nothing here may be called.
 */

#include <dat/udat.h>
#include <dat/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAT_IB_EXTENSION_ATTR "DAT_IB_EXTENSION" /**< its value is the version */

typedef DAT_RETURN (*DAT_IB_POST_CMP_AND_SWAP_FUNC)(IN DAT_EP_HANDLE, IN DAT_UINT64, IN DAT_UINT64,
		IN DAT_LMR_TRIPLET *, IN DAT_DTO_COOKIE, IN const DAT_RMR_TRIPLET *,
		IN DAT_COMPLETION_FLAGS);
typedef DAT_RETURN (*DAT_IB_POST_FETCH_AND_ADD_FUNC)(IN DAT_EP_HANDLE, IN DAT_UINT64,
		IN DAT_LMR_TRIPLET *, IN DAT_DTO_COOKIE, IN const DAT_RMR_TRIPLET *,
		IN DAT_COMPLETION_FLAGS);

/** What `extension` of the Provider's table of calls points to. */
typedef struct dat_ib_extension {
	DAT_IB_POST_CMP_AND_SWAP_FUNC post_cmp_and_swap;
	DAT_IB_POST_FETCH_AND_ADD_FUNC post_fetch_and_add;
} DAT_IB_EXTENSION;

#define DAT_IB_EXTENSION_OF(handle) \
	((const DAT_IB_EXTENSION *)DAT_HANDLE_TO_PROVIDER(handle)->extension)

/*
 * Both post an atomic operation on eight bytes of the peer's memory, and bring what they held before into local
 * memory. Local and remote segments are eight bytes, the remote one is aligned to eight, and the memory grants the
 * peer to read and to write. The Endpoint was made for RDMA READ (max_rdma_read_out at least 1) and with room for two
 * pieces (max_request_iov, max_rdma_read_iov or max_rdma_write_iov at least 2). The value that arrives is a number of
 * the local machine, and the operands are, too.
 *
 * Completion, flags, threads and states are those of dat_ep_post_rdma_read(), in whose place among the operations
 * under way they stand. Returns: DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER (an argument);
 * DAT_LENGTH_ERROR (not eight bytes); DAT_MODEL_NOT_SUPPORTED (the Endpoint was not made for it); others as of
 * dat_ep_post_rdma_read().
 */

/** Put @p swap_value there if it holds @p cmp_value. */
static inline DAT_RETURN
dat_ib_post_cmp_and_swap(IN DAT_EP_HANDLE ep_handle, IN DAT_UINT64 cmp_value,
		IN DAT_UINT64 swap_value, IN DAT_LMR_TRIPLET *local_iov,
		IN DAT_DTO_COOKIE user_cookie, IN const DAT_RMR_TRIPLET *remote_iov,
		IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_cmp_and_swap(ep_handle, cmp_value, swap_value,
			local_iov, user_cookie, remote_iov, completion_flags);
}

/** Add @p add_value to it, modulo 2^64. */
static inline DAT_RETURN
dat_ib_post_fetch_and_add(IN DAT_EP_HANDLE ep_handle, IN DAT_UINT64 add_value,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_fetch_and_add(
			ep_handle, add_value, local_iov, user_cookie, remote_iov, completion_flags);
}

#ifdef __cplusplus
}
#endif

#endif /* DAT_IB_EXTENSIONS_H */
