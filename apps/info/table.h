/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_TABLE_H
#define INFO_TABLE_H

/**
 * @file
 * The work of a process between two looks at it, as a table: its devices, their shared receive queues and queue pairs.
 */

#include <stdio.h>

struct json_object;

/**
 * Write the table.
 * @param before   the snapshot of the look before; NULL: this is the first, and rates are "-".
 * @param now      the snapshot of this look.
 * @param seconds  between the two.
 * @param lines    at most so many: queue pairs that hold and took least are left out; 0: any number.
 */
void info_table_write(FILE *out, struct json_object *before, struct json_object *now,
		double seconds, unsigned int lines);

#endif /* INFO_TABLE_H */
