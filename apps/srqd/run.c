/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/signals.h"
#include "clients.h"
#include "pace.h"
#include "report.h"
#include "server.h"

/* Longer than any retransmission that may still succeed. */
#define STANDSTILL_S 30
#define PART_S       10
/* Clients of a server that have not let go by then are gone, or do not answer: they are not waited for. */
#define GRACE_S 3
/* A client that has just disconnected still answers for frames that the network has lost. */
#define LINGER_S 0.05

struct run {
	const struct srqd_options *options;
	struct server server;
	struct clients clients;
	struct report report;
	struct pace pace;
	bool serves, sends;
	bool broken; /**< connections that did not end in order were broken */
};

static int
begin(struct run *run)
{
	const struct srqd_options *options = run->options;
	bool self = options->mode == SRQD_SELF;
	struct sockaddr_storage address;

	if (run->serves && server_open(&run->server, options, options->ia) != 0)
		return -1;
	report_begin(&run->report, options, options->ia);
	pace_begin(&run->pace);
	if (!run->sends)
		return 0;
	if (self ? server_address(&run->server, &address) != 0 : !cli_host(options->host, &address))
		return -1;
	return clients_open(&run->clients, options, self ? "loop1" : options->ia, &address);
}

/* One poll of all that is here. */
static int
poll_once(struct run *run)
{
	int served = 0, sent = 0;
	double still;

	if (run->serves)
		served = server_step(&run->server);
	if (run->sends && served >= 0)
		sent = clients_step(&run->clients);
	if (served < 0 || sent < 0)
		return -1;
	if (run->serves && report_tick(&run->report, &run->server) != 0)
		return -1;
	still = pace_rest(&run->pace, served + sent > 0, !run->sends && run->server.present == 0);
	if (!run->sends || still < STANDSTILL_S)
		return 0;
	cli_say("nothing has moved for %d seconds, after %llu messages", STANDSTILL_S,
			(unsigned long long)run->clients.arrived);
	return -1;
}

static bool
all_gone(const struct run *run)
{
	return (!run->sends || clients_done(&run->clients)) &&
			(!run->serves || run->server.present == 0);
}

/* The other ends have not let go in time. @return 0: go on without them; -1: they are ours, and should have; the error was printed. */
static int
let_go(struct run *run, double *until)
{
	if (!run->sends && !run->broken) {
		server_break(&run->server);
		run->broken = true;
		*until = cli_seconds() + PART_S;
		return 0;
	}
	cli_say("the other ends did not let go within %d seconds", PART_S);
	return -1;
}

/* Connections end in order, and a little later. */
static int
part(struct run *run)
{
	double until = cli_seconds() + (run->sends ? PART_S : GRACE_S);

	if (run->sends && !clients_done(&run->clients) && clients_stop(&run->clients) != 0)
		return -1;
	if (run->serves && !run->sends && server_stop(&run->server) != 0)
		return -1;
	while (!all_gone(run)) {
		if (poll_once(run) != 0)
			return -1;
		if (cli_seconds() >= until && let_go(run, &until) != 0)
			return -1;
	}
	for (until = cli_seconds() + LINGER_S; cli_seconds() < until;)
		if (poll_once(run) != 0)
			return -1;
	return 0;
}

/* The answers must be the messages that were sent, and every buffer must be back where it belongs. */
static int
check(const struct run *run)
{
	const struct server_totals *totals = &run->server.totals;
	uint64_t want = (uint64_t)run->options->clients * run->options->messages;

	if (run->serves && refill_audit(&run->server.refill) != 0)
		return -1;
	if (!run->sends)
		return 0;
	if (run->clients.arrived != want ||
			run->clients.answered != (run->clients.sink ? 0 : want)) {
		if (cli_signal() != 0)
			cli_say("interrupted after %llu messages",
					(unsigned long long)run->clients.arrived);
		else
			cli_say("of %llu messages %llu arrived and %llu were answered",
					(unsigned long long)want,
					(unsigned long long)run->clients.arrived,
					(unsigned long long)run->clients.answered);
		return -1;
	}
	/* A client may leave before its last acknowledgement comes: without one, the message was answered all the same. */
	if (!run->serves ||
			(totals->messages == want && totals->bytes == want * run->options->size &&
					totals->answers + totals->unanswered ==
							run->clients.answered))
		return 0;
	cli_say("of %llu messages the server counts %llu, of %llu bytes, %llu answered and %llu not",
			(unsigned long long)want, (unsigned long long)totals->messages,
			(unsigned long long)totals->bytes, (unsigned long long)totals->answers,
			(unsigned long long)totals->unanswered);
	return -1;
}

static int
tell(struct run *run, struct srqd_json *json)
{
	int rc = 0;

	if (run->serves) {
		rc |= report_server(&run->report, &run->server);
		if (json != NULL)
			rc |= srqd_json_server(json, &run->server);
	}
	if (run->sends) {
		report_clients(&run->report, &run->clients);
		if (json != NULL)
			srqd_json_clients(json, &run->clients);
	}
	return rc;
}

int
srqd_run(const struct srqd_options *options, struct srqd_json *json)
{
	struct run run = {
		.options = options,
		.serves = options->mode != SRQD_CLIENT,
		.sends = options->mode != SRQD_SERVER,
	};
	bool begun = begin(&run) == 0;
	int rc = begun ? 0 : -1;

	while (rc == 0 && cli_signal() == 0 && !(run.sends && clients_done(&run.clients)))
		rc = poll_once(&run);
	if (rc == 0)
		rc = part(&run);
	if (rc == 0)
		rc = check(&run);
	if (begun)
		rc |= tell(&run, json);
	/* Those who came first: a server that closes with guests would break their connections. */
	if (clients_close(&run.clients) != 0 || server_close(&run.server) != 0)
		rc = -1;
	return rc;
}
