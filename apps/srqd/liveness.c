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
	bool scarce = server->held + server->begun > server->refill.depth / 2;

	return scarce ? SCARCE_STALL_S : server->options->stall_s;
}

void
liveness_hold(const struct server *server, struct guest *guest)
{
	if (guest->held > 0)
		return;
	if (!guest->asked)
		guest->moved_at = server->now;
	guest->overdue = 1;
	guest->due_at = server->now;
}

void
liveness_let_go(const struct server *server, struct guest *guest)
{
	if (--guest->overdue > 0)
		return;
	guest->overdue = guest->held;
	guest->due_at = server->now;
}

/* A buffer that a message has taken and not filled is in no completion: the endpoint tells of it. */
static void
note_begun(const struct server *server, struct guest *guest)
{
	bool before = guest->begun && guest->begun_at > guest->message_at;
	DAT_COUNT taken = 0;

	guest->begun = dat_ep_recv_query(guest->ep, &taken, NULL) == DAT_SUCCESS && taken > 0;
	if (!before)
		guest->begun_at = server->now;
}

/* @return false: it may stay. */
static bool
stalls(const struct server *server, const struct guest *guest, char *reason, size_t len)
{
	uint32_t stall = patience(server);
	bool owes = guest->held > 0 || guest->asked;

	if (owes && server->now - guest->moved_at >= stall)
		snprintf(reason, len, "it has acknowledged nothing for %u s", stall);
	else if (guest->held > 0 && server->now - guest->due_at >= server->options->stall_s)
		snprintf(reason, len, "it has left an answer without acknowledgement for %u s",
				server->options->stall_s);
	else if (guest->begun && server->now - guest->begun_at >= stall)
		snprintf(reason, len, "it has not ended a message for %u s", stall);
	else
		return false;
	return true;
}

static void
look(struct server *server, struct guest *guest)
{
	const struct srqd_options *options = server->options;
	char reason[64];

	if (stalls(server, guest, reason, sizeof(reason)))
		guests_throw_out(server, guest, reason);
	else if (guest->held == 0 && !guest->asked && options->keepalive_s != 0 &&
			server->now - guest->heard_at >= options->keepalive_s)
		ask(server, guest);
}

void
liveness_look(struct server *server)
{
	server->begun = 0;
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (!is_here(guest))
			continue;
		note_begun(server, guest);
		server->begun += guest->begun;
	}
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
