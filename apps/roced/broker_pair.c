/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of processes with a channel: made at the first contact, and ended when one of the two goes. Channels outlive a
 * roced; HAVE tells the next one of them.
 */

#include <errno.h>
#include <string.h>

#include "broker_pvt.h"
#include "local/ring.h"

/* Each end has a socket of its own, and both have the memory. */
static void
say_channel(struct broker_client *to, const struct broker_client *peer, struct shared_fd *memory,
		struct shared_fd *socket, uint32_t side)
{
	struct shared_fd *const fds[ROCE_PROTO_FDS] = { memory, peer->bell, socket };
	const struct roce_msg msg = {
		.type = ROCE_MSG_CHANNEL,
		.channel = { .number = peer->number, .side = side },
	};

	broker_say(to, &msg, peer->number, fds, ROCE_PROTO_FDS);
}

static void
say_gone(struct broker_client *to, uint32_t number)
{
	const struct roce_msg msg = { .type = ROCE_MSG_GONE, .peer.number = number };

	to->broker->counters.gone++;
	broker_say(to, &msg, number, NULL, 0);
}

/* The descriptors of a new channel: memory, and a socket for each end. */
struct channel {
	struct shared_fd *memory, *socket[2];
};

static void
drop_channel(struct broker *broker, struct channel *channel)
{
	if (channel->memory != NULL)
		broker_unshare(broker, channel->memory);
	for (int side = 0; side < 2; side++) {
		if (channel->socket[side] != NULL)
			broker_unshare(broker, channel->socket[side]);
	}
}

static int
make_channel(struct broker *broker, struct channel *channel)
{
	const struct broker_host *host = &broker->host;
	int fds[2];
	int memory = host->memory(host->arg, "roce-channel", sizeof(struct roce_channel_memory));
	int rc;

	*channel = (struct channel){ .memory = NULL };
	if (memory < 0)
		return memory;
	channel->memory = broker_share(broker, memory);
	rc = host->sockets(host->arg, fds);
	for (int side = 0; rc == 0 && side < 2; side++)
		channel->socket[side] = broker_share(broker, fds[side]);
	if (rc == 0 && channel->memory != NULL && channel->socket[0] != NULL &&
			channel->socket[1] != NULL)
		return 0;
	drop_channel(broker, channel);
	return rc == 0 ? -ENOMEM : rc;
}

int
broker_pair(struct broker_client *a, struct broker_client *b)
{
	struct broker *broker = a->broker;
	struct channel channel;
	int rc;

	if (set_has(&a->pairs, b->number))
		return 0;
	rc = make_channel(broker, &channel);
	if (rc != 0) {
		broker_log(broker, "no channel of processes %u and %u: %s", a->number, b->number,
				strerror(-rc));
		return rc;
	}
	set_add(&a->pairs, b->number);
	set_add(&b->pairs, a->number);
	say_channel(a, b, channel.memory, channel.socket[0], 0);
	say_channel(b, a, channel.memory, channel.socket[1], 1);
	drop_channel(broker, &channel);
	broker->counters.channels++;
	broker_log(broker, "channel of processes %u and %u", a->number, b->number);
	return 0;
}

/* A channel that cannot be made is answered like a peer that never was: the process may ask again. */
void
broker_open(struct broker_client *client, uint32_t peer)
{
	struct broker_client *other;

	if (peer == client->number)
		return;
	other = peer < ROCE_PROCESSES ? client->broker->process[peer] : NULL;
	if (other == NULL || other->state == CLIENT_OVER || broker_pair(client, other) != 0)
		say_gone(client, peer);
}

/* Can the peer of a channel that is older than this roced still be there? */
static bool
may_live(const struct broker *broker, uint32_t number)
{
	const struct broker_client *other = broker->process[number];

	if (other != NULL)
		return other->returned;
	return !set_has(&broker->used, number) && broker->host.is_locked(broker->host.arg, number);
}

void
broker_have(struct broker_client *client, uint32_t peer)
{
	struct broker *broker = client->broker;

	if (peer < ROCE_PROCESSES && (peer == client->number || set_has(&client->pairs, peer)))
		return;
	if (!client->returned || peer >= ROCE_PROCESSES || !may_live(broker, peer)) {
		say_gone(client, peer);
		return;
	}
	set_add(&client->pairs, peer);
	if (broker->process[peer] != NULL)
		set_add(&broker->process[peer]->pairs, client->number);
	else
		set_add(&broker->absent, peer);
}

/* Tell all that have a pair with it. */
static void
end_pairs(struct broker *broker, uint32_t number)
{
	for (uint32_t i = 0; i < ROCE_PROCESSES; i++) {
		struct broker_client *other = broker->process[i];

		if (other == NULL || !set_has(&other->pairs, number))
			continue;
		set_remove(&other->pairs, number);
		if (!broker_forget_output(other, number))
			say_gone(other, number);
	}
}

void
broker_pair_attached(struct broker_client *client)
{
	struct broker *broker = client->broker;
	uint32_t number = client->number;

	if (!set_has(&broker->absent, number))
		return;
	set_remove(&broker->absent, number);
	if (!client->returned) {
		end_pairs(broker, number);
		return;
	}
	for (uint32_t i = 0; i < ROCE_PROCESSES; i++) {
		if (broker->process[i] != NULL && set_has(&broker->process[i]->pairs, number))
			set_add(&client->pairs, i);
	}
}

void
broker_pair_uplink(struct broker_client *client)
{
	struct broker *broker = client->broker;
	struct broker_client *uplink = broker->process[ROCE_PROCESS_UPLINK];

	if (uplink == NULL)
		return;
	if (client != uplink) {
		(void)broker_pair(uplink, client);
		return;
	}
	for (uint32_t number = ROCE_PROCESS_UPLINK + 1; number < ROCE_PROCESSES; number++) {
		if (broker->process[number] != NULL)
			(void)broker_pair(uplink, broker->process[number]);
	}
}

void
broker_pair_gone(struct broker_client *client)
{
	end_pairs(client->broker, client->number);
}

bool
broker_has_absent(const struct broker *broker)
{
	return set_next(&broker->absent, 0) < ROCE_PROCESSES;
}

void
broker_check_absent(struct broker *broker)
{
	for (uint32_t i = set_next(&broker->absent, 0); i < ROCE_PROCESSES;
			i = set_next(&broker->absent, i + 1)) {
		if (broker->host.is_locked(broker->host.arg, i))
			continue;
		set_remove(&broker->absent, i);
		end_pairs(broker, i);
	}
}
