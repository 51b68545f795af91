/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of the standard that this release does not do (docs/udapl.md lists them). Each looks at its first
 * handle and then says so by name. Objects that cannot be created have no good handles.
 */

#include "front/abi.h"

static DAT_RETURN
not_implemented(void *handle, enum dapl_type type, DAT_RETURN_SUBTYPE which)
{
	if (dapl_obj_check(handle, type) == NULL)
		return bad_handle(which);
	return FRONT(status)(DAPL_NOT_IMPLEMENTED);
}

static DAT_RETURN
no_adapter_call(DAT_IA_HANDLE handle)
{
	return not_implemented(handle, DAPL_IA, DAT_INVALID_HANDLE_IA);
}

static DAT_RETURN
no_endpoint_call(DAT_EP_HANDLE handle)
{
	return not_implemented(handle, DAPL_EP, DAT_INVALID_HANDLE_EP);
}

static DAT_RETURN
no_dispatcher_call(DAT_EVD_HANDLE handle)
{
	return not_implemented(handle, DAPL_EVD, DAT_INVALID_HANDLE1);
}

DAT_RETURN
FRONT(cno_create)
(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno_handle)
{
	return no_adapter_call(ia_handle);
}

DAT_RETURN
FRONT(cno_modify_agent)(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
	return bad_handle(DAT_INVALID_HANDLE_CNO);
}

DAT_RETURN
FRONT(cno_query)
(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask, DAT_CNO_PARAM *cno_param)
{
	return bad_handle(DAT_INVALID_HANDLE_CNO);
}

DAT_RETURN
FRONT(cno_free)(DAT_CNO_HANDLE cno_handle)
{
	return bad_handle(DAT_INVALID_HANDLE_CNO);
}

DAT_RETURN
FRONT(cno_wait)(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd_handle)
{
	return bad_handle(DAT_INVALID_HANDLE_CNO);
}

DAT_RETURN
FRONT(cr_handoff)(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff)
{
	return not_implemented(cr_handle, DAPL_CR, DAT_INVALID_HANDLE_CR);
}

DAT_RETURN
FRONT(evd_modify_cno)(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_enable)(DAT_EVD_HANDLE evd_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_disable)(DAT_EVD_HANDLE evd_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_resize)(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_post_se)(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_set_unwaitable)(DAT_EVD_HANDLE evd_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_clear_unwaitable)(DAT_EVD_HANDLE evd_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(ep_modify)
(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask, const DAT_EP_PARAM *ep_param)
{
	const DAT_EP_PARAM_MASK never = DAT_EP_FIELD_SRQ_HANDLE | DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW;

	/* What ties an endpoint to a shared queue is fixed for life, in every release. */
	if (dapl_obj_check(ep_handle, DAPL_EP) != NULL && (ep_param_mask & never) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	return no_endpoint_call(ep_handle);
}

DAT_RETURN
FRONT(ep_dup_connect)
(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle, DAT_TIMEOUT timeout,
		DAT_COUNT private_data_size, const DAT_PVOID private_data,
		DAT_QOS quality_of_service)
{
	return no_endpoint_call(ep_handle);
}

DAT_RETURN
FRONT(psp_create_any)
(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual, DAT_EVD_HANDLE evd_handle,
		DAT_PSP_FLAGS psp_flags, DAT_PSP_HANDLE *psp_handle)
{
	return no_adapter_call(ia_handle);
}

DAT_RETURN
FRONT(rsp_create)
(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
		DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE *rsp_handle)
{
	return no_adapter_call(ia_handle);
}

DAT_RETURN
FRONT(rsp_query)
(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask, DAT_RSP_PARAM *rsp_param)
{
	return bad_handle(DAT_INVALID_HANDLE_RSP);
}

DAT_RETURN
FRONT(rsp_free)(DAT_RSP_HANDLE rsp_handle)
{
	return bad_handle(DAT_INVALID_HANDLE_RSP);
}
