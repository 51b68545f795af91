/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

void
begin_connection(void)
{
	ok(end_connect(a, b, CONN_QUAL));
	ok(dat_cr_accept(end_request(b), b->ep, 0, NULL));
}

void
end_by(enum ending how)
{
	const DAT_CLOSE_FLAGS flags = how == BY_A_GRACEFUL || how == BY_B_GRACEFUL
			? DAT_CLOSE_GRACEFUL_FLAG
			: DAT_CLOSE_ABRUPT_FLAG;

	if (how <= BY_A_GRACEFUL)
		ok(dat_ep_disconnect(how <= BY_B_GRACEFUL ? b->ep : a->ep, flags));
	else if (how == BY_A_FREE)
		ok(dat_ep_free(a->ep));
	else if (how == BY_HARD_MARK)
		ok(dat_ep_set_watermark(b->ep, DAT_WATERMARK_INFINITE, 0));
	else
		ok(dat_lmr_free(b->lmr));
}

void
reset_both(void)
{
	ok(dat_ep_reset(a->ep));
	ok(dat_ep_reset(b->ep));
}

void
connect_again(void)
{
	reset_both();
	pair_connect(&pair);
}

void
want_both(DAT_EVENT_NUMBER number)
{
	want_event(a->connect, number);
	want_event(b->connect, number);
}

void
want_peer_broken(uint64_t value, DAT_DTO_COMPLETION_STATUS status)
{
	want_dto(a, a->request, value, status, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
}
