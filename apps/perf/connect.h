/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_CONNECT_H
#define PERF_CONNECT_H

/**
 * @file
 * Connecting the endpoints of two ends, and parting again.
 *
 * The client connects its control endpoint first; the private data of request and reply carry each
 * side's measurement, so that both see at once when their options differ. Endpoint i of the client
 * meets endpoint i of the server, whatever the order in which requests arrive.
 */

#include "end.h"

/** Connect two ends that this thread polls both. @return 0; -1 on error; the error was printed. */
int perf_connect_pair(struct perf_end *client, struct perf_end *server);

/**
 * Connect an end whose peer is polled by somebody else, and wait until the peer is ready too. A
 * server waits for its client as long as it takes. @return 0; -1 on error, which was printed: of a server end->link.lost tells
 * whether it was its client's, and a new end may wait for another one.
 */
int perf_connect_alone(struct perf_end *end);

/** Part two ends that this thread polls both. @return 0; -1 on error; the error was printed. */
int perf_disconnect_pair(struct perf_end *client, struct perf_end *server);

/** Part from a peer polled by somebody else; the client begins. @return 0; -1 on error; the error was printed. */
int perf_disconnect_alone(struct perf_end *end);

/** Has a connection ended that should not have? Takes connection events. @return 0; -1: yes; the error was printed. */
int perf_connect_check(struct perf_end *end);

#endif /* PERF_CONNECT_H */
