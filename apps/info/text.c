/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* As both formats want it: a quote only in the value of a label, and in a help of OpenMetrics. */
static void
write_escaped(FILE *out, const char *text, bool quotes)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || (quotes && *text == '"'))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

void
info_text_family(struct info_text *text, enum info_kind kind, const char *name, const char *help)
{
	const char *total = kind == INFO_COUNTER ? "_total" : "";
	const char *head = text->openmetrics ? "" : total;
	char clean[80];
	size_t i;

	for (i = 0; name[i] != '\0' && i < sizeof(clean) - 1; i++)
		clean[i] = name[i];
	clean[i] = '\0';
	for (i = 0; clean[i] != '\0'; i++)
		if (!isalnum((unsigned char)clean[i]))
			clean[i] = '_';
	fprintf(text->out, "# HELP %s%s ", clean, head);
	write_escaped(text->out, help, text->openmetrics);
	fprintf(text->out, "\n# TYPE %s%s %s\n", clean, head,
			kind == INFO_COUNTER ? "counter" : "gauge");
	snprintf(text->name, sizeof(text->name), "%s%s", clean, total);
}

void
info_text_sample(struct info_text *text)
{
	fputs(text->name, text->out);
	text->first = true;
}

void
info_text_label(struct info_text *text, const char *label, const char *value)
{
	fprintf(text->out, "%c%s=\"", text->first ? '{' : ',', label);
	write_escaped(text->out, value, true);
	fputc('"', text->out);
	text->first = false;
}

void
info_text_value(struct info_text *text, uint64_t value)
{
	fprintf(text->out, "%s %" PRIu64 "\n", text->first ? "" : "}", value);
}

void
info_text_end(struct info_text *text)
{
	if (text->openmetrics)
		fputs("# EOF\n", text->out);
}
