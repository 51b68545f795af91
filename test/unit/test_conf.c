/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "rules.h"

#define MAX 8

/* The entries and the errors that the sink got. */
struct heard {
	struct libdat_conf_entry entry[MAX];
	unsigned int entries;
	unsigned int bad_line[MAX];
	char errmsg[MAX][200];
	unsigned int bad;
	unsigned int stop_after; /* entries, 0 for never */
};

static bool
hear_entry(void *arg, const struct libdat_conf_entry *entry)
{
	struct heard *h = arg;

	assert_true(h->entries < MAX);
	h->entry[h->entries++] = *entry;
	return h->entries != h->stop_after;
}

static void
hear_bad_line(void *arg, unsigned int line, const char *errmsg)
{
	struct heard *h = arg;

	assert_true(h->bad < MAX);
	h->bad_line[h->bad] = line;
	snprintf(h->errmsg[h->bad++], sizeof(h->errmsg[0]), "%s", errmsg);
}

/*
 * The text is given to the parser in a block of its own size, so that a sanitizer sees an overrun. The result is valid
 * until the next call.
 */
static struct heard *
parse_bytes(const char *text, size_t len, unsigned int stop_after)
{
	static struct heard h;
	static char *copy;
	const struct libdat_conf_sink sink = { &h, hear_entry, hear_bad_line };

	free(copy);
	copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	memset(&h, 0, sizeof(h));
	h.stop_after = stop_after;
	libdat_conf_parse(copy, len, &sink);
	return &h;
}

static struct heard *
parse(const char *text)
{
	return parse_bytes(text, strlen(text), 0);
}

UNIT_RULE_IN(parse__a_line_has_eight_fields, NULL, NULL)
{
	struct heard *h = parse("loop0 u1.2 threadsafe default libx.so.1 udapl-roce.3.4 "
				"\"port=loop0 ip=192.0.2.1/24\" \"\"\n");
	const struct libdat_conf_entry *e = &h->entry[0];

	assert_fields(*h, (bad, 0), (entries, 1));
	assert_int_equal(e->line, 1);
	assert_string_equal(e->ia_name, "loop0");
	assert_fields(*e, (api, 'u'), (api_major, 1), (api_minor, 2), (thread_safe, true),
			(is_default, true));
	assert_string_equal(e->library, "libx.so.1");
	assert_string_equal(e->vendor, "udapl-roce");
	assert_fields(*e, (vendor_major, 3), (vendor_minor, 4));
	assert_string_equal(e->instance, "port=loop0 ip=192.0.2.1/24");
	assert_string_equal(e->platform, "");
}

UNIT_RULE_IN(parse__good_lines, NULL, NULL)
{
	/* The text, and the name and instance data of the one entry it has. */
	static const struct {
		const char *text;
		const char *name;
		const char *instance;
	} good[] = {
		{ "a u1.2 threadsafe default l v.1.2 i p", "a", "i" },
		{ "a u1.2 threadsafe default l v.1.2 i p\r\n", "a", "i" },
		{ " \t a\tu1.2  nonthreadsafe nondefault l v.1.2 i p \t", "a", "i" },
		{ "\n\n# all\n   # of this\na u1.2 threadsafe default l v.1.2 i p\n", "a", "i" },
		{ "a u1.2 threadsafe default l v.1.2 i p# said\n", "a", "i" },
		{ "a u1.2 threadsafe default l v.1.2 \"#\" p # said\n", "a", "#" },
		{ "\"a b\" u1.2 threadsafe default l v.1.2 \"x=\\\"1\\\\2\\\"\" p", "a b",
				"x=\"1\\2\"" },
		{ "a k2.0 threadsafe default l v.w.1.2 back\\slash p", "a", "back\\slash" },
		{ "a u1.2 threadsafe default l v.1.2 \"\" \"\"", "a", "" },
		/* A byte order mark is no part of the text; anywhere else it is. */
		{ "\xef\xbb\xbf"
		  "a u1.2 threadsafe default l v.1.2 i p",
				"a", "i" },
		{ "\xef\xbb\xbf# all\na u1.2 threadsafe default l v.1.2 i p", "a", "i" },
		{ "\xef\xbb\xbf\r\na u1.2 threadsafe default l v.1.2 i p", "a", "i" },
		{ "\xef\xbb\xbf\xef\xbb\xbf u1.2 threadsafe default l v.1.2 i p", "\xef\xbb\xbf",
				"i" },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct heard *h = parse(good[i].text);

		if (h->bad != 0)
			print_message("%s: %s\n", good[i].text, h->errmsg[0]);
		assert_fields(*h, (bad, 0), (entries, 1));
		assert_string_equal(h->entry[0].ia_name, good[i].name);
		assert_string_equal(h->entry[0].instance, good[i].instance);
		/* All of them end in p or in nothing: not in a blank, not in the comment. */
		assert_in_range(strlen(h->entry[0].platform), 0, 1);
	}
}

