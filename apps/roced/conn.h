/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_CONN_H
#define ROCED_CONN_H

/**
 * @file
 * Connections: the sockets of the clients of a broker, in one epoll set, none of which is ever waited for.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "broker.h"

struct conn {
	TAILQ_ENTRY(conn) next;
	struct broker_client *client;
	int fd;         /**< -1: it has ended, and is freed when no event can name it any more */
	bool is_known;  /**< has said HELLO: none of its messages has descriptors */
	bool wants_out; /**< epoll waits until it can be written to */
	bool stalled; /**< too many descriptors are on their way; nothing tells when there are fewer */
};
TAILQ_HEAD(conn_list, conn);

struct conns {
	struct broker *broker;
	int epoll;
	unsigned int count;
	unsigned int stalled;
	struct conn_list live, ended;
};

void conns_init(struct conns *conns, struct broker *broker, int epoll);

/** Serve a socket. @param pid of the peer. @param fd the connection's from here on. */
void conns_add(struct conns *conns, int fd, pid_t pid);

/** Serve a connection. @param events of epoll. */
void conn_event(struct conns *conns, struct conn *conn, uint32_t events);

/** Send what the broker has to say, and end what it has ended. */
void conns_flush(struct conns *conns);

/** Try those again that are stalled. */
void conns_retry(struct conns *conns);

/** Free the ended ones: no event names them any more. */
void conns_reap(struct conns *conns);

/** End all. */
void conns_end(struct conns *conns);

#endif /* ROCED_CONN_H */
