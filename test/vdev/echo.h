/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_VDEV_ECHO_H
#define ROCE_VDEV_ECHO_H

/**
 * @file
 * A server that sends each message back, and its client, as programs of DAT have them: an adapter, one connection at a time,
 * one message at a time. Any failure ends the program with a sentence.
 */

#include <stdint.h>

#include <dat/udat.h>

struct echo {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, recv, request, connect, cr;
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_EP_HANDLE ep;
	uint8_t memory[2][64]; /**< a message in, a message out */
};

/** Open an adapter, and what a connection needs. */
void echo_open(struct echo *echo, const char *ia);

/** Close the adapter with all it has. */
void echo_close(struct echo *echo);

/** Tell "listening" on standard output, and serve one client after the other, for ever. */
void echo_serve(struct echo *echo);

/** Connect to the server at this IPv4 address. */
void echo_connect(struct echo *echo, const char *address);

/** Send a message that ends with @p number, and await it. */
void echo_message(struct echo *echo, uint64_t number);

/** End the connection, and hear of its end. */
void echo_disconnect(struct echo *echo);

#endif
