/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ep.h"
#include "dapl/ep_state.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "front/abi.h"

/* These three belong to a post and are always allowed there: named for an endpoint's requests they change nothing. */
#define REQUEST_PER_POST                                                                    \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
			DAT_COMPLETION_BARRIER_FENCE_FLAG))

/* The flag that unblocks a waiter. @return false: two of the flags, or one that does not exist. */
static bool
notify_in(unsigned int flags, enum dapl_notify *notify)
{
	switch (flags) {
	case DAT_COMPLETION_DEFAULT_FLAG:
		*notify = DAPL_NOTIFY_ALL;
		return true;
	case DAT_COMPLETION_SOLICITED_WAIT_FLAG:
		*notify = DAPL_NOTIFY_SOLICITED;
		return true;
	case DAT_COMPLETION_UNSIGNALLED_FLAG:
		*notify = DAPL_NOTIFY_UNSIGNALLED;
		return true;
	case DAT_COMPLETION_EVD_THRESHOLD_FLAG:
		*notify = DAPL_NOTIFY_THRESHOLD;
		return true;
	default:
		return false;
	}
}

/* Zero leaves the choice to us. */
static int32_t
or_default(DAT_COUNT asked, int32_t standard)
{
	return asked != 0 ? asked : standard;
}

static bool
within(int32_t value, int32_t max)
{
	return value >= 1 && value <= max;
}

/* Models and flags: DAT_SUCCESS, DAT_INVALID_PARAMETER or DAT_MODEL_NOT_SUPPORTED. */
static DAT_RETURN_TYPE
models_in(const DAT_EP_ATTR *in, struct dapl_ep_attr *out)
{
	out->recv_flags = (unsigned int)in->recv_completion_flags;
	out->request_flags = (unsigned int)in->request_completion_flags;
	if (in->service_type != DAT_SERVICE_TYPE_RC || in->qos != DAT_QOS_BEST_EFFORT)
		return DAT_MODEL_NOT_SUPPORTED;
	if (!notify_in(out->recv_flags, &out->recv_notify) ||
			!notify_in(out->request_flags & ~REQUEST_PER_POST, &out->request_notify))
		return DAT_INVALID_PARAMETER;
	return in->srq_soft_hw >= DAT_HW_DEFAULT ? DAT_SUCCESS : DAT_INVALID_PARAMETER;
}

/* An endpoint cannot exceed the limits that the adapter reports. */
static bool
rdma_ok(const DAT_EP_ATTR *in)
{
	return in->max_rdma_size <= DAPL_MAX_MESSAGE && in->max_rdma_read_in >= 0 &&
			in->max_rdma_read_in <= DAPL_MAX_RDMA_READS && in->max_rdma_read_out >= 0 &&
			in->max_rdma_read_out <= DAPL_MAX_RDMA_READS &&
			in->max_rdma_read_iov >= 0 && in->max_rdma_read_iov <= DAPL_MAX_IOV &&
			in->max_rdma_write_iov >= 0 && in->max_rdma_write_iov <= DAPL_MAX_IOV;
}

/* Named attributes exist nowhere in this provider. */
static bool
no_named(const DAT_EP_ATTR *in)
{
	return in->ep_transport_specific_count == 0 && in->ep_provider_specific_count == 0;
}

/* With a receive queue of its own an endpoint has all the adapter can; with a shared one what was asked for. */
static uint64_t
granted_size(uint64_t asked, bool on_srq)
{
	return on_srq && asked != 0 ? asked : DAPL_MAX_MESSAGE;
}

