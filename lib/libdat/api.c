/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of DAT 1.2 that go straight to the Provider: through the table that the first word of
 * the first handle points to. The only check is for a null handle, which has no table; everything
 * else is the Provider's to validate. The public headers describe each call. Endpoints and
 * shared receive queues are in api_ep.c.
 */

#include "export.h"

/* There is no subtype for a dispatcher, or for any object at all: those say "handle 1". */

/* NOLINTBEGIN(readability-function-size): the standard decides how many arguments a call has. */

DAT_RETURN
dat_set_consumer_context(IN DAT_HANDLE dat_handle, IN DAT_CONTEXT context)
{
	return DISPATCH(dat_handle, DAT_INVALID_HANDLE1,
			DAT_SET_CONSUMER_CONTEXT(dat_handle, context));
}

DAT_RETURN
dat_get_consumer_context(IN DAT_HANDLE dat_handle, OUT DAT_CONTEXT *context)
{
	return DISPATCH(dat_handle, DAT_INVALID_HANDLE1,
			DAT_GET_CONSUMER_CONTEXT(dat_handle, context));
}

DAT_RETURN
dat_get_handle_type(IN DAT_HANDLE dat_handle, OUT DAT_HANDLE_TYPE *handle_type)
{
	return DISPATCH(dat_handle, DAT_INVALID_HANDLE1,
			DAT_GET_HANDLE_TYPE(dat_handle, handle_type));
}

DAT_RETURN
dat_ia_query(IN DAT_IA_HANDLE ia_handle, OUT DAT_EVD_HANDLE *async_evd_handle,
		IN DAT_IA_ATTR_MASK ia_attr_mask, OUT DAT_IA_ATTR *ia_attr,
		IN DAT_PROVIDER_ATTR_MASK provider_attr_mask, OUT DAT_PROVIDER_ATTR *provider_attr)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_IA_QUERY(ia_handle, async_evd_handle, ia_attr_mask, ia_attr,
					provider_attr_mask, provider_attr));
}

DAT_RETURN
dat_cno_create(IN DAT_IA_HANDLE ia_handle, IN DAT_OS_WAIT_PROXY_AGENT agent,
		OUT DAT_CNO_HANDLE *cno_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_CNO_CREATE(ia_handle, agent, cno_handle));
}

DAT_RETURN
dat_cno_modify_agent(IN DAT_CNO_HANDLE cno_handle, IN DAT_OS_WAIT_PROXY_AGENT agent)
{
	return DISPATCH(cno_handle, DAT_INVALID_HANDLE_CNO,
			DAT_CNO_MODIFY_AGENT(cno_handle, agent));
}

DAT_RETURN
dat_cno_query(IN DAT_CNO_HANDLE cno_handle, IN DAT_CNO_PARAM_MASK cno_param_mask,
		OUT DAT_CNO_PARAM *cno_param)
{
	return DISPATCH(cno_handle, DAT_INVALID_HANDLE_CNO,
			DAT_CNO_QUERY(cno_handle, cno_param_mask, cno_param));
}

DAT_RETURN
dat_cno_free(IN DAT_CNO_HANDLE cno_handle)
{
	return DISPATCH(cno_handle, DAT_INVALID_HANDLE_CNO, DAT_CNO_FREE(cno_handle));
}

DAT_RETURN
dat_cno_wait(IN DAT_CNO_HANDLE cno_handle, IN DAT_TIMEOUT timeout, OUT DAT_EVD_HANDLE *evd_handle)
{
	return DISPATCH(cno_handle, DAT_INVALID_HANDLE_CNO,
			DAT_CNO_WAIT(cno_handle, timeout, evd_handle));
}

DAT_RETURN
dat_cr_query(IN DAT_CR_HANDLE cr_handle, IN DAT_CR_PARAM_MASK cr_param_mask,
		OUT DAT_CR_PARAM *cr_param)
{
	return DISPATCH(cr_handle, DAT_INVALID_HANDLE_CR,
			DAT_CR_QUERY(cr_handle, cr_param_mask, cr_param));
}

