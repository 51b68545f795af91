/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_ATTACHED_PORT_H
#define ROCE_ETHDEV_ATTACHED_PORT_H

/**
 * @file
 * A port that a program attaches: queues of its own port, or no port at all.
 */

#include "ethdev/port.h"
#include "ethdev/port_setup.h"
#include "observe/errmsg.h"
#include "roce/device.h"

/**
 * Make a port of what a program attaches: queues of its own port, or no port at all. No part of the program's port is
 * configured, started, stopped or closed, here or later.
 *
 * @return 0; -EINVAL; -ENODEV no such port or queue; -EBUSY the port is one of ours; -ENOMEM.
 */
int
roce_port_attach(const struct roce_port_config *config, const struct roce_attach_config *attached,
		struct roce_port **out, struct roce_errmsg *errmsg);

#endif
