/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The extension as a program of DAT 1.2 sees it: the table of its calls, and those two that hand out what a receive
 * brought, for which the event of DAT 1.2 has no room.
 */

#include "front/extension12.h"

#include "front/extension.h"

static void
data_out(const struct roce_event *in, DAT_IB_EXTENSION_EVENT_DATA *out)
{
	*out = (DAT_IB_EXTENSION_EVENT_DATA){ .type = DAT_IB_RECV_PLAIN };
	if (in->kind != ROCE_EVENT_RECV)
		return;
	if ((in->flags & ROCE_EVENT_INVALID) != 0) {
		out->type = DAT_IB_RECV_INVALIDATE;
		out->rmr_context = rte_be_to_cpu_32(in->imm);
	} else if ((in->flags & ROCE_EVENT_IMM) != 0) {
		out->type = (in->flags & ROCE_EVENT_WRITE) != 0 ? DAT_IB_RDMA_WRITE_IMMED_DATA
								: DAT_IB_RECV_IMMED_DATA;
		out->immed_data = rte_be_to_cpu_32(in->imm);
	}
}

static DAT_RETURN
evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event, DAT_IB_EXTENSION_EVENT_DATA *data)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	enum dapl_status status;
	struct roce_event in;

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (event == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	if (data == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	status = dapl_evd_dequeue(evd, &in);
	if (status != DAPL_OK)
		return FRONT(status)(status);
	FRONT(event)(evd, &in, event);
	data_out(&in, data);
	return DAT_SUCCESS;
}

static DAT_RETURN
evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
		DAT_COUNT *n_more_events, DAT_IB_EXTENSION_EVENT_DATA *data)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	enum dapl_status status;
	struct roce_event in;
	uint32_t more = 0;

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (threshold < 1 || (uint32_t)threshold > roce_cq_depth(evd->cq))
		return bad_arg(DAT_INVALID_ARG3);
	if (event == NULL)
		return bad_arg(DAT_INVALID_ARG4);
	if (n_more_events == NULL)
		return bad_arg(DAT_INVALID_ARG5);
	if (data == NULL)
		return bad_arg(DAT_INVALID_ARG6);
	status = dapl_evd_wait(evd, timeout, (uint32_t)threshold, &in, &more);
	if (status == DAPL_OK) {
		FRONT(event)(evd, &in, event);
		data_out(&in, data);
	}
	if (status == DAPL_OK || status == DAPL_TIMEOUT)
		*n_more_events = (DAT_COUNT)more;
	return front_return(status);
}

const DAT_IB_EXTENSION FRONT(ib_extension) = {
	.post_cmp_and_swap = FRONT(ib_post_cmp_and_swap),
	.post_fetch_and_add = FRONT(ib_post_fetch_and_add),
	.post_rdma_write_immed = FRONT(ib_post_rdma_write_immed),
	.post_send_immed = FRONT(ib_post_send_immed),
	.post_send_with_invalidate = FRONT(ib_post_send_with_invalidate),
	.evd_dequeue = evd_dequeue,
	.evd_wait = evd_wait,
	.ep_calls = &FRONT(dat_ep_calls),
};
