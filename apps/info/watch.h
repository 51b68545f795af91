/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_WATCH_H
#define INFO_WATCH_H

/**
 * @file
 * A live table of a running process: in place on a terminal, one table after the other elsewhere.
 */

#include "options.h"

/** Look until there were enough looks or the process ends. @return 0; -1: there is no process, or it ended; the error was printed. */
int info_watch(const struct info_options *options);

#endif /* INFO_WATCH_H */
