/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_EAL_H
#define ROCE_PORT_EAL_H

/**
 * @file
 * DPDK's environment: found running, or started for a program that knows
 * nothing of DPDK. It can be started once in a process and is never ended.
 */

#include <stdbool.h>

#include "port/devargs.h"
#include "port/errmsg.h"

/**
 * See to it that the EAL runs.
 *
 * A process that called rte_eal_init() keeps what it has. Else the blank-separated arguments of UDAPL_ROCE_EAL
 * are used, or defaults that need neither root nor hugepages and use hugepages when enough are free. The
 * calling thread becomes the main lcore and keeps its CPU affinity.
 *
 * @param args what is to be opened: `lcores=` become lcores, a PCI address is let through.
 * @return 0; -EINVAL bad UDAPL_ROCE_EAL; -ENODEV the EAL did not start. Threads: one at a time.
 */
int roce_eal_start(const struct roce_devargs *args, struct roce_errmsg *why);

/** True when a port name is a PCI address, with or without domain. */
bool roce_eal_name_is_pci(const char *name);

#endif
