/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One of many processes, each of which has a connection to each of the others, and checks every byte.
 *
 *   all_to_all IA PORT PASSIVE MESSAGES ADDRESS:PORT...
 *
 * The process listens at PORT, where PASSIVE connections come, and connects to each peer, again and again until that
 * listens. Over each connection that it has made it sends MESSAGES, one by one, which the peer sends back. A message says
 * for which port it is, so one that went to another process is found there. The process ends when all are over, with
 * status 0 when no connection broke and no byte was wrong. It says "connected" when all connections are there, and
 * "half" when half of its messages have come back.
 */

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dat/udat.h>

#include "../limit.h"
#include "steps.h"

#define PATIENCE_US test_limit_us()
#define CONNS_MAX   64
#define SIZE        2500 /**< more than one frame at the path MTU of an Ethernet */
#define EVENTS      4096

struct header {
	uint32_t from, to; /**< ports */
	uint32_t number;
};

struct conn {
	DAT_EP_HANDLE ep;
	struct sockaddr_in peer; /**< of one that this process makes */
	uint32_t to;             /**< its port */
	uint32_t number;         /**< of messages that came back */
	bool active, admitted, connected, over;
	bool sending;  /**< the completion of the send is out */
	bool received; /**< what came waits until the send is complete */
	uint8_t out[SIZE], in[SIZE];
};

static struct {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE events;
	DAT_PZ_HANDLE pz;
	DAT_LMR_CONTEXT key;
	uint32_t port, messages;
	unsigned int active, passive, conns;
	unsigned int connected, over;
	uint64_t echoed;
	bool told_connected, told_half;
	struct conn conn[CONNS_MAX];
} self;

static void
say(bool *told, const char *what)
{
	if (*told)
		return;
	*told = true;
	puts(what);
	fflush(stdout);
}

/* ---- messages ---- */

static void
fill(uint8_t *to, const struct header *header)
{
	uint32_t x = header->from * 2654435761u ^ header->to * 40503u ^ header->number;

	memcpy(to, header, sizeof(*header));
	for (size_t i = sizeof(*header); i < SIZE; i++) {
		x = x * 1664525u + 1013904223u;
		to[i] = (uint8_t)(x >> 24);
	}
}

static uint64_t
cookie_of(const struct conn *conn, bool is_receive)
{
	return (uint64_t)(conn - self.conn) * 2 + is_receive;
}

static void
receive(struct conn *conn)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = cookie_of(conn, true) };
	DAT_LMR_TRIPLET in = { self.key, 0, (DAT_VADDR)(uintptr_t)conn->in, SIZE };

	ok(dat_ep_post_recv(conn->ep, 1, &in, cookie, DAT_COMPLETION_DEFAULT_FLAG), "receive");
}

static void
transmit(struct conn *conn)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = cookie_of(conn, false) };
	DAT_LMR_TRIPLET out = { self.key, 0, (DAT_VADDR)(uintptr_t)conn->out, SIZE };

	conn->sending = true;
	ok(dat_ep_post_send(conn->ep, 1, &out, cookie, DAT_COMPLETION_DEFAULT_FLAG), "send");
}

static void
ask(struct conn *conn)
{
	const struct header header = { self.port, conn->to, conn->number };

	fill(conn->out, &header);
	receive(conn);
	transmit(conn);
}

