/* SPDX-License-Identifier: BSD-3-Clause */
#include "clean.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

static bool
is_clean(char c)
{
	return c >= ' ' && c <= '~';
}

char *
info_clean_text(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (!is_clean(*c))
			*c = '?';
	return text;
}

/* A string of JSON may have zeros in it. */
static void
clean_string(struct json_object *string)
{
	const char *text = json_object_get_string(string);
	size_t len = (size_t)json_object_get_string_len(string);
	size_t good = 0;
	char *copy;

	while (good < len && is_clean(text[good]))
		good++;
	if (good == len)
		return;
	copy = strdup(text);
	json_object_set_string(string, copy != NULL ? info_clean_text(copy) : "");
	free(copy);
}

static void clean(struct json_object *object);

static void
clean_members(struct json_object *object)
{
	json_object_object_foreach(object, key, value)
	{
		const char *c = key;

		while (*c != '\0' && is_clean(*c))
			c++;
		if (*c != '\0')
			json_object_object_del(object, key);
		else
			clean(value);
	}
}

/* It may be NULL. */
static void
clean(struct json_object *object)
{
	switch (json_object_get_type(object)) {
	case json_type_string:
		clean_string(object);
		break;
	case json_type_double:
		/* The parser takes them, and JSON has none of them. */
		if (!isfinite(json_object_get_double(object)))
			json_object_set_double(object, 0);
		break;
	case json_type_object:
		clean_members(object);
		break;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(object); i++)
			clean(json_object_array_get_idx(object, i));
		break;
	default:
		break;
	}
}

struct json_object *
info_clean_parse(const char *text, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object = NULL;

	if (tokener != NULL)
		object = json_tokener_parse_ex(tokener, text, (int)len);
	json_tokener_free(tokener);
	if (json_object_is_type(object, json_type_object)) {
		clean(object);
		return object;
	}
	json_object_put(object);
	return NULL;
}
