/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_PROBE_H
#define ROCE_ETHDEV_EAL_PROBE_H

/**
 * @file
 * Resources that DPDK's environment may have in this process, asked of the kernel before it starts.
 *
 * rte_eal_init() can be tried once: it panics where descriptors or processors are refused, and gives up where
 * hugepages or a socket are. A container refuses some of them, so each is tried first, by what the EAL will do.
 */

#include <stdbool.h>

#include "ethdev/devargs.h"
#include "observe/errmsg.h"

#define ROCE_EAL_REASON_LEN 160

/** With what the EAL is started. A reason is empty unless something was there and was refused. */
struct roce_eal_means {
	bool hugepages;
	bool telemetry;
	int turn;         /**< open file of the lock; -1: none */
	char folder[108]; /**< base of the run-time folder; empty: there is none */
	char no_hugepages[ROCE_EAL_REASON_LEN];
	char no_telemetry[ROCE_EAL_REASON_LEN];
	char other_folder[ROCE_EAL_REASON_LEN]; /**< why not the usual one */
};

/**
 * Is there what no EAL starts without: descriptors, threads, and that these may be bound to processors?
 * @param lcores those that it will have beside the caller.
 * @return 0; -ENODEV, and the sentence says what is missing.
 */
int roce_eal_probe_needs(unsigned int lcores, struct roce_errmsg *errmsg);

/** May each of `lcores=` run on the processor of its number? @return 0; -EINVAL. */
int roce_eal_probe_lcores(const struct roce_devargs *args, struct roce_errmsg *errmsg);

/**
 * May it have enough hugepages for so many queues? Where they may run short the answer holds for this process alone, until
 * roce_eal_end_turn(), which must follow: of many that look at the same time each would see the pages that another takes
 * next. All processes of the machine wait for each other by a lock on the file that tells how many are free. One that has
 * waited for half a second does without.
 */
void roce_eal_probe_hugepages(uint32_t queues, struct roce_eal_means *means);

/** The EAL has the hugepages that it starts with, or has not started. */
void roce_eal_end_turn(struct roce_eal_means *means);

/** Is there a run-time folder, where it can bind the sockets of its telemetry? */
void roce_eal_probe_folder(struct roce_eal_means *means);

/** The refusals in words: " without hugepages (...)"; empty: nothing. @return @p text. */
const char *roce_eal_means_words(const struct roce_eal_means *means, char *text, size_t len);

#endif
