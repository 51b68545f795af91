/* SPDX-License-Identifier: BSD-3-Clause */
#include "liveness.h"

#include <stdio.h>

#include "cli/liveness.h"
#include "guests.h"

/* While more than half of the buffers wait for clients, each may let its answers wait for so long: seconds. */
#define SCARCE_STALL_S 1

static bool
is_here(const struct guest *guest)
{
	return guest->state == GUEST_HERE && guest->ended == NULL;
}

void
liveness_begin(const struct server *server, struct guest *guest)
{
	guest->heard_at = guest->message_at = guest->moved_at = server->now;
}

static void
ask(const struct server *server, struct guest *guest)
{
	/* Refused when the connection is ending, which is an answer, too. */
	if (cli_liveness_ask(guest->ep, LIVENESS_COOKIE) != DAT_SUCCESS)
		return;
	guest->asked = true;
	guest->moved_at = server->now;
}

/* Seconds for which what was sent to a client may be without an acknowledgement. */
static uint32_t
patience(const struct server *server)
{
	bool scarce = server->held > server->refill.depth / 2;

	return scarce ? SCARCE_STALL_S : server->options->stall_s;
}

static void
look(struct server *server, struct guest *guest)
{
	const struct srqd_options *options = server->options;
	uint32_t stall = patience(server);
	char reason[64];

	if (guest->held > 0 || guest->asked) {
		if (server->now - guest->moved_at < stall)
			return;
		snprintf(reason, sizeof(reason), "it has acknowledged nothing for %u s", stall);
		guests_throw_out(server, guest, reason);
	} else if (options->keepalive_s != 0 &&
			server->now - guest->heard_at >= options->keepalive_s) {
		ask(server, guest);
	}
}

void
liveness_look(struct server *server)
{
	for (uint32_t i = 0; i < server->places; i++)
		if (is_here(&server->guests[i]))
			look(server, &server->guests[i]);
}

void
liveness_answered(const struct server *server, struct guest *guest, bool alive)
{
	guest->asked = false;
	if (alive)
		guest->heard_at = guest->moved_at = server->now;
}

void
liveness_make_room(struct server *server)
{
	struct guest *idlest = NULL;

	if (server->options->idle_s == 0)
		return;
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (is_here(guest) && guest->held == 0 &&
				(idlest == NULL || guest->message_at < idlest->message_at))
			idlest = guest;
	}
	if (idlest != NULL && server->now - idlest->message_at >= server->options->idle_s)
		guests_throw_out(server, idlest, "it sends nothing, and its place is asked for");
}
