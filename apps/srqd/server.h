/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_SERVER_H
#define SRQD_SERVER_H

/**
 * @file
 * The server: one adapter, one shared receive queue, and an endpoint for each client, all of which
 * take their buffers from that queue. A message is sent back from the buffer it came in.
 *
 * No call blocks: server_step() does what there is to do. Used by one thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#include "cli/clock.h"
#include "cli/liveness.h"
#include "options.h"
#include "refill.h"

enum guest_state {
	GUEST_NONE,    /**< this place was never used */
	GUEST_COMING,  /**< accepted; the connection is not up yet */
	GUEST_HERE,    /**< connected */
	GUEST_LEAVING, /**< the connection has ended; completions may still wait to be reaped */
	GUEST_GONE,    /**< what is left are its counts; the place may be used again */
};

/** No buffer: the end of a list. */
#define GUEST_NO_BUFFER UINT32_MAX

/** A client, as the server sees it. */
struct guest {
	DAT_EP_HANDLE ep;
	enum guest_state state;
	uint32_t number;   /**< 1 for the first client of all */
	const char *ended; /**< in a word, how the connection ended; NULL: it has not */
	char address[64];

	uint64_t messages, bytes; /**< received */
	uint64_t answers;         /**< of which the client has acknowledged the receipt */
	uint32_t window;    /**< its credit: messages that may wait for their answer to be posted */
	uint32_t most_held; /**< buffers at a time */
	struct cli_liveness life;

	/* Answers that found the send queue full, in order. */
	uint32_t waiting, first_waiting, last_waiting;
};

/** The request of a client for a place. */
struct srqd_request {
	DAT_CR_HANDLE cr;
	uint32_t window; /**< that it gets */
	char address[64];
	double since; /**< it waits */
};

/** Requests that may wait for a place (pending.h). */
#define SRQD_PENDING_MAX 16u

/** A buffer in use. */
struct message {
	uint32_t length;
	uint32_t next; /**< in a guest's list of those that wait */
};

struct server_totals {
	uint32_t clients;     /**< that came */
	uint32_t lost;        /**< of them, those that did not leave in order */
	uint32_t turned_away; /**< unknown peers, and those for whom there was no place */
	uint64_t messages;    /**< received */
	uint64_t bytes;       /**< in them */
	uint64_t answers;     /**< acknowledged by their clients */
	uint64_t unanswered;  /**< whose client left before it acknowledged an answer */
};

struct server {
	const struct srqd_options *options;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async_evd, conn_evd, cr_evd, dto_evd;
	DAT_PSP_HANDLE psp;
	DAT_PZ_HANDLE pz;
	struct refill refill;
	struct message *messages; /**< by buffer */
	struct guest *guests;     /**< places for the clients that may be there at a time */
	uint32_t places;          /**< of them, those ever used */
	uint32_t present;         /**< guests that are neither NONE nor GONE */
	uint32_t leaving;         /**< guests to free when all completions are reaped */
	struct srqd_request pending[SRQD_PENDING_MAX];
	uint32_t n_pending;
	struct cli_scarcity scarcity;
	struct cli_runtime runtime;
	double now;       /**< in this step, by it; as all times of the server and its guests */
	double looked_at; /**< when guests were last looked after */
	struct server_totals totals;
	uint64_t rnr_before; /**< the adapter's counter when the server began */
};

/** Open @p ia, make the queue and listen. @return 0; -1 on error; the error was printed; server_close() anyway. */
int server_open(struct server *server, const struct srqd_options *options, const char *ia);

/** Copy the adapter's own address. @return 0; -1: it has none; the error was printed. */
int server_address(const struct server *server, struct sockaddr_storage *address);

/** Do what there is to do. @return number of events dealt with; -1 on error; the error was printed. */
int server_step(struct server *server);

/**
 * Begin to end: nobody is admitted any more, and those who are here are disconnected in order.
 * Step on until server->present is 0. @return 0; -1 on error; the error was printed.
 */
int server_stop(struct server *server);

/** End at once: the connections that server_stop() has not ended yet are broken. Step on as there. */
void server_break(struct server *server);

/** @return receiver-not-ready NAKs that the adapter has sent since the server began; 0 when it does not say. */
uint64_t server_rnr_naks(const struct server *server);

/** Give everything back. @return 0; -1 on error; the error was printed. */
int server_close(struct server *server);

#endif /* SRQD_SERVER_H */