/* The answer is there, and the message itself is acknowledged. */
static void
take_answer(struct conn *conn)
{
	if (memcmp(conn->in, conn->out, SIZE) != 0)
		fail("message %u to port %u came back with other bytes", conn->number, conn->to);
	self.echoed++;
	if (self.echoed * 2 >= (uint64_t)self.active * self.messages)
		say(&self.told_half, "half");
	if (++conn->number < self.messages) {
		ask(conn);
		return;
	}
	ok(dat_ep_disconnect(conn->ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
}

static void
answer(struct conn *conn)
{
	static uint8_t want[SIZE];
	struct header header;

	memcpy(&header, conn->in, sizeof(header));
	if (header.to != self.port)
		fail("a message of port %u for port %u came here", header.from, header.to);
	if (header.number != conn->number++)
		fail("message %u of port %u is %u", conn->number - 1, header.from, header.number);
	fill(want, &header);
	if (memcmp(conn->in, want, SIZE) != 0)
		fail("message %u of port %u has other bytes", header.number, header.from);
	memcpy(conn->out, conn->in, SIZE);
	receive(conn);
	transmit(conn);
}

static void
complete(const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	struct conn *conn = &self.conn[data->user_cookie.as_64 / 2];

	/* Of a connection that has ended in order. */
	if (data->status == DAT_DTO_ERR_FLUSHED)
		return;
	if (data->status != DAT_DTO_SUCCESS)
		fail("a message with port %u: status %d", conn->to, (int)data->status);
	if (data->user_cookie.as_64 % 2 == 0)
		conn->sending = false;
	else
		conn->received = true;
	if (conn->sending || !conn->received)
		return;
	conn->received = false;
	if (conn->active)
		take_answer(conn);
	else
		answer(conn);
}

/* ---- connections ---- */

static void
begin(struct conn *conn)
{
	ok(dat_ep_connect(conn->ep, (DAT_IA_ADDRESS_PTR)&conn->peer, conn->to, PATIENCE_US, 0, NULL,
			   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
}

/* The peer does not listen yet, or its host is not there. */
static void
begin_again(struct conn *conn)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	nanosleep(&nap, NULL);
	ok(dat_ep_reset(conn->ep), "dat_ep_reset");
	begin(conn);
}

static void
admit(DAT_CR_HANDLE cr)
{
	struct conn *conn = &self.conn[self.active];

	while (conn < &self.conn[self.conns] && conn->admitted)
		conn++;
	if (conn == &self.conn[self.conns])
		fail("more than %u connections come", self.passive);
	conn->admitted = true;
	receive(conn);
	ok(dat_cr_accept(cr, conn->ep, 0, NULL), "dat_cr_accept");
}

/*
 * A request that was sent twice, where no process listened at first: its sender was rejected, and has begun another one
 * when the second copy is accepted.
 */
static void
await_another(struct conn *conn)
{
	ok(dat_ep_reset(conn->ep), "dat_ep_reset");
	conn->admitted = false;
}

static struct conn *
conn_of(DAT_EP_HANDLE ep)
{
	for (unsigned int i = 0; i < self.conns; i++) {
		if (self.conn[i].ep == ep)
			return &self.conn[i];
	}
	fail("an event of no endpoint");
}

static void
establish(struct conn *conn)
{
	conn->connected = true;
	if (++self.connected == self.conns)
		say(&self.told_connected, "connected");
	if (conn->active)
		ask(conn);
}

static void
take_event(const DAT_EVENT *event)
{
	struct conn *conn;

	if (event->event_number == DAT_DTO_COMPLETION_EVENT) {
		complete(&event->event_data.dto_completion_event_data);
		return;
	}
	if (event->event_number == DAT_CONNECTION_REQUEST_EVENT) {
		admit(event->event_data.cr_arrival_event_data.cr_handle);
		return;
	}
	conn = conn_of(event->event_data.connect_event_data.ep_handle);
	if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
		establish(conn);
	else if (event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED && conn->connected)
		self.over += !conn->over;
	else if (conn->active && !conn->connected)
		begin_again(conn);
	else if (event->event_number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR)
		await_another(conn);
	else
		fail("the connection with port %u ends: event 0x%x, behind %u messages", conn->to,
				(unsigned int)event->event_number, conn->number);
	conn->over |= event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
}

/* ---- the start ---- */

static void
open_adapter(char *name)
{
	const DAT_EVD_FLAGS all = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG;
	const DAT_MEM_PRIV_FLAGS rights =
			DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	DAT_REGION_DESCRIPTION region = { .for_va = self.conn };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_CONTEXT unused;
	DAT_PSP_HANDLE psp;
	DAT_VLEN length;
	DAT_VADDR first;

	ok(dat_ia_open(name, 8, &async, &self.ia), "dat_ia_open");
	ok(dat_evd_create(self.ia, EVENTS, DAT_HANDLE_NULL, all, &self.events), "dat_evd_create");
	ok(dat_pz_create(self.ia, &self.pz), "dat_pz_create");
	ok(dat_lmr_create(self.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(self.conn), self.pz, rights,
			   &lmr, &self.key, &unused, &length, &first),
			"dat_lmr_create");
	for (unsigned int i = 0; i < self.conns; i++)
		ok(dat_ep_create(self.ia, self.pz, self.events, self.events, self.events, NULL,
				   &self.conn[i].ep),
				"dat_ep_create");
	ok(dat_psp_create(self.ia, self.port, self.events, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
}

static void
read_peer(struct conn *conn, char *text)
{
	char *colon = strrchr(text, ':');

	conn->active = true;
	conn->peer.sin_family = AF_INET;
	if (colon != NULL) {
		*colon = '\0';
		conn->to = (uint32_t)strtoul(colon + 1, NULL, 10);
	}
	if (colon == NULL || inet_pton(AF_INET, text, &conn->peer.sin_addr) != 1)
		fail("%s is no ADDRESS:PORT", text);
}

int
main(int argc, char **argv)
{
	char name[32];
	DAT_COUNT more;
	DAT_EVENT event;

	if (argc < 5 || argc - 5 > CONNS_MAX / 2 || strtoul(argv[3], NULL, 10) > CONNS_MAX / 2)
		fail("IA PORT PASSIVE MESSAGES ADDRESS:PORT...");
	self.port = (uint32_t)strtoul(argv[2], NULL, 10);
	snprintf(name, sizeof(name), "all_to_all %u", self.port);
	step_name = name;
	self.passive = (unsigned int)strtoul(argv[3], NULL, 10);
	self.messages = (uint32_t)strtoul(argv[4], NULL, 10);
	self.active = (unsigned int)argc - 5;
	self.conns = self.active + self.passive;
	for (unsigned int i = 0; i < self.active; i++)
		read_peer(&self.conn[i], argv[5 + i]);
	open_adapter(argv[1]);
	for (unsigned int i = 0; i < self.active; i++)
		begin(&self.conn[i]);
	while (self.over < self.conns) {
		ok(dat_evd_wait(self.events, PATIENCE_US, 1, &event, &more), "waiting");
		take_event(&event);
	}
	ok(dat_ia_close(self.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	return EXIT_SUCCESS;
}
