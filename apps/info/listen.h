/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_LISTEN_H
#define INFO_LISTEN_H

/**
 * @file
 * Metrics over HTTP: GET /metrics, by libmicrohttpd.
 *
 * A few connections at a time, each for a few seconds, one request answered after the other. The process is looked
 * for anew for each, so that it may end and begin again; while there is none the answer is 503.
 */

#include "options.h"

/** Serve until SIGINT or SIGTERM. @return 0; -1: it cannot be served there; the error was printed. */
int info_listen(const struct info_options *options);

#endif /* INFO_LISTEN_H */
