/* SPDX-License-Identifier: BSD-3-Clause */
#include "liveness.h"

#include <stdio.h>

#include "cli/keepalive.h"
#include "guests.h"

static bool
is_here(const struct guest *guest)
{
	return guest->state == GUEST_HERE && guest->ended == NULL;
}

static void
ask(const struct server *server, struct guest *guest)
{
	/* Refused when the connection is ending, which is an answer, too. */
	if (cli_keepalive_ask(guest->ep, LIVENESS_COOKIE) == DAT_SUCCESS)
		cli_liveness_asked(&guest->life, server->now);
}

/* A buffer that a message has taken and not filled is in no completion: the endpoint tells of it. */
static bool
has_begun(const struct guest *guest)
{
	DAT_COUNT taken = 0;

	return dat_ep_recv_query(guest->ep, &taken, NULL) == DAT_SUCCESS && taken > 0;
}

/* @param stall seconds for which what was sent to it may be without an acknowledgement. @return false: it may stay. */
static bool
stalls(const struct server *server, const struct guest *guest, uint32_t stall, char *reason,
		size_t len)
{
	uint32_t slow = server->options->stall_s;

	switch (cli_liveness_stall(&guest->life, server->now, stall, slow)) {
	case CLI_STALLS_SILENT:
		snprintf(reason, len, "it has acknowledged nothing for %u s", stall);
		return true;
	case CLI_STALLS_SLOW:
		snprintf(reason, len, "it has left an answer without acknowledgement for %u s",
				slow);
		return true;
	case CLI_STALLS_MIDWAY:
		snprintf(reason, len, "it has not ended a message for %u s", stall);
		return true;
	default:
		return false;
	}
}

static void
look(struct server *server, struct guest *guest)
{
	const struct srqd_options *options = server->options;
	char reason[64];

	if (stalls(server, guest, options->stall_s, reason, sizeof(reason)))
		guests_throw_out(server, guest, reason);
	else if (options->keepalive_s != 0 &&
			cli_liveness_is_silent(&guest->life, server->now, options->keepalive_s))
		ask(server, guest);
}

/* An accepted client confirms, or sends, at once. The connection manager waits longer, and as long as the client asks for. */
static void
await(struct server *server, struct guest *guest)
{
	uint32_t stall = server->options->stall_s;
	char reason[64];

	if (server->now - guest->life.message_at < stall)
		return;
	snprintf(reason, sizeof(reason), "it has not confirmed its connection for %u s", stall);
	guests_throw_out(server, guest, reason);
}

/* Of those that stall when buffers are scarce, the one with most of them. NULL: none does. */
static struct guest *
find_largest(struct server *server)
{
	struct guest *largest = NULL;

	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (is_here(guest) &&
				cli_liveness_stall(&guest->life, server->now, CLI_SCARCE_STALL_S,
						server->options->stall_s) != CLI_STALLS_NOT &&
				(largest == NULL ||
						cli_liveness_buffers(&guest->life) >
								cli_liveness_buffers(
										&largest->life)))
			largest = guest;
	}
	return largest;
}

/* The buffers of a guest that is thrown out come back at once. */
static void
free_buffers(struct server *server, uint32_t taken)
{
	uint32_t enough = server->refill.depth / 2;

	if (!cli_scarcity_lasts(&server->scarcity, server->now, taken > enough))
		return;
	while (taken > enough) {
		struct guest *guest = find_largest(server);
		char reason[64];

		if (guest == NULL)
			return;
		stalls(server, guest, CLI_SCARCE_STALL_S, reason, sizeof(reason));
		guests_throw_out(server, guest, reason);
		taken -= cli_liveness_buffers(&guest->life);
	}
}

void
liveness_look(struct server *server)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (!is_here(guest))
			continue;
		cli_liveness_begun(&guest->life, server->now, has_begun(guest));
		taken += cli_liveness_buffers(&guest->life);
	}
	free_buffers(server, taken);
	for (uint32_t i = 0; i < server->places; i++) {
		if (is_here(&server->guests[i]))
			look(server, &server->guests[i]);
		else if (server->guests[i].state == GUEST_COMING)
			await(server, &server->guests[i]);
	}
}

void
liveness_make_room(struct server *server)
{
	struct guest *idlest = NULL;

	if (server->options->idle_s == 0)
		return;
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (is_here(guest) && guest->life.held == 0 &&
				(idlest == NULL ||
						guest->life.message_at < idlest->life.message_at))
			idlest = guest;
	}
	if (idlest != NULL && server->now - idlest->life.message_at >= server->options->idle_s)
		guests_throw_out(server, idlest, "it sends nothing, and its place is asked for");
}
