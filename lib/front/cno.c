/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/cno.h"
#include "dapl/wait.h"
#include "front/abi.h"

/* The masks of 2.0 are not bits: all of them together are. */
#if DAT_ABI == 12
#define CNO_FIELDS DAT_CNO_FIELD_ALL
#else
#define CNO_FIELDS 0x7u
#endif

static_assert(sizeof(DAT_AGENT_FUNC) == sizeof(((struct dapl_agent *)NULL)->call),
		"an agent is called as it is");

/* A function, or nothing at all. */
static bool
agent_in(const DAT_OS_WAIT_PROXY_AGENT *in, struct dapl_agent *out)
{
	*out = (struct dapl_agent){ .call = in->proxy_agent_func, .data = in->instance_data };
	return in->proxy_agent_func != NULL || in->instance_data == NULL;
}

DAT_RETURN
front_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_agent own;
	enum dapl_status status;
	struct dapl_cno *cno;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (!agent_in(&agent, &own))
		return bad_arg(DAT_INVALID_ARG2);
	if (cno_handle == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	status = dapl_cno_create(ia, &own, &cno);
	if (status == DAPL_OK)
		*cno_handle = cno;
	return front_return(status);
}

DAT_RETURN
front_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
	struct dapl_cno *cno = dapl_obj_check(cno_handle, DAPL_CNO);
	struct dapl_agent own;

	if (cno == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	if (!agent_in(&agent, &own))
		return bad_arg(DAT_INVALID_ARG2);
	dapl_cno_set_agent(cno, &own);
	return DAT_SUCCESS;
}

static DAT_CNO_PARAM
param_out(struct dapl_cno *cno)
{
	const struct dapl_agent own = dapl_cno_agent(cno);
	const DAT_OS_WAIT_PROXY_AGENT agent = {
		.instance_data = own.data,
		.proxy_agent_func = own.call,
	};

	return (DAT_CNO_PARAM)
	{
		.ia_handle = consumer_handle(cno->head.ia),
#if DAT_ABI == 12
		.agent = agent,
#else
		.proxy_type = own.call != NULL ? DAT_PROXY_TYPE_AGENT : DAT_PROXY_TYPE_NONE,
		.proxy.agent = agent,
#endif
	};
}

DAT_RETURN
front_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
		DAT_CNO_PARAM *cno_param)
{
	struct dapl_cno *cno = dapl_obj_check(cno_handle, DAPL_CNO);

	if (cno == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	if (((unsigned int)cno_param_mask & ~(unsigned int)CNO_FIELDS) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (cno_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*cno_param = param_out(cno);
	return DAT_SUCCESS;
}

DAT_RETURN
front_cno_free(DAT_CNO_HANDLE cno_handle)
{
	struct dapl_cno *cno = dapl_obj_check(cno_handle, DAPL_CNO);

	if (cno == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	return front_return(dapl_cno_free(cno));
}

DAT_RETURN
front_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd_handle)
{
	struct dapl_cno *cno = dapl_obj_check(cno_handle, DAPL_CNO);
	enum dapl_status status;
	struct dapl_evd *evd;

	if (cno == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	if (evd_handle == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	status = dapl_cno_wait(cno, timeout, &evd);
	*evd_handle = evd;
	return front_return(status);
}
