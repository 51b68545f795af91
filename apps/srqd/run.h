/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_RUN_H
#define SRQD_RUN_H

/**
 * @file
 * A run from the first connection to the totals: of a server, of clients, or of both in one thread.
 */

#include "json.h"
#include "options.h"

/**
 * Run as the options say.
 * @param json  receives the totals; NULL: nobody wants them.
 * @return 0: all went well; -1: something failed or was lost; the error was printed.
 */
int srqd_run(const struct srqd_options *options, struct srqd_json *json);

#endif /* SRQD_RUN_H */
