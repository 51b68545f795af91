/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PING_SERVE_H
#define PING_SERVE_H

/**
 * @file
 * The server: it sends each message back, to one client after the other. A client may crash, break a rule, or fall silent: that
 * is its own end, and the server waits for the next. Only its adapter can fail it.
 *
 * No call blocks. Used by one thread.
 */

#include <stdbool.h>

#include "cli/clock.h"
#include "link.h"

struct ping_server {
	struct link link;
	struct cli_runtime runtime; /**< the times below are by it */
	bool up;                    /**< the client has come; else it is only expected */
	unsigned int owed;          /**< sends that the client has not acknowledged */
	double moved_at;            /**< since then it has acknowledged none of them */
	double heard_at;            /**< its last message, or acknowledgement */
	double message_at;          /**< its last message, or the beginning of its connection */
};

/** One poll. @param busy  something has happened. @return 0; 1: a client has gone; -1: the adapter failed; the error was printed. */
int ping_serve_step(struct ping_server *server, bool *busy);

#endif /* PING_SERVE_H */
