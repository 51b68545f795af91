/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "cli/cli.h"
#include "cli/evd.h"
#include "cli/ia.h"
#include "guests.h"
#include "liveness.h"
#include "pending.h"

/* After so many messages the queue is looked after: more would only let it run dry. */
#define BATCH 64
/* Owner of the events, for messages. */
#define WHO "the server"
/* So often guests are looked after: seconds. */
#define LOOK_S 0.1
/* Requests that may wait beyond the clients there is a place for: each is to hear why it is rejected. */
#define BACKLOG 64
/* srq_watermarks_supported: the low one. */
#define LOW_SUPPORTED 0x001

static int
failed(DAT_RETURN ret, const char *call)
{
	cli_say_dat(ret, "%s", call);
	return -1;
}

static int
check_adapter(struct server *server, const char *name)
{
	const struct srqd_options *options = server->options;
	struct cli_ia_attrs attrs;

	if (cli_ia_query(server->ia, &attrs) != 0)
		return -1;
	server->rnr_before = cli_ia_count(&attrs, "rnr_nak_sent");
	if (options->low != 0 && (attrs.provider.srq_watermarks_supported & LOW_SUPPORTED) == 0) {
		cli_say("%s has no low watermark: only --low 0 works there", name);
		return -1;
	}
	if (options->size > attrs.ia.max_message_size) {
		cli_say("%s carries messages of at most %llu bytes, not %u", name,
				(unsigned long long)attrs.ia.max_message_size, options->size);
		return -1;
	}
	return 0;
}

static int
make_queues(struct server *server)
{
	const struct srqd_options *options = server->options;
	struct refill_config config = {
		.ia = server->ia,
		.size = options->size,
		.depth = options->depth,
		.max_depth = options->max_depth,
		.low = options->low,
	};
	DAT_RETURN ret;

	ret = dat_pz_create(server->ia, &server->pz);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_pz_create");
	config.pz = server->pz;
	/* A buffer waits for one completion at a time, of its receiving or of its sending; a client for one sign of life. */
	if (cli_evd_create(server->ia, (uint64_t)options->max_depth + options->max_clients,
			    DAT_EVD_DTO_FLAG, WHO, &server->dto_evd) != 0 ||
			cli_evd_create(server->ia, 2ull * options->max_clients,
					DAT_EVD_CONNECTION_FLAG, WHO, &server->conn_evd) != 0 ||
			cli_evd_create(server->ia, BACKLOG + options->max_clients, DAT_EVD_CR_FLAG,
					WHO, &server->cr_evd) != 0)
		return -1;
	server->messages = calloc(options->max_depth, sizeof(*server->messages));
	server->guests = calloc(options->max_clients, sizeof(*server->guests));
	if (server->messages == NULL || server->guests == NULL) {
		cli_say("no memory for %u buffers and %u clients", options->max_depth,
				options->max_clients);
		return -1;
	}
	return refill_open(&server->refill, &config);
}

int
server_open(struct server *server, const struct srqd_options *options, const char *ia)
{
	DAT_RETURN ret;

	*server = (struct server){ .options = options };
	if (cli_ia_open(ia, &server->async_evd, &server->ia) != 0)
		return -1;
	if (check_adapter(server, ia) != 0 || make_queues(server) != 0)
		return -1;
	ret = dat_psp_create(server->ia, options->port, server->cr_evd, DAT_PSP_CONSUMER_FLAG,
			&server->psp);
	if (ret == DAT_SUCCESS)
		return 0;
	server->psp = DAT_HANDLE_NULL;
	cli_say_dat(ret, "cannot listen on port %u of %s", options->port, ia);
	return -1;
}

int
server_address(const struct server *server, struct sockaddr_storage *address)
{
	const struct sockaddr *own;
	struct cli_ia_attrs attrs;

	if (cli_ia_query(server->ia, &attrs) != 0)
		return -1;
	own = attrs.ia.ia_address_ptr;
	if (own == NULL) {
		cli_say("the adapter has no address");
		return -1;
	}
	memset(address, 0, sizeof(*address));
	memcpy(address, own,
			own->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						   : sizeof(struct sockaddr_in));
	return 0;
}

