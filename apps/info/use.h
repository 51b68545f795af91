/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_USE_H
#define INFO_USE_H

/**
 * @file
 * The process that has an interface adapter open.
 */

#include <stdbool.h>

struct json_object;

/** A device that serves an adapter, and its process. Both belong to the snapshot. */
struct info_use {
	struct json_object *process;
	struct json_object *device;
	unsigned int others; /**< further processes that have it open: roce0 is any number of processes' */
};

/**
 * Find the process that has an adapter of this name open, of several the first one. Wires inside a process (net_ring) do not count: each process has
 * its own.
 * @param processes  a look; NULL: there are none. @return false: nobody has.
 */
bool info_use_find(struct json_object *processes, const char *name, struct info_use *use);

#endif /* INFO_USE_H */
