/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_SCREEN_H
#define INFO_SCREEN_H

/**
 * @file
 * The terminal, by ncurses: a part of a table that its user moves by keys, in the colours that the terminal has. One at a
 * time, one thread.
 */

#include <stdbool.h>

#include "table.h"

/** @return false: standard output is no terminal on which a cursor moves; nothing is owed then. */
bool info_screen_begin(void);

/** Give the terminal back as it was. */
void info_screen_end(void);

/** The wish of the user. */
enum info_wish {
	INFO_WISH_LOOK = 0, /**< another look: the time is over */
	INFO_WISH_REDRAW,   /**< the same table: it was moved, or the terminal has another size */
	INFO_WISH_SORT,     /**< the next order of queue pairs */
	INFO_WISH_QUIT,
};

/** Draw the table under a line of heading. */
void info_screen_draw(const char *heading, const struct info_table *table);

/** Wait for a key, or until so many seconds have passed. Without keys, since standard input is elsewhere, only the time. */
enum info_wish info_screen_wait(double seconds);

#endif /* INFO_SCREEN_H */