uint64_t
server_rnr_naks(const struct server *server)
{
	struct cli_ia_attrs attrs;

	if (cli_ia_query(server->ia, &attrs) != 0)
		return 0;
	return cli_ia_count(&attrs, "rnr_nak_sent") - server->rnr_before;
}

/* @return number of completions, BATCH when there may be more; -1 on error; the error was printed. */
static int
step_messages(struct server *server)
{
	DAT_EVENT event;
	int n, more = 1;

	for (n = 0; n < BATCH; n++) {
		more = cli_evd_take(server->dto_evd, WHO, &event);
		if (more <= 0)
			break;
		if (answer_completion(server, &event.event_data.dto_completion_event_data) != 0)
			return -1;
	}
	return more < 0 ? -1 : n;
}

static int
step_async(struct server *server)
{
	DAT_EVENT event;
	int more = cli_evd_take(server->async_evd, WHO, &event);

	if (more <= 0)
		return more;
	if (refill_is_event(&server->refill, &event))
		return refill_event(&server->refill) == 0 ? 1 : -1;
	cli_say("asynchronous event 0x%x, reason %d", (unsigned int)event.event_number,
			event.event_data.asynch_error_event_data.reason);
	return -1;
}

static int
step_connections(struct server *server)
{
	DAT_EVENT event;
	int n = cli_evd_take(server->conn_evd, WHO, &event);
	int requests;

	if (n < 0 || (n > 0 && guests_connection(server, &event) != 0))
		return -1;
	if (server->psp == DAT_HANDLE_NULL)
		return n;
	requests = cli_evd_take(server->cr_evd, WHO, &event);
	if (requests < 0 ||
			(requests > 0 &&
					guests_request(server,
							&event.event_data.cr_arrival_event_data) !=
							0))
		return -1;
	return n + requests;
}

int
server_step(struct server *server)
{
	bool leaving = server->leaving > 0;
	int messages, async, connections;

	server->now = cli_runtime_step(&server->runtime);
	messages = step_messages(server);
	if (messages < 0)
		return -1;
	if (leaving && messages < BATCH && guests_part(server) != 0)
		return -1;
	/* The event is there no later than the message that caused it. */
	async = step_async(server);
	if (async < 0 || refill_settle(&server->refill) != 0)
		return -1;
	connections = step_connections(server);
	if (server->now - server->looked_at >= LOOK_S) {
		server->looked_at = server->now;
		liveness_look(server);
		pending_look(server);
	}
	return connections < 0 ? -1 : messages + async + connections;
}

int
server_stop(struct server *server)
{
	DAT_RETURN ret;

	if (server->psp != DAT_HANDLE_NULL) {
		ret = dat_psp_free(server->psp);
		server->psp = DAT_HANDLE_NULL;
		if (ret != DAT_SUCCESS)
			return failed(ret, "dat_psp_free");
	}
	return guests_stop(server);
}

void
server_break(struct server *server)
{
	guests_break(server);
}

static int
free_evd(DAT_EVD_HANDLE evd)
{
	DAT_RETURN ret = evd == DAT_HANDLE_NULL ? DAT_SUCCESS : dat_evd_free(evd);

	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_evd_free");
}

int
server_close(struct server *server)
{
	int rc = 0;

	if (server->ia == DAT_HANDLE_NULL)
		return 0;
	rc |= server_stop(server);
	rc |= guests_close(server);
	rc |= refill_close(&server->refill);
	rc |= free_evd(server->cr_evd) | free_evd(server->conn_evd) | free_evd(server->dto_evd);
	if (server->pz != DAT_HANDLE_NULL && dat_pz_free(server->pz) != DAT_SUCCESS)
		rc = -1;
	if (dat_ia_close(server->ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS) {
		dat_ia_close(server->ia, DAT_CLOSE_ABRUPT_FLAG);
		if (cli_said() == NULL)
			cli_say("the adapter does not close in order");
		rc = -1;
	}
	free(server->messages);
	free(server->guests);
	*server = (struct server){ .ia = DAT_HANDLE_NULL };
	return rc;
}
