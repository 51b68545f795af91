/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "cli/evd.h"
#include "cli/ia.h"
#include "talk.h"
#include "visit.h"

#define BATCH 64
/* Owner of the events, for messages. */
#define WHO "the clients"

static int
failed(DAT_RETURN ret, const char *call)
{
	cli_say_dat(ret, "%s", call);
	return -1;
}

static int
make_client(struct clients *clients, uint32_t index)
{
	const struct srqd_options *options = clients->options;
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = options->size,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = (DAT_COUNT)options->window,
		.max_request_dtos = (DAT_COUNT)options->window,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
	};
	struct client *client = &clients->list[index];
	/* Not 0, which would be no context. */
	DAT_CONTEXT context = { .as_64 = index + 1 };
	DAT_RETURN ret;

	ret = dat_ep_create(clients->ia, clients->pz, clients->dto_evd, clients->dto_evd,
			clients->conn_evd, &attr, &client->ep);
	if (ret != DAT_SUCCESS) {
		client->ep = DAT_HANDLE_NULL;
		cli_say_dat(ret, "dat_ep_create for client %u", index + 1);
		return -1;
	}
	ret = dat_set_consumer_context(client->ep, context);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_set_consumer_context");
	return talk_prepare(clients, index);
}

int
clients_open(struct clients *clients, const struct srqd_options *options, const char *ia,
		const struct sockaddr_storage *address)
{
	uint64_t transfers = 2ull * options->window * options->clients;
	DAT_RETURN ret;

	*clients = (struct clients){
		.options = options,
		.server = *address,
		.window = options->window,
	};
	if (cli_ia_open(ia, &clients->async_evd, &clients->ia) != 0)
		return -1;
	ret = dat_pz_create(clients->ia, &clients->pz);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_pz_create");
	if (cli_evd_create(clients->ia, transfers, DAT_EVD_DTO_FLAG, WHO, &clients->dto_evd) != 0 ||
			cli_evd_create(clients->ia, 2ull * options->clients,
					DAT_EVD_CONNECTION_FLAG, WHO, &clients->conn_evd) != 0)
		return -1;
	if (buffers_open(&clients->buffers, clients->ia, clients->pz, options->size, transfers) !=
			0)
		return -1;
	clients->list = calloc(options->clients, sizeof(*clients->list));
	if (clients->list == NULL) {
		cli_say("no memory for %u clients", options->clients);
		return -1;
	}
	for (uint32_t i = 0; i < options->clients; i++)
		if (make_client(clients, i) != 0)
			return -1;
	return 0;
}

static int
step_messages(struct clients *clients)
{
	DAT_EVENT event;
	int n, more = 1;

	for (n = 0; n < BATCH; n++) {
		more = cli_evd_take(clients->dto_evd, WHO, &event);
		if (more <= 0)
			break;
		if (talk_completion(clients, &event.event_data.dto_completion_event_data) != 0)
			return -1;
	}
	return more < 0 ? -1 : n;
}

static int
step_connections(struct clients *clients)
{
	DAT_EVENT event;
	int n;

	if (visit_begin(clients) != 0)
		return -1;
	n = cli_evd_take(clients->conn_evd, WHO, &event);
	if (n > 0 && visit_event(clients, &event) != 0)
		return -1;
	return n;
}

static int
step_async(struct clients *clients)
{
	DAT_EVENT event;
	int n = cli_evd_take(clients->async_evd, WHO, &event);

	if (n <= 0)
		return n;
	cli_say("asynchronous event 0x%x, reason %d, at the clients",
			(unsigned int)event.event_number,
			event.event_data.asynch_error_event_data.reason);
	return -1;
}

int
clients_step(struct clients *clients)
{
	int messages = step_messages(clients);
	int connections = messages < 0 ? -1 : step_connections(clients);

	if (connections < 0 || step_async(clients) < 0)
		return -1;
	return messages + connections;
}

bool
clients_done(const struct clients *clients)
{
	return clients->down == (clients->stopping ? clients->started : clients->options->clients);
}

int
clients_stop(struct clients *clients)
{
	clients->stopping = true;
	for (uint32_t i = 0; i < clients->started; i++)
		if (visit_end(clients, i) != 0)
			return -1;
	return 0;
}

/* Free one object, if it was made. @return 0; -1 on error; the error was printed. */
static int
freed(DAT_RETURN ret, const char *call)
{
	return ret == DAT_SUCCESS ? 0 : failed(ret, call);
}

int
clients_close(struct clients *clients)
{
	int rc = 0;

	if (clients->ia == DAT_HANDLE_NULL)
		return 0;
	for (uint32_t i = 0; clients->list != NULL && i < clients->options->clients; i++)
		if (clients->list[i].ep != DAT_HANDLE_NULL)
			rc |= freed(dat_ep_free(clients->list[i].ep), "dat_ep_free");
	rc |= buffers_close(&clients->buffers);
	if (clients->dto_evd != DAT_HANDLE_NULL)
		rc |= freed(dat_evd_free(clients->dto_evd), "dat_evd_free");
	if (clients->conn_evd != DAT_HANDLE_NULL)
		rc |= freed(dat_evd_free(clients->conn_evd), "dat_evd_free");
	if (clients->pz != DAT_HANDLE_NULL)
		rc |= freed(dat_pz_free(clients->pz), "dat_pz_free");
	if (freed(dat_ia_close(clients->ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close") != 0) {
		rc = -1;
		dat_ia_close(clients->ia, DAT_CLOSE_ABRUPT_FLAG);
	}
	free(clients->list);
	*clients = (struct clients){ .ia = DAT_HANDLE_NULL };
	return rc;
}
