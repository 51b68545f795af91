/* SPDX-License-Identifier: BSD-3-Clause */
#include "broker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker_pvt.h"

void
broker_log(const struct broker *broker, const char *format, ...)
{
	char line[160];
	va_list args;

	if (broker->host.log == NULL)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	broker->host.log(broker->host.arg, line);
}

struct broker *
broker_create(const struct broker_host *host, uint32_t pid)
{
	struct broker *broker = calloc(1, sizeof(*broker));

	if (broker == NULL)
		return NULL;
	broker->host = *host;
	broker->pid = pid;
	broker->patience = BROKER_PATIENCE;
	broker->secret = host->random(host->arg);
	broker->last = host->noted(host->arg, BROKER_NOTE_LAST) % ROCE_PROCESSES;
	broker_identity_local(&broker->identity);
	TAILQ_INIT(&broker->all);
	TAILQ_INIT(&broker->ready);
	return broker;
}

void
broker_destroy(struct broker *broker)
{
	free(broker);
}

struct broker_client *
broker_connect(struct broker *broker, uint32_t pid, void *user)
{
	struct broker_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->broker = broker;
	client->user = user;
	client->state = CLIENT_GUEST;
	client->number = NO_NUMBER;
	client->pid = pid;
	STAILQ_INIT(&client->output);
	TAILQ_INSERT_TAIL(&broker->all, client, all);
	broker->guests++;
	return client;
}

void *
broker_user(const struct broker_client *client)
{
	return client->user;
}

void
broker_disconnect(struct broker_client *client)
{
	struct broker *broker = client->broker;

	if (client->state == CLIENT_WAITING)
		broker_stop_waiting(client);
	if (client->number != NO_NUMBER) {
		broker->process[client->number] = NULL;
		broker_log(broker, "process %u (%s, pid %u) is gone", client->number, client->name,
				client->pid);
		if (client->number == ROCE_PROCESS_UPLINK)
			broker->identity.uplink = broker->expects_uplink;
		broker_unlisten_all(client);
		broker_pair_gone(client);
		broker_unshare(broker, client->bell);
	}
	if (client->state == CLIENT_GUEST)
		broker->guests--;
	broker_drop_output(client);
	if (client->is_ready)
		TAILQ_REMOVE(&broker->ready, client, ready);
	TAILQ_REMOVE(&broker->all, client, all);
	free(client->asked);
	free(client);
}

void
broker_violation(struct broker_client *client, const char *what)
{
	if (client->state == CLIENT_OVER)
		return;
	client->broker->counters.violations++;
	broker_log(client->broker, "the connection of pid %u ends: %s", client->pid, what);
	broker_end(client);
}

/* Messages of a process that has its number. */
static void
attached_message(struct broker_client *client, const struct roce_msg *msg)
{
	switch (msg->type) {
	case ROCE_MSG_LISTEN:
		broker_listen(client, msg->service.service_id);
		break;
	case ROCE_MSG_UNLISTEN:
		broker_unlisten(client, msg->service.service_id);
		break;
	case ROCE_MSG_OPEN:
		broker_open(client, msg->peer.number);
		break;
	case ROCE_MSG_HAVE:
		broker_have(client, msg->peer.number);
		break;
	case ROCE_MSG_FRAME:
		broker_frame(client, msg);
		break;
	case ROCE_MSG_UPLINK:
		if (client->number == ROCE_PROCESS_UPLINK)
			client->broker->uplink = msg->uplink;
		else
			broker_violation(client, "counters of an uplink, which it is not");
		break;
	default:
		broker_violation(client, "a message that no process sends");
	}
}

void
broker_message(struct broker_client *client, const struct roce_msg *msg, int fd)
{
	const struct broker_host *host = &client->broker->host;

	if (client->state == CLIENT_GUEST && msg->type == ROCE_MSG_HELLO) {
		broker_hello(client, &msg->hello, fd);
		return;
	}
	if (fd >= 0)
		host->close_unknown(host->arg, fd);
	if (client->state == CLIENT_OVER)
		return;
	if (msg->type == ROCE_MSG_STATUS)
		broker_status(client, msg->status.json != 0);
	else if (client->state == CLIENT_ATTACHED)
		attached_message(client, msg);
	else
		broker_violation(client, "a message before HELLO");
}

bool
broker_is_guest(const struct broker_client *client)
{
	return client->state == CLIENT_GUEST;
}

struct broker_client *
broker_ready(struct broker *broker)
{
	struct broker_client *client = TAILQ_FIRST(&broker->ready);

	if (client != NULL) {
		TAILQ_REMOVE(&broker->ready, client, ready);
		client->is_ready = false;
	}
	return client;
}

bool
broker_is_over(const struct broker_client *client)
{
	return client->state == CLIENT_OVER;
}

struct broker_client *
broker_oldest_guest(const struct broker *broker, unsigned int many)
{
	struct broker_client *client;

	if (broker->guests < many)
		return NULL;
	TAILQ_FOREACH(client, &broker->all, all) {
		if (client->state == CLIENT_GUEST)
			return client;
	}
	return NULL;
}

uint32_t
broker_guests(const struct broker *broker)
{
	return broker->guests;
}

const struct broker_counters *
broker_counters(const struct broker *broker)
{
	return &broker->counters;
}
