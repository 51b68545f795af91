/* SPDX-License-Identifier: BSD-3-Clause */
#include "connect.h"

#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/evd.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "clock.h"
#include "control.h"
#include "stop.h"

#define CONNECT_TIMEOUT_US 30000000u
#define CONNECT_TIMEOUT_S  30
/* An end that hears no answer to its goodbye gives up by itself after ten. */
#define PART_TIMEOUT_S 20
/* Requests on the way at a time: more than any latency needs, less than any backlog has. */
#define AT_ONCE 16
/* Polling without news for so long turns into napping, which is kinder to the neighbours. */
#define NAP_AFTER 1000
#define NAP_NS    50000
/* After its last word a server still answers what the network has lost, or what was lost on purpose. */
#define LINGER_NS       50000000ull
#define LINGER_LOSSY_NS 1000000000ull
#define LINGER_NAP_NS   1000000

/* Before all is connected a server has measured nothing, and may as well wait for another client. */
static int
client_lost(struct perf_end *end)
{
	end->link.lost = !end->client;
	return -1;
}

static int
start(struct perf_end *end, DAT_EP_HANDLE ep, uint32_t index)
{
	struct perf_hello hello = end->hello;
	uint8_t bytes[PERF_HELLO_LEN];
	DAT_RETURN ret;

	hello.index = index;
	perf_hello_encode(&hello, bytes);
	ret = dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&end->remote, end->options->port,
			CONNECT_TIMEOUT_US, sizeof(bytes), bytes, DAT_QOS_BEST_EFFORT,
			DAT_CONNECT_DEFAULT_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_ep_connect on %s", end->adapter->name);
	return -1;
}

/* Judge what the peer says it measures; both sides run this over the control connection. */
static int
compare(struct perf_end *end, const void *bytes, DAT_COUNT len)
{
	struct perf_hello theirs;
	char sentence[256];

	if (len < 0 || !perf_hello_decode(bytes, (size_t)len, &theirs)) {
		cli_say("the other end is no dat-perf of this version");
		return -1;
	}
	if (perf_hello_agrees(&end->hello, &theirs, sentence, sizeof(sentence)))
		return 0;
	cli_say("%s", sentence);
	return -1;
}

/* The values of the peer's hello that need not agree. */
static void
note_memory(struct perf_end *end, const void *bytes, DAT_COUNT len)
{
	struct perf_hello theirs;

	if (len < 0 || !perf_hello_decode(bytes, (size_t)len, &theirs))
		return;
	end->peer.rmr_context = theirs.rmr_context;
	end->peer.address = theirs.address;
}

static int
take_connection_event(struct perf_end *end, const DAT_EVENT *event)
{
	const DAT_CONNECTION_EVENT_DATA *data = &event->event_data.connect_event_data;

	if (event->event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
		cli_say("cannot connect on %s: %s", end->adapter->name,
				cli_connection_words(event->event_number));
		return client_lost(end);
	}
	if (end->client)
		note_memory(end, data->private_data, data->private_data_size);
	if (data->ep_handle != end->control) {
		end->link.established++;
		return 0;
	}
	end->link.control_up = true;
	return end->client ? compare(end, data->private_data, data->private_data_size) : 0;
}

/* One step of the client. @return 1: something moved; 0: nothing; -1 on error; the error was printed. */
static int
step_client(struct perf_end *end)
{
	struct perf_link *link = &end->link;
	DAT_EVENT event;
	int moved;

	if (end->control != DAT_HANDLE_NULL && !link->control_started) {
		link->control_started = true;
		if (start(end, end->control, PERF_HELLO_CONTROL) != 0)
			return -1;
	}
	while ((end->control == DAT_HANDLE_NULL || link->control_up) &&
			link->started < end->plan->endpoints &&
			link->started - link->established < AT_ONCE) {
		if (start(end, end->eps[link->started].handle, link->started) != 0)
			return -1;
		link->started++;
	}
	moved = cli_evd_take(end->conn_evd, end->adapter->name, &event);
	if (moved > 0 && take_connection_event(end, &event) != 0)
		return -1;
	return moved;
}