DAT_RETURN_TYPE
front_ep_attr_in(const DAT_EP_ATTR *in, bool on_srq, struct dapl_ep_attr *out)
{
	/* READ depths are taken as asked, so that zero means none; who asks for nothing gets some. */
	static const DAT_EP_ATTR defaults = {
		.max_rdma_read_in = DAPL_DEFAULT_RDMA_READS,
		.max_rdma_read_out = DAPL_DEFAULT_RDMA_READS,
	};
	DAT_RETURN_TYPE type;

	if (in == NULL)
		in = &defaults;
	*out = (struct dapl_ep_attr){ .max_message = 0 };
	type = models_in(in, out);
	if (type != DAT_SUCCESS)
		return type;
	if (in->max_message_size > DAPL_MAX_MESSAGE || !rdma_ok(in) || !no_named(in))
		return DAT_INVALID_PARAMETER;
	*out = (struct dapl_ep_attr){
		.recv_flags = out->recv_flags,
		.request_flags = out->request_flags,
		.recv_notify = out->recv_notify,
		.request_notify = out->request_notify,
		.max_message = granted_size(in->max_message_size, on_srq),
		.max_recv_dtos = or_default(in->max_recv_dtos, DAPL_DEFAULT_DTOS),
		.max_request_dtos = or_default(in->max_request_dtos, DAPL_DEFAULT_DTOS),
		.max_recv_iov = or_default(in->max_recv_iov, DAPL_DEFAULT_IOV),
		.max_request_iov = or_default(in->max_request_iov, DAPL_DEFAULT_IOV),
		.max_rdma_size = granted_size(in->max_rdma_size, on_srq),
		.max_rdma_read_in = in->max_rdma_read_in,
		.max_rdma_read_out = in->max_rdma_read_out,
		.max_rdma_read_iov = or_default(in->max_rdma_read_iov, DAPL_DEFAULT_IOV),
		.max_rdma_write_iov = or_default(in->max_rdma_write_iov, DAPL_DEFAULT_IOV),
		.srq_soft_hw = or_default(in->srq_soft_hw, DAPL_HIGH_WATER_NONE),
	};
	if (!within(out->max_request_dtos, DAPL_MAX_DTOS) ||
			!within(out->max_request_iov, DAPL_MAX_IOV))
		return DAT_INVALID_PARAMETER;
	/* On a shared queue the receive numbers are stored and reported, never a limit. */
	if (on_srq)
		return out->max_recv_dtos >= DAT_HW_DEFAULT ? DAT_SUCCESS : DAT_INVALID_PARAMETER;
	if (!within(out->max_recv_dtos, DAPL_MAX_DTOS) || !within(out->max_recv_iov, DAPL_MAX_IOV))
		return DAT_INVALID_PARAMETER;
	return DAT_SUCCESS;
}

DAT_EP_ATTR
front_ep_attr_out(const struct dapl_ep_attr *attr)
{
	return (DAT_EP_ATTR){
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = attr->max_message,
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)attr->recv_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)attr->request_flags,
		.max_recv_dtos = attr->max_recv_dtos,
		.max_request_dtos = attr->max_request_dtos,
		.max_recv_iov = attr->max_recv_iov,
		.max_request_iov = attr->max_request_iov,
		.max_rdma_size = attr->max_rdma_size,
		.max_rdma_read_in = attr->max_rdma_read_in,
		.max_rdma_read_out = attr->max_rdma_read_out,
		.max_rdma_read_iov = attr->max_rdma_read_iov,
		.max_rdma_write_iov = attr->max_rdma_write_iov,
		.srq_soft_hw = attr->srq_soft_hw,
	};
}

/* The handles that both ways of creating have in common; DAT_SUCCESS when all are good. */
static DAT_RETURN
check_handles(const struct dapl_ia *ia, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv_evd,
		DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
		struct dapl_ep_create *create)
{
	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	create->pz = dapl_obj_of(ia, pz_handle, DAPL_PZ);
	if (create->pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (!evd_or_null(ia, recv_evd, DAPL_STREAM_DTO, &create->recv_evd))
		return bad_handle(DAT_INVALID_HANDLE_EVD_RECV);
	if (!evd_or_null(ia, request_evd, DAPL_STREAM_DTO, &create->request_evd))
		return bad_handle(DAT_INVALID_HANDLE_EVD_REQUEST);
	if (!evd_or_null(ia, connect_evd, DAPL_STREAM_CONNECTION, &create->connect_evd))
		return bad_handle(DAT_INVALID_HANDLE_EVD_CONN);
	return DAT_SUCCESS;
}

/* @p attr_arg is what to blame when the flags do not go with those of other endpoints. */
static DAT_RETURN
create_ep(struct dapl_ia *ia, const struct dapl_ep_create *create, DAT_RETURN_SUBTYPE attr_arg,
		DAT_EP_HANDLE *ep_handle)
{
	struct dapl_ep *ep;
	enum dapl_status status = dapl_ep_create(ia, create, &ep);

	if (status == DAPL_BAD_FLAGS)
		return bad_arg(attr_arg);
	if (status == DAPL_OK)
		*ep_handle = ep;
	return front_return(status);
}

DAT_RETURN
front_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
		DAT_EVD_HANDLE recv_completion_evd_handle,
		DAT_EVD_HANDLE request_completion_evd_handle, DAT_EVD_HANDLE connect_evd_handle,
		const DAT_EP_ATTR *ep_attributes, DAT_EP_HANDLE *ep_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_ep_create create = { .srq = NULL };
	DAT_RETURN_TYPE type;
	DAT_RETURN rc;

	rc = check_handles(ia, pz_handle, recv_completion_evd_handle, request_completion_evd_handle,
			connect_evd_handle, &create);
	if (rc != DAT_SUCCESS)
		return rc;
	type = front_ep_attr_in(ep_attributes, false, &create.attr);
	if (type != DAT_SUCCESS)
		return front_error(type, DAT_INVALID_ARG6);
	if (ep_handle == NULL)
		return bad_arg(DAT_INVALID_ARG7);
	return create_ep(ia, &create, DAT_INVALID_ARG6, ep_handle);
}

