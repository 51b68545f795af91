/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_VISIT_H
#define SRQD_VISIT_H

/**
 * @file
 * How our clients come to their server and leave it.
 */

#include <stdint.h>

#include <dat/udat.h>

#include "clients.h"

/** Begin as many connections as may be on the way at a time. @return 0; -1 on error; the error was printed. */
int visit_begin(struct clients *clients);

/** Something has happened to a connection. @return 0; -1: that should not have been; the error was printed. */
int visit_event(struct clients *clients, const DAT_EVENT *event);

/** Begin to leave. The event of it counts in clients->down. @return 0; -1 on error; the error was printed. */
int visit_end(struct clients *clients, uint32_t index);

#endif /* SRQD_VISIT_H */