DAT_RETURN
dat_cr_accept(IN DAT_CR_HANDLE cr_handle, IN DAT_EP_HANDLE ep_handle,
		IN DAT_COUNT private_data_size, IN const DAT_PVOID private_data)
{
	return DISPATCH(cr_handle, DAT_INVALID_HANDLE_CR,
			DAT_CR_ACCEPT(cr_handle, ep_handle, private_data_size, private_data));
}

DAT_RETURN
dat_cr_reject(IN DAT_CR_HANDLE cr_handle)
{
	return DISPATCH(cr_handle, DAT_INVALID_HANDLE_CR, DAT_CR_REJECT(cr_handle));
}

DAT_RETURN
dat_cr_handoff(IN DAT_CR_HANDLE cr_handle, IN DAT_CONN_QUAL handoff)
{
	return DISPATCH(cr_handle, DAT_INVALID_HANDLE_CR, DAT_CR_HANDOFF(cr_handle, handoff));
}

DAT_RETURN
dat_evd_resize(IN DAT_EVD_HANDLE evd_handle, IN DAT_COUNT evd_min_qlen)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_RESIZE(evd_handle, evd_min_qlen));
}

DAT_RETURN
dat_evd_post_se(IN DAT_EVD_HANDLE evd_handle, IN const DAT_EVENT *event)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_POST_SE(evd_handle, event));
}

DAT_RETURN
dat_evd_dequeue(IN DAT_EVD_HANDLE evd_handle, OUT DAT_EVENT *event)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_DEQUEUE(evd_handle, event));
}

DAT_RETURN
dat_evd_free(IN DAT_EVD_HANDLE evd_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_FREE(evd_handle));
}

DAT_RETURN
dat_evd_create(IN DAT_IA_HANDLE ia_handle, IN DAT_COUNT evd_min_qlen, IN DAT_CNO_HANDLE cno_handle,
		IN DAT_EVD_FLAGS evd_flags, OUT DAT_EVD_HANDLE *evd_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_EVD_CREATE(ia_handle, evd_min_qlen, cno_handle, evd_flags, evd_handle));
}

DAT_RETURN
dat_evd_query(IN DAT_EVD_HANDLE evd_handle, IN DAT_EVD_PARAM_MASK evd_param_mask,
		OUT DAT_EVD_PARAM *evd_param)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1,
			DAT_EVD_QUERY(evd_handle, evd_param_mask, evd_param));
}

DAT_RETURN
dat_evd_modify_cno(IN DAT_EVD_HANDLE evd_handle, IN DAT_CNO_HANDLE cno_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1,
			DAT_EVD_MODIFY_CNO(evd_handle, cno_handle));
}

DAT_RETURN
dat_evd_enable(IN DAT_EVD_HANDLE evd_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_ENABLE(evd_handle));
}

DAT_RETURN
dat_evd_disable(IN DAT_EVD_HANDLE evd_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_DISABLE(evd_handle));
}

DAT_RETURN
dat_evd_wait(IN DAT_EVD_HANDLE evd_handle, IN DAT_TIMEOUT timeout, IN DAT_COUNT threshold,
		OUT DAT_EVENT *event, OUT DAT_COUNT *n_more_events)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1,
			DAT_EVD_WAIT(evd_handle, timeout, threshold, event, n_more_events));
}

DAT_RETURN
dat_evd_set_unwaitable(IN DAT_EVD_HANDLE evd_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_SET_UNWAITABLE(evd_handle));
}

DAT_RETURN
dat_evd_clear_unwaitable(IN DAT_EVD_HANDLE evd_handle)
{
	return DISPATCH(evd_handle, DAT_INVALID_HANDLE1, DAT_EVD_CLEAR_UNWAITABLE(evd_handle));
}

