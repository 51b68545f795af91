/* SPDX-License-Identifier: BSD-3-Clause */
/* In the manner of dapltest's connection test: a service point for one request, of an endpoint that is named before. */

#include "consumer.h"

#define QUAL   45279
#define ROUNDS 5

static DAT_EP_HANDLE
new_ep(struct side *side)
{
	DAT_EP_HANDLE ep;

	MUST(dat_ep_create(side->ia, side->pz, side->dto, side->dto, side->connect, NULL, &ep));
	return ep;
}

static void
want_state(DAT_EP_HANDLE ep, DAT_EP_STATE wanted)
{
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_EP_STATE state;

	MUST(dat_ep_get_status(ep, &state, &recv_idle, &request_idle));
	TRUE_THAT(state == wanted);
	TRUE_THAT(recv_idle == DAT_TRUE && request_idle == DAT_TRUE);
}

int
main(void)
{
	struct side client, server;
	DAT_EP_HANDLE from, to;
	DAT_CR_PARAM request;
	DAT_RSP_HANDLE rsp;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	int round;

	open_side(&client, "loop0", 8);
	open_side(&server, "loop1", 8);
	from = new_ep(&client);
	to = new_ep(&server);
	for (round = 0; round < ROUNDS; round++) {
		MUST(dat_rsp_create(server.ia, QUAL, to, server.connect, &rsp));
		want_state(to, DAT_EP_STATE_RESERVED);
		MUST(dat_ep_connect(from, server.address, QUAL, PATIENCE_US, 0, NULL,
				DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		event = next_event(server.connect, DAT_CONNECTION_REQUEST_EVENT);
		TRUE_THAT(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle == rsp);
		cr = event.event_data.cr_arrival_event_data.cr_handle;
		MUST(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
		TRUE_THAT(request.local_ep_handle == to);
		want_state(to, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
		MUST(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
		next_event(server.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
		next_event(client.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
		want_state(to, DAT_EP_STATE_CONNECTED);
		disconnect_both(&client, from, &server);
		MUST(dat_rsp_free(rsp));
		MUST(dat_ep_reset(from));
		MUST(dat_ep_reset(to));
	}
	MUST(dat_ep_free(from));
	MUST(dat_ep_free(to));
	close_side(&client);
	close_side(&server);
	return 0;
}
