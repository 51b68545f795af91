/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_IB_EXTENSIONS_H
#define DAT_IB_EXTENSIONS_H

/**
 * @file
 * InfiniBand operations of this Provider for which DAT 1.2 has no call: atomics, immediate data, SEND with invalidate.
 * Names, arguments and results are those of DAT 2.0 and its IB extensions, where those have them.
 *
 * A program asks the adapter first: `dat_ia_query` gives, among the provider specific attributes, one of the name
 * DAT_IB_EXTENSION_ATTR. Where it is missing, nothing here may be called; where its value is "1", the atomics only.
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

typedef DAT_RETURN (*DAT_IB_POST_RDMA_WRITE_IMMED_FUNC)(IN DAT_EP_HANDLE, IN DAT_COUNT,
		IN DAT_LMR_TRIPLET *, IN DAT_DTO_COOKIE, IN const DAT_RMR_TRIPLET *, IN DAT_UINT32,
		IN DAT_COMPLETION_FLAGS);
typedef DAT_RETURN (*DAT_IB_POST_SEND_IMMED_FUNC)(IN DAT_EP_HANDLE, IN DAT_COUNT,
		IN DAT_LMR_TRIPLET *, IN DAT_DTO_COOKIE, IN DAT_UINT32, IN DAT_COMPLETION_FLAGS);
typedef DAT_RETURN (*DAT_IB_POST_SEND_WITH_INVALIDATE_FUNC)(IN DAT_EP_HANDLE, IN DAT_COUNT,
		IN DAT_LMR_TRIPLET *, IN DAT_DTO_COOKIE, IN DAT_COMPLETION_FLAGS, IN DAT_BOOLEAN,
		IN DAT_RMR_CONTEXT);

/** Kinds of data that a receive brings besides its message. The first numbers are those of DAT 2.0. */
typedef enum dat_ib_ext_type {
	DAT_IB_RECV_PLAIN = 0, /**< nothing; or the event is no receive, or a failure */
	DAT_IB_RDMA_WRITE_IMMED_DATA =
			3,          /**< immed_data, of an RDMA WRITE: nothing is in the buffer */
	DAT_IB_RECV_IMMED_DATA = 4, /**< immed_data */
	DAT_IB_RECV_INVALIDATE =
			0x1000 /**< rmr_context names a window of ours that is unbound now */
} DAT_IB_EXT_TYPE;

/** The part of an event for which DAT 1.2 has no room. */
typedef struct dat_ib_extension_event_data {
	DAT_IB_EXT_TYPE type;
	DAT_UINT32 immed_data; /**< the four bytes that the peer posted, in their order; else 0 */
	DAT_RMR_CONTEXT rmr_context; /**< 0 where there is none */
} DAT_IB_EXTENSION_EVENT_DATA;

typedef DAT_RETURN (*DAT_IB_EVD_DEQUEUE_FUNC)(
		IN DAT_EVD_HANDLE, OUT DAT_EVENT *, OUT DAT_IB_EXTENSION_EVENT_DATA *);
typedef DAT_RETURN (*DAT_IB_EVD_WAIT_FUNC)(IN DAT_EVD_HANDLE, IN DAT_TIMEOUT, IN DAT_COUNT,
		OUT DAT_EVENT *, OUT DAT_COUNT *, OUT DAT_IB_EXTENSION_EVENT_DATA *);

struct roce_dat_ep_calls;

/** The structure to which `extension` of the Provider's table of calls points. */
typedef struct dat_ib_extension {
	DAT_IB_POST_CMP_AND_SWAP_FUNC post_cmp_and_swap;
	DAT_IB_POST_FETCH_AND_ADD_FUNC post_fetch_and_add;
	/* From version 2 on. */
	DAT_IB_POST_RDMA_WRITE_IMMED_FUNC post_rdma_write_immed;
	DAT_IB_POST_SEND_IMMED_FUNC post_send_immed;
	DAT_IB_POST_SEND_WITH_INVALIDATE_FUNC post_send_with_invalidate;
	DAT_IB_EVD_DEQUEUE_FUNC evd_dequeue;
	DAT_IB_EVD_WAIT_FUNC evd_wait;
	const struct roce_dat_ep_calls *ep_calls; /**< roce/dat_ep.h */
} DAT_IB_EXTENSION;

#define DAT_IB_EXTENSION_OF(handle) \
	((const DAT_IB_EXTENSION *)DAT_HANDLE_TO_PROVIDER(handle)->extension)

