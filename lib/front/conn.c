/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/cr.h"
#include "dapl/ep.h"
#include "dapl/ep_conn.h"
#include "dapl/ia_limits.h"
#include "dapl/sp.h"
#include "front/abi.h"

/* Bytes that fit a REQ and a REP alike, at an address if there are any. DAT_SUCCESS, or the argument at fault. */
static DAT_RETURN
check_private(DAT_COUNT size, DAT_RETURN_SUBTYPE size_arg, const void *data,
		DAT_RETURN_SUBTYPE data_arg)
{
	if (size < 0 || size > DAPL_MAX_PRIVATE)
		return bad_arg(size_arg);
	if (size > 0 && data == NULL)
		return bad_arg(data_arg);
	return DAT_SUCCESS;
}

/* The common part of the two ways to connect; DAT_SUCCESS when it is good. @p first is the timeout as an argument. */
static DAT_RETURN
connect_in(DAT_TIMEOUT timeout, DAT_RETURN_SUBTYPE first, DAT_COUNT size, const DAT_PVOID data,
		DAT_QOS qos, struct dapl_ep_connect *connect)
{
	DAT_RETURN rc;

	if (timeout == 0)
		return bad_arg(first);
	rc = check_private(size, first + 1, data, first + 2);
	if (rc != DAT_SUCCESS)
		return rc;
	if (qos != DAT_QOS_BEST_EFFORT)
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	connect->timeout_us = timeout == DAT_TIMEOUT_INFINITE ? DAPL_INFINITE : timeout;
	connect->private_len = (uint16_t)size;
	connect->private_data = data;
	return DAT_SUCCESS;
}

DAT_RETURN
front_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
		DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
		const DAT_PVOID private_data, DAT_QOS quality_of_service,
		DAT_CONNECT_FLAGS connect_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct dapl_ep_connect connect = {
		.remote = (const struct sockaddr *)remote_ia_address,
		.conn_qual = remote_conn_qual,
	};
	DAT_RETURN rc;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (remote_ia_address == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	rc = connect_in(timeout, DAT_INVALID_ARG4, private_data_size, private_data,
			quality_of_service, &connect);
	if (rc != DAT_SUCCESS)
		return rc;
	if (is_multipath(connect_flags))
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (connect_flags != DAT_CONNECT_DEFAULT_FLAG)
		return bad_arg(DAT_INVALID_ARG8);
	return front_return(dapl_ep_connect(ep, &connect));
}

DAT_RETURN
front_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle, DAT_TIMEOUT timeout,
		DAT_COUNT private_data_size, const DAT_PVOID private_data,
		DAT_QOS quality_of_service)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct dapl_ep_connect connect = { .remote = NULL };
	struct dapl_ep *other;
	DAT_RETURN rc;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	other = dapl_obj_of(ep->head.ia, ep_dup_handle, DAPL_EP);
	if (other == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	rc = connect_in(timeout, DAT_INVALID_ARG3, private_data_size, private_data,
			quality_of_service, &connect);
	if (rc != DAT_SUCCESS)
		return rc;
	return front_return(dapl_ep_dup_connect(ep, other, &connect));
}

DAT_RETURN
front_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (close_flags != DAT_CLOSE_ABRUPT_FLAG && close_flags != DAT_CLOSE_GRACEFUL_FLAG)
		return bad_arg(DAT_INVALID_ARG2);
	return front_return(dapl_ep_disconnect(ep, close_flags == DAT_CLOSE_GRACEFUL_FLAG));
}

/* The arguments of both ways to make a service point, from the third on; DAT_SUCCESS when they are good. */
static DAT_RETURN
psp_in(const struct dapl_ia *ia, DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
		const DAT_PSP_HANDLE *psp_handle, struct dapl_evd **evd)
{
	if (!evd_or_null(ia, evd_handle, DAPL_STREAM_CR, evd) || *evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EVD_CR);
	if (psp_flags == DAT_PSP_PROVIDER_FLAG)
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (psp_flags != DAT_PSP_CONSUMER_FLAG)
		return bad_arg(DAT_INVALID_ARG4);
	return psp_handle != NULL ? DAT_SUCCESS : bad_arg(DAT_INVALID_ARG5);
}

DAT_RETURN
front_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd_handle,
		DAT_PSP_FLAGS psp_flags, DAT_PSP_HANDLE *psp_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	enum dapl_status status;
	struct dapl_psp *psp;
	struct dapl_evd *evd;
	DAT_RETURN rc;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	rc = psp_in(ia, evd_handle, psp_flags, psp_handle, &evd);
	if (rc != DAT_SUCCESS)
		return rc;
	status = dapl_psp_create(ia, conn_qual, evd, &psp);
	if (status == DAPL_OK)
		*psp_handle = psp;
	return front_return(status);
}

DAT_RETURN
front_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual, DAT_EVD_HANDLE evd_handle,
		DAT_PSP_FLAGS psp_flags, DAT_PSP_HANDLE *psp_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	enum dapl_status status;
	struct dapl_psp *psp;
	struct dapl_evd *evd;
	DAT_RETURN rc;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (conn_qual == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	rc = psp_in(ia, evd_handle, psp_flags, psp_handle, &evd);
	if (rc != DAT_SUCCESS)
		return rc;
	status = dapl_psp_create_any(ia, evd, &psp);
	if (status == DAPL_OK) {
		*conn_qual = psp->conn_qual;
		*psp_handle = psp;
	}
	return front_return(status);
}

