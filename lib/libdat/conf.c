/* SPDX-License-Identifier: BSD-3-Clause */

#include "conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIELDS 8

/* A field of a diagnosis is cut to this many bytes, so that a sentence stays a sentence. */
#define SHOWN 40

/*
 * One line while it is read: where we are, its fields as far as they were read, what is wrong. A field is written over the
 * text that it was read from, which is never shorter.
 */
struct line {
	unsigned int number;
	char *at;
	char *end; /* may be written, too */
	unsigned int fields;
	char *field[FIELDS];
	char errmsg[160]; /* empty: nothing is wrong */
};

static bool __attribute__((format(printf, 2, 3))) complain(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->errmsg, sizeof(l->errmsg), format, args);
	va_end(args);
	return false;
}

/* A carriage return is a blank: files written on other systems have one before each newline. */
static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool
at_end_of_fields(const struct line *l)
{
	return l->at == l->end || *l->at == '#';
}

static void
skip_blanks(struct line *l)
{
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
}

/* Both move @p to behind the last byte of the field. */

static bool
read_quoted(struct line *l, char **to)
{
	l->at++;
	while (l->at < l->end && *l->at != '"') {
		if (*l->at == '\\') {
			l->at++;
			if (l->at == l->end || (*l->at != '"' && *l->at != '\\'))
				return complain(l,
						"in field %u a backslash is followed by neither a "
						"quote nor a backslash",
						l->fields + 1);
		}
		*(*to)++ = *l->at++;
	}
	if (l->at == l->end)
		return complain(l, "the quote that opens field %u is not closed", l->fields + 1);
	l->at++;
	if (!at_end_of_fields(l) && !is_blank(*l->at))
		return complain(l, "no blank follows the closing quote of field %u", l->fields + 1);
	return true;
}

static bool
read_word(struct line *l, char **to)
{
	while (!at_end_of_fields(l) && !is_blank(*l->at)) {
		if (*l->at == '"')
			return complain(l, "a quote stands inside field %u", l->fields + 1);
		*(*to)++ = *l->at++;
	}
	return true;
}

/* Cut the line into fields. A ninth is an error, not ignored: it shows that a quote is missing. */
static bool
read_fields(struct line *l)
{
	for (skip_blanks(l); !at_end_of_fields(l); skip_blanks(l)) {
		char *to = l->at;

		if (l->fields == FIELDS)
			return complain(l, "there are more than %u fields", FIELDS);
		l->field[l->fields] = to;
		if (!(*l->at == '"' ? read_quoted(l, &to) : read_word(l, &to)))
			return false;
		/* The zero takes the place of what ended the field: perhaps of the comment's first byte. */
		if (at_end_of_fields(l))
			l->end = l->at;
		else
			l->at++;
		*to = '\0';
		l->fields++;
	}
	return true;
}

/* A decimal number that fills a 32-bit word at most; moves @p s behind it. */
static bool
read_number(const char **s, uint32_t *value)
{
	uint64_t n = 0;

	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		n = n * 10 + (uint64_t)(**s - '0');
		if (n > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)n;
	return true;
}

/* "<major>.<minor>" up to the end of the string. */
static bool
read_version(const char *s, uint32_t *major, uint32_t *minor)
{
	return read_number(&s, major) && *s++ == '.' && read_number(&s, minor) && *s == '\0';
}

static bool
is_filled(struct line *l, unsigned int number)
{
	return l->field[number - 1][0] != '\0' || complain(l, "field %u is empty", number);
}

static bool
copy_field(struct line *l, unsigned int number, char *to, size_t room)
{
	const char *from = l->field[number - 1];
	size_t len = strlen(from);

	if (len >= room)
		return complain(l, "field %u is longer than %zu bytes", number, room - 1);
	memcpy(to, from, len + 1);
	return true;
}

/* One of two words. */
static bool
read_choice(struct line *l, unsigned int number, const char *yes, const char *no, bool *value)
{
	const char *word = l->field[number - 1];

	*value = strcmp(word, yes) == 0;
	if (*value || strcmp(word, no) == 0)
		return true;
	return complain(l, "field %u is \"%.*s\", it must be %s or %s", number, SHOWN, word, yes,
			no);
}

static bool
read_api(struct line *l, struct libdat_conf_entry *e)
{
	const char *s = l->field[1];

	if ((*s == 'u' || *s == 'k') && read_version(s + 1, &e->api_major, &e->api_minor)) {
		e->api = *s;
		return true;
	}
	return complain(l, "field 2 is \"%.*s\", it must be u or k and a version, like u1.2", SHOWN,
			s);
}

/* "<name>.<major>.<minor>"; the name may have dots itself, so the last two count. */
static bool
read_vendor(struct line *l, struct libdat_conf_entry *e)
{
	char *s = l->field[5];
	char *version = strrchr(s, '.');

	while (version != NULL && version > s && version[-1] != '.')
		version--;
	if (version == NULL || version - s < 2 ||
			!read_version(version, &e->vendor_major, &e->vendor_minor))
		return complain(l,
				"field 6 is \"%.*s\", it must be a name and a version, like x.1.2",
				SHOWN, s);
	version[-1] = '\0';
	return copy_field(l, 6, e->vendor, sizeof(e->vendor));
}

static bool
read_entry(struct line *l, struct libdat_conf_entry *e)
{
	e->line = l->number;
	e->library = l->field[4];
	e->instance = l->field[6];
	e->platform = l->field[7];
	return is_filled(l, 1) && copy_field(l, 1, e->ia_name, sizeof(e->ia_name)) &&
			read_api(l, e) &&
			read_choice(l, 3, "threadsafe", "nonthreadsafe", &e->thread_safe) &&
			read_choice(l, 4, "default", "nondefault", &e->is_default) &&
			is_filled(l, 5) && read_vendor(l, e);
}

/* Editors of other systems write a byte order mark in front of UTF-8: it is no part of the first line. @return its bytes. */
static size_t
byte_order_mark(const char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";

	return len >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0
			? sizeof(mark) - 1
			: 0;
}

/* One line, without its newline. False: the sink wants no more. */
static bool
parse_line(struct line *l, const struct libdat_conf_sink *sink)
{
	struct libdat_conf_entry entry;
	bool good;

	/* Strings end at a zero byte, so one inside a field would cut it without a word. */
	if (memchr(l->at, '\0', (size_t)(l->end - l->at)) != NULL)
		good = complain(l, "the line has a zero byte in it");
	else
		good = read_fields(l);
	if (good && l->fields == 0)
		return true;
	if (good && l->fields != FIELDS)
		good = complain(l, "there are %u fields, not %u", l->fields, FIELDS);
	if (good && read_entry(l, &entry))
		return sink->entry(sink->arg, &entry);
	sink->bad_line(sink->arg, l->number, l->errmsg);
	return true;
}

void
libdat_conf_parse(char *text, size_t len, const struct libdat_conf_sink *sink)
{
	size_t mark = byte_order_mark(text, len);
	struct line l;

	text += mark;
	len -= mark;
	l.number = 0;
	while (len > 0) {
		char *newline = memchr(text, '\n', len);
		size_t step = newline != NULL ? (size_t)(newline - text) + 1 : len;

		l.number++;
		l.at = text;
		l.end = newline != NULL ? newline : text + len;
		l.fields = 0;
		l.errmsg[0] = '\0';
		if (!parse_line(&l, sink))
			return;
		text += step;
		len -= step;
	}
}
