/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of what was compared, and the page that shows it. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define BEGIN "<!-- written by test/interop/replay: begin -->\n"
#define END   "<!-- written by test/interop/replay: end -->\n"

struct text {
	char *bytes;
	size_t len;
	FILE *file;
};

static void
text_open(struct text *text)
{
	*text = (struct text){ .len = 0 };
	text->file = open_memstream(&text->bytes, &text->len);
	assert_non_null(text->file);
}

static uint32_t
count_of(const struct rp_row *row, uint32_t rule)
{
	return row->result[RP_CLIENT].count[rule] + row->result[RP_SERVER].count[rule];
}

static void
put_side(FILE *to, const struct rp_row *row, enum rp_side side)
{
	const struct rp_result *result = &row->result[side];

	if (!row->played[side])
		fputs(" |", to);
	else
		fprintf(to, " %u of %u |", result->matched, result->recorded);
}

static void
put_row(FILE *to, const struct rp_row *row)
{
	const char *gap = " ";

	fprintf(to, "| %s | %u |", row->name, row->frames);
	put_side(to, row, RP_SERVER);
	put_side(to, row, RP_CLIENT);
	for (uint32_t rule = 0; rule < rp_rules(); rule++) {
		if (count_of(row, rule) == 0)
			continue;
		fprintf(to, "%s%u: %u", gap, rule + 1, count_of(row, rule));
		gap = ", ";
	}
	fputs(" |\n", to);
}

static void
put_rows(FILE *to, const struct rp_row *row, uint32_t rows)
{
	struct rp_row sum = { .played = { true, true } };

	fputs("| capture | frames | as server | as client | differences by rule |\n"
	      "|---|---|---|---|---|\n",
			to);
	for (uint32_t i = 0; i < rows; i++) {
		put_row(to, &row[i]);
		sum.frames += row[i].frames;
		for (unsigned int side = 0; side < RP_SIDES; side++) {
			sum.result[side].matched += row[i].result[side].matched;
			sum.result[side].recorded += row[i].result[side].recorded;
		}
	}
	fprintf(to, "| **%u files** | %u |", rows, sum.frames);
	put_side(to, &sum, RP_SERVER);
	put_side(to, &sum, RP_CLIENT);
	fputs(" |\n", to);
}

static void
put_rules(FILE *to, const struct rp_row *row, uint32_t rows)
{
	fputs("\n| | difference | times | files | why it is allowed |\n|---|---|---|---|---|\n",
			to);
	for (uint32_t rule = 0; rule < rp_rules(); rule++) {
		uint32_t times = 0;
		uint32_t files = 0;

		for (uint32_t i = 0; i < rows; i++) {
			times += count_of(&row[i], rule);
			files += count_of(&row[i], rule) != 0;
		}
		fprintf(to, "| %u | `%s` | %u | %u | %s |\n", rule + 1, rp_rule_name(rule), times,
				files, rp_rule_reason(rule));
	}
}

static char *
read_page(const char *path)
{
	FILE *page = fopen(path, "r");
	struct text text;
	int c;

	if (page == NULL)
		fail_msg("cannot read %s", path);
	text_open(&text);
	while ((c = fgetc(page)) != EOF)
		fputc(c, text.file);
	(void)fclose(page);
	(void)fclose(text.file);
	return text.bytes;
}

/* Put the table between the two marks. @return the whole page as it should be. */
static char *
renew(const char *page, const char *table)
{
	const char *begin = strstr(page, BEGIN);
	const char *end = strstr(page, END);
	struct text text;

	if (begin == NULL || end == NULL)
		fail_msg("the page has no place for the table");
	text_open(&text);
	(void)fwrite(page, 1, (size_t)(begin - page) + strlen(BEGIN), text.file);
	fputs(table, text.file);
	fputs(end, text.file);
	(void)fclose(text.file);
	return text.bytes;
}

static void
write_page(const char *path, const char *bytes)
{
	FILE *page = fopen(path, "w");

	if (page == NULL)
		fail_msg("cannot write %s", path);
	fputs(bytes, page);
	(void)fclose(page);
}

bool
rp_table_check(const struct rp_row *row, uint32_t rows, const char *page, bool write)
{
	struct text table;
	char *old, *new;
	bool same;

	text_open(&table);
	put_rows(table.file, row, rows);
	put_rules(table.file, row, rows);
	(void)fclose(table.file);
	fputs(table.bytes, stdout);
	if (page == NULL) {
		free(table.bytes);
		return true;
	}
	old = read_page(page);
	new = renew(old, table.bytes);
	same = strcmp(old, new) == 0;
	if (!same && write)
		write_page(page, new);
	free(old);
	free(new);
	free(table.bytes);
	return same || write;
}
