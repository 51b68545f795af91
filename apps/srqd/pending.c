/* SPDX-License-Identifier: BSD-3-Clause */
#include "pending.h"

#include <string.h>

#include "guests.h"

static bool
is_unconfirmed(const struct guest *guest)
{
	return guest->state == GUEST_COMING && guest->ended == NULL;
}

static struct guest *
find_oldest(struct server *server)
{
	struct guest *oldest = NULL;

	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (is_unconfirmed(guest) && (oldest == NULL || guest->number < oldest->number))
			oldest = guest;
	}
	return oldest;
}

/* Connections of an address that it has not confirmed, and requests of it that wait. */
static uint32_t
count_unconfirmed(const struct server *server, const char *address)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < server->places; i++)
		n += is_unconfirmed(&server->guests[i]) &&
				strcmp(server->guests[i].address, address) == 0;
	for (uint32_t i = 0; i < server->n_pending; i++)
		n += strcmp(server->pending[i].address, address) == 0;
	return n;
}

bool
pending_keep(struct server *server, const struct srqd_request *request)
{
	struct guest *oldest = find_oldest(server);

	if (oldest == NULL || server->n_pending == SRQD_PENDING_MAX ||
			count_unconfirmed(server, oldest->address) <=
					count_unconfirmed(server, request->address))
		return false;
	guests_throw_out(server, oldest,
			"it has not confirmed its connection, and its place is asked for");
	server->pending[server->n_pending] = *request;
	server->pending[server->n_pending++].since = server->now;
	return true;
}

static void
remove_first(struct server *server)
{
	server->n_pending--;
	memmove(server->pending, server->pending + 1, server->n_pending * sizeof(*server->pending));
}

bool
pending_take(struct server *server, struct srqd_request *request)
{
	if (server->n_pending == 0)
		return false;
	*request = server->pending[0];
	remove_first(server);
	return true;
}

static void
reject_first(struct server *server)
{
	server->totals.turned_away++;
	dat_cr_reject(server->pending[0].cr);
	remove_first(server);
}

void
pending_look(struct server *server)
{
	while (server->n_pending > 0 &&
			server->now - server->pending[0].since >= server->options->stall_s)
		reject_first(server);
}

void
pending_reject(struct server *server)
{
	while (server->n_pending > 0)
		reject_first(server);
}
