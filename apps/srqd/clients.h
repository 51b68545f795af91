/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_CLIENTS_H
#define SRQD_CLIENTS_H

/**
 * @file
 * Clients of a dat-srqd, many on one adapter, each with an endpoint and a receive queue of its own.
 * When all are connected, each sends its messages, a window of them at a time, and checks that every
 * answer is the next message of its own, byte for byte.
 *
 * No call blocks: clients_step() does what there is to do. Used by one thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#include "buffers.h"
#include "options.h"

struct client {
	DAT_EP_HANDLE ep;
	uint32_t sent;     /**< messages posted */
	uint32_t arrived;  /**< of them, those the server has received, as their completions tell */
	uint32_t answered; /**< answers received and found good */
	bool connected, parting;
};

struct clients {
	const struct srqd_options *options;
	struct sockaddr_storage server;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async_evd, conn_evd, dto_evd;
	DAT_PZ_HANDLE pz;
	struct buffers buffers;
	struct client *list;
	uint32_t window; /**< what the server grants, at most what we asked for */
	bool sink;       /**< the server does not answer */

	uint32_t started, up, down; /**< clients that have come so far */
	bool stopping;              /**< interrupted: a client may leave before its end */

	uint32_t finished;                /**< clients whose messages have all been dealt with */
	uint64_t sent, arrived, answered; /**< messages of all clients */
	double began, ended;              /**< the first message, and the end of the last */
};

/** Open @p ia and make the clients of a server at @p address. @return 0; -1 on error; the error was printed; clients_close() anyway. */
int clients_open(struct clients *clients, const struct srqd_options *options, const char *ia,
		const struct sockaddr_storage *address);

/** Do what there is to do. @return number of events dealt with; -1 on error; the error was printed. */
int clients_step(struct clients *clients);

/** Have all clients sent everything, and left? */
bool clients_done(const struct clients *clients);

/** Have everybody leave now. Step on until clients_done(). @return 0; -1 on error; the error was printed. */
int clients_stop(struct clients *clients);

/** Give everything back. @return 0; -1 on error; the error was printed. */
int clients_close(struct clients *clients);

#endif /* SRQD_CLIENTS_H */
