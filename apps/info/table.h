/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_TABLE_H
#define INFO_TABLE_H

/**
 * @file
 * The work of processes between two looks at them, as a table of at most 80 columns: their devices, and the shared receive
 * queues and queue pairs of those. It is made as a whole; who has less room shows a part.
 */

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/** The meaning of a line, which has a colour. */
enum info_style {
	INFO_STYLE_PLAIN = 0,
	INFO_STYLE_TITLE,   /**< of a process */
	INFO_STYLE_HEADING, /**< of columns */
	INFO_STYLE_NOTICE,  /**< a low watermark that was crossed */
	INFO_STYLE_TROUBLE, /**< no link, no receives, a queue pair in error */
};

struct info_line {
	enum info_style style;
	char *text;
};

struct info_table {
	struct info_line *line;
	size_t n;
	bool no_memory; /**< lines are missing */
};

/** Which queue pairs come first: those with most of it; by number: the lowest. */
enum info_sort {
	INFO_SORT_HELD = 0,
	INFO_SORT_TAKEN,
	INFO_SORT_RECEIVED,
	INFO_SORT_COMPLETED,
	INFO_SORT_NUMBER,
	INFO_SORTS,
};

/** @return its column's name. */
const char *info_sort_name(enum info_sort sort);

/**
 * Make the table.
 * @param before   the look before; NULL: this is the first, and rates are "-".
 * @param now      this look.
 * @param seconds  between the two.
 * @return the table; info_table_free() is owed.
 */
struct info_table info_table_make(struct json_object *before, struct json_object *now,
		double seconds, enum info_sort sort);

void info_table_free(struct info_table *table);

#endif /* INFO_TABLE_H */
