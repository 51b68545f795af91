/* SPDX-License-Identifier: BSD-3-Clause */
#include "result.h"

#include "cli/cli.h"
#include "clock.h"
#include "connect.h"
#include "control.h"
#include "stop.h"
#include "tend.h"
#include "traffic.h"
#include "watch.h"

/* Round trips kept for the percentiles; 16 MiB of them. */
#define ROOM (4u << 20)
/* Polls between two looks at the clock while an answer is due. */
#define LOOK     4096
#define EVENT_US 10000
#define REAP     64
/* How long sends may take to complete. */
#define SEND_S 30
/* Looks for what the peer says while round trips go on, in a second. */
#define LISTENS_PER_S 100

static uint64_t
total(const struct perf_plan *plan)
{
	return plan->iterations == PERF_ENDLESS ? PERF_ENDLESS : plan->warmup + plan->iterations;
}

static struct perf_ep *
ep_of(struct perf_end *end, uint64_t message)
{
	uint32_t endpoints = end->plan->endpoints;

	return &end->eps[endpoints == 1 ? 0 : message % endpoints];
}

/* Wait until there is room for one more send. Both ends of a pair must be polled for a completion to come. */
static __attribute__((noinline)) int
make_room(struct perf_end *end, const struct perf_ep *ep, struct perf_end *other)
{
	uint64_t since = perf_now();

	while (perf_traffic_full(end, ep)) {
		if (perf_traffic_reap(end, end->request_evd, REAP) < 0 ||
				(other != NULL &&
						perf_traffic_reap(other, other->request_evd, REAP) <
								0))
			return -1;
		if (perf_stop_failed() || perf_now() - since > perf_stop_limit(end, SEND_S)) {
			cli_say("sends on %s do not complete", end->adapter->name);
			return -1;
		}
	}
	return 0;
}

/* Send message number end->received (a reply) or one more than that (a request) on its endpoint, after making room. */
static int
send_next(struct perf_end *end, struct perf_ep *ep, struct perf_end *other)
{
	/* Completions are waiting by now: taking them costs no poll of the engine. */
	if (ep->posted - ep->completed >= 2ull * end->plan->signal &&
			perf_traffic_reap(end, end->request_evd, 2) < 0)
		return -1;
	if (perf_traffic_full(end, ep) && make_room(end, ep, other) != 0)
		return -1;
	return perf_traffic_send_one(end, ep);
}

/* Has a message come? Polls the engine. @return more than 0: yes; 0: no; -1 on error; the error was printed. */
static int
hear(struct perf_end *end)
{
	int n;

	if (!end->one_sided)
		return perf_traffic_reap(end, end->recv_evd, 1);
	n = perf_traffic_reap(end, end->request_evd, 1);
	return n < 0 || end->reads ? n : perf_traffic_look(end);
}

/* Give up on a pair? Asked every LOOK polls. */
static int
look(struct perf_watch *watch, struct perf_end *client, struct perf_end *server)
{
	if (perf_watch_tick(watch, client->received, client->received + server->received) ==
			PERF_GIVE_UP)
		return -1;
	return perf_connect_check(client) != 0 ? -1 : perf_connect_check(server);
}

/* Carry one message from @p from to @p to, polling both: first the one it may have reached with the post. */
static int
carry(struct perf_end *from, struct perf_end *to, uint64_t want, struct perf_watch *watch)
{
	unsigned int polls = 0;

	while (to->received < want) {
		if (hear(to) < 0 || (to->received < want && hear(from) < 0))
			return -1;
		if (++polls % LOOK == 0 && look(watch, from, to) != 0)
			return -1;
	}
	return 0;
}

static int
round_trip_pair(struct perf_end *client, struct perf_end *server, uint64_t i,
		struct perf_watch *watch)
{
	if (send_next(client, ep_of(client, i), server) != 0 ||
			carry(client, server, i + 1, watch) != 0 ||
			send_next(server, ep_of(server, i), client) != 0)
		return -1;
	return carry(server, client, i + 1, watch);
}

