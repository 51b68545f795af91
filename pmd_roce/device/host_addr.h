/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_HOST_ADDR_H
#define ROCE_DEVICE_HOST_ADDR_H

/**
 * @file
 * The addresses of the host's network interfaces, as the kernel knows them.
 */

#include <stdbool.h>

#include "wire/frame.h"

/** Has an interface of this host that address now? Asks the kernel, which takes some tens of microseconds. Any thread. */
bool roce_host_has(const struct roce_ip *ip);

#endif
