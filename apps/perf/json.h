/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_JSON_H
#define PERF_JSON_H

/**
 * @file
 * The run as one JSON object: valid also when the run failed, then with the reason under "error".
 */

#include "cli/output.h"
#include "result.h"

struct json_object;

/** The parts of the object. */
struct perf_json {
	struct json_object *root, *config, *results;
	struct cli_output output;
};

/**
 * Begin with every option in force, and open the file that they name.
 * @return 0; -1: no memory, or the file cannot be written to; the error was printed.
 */
int perf_json_begin(struct perf_json *json, const struct perf_options *options);

/** Add what is known once the adapter is open. */
void perf_json_adapter(struct perf_json *json, const struct perf_options *options,
		const struct perf_adapter *adapter);

/** Add the depths and counts of a measurement. Of several, the last one's stay in "config". */
void perf_json_plan(struct perf_json *json, const struct perf_plan *plan);

/** Add a result. */
void perf_json_result(struct perf_json *json, const struct perf_options *options,
		const struct perf_result *result);

/**
 * Write the object, to the file that the options name or to standard output, and free it.
 * @param error  first sentence of a failed run; NULL: it went well.
 * @return 0; -1: it cannot be written; the error was printed.
 */
int perf_json_end(struct perf_json *json, const char *error);

#endif /* PERF_JSON_H */
