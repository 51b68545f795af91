/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_TABLE_PVT_H
#define INFO_TABLE_PVT_H

/**
 * @file
 * The table under way, for the files that make its lines.
 */

#include <stdint.h>

#include "table.h"

struct info_maker {
	struct info_table table;
	double seconds; /**< 0: there was no look before */
	enum info_sort sort;
	struct json_object *roced; /**< its status at this look; NULL: there is none */
};

void info_table_line(struct info_maker *maker, enum info_style style, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/** A distance as a rate; "-" at the first look. @p text has at least 16 bytes. @return @p text, or a constant. */
const char *info_table_rate(const struct info_maker *maker, uint64_t distance, char *text);

/** A number in at most six columns. @p text has at least 16 bytes. @return @p text. */
const char *info_table_count(uint64_t number, char *text);

/** How far a member went since the look before; 0 without one. Objects may be NULL. */
uint64_t info_table_moved(struct json_object *before, struct json_object *now, const char *key,
		unsigned int bits);

/** The lines of roced. @param before its status at the look before; NULL: it did not run, or this is the first look. */
void
info_table_roced(struct info_maker *maker, struct json_object *before, struct json_object *now);

/** The lines of a device's channels to other processes, of which most devices have none. @p before may be NULL. */
void
info_table_channels(struct info_maker *maker, struct json_object *before, struct json_object *now);

#endif /* INFO_TABLE_PVT_H */
