/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/cr.h"
#include "dapl/ia.h"
#include "front/event.h"

static const DAT_EVENT_NUMBER conn_number[DAPL_CONN_EVENTS] = {
	[DAPL_CONN_ESTABLISHED] = DAT_CONNECTION_EVENT_ESTABLISHED,
	[DAPL_CONN_PEER_REJECTED] = DAT_CONNECTION_EVENT_PEER_REJECTED,
	[DAPL_CONN_NON_PEER_REJECTED] = DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
	[DAPL_CONN_ACCEPT_ERROR] = DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR,
	[DAPL_CONN_DISCONNECTED] = DAT_CONNECTION_EVENT_DISCONNECTED,
	[DAPL_CONN_BROKEN] = DAT_CONNECTION_EVENT_BROKEN,
	[DAPL_CONN_TIMED_OUT] = DAT_CONNECTION_EVENT_TIMED_OUT,
	[DAPL_CONN_UNREACHABLE] = DAT_CONNECTION_EVENT_UNREACHABLE,
};

static void
connection_event(const struct roce_event *in, DAT_EVENT *out)
{
	DAT_CONNECTION_EVENT_DATA *data = &out->event_data.connect_event_data;

	/* In 1.2 nobody rejects with reasons. */
	bool said = BY_ABI(in->opcode == DAPL_CONN_ESTABLISHED, true);

	out->event_number = conn_number[in->opcode];
	data->ep_handle = in->owner;
	data->private_data_size = said ? (DAT_COUNT)in->byte_len : 0;
	data->private_data = said ? (DAT_PVOID)(uintptr_t)in->wr_id : NULL;
}

/* The handle is handed out as it is: the region may be gone. */
static void
bind_event(const struct roce_event *in, DAT_EVENT *out)
{
	DAT_RMR_BIND_COMPLETION_EVENT_DATA *data = &out->event_data.rmr_completion_event_data;

	out->event_number = DAT_RMR_BIND_COMPLETION_EVENT;
	data->rmr_handle = in->owner;
	data->user_cookie.as_64 = in->wr_id;
	data->status = in->status == IBV_WC_SUCCESS ? DAT_RMR_BIND_SUCCESS
						    : front_dto_status(in->status);
}

/* A request lives until the consumer, who learns of it here, answers it: following the pointer is safe. */
static void
cr_event(const struct roce_event *in, DAT_EVENT *out)
{
	DAT_CR_ARRIVAL_EVENT_DATA *data = &out->event_data.cr_arrival_event_data;
	struct dapl_cr *cr = in->owner;

	out->event_number = DAT_CONNECTION_REQUEST_EVENT;
	data->sp_handle.psp_handle = cr->psp;
	data->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->head.ia->address.sa;
	data->conn_qual = cr->conn_qual;
	data->cr_handle = cr;
	new_cr_arrival(data);
}

static void
async_event(const struct roce_event *in, DAT_EVENT *out)
{
	static const struct {
		DAT_EVENT_NUMBER number;
		DAT_COUNT reason;
	} events[DAPL_ASYNC_EVENTS] = {
		[DAPL_ASYNC_EVD_OVERFLOW] = { DAT_ASYNC_ERROR_EVD_OVERFLOW,
				DAT_EVD_OVERFLOW_ERROR },
		[DAPL_ASYNC_SRQ_LOW] = { DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK,
				DAT_SRQ_LOW_WATERMARK_EVENT },
		[DAPL_ASYNC_EP_SOFT_HIGH] = { DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK,
				DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT },
		[DAPL_ASYNC_EP_LAST_WQE] = { DAT_ASYNC_ERROR_EP_BROKEN, DAT_EP_TRANSFER_TO_ERROR },
		[DAPL_ASYNC_IA_FATAL] = { DAT_ASYNC_ERROR_IA_CATASTROPHIC,
				DAT_IA_CATASTROPHIC_ERROR },
	};
	DAT_ASYNCH_ERROR_EVENT_DATA *data = &out->event_data.asynch_error_event_data;

	out->event_number = events[in->opcode].number;
	data->dat_handle = in->opcode == DAPL_ASYNC_IA_FATAL
			? (DAT_HANDLE)consumer_handle(in->owner)
			: (DAT_HANDLE)in->owner;
	data->reason = events[in->opcode].reason;
}

static void
software_event(const struct roce_event *in, DAT_EVENT *out)
{
	out->event_number = DAT_SOFTWARE_EVENT;
	out->event_data.software_event_data.pointer = (DAT_PVOID)(uintptr_t)in->wr_id;
}

static __rte_noinline void
rare_event(const struct roce_event *in, DAT_EVENT *out)
{
	switch (in->kind) {
	case ROCE_EVENT_BIND:
		bind_event(in, out);
		break;
	case DAPL_EVENT_CONNECTION:
		connection_event(in, out);
		break;
	case DAPL_EVENT_CR:
		cr_event(in, out);
		break;
	case DAPL_EVENT_SOFTWARE:
		software_event(in, out);
		break;
	default:
		async_event(in, out);
		break;
	}
}

void
front_event(struct dapl_evd *evd, const struct roce_event *in, DAT_EVENT *out)
{
	if (likely(is_completion(in))) {
		completion_event(evd, in, out);
		return;
	}
	out->evd_handle = evd;
	rare_event(in, out);
}
