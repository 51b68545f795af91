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

/* Sends posted in a row: enough to fill the provider's own bursts. */
#define BURST 32
/* Completions taken in a row; more only delays the poll of the other end. */
#define REAP 64
/* Polls between two looks at the clock, and at connections and the control endpoint. */
#define TICK     16
#define LOOK     1024
#define EVENT_US 10000
#define CONTROLS 64 /* idle polls after which the control endpoint is looked at */

static uint64_t
total(const struct perf_plan *plan)
{
	return plan->iterations == PERF_ENDLESS ? PERF_ENDLESS : plan->warmup + plan->iterations;
}

/* @param whole  false: it was interrupted, and what was on the way did not come. */
static void
note_rate(struct perf_watch *watch, uint64_t measured, unsigned int directions, bool whole,
		struct perf_result *result)
{
	uint64_t now = perf_watch_end(watch), cpu_ns = perf_cpu_ns() - watch->cpu_ns;
	bool cut = watch->end->stopped;

	/* The wait that was in vain is no part of the rate. */
	if (!whole)
		now = watch->moved_at;
	result->interrupted = cut;
	perf_meter_end(&watch->meter, now, measured, &result->peak_per_s, &result->messages_per_s);
	if (watch->end->options->cpu_util)
		result->cpu_util = perf_watch_cpu_util(watch);
	if (watch->meter.started && whole && measured > watch->meter.base)
		result->cpu_ns = (double)cpu_ns / (double)(measured - watch->meter.base);
	/* The warm-up ends at a look at the clock, a few messages late; the rate knows that. */
	result->iterations = watch->end->plan->iterations;
	if (cut && !watch->meter.started)
		result->iterations = 0;
	else if (cut || result->iterations == PERF_ENDLESS)
		result->iterations = (measured - watch->meter.base) / directions;
	result->measured = !cut || result->iterations > 0;
}

/* The rate of each direction, where they were asked for. */
static void
note_ways(struct perf_watch *watch, uint64_t local, uint64_t remote, struct perf_result *result)
{
	const struct perf_options *options = watch->end->options;
	uint64_t now = watch->end->stopped ? watch->moved_at : perf_now();

	result->ways = options->both && options->report_both;
	perf_meter_end(&watch->local, now, local, &result->local.peak, &result->local.average);
	perf_meter_end(&watch->remote, now, remote, &result->remote.peak, &result->remote.average);
}

/* One poll of a direction in one thread: post, let the sender's engine speak, hear the receiver's. */
static int
poll_pair(struct perf_end *from, struct perf_end *to)
{
	if (perf_traffic_send(from, BURST) < 0 ||
			perf_traffic_reap(from, from->request_evd, REAP) < 0)
		return -1;
	return perf_traffic_reap(to, to->recv_evd, REAP);
}

static bool
delivered(const struct perf_end *from, const struct perf_end *to)
{
	return from->acked >= from->goal && perf_traffic_arrived(to, from->goal);
}

/* Every few polls. @return as perf_watch_tick(). */
static enum perf_watch_says
look_pair(struct perf_watch *watch, struct perf_end *client, struct perf_end *server,
		uint64_t polls)
{
	uint64_t acked = client->acked + server->acked;
	enum perf_watch_says says;

	if (perf_tend(client) != 0 || perf_tend(server) != 0)
		return PERF_GIVE_UP;
	says = perf_watch_tick(watch, acked, acked + client->received + server->received);
	perf_watch_ways(watch, client->acked, server->acked);
	/* Without a control endpoint there is nothing to fail. */
	if (says == PERF_STOP) {
		perf_stop_end(client);
		perf_stop_end(server);
	}
	if (says != PERF_GIVE_UP && polls % LOOK == 0 &&
			(perf_connect_check(client) != 0 || perf_connect_check(server) != 0))
		return PERF_GIVE_UP;
	return says;
}

int
perf_bw_pair(struct perf_end *client, struct perf_end *server, struct perf_result *result)
{
	bool both = client->options->both;
	unsigned int directions = both ? 2 : 1;
	enum perf_watch_says says;
	struct perf_watch watch;

	perf_traffic_start(client, total(client->plan));
	perf_traffic_start(server, both ? total(client->plan) : 0);
	perf_watch_begin(&watch, client, client->plan->warmup * directions);
	watch.directions = directions;
	for (uint64_t polls = 1; !delivered(client, server) || !delivered(server, client);
			polls++) {
		if (poll_pair(client, server) < 0 || (both && poll_pair(server, client) < 0))
			return -1;
		if (polls % TICK != 0)
			continue;
		says = look_pair(&watch, client, server, polls);
		if (says == PERF_GIVE_UP)
			return -1;
		if (says == PERF_TIME_UP && client->goal == PERF_ENDLESS) {
			perf_traffic_stop(client);
			if (both)
				perf_traffic_stop(server);
		}
	}
	note_rate(&watch, client->acked + server->acked, directions, true, result);
	note_ways(&watch, client->acked, server->acked, result);
	perf_traffic_judge_memory(server, client->goal);
	perf_traffic_judge_memory(client, server->goal);
	return 0;
}

