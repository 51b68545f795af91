/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * dat-ping: one message goes to and comes back, again and again, and the times are told.
 */

#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/signals.h"
#include "link.h"
#include "options.h"
#include "report.h"
#include "serve.h"

#define CONNECT_S 15
#define ANSWER_S  5
#define PART_S    10
#define NAP_NS    100000
/* A server that has just hung up still answers what the network has lost. */
#define LINGER_S 0.05

static bool
interrupted(void)
{
	return cli_signal() != 0;
}

static void
nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

static int
serve(struct ping_server *server, const struct ping_report *report)
{
	const struct ping_options *options = report->options;
	uint64_t clients = 0;
	double until;
	bool busy;
	int rc;

	if (ping_report_listens(report) != 0)
		return -1;
	while (!interrupted() && (options->count == 0 || clients < options->count)) {
		rc = ping_serve_step(server, &busy);
		if (rc < 0)
			return -1;
		clients += (uint64_t)rc;
		if (!busy && server->link.ep == DAT_HANDLE_NULL)
			nap();
	}
	ping_report_clients(report, clients);
	for (until = cli_seconds() + LINGER_S; cli_seconds() < until;)
		if (ping_serve_step(server, &busy) < 0)
			return -1;
	/* Interrupted with a client on the line. */
	if (server->link.ep != DAT_HANDLE_NULL && link_release(&server->link) != 0)
		return -1;
	if (clients >= options->count)
		return 0;
	cli_say("interrupted after %llu of %llu clients", (unsigned long long)clients,
			(unsigned long long)options->count);
	return -1;
}

/*
 * Poll the client, and the server if it is ours, until one kind of news comes to the client.
 * @return 0: it came; 1: it did not within the limit; -1 on error; the error was printed.
 */
static int
await(struct link *client, struct ping_server *server, enum link_news want, double limit)
{
	double until = cli_seconds() + limit;
	enum link_news news;
	bool busy;

	while (!interrupted() || want == LINK_DOWN) {
		news = link_step(client);
		if (news == want)
			return 0;
		if (news == LINK_FAILED || news == LINK_LOST)
			return -1;
		if (news == LINK_DOWN) {
			cli_say("the peer disconnected");
			return -1;
		}
		if (server != NULL && ping_serve_step(server, &busy) < 0)
			return -1;
		if (news == LINK_QUIET && cli_seconds() > until)
			return 1;
	}
	return 1;
}

static int
round_trip(struct link *client, struct ping_server *server, const struct ping_report *report,
		struct ping_times *times)
{
	const struct ping_options *options = report->options;
	uint64_t number = times->sent;
	double start, us;
	int rc;

	for (uint32_t i = 0; i < options->size; i++)
		client->outgoing[i] = (uint8_t)(number + i);
	start = cli_seconds();
	if (link_send(client) != 0)
		return -1;
	times->sent++;
	rc = await(client, server, LINK_MESSAGE, ANSWER_S);
	/* A message whose answer nobody waits for any more is neither answered nor lost. */
	if (rc > 0 && interrupted())
		times->sent--;
	else if (rc > 0)
		cli_say("no answer to message %llu within %d seconds", (unsigned long long)number,
				ANSWER_S);
	if (rc != 0)
		return -1;
	us = (cli_seconds() - start) * 1e6;
	if (memcmp(client->message, client->outgoing, options->size) != 0) {
		cli_say("the answer to message %llu is not what was sent",
				(unsigned long long)number);
		return -1;
	}
	times->back++;
	times->sum += us;
	times->squares += us * us;
	times->min = times->back == 1 || us < times->min ? us : times->min;
	times->max = us > times->max ? us : times->max;
	return ping_report_round(report, number, us);
}

/* Until the next round: look after the connection now and then. */
static int
rest(struct link *client, struct ping_server *server, double until)
{
	enum link_news news;
	bool busy;

	while (!interrupted() && cli_seconds() < until) {
		news = link_step(client);
		if (news == LINK_DOWN)
			cli_say("the peer disconnected");
		if (news == LINK_FAILED || news == LINK_LOST || news == LINK_DOWN)
			return -1;
		if (server != NULL && ping_serve_step(server, &busy) < 0)
			return -1;
		nap();
	}
	return 0;
}

