/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_OPTIONS_H
#define SRQD_OPTIONS_H

/**
 * @file
 * The command line of dat-srqd.
 */

#include <stdbool.h>
#include <stdint.h>

enum srqd_mode {
	SRQD_SERVER, /**< serve clients until interrupted */
	SRQD_SELF,   /**< --self: the server on loop0 and its clients on loop1, in this process */
	SRQD_CLIENT, /**< --connect: clients of a dat-srqd elsewhere */
};

/** Numbers are uint32_t, texts belong to the command line: the table of options.c relies on both. */
struct srqd_options {
	enum srqd_mode mode;
	const char *ia;
	const char *host;
	uint32_t port;
	uint32_t size;   /**< bytes of a message, and of a receive buffer */
	uint32_t window; /**< messages of one client that may be unanswered */

	/* Of the server. */
	uint32_t depth, max_depth; /**< receive buffers, at first and when it has grown */
	uint32_t low;              /**< low watermark; 0: none */
	uint32_t max_clients;
	uint32_t keepalive_s; /**< of silence of a client, after which it is asked for a sign of life; 0: never */
	uint32_t stall_s; /**< for which a client may let its answers wait */
	uint32_t idle_s; /**< without a message, after which a client's place is given to others; 0: never */
	uint32_t interval_s; /**< from one line of counts to the next; 0: no lines */
	bool grow, sink, clients_table;

	/* Of clients. */
	uint32_t clients;
	uint32_t messages; /**< of each client */

	bool json;
	const char *json_file; /**< NULL: standard output */
};

/**
 * Read a command line. The strings of @p argv must outlive @p options.
 * @return -1: go on; else the status to exit with: 0 after --help or --version, 2 after one
 *         sentence on standard error.
 */
int srqd_options_read(struct srqd_options *options, int argc, char **argv);

#endif /* SRQD_OPTIONS_H */
