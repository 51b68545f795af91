/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_START_H
#define ROCE_ETHDEV_START_H

/**
 * @file
 * The first and the last that is done to a device, with the patience and the care that net_memif wants.
 */

#include "ethdev/port.h"

/** Start a device that is configured. @return 0; -ENODEV, with the reason. */
int roce_port_start_device(const struct roce_port *port, struct roce_errmsg *errmsg);

/** Stop it, and close it unless it was found. */
void roce_port_close_device(struct roce_port *port);

#endif