static int
connect_to(struct link *client, struct ping_server *server, const struct ping_options *options,
		char *whom, unsigned int len)
{
	struct sockaddr_storage address;
	int rc;

	if (server != NULL ? link_address(&server->link, &address) != 0
			   : !cli_host(options->host, &address))
		return -1;
	cli_address((struct sockaddr *)&address, whom, len);
	if (link_prepare(client, options->size) != 0 ||
			link_connect(client, &address, options->port) != 0)
		return -1;
	rc = await(client, server, LINK_UP, CONNECT_S);
	if (rc > 0 && interrupted())
		cli_say("interrupted before there was a connection to %s", whom);
	else if (rc > 0)
		cli_say("no connection to %s within %d seconds", whom, CONNECT_S);
	return rc == 0 ? 0 : -1;
}

static int
part(struct link *client, struct ping_server *server)
{
	if (link_disconnect(client) != 0)
		return -1;
	if (await(client, server, LINK_DOWN, PART_S) != 0) {
		cli_say("the peer did not let go within %d seconds", PART_S);
		return -1;
	}
	return link_release(client);
}

/* Rounds without number end with an interrupt; of others some are missing then. */
static int
check(const struct ping_times *times, const struct ping_options *options)
{
	if (times->back >= options->count)
		return 0;
	cli_say("interrupted after %llu of %llu rounds", (unsigned long long)times->back,
			(unsigned long long)options->count);
	return -1;
}

static int
ping(struct link *client, struct ping_server *server, const struct ping_report *report)
{
	const struct ping_options *options = report->options;
	struct ping_times times = { 0 };
	char whom[64] = "";
	int rc = 0;

	if (connect_to(client, server, options, whom, sizeof(whom)) != 0)
		return -1;
	ping_report_connected(report, whom);
	while (rc == 0 && !interrupted()) {
		double next = cli_seconds() + options->interval_ms / 1e3;

		rc = round_trip(client, server, report, &times);
		if (rc == 0 && times.sent == options->count)
			break;
		if (rc == 0)
			rc = rest(client, server, next);
	}
	if (times.sent > 0)
		ping_report_times(report, &times, whom);
	if (rc != 0 && !interrupted())
		return -1;
	return part(client, server) == 0 ? check(&times, options) : -1;
}

static int
run(const struct ping_report *report)
{
	const struct ping_options *options = report->options;
	struct ping_server server = { .link.ia = DAT_HANDLE_NULL };
	struct link client = { .ia = DAT_HANDLE_NULL };
	bool loop = options->mode == PING_LOOP, serves = options->mode != PING_CLIENT;
	double until;
	bool busy;
	int rc = 0;

	if (serves)
		rc = link_open(&server.link, loop ? "loop1" : options->ia, options->port);
	if (rc == 0 && options->mode != PING_SERVER)
		rc = link_open(&client, loop ? "loop0" : options->ia, 0);
	if (rc == 0)
		rc = options->mode == PING_SERVER ? serve(&server, report)
						  : ping(&client, loop ? &server : NULL, report);
	/* The server of a loop hears of the end only when it is polled. */
	for (until = cli_seconds() + LINGER_S; rc == 0 && loop &&
			server.link.ep != DAT_HANDLE_NULL && cli_seconds() < until;)
		rc = ping_serve_step(&server, &busy) < 0 ? -1 : 0;
	if (link_close(&client) != 0 || link_close(&server.link) != 0)
		return -1;
	return rc;
}

int
main(int argc, char **argv)
{
	struct ping_options options;
	struct ping_report report;
	int rc;

	cli_begin("dat-ping");
	rc = ping_options_read(&options, argc, argv);
	if (rc >= 0)
		return cli_exit(rc);
	cli_signals_catch();
	if (ping_report_begin(&report, &options) != 0)
		return cli_exit(CLI_EXIT_FAILED);
	rc = run(&report);
	if (ping_report_end(&report, rc == 0 ? NULL : cli_said()) != 0)
		return CLI_EXIT_FAILED;
	return cli_exit(cli_signal_status(rc));
}
