/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_VDEV_CHECK_H
#define ROCE_ETHDEV_VDEV_CHECK_H

/**
 * @file
 * Needs of a virtual device before it is made: a driver, and what that wants of the kernel. Drivers say which call
 * failed, and not which capability was missing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "observe/errmsg.h"

/**
 * May this process have such a device, as far as can be known? The EAL runs. An interface of the kernel behind it that is
 * down, or has no carrier, is warned of (log roce.port).
 *
 * @param name of the device.
 * @param port `port=`: the name, perhaps with arguments.
 * @return 0; -EINVAL an argument is missing, or the EAL was started in another way than the device needs; -ENODEV: the sentence names the driver, the capability or the device file.
 */
int roce_vdev_check(const char *name, const char *port, struct roce_errmsg *errmsg);

/**
 * May a file of the device become so large? The kernel ends who writes beyond the process's limit (SIGXFSZ).
 *
 * @param bytes UINT64_MAX: without a bound.
 * @return 0; -ENODEV: the sentence names the limit.
 */
int roce_vdev_check_file(const char *port, uint64_t bytes, struct roce_errmsg *errmsg);

/** Is `port=` a net_virtio_user, which gives the memory of the EAL to its server? */
bool roce_vdev_is_virtio_user(const char *port);

#endif
