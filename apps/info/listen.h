/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_LISTEN_H
#define INFO_LISTEN_H

/**
 * @file
 * Metrics over HTTP: GET /metrics, by libmicrohttpd.
 *
 * Connections are bounded (connections.h), and one request is answered after the other. The processes are looked for anew, so
 * that they may end and begin again; while there is none the answer is 503. An answer is also for those who ask soon.
 */

#include "options.h"

/** Serve until SIGINT or SIGTERM. @return 0; -1: it cannot be served there; the error was printed. */
int info_listen(const struct info_options *options);

#endif /* INFO_LISTEN_H */
