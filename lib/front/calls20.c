/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls that DAT 2.0 has and 1.2 does not, but for extended operations. Those that this release does not do say so
 * by name; the registry of Debian and OFED has no way to call most of them.
 */

#include "front/extension.h"

static DAT_RETURN
not_implemented(DAT_HANDLE handle, enum dapl_type type, DAT_RETURN_SUBTYPE which)
{
	if (dapl_obj_check(handle, type) == NULL)
		return bad_handle(which);
	return front_status(DAPL_NOT_IMPLEMENTED);
}

DAT_RETURN
front_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
		DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE *csp_handle)
{
	return not_implemented(ia_handle, DAPL_IA, DAT_INVALID_HANDLE_IA);
}

DAT_RETURN
front_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK csp_param_mask,
		DAT_CSP_PARAM *csp_param)
{
	return bad_handle(DAT_INVALID_HANDLE_CSP);
}

DAT_RETURN
front_csp_free(DAT_CSP_HANDLE csp_handle)
{
	return bad_handle(DAT_INVALID_HANDLE_CSP);
}

DAT_RETURN
front_ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
		DAT_TIMEOUT timeout, DAT_COUNT private_data_size, const DAT_PVOID private_data)
{
	return not_implemented(ep_handle, DAPL_EP, DAT_INVALID_HANDLE_EP);
}

/* A window of one endpoint; those here belong to a protection zone (rmr_scope_supported). */
DAT_RETURN
front_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
	return not_implemented(pz_handle, DAPL_PZ, DAT_INVALID_HANDLE_PZ);
}

DAT_RETURN
front_ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
		DAT_COMPLETION_FLAGS completion_flags, DAT_BOOLEAN invalidate_flag,
		DAT_RMR_CONTEXT rmr_context)
{
	return front_ib_post_send_with_invalidate(ep_handle, num_segments, local_iov, user_cookie,
			completion_flags, invalidate_flag, rmr_context);
}

/* InfiniBand brings what was read to a region, not to a window. */
DAT_RETURN
front_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie, const DAT_RMR_TRIPLET *remote_iov,
		DAT_COMPLETION_FLAGS completion_flags)
{
	return not_implemented(ep_handle, DAPL_EP, DAT_INVALID_HANDLE_EP);
}

DAT_RETURN
front_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *file_descriptor, DAT_CNO_HANDLE *cno_handle)
{
	return not_implemented(ia_handle, DAPL_IA, DAT_INVALID_HANDLE_IA);
}

DAT_RETURN
front_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE *trigger)
{
	return not_implemented(cno_handle, DAPL_CNO, DAT_INVALID_HANDLE_CNO);
}

/* No adapter stands in for another (ha_supported is false). */
DAT_RETURN
/* NOLINTNEXTLINE(readability-non-const-parameter): as the table has it. */
front_ia_ha_related(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR provider, DAT_BOOLEAN *answer)
{
	if (dapl_obj_check(ia_handle, DAPL_IA) == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (provider == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	if (answer == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*answer = DAT_FALSE;
	return DAT_SUCCESS;
}
