/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of dapltest: endpoints with null attributes, then others with the attributes that were queried of
 * those; one dispatcher for transfers and binds, of eight events; an orderly end, a reset, and another connection.
 */

#include "consumer.h"

#define QUAL    62001
#define MESSAGE 8192

static DAT_EP_HANDLE
new_ep(struct side *side, DAT_EP_ATTR *attr)
{
	DAT_EP_HANDLE ep;

	MUST(dat_ep_create(side->ia, side->pz, side->dto, side->dto, side->connect, attr, &ep));
	return ep;
}

static void
talk(struct side *client, DAT_EP_HANDLE from, struct side *server, DAT_EP_HANDLE to)
{
	DAT_LMR_TRIPLET here = piece(client, 0, MESSAGE), there = piece(server, 0, MESSAGE);

	memset(client->buffer, 'm', MESSAGE);
	memset(server->buffer, 0, MESSAGE);
	MUST(dat_ep_post_recv(to, 1, &there, cookie_of(1), DAT_COMPLETION_DEFAULT_FLAG));
	MUST(dat_ep_post_send(from, 1, &here, cookie_of(2), DAT_COMPLETION_DEFAULT_FLAG));
	next_completion(server->dto, to, 1, MESSAGE);
	next_completion(client->dto, from, 2, MESSAGE);
	TRUE_THAT(memcmp(client->buffer, server->buffer, MESSAGE) == 0);
}

/* A window over the memory, told of by the dispatcher of the transfers. */
static void
bind_window(struct side *side, DAT_EP_HANDLE ep)
{
	DAT_LMR_TRIPLET all = piece(side, 0, MESSAGE);
	DAT_RMR_CONTEXT context;
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	MUST(dat_rmr_create(side->pz, &rmr));
	MUST(dat_rmr_bind(rmr, &all, DAT_MEM_PRIV_REMOTE_READ_FLAG, ep, cookie_of(3),
			DAT_COMPLETION_DEFAULT_FLAG, &context));
	event = next_event(side->dto, DAT_RMR_BIND_COMPLETION_EVENT);
	TRUE_THAT(event.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS);
	MUST(dat_rmr_free(rmr));
}

static void
look_in_vain(DAT_EVD_HANDLE evd)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;

	TRUE_THAT(DAT_GET_TYPE(dat_evd_wait(evd, 0, 1, &event, &more)) == DAT_TIMEOUT_EXPIRED);
	TRUE_THAT(DAT_GET_TYPE(dat_evd_wait(evd, 1000, 1, &event, &more)) == DAT_TIMEOUT_EXPIRED);
	TRUE_THAT(more == 0);
}

int
main(void)
{
	struct side client, server;
	DAT_EP_HANDLE from, to;
	DAT_PSP_HANDLE psp;
	DAT_EP_PARAM param;
	int round;

	open_side(&client, "loop0", 8);
	open_side(&server, "loop1", 8);
	MUST(dat_psp_create(server.ia, QUAL, server.connect, DAT_PSP_CONSUMER_FLAG, &psp));
	from = new_ep(&client, NULL);
	to = new_ep(&server, NULL);
	for (round = 0; round < 3; round++) {
		connect_both(&client, from, &server, to, QUAL);
		talk(&client, from, &server, to);
		talk(&server, to, &client, from);
		bind_window(&server, to);
		look_in_vain(server.dto);
		disconnect_both(&client, from, &server);
		MUST(dat_ep_query(from, DAT_EP_FIELD_ALL, &param));
		TRUE_THAT(param.ep_attr.max_message_size >= MESSAGE);
		TRUE_THAT(param.ep_attr.max_recv_dtos >= 8 && param.ep_attr.max_request_dtos >= 8);
		MUST(dat_ep_reset(to));
		MUST(dat_ep_free(from));
		from = new_ep(&client, &param.ep_attr);
		if (round == 1) {
			MUST(dat_ep_free(to));
			to = new_ep(&server, &param.ep_attr);
		}
	}
	MUST(dat_ep_free(from));
	MUST(dat_ep_free(to));
	MUST(dat_psp_free(psp));
	close_side(&client);
	close_side(&server);
	return 0;
}
