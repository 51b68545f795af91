/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_PENDING_H
#define SRQD_PENDING_H

/**
 * @file
 * Connection requests that wait for a place.
 *
 * A client may ask for connections that it never confirms, and take each place again as soon as it is free. All places may be
 * its own then, but none of those that others ask for: their requests wait until one of its connections has ended.
 *
 * Used by one thread.
 */

#include <stdbool.h>

#include "server.h"

/**
 * All places are taken, and @p request asks for one. If the address whose connection has been unconfirmed for longest has
 * more of these than the client has that asks, that connection ends, and the request waits for its place.
 * @return false: it does not wait; it is still the caller's to answer.
 */
bool pending_keep(struct server *server, const struct srqd_request *request);

/** Take the request that has waited for longest. @return false: none waits. */
bool pending_take(struct server *server, struct srqd_request *request);

/** Reject those that have waited too long. To be called some times a second. */
void pending_look(struct server *server);

/** Reject all. */
void pending_reject(struct server *server);

#endif /* SRQD_PENDING_H */