/*
 * The first two post an atomic operation on eight bytes of the peer's memory, and bring what they held before into local
 * memory. Local and remote segments are eight bytes, the remote one is aligned to eight, and the memory grants the
 * peer to read and to write. The Endpoint was made for RDMA READ (max_rdma_read_out at least 1) and with room for two
 * segments (max_request_iov, max_rdma_read_iov or max_rdma_write_iov at least 2). The value that arrives is a number of
 * the local machine, and the operands are, too.
 *
 * Completion, flags, threads and states are those of dat_ep_post_rdma_read(), in whose place among the operations
 * under way they stand. Returns: DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER (an argument);
 * DAT_LENGTH_ERROR (not eight bytes); DAT_MODEL_NOT_SUPPORTED (the Endpoint was not made for it); others as of
 * dat_ep_post_rdma_read().
 */

/** Put @p swap_value there if it holds @p cmp_value. */
static __inline__ DAT_RETURN
dat_ib_post_cmp_and_swap(IN DAT_EP_HANDLE ep_handle, IN DAT_UINT64 cmp_value,
		IN DAT_UINT64 swap_value, IN DAT_LMR_TRIPLET *local_iov,
		IN DAT_DTO_COOKIE user_cookie, IN const DAT_RMR_TRIPLET *remote_iov,
		IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_cmp_and_swap(ep_handle, cmp_value, swap_value,
			local_iov, user_cookie, remote_iov, completion_flags);
}

/** Add @p add_value to it, modulo 2^64. */
static __inline__ DAT_RETURN
dat_ib_post_fetch_and_add(IN DAT_EP_HANDLE ep_handle, IN DAT_UINT64 add_value,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_fetch_and_add(
			ep_handle, add_value, local_iov, user_cookie, remote_iov, completion_flags);
}

/*
 * These carry a number of 32 bits to the peer, whose receive completes with it, or end one of the peer's windows.
 * Completion, flags, threads, states and what else they return are those of dat_ep_post_rdma_write() and
 * dat_ep_post_send(), with the number of the argument moved on.
 */

/** dat_ep_post_rdma_write() that uses up a receive of the peer, which gets @p immed_data and no bytes. */
static __inline__ DAT_RETURN
dat_ib_post_rdma_write_immed(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_UINT32 immed_data,
		IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_rdma_write_immed(ep_handle, num_segments,
			local_iov, user_cookie, remote_iov, immed_data, completion_flags);
}

/** dat_ep_post_send() whose receive gets @p immed_data, too. */
static __inline__ DAT_RETURN
dat_ib_post_send_immed(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_UINT32 immed_data, IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_send_immed(ep_handle, num_segments, local_iov,
			user_cookie, immed_data, completion_flags);
}

/**
 * dat_ep_post_send() that unbinds the peer's window with the context @p rmr_context before its receive completes. Where
 * the peer has no such window both ends break, this one with DAT_DTO_ERR_REMOTE_ACCESS. With @p invalidate_flag
 * DAT_FALSE it is dat_ep_post_send().
 */
static __inline__ DAT_RETURN
dat_ib_post_send_with_invalidate(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_COMPLETION_FLAGS completion_flags, IN DAT_BOOLEAN invalidate_flag,
		IN DAT_RMR_CONTEXT rmr_context)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->post_send_with_invalidate(ep_handle, num_segments,
			local_iov, user_cookie, completion_flags, invalidate_flag, rmr_context);
}

/*
 * How a program learns of it: by taking its events with one of these. They are dat_evd_dequeue() and dat_evd_wait(),
 * take the same events in the same order, and may be mixed with them; an event that those take tells nothing of what
 * is in @p data. With DAT_IB_RDMA_WRITE_IMMED_DATA `transfered_length` is what was written; those tell 0. Both return DAT_INVALID_PARAMETER, too, when @p data is null, and write it when they write @p event.
 */

static __inline__ DAT_RETURN
dat_ib_evd_dequeue(IN DAT_EVD_HANDLE evd_handle, OUT DAT_EVENT *event,
		OUT DAT_IB_EXTENSION_EVENT_DATA *data)
{
	return DAT_IB_EXTENSION_OF(evd_handle)->evd_dequeue(evd_handle, event, data);
}

static __inline__ DAT_RETURN
dat_ib_evd_wait(IN DAT_EVD_HANDLE evd_handle, IN DAT_TIMEOUT timeout, IN DAT_COUNT threshold,
		OUT DAT_EVENT *event, OUT DAT_COUNT *n_more_events,
		OUT DAT_IB_EXTENSION_EVENT_DATA *data)
{
	return DAT_IB_EXTENSION_OF(evd_handle)
			->evd_wait(evd_handle, timeout, threshold, event, n_more_events, data);
}

#ifdef __cplusplus
}
#endif

#endif /* DAT_IB_EXTENSIONS_H */
