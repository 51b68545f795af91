/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service ids and their listeners: one process each.
 */

#include <errno.h>
#include <stdlib.h>

#include "broker_pvt.h"

#define LISTENS_MAX (1u << 20) /**< of all processes */

/* No client foresees the bucket, so none can fill one. */
static uint32_t
bucket_of(const struct broker *broker, uint64_t service_id)
{
	uint64_t x = service_id ^ broker->secret;

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ x >> 32) * (broker->secret | 1);
	return (uint32_t)(x >> 32) % BUCKETS;
}

static struct listener *
find(const struct broker *broker, uint64_t service_id)
{
	struct listener *listener;

	LIST_FOREACH(listener, &broker->bucket[bucket_of(broker, service_id)], in_bucket) {
		if (listener->service_id == service_id)
			break;
	}
	return listener;
}

static int
take(struct broker_client *client, uint64_t service_id)
{
	struct broker *broker = client->broker;
	struct listener *listener = find(broker, service_id);

	if (listener != NULL)
		return listener->client == client ? 0 : -EADDRINUSE;
	listener = broker->listens < LISTENS_MAX ? malloc(sizeof(*listener)) : NULL;
	if (listener == NULL)
		return -ENOMEM;
	*listener = (struct listener){ .service_id = service_id, .client = client };
	LIST_INSERT_HEAD(&broker->bucket[bucket_of(broker, service_id)], listener, in_bucket);
	LIST_INSERT_HEAD(&client->listeners, listener, of_client);
	client->listens++;
	broker->listens++;
	return 0;
}

static void
give_back(struct listener *listener)
{
	LIST_REMOVE(listener, in_bucket);
	LIST_REMOVE(listener, of_client);
	listener->client->listens--;
	listener->client->broker->listens--;
	free(listener);
}

void
broker_listen(struct broker_client *client, uint64_t service_id)
{
	const struct roce_msg msg = {
		.type = ROCE_MSG_LISTENED,
		.listened = { .service_id = service_id, .error = take(client, service_id) },
	};

	broker_say(client, &msg, NO_NUMBER, NULL, 0);
}

void
broker_unlisten(struct broker_client *client, uint64_t service_id)
{
	struct listener *listener = find(client->broker, service_id);

	if (listener != NULL && listener->client == client)
		give_back(listener);
}

void
broker_unlisten_all(struct broker_client *client)
{
	struct listener *listener, *next;

	for (listener = LIST_FIRST(&client->listeners); listener != NULL; listener = next) {
		next = LIST_NEXT(listener, of_client);
		give_back(listener);
	}
}

struct broker_client *
broker_listener(const struct broker *broker, uint64_t service_id)
{
	const struct listener *listener = find(broker, service_id);

	return listener == NULL ? NULL : listener->client;
}
