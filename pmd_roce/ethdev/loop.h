/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_LOOP_H
#define ROCE_ETHDEV_LOOP_H

/**
 * @file
 * `loop0` and `loop1`: two ports of this process joined back to back by rings
 * (net_ring). Queue i of one is joined to queue i of the other. Both come into
 * being when the first is opened and go when the last is closed. One thread at
 * a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "observe/errmsg.h"

#define ROCE_LOOP_SIZE 256 /**< frames a ring has room for, less one */

/** True for "loop0" and "loop1", also with arguments behind a comma. */
bool roce_loop_is(const char *port);

/**
 * Take one end. Frames that wait in it from an earlier life are dropped.
 *
 * @param port    "loop0" or "loop1", perhaps with ",size=<frames a ring>": the first to open decides.
 * @param queues  queues of the port; the same at both ends.
 * @param port_id receives the DPDK port.
 * @return 0; -EINVAL; -EBUSY taken already; -ENOMEM.
 */
int roce_loop_open(const char *port, unsigned int queues, uint16_t *port_id,
		struct roce_errmsg *errmsg);

/** Let one end go. The port is stopped and closed before. */
void roce_loop_close(const char *port);

#endif
