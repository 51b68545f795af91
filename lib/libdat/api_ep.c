/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of endpoints and shared receive queues, which carry the data. As in api.c they go
 * through the Provider's table, with a null handle as the only check.
 */

#include "export.h"

/* NOLINTBEGIN(readability-function-size): the standard decides how many arguments a call has. */

DAT_RETURN
dat_ep_create(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle,
		IN DAT_EVD_HANDLE recv_completion_evd_handle,
		IN DAT_EVD_HANDLE request_completion_evd_handle,
		IN DAT_EVD_HANDLE connect_evd_handle, IN const DAT_EP_ATTR *ep_attributes,
		OUT DAT_EP_HANDLE *ep_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_EP_CREATE(ia_handle, pz_handle, recv_completion_evd_handle,
					request_completion_evd_handle, connect_evd_handle,
					ep_attributes, ep_handle));
}

DAT_RETURN
dat_ep_create_with_srq(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle,
		IN DAT_EVD_HANDLE recv_evd_handle, IN DAT_EVD_HANDLE request_evd_handle,
		IN DAT_EVD_HANDLE connect_evd_handle, IN DAT_SRQ_HANDLE srq_handle,
		IN const DAT_EP_ATTR *ep_attributes, OUT DAT_EP_HANDLE *ep_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_EP_CREATE_WITH_SRQ(ia_handle, pz_handle, recv_evd_handle,
					request_evd_handle, connect_evd_handle, srq_handle,
					ep_attributes, ep_handle));
}

DAT_RETURN
dat_ep_query(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_PARAM_MASK ep_param_mask,
		OUT DAT_EP_PARAM *ep_param)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_QUERY(ep_handle, ep_param_mask, ep_param));
}

DAT_RETURN
dat_ep_recv_query(IN DAT_EP_HANDLE ep_handle, OUT DAT_COUNT *nbufs_allocated,
		OUT DAT_COUNT *bufs_alloc_span)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_RECV_QUERY(ep_handle, nbufs_allocated, bufs_alloc_span));
}

DAT_RETURN
dat_ep_set_watermark(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT soft_high_watermark,
		IN DAT_COUNT hard_high_watermark)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_SET_WATERMARK(ep_handle, soft_high_watermark, hard_high_watermark));
}

DAT_RETURN
dat_ep_modify(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_PARAM_MASK ep_param_mask,
		IN const DAT_EP_PARAM *ep_param)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_MODIFY(ep_handle, ep_param_mask, ep_param));
}

DAT_RETURN
dat_ep_connect(IN DAT_EP_HANDLE ep_handle, IN DAT_IA_ADDRESS_PTR remote_ia_address,
		IN DAT_CONN_QUAL remote_conn_qual, IN DAT_TIMEOUT timeout,
		IN DAT_COUNT private_data_size, IN const DAT_PVOID private_data,
		IN DAT_QOS quality_of_service, IN DAT_CONNECT_FLAGS connect_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_CONNECT(ep_handle, remote_ia_address, remote_conn_qual, timeout,
					private_data_size, private_data, quality_of_service,
					connect_flags));
}

DAT_RETURN
dat_ep_dup_connect(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_HANDLE ep_dup_handle,
		IN DAT_TIMEOUT timeout, IN DAT_COUNT private_data_size,
		IN const DAT_PVOID private_data, IN DAT_QOS quality_of_service)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_DUP_CONNECT(ep_handle, ep_dup_handle, timeout, private_data_size,
					private_data, quality_of_service));
}

DAT_RETURN
dat_ep_disconnect(IN DAT_EP_HANDLE ep_handle, IN DAT_CLOSE_FLAGS close_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_DISCONNECT(ep_handle, close_flags));
}

DAT_RETURN
dat_ep_post_send(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_POST_SEND(ep_handle, num_segments, local_iov, user_cookie,
					completion_flags));
}

DAT_RETURN
dat_ep_post_recv(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_POST_RECV(ep_handle, num_segments, local_iov, user_cookie,
					completion_flags));
}

DAT_RETURN
dat_ep_post_rdma_read(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_POST_RDMA_READ(ep_handle, num_segments, local_iov, user_cookie,
					remote_iov, completion_flags));
}

DAT_RETURN
dat_ep_post_rdma_write(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_POST_RDMA_WRITE(ep_handle, num_segments, local_iov, user_cookie,
					remote_iov, completion_flags));
}

DAT_RETURN
dat_ep_get_status(IN DAT_EP_HANDLE ep_handle, OUT DAT_EP_STATE *ep_state,
		OUT DAT_BOOLEAN *recv_idle, OUT DAT_BOOLEAN *request_idle)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP,
			DAT_EP_GET_STATUS(ep_handle, ep_state, recv_idle, request_idle));
}

DAT_RETURN
dat_ep_free(IN DAT_EP_HANDLE ep_handle)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP, DAT_EP_FREE(ep_handle));
}

DAT_RETURN
dat_ep_reset(IN DAT_EP_HANDLE ep_handle)
{
	return DISPATCH(ep_handle, DAT_INVALID_HANDLE_EP, DAT_EP_RESET(ep_handle));
}

DAT_RETURN
dat_srq_create(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle, IN DAT_SRQ_ATTR *srq_attr,
		OUT DAT_SRQ_HANDLE *srq_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_SRQ_CREATE(ia_handle, pz_handle, srq_attr, srq_handle));
}

DAT_RETURN
dat_srq_free(IN DAT_SRQ_HANDLE srq_handle)
{
	return DISPATCH(srq_handle, DAT_INVALID_HANDLE_SRQ, DAT_SRQ_FREE(srq_handle));
}

DAT_RETURN
dat_srq_post_recv(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie)
{
	return DISPATCH(srq_handle, DAT_INVALID_HANDLE_SRQ,
			DAT_SRQ_POST_RECV(srq_handle, num_segments, local_iov, user_cookie));
}

DAT_RETURN
dat_srq_query(IN DAT_SRQ_HANDLE srq_handle, IN DAT_SRQ_PARAM_MASK srq_param_mask,
		OUT DAT_SRQ_PARAM *srq_param)
{
	return DISPATCH(srq_handle, DAT_INVALID_HANDLE_SRQ,
			DAT_SRQ_QUERY(srq_handle, srq_param_mask, srq_param));
}

DAT_RETURN
dat_srq_resize(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT srq_max_recv_dto)
{
	return DISPATCH(srq_handle, DAT_INVALID_HANDLE_SRQ,
			DAT_SRQ_RESIZE(srq_handle, srq_max_recv_dto));
}

DAT_RETURN
dat_srq_set_lw(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT low_watermark)
{
	return DISPATCH(srq_handle, DAT_INVALID_HANDLE_SRQ,
			DAT_SRQ_SET_LW(srq_handle, low_watermark));
}

/* NOLINTEND(readability-function-size) */