DAT_RETURN
front_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
		DAT_PSP_PARAM *psp_param)
{
	struct dapl_psp *psp = dapl_obj_check(psp_handle, DAPL_PSP);

	if (psp == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PSP);
	if (((unsigned int)psp_param_mask & ~(unsigned int)DAT_PSP_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (psp_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*psp_param = (DAT_PSP_PARAM){
		.ia_handle = consumer_handle(psp->head.ia),
		.conn_qual = psp->conn_qual,
		.evd_handle = psp->evd,
		.psp_flags = DAT_PSP_CONSUMER_FLAG,
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_psp_free(DAT_PSP_HANDLE psp_handle)
{
	struct dapl_psp *psp = dapl_obj_check(psp_handle, DAPL_PSP);

	if (psp == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PSP);
	return front_return(dapl_psp_free(psp));
}

DAT_RETURN
front_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
		DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE *rsp_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	enum dapl_status status;
	struct dapl_psp *rsp;
	struct dapl_evd *evd;
	struct dapl_ep *ep;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	/* Null would ask for an endpoint of the provider's, and there is none. */
	ep = dapl_obj_of(ia, ep_handle, DAPL_EP);
	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (!evd_or_null(ia, evd_handle, DAPL_STREAM_CR, &evd) || evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EVD_CR);
	if (rsp_handle == NULL)
		return bad_arg(DAT_INVALID_ARG5);
	status = dapl_rsp_create(ia, conn_qual, ep, evd, &rsp);
	if (status == DAPL_OK)
		*rsp_handle = rsp;
	return front_return(status);
}

DAT_RETURN
front_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
		DAT_RSP_PARAM *rsp_param)
{
	struct dapl_psp *rsp = dapl_obj_check(rsp_handle, DAPL_RSP);

	if (rsp == NULL)
		return bad_handle(DAT_INVALID_HANDLE_RSP);
	if (((unsigned int)rsp_param_mask & ~(unsigned int)DAT_RSP_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (rsp_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*rsp_param = (DAT_RSP_PARAM){
		.ia_handle = consumer_handle(rsp->head.ia),
		.conn_qual = rsp->conn_qual,
		.evd_handle = rsp->evd,
		.ep_handle = rsp->ep,
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_rsp_free(DAT_RSP_HANDLE rsp_handle)
{
	struct dapl_psp *rsp = dapl_obj_check(rsp_handle, DAPL_RSP);

	if (rsp == NULL)
		return bad_handle(DAT_INVALID_HANDLE_RSP);
	return front_return(dapl_rsp_free(rsp));
}

DAT_RETURN
front_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask, DAT_CR_PARAM *cr_param)
{
	struct dapl_cr *cr = dapl_obj_check(cr_handle, DAPL_CR);

	if (cr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CR);
	if (((unsigned int)cr_param_mask & ~(unsigned int)DAT_CR_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (cr_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*cr_param = (DAT_CR_PARAM){
		.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->remote.sa,
		.remote_port_qual = cr->remote_qual,
		.private_data_size = cr->peer.private_len,
		.private_data = cr->peer.private_len > 0 ? cr->private_data : NULL,
		.local_ep_handle = cr->ep,
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle, DAT_COUNT private_data_size,
		const DAT_PVOID private_data)
{
	struct dapl_cr *cr = dapl_obj_check(cr_handle, DAPL_CR);
	struct dapl_ep *ep;
	DAT_RETURN rc;

	if (cr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CR);
	/* A request that brings an endpoint of its own wants no other. */
	if (cr->ep != NULL && ep_handle != DAT_HANDLE_NULL)
		return bad_arg(DAT_INVALID_ARG2);
	ep = cr->ep != NULL ? cr->ep : dapl_obj_of(cr->head.ia, ep_handle, DAPL_EP);
	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	rc = check_private(private_data_size, DAT_INVALID_ARG3, private_data, DAT_INVALID_ARG4);
	if (rc != DAT_SUCCESS)
		return rc;
	return front_return(dapl_cr_accept(cr, ep, private_data, (uint16_t)private_data_size));
}

DAT_RETURN
front_cr_reject(DAT_CR_HANDLE cr_handle NEW_ARGS(
		, DAT_COUNT private_data_size, const DAT_PVOID private_data))
{
	struct dapl_cr *cr = dapl_obj_check(cr_handle, DAPL_CR);
	const void *data = BY_ABI(NULL, private_data);
	DAT_COUNT size = BY_ABI(0, private_data_size);
	DAT_RETURN rc;

	if (cr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CR);
	rc = check_private(size, DAT_INVALID_ARG2, data, DAT_INVALID_ARG3);
	if (rc != DAT_SUCCESS)
		return rc;
	return front_return(dapl_cr_reject(cr, data, (uint16_t)size));
}

DAT_RETURN
front_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff)
{
	struct dapl_cr *cr = dapl_obj_check(cr_handle, DAPL_CR);

	if (cr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_CR);
	return front_return(dapl_cr_handoff(cr, handoff));
}
