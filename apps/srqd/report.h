/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_REPORT_H
#define SRQD_REPORT_H

/**
 * @file
 * Reports on standard output: a line of counts now and then, and the totals at the end.
 */

#include "clients.h"
#include "options.h"
#include "server.h"

struct report {
	const struct srqd_options *options;
	double began, last;       /**< when the server began, and when the last line was due */
	uint64_t messages, bytes; /**< of the server at that line */
	unsigned int lines;
	bool silent; /**< standard output is for JSON */
};

/** Begin: the server is open. */
void report_begin(struct report *report, const struct srqd_options *options, const char *ia);

/** Print a line when it is due. @return 0; -1: the counts are not to be had; the error was printed. */
int report_tick(struct report *report, const struct server *server);

/** Print the totals of the server. @return 0; -1: the counts are not to be had; the error was printed. */
int report_server(const struct report *report, const struct server *server);

/** Print the totals of the clients. */
void report_clients(const struct report *report, const struct clients *clients);

/** @return a word for what a client of the server does, or how it ended. */
const char *report_state(const struct guest *guest);

#endif /* SRQD_REPORT_H */
