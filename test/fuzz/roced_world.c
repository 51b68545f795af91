/* SPDX-License-Identifier: BSD-3-Clause */
#include "roced_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local/cm_frame.h"

#define NO_NUMBER UINT32_MAX

/* As broker_output.c bounds them. */
#define OUTPUT_MAX (4096 + 64)

#define MUST(holds, what)                                              \
	do {                                                           \
		if (!(holds)) {                                        \
			fprintf(stderr, "fuzz: violated: %s\n", what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* ---- a second opinion ---- */

static void
check_welcome(struct world *world, struct world_client *self,
		const struct roce_msg_welcome *welcome)
{
	MUST(self->number == NO_NUMBER, "a process is welcome once");
	MUST(welcome->number <= ROCE_PROCESS_MAX, "a number is one of a process");
	MUST((welcome->number == ROCE_PROCESS_UPLINK) == self->is_uplink,
			"the uplink has number 0");
	for (unsigned int i = 0; i < WORLD_SLOTS; i++)
		MUST(world->slot[i].client == NULL || world->slot[i].number != welcome->number,
				"a number is one process's");
	MUST(welcome->identity.addrs >= 1 && welcome->identity.addrs <= ROCE_PROTO_ADDRS,
			"there are addresses, and room for them");
	self->number = welcome->number;
}

static void
check_channel(struct world *world, struct world_client *self,
		const struct roce_msg_channel *channel, const int *fds, unsigned int n)
{
	MUST(channel->number < ROCE_PROCESSES && channel->number != self->number,
			"a channel is to another process");
	MUST(!self->has[channel->number], "a pair has one channel");
	MUST(channel->side <= 1, "a channel has two sides");
	MUST(n == ROCE_PROTO_FDS, "a channel has its descriptors");
	for (unsigned int i = 0; i < n; i++)
		MUST(fds[i] > 0 && world->host.is_open[fds[i]] != 0, "a descriptor is open");
	self->has[channel->number] = true;
}

/* The sender of a frame within the host: the process of its ids and its queue pair. */
static void
check_frame(const struct world_client *self, const struct roce_msg_frame *msg)
{
	struct roce_cm_frame frame;
	uint32_t sender;

	MUST(roce_cm_frame_parse(msg->data, msg->len, &frame),
			"a frame is one of the connection manager");
	/* The uplink gets back what another host says to a process that has ended, and answers it. */
	if (self->is_uplink && (frame.attr == ROCE_CM_ATTR_REP || frame.attr == ROCE_CM_ATTR_DREQ))
		return;
	if (frame.attr != ROCE_CM_ATTR_REQ && frame.remote_id != 0)
		MUST(frame.remote_id >> ROCE_COMM_ID_SHIFT == self->number,
				"a frame is for the process of its remote id");
	if (memcmp(frame.src, frame.dst, sizeof(frame.src)) != 0)
		return; /* of another host, which says what it likes */
	sender = frame.local_id >> ROCE_COMM_ID_SHIFT;
	if (roce_cm_frame_has_qpn(&frame))
		MUST(frame.local_id != 0 && frame.qpn >> ROCE_QPN_SHIFT == sender,
				"ids and queue pairs are of one process");
	if (frame.attr == ROCE_CM_ATTR_REQ)
		MUST(sender == self->number || self->has[sender],
				"a request comes behind the channel");
}

static void
check(struct world *world, struct world_client *self, const struct roce_msg *msg, const int *fds,
		unsigned int n)
{
	MUST(msg->type == ROCE_MSG_WELCOME || msg->type == ROCE_MSG_REFUSED ||
					msg->type == ROCE_MSG_STATUS_TEXT ||
					self->number != NO_NUMBER,
			"a guest is told nothing");
	switch (msg->type) {
	case ROCE_MSG_WELCOME:
		check_welcome(world, self, &msg->welcome);
		break;
	case ROCE_MSG_CHANNEL:
		check_channel(world, self, &msg->channel, fds, n);
		break;
	case ROCE_MSG_GONE:
		if (msg->peer.number < ROCE_PROCESSES)
			self->has[msg->peer.number] = false;
		break;
	case ROCE_MSG_FRAME:
		check_frame(self, &msg->frame);
		break;
	case ROCE_MSG_STATUS_TEXT:
		MUST(n == 1 && msg->status.len > 0, "a status is a text");
		break;
	default:
		MUST(msg->type == ROCE_MSG_LISTENED || msg->type == ROCE_MSG_REFUSED,
				"roced says what is roced's to say");
	}
}

/* ---- clients ---- */

void
world_read(struct world *world, unsigned int slot, unsigned int n)
{
	struct world_client *self = &world->slot[slot];

	for (unsigned int i = 0; i < n; i++) {
		int fds[ROCE_PROTO_FDS];
		unsigned int fds_n;
		const struct roce_msg *msg = broker_output(self->client, fds, &fds_n);

		if (msg == NULL)
			return;
		MUST(i < OUTPUT_MAX, "the output of a client is bounded");
		check(world, self, msg, fds, fds_n);
		broker_output_sent(self->client);
	}
}

/* As the connections do it: read what is new, and end what is over. */
static void
flush(struct world *world)
{
	struct broker_client *client;

	while ((client = broker_ready(world->broker)) != NULL) {
		unsigned int slot = (unsigned int)((struct world_client *)broker_user(client) -
				world->slot);

		if (!world->slot[slot].lets_wait)
			world_read(world, slot, UINT32_MAX);
		if (broker_is_over(client))
			world_disconnect(world, slot);
	}
}

void
world_begin(struct world *world)
{
	const struct broker_host host = fake_host(&world->host);

	memset(world->slot, 0, sizeof(world->slot));
	fake_host_init(&world->host);
	world->broker = broker_create(&host, 1);
	MUST(world->broker != NULL, "there is memory");
}

void
world_end(struct world *world)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++)
		world_disconnect(world, i);
	flush(world);
	broker_destroy(world->broker);
	MUST(world->host.open == 0, "no descriptor is left");
	MUST(!world->host.bad, "a descriptor is closed once");
}

void
world_connect(struct world *world, unsigned int slot)
{
	struct world_client *self = &world->slot[slot];

	if (self->client != NULL)
		return;
	*self = (struct world_client){ .number = NO_NUMBER };
	self->client = broker_connect(world->broker, 100 + slot, self);
	MUST(self->client != NULL, "there is memory");
}

void
world_disconnect(struct world *world, unsigned int slot)
{
	struct broker_client *client = world->slot[slot].client;

	if (client == NULL)
		return;
	world->slot[slot].client = NULL;
	broker_disconnect(client);
	flush(world);
}

void
world_say(struct world *world, unsigned int slot, const struct roce_msg *msg, int fd)
{
	struct world_client *self = &world->slot[slot];

	if (msg->type == ROCE_MSG_HELLO && broker_is_guest(self->client))
		self->is_uplink = msg->hello.uplink != 0;
	/* Until roced says that the peer is gone, the client believes in its channel. */
	if (msg->type == ROCE_MSG_HAVE && self->number != NO_NUMBER &&
			msg->peer.number < ROCE_PROCESSES)
		self->has[msg->peer.number] = true;
	broker_message(self->client, msg, fd);
	flush(world);
}

void
world_say_bytes(struct world *world, unsigned int slot, const void *bytes, size_t len)
{
	static int sockets[2] = { -1, -1 };
	int fds[ROCE_PROTO_FDS];
	struct roce_msg msg;
	unsigned int n;
	int rc;

	if (sockets[0] < 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0)
		abort();
	if (send(sockets[0], bytes, len, 0) != (ssize_t)len)
		abort();
	rc = roce_msg_recv(sockets[1], &msg, fds, &n);
	if (rc == 0) {
		world_say(world, slot, &msg, -1);
		return;
	}
	/* A message that is none of roced's stays in the socket, and would be read again in place of the next. */
	for (unsigned int i = 0; i < 2; i++) {
		close(sockets[i]);
		sockets[i] = -1;
	}
	broker_violation(world->slot[slot].client, "fuzzed");
	flush(world);
}

void
world_tick(struct world *world)
{
	broker_check_absent(world->broker);
	broker_check_waiting(world->broker);
	flush(world);
}
