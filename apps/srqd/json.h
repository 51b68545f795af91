/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_JSON_H
#define SRQD_JSON_H

/**
 * @file
 * The totals as one JSON object, valid also after a failure.
 */

#include "cli/output.h"
#include "clients.h"
#include "options.h"
#include "server.h"

struct json_object;

struct srqd_json {
	struct json_object *root;
	struct cli_output output;
};

/**
 * Begin with the configuration, and open the file that the options name.
 * @return 0; -1: no memory, or the file cannot be written to; the error was printed.
 */
int srqd_json_begin(struct srqd_json *json, const struct srqd_options *options);

/** Add the totals of a server that is still open. @return 0; -1: the counts are not to be had; the error was printed. */
int srqd_json_server(struct srqd_json *json, const struct server *server);

/** Add the totals of clients. */
void srqd_json_clients(struct srqd_json *json, const struct clients *clients);

/** Write the object and free it. @param error  what went wrong; NULL: nothing. @return 0; -1: cannot write; the error was printed. */
int srqd_json_end(struct srqd_json *json, const char *error);

#endif /* SRQD_JSON_H */
