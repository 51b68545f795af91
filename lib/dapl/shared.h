/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SHARED_H
#define DAPL_SHARED_H

/**
 * @file
 * Regions of shared memory: which memory they are, and by which name processes know it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sys/queue.h>

#define DAPL_COOKIE_LEN 40

/** Which memory it is, whatever address it has in a process. */
struct dapl_backing {
	uint64_t device, inode;
	uint64_t offset; /**< of the first byte */
};

/** A region of shared memory among all of the process. */
struct dapl_shared {
	LIST_ENTRY(dapl_shared) link;
	uint64_t length; /**< bytes */
	struct dapl_backing backing;
	uint8_t cookie[DAPL_COOKIE_LEN]; /**< the name that the consumers agreed upon */
};

/** Is all of it mapped as shared memory, and which is it? Reads /proc/self/maps. Any thread. */
bool dapl_shared_find_backing(uint64_t addr, uint64_t length, struct dapl_backing *backing);
/** Remember a region of shared memory. Any thread. @return false: its cookie names other memory; not added. */
bool dapl_shared_add(struct dapl_shared *entry);
void dapl_shared_remove(struct dapl_shared *entry);

#endif
