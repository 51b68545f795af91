/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_JSON_H
#define CLI_JSON_H

/**
 * @file
 * The JSON objects that our programs write: members by type, and a frame that is valid also after a failure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "output.h"

struct json_object;

/** Add a member. A null string becomes null. */
void cli_json_string(struct json_object *object, const char *key, const char *value);
void cli_json_int(struct json_object *object, const char *key, int value);
void cli_json_count(struct json_object *object, const char *key, uint64_t value);
void cli_json_bool(struct json_object *object, const char *key, bool value);

/** Add a number with six decimals. */
void cli_json_number(struct json_object *object, const char *key, double value);

/** @return the text of an object, which holds as long as the object does. */
const char *cli_json_text(struct json_object *object);

/**
 * Begin the object of a program, its name and version, and open what it will be written to.
 * @param path  a file; NULL: standard output.
 * @return the object; NULL: no memory, or the file cannot be written to; the error was printed.
 */
struct json_object *cli_json_begin(const char *tool, const char *path, struct cli_output *output);

/**
 * Write an object, and free it.
 * @param error  what went wrong, a member of its own; NULL: nothing.
 * @return 0; -1: it cannot be written; the error was printed.
 */
int cli_json_end(struct json_object *object, struct cli_output *output, const char *error);

#endif /* CLI_JSON_H */
