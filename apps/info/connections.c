/* SPDX-License-Identifier: BSD-3-Clause */
#include "connections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

struct info_connection {
	TAILQ_ENTRY(info_connection) next;
	int fd;
	bool whole; /* its request has come */
	bool ended; /* it was told to end, and is in no list */
};

void
info_connections_init(struct info_connections *connections)
{
	connections->n = 0;
	TAILQ_INIT(&connections->list);
}

static void
drop(struct info_connections *connections, struct info_connection *one)
{
	TAILQ_REMOVE(&connections->list, one, next);
	connections->n--;
	one->ended = true;
}

/* libmicrohttpd reads the end of it, and closes it. */
static void
end_oldest(struct info_connections *connections)
{
	struct info_connection *one;

	TAILQ_FOREACH(one, &connections->list, next)
		if (!one->whole)
			break;
	if (one == NULL)
		one = TAILQ_FIRST(&connections->list);
	shutdown(one->fd, SHUT_RDWR);
	drop(connections, one);
}

/* @return NULL: no memory; libmicrohttpd's own limits are for it. */
static struct info_connection *
add(struct info_connections *connections, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct info_connection *one = info != NULL ? calloc(1, sizeof(*one)) : NULL;

	if (one == NULL)
		return NULL;
	one->fd = info->connect_fd;
	if (connections->n >= INFO_CONNECTIONS_ROOM)
		end_oldest(connections);
	TAILQ_INSERT_TAIL(&connections->list, one, next);
	connections->n++;
	return one;
}

void
info_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
		enum MHD_ConnectionNotificationCode code)
{
	struct info_connections *connections = arg;
	struct info_connection *one = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = add(connections, connection);
		return;
	}
	if (one != NULL && !one->ended)
		drop(connections, one);
	free(one);
	*context = NULL;
}

void
info_connections_whole(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct info_connection *one = info != NULL ? info->socket_context : NULL;

	if (one != NULL)
		one->whole = true;
}
