/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of MPI libraries that have a thread for connections: it waits on one dispatcher for requests and
 * connections, and accepts, while the other thread polls for data.
 */

#include <pthread.h>

#include "consumer.h"

#define QUAL        8000
#define CONNECTIONS 16
#define LENGTH      256

struct server {
	struct side side;
	DAT_EP_HANDLE ep[CONNECTIONS];
	int established;
};

static void *
serve(void *arg)
{
	struct server *server = (struct server *)arg;
	int accepted = 0;

	while (server->established < CONNECTIONS) {
		DAT_EVENT event;
		DAT_COUNT more;

		MUST(dat_evd_wait(server->side.connect, DAT_TIMEOUT_INFINITE, 1, &event, &more));
		if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
			MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle,
					server->ep[accepted], 0, NULL));
			accepted++;
		} else {
			TRUE_THAT(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
			server->established++;
		}
	}
	return NULL;
}

static DAT_EP_HANDLE
new_ep(struct side *side)
{
	DAT_EP_HANDLE ep;

	MUST(dat_ep_create(side->ia, side->pz, side->dto, side->dto, side->connect, NULL, &ep));
	return ep;
}

static DAT_EVENT
poll_for(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_RETURN rc;

	do
		rc = dat_evd_dequeue(evd, &event);
	while (rc == DAT_QUEUE_EMPTY);
	MUST(rc);
	return event;
}

int
main(void)
{
	DAT_EP_HANDLE from[CONNECTIONS];
	DAT_LMR_TRIPLET here, there;
	struct server server;
	struct side client;
	DAT_PSP_HANDLE psp;
	pthread_t thread;
	DAT_EVENT event;
	int i;

	open_side(&client, "loop0", 2 * CONNECTIONS);
	open_side(&server.side, "loop1", 2 * CONNECTIONS);
	server.established = 0;
	there = piece(&server.side, 0, LENGTH);
	for (i = 0; i < CONNECTIONS; i++) {
		server.ep[i] = new_ep(&server.side);
		MUST(dat_ep_post_recv(server.ep[i], 1, &there, cookie_of(i),
				DAT_COMPLETION_DEFAULT_FLAG));
	}
	MUST(dat_psp_create(
			server.side.ia, QUAL, server.side.connect, DAT_PSP_CONSUMER_FLAG, &psp));
	TRUE_THAT(pthread_create(&thread, NULL, serve, &server) == 0);
	here = piece(&client, 0, LENGTH);
	for (i = 0; i < CONNECTIONS; i++) {
		from[i] = new_ep(&client);
		MUST(dat_ep_connect(from[i], server.side.address, QUAL, PATIENCE_US, 0, NULL,
				DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		event = poll_for(client.connect);
		TRUE_THAT(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
		MUST(dat_ep_post_send(
				from[i], 1, &here, cookie_of(i), DAT_COMPLETION_DEFAULT_FLAG));
		event = poll_for(server.side.dto);
		TRUE_THAT(event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS);
		TRUE_THAT(event.event_data.dto_completion_event_data.user_cookie.as_64 ==
				(DAT_UINT64)i);
		event = poll_for(client.dto);
		TRUE_THAT(event.event_data.dto_completion_event_data.ep_handle == from[i]);
	}
	TRUE_THAT(pthread_join(thread, NULL) == 0);
	for (i = 0; i < CONNECTIONS; i++)
		MUST(dat_ep_free(from[i]));
	for (i = 0; i < CONNECTIONS; i++)
		next_event(server.side.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	for (i = 0; i < CONNECTIONS; i++)
		MUST(dat_ep_free(server.ep[i]));
	MUST(dat_psp_free(psp));
	close_side(&client);
	close_side(&server.side);
	return 0;
}
