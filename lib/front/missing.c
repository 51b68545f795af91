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
FRONT(evd_modify_cno)(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
	return no_dispatcher_call(evd_handle);
}

DAT_RETURN
FRONT(evd_resize)(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen)
{
	return no_dispatcher_call(evd_handle);
}
