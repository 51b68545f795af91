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
#include "cli/liveness.h"
#include "link.h"

struct ping_server {
	struct link link;
	struct cli_runtime runtime; /**< the times below are by it */
	bool up;                    /**< the client has come; else it is only expected */
	struct cli_liveness
			life; /**< of the client; a request for a sign of life is held as answers are */
};

/** One poll. @param busy  something has happened. @return 0; 1: a client has gone; -1: the adapter failed; the error was printed. */
int ping_serve_step(struct ping_server *server, bool *busy);

#endif /* PING_SERVE_H */
