/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_SERVER_H
#define ROCED_SERVER_H

/**
 * @file
 * The loop of roced: one thread, which waits in one place.
 */

#include "folder.h"
#include "options.h"

/**
 * Serve until a signal ends it or, on demand, no client is left.
 * @param folder locked, and with the file of the numbers. @param listener the socket; the server's from here on.
 * @return the exit status.
 */
int server_run(const struct options *options, const struct folder *folder, int listener);

#endif /* ROCED_SERVER_H */
