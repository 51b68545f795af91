/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_SHARED_PORT_H
#define ROCE_DEVICE_SHARED_PORT_H

/**
 * @file
 * The port of the shared adapter: no port of ethdev, but channels to the other processes of the host (local/local.h).
 */

#include "device/device.h"
#include "ethdev/port_setup.h"

/**
 * Check the keys beside `port=roced`: roced has the addresses, and there is one engine.
 * @return 0; -EINVAL a key is not for this port.
 */
int roce_shared_port_check(const struct roce_devargs *args, struct roce_errmsg *errmsg);

/**
 * Attach to roced and make the port. The addresses of @p args become those of the host.
 * @return as roce_local_open().
 */
int roce_shared_port_open(const struct roce_port_config *config, struct roce_devargs *args,
		struct roce_port **out, struct roce_errmsg *errmsg);

/** Listen to roced: the domain and the connection manager are there. @return 0; -ENOMEM; -EAGAIN. */
int roce_shared_port_start(struct roce_device *device, struct roce_errmsg *errmsg);

/** Detach, so that no channel comes or goes any more. No lock is held; a device of another kind is left alone. */
void roce_shared_port_stop(struct roce_device *device);

#endif
