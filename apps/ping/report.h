/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PING_REPORT_H
#define PING_REPORT_H

/**
 * @file
 * The times of a run, as lines on standard output and as one JSON object: either or both, as the options say.
 */

#include <stdbool.h>

#include "cli/output.h"
#include "options.h"

struct json_object;

/** Round trips, in microseconds. */
struct ping_times {
	uint64_t sent, back;
	double min, max, sum, squares;
};

struct ping_report {
	const struct ping_options *options;
	bool quiet;               /**< standard output belongs to the JSON */
	struct json_object *root; /**< NULL: no JSON */
	struct cli_output output;
};

/** Begin, with the file that the options name. @return 0; -1: it cannot be written to; the error was printed. */
int ping_report_begin(struct ping_report *report, const struct ping_options *options);

/** The server listens. @return 0; -1: the output cannot be written; the error was printed. */
int ping_report_listens(const struct ping_report *report);

/** The client has a connection to @p whom. */
void ping_report_connected(const struct ping_report *report, const char *whom);

/** Message @p number has come back. @return as ping_report_listens(). */
int ping_report_round(const struct ping_report *report, uint64_t number, double us);

/** The client is done. */
void ping_report_times(
		const struct ping_report *report, const struct ping_times *times, const char *whom);

/** The server is done. */
void ping_report_clients(const struct ping_report *report, uint64_t clients);

/**
 * Write the JSON if it is wanted.
 * @param error  first sentence of a failed run; NULL: it went well. @return as ping_report_begin().
 */
int ping_report_end(struct ping_report *report, const char *error);

#endif /* PING_REPORT_H */
