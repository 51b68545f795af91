/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_ROCED_WORLD_H
#define ROCE_FUZZ_ROCED_WORLD_H

/**
 * @file
 * A broker of roced, clients that say anything, and a second opinion on what each of them hears.
 *
 * A client is a slot. It reads at once, or lets its output wait. All that it reads is checked: a channel is new and has its
 * descriptors, a frame of another process comes behind the channel to that process and names none but its sender.
 */

#include <stdbool.h>
#include <stdint.h>

#include "roced/broker.h"
#include "roced/fake_host.h"

#define WORLD_SLOTS 16u

struct world_client {
	struct broker_client *client; /**< NULL: the slot is free */
	uint32_t number;              /**< UINT32_MAX: has read no WELCOME */
	bool is_uplink;
	bool lets_wait;
	bool has[ROCE_PROCESSES]; /**< peers with a channel, as the client was told */
};

struct world {
	struct fake_host host;
	struct broker *broker;
	struct world_client slot[WORLD_SLOTS];
};

void world_begin(struct world *world);

/** All clients leave, and nothing is left. */
void world_end(struct world *world);

void world_connect(struct world *world, unsigned int slot);
void world_disconnect(struct world *world, unsigned int slot);

/** A client says it, then all clients that read do so. @param fd as for broker_message(). */
void world_say(struct world *world, unsigned int slot, const struct roce_msg *msg, int fd);

/** The same bytes through a socket: what is none of the protocol ends the connection. */
void world_say_bytes(struct world *world, unsigned int slot, const void *bytes, size_t len);

/** Read what waits, at most @p n messages. */
void world_read(struct world *world, unsigned int slot, unsigned int n);

/** Time has passed. */
void world_tick(struct world *world);

#endif /* ROCE_FUZZ_ROCED_WORLD_H */
