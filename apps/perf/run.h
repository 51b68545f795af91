/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_RUN_H
#define PERF_RUN_H

/**
 * @file
 * A whole run: the adapters, every size asked for, each with ends and connections of its own.
 */

#include "json.h"
#include "options.h"

/**
 * Run as the options say, print the table unless the JSON goes to standard output, and fill
 * @p json if there is one.
 * @param json  NULL: none wanted.
 * @return 0; -1: failed or found violations; the error was printed.
 */
int perf_run(const struct perf_options *options, struct perf_json *json);

#endif /* PERF_RUN_H */
