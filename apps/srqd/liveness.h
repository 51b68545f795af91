/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_LIVENESS_H
#define SRQD_LIVENESS_H

/**
 * @file
 * How the server gets back places and buffers of clients that do not let go of them.
 *
 * One that has been silent for a while is asked for a sign of life (cli/keepalive.h). A client that acknowledges nothing
 * of what was sent to it holds buffers: it may do so for a limited time, however often it asks to be tried again. So does one
 * that acknowledges an answer now and then, and one that begins a message and does not end it. Places of clients that are
 * there and say nothing are given to others only when none is free.
 *
 * Used by one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "server.h"

/** Cookie of a request for a sign of life; no buffer has it. */
#define LIVENESS_COOKIE UINT64_MAX

/** Ask those who are silent, and throw out those who stall. To be called some times a second. */
void liveness_look(struct server *server);

/** All places are taken, and one is asked for: throw out the guest that has sent nothing for longest, if that is long. */
void liveness_make_room(struct server *server);

#endif /* SRQD_LIVENESS_H */