/* One poll of an end on its own. @return what moved; -1 on error; the error was printed. */
static int
poll_alone(struct perf_end *end, bool sends, bool receives)
{
	int posted = 0, reaped = 0, received = 0;

	if (sends) {
		posted = perf_traffic_send(end, BURST);
		reaped = posted < 0 ? -1 : perf_traffic_reap(end, end->request_evd, REAP);
	}
	if (receives && reaped >= 0 && end->recv_evd != (sends ? end->request_evd : NULL))
		received = perf_traffic_reap(end, end->recv_evd, REAP);
	if (posted < 0 || reaped < 0 || received < 0)
		return -1;
	return posted + reaped + received;
}

/* The rare things of an end on its own: talk with the peer, connections, sleep. */
static int
talk(struct perf_end *end, bool *said, bool idle)
{
	bool sends = end->goal != 0;

	if (end->acked >= end->goal && !*said) {
		*said = true;
		if (perf_control_say(end, PERF_DONE, end->goal) != 0)
			return -1;
	}
	if (perf_control_listen(end) != 0)
		return -1;
	/* A finished peer has hung up when everything has been said; until then it is an error. */
	if (!end->peer.bye && perf_connect_check(end) != 0)
		return -1;
	if (idle && end->options->events)
		return perf_traffic_wait(end, sends ? end->request_evd : end->recv_evd, EVENT_US) <
						0
				? -1
				: 0;
	return 0;
}

/* Look at the clock. @return 0: go on; -1: give up; the error was printed. */
static int
look_alone(struct perf_end *end, struct perf_watch *watch, bool sends)
{
	uint64_t measured = end->acked + end->received;
	/* An end that only lets others reach its memory sees nothing move, and leaves it to them. */
	uint64_t moved = end->one_sided && !sends ? watch->moved + 1 : measured + end->peer.done;

	if (perf_tend(end) != 0)
		return -1;
	perf_watch_ways(watch, end->acked, end->received);
	switch (perf_watch_tick(watch, measured, moved)) {
	case PERF_GIVE_UP:
		return -1;
	case PERF_TIME_UP:
		if (sends && end->goal == PERF_ENDLESS)
			perf_traffic_stop(end);
		return 0;
	case PERF_STOP:
		return perf_stop_end(end);
	default:
		return 0;
	}
}

/* Poll an end until both sides have sent and received everything. */
static int
run_alone(struct perf_end *end, struct perf_watch *watch, bool sends, bool receives)
{
	unsigned int idle = 0;
	bool said = false, idles, sent;
	int moved;

	for (uint64_t polls = 1;
			!said || !end->peer.done || !perf_traffic_arrived(end, end->peer.sent);
			polls++) {
		moved = poll_alone(end, sends, receives);
		if (moved < 0)
			return -1;
		idle = moved > 0 ? 0 : idle + 1;
		idles = idle >= CONTROLS;
		if ((polls % TICK == 0 || idles) && look_alone(end, watch, sends) != 0)
			return -1;
		sent = sends && end->acked >= end->goal;
		if ((polls % LOOK == 0 || idles || sent) && talk(end, &said, idles) != 0)
			return -1;
	}
	return 0;
}

/* Of an end on its own. It sees nothing of a peer that reaches its memory but, at the end, how often. */
static void
note_alone(struct perf_watch *watch, const struct perf_end *end, struct perf_result *result)
{
	if (end->one_sided) {
		watch->remote = watch->local;
		watch->remote.base = end->plan->warmup;
		watch->remote.peak = 0;
	}
	note_ways(watch, end->acked, end->one_sided ? end->peer.sent : end->received, result);
}

/* @return as struct perf_watch has it. */
static unsigned int
row_directions(const struct perf_end *end, bool sends)
{
	if (end->options->mode == PERF_LOOP && !end->client)
		return 0;
	if (end->one_sided)
		return sends ? 1 : 0;
	return end->options->both ? 2 : 1;
}

int
perf_bw_alone(struct perf_end *end, struct perf_result *result)
{
	bool both = end->options->both, sends = end->client || both,
	     receives = !end->client || both;
	unsigned int directions = both ? 2 : 1;
	struct perf_watch watch;
	uint64_t measured;
	int rc;

	perf_traffic_start(end, sends ? total(end->plan) : 0);
	perf_watch_begin(&watch, end, end->plan->warmup * (end->one_sided ? 1 : directions));
	watch.directions = row_directions(end, sends);
	rc = run_alone(end, &watch, sends, receives);
	/* The peer may have told of its interrupt and its end in one breath. */
	end->stopped |= end->peer.stopped;
	if (rc != 0 && !end->stopped)
		return -1;
	measured = end->acked + end->received;
	/* Of the peer's direction only the sum is known, and that its warm-up was as long as ours. */
	if (end->one_sided && both && end->peer.sent > end->plan->warmup)
		measured += end->peer.sent - end->plan->warmup;
	if (rc == 0 ? !end->one_sided || sends : !end->one_sided || (sends && !both)) {
		note_rate(&watch, measured, directions, rc == 0, result);
		note_alone(&watch, end, result);
	} else
		perf_watch_end(&watch);
	result->interrupted = end->stopped;
	if (rc != 0)
		return -1;
	perf_traffic_judge_memory(end, end->peer.sent);
	return perf_control_part(end);
}
