/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_H
#define ROCE_ETHDEV_EAL_H

/**
 * @file
 * DPDK's environment: found running, or started for a program that knows
 * nothing of DPDK. It can be started once in a process and is never ended.
 */

#include <stdbool.h>

#include "ethdev/devargs.h"
#include "observe/errmsg.h"

/**
 * See to it that the EAL runs.
 *
 * A process that called rte_eal_init() keeps what it has. Else the blank-separated arguments of UDAPL_ROCE_EAL
 * are used, or defaults that need neither root nor hugepages and use hugepages when enough are free. The
 * kernel is asked first which of them it allows (eal_probe.h), and one line of the log says what is missing. The calling thread
 * becomes the main lcore and keeps its CPU affinity.
 *
 * @param args what is to be opened: `lcores=` become lcores, the device of a PCI address is probed. The EAL probes no
 *             other device by itself, and any other later, when it is opened.
 * @return 0; -EINVAL bad UDAPL_ROCE_EAL or `lcores=`; -ENODEV the EAL did not start. Threads: one at a time.
 */
int roce_eal_start(const struct roce_devargs *args, struct roce_errmsg *errmsg);

/**
 * True, once, for the PCI device that the EAL probed when it was started here: the port is the caller's to close.
 * @param name  a PCI address. Threads: one at a time.
 */
bool roce_eal_take_probed(const char *name);

/** True when a port name is a PCI address, with or without domain. */
bool roce_eal_name_is_pci(const char *name);

#endif
