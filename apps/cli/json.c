/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"

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
cli_json_begin(const char *tool)
{
	struct json_object *object = json_object_new_object();

	if (object == NULL) {
		cli_say("no memory for the JSON object");
		return NULL;
	}
	cli_json_string(object, "tool", tool);
	cli_json_string(object, "version", UDAPL_ROCE_VERSION);
	return object;
}

int
cli_json_end(struct json_object *object, const char *path, const char *error)
{
	FILE *file = stdout;
	int rc = 0;

	if (error != NULL)
		cli_json_string(object, "error", error);
	if (path != NULL)
		file = fopen(path, "we");
	if (file == NULL || fprintf(file, "%s\n", cli_json_text(object)) < 0 || fflush(file) != 0)
		rc = -1;
	if (file != NULL && file != stdout && fclose(file) != 0)
		rc = -1;
	if (rc != 0)
		cli_say("cannot write the JSON to %s: %s", path == NULL ? "standard output" : path,
				strerror(errno));
	json_object_put(object);
	return rc;
}
