/* SPDX-License-Identifier: BSD-3-Clause */
#include "visit.h"

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/words.h"
#include "hello.h"
#include "talk.h"

#define CONNECT_TIMEOUT_US 30000000u
/* Requests on the way at a time: more than any latency needs, less than any backlog has. */
#define AT_ONCE 16

static int
begin_one(struct clients *clients, uint32_t index)
{
	struct srqd_hello wish = {
		.size = clients->options->size,
		.window = clients->options->window,
	};
	struct sockaddr_storage address = clients->server;
	uint8_t bytes[SRQD_HELLO_LEN];
	DAT_RETURN ret;

	srqd_hello_encode(&wish, bytes);
	ret = dat_ep_connect(clients->list[index].ep, (DAT_IA_ADDRESS_PTR)&address,
			clients->options->port, CONNECT_TIMEOUT_US, sizeof(bytes), bytes,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_ep_connect for client %u", index + 1);
	return -1;
}

int
visit_begin(struct clients *clients)
{
	while (!clients->stopping && clients->started < clients->options->clients &&
			clients->started - clients->up < AT_ONCE)
		if (begin_one(clients, clients->started++) != 0)
			return -1;
	return 0;
}

/* The server has accepted: will what it grants do? */
static int
judge_grant(struct clients *clients, const DAT_CONNECTION_EVENT_DATA *data)
{
	struct srqd_hello grant;

	if (data->private_data_size < 0 ||
			!srqd_hello_decode(data->private_data, (size_t)data->private_data_size,
					&grant)) {
		cli_say("the server is no dat-srqd of this version");
		return -1;
	}
	if (grant.size < clients->options->size) {
		cli_say("the server's buffers hold %u bytes, not %u: see --size", grant.size,
				clients->options->size);
		return -1;
	}
	if (grant.window < clients->window)
		clients->window = grant.window;
	clients->sink = grant.sink;
	return 0;
}

static int
take_up(struct clients *clients, uint32_t index, const DAT_CONNECTION_EVENT_DATA *data)
{
	clients->list[index].connected = true;
	clients->up++;
	if (judge_grant(clients, data) != 0)
		return -1;
	/* No visitor sends before all are there: this is about many at the same time. */
	if (clients->up < clients->options->clients || clients->stopping)
		return 0;
	clients->began = cli_seconds();
	for (uint32_t i = 0; i < clients->options->clients; i++)
		if (talk_go_on(clients, i) != 0)
			return -1;
	return 0;
}

static int
take_end(struct clients *clients, uint32_t index, DAT_EVENT_NUMBER number)
{
	struct client *client = &clients->list[index];
	const char *words = cli_connection_words(number);

	if (client->parting && number == DAT_CONNECTION_EVENT_DISCONNECTED) {
		clients->down++;
		return 0;
	}
	if (client->connected)
		cli_say("client %u has lost its server with %u of %u messages sent: %s", index + 1,
				client->sent, clients->options->messages, words);
	else if (number == DAT_CONNECTION_EVENT_PEER_REJECTED)
		cli_say("the server has no place for client %u, or is no dat-srqd", index + 1);
	else
		cli_say("client %u cannot connect: %s", index + 1, words);
	return -1;
}

int
visit_event(struct clients *clients, const DAT_EVENT *event)
{
	const DAT_CONNECTION_EVENT_DATA *data = &event->event_data.connect_event_data;
	DAT_CONTEXT context = { .as_64 = 0 };
	uint32_t index;

	if (dat_get_consumer_context(data->ep_handle, &context) != DAT_SUCCESS ||
			context.as_64 == 0) {
		cli_say("an event names an endpoint that is none of ours");
		return -1;
	}
	index = (uint32_t)context.as_64 - 1;
	if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
		return take_up(clients, index, data);
	return take_end(clients, index, event->event_number);
}

int
visit_end(struct clients *clients, uint32_t index)
{
	struct client *client = &clients->list[index];
	DAT_RETURN ret;

	if (client->parting)
		return 0;
	client->parting = true;
	ret = dat_ep_disconnect(client->ep, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_ep_disconnect for client %u", index + 1);
	return -1;
}
