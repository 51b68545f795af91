/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_GUESTS_H
#define SRQD_GUESTS_H

/**
 * @file
 * How clients come to the server and how they leave it.
 */

#include <dat/udat.h>

#include "server.h"

/** A connection request has arrived: accept it, or reject it. @return 0; -1 on error; the error was printed. */
int guests_request(struct server *server, const DAT_CR_ARRIVAL_EVENT_DATA *arrival);

/** Something has happened to a connection. @return 0; -1 on error; the error was printed. */
int guests_connection(struct server *server, const DAT_EVENT *event);

/** @return the guest of an endpoint that a completion names; NULL: it is none of ours; the error was printed. */
struct guest *guests_of(DAT_EP_HANDLE ep);

/** End the connection of a guest that is here, or coming, at once, because of what it did. The rest follows as for any other end. */
void guests_throw_out(struct server *server, struct guest *guest, const char *reason);

/**
 * Free the endpoints of those who have left and whose completions have all been reaped. To be called when the dispatcher
 * was empty: an endpoint's last receives lie there before the event that ends its connection.
 * @return 0; -1 on error; the error was printed.
 */
int guests_part(struct server *server);

/** Begin to disconnect everybody. @return 0; -1 on error; the error was printed. */
int guests_stop(struct server *server);

/** Break the connections that are left. */
void guests_break(struct server *server);

/** Free what is left of them, whatever their state. @return 0; -1 on error; the error was printed. */
int guests_close(struct server *server);

#endif /* SRQD_GUESTS_H */