DAT_RETURN
front_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
		DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
		DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
		const DAT_EP_ATTR *ep_attributes, DAT_EP_HANDLE *ep_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_ep_create create = { .srq = NULL };
	DAT_RETURN_TYPE type;
	DAT_RETURN rc;

	rc = check_handles(ia, pz_handle, recv_evd_handle, request_evd_handle, connect_evd_handle,
			&create);
	if (rc != DAT_SUCCESS)
		return rc;
	create.srq = dapl_obj_of(ia, srq_handle, DAPL_SRQ);
	if (create.srq == NULL)
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	if (ep_attributes == NULL)
		return bad_arg(DAT_INVALID_ARG7);
	type = front_ep_attr_in(ep_attributes, true, &create.attr);
	if (type != DAT_SUCCESS)
		return front_error(type, DAT_INVALID_ARG7);
	if (ep_handle == NULL)
		return bad_arg(DAT_INVALID_ARG8);
	return create_ep(ia, &create, DAT_INVALID_ARG7, ep_handle);
}

static DAT_EP_STATE
state_out(unsigned int state)
{
	static const DAT_EP_STATE states[DAPL_EP_STATES] = {
		[DAPL_EP_STATE_UNCONNECTED] = DAT_EP_STATE_UNCONNECTED,
		[DAPL_EP_STATE_RESERVED] = DAT_EP_STATE_RESERVED,
		[DAPL_EP_STATE_PASSIVE_PENDING] = DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
		[DAPL_EP_STATE_ACTIVE_PENDING] = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
		[DAPL_EP_STATE_COMPLETION_PENDING] = DAT_EP_STATE_COMPLETION_PENDING,
		[DAPL_EP_STATE_CONNECTED] = DAT_EP_STATE_CONNECTED,
		[DAPL_EP_STATE_DISCONNECT_PENDING] = DAT_EP_STATE_DISCONNECT_PENDING,
		[DAPL_EP_STATE_DISCONNECTED] = DAT_EP_STATE_DISCONNECTED,
	};

	return states[state];
}

DAT_RETURN
front_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask, DAT_EP_PARAM *ep_param)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if ((ep_param_mask & ~DAT_EP_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (ep_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*ep_param = (DAT_EP_PARAM){
		.ia_handle = consumer_handle(ep->head.ia),
		.ep_state = state_out(__atomic_load_n(&ep->state, __ATOMIC_ACQUIRE)),
		.local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->head.ia->address.sa,
		.local_port_qual = ep->local_qual,
		.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->remote.sa,
		.remote_port_qual = ep->remote_qual,
		.pz_handle = ep->pz,
		.recv_evd_handle = ep->recv_evd,
		.request_evd_handle = ep->request_evd,
		.connect_evd_handle = ep->connect_evd,
		.srq_handle = ep->srq,
		.ep_attr = front_ep_attr_out(&ep->attr),
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state, DAT_BOOLEAN *recv_idle,
		DAT_BOOLEAN *request_idle)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	uint32_t requests, receives;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	roce_qp_depth(ep->qp, &requests, &receives);
	if (ep_state != NULL)
		*ep_state = state_out(__atomic_load_n(&ep->state, __ATOMIC_ACQUIRE));
	if (recv_idle != NULL)
		*recv_idle = receives == 0 ? DAT_TRUE : DAT_FALSE;
	if (request_idle != NULL)
		*request_idle = requests == 0 ? DAT_TRUE : DAT_FALSE;
	return DAT_SUCCESS;
}

DAT_RETURN
front_ep_free(DAT_EP_HANDLE ep_handle)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	return front_return(dapl_ep_free(ep));
}

DAT_RETURN
front_ep_reset(DAT_EP_HANDLE ep_handle)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	return front_return(dapl_ep_reset(ep));
}

DAT_RETURN
front_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated, DAT_COUNT *bufs_alloc_span)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	DAT_COUNT count;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	count = (DAT_COUNT)dapl_ep_recv_count(ep);
	if (nbufs_allocated != NULL)
		*nbufs_allocated = count;
	/* Messages of a connection are received in order: between the oldest and the newest buffer there is no gap. */
	if (bufs_alloc_span != NULL)
		*bufs_alloc_span = count;
	return DAT_SUCCESS;
}

DAT_RETURN
front_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
		DAT_COUNT hard_high_watermark)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (soft_high_watermark < DAT_WATERMARK_INFINITE)
		return bad_arg(DAT_INVALID_ARG2);
	if (hard_high_watermark < DAT_WATERMARK_INFINITE)
		return bad_arg(DAT_INVALID_ARG3);
	dapl_ep_set_watermark(ep, soft_high_watermark, hard_high_watermark);
	return DAT_SUCCESS;
}
