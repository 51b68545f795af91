/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_EVENT_H
#define FRONT_EVENT_H

/** @file The event that nearly all are: a transfer is complete. */

#include "front/abi.h"

static inline bool
is_completion(const struct roce_event *in)
{
	return in->kind <= ROCE_EVENT_RECV;
}

/** front_event() for a completion. */
static inline void
completion_event(struct dapl_evd *evd, const struct roce_event *in, DAT_EVENT *out)
{
	DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;

	out->evd_handle = evd;
	out->event_number = DAT_DTO_COMPLETION_EVENT;
	data->ep_handle = in->owner;
	data->user_cookie.as_64 = in->wr_id;
	data->transfered_length = in->byte_len;
	data->status = likely(in->status == IBV_WC_SUCCESS) ? DAT_DTO_SUCCESS
							    : front_dto_status(in->status);
	new_completion(in, out);
}

#endif
