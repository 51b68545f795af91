/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_OWNER_H
#define ROCE_ETHDEV_PORT_OWNER_H

/**
 * @file
 * Ours among the owners of ports that ethdev knows, so that an appliance sees that a port is taken. While frames are captured
 * by pdump, which wants ports without an owner, they have none.
 *
 * Any thread; one at a time for one port.
 */

#include <stdbool.h>
#include <stdint.h>

#include "observe/errmsg.h"

/** Own a port. @param name for people. @return 0; -EBUSY another owner has it; -ENOMEM. */
int roce_port_owner_begin(uint16_t port_id, const char *name, struct roce_errmsg *errmsg);

/** Own it no longer. */
void roce_port_owner_end(uint16_t port_id);

/** True of a port between the two. */
bool roce_port_owner_is_ours(uint16_t port_id);

/** Own it no longer, and remember that it is left to its driver for the life of the process. */
void roce_port_owner_leave(uint16_t port_id);

/** True of a port that was left so. */
bool roce_port_owner_has_left(uint16_t port_id);

#endif
