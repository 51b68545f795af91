/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

void
poll_both(unsigned int n)
{
	while (n-- > 0) {
		poll_once(a);
		poll_once(b);
	}
}

DAT_EVENT
poll_until(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = { .event_number = 0 };
	DAT_RETURN rc = DAT_QUEUE_EMPTY;

	while (rc == DAT_QUEUE_EMPTY) {
		poll_both(1);
		rc = dat_evd_dequeue(evd, &event);
	}
	ok(rc);
	assert_int_equal(event.event_number, number);
	return event;
}

DAT_RETURN
wait_for(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
	DAT_EVENT event;
	DAT_COUNT more;

	return dat_evd_wait(evd, timeout, threshold, &event, &more);
}

void
want_event_before(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_COUNT more)
{
	DAT_EVENT event;
	DAT_COUNT left = -1;

	ok(dat_evd_wait(evd, PATIENCE_US, 1, &event, &left));
	assert_int_equal(event.event_number, number);
	assert_int_equal(left, more);
}

void
drain(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		;
}

DAT_EVENT
want_now(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	ok(dat_evd_dequeue(evd, &event));
	assert_int_equal(event.event_number, number);
	assert_ptr_equal(event.evd_handle, evd);
	return event;
}

void
want_dto_now(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status)
{
	DAT_EVENT event = want_now(evd, DAT_DTO_COMPLETION_EVENT);
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;

	assert_int_equal(data->status, status);
	assert_int_equal(data->user_cookie.as_64, value);
	assert_ptr_equal(data->ep_handle, end->ep);
}

void
want_soft(DAT_EVD_HANDLE async, DAT_EP_HANDLE ep)
{
	DAT_EVENT event = want_now(async, DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK);
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;

	assert_ptr_equal(data->dat_handle, ep);
	assert_int_equal(data->reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
}

DAT_EVENT
next_event(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT more;

	ok(dat_evd_wait(evd, PATIENCE_US, 1, &event, &more));
	return event;
}

DAT_DTO_COMPLETION_EVENT_DATA
next_dto(DAT_EVD_HANDLE evd)
{
	return want_event(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
}

void
want_received(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		want_dto(b, b->recv, from, DAT_DTO_SUCCESS, length);
}

void
want_received_now(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		want_dto_now(b, b->recv, from, DAT_DTO_SUCCESS);
}

void
want_sent(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		want_dto(a, a->request, from, DAT_DTO_SUCCESS, length);
}

void
want_passed(uint64_t receive, uint64_t request, DAT_VLEN length)
{
	want_dto(b, b->recv, receive, DAT_DTO_SUCCESS, length);
	want_dto(a, a->request, request, DAT_DTO_SUCCESS, length);
}

DAT_RETURN
post_software(DAT_EVD_HANDLE evd, uintptr_t number)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	event.event_number = DAT_SOFTWARE_EVENT;
	event.event_data.software_event_data.pointer = (DAT_PVOID)number;
	return dat_evd_post_se(evd, &event);
}

void
want_software(DAT_EVD_HANDLE evd, uintptr_t number)
{
	DAT_EVENT event = want_now(evd, DAT_SOFTWARE_EVENT);

	assert_ptr_equal(event.event_data.software_event_data.pointer, (DAT_PVOID)number);
}
