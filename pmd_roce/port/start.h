/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_START_H
#define ROCE_PORT_START_H

/**
 * @file
 * The first and the last that is done to a device, with the patience and the care that net_memif wants.
 */

#include "port/port.h"

/** Start a device that is configured. @return 0; -ENODEV, with the reason. */
int roce_port_start_device(const struct roce_port *port, struct roce_errmsg *errmsg);

/** Do something on the EAL's interrupt thread, where net_memif does what its channels ask for. Returns when it is done. */
void roce_port_do_apart(void (*act)(void *arg), void *arg);

/** Stop it, and close it unless it was found. */
void roce_port_close_device(struct roce_port *port);

#endif
