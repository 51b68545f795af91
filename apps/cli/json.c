/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "signals.h"

/* Of which messages tell. */
#define WHAT "the JSON"

void
cli_json_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value == NULL ? NULL : json_object_new_string(value));
}

void
cli_json_int(struct json_object *object, const char *key, int value)
{
	json_object_object_add(object, key, json_object_new_int(value));
}

void
cli_json_count(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void
cli_json_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

void
cli_json_number(struct json_object *object, const char *key, double value)
{
	char text[64];

	/* json-c would print seventeen digits; a nanosecond of a microsecond is three. */
	snprintf(text, sizeof(text), "%.6f", value);
	json_object_object_add(object, key, json_object_new_double_s(value, text));
}

const char *
cli_json_text(struct json_object *object)
{
	return json_object_to_json_string_ext(object,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
					JSON_C_TO_STRING_NOSLASHESCAPE);
}

struct json_object *
cli_json_begin(const char *tool, const char *path, struct cli_output *output)
{
	struct json_object *object;

	if (cli_output_open(output, path, WHAT) != 0)
		return NULL;
	object = json_object_new_object();
	if (object == NULL) {
		cli_say("no memory for the JSON object");
		return NULL;
	}
	cli_json_string(object, "tool", tool);
	cli_json_string(object, "version", UDAPL_ROCE_VERSION);
	return object;
}

int
cli_json_end(struct json_object *object, struct cli_output *output, const char *error)
{
	int rc;

	if (error != NULL) {
		cli_json_string(object, "error", error);
		cli_json_bool(object, "interrupted", cli_signal() != 0);
	}
	rc = cli_output_write(output, cli_json_text(object), WHAT);
	json_object_put(object);
	return rc;
}
