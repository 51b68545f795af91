/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of dtest -p: whoever waits, polls, and compares with DAT_QUEUE_EMPTY as it is. The private data of the
 * request is changed where it lies, and sent back.
 */

#include "consumer.h"

#define QUAL    45248
#define PRIVATE 48
#define ROUNDS  200

static DAT_EVENT
poll_event(DAT_EVD_HANDLE evd, DAT_EVD_HANDLE other)
{
	DAT_EVENT event;
	DAT_RETURN rc;

	for (;;) {
		rc = dat_evd_dequeue(evd, &event);
		if (rc != DAT_QUEUE_EMPTY)
			break;
		/* The other end lives in this process and needs a poll, too. */
		if (other != DAT_HANDLE_NULL)
			TRUE_THAT(dat_evd_dequeue(other, &event) == DAT_QUEUE_EMPTY);
	}
	MUST(rc);
	return event;
}

static void
connect_polling(struct side *client, DAT_EP_HANDLE from, struct side *server, DAT_EP_HANDLE to)
{
	DAT_CR_PARAM request;
	char data[PRIVATE];
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	char *there;
	int i;

	for (i = 0; i < PRIVATE; i++)
		data[i] = (char)i;
	MUST(dat_ep_connect(from, server->address, QUAL, PATIENCE_US, PRIVATE, data,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	event = poll_event(server->connect, client->connect);
	TRUE_THAT(event.event_number == DAT_CONNECTION_REQUEST_EVENT);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	MUST(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
	TRUE_THAT(request.private_data_size >= PRIVATE);
	there = (char *)request.private_data;
	for (i = 0; i < PRIVATE; i++)
		there[i] = (char)(there[i] + 1);
	MUST(dat_cr_accept(cr, to, PRIVATE, there));
	event = poll_event(client->connect, DAT_HANDLE_NULL);
	TRUE_THAT(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
	there = (char *)event.event_data.connect_event_data.private_data;
	TRUE_THAT(event.event_data.connect_event_data.private_data_size >= PRIVATE);
	for (i = 0; i < PRIVATE; i++)
		TRUE_THAT(there[i] == (char)(i + 1));
	event = poll_event(server->connect, DAT_HANDLE_NULL);
	TRUE_THAT(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
ping(struct side *client, DAT_EP_HANDLE from, struct side *server, DAT_EP_HANDLE to)
{
	DAT_LMR_TRIPLET here = piece(client, 0, 64), there = piece(server, 0, 64);
	DAT_EVENT event;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		memset(client->buffer, i, 64);
		MUST(dat_ep_post_recv(to, 1, &there, cookie_of(i), DAT_COMPLETION_DEFAULT_FLAG));
		MUST(dat_ep_post_send(from, 1, &here, cookie_of(i), DAT_COMPLETION_DEFAULT_FLAG));
		event = poll_event(server->dto, DAT_HANDLE_NULL);
		TRUE_THAT(event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS);
		TRUE_THAT(memcmp(client->buffer, server->buffer, 64) == 0);
		event = poll_event(client->dto, DAT_HANDLE_NULL);
		TRUE_THAT(event.event_data.dto_completion_event_data.user_cookie.as_64 ==
				(DAT_UINT64)i);
	}
}

int
main(void)
{
	struct side client, server;
	DAT_EP_HANDLE from, to;
	DAT_PSP_HANDLE psp;

	open_side(&client, "loop0", 16);
	open_side(&server, "loop1", 16);
	MUST(dat_psp_create(server.ia, QUAL, server.connect, DAT_PSP_CONSUMER_FLAG, &psp));
	MUST(dat_ep_create(
			client.ia, client.pz, client.dto, client.dto, client.connect, NULL, &from));
	MUST(dat_ep_create(
			server.ia, server.pz, server.dto, server.dto, server.connect, NULL, &to));
	connect_polling(&client, from, &server, to);
	ping(&client, from, &server, to);
	ping(&server, to, &client, from);
	MUST(dat_ep_disconnect(from, DAT_CLOSE_ABRUPT_FLAG));
	next_event(server.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	next_event(client.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	MUST(dat_ep_free(from));
	MUST(dat_ep_free(to));
	MUST(dat_psp_free(psp));
	close_side(&client);
	close_side(&server);
	return 0;
}
