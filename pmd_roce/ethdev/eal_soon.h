/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_SOON_H
#define ROCE_ETHDEV_EAL_SOON_H

/**
 * @file
 * A start of the EAL that takes a fifth of the time: a new process is to have its first message within 50 ms.
 *
 * - rte_eal_init() sleeps a tenth of a second to measure the time stamp counter where neither CPUID nor the kernel tells its
 *   frequency. That is so in most virtual machines, and for users without rights. The EAL takes the real length of the sleep
 *   into account and rounds the frequency to 10 MHz, so a twentieth of it serves. On a busy machine either length may give a
 *   wrong frequency, so the whole start is measured, too (tsc.h).
 * - It asks for each of 128 processors on each of 32 NUMA nodes whether the file of that is there. Those of nodes that are not
 *   there are answered here.
 * - Drivers of Mellanox, which change the environment of the process, are loaded where there is a device of that vendor.
 * - It loads all drivers of DPDK. A process that opens nothing but the adapter that processes share needs none of them. They
 *   are loaded when it opens another.
 *
 * - Telemetry looks by a connection whether the name of a socket is another process's, and would wait for one that is stopped for
 *   as long as it is. It does not wait here.
 *
 * Under a limit of the size of files it has no file for its ordinary memory.
 *
 * The EAL has no arguments for that (eal_divert.h). Where a call cannot be diverted, the EAL does as ever.
 */

#include <stdbool.h>

/**
 * Start the EAL. Calls of other threads, and other calls of this one, are left as they are.
 * @param folder  base of its run-time folder, as RUNTIME_DIRECTORY would name it; empty: its own choice.
 * @param drivers false: load none, until roce_eal_load_drivers().
 * @param init rte_eal_init() or alike. @return its result.
 */
int roce_eal_init_soon(int argc, char **argv, const char *folder, bool drivers,
		int (*init)(int argc, char **argv));

/** Load the drivers that were left out, if any were. Once the EAL runs; one thread at a time. */
void roce_eal_load_drivers(void);

#endif
