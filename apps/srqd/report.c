/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/clock.h"

#define LINES_PER_HEAD 20
/* Of a long table at the end this much is shown, unless all were asked for. */
#define TABLE_MAX 16

void
report_begin(struct report *report, const struct srqd_options *options, const char *ia)
{
	*report = (struct report){
		.options = options,
		.began = cli_seconds(),
		.silent = options->json && options->json_file == NULL,
	};
	report->last = report->began;
	if (report->silent || options->mode == SRQD_CLIENT)
		return;
	printf("dat-srqd %s on port %u of %s: %u buffers of %u bytes, low watermark %u\n",
			options->sink ? "swallows what comes" : "answers", options->port, ia,
			options->depth, options->size, options->low);
	fflush(stdout);
}

const char *
report_state(const struct guest *guest)
{
	if (guest->ended != NULL)
		return guest->ended;
	return guest->state == GUEST_COMING ? "coming" : "here";
}

/* The provider's view of an endpoint: buffers it has taken for messages that are still arriving. */
static void
print_arriving(const struct guest *guest)
{
	DAT_COUNT taken = 0;

	if (guest->state == GUEST_HERE && dat_ep_recv_query(guest->ep, &taken, NULL) == DAT_SUCCESS)
		printf(" %8d", taken);
	else
		printf(" %8s", "-");
}

static void
print_guests(const struct server *server, uint32_t max)
{
	uint32_t shown = 0;

	printf(" client  messages         bytes   answers  window  held  most arriving  state       "
	       "address\n");
	for (uint32_t i = 0; i < server->places && shown < max; i++) {
		const struct guest *guest = &server->guests[i];

		printf(" %6u %9llu %13llu %9llu %7u %5u %5u", guest->number,
				(unsigned long long)guest->messages,
				(unsigned long long)guest->bytes,
				(unsigned long long)guest->answers, guest->window, guest->life.held,
				guest->most_held);
		print_arriving(guest);
		printf("  %-10s  %s\n", report_state(guest), guest->address);
		shown++;
	}
	if (shown < server->places)
		printf(" and %u more; --clients-table shows all\n", server->places - shown);
}

static int
print_line(struct report *report, const struct server *server, double now)
{
	const struct server_totals *totals = &server->totals;
	const struct refill *refill = &server->refill;
	double seconds = now - report->last;
	DAT_SRQ_PARAM param;

	if (refill_query(refill, &param) != 0)
		return -1;
	if (report->lines++ % LINES_PER_HEAD == 0 || report->options->clients_table)
		printf("    time clients  messages/s      MB/s     max   avail   outst    free     low  "
		       "  events   refills       RNR\n");
	printf(" %7.1f %7u %11.0f %9.1f %7d %7d %7d %7u %7d %9llu %9llu %9llu\n",
			now - report->began, server->present,
			(double)(totals->messages - report->messages) / seconds,
			(double)(totals->bytes - report->bytes) / seconds / 1e6,
			param.max_recv_dtos, param.available_dto_count, param.outstanding_dto_count,
			refill->n_free, param.low_watermark, (unsigned long long)refill->events,
			(unsigned long long)refill->refills,
			(unsigned long long)server_rnr_naks(server));
	if (report->options->clients_table && server->places > 0)
		print_guests(server, UINT32_MAX);
	fflush(stdout);
	return 0;
}

int
report_tick(struct report *report, const struct server *server)
{
	double now;
	int rc;

	if (report->silent || report->options->interval_s == 0)
		return 0;
	now = cli_seconds();
	if (now - report->last < report->options->interval_s)
		return 0;
	rc = print_line(report, server, now);
	report->last = now;
	report->messages = server->totals.messages;
	report->bytes = server->totals.bytes;
	return rc;
}

int
report_server(const struct report *report, const struct server *server)
{
	const struct server_totals *totals = &server->totals;
	const struct refill *refill = &server->refill;
	DAT_SRQ_PARAM param;

	if (report->silent)
		return 0;
	if (refill_query(refill, &param) != 0)
		return -1;
	printf("--- dat-srqd totals after %.3f s ---\n", cli_seconds() - report->began);
	printf("clients: %u came, %u lost, %u turned away\n", totals->clients, totals->lost,
			totals->turned_away);
	printf("messages: %llu received, %llu answered, %llu unanswered; %llu bytes\n",
			(unsigned long long)totals->messages, (unsigned long long)totals->answers,
			(unsigned long long)totals->unanswered, (unsigned long long)totals->bytes);
	printf("queue: %d buffers, %d available, %d outstanding, %u free; grown %u times\n",
			param.max_recv_dtos, param.available_dto_count, param.outstanding_dto_count,
			refill->n_free, refill->grown);
	printf("low watermark: %d, %llu events, %llu refills, %llu buffers posted again, %.1f a "
	       "refill\n",
			param.low_watermark, (unsigned long long)refill->events,
			(unsigned long long)refill->refills, (unsigned long long)refill->posts,
			refill->refills == 0 ? 0 : (double)refill->posts / (double)refill->refills);
	printf("receiver-not-ready NAKs: %llu\n", (unsigned long long)server_rnr_naks(server));
	if (server->places > 0)
		print_guests(server, report->options->clients_table ? UINT32_MAX : TABLE_MAX);
	return 0;
}

void
report_clients(const struct report *report, const struct clients *clients)
{
	double seconds = clients->ended - clients->began;

	if (report->silent)
		return;
	printf("sent by %u client%s: %llu messages, %llu arrived, %llu answered", clients->up,
			clients->up == 1 ? "" : "s", (unsigned long long)clients->sent,
			(unsigned long long)clients->arrived,
			(unsigned long long)clients->answered);
	if (clients->ended > 0 && seconds > 0)
		printf("; %.3f s, %.0f messages/s", seconds, (double)clients->arrived / seconds);
	putchar('\n');
}