/* Wait for one message on an end of its own. */
static int
await(struct perf_end *end, uint64_t want, struct perf_watch *watch)
{
	unsigned int polls = 0;
	int n;

	while (end->received < want) {
		n = hear(end);
		if (n == 0 && end->options->events)
			n = perf_traffic_wait(end, end->recv_evd, EVENT_US);
		if (n < 0)
			return -1;
		if (++polls % LOOK == 0 &&
				(perf_watch_tick(watch, end->received, end->received) ==
								PERF_GIVE_UP ||
						perf_connect_check(end) != 0))
			return -1;
	}
	return 0;
}

/* READ and atomics: the round trip is over when the answer is here. The thread that polls the peer polls it here, too. */
static int
fetch(struct perf_end *client, struct perf_end *server, uint64_t i, struct perf_watch *watch)
{
	struct perf_ep *ep = ep_of(client, i);
	unsigned int polls = 0;
	int n;

	if (send_next(client, ep, server) != 0)
		return -1;
	while (ep->completed != ep->posted) {
		if (server != NULL && perf_traffic_reap(server, server->request_evd, 1) < 0)
			return -1;
		n = perf_traffic_reap(client, client->request_evd, 1);
		if (n == 0 && client->options->events)
			n = perf_traffic_wait(client, client->request_evd, EVENT_US);
		if (n < 0)
			return -1;
		if (++polls % LOOK == 0 &&
				(perf_watch_tick(watch, i, i) == PERF_GIVE_UP ||
						perf_connect_check(client) != 0))
			return -1;
	}
	return 0;
}

static int
round_trip(struct perf_end *client, struct perf_end *server, uint64_t i, struct perf_watch *watch)
{
	if (client->reads)
		return fetch(client, server, i, watch);
	if (server != NULL)
		return round_trip_pair(client, server, i, watch);
	if (send_next(client, ep_of(client, i), NULL) != 0)
		return -1;
	return await(client, i + 1, watch);
}

static int
tend(struct perf_end *client, struct perf_end *server)
{
	if (perf_tend(client) != 0)
		return -1;
	return server != NULL ? perf_tend(server) : 0;
}

/* @return 1: end behind this round trip; 0: go on; -1 on error; the error was printed. */
static int
stops(struct perf_end *client, struct perf_end *server)
{
	if (!perf_stop_wanted(client))
		return 0;
	if (perf_stop_end(client) != 0 || (server != NULL && perf_stop_end(server) != 0))
		return -1;
	return 1;
}

/* Between round trips: what is said at the other end, and whether this is the last. @return as stops(). */
static int
between(struct perf_end *client, struct perf_end *server, struct perf_watch *watch, uint64_t now)
{
	if (tend(client, server) != 0)
		return -1;
	if (server == NULL && now >= watch->listen_at) {
		watch->listen_at = now + watch->hz / LISTENS_PER_S;
		if (perf_control_listen(client) != 0)
			return -1;
	}
	return stops(client, server);
}

/* The client's loop; time stamps touch, so nothing between two round trips goes unmeasured. */
static int
ping(struct perf_end *client, struct perf_end *server, struct perf_samples *samples,
		struct perf_result *result)
{
	uint64_t messages = total(client->plan), warmup = client->plan->warmup;
	uint64_t seconds = client->options->seconds * perf_hz(), measured_at = 0, before, now, i;
	struct perf_watch watch;
	int rc = 0;

	perf_watch_begin(&watch, client, warmup);
	before = perf_now();
	for (i = 0; i < messages; i++) {
		if (i == warmup)
			measured_at = before;
		rc = round_trip(client, server, i, &watch);
		if (rc == 0)
			rc = between(client, server, &watch, before);
		if (rc < 0)
			break;
		if (rc > 0)
			messages = i + 1;
		rc = 0;
		now = perf_now();
		if (i >= warmup)
			perf_samples_add(samples, now - before);
		if (i % LOOK == 0 && perf_watch_tick(&watch, i, i + 1) == PERF_GIVE_UP) {
			rc = -1;
			break;
		}
		if (seconds != 0 && i >= warmup && now - measured_at >= seconds)
			messages = i + 1;
		before = now;
	}
	perf_watch_end(&watch);
	if (client->options->cpu_util)
		result->cpu_util = perf_watch_cpu_util(&watch);
	client->goal = messages;
	result->iterations = samples->count;
	result->interrupted = client->stopped;
	result->measured = !client->stopped || samples->count > 0;
	return rc;
}