static int
accept_request(struct perf_end *end, DAT_CR_HANDLE cr, const DAT_CR_PARAM *param, uint32_t index)
{
	struct perf_hello hello = end->hello;
	uint8_t bytes[PERF_HELLO_LEN];
	DAT_EP_HANDLE ep;
	DAT_RETURN ret;
	int agreed = 0;

	note_memory(end, param->private_data, param->private_data_size);
	if (index == PERF_HELLO_CONTROL) {
		ep = end->control;
		end->link.control_started = true;
		cli_address(param->remote_ia_address_ptr, end->link.client,
				sizeof(end->link.client));
	} else {
		ep = end->eps[index].handle;
		end->eps[index].taken = true;
	}
	hello.index = index;
	perf_hello_encode(&hello, bytes);
	/* The request is gone with the accept, and what it carried with it. */
	if (index == PERF_HELLO_CONTROL)
		agreed = compare(end, param->private_data, param->private_data_size);
	ret = dat_cr_accept(cr, ep, sizeof(bytes), bytes);
	if (ret != DAT_SUCCESS) {
		cli_say_dat(ret, "dat_cr_accept on %s", end->adapter->name);
		return client_lost(end);
	}
	/* Accepted all the same: the reply tells the client what differs. */
	if (agreed == 0 && index != PERF_HELLO_CONTROL)
		end->link.started++;
	return agreed == 0 ? 0 : client_lost(end);
}

/* Each endpoint is connected once, and all from where the control connection came from, which is the first of a client's. */
static bool
is_expected(const struct perf_end *end, const DAT_CR_PARAM *param, uint32_t index)
{
	char address[sizeof(end->link.client)];

	if (index == PERF_HELLO_CONTROL)
		return end->control != DAT_HANDLE_NULL && !end->link.control_started;
	if (index >= end->plan->endpoints || end->eps[index].taken)
		return false;
	if (end->control == DAT_HANDLE_NULL)
		return true;
	cli_address(param->remote_ia_address_ptr, address, sizeof(address));
	return end->link.control_started && strcmp(address, end->link.client) == 0;
}

/* @return 1: accepted; 0: rejected; -1 on error; the error was printed. */
static int
take_request(struct perf_end *end, const DAT_EVENT *event)
{
	DAT_CR_HANDLE cr = event->event_data.cr_arrival_event_data.cr_handle;
	struct perf_hello theirs;
	DAT_CR_PARAM param;
	DAT_RETURN ret;

	ret = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS) {
		cli_say_dat(ret, "dat_cr_query on %s", end->adapter->name);
		return -1;
	}
	if (param.private_data_size >= 0 &&
			perf_hello_decode(param.private_data, (size_t)param.private_data_size,
					&theirs) &&
			is_expected(end, &param, theirs.index))
		return accept_request(end, cr, &param, theirs.index) != 0 ? -1 : 1;
	/* An unknown peer, or a second client: ours is still served, but no such request prolongs the wait for it. */
	dat_cr_reject(cr);
	return 0;
}

/* As step_client(). Only what its client does has moved something. */
static int
step_server(struct perf_end *end)
{
	DAT_EVENT event;
	int requests, moved;

	requests = cli_evd_take(end->adapter->cr_evd, end->adapter->name, &event);
	if (requests > 0)
		requests = take_request(end, &event);
	if (requests < 0)
		return -1;
	moved = cli_evd_take(end->conn_evd, end->adapter->name, &event);
	if (moved < 0 || (moved > 0 && take_connection_event(end, &event) != 0))
		return -1;
	/* Without a connection nothing else tells that the adapter is lost. */
	if (requests + moved == 0 && perf_adapter_async(end->adapter) != 0)
		return -1;
	return requests + moved;
}

static bool
connected(const struct perf_end *end)
{
	return end->link.established == end->plan->endpoints &&
			(end->control == DAT_HANDLE_NULL || end->link.control_up);
}

/* Waiting without news: a nap now and then, and a limit. */
struct patience {
	uint64_t since;
	uint64_t limit; /* ticks; 0: none */
	unsigned int idle;
	bool parting; /* a signal does not end this wait: it asks for an orderly end */
};

static struct patience
be_patient(unsigned int seconds)
{
	return (struct patience){ .since = perf_now(), .limit = seconds * perf_hz() };
}

static struct patience
part_patiently(const struct perf_end *end)
{
	return (struct patience){
		.since = perf_now(),
		.limit = perf_stop_limit(end, PART_TIMEOUT_S),
		.parting = true,
	};
}

static bool
told_to_stop(const struct patience *patience)
{
	return perf_stop_failed() || (!patience->parting && cli_signal() != 0);
}

/* @return 0: go on; -1: too long, or told to stop. */
static int
wait_on(struct patience *patience, bool moved)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (told_to_stop(patience))
		return -1;
	if (moved) {
		patience->since = perf_now();
		patience->idle = 0;
		return 0;
	}
	if (++patience->idle < NAP_AFTER)
		return 0;
	nanosleep(&nap, NULL);
	return patience->limit == 0 || perf_now() - patience->since < patience->limit ? 0 : -1;
}

static int
gave_up(struct perf_end *end, const char *what, const struct patience *patience)
{
	if (told_to_stop(patience)) {
		end->link.unserved = !end->client && !patience->parting && cli_signal() != 0;
		return -1;
	}
	cli_say("%s on %s: no answer for too long", what, end->adapter->name);
	/* Between two measurements: no other client can go on with the run. */
	if (!end->link.control_started)
		return -1;
	return client_lost(end);
}

