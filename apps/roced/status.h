/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_STATUS_H
#define ROCED_STATUS_H

/**
 * @file
 * roced --status: ask the roced that runs, and print what it says.
 */

#include <stdbool.h>

/** @param dir NULL: the run-time folder of the user. @return the exit status. */
int status_print(const char *dir, bool json);

#endif /* ROCED_STATUS_H */