UNIT_RULE_IN(parse__bad_lines_say_why, NULL, NULL)
{
	static const struct {
		const char *text;
		const char *errmsg;
	} bad[] = {
		{ "a", "there are 1 fields, not 8" },
		{ "a u1.2 threadsafe default l v.1.2 i", "there are 7 fields, not 8" },
		{ "a u1.2 threadsafe default l v.1.2 # i p", "there are 6 fields, not 8" },
		{ "a u1.2 threadsafe default l v.1.2 i p q", "there are more than 8 fields" },
		{ "\"\" u1.2 threadsafe default l v.1.2 i p", "field 1 is empty" },
		{ "a x1.2 threadsafe default l v.1.2 i p",
				"field 2 is \"x1.2\", it must be u or k and a version, like u1.2" },
		{ "a u1 threadsafe default l v.1.2 i p",
				"field 2 is \"u1\", it must be u or k and a version, like u1.2" },
		{ "a u1.2x threadsafe default l v.1.2 i p",
				"field 2 is \"u1.2x\", it must be u or k and a version, like u1.2" },
		{ "a u4294967296.2 threadsafe default l v.1.2 i p",
				"field 2 is \"u4294967296.2\", it must be u or k and a version, like u1.2" },
		{ "a u1.2 threadsave default l v.1.2 i p",
				"field 3 is \"threadsave\", it must be threadsafe or nonthreadsafe" },
		{ "a u1.2 threadsafe yes l v.1.2 i p",
				"field 4 is \"yes\", it must be default or nondefault" },
		{ "a u1.2 threadsafe default \"\" v.1.2 i p", "field 5 is empty" },
		{ "a u1.2 threadsafe default l 1.2 i p",
				"field 6 is \"1.2\", it must be a name and a version, like x.1.2" },
		{ "a u1.2 threadsafe default l .1.2 i p",
				"field 6 is \".1.2\", it must be a name and a version, like x.1.2" },
		{ "a u1.2 threadsafe default l v.1.b i p",
				"field 6 is \"v.1.b\", it must be a name and a version, like x.1.2" },
		{ "a u1.2 threadsafe default l v i p",
				"field 6 is \"v\", it must be a name and a version, like x.1.2" },
		{ "a u1.2 threadsafe default l v.1.2 \"i p",
				"the quote that opens field 7 is not closed" },
		{ "a u1.2 threadsafe default l v.1.2 \"i\\n\" p",
				"in field 7 a backslash is followed by neither a quote nor a backslash" },
		{ "a u1.2 threadsafe default l v.1.2 \"i\\",
				"in field 7 a backslash is followed by neither a quote nor a backslash" },
		{ "a u1.2 threadsafe default l v.1.2 \"i\"j p",
				"no blank follows the closing quote of field 7" },
		{ "a u1.2 threadsafe default l v.1.2 i\"j\" p", "a quote stands inside field 7" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct heard *h = parse(bad[i].text);

		assert_fields(*h, (entries, 0), (bad, 1), (bad_line[0], 1));
		assert_string_equal(h->errmsg[0], bad[i].errmsg);
	}
}

UNIT_RULE_IN(parse__a_bad_line_does_not_hide_the_others, NULL, NULL)
{
	struct heard *h = parse("a u1.2 threadsafe default l v.1.2 \"i p\n"
				"b u1.2 threadsafe default l v.1.2 i p\n"
				"\n"
				"c\n"
				"d u1.2 threadsafe default l v.1.2 i p");

	assert_int_equal(h->entries, 2);
	assert_string_equal(h->entry[0].ia_name, "b");
	assert_int_equal(h->entry[0].line, 2);
	assert_string_equal(h->entry[1].ia_name, "d");
	assert_fields(*h, (entry[1].line, 5), (bad, 2), (bad_line[0], 1), (bad_line[1], 4));
}

/* Names have the length that DAT has for them, and what the provider and the loader understand has no limit here. */
UNIT_RULE_IN(parse__names_have_a_largest_size, NULL, NULL)
{
	char name[LIBDAT_CONF_NAME_MAX + 1];
	static char text[100000];
	static char data[40000];
	struct heard *h;

	memset(name, 'n', sizeof(name));
	name[LIBDAT_CONF_NAME_MAX] = '\0';
	snprintf(text, sizeof(text), "%s u1.2 threadsafe default l v.1.2 i p", name);
	h = parse(text);
	assert_int_equal(h->entries, 0);
	assert_string_equal(h->errmsg[0], "field 1 is longer than 255 bytes");
	h = parse(text + 1);
	assert_int_equal(h->entries, 1);

	memset(data, 'd', sizeof(data) - 1);
	snprintf(text, sizeof(text), "a u1.2 threadsafe default %s v.1.2 \"%s\" p", data, data);
	h = parse(text);
	assert_int_equal(h->entries, 1);
	assert_string_equal(h->entry[0].library, data);
	assert_string_equal(h->entry[0].instance, data);
}

UNIT_RULE_IN(parse__any_bytes_are_survived, NULL, NULL)
{
	static const char alphabet[] = "au1.2k \t\n\r#\"\\\0\xff=,/";
	static const char zero[] = "a\0b u1.2 threadsafe default l v.1.2 i p";
	static const char good[] = "a u1.2 threadsafe default l v.1.2 \"i\" p\n";
	uint32_t random = 12345;

	assert_int_equal(parse_bytes("", 0, 0)->entries, 0);
	assert_int_equal(parse_bytes(zero, sizeof(zero) - 1, 0)->bad, 1);
	for (int round = 0; round < 20000; round++) {
		char text[sizeof(good) - 1];
		size_t len = sizeof(text);

		memcpy(text, good, len);
		for (int hits = 0; hits < 3; hits++) {
			random = random * 1664525 + 1013904223;
			text[(random >> 8) % len] =
					alphabet[(random >> 20) % (sizeof(alphabet) - 1)];
		}
		parse_bytes(text, random % (len + 1), 0);
	}
}

UNIT_RULE_IN(parse__the_sink_can_stop, NULL, NULL)
{
	static const char text[] = "a u1.2 threadsafe default l v.1.2 i p\n"
				   "b u1.2 threadsafe default l v.1.2 i p\n"
				   "c\n";
	struct heard *h = parse_bytes(text, sizeof(text) - 1, 1);

	assert_fields(*h, (entries, 1), (bad, 0));
}