DAT_RETURN
dat_lmr_free(IN DAT_LMR_HANDLE lmr_handle)
{
	return DISPATCH(lmr_handle, DAT_INVALID_HANDLE_LMR, DAT_LMR_FREE(lmr_handle));
}

DAT_RETURN
dat_lmr_sync_rdma_read(IN DAT_IA_HANDLE ia_handle, IN const DAT_LMR_TRIPLET *local_segments,
		IN DAT_VLEN num_segments)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_LMR_SYNC_RDMA_READ(ia_handle, local_segments, num_segments));
}

DAT_RETURN
dat_lmr_sync_rdma_write(IN DAT_IA_HANDLE ia_handle, IN const DAT_LMR_TRIPLET *local_segments,
		IN DAT_VLEN num_segments)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_LMR_SYNC_RDMA_WRITE(ia_handle, local_segments, num_segments));
}

DAT_RETURN
dat_lmr_create(IN DAT_IA_HANDLE ia_handle, IN DAT_MEM_TYPE mem_type,
		IN DAT_REGION_DESCRIPTION region_description, IN DAT_VLEN length,
		IN DAT_PZ_HANDLE pz_handle, IN DAT_MEM_PRIV_FLAGS privileges,
		OUT DAT_LMR_HANDLE *lmr_handle, OUT DAT_LMR_CONTEXT *lmr_context,
		OUT DAT_RMR_CONTEXT *rmr_context, OUT DAT_VLEN *registered_length,
		OUT DAT_VADDR *registered_address)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_LMR_CREATE(ia_handle, mem_type, region_description, length, pz_handle,
					privileges, lmr_handle, lmr_context, rmr_context,
					registered_length, registered_address));
}

DAT_RETURN
dat_lmr_query(IN DAT_LMR_HANDLE lmr_handle, IN DAT_LMR_PARAM_MASK lmr_param_mask,
		OUT DAT_LMR_PARAM *lmr_param)
{
	return DISPATCH(lmr_handle, DAT_INVALID_HANDLE_LMR,
			DAT_LMR_QUERY(lmr_handle, lmr_param_mask, lmr_param));
}

DAT_RETURN
dat_rmr_create(IN DAT_PZ_HANDLE pz_handle, OUT DAT_RMR_HANDLE *rmr_handle)
{
	return DISPATCH(pz_handle, DAT_INVALID_HANDLE_PZ, DAT_RMR_CREATE(pz_handle, rmr_handle));
}

DAT_RETURN
dat_rmr_query(IN DAT_RMR_HANDLE rmr_handle, IN DAT_RMR_PARAM_MASK rmr_param_mask,
		OUT DAT_RMR_PARAM *rmr_param)
{
	return DISPATCH(rmr_handle, DAT_INVALID_HANDLE_RMR,
			DAT_RMR_QUERY(rmr_handle, rmr_param_mask, rmr_param));
}

DAT_RETURN
dat_rmr_bind(IN DAT_RMR_HANDLE rmr_handle, IN const DAT_LMR_TRIPLET *lmr_triplet,
		IN DAT_MEM_PRIV_FLAGS mem_priv, IN DAT_EP_HANDLE ep_handle,
		IN DAT_RMR_COOKIE user_cookie, IN DAT_COMPLETION_FLAGS completion_flags,
		OUT DAT_RMR_CONTEXT *context)
{
	return DISPATCH(rmr_handle, DAT_INVALID_HANDLE_RMR,
			DAT_RMR_BIND(rmr_handle, lmr_triplet, mem_priv, ep_handle, user_cookie,
					completion_flags, context));
}

DAT_RETURN
dat_rmr_free(IN DAT_RMR_HANDLE rmr_handle)
{
	return DISPATCH(rmr_handle, DAT_INVALID_HANDLE_RMR, DAT_RMR_FREE(rmr_handle));
}

