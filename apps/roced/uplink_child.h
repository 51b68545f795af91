/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_UPLINK_CHILD_H
#define ROCED_UPLINK_CHILD_H

/**
 * @file
 * The process of the uplink: started, and started again when it has ended.
 *
 * It is a program of its own (uplink/), with DPDK and with rights to a device that roced never uses. The kernel ends it when
 * roced ends.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"

#define UPLINK_PARAMS_LEN 1024

struct uplink_child {
	const char *dir; /**< of the socket; NULL: there is no uplink */
	char params[UPLINK_PARAMS_LEN];
	pid_t pid;         /**< 0: it does not run */
	bool attached;     /**< it has been once */
	uint64_t began_at; /**< ms */
	uint64_t start_at; /**< ms; when it does not run */
	uint32_t delay_ms; /**< before the next start */
};

/**
 * @param options with --port or not. @param dir stays the caller's.
 * @return 0; EXIT_USAGE: they are too long, said.
 */
int uplink_child_init(struct uplink_child *child, const struct options *options, const char *dir);

/** Start it, if that is due. @param now ms of CLOCK_MONOTONIC. */
void uplink_child_tick(struct uplink_child *child, uint64_t now);

/** When uplink_child_tick() is due; UINT64_MAX: never. */
uint64_t uplink_child_due(const struct uplink_child *child);

/**
 * A child of roced has ended.
 * @return -1: it is started again, said; else the exit status of roced: its parameters are none, said by it.
 */
int uplink_child_reap(struct uplink_child *child, uint64_t now);

/** The uplink has attached. */
void uplink_child_attached(struct uplink_child *child);

/** End it, and wait until it has given its device back. */
void uplink_child_end(struct uplink_child *child);

#endif /* ROCED_UPLINK_CHILD_H */
