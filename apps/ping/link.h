/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PING_LINK_H
#define PING_LINK_H

/**
 * @file
 * The plainest use of uDAPL there is: one endpoint on one adapter, that connects or accepts, and
 * sends and receives messages of one size. No call blocks: link_step() says what happened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

/** Result of link_step(). */
enum link_news {
	LINK_FAILED = -1, /**< the adapter; the error was printed */
	LINK_QUIET,
	LINK_REQUEST, /**< a dat-ping wants to connect: link->asked; answer with link_accept() or link_reject() */
	LINK_UP,
	LINK_DOWN,
	LINK_LOST, /**< the connection or its peer failed, which was printed: link_release() is next */
	LINK_MESSAGE, /**< link->message; its buffer is given back by the next link_step() */
	LINK_SENT,    /**< the peer has acknowledged a message, or what link_ask() sent */
};

struct link {
	const char *name;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async_evd, conn_evd, cr_evd, dto_evd;
	DAT_PSP_HANDLE psp;
	DAT_PZ_HANDLE pz;
	DAT_CR_HANDLE request; /**< of LINK_REQUEST */
	uint32_t asked;        /**< size of messages that the request is about */
	bool listens;

	/* From link_prepare() to link_release(). */
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_EP_HANDLE ep;
	uint8_t *memory;
	uint32_t size, stride;
	int held;               /**< receive buffer handed out with LINK_MESSAGE; -1: none */
	uint8_t *outgoing;      /**< fill before link_send() */
	const uint8_t *message; /**< of LINK_MESSAGE */
};

/** Open an adapter; listen on @p port unless it is 0. @return 0; -1 on error; the error was printed. */
int link_open(struct link *link, const char *ia, uint16_t port);

/** Copy the adapter's own address. @return 0; -1: it has none; the error was printed. */
int link_address(const struct link *link, struct sockaddr_storage *address);

/** Make memory and endpoint for messages of @p size bytes. @return 0; -1 on error; the error was printed. */
int link_prepare(struct link *link, uint32_t size);

/** Begin to connect to a listening link. LINK_UP follows. @return 0; -1 on error; the error was printed. */
int link_connect(struct link *link, const struct sockaddr_storage *address, uint16_t port);

/** Accept the request of LINK_REQUEST after link_prepare(). LINK_UP follows. @return 0; -1 on error; the error was printed. */
int link_accept(struct link *link);

/** Refuse the request of LINK_REQUEST. */
void link_reject(struct link *link);

/** Send link->outgoing. @return 0; -1 on error; the error was printed. */
int link_send(struct link *link);

/** Ask the peer for a sign of life (cli/liveness.h): LINK_SENT follows. @return false: the connection is ending. */
bool link_ask(struct link *link);

/** Begin to disconnect. LINK_DOWN follows. @return 0; -1 on error; the error was printed. */
int link_disconnect(struct link *link);

/** Look once for news. */
enum link_news link_step(struct link *link);

/** Free what link_prepare() made. @return 0; -1 on error; the error was printed. */
int link_release(struct link *link);

/** Close the adapter. @return 0; -1 on error; the error was printed. */
int link_close(struct link *link);

#endif /* PING_LINK_H */
