/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The extension as a program of DAT 1.2 sees it: the table of its calls, and those two that hand out what a receive
 * brought, for which the event of DAT 1.2 has no room.
 */

#include "front/extension12.h"

#include "front/extension.h"

/* The length of a WRITE is for those alone who learn that it is one: new_completion() has left it out. */
static void
write_out(const struct roce_event *in, DAT_EVENT *event, DAT_IB_EXTENSION_EVENT_DATA *out)
{
	out->type = DAT_IB_RDMA_WRITE_IMMED_DATA;
	event->event_data.dto_completion_event_data.transfered_length = in->byte_len;
}

static void
data_out(const struct roce_event *in, DAT_EVENT *event, DAT_IB_EXTENSION_EVENT_DATA *out)
{
	*out = (DAT_IB_EXTENSION_EVENT_DATA){ .type = DAT_IB_RECV_PLAIN };
	if (in->kind != ROCE_EVENT_RECV)
		return;
	if ((in->flags & ROCE_EVENT_INVALID) != 0) {
		out->type = DAT_IB_RECV_INVALIDATE;
		out->rmr_context = rte_be_to_cpu_32(in->imm);
	} else if ((in->flags & ROCE_EVENT_IMM) != 0) {
		out->type = DAT_IB_RECV_IMMED_DATA;
		out->immed_data = in->imm;
		if ((in->flags & ROCE_EVENT_WRITE) != 0)
			write_out(in, event, out);
	}
}

static DAT_RETURN
evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event, DAT_IB_EXTENSION_EVENT_DATA *data)
{
	struct roce_event in;
	DAT_RETURN rc = front_evd_take(evd_handle, event, data != NULL ? &in : NULL);

	/* Without data there is no success. */
	if (rc == DAT_SUCCESS && data != NULL)
		data_out(&in, event, data);
	return rc;
}

static DAT_RETURN
evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
		DAT_COUNT *n_more_events, DAT_IB_EXTENSION_EVENT_DATA *data)
{
	struct roce_event in;
	DAT_RETURN rc = front_evd_await(evd_handle, timeout, threshold, event, n_more_events,
			data != NULL ? &in : NULL);

	/* Without data there is no success. */
	if (rc == DAT_SUCCESS && data != NULL)
		data_out(&in, event, data);
	return rc;
}

const DAT_IB_EXTENSION front_ib_extension = {
	.post_cmp_and_swap = front_ib_post_cmp_and_swap,
	.post_fetch_and_add = front_ib_post_fetch_and_add,
	.post_rdma_write_immed = front_ib_post_rdma_write_immed,
	.post_send_immed = front_ib_post_send_immed,
	.post_send_with_invalidate = front_ib_post_send_with_invalidate,
	.evd_dequeue = evd_dequeue,
	.evd_wait = evd_wait,
	.ep_calls = &front_dat_ep_calls,
};