/* The client of either kind; @p server NULL: polled by somebody else. */
static int
measure(struct perf_end *client, struct perf_end *server, struct perf_result *result)
{
	struct perf_samples samples;
	uint64_t room = client->plan->iterations < ROOM ? client->plan->iterations : ROOM;
	int rc;

	if (perf_samples_init(&samples, room) != 0) {
		cli_say("no memory for %llu samples", (unsigned long long)room);
		return -1;
	}
	perf_traffic_start(client, PERF_ENDLESS);
	if (server != NULL)
		perf_traffic_start(server, PERF_ENDLESS);
	rc = ping(client, server, &samples, result);
	/* Half a round trip, so that twice the ticks make a microsecond; a READ or atomic counts whole, as in perftest. */
	perf_samples_end(&samples, (client->reads ? 1.0 : 2.0) * (double)perf_hz() / 1e6,
			&result->latency);
	perf_samples_free(&samples);
	return rc;
}

int
perf_lat_pair(struct perf_end *client, struct perf_end *server, struct perf_result *result)
{
	int rc = measure(client, server, result);

	server->goal = client->reads ? 0 : client->goal;
	return rc;
}

/* The client has said how often it sent, and that often there was an answer. READs want none. */
static bool
all_answered(const struct perf_end *end, uint64_t replied)
{
	return end->peer.done && (replied >= end->peer.sent || end->reads);
}

/* Look for words of the client, a lost connection and signals. @return 0: go on; -1: give up, an error was printed. */
static int
look_alone(struct perf_end *end, struct perf_watch *watch, uint64_t replied)
{
	if (perf_control_listen(end) != 0 || perf_connect_check(end) != 0)
		return -1;
	switch (perf_watch_tick(watch, replied, replied)) {
	case PERF_GIVE_UP:
		return -1;
	case PERF_STOP:
		return perf_stop_end(end);
	default:
		return 0;
	}
}

/* The server answers until the client is done. */
static int
answer(struct perf_end *end)
{
	uint64_t replied = 0, polls = 0;
	struct perf_watch watch;
	int n;

	perf_watch_begin(&watch, end, end->plan->warmup);
	perf_traffic_start(end, PERF_ENDLESS);
	while (!all_answered(end, replied)) {
		n = hear(end);
		if (n == 0 && end->options->events)
			n = perf_traffic_wait(end, end->recv_evd, EVENT_US);
		if (n < 0 || perf_tend(end) != 0)
			return -1;
		for (; replied < end->received; replied++)
			if (send_next(end, ep_of(end, replied), NULL) != 0)
				return -1;
		if (n > 0 || (++polls % LOOK != 0 && !end->options->events))
			continue;
		if (look_alone(end, &watch, replied) != 0)
			return -1;
	}
	perf_watch_end(&watch);
	end->goal = replied;
	return 0;
}

/* The client's peer has sent as much as it was asked; the server says so for the books. */
static int
hear_done(struct perf_end *end)
{
	uint64_t since = perf_now();

	while (!end->peer.done) {
		if (perf_control_listen(end) != 0 || perf_stop_failed())
			return -1;
		if (perf_now() - since <= perf_stop_limit(end, SEND_S))
			continue;
		cli_say("the other end of %s does not come to its end", end->adapter->name);
		return -1;
	}
	return 0;
}

int
perf_lat_alone(struct perf_end *end, struct perf_result *result)
{
	int rc = end->client ? measure(end, NULL, result) : answer(end);

	end->stopped |= end->peer.stopped;
	result->interrupted = end->stopped;
	if (rc != 0 || perf_control_say(end, PERF_DONE, end->goal) != 0 || hear_done(end) != 0)
		return -1;
	return perf_control_part(end);
}
