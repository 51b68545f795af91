/* SPDX-License-Identifier: BSD-3-Clause */

/* dat_ep_modify: some of what an endpoint is, field by field. */

#include "dapl/ep.h"
#include "front/abi.h"

/* Fixed for life, in every state. */
#define NEVER                                                                                 \
	(DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | \
			DAT_EP_FIELD_LOCAL_PORT_QUAL | DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR |   \
			DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE |             \
			DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW | BY_ABI(0, DAT_EP_FIELD_COMM))

/* And what says how an endpoint receives, where a shared queue does. */
#define NEVER_ON_SRQ (DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV)

static void
sizes_in(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *from, DAT_EP_ATTR *to)
{
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE) != 0)
		to->max_message_size = from->max_message_size;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE) != 0)
		to->max_rdma_size = from->max_rdma_size;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS) != 0)
		to->max_recv_dtos = from->max_recv_dtos;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS) != 0)
		to->max_request_dtos = from->max_request_dtos;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV) != 0)
		to->max_recv_iov = from->max_recv_iov;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV) != 0)
		to->max_request_iov = from->max_request_iov;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN) != 0)
		to->max_rdma_read_in = from->max_rdma_read_in;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT) != 0)
		to->max_rdma_read_out = from->max_rdma_read_out;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV) != 0)
		to->max_rdma_read_iov = from->max_rdma_read_iov;
	if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV) != 0)
		to->max_rdma_write_iov = from->max_rdma_write_iov;
}

static void
models_in(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *from, DAT_EP_ATTR *to)
{
	if ((mask & DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE) != 0)
		to->service_type = from->service_type;
	if ((mask & DAT_EP_FIELD_EP_ATTR_QOS) != 0)
		to->qos = from->qos;
	if ((mask & DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS) != 0)
		to->recv_completion_flags = from->recv_completion_flags;
	if ((mask & DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS) != 0)
		to->request_completion_flags = from->request_completion_flags;
	if ((mask & DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR) != 0)
		to->ep_transport_specific_count = from->ep_transport_specific_count;
	if ((mask & DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR) != 0)
		to->ep_provider_specific_count = from->ep_provider_specific_count;
}

/* @return false: a handle that is asked for is not good. */
static bool
handles_in(const struct dapl_ia *ia, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *from,
		struct dapl_ep_create *to)
{
	if ((mask & DAT_EP_FIELD_PZ_HANDLE) != 0) {
		to->pz = dapl_obj_of(ia, from->pz_handle, DAPL_PZ);
		if (to->pz == NULL)
			return false;
	}
	if ((mask & DAT_EP_FIELD_RECV_EVD_HANDLE) != 0 &&
			!evd_or_null(ia, from->recv_evd_handle, DAPL_STREAM_DTO, &to->recv_evd))
		return false;
	if ((mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE) != 0 &&
			!evd_or_null(ia, from->request_evd_handle, DAPL_STREAM_DTO,
					&to->request_evd))
		return false;
	return (mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE) == 0 ||
			evd_or_null(ia, from->connect_evd_handle, DAPL_STREAM_CONNECTION,
					&to->connect_evd);
}

DAT_RETURN
front_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
		const DAT_EP_PARAM *ep_param)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct dapl_ep_create to;
	enum dapl_status status;
	DAT_EP_ATTR attr;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if ((ep_param_mask & ~DAT_EP_FIELD_ALL) != 0 || (ep_param_mask & NEVER) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (ep->srq != NULL && (ep_param_mask & NEVER_ON_SRQ) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (ep_param == NULL && ep_param_mask != 0)
		return bad_arg(DAT_INVALID_ARG3);
	to = (struct dapl_ep_create){
		.pz = ep->pz,
		.recv_evd = ep->recv_evd,
		.request_evd = ep->request_evd,
		.connect_evd = ep->connect_evd,
		.srq = ep->srq,
		.attr = ep->attr,
	};
	if (ep_param_mask != 0) {
		attr = front_ep_attr_out(&ep->attr);
		sizes_in(ep_param_mask, &ep_param->ep_attr, &attr);
		models_in(ep_param_mask, &ep_param->ep_attr, &attr);
		/* The page has one name for what is wrong and for what is not to be had. */
		if (!handles_in(ep->head.ia, ep_param_mask, ep_param, &to) ||
				front_ep_attr_in(&attr, ep->srq != NULL, &to.attr) != DAT_SUCCESS)
			return bad_arg(DAT_INVALID_ARG3);
		/* A mark of 0 that was set later is a mark of 0, which in an attribute would mean none. */
		to.attr.srq_soft_hw = ep->attr.srq_soft_hw;
	}
	status = dapl_ep_modify(ep, &to);
	return status == DAPL_BAD_FLAGS ? bad_arg(DAT_INVALID_ARG3) : front_return(status);
}
