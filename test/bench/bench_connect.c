/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cost of connections: each is opened, carries one message of 64 bytes into the shared receive queue, and is closed
 * by the end that opened it, in order. One core polls both ends of the wire inside the process; AT_ONCE connections are
 * under way at a time. All calls are those of DAT.
 *
 *   made   both ends make an endpoint for a connection, and free it after it
 *   reset  both ends keep their endpoints, and reset them for the next connection
 *   made beside 8192  as the first, while so many other connections are up and idle: nothing may grow with them
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dat_end.h"

#define AT_ONCE    64u
#define SEND_DEPTH 64u
#define EVENTS     1024u
#define IDLE       8192u
#define TOTAL      100000u
#define WARMUP     1000u
#define NS         1000000000ull
#define PATIENCE_S 20u /* without any event */

struct bench {
	struct dat_end client, server;
	bool keep;               /* endpoints: reset instead of freed */
	uint32_t total;          /* connections wanted */
	uint32_t started, ended; /* of the client */
	uint32_t left, moved;    /* of the server: connections ended, messages taken */
	uint32_t spares;         /* endpoints of the server that wait for a request */
	DAT_EP_HANDLE spare[AT_ONCE];
};

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void
fail(const char *what, unsigned int event)
{
	fprintf(stderr, "bench_connect: %s: event 0x%x\n", what, event);
	exit(EXIT_FAILURE);
}

static void
start(struct bench *b, DAT_EP_HANDLE ep)
{
	dat_end_connect(ep, &b->server);
	b->started++;
}

/* The client's connection ended: its endpoint serves the next one, or another does. */
static void
go_on(struct bench *b, DAT_EP_HANDLE ep)
{
	bool more = b->started < b->total;

	b->ended++;
	if (b->keep && more) {
		dat_end_must(dat_ep_reset(ep), "dat_ep_reset");
		start(b, ep);
		return;
	}
	dat_end_must(dat_ep_free(ep), "dat_ep_free");
	if (more)
		start(b, dat_end_ep(&b->client, SEND_DEPTH));
}

static unsigned int
step_client(struct bench *b)
{
	unsigned int events = 0;
	DAT_EVENT event;

	for (; dat_end_take(b->client.connect, &event) > 0; events++) {
		DAT_EP_HANDLE ep = event.event_data.connect_event_data.ep_handle;

		if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
			dat_end_send(&b->client, ep);
		else if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
			go_on(b, ep);
		else
			fail("the client's connection", event.event_number);
	}
	for (; dat_end_take(b->client.request, &event) > 0; events++) {
		const DAT_DTO_COMPLETION_EVENT_DATA *dto =
				&event.event_data.dto_completion_event_data;

		if (dto->status != DAT_DTO_SUCCESS)
			fail("a send", (unsigned int)dto->status);
		dat_end_must(dat_ep_disconnect(dto->ep_handle, DAT_CLOSE_GRACEFUL_FLAG),
				"dat_ep_disconnect");
	}
	return events;
}

/* The server's connection ended. */
static void
let_go(struct bench *b, DAT_EP_HANDLE ep)
{
	b->left++;
	if (b->keep) {
		dat_end_must(dat_ep_reset(ep), "dat_ep_reset");
		b->spare[b->spares++] = ep;
		return;
	}
	dat_end_must(dat_ep_free(ep), "dat_ep_free");
}

static unsigned int
step_server(struct bench *b)
{
	unsigned int events = 0;
	DAT_EVENT event;

	/* Ends first: what they leave can answer the next request. */
	for (; dat_end_take(b->server.connect, &event) > 0; events++) {
		if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
			let_go(b, event.event_data.connect_event_data.ep_handle);
		else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
			fail("the server's connection", event.event_number);
	}
	for (; (!b->keep || b->spares > 0) && dat_end_take(b->server.cr, &event) > 0; events++)
		dat_end_accept(&event,
				b->keep ? b->spare[--b->spares]
					: dat_end_ep(&b->server, SEND_DEPTH));
	for (; dat_end_take(b->server.recv, &event) > 0; events++) {
		const DAT_DTO_COMPLETION_EVENT_DATA *dto =
				&event.event_data.dto_completion_event_data;

		if (dto->status != DAT_DTO_SUCCESS || dto->transfered_length != DAT_END_MESSAGE)
			fail("a receive", (unsigned int)dto->status);
		dat_end_give(&b->server, dto->user_cookie.as_64);
		b->moved++;
	}
	return events;
}

static void
run(struct bench *b, uint32_t total)
{
	uint64_t heard = now_ns(CLOCK_MONOTONIC);

	b->total = total;
	b->started = b->ended = b->left = b->moved = 0;
	while (b->keep && b->spares < AT_ONCE)
		b->spare[b->spares++] = dat_end_ep(&b->server, SEND_DEPTH);
	while (b->started < AT_ONCE && b->started < total)
		start(b, dat_end_ep(&b->client, SEND_DEPTH));
	while (b->ended < total || b->left < total || b->moved < total) {
		if (step_client(b) + step_server(b) > 0)
			heard = now_ns(CLOCK_MONOTONIC);
		else if (now_ns(CLOCK_MONOTONIC) - heard > PATIENCE_S * NS)
			fail("nothing comes any more", 0);
	}
	while (b->spares > 0)
		dat_end_must(dat_ep_free(b->spare[--b->spares]), "dat_ep_free");
}

/* Connections that stay. */
static void
fill(struct bench *b)
{
	unsigned int started = 0, up = 0;
	DAT_EVENT event;

	while (up < 2 * IDLE) {
		for (; started < IDLE && started < up / 2 + AT_ONCE; started++)
			dat_end_connect(dat_end_ep(&b->client, 1), &b->server);
		while (dat_end_take(b->server.cr, &event) > 0)
			dat_end_accept(&event, dat_end_ep(&b->server, 1));
		while (dat_end_take(b->server.connect, &event) > 0 ||
				dat_end_take(b->client.connect, &event) > 0) {
			if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
				fail("an idle connection", event.event_number);
			up++;
		}
	}
}

static void
measure(struct bench *b, const char *name, uint32_t total, bool json)
{
	uint64_t clock, cpu;
	double rate, ns;

	run(b, WARMUP);
	clock = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	run(b, total);
	rate = total * 1e9 / (double)(now_ns(CLOCK_MONOTONIC) - clock);
	ns = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / total;
	if (json)
		printf("{\"kind\": \"connect\", \"name\": \"%s\", \"rate\": %.0f, \"ns\": %.0f}\n",
				name, rate, ns);
	else
		printf(" %-24s%16.0f%12.0f\n", name, rate, ns);
}

int
main(int argc, char **argv)
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
	uint32_t total = argc > 1 + json ? (uint32_t)strtoul(argv[1 + json], NULL, 10) : TOTAL;
	static struct bench b;

	if (argc > 2 + json || total == 0) {
		fprintf(stderr, "usage: %s [--json] [CONNECTIONS]\n", argv[0]);
		return EXIT_FAILURE;
	}
	dat_end_open(&b.client, "loop0", EVENTS, 1);
	dat_end_open(&b.server, "loop1", EVENTS, 2 * AT_ONCE);
	dat_end_listen(&b.server);
	if (!json)
		printf("\n %-24s%16s%12s\n", "endpoints", "connections/s", "CPU ns");
	measure(&b, "made", total, json);
	b.keep = true;
	measure(&b, "reset", total, json);
	b.keep = false;
	fill(&b);
	measure(&b, "made beside 8192", total, json);
	dat_end_close(&b.client);
	dat_end_close(&b.server);
	return 0;
}