DAT_RETURN
dat_psp_create(IN DAT_IA_HANDLE ia_handle, IN DAT_CONN_QUAL conn_qual, IN DAT_EVD_HANDLE evd_handle,
		IN DAT_PSP_FLAGS psp_flags, OUT DAT_PSP_HANDLE *psp_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_PSP_CREATE(ia_handle, conn_qual, evd_handle, psp_flags, psp_handle));
}

DAT_RETURN
dat_psp_create_any(IN DAT_IA_HANDLE ia_handle, OUT DAT_CONN_QUAL *conn_qual,
		IN DAT_EVD_HANDLE evd_handle, IN DAT_PSP_FLAGS psp_flags,
		OUT DAT_PSP_HANDLE *psp_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_PSP_CREATE_ANY(
					ia_handle, conn_qual, evd_handle, psp_flags, psp_handle));
}

DAT_RETURN
dat_psp_query(IN DAT_PSP_HANDLE psp_handle, IN DAT_PSP_PARAM_MASK psp_param_mask,
		OUT DAT_PSP_PARAM *psp_param)
{
	return DISPATCH(psp_handle, DAT_INVALID_HANDLE_PSP,
			DAT_PSP_QUERY(psp_handle, psp_param_mask, psp_param));
}

DAT_RETURN
dat_psp_free(IN DAT_PSP_HANDLE psp_handle)
{
	return DISPATCH(psp_handle, DAT_INVALID_HANDLE_PSP, DAT_PSP_FREE(psp_handle));
}

DAT_RETURN
dat_rsp_create(IN DAT_IA_HANDLE ia_handle, IN DAT_CONN_QUAL conn_qual, IN DAT_EP_HANDLE ep_handle,
		IN DAT_EVD_HANDLE evd_handle, OUT DAT_RSP_HANDLE *rsp_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA,
			DAT_RSP_CREATE(ia_handle, conn_qual, ep_handle, evd_handle, rsp_handle));
}

DAT_RETURN
dat_rsp_query(IN DAT_RSP_HANDLE rsp_handle, IN DAT_RSP_PARAM_MASK rsp_param_mask,
		OUT DAT_RSP_PARAM *rsp_param)
{
	return DISPATCH(rsp_handle, DAT_INVALID_HANDLE_RSP,
			DAT_RSP_QUERY(rsp_handle, rsp_param_mask, rsp_param));
}

DAT_RETURN
dat_rsp_free(IN DAT_RSP_HANDLE rsp_handle)
{
	return DISPATCH(rsp_handle, DAT_INVALID_HANDLE_RSP, DAT_RSP_FREE(rsp_handle));
}

DAT_RETURN
dat_pz_create(IN DAT_IA_HANDLE ia_handle, OUT DAT_PZ_HANDLE *pz_handle)
{
	return DISPATCH(ia_handle, DAT_INVALID_HANDLE_IA, DAT_PZ_CREATE(ia_handle, pz_handle));
}

DAT_RETURN
dat_pz_query(IN DAT_PZ_HANDLE pz_handle, IN DAT_PZ_PARAM_MASK pz_param_mask,
		OUT DAT_PZ_PARAM *pz_param)
{
	return DISPATCH(pz_handle, DAT_INVALID_HANDLE_PZ,
			DAT_PZ_QUERY(pz_handle, pz_param_mask, pz_param));
}

DAT_RETURN
dat_pz_free(IN DAT_PZ_HANDLE pz_handle)
{
	return DISPATCH(pz_handle, DAT_INVALID_HANDLE_PZ, DAT_PZ_FREE(pz_handle));
}

DAT_RETURN
dats_get_ia_handle(IN DAT_IA_HANDLE handle, OUT DAT_IA_HANDLE *ia_handle_p)
{
	if (handle == DAT_HANDLE_NULL)
		return LIBDAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (ia_handle_p == NULL)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	*ia_handle_p = handle;
	return DAT_SUCCESS;
}

/* NOLINTEND(readability-function-size) */
