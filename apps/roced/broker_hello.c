/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HELLO: a process gets its number, and the memory of its bell. Numbers are given in turn, so that one is used again as
 * late as possible.
 */

#include <errno.h>
#include <string.h>

#include "broker_pvt.h"
#include "local/bell.h"

static bool
is_locked(const struct broker *broker, uint32_t number)
{
	return broker->host.is_locked(broker->host.arg, number);
}

/* A number with a lock belongs to the process that had it from a roced before this one. */
static bool
holds_lock(const struct broker_client *client, uint32_t number)
{
	const struct broker *broker = client->broker;
	uint32_t noted;

	if (!is_locked(broker, number))
		return false;
	noted = broker->host.noted(broker->host.arg, number);
	return noted == 0 || client->pid == 0 || noted == client->pid;
}

/* @return NO_NUMBER: all are taken. */
static uint32_t
next_number(const struct broker *broker)
{
	uint32_t number = broker->last;

	for (uint32_t i = 0; i < ROCE_PROCESS_MAX; i++) {
		number = number % ROCE_PROCESS_MAX + 1;
		if (broker->process[number] == NULL && !is_locked(broker, number))
			return number;
	}
	return NO_NUMBER;
}

/* A number of the process's own wish, or the next one. @return 0; -EBUSY a second uplink; -EMFILE no number. */
static int
choose_number(struct broker_client *client, const struct roce_msg_hello *hello)
{
	struct broker *broker = client->broker;
	uint32_t wanted = hello->uplink != 0 ? ROCE_PROCESS_UPLINK : hello->number;
	bool is_wish = hello->uplink != 0 || hello->number != 0;
	bool own_lock = is_wish && holds_lock(client, wanted);

	if (is_wish && broker->process[wanted] == NULL &&
			(own_lock || !is_locked(broker, wanted))) {
		client->number = wanted;
		client->returned = own_lock && !set_has(&broker->used, wanted);
		return 0;
	}
	if (hello->uplink != 0)
		return -EBUSY;
	client->number = next_number(broker);
	if (client->number == NO_NUMBER)
		return -EMFILE;
	broker->last = client->number;
	broker->host.note(broker->host.arg, BROKER_NOTE_LAST, broker->last);
	return 0;
}

/* @return 0; -EPROTO no bell; -ENOMEM. In any case @p fd is taken over. */
static int
take_bell(struct broker_client *client, int fd)
{
	struct broker *broker = client->broker;
	const struct broker_host *host = &broker->host;

	if (!host->is_memory(host->arg, fd, sizeof(struct roce_bell))) {
		host->close_unknown(host->arg, fd);
		return -EPROTO;
	}
	client->bell = broker_share(broker, fd);
	return client->bell == NULL ? -ENOMEM : 0;
}

/* Names are printed: they end, and have no character that a terminal obeys. */
static void
take_name(struct broker_client *client, const char *name)
{
	for (size_t i = 0; i < sizeof(client->name) - 1 && name[i] != '\0'; i++)
		client->name[i] = (char)(name[i] > ' ' && name[i] < 0x7f ? name[i] : '?');
}

static void
refuse(struct broker_client *client, int error)
{
	const struct roce_msg msg = { .type = ROCE_MSG_REFUSED, .refused.error = error };

	client->broker->counters.refused++;
	broker_log(client->broker, "%s, pid %u, is refused: %s", client->name, client->pid,
			strerror(-error));
	broker_say(client, &msg, NO_NUMBER, NULL, 0);
	broker_end(client);
}

static void
welcome(struct broker_client *client)
{
	struct broker *broker = client->broker;
	const struct roce_msg msg = {
		.type = ROCE_MSG_WELCOME,
		.welcome = {
			.number = client->number,
			.pid = broker->pid,
			.identity = broker->identity,
		},
	};

	broker_say(client, &msg, NO_NUMBER, NULL, 0);
}

/* A failure changes nothing. */
static int
attach(struct broker_client *client, const struct roce_msg_hello *hello)
{
	struct broker *broker = client->broker;
	int rc = choose_number(client, hello);

	if (rc == 0 && hello->uplink != 0 && !broker_identity_take(broker, &hello->identity))
		rc = -EINVAL;
	if (rc != 0)
		client->number = NO_NUMBER;
	return rc;
}

/* Its bell is there, and its message was validated. */
static void
begin(struct broker_client *client, const struct roce_msg_hello *hello)
{
	struct broker *broker = client->broker;
	int rc = attach(client, hello);

	if (rc != 0) {
		broker_unshare(broker, client->bell);
		refuse(client, rc);
		return;
	}
	broker->guests--;
	client->state = CLIENT_ATTACHED;
	client->serial = ++broker->serial;
	broker->process[client->number] = client;
	broker->counters.attached++;
	broker->host.note(broker->host.arg, client->number, client->pid);
	broker_log(broker, "process %u (%s, pid %u) attached", client->number, client->name,
			client->pid);
	welcome(client);
	broker_pair_attached(client);
	broker_pair_uplink(client);
	set_add(&broker->used, client->number);
}

/* ---- HELLOs that wait for the uplink ---- */

void
broker_stop_waiting(struct broker_client *client)
{
	client->broker->waiting--;
	broker_unshare(client->broker, client->bell);
}

static void
wait_for_uplink(struct broker_client *client, uint32_t wanted)
{
	client->state = CLIENT_WAITING;
	client->wanted = wanted;
	client->broker->guests--;
	client->broker->waiting++;
}

/* The identity is known. */
static void
resume_waiting(struct broker *broker)
{
	struct broker_client *client;

	TAILQ_FOREACH(client, &broker->all, all) {
		const struct roce_msg_hello hello = { .number = client->wanted };

		if (client->state != CLIENT_WAITING)
			continue;
		client->state = CLIENT_GUEST;
		broker->guests++;
		broker->waiting--;
		begin(client, &hello);
	}
}

void
broker_expect_uplink(struct broker *broker)
{
	broker->expects_uplink = true;
	broker->awaits_identity = true;
}

bool
broker_has_uplink(const struct broker *broker)
{
	return broker->process[ROCE_PROCESS_UPLINK] != NULL;
}

bool
broker_has_waiting(const struct broker *broker)
{
	return broker->waiting > 0;
}

void
broker_check_waiting(struct broker *broker)
{
	struct broker_client *client;

	TAILQ_FOREACH(client, &broker->all, all) {
		if (client->state == CLIENT_WAITING && ++client->waited >= BROKER_WAIT_CHECKS)
			refuse(client, -ENETDOWN);
	}
}

void
broker_hello(struct broker_client *client, const struct roce_msg_hello *hello, int bell)
{
	struct broker *broker = client->broker;
	int rc = take_bell(client, bell);

	take_name(client, hello->name);
	if (rc == 0 && (hello->version != ROCE_PROTO_VERSION || hello->number >= ROCE_PROCESSES)) {
		broker_unshare(broker, client->bell);
		rc = -EPROTO;
	}
	if (rc != 0) {
		refuse(client, rc);
		return;
	}
	if (broker->awaits_identity && hello->uplink == 0) {
		wait_for_uplink(client, hello->number);
		return;
	}
	begin(client, hello);
	if (client->number == ROCE_PROCESS_UPLINK && broker->awaits_identity) {
		broker->awaits_identity = false;
		resume_waiting(broker);
	}
}