int
perf_connect_pair(struct perf_end *client, struct perf_end *server)
{
	struct patience patience = be_patient(CONNECT_TIMEOUT_S);
	int c, s;

	while (!connected(client) || !connected(server)) {
		c = step_client(client);
		s = c < 0 ? -1 : step_server(server);
		if (c < 0 || s < 0)
			return -1;
		if (wait_on(&patience, c + s > 0) != 0)
			return gave_up(client, "connecting", &patience);
	}
	return 0;
}

/* After a disagreement the server stays until the client has its answer. */
static void
linger(struct perf_end *end)
{
	const struct timespec nap = { .tv_nsec = LINGER_NAP_NS };
	uint64_t ns = end->options->faulty ? LINGER_LOSSY_NS : LINGER_NS;
	uint64_t until = perf_now() + perf_hz() * ns / 1000000000ull;
	DAT_EVENT event;

	while (perf_now() < until && cli_evd_take(end->conn_evd, end->adapter->name, &event) >= 0)
		nanosleep(&nap, NULL);
}

int
perf_connect_alone(struct perf_end *end)
{
	bool expected = end->client || end->hello.session > 0;
	struct patience patience = be_patient(expected ? CONNECT_TIMEOUT_S : 0);
	int moved;

	while (!connected(end)) {
		moved = end->client ? step_client(end) : step_server(end);
		if (moved < 0) {
			linger(end);
			return -1;
		}
		if (moved > 0 && !end->client && end->link.control_started)
			patience.limit = CONNECT_TIMEOUT_S * perf_hz();
		if (wait_on(&patience, moved > 0) != 0)
			return gave_up(end, "connecting", &patience);
	}
	if (perf_control_say(end, PERF_READY, 0) != 0)
		return client_lost(end);
	patience = be_patient(CONNECT_TIMEOUT_S);
	while (!end->peer.ready) {
		if (perf_control_listen(end) != 0)
			return client_lost(end);
		if (wait_on(&patience, false) != 0)
			return gave_up(end, "waiting for the other end", &patience);
	}
	return 0;
}

static int
part(struct perf_end *end)
{
	DAT_RETURN ret = DAT_SUCCESS;

	for (uint32_t i = 0; i < end->plan->endpoints && ret == DAT_SUCCESS; i++)
		ret = dat_ep_disconnect(end->eps[i].handle, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret == DAT_SUCCESS && end->control != DAT_HANDLE_NULL)
		ret = dat_ep_disconnect(end->control, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_ep_disconnect on %s", end->adapter->name);
	return -1;
}

static bool
parted(const struct perf_end *end)
{
	return end->link.ended == end->plan->endpoints + (end->control != DAT_HANDLE_NULL);
}

/* Take one connection event of a parting end. @return 1: taken; 0: none; -1 on error; the error was printed. */
static int
step_part(struct perf_end *end)
{
	DAT_EVENT event;
	int moved = cli_evd_take(end->conn_evd, end->adapter->name, &event);

	if (moved <= 0)
		return moved;
	if (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED) {
		cli_say("disconnecting %s: %s", end->adapter->name,
				cli_connection_words(event.event_number));
		return -1;
	}
	end->link.ended++;
	return 1;
}

int
perf_disconnect_pair(struct perf_end *client, struct perf_end *server)
{
	struct patience patience = part_patiently(client);
	int c, s;

	client->closing = server->closing = true;
	if (part(client) != 0)
		return -1;
	while (!parted(client) || !parted(server)) {
		c = step_part(client);
		s = step_part(server);
		if (c < 0 || s < 0)
			return -1;
		if (wait_on(&patience, c + s > 0) != 0)
			return gave_up(client, "disconnecting", &patience);
	}
	return 0;
}

int
perf_disconnect_alone(struct perf_end *end)
{
	struct patience patience = part_patiently(end);
	int moved;

	end->closing = true;
	if (end->client && part(end) != 0)
		return -1;
	while (!parted(end)) {
		moved = step_part(end);
		if (moved < 0)
			return -1;
		if (wait_on(&patience, moved > 0) != 0)
			return gave_up(end, "disconnecting", &patience);
	}
	if (!end->client)
		linger(end);
	return 0;
}

int
perf_connect_check(struct perf_end *end)
{
	DAT_EVENT event;
	int moved = cli_evd_take(end->conn_evd, end->adapter->name, &event);

	if (moved > 0)
		cli_say("endpoint lost on %s: %s", end->adapter->name,
				cli_connection_words(event.event_number));
	return moved == 0 ? 0 : -1;
}
