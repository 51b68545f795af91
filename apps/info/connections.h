/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_CONNECTIONS_H
#define INFO_CONNECTIONS_H

/**
 * @file
 * The connections of the exporter: there is always room for one more.
 *
 * libmicrohttpd ends a connection on which nothing moves, and takes no more than its limit. Some that send a byte now and
 * then would keep all others out. So the oldest one ends early when many are there: one whose request has not come
 * whole, else any. All of it: the thread of libmicrohttpd.
 */

#include <sys/queue.h>

#include <microhttpd.h>

/** Connections that libmicrohttpd is to take at once, and how many there may be before the oldest one ends. */
#define INFO_CONNECTIONS_LIMIT 64u
#define INFO_CONNECTIONS_ROOM  48u

TAILQ_HEAD(info_connection_list, info_connection);

/** Connections that have not ended. */
struct info_connections {
	struct info_connection_list list; /**< the oldest one first */
	unsigned int n;
};

void info_connections_init(struct info_connections *connections);

/** An MHD_NotifyConnectionCallback. @param arg struct info_connections. */
void info_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
		enum MHD_ConnectionNotificationCode code);

/** The request of a connection has come whole. */
void info_connections_whole(struct MHD_Connection *connection);

#endif /* INFO_CONNECTIONS_H */
