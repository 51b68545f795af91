/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_SIZE_CLASS_CACHE_H
#define ROCE_ETHDEV_SIZE_CLASS_CACHE_H

/**
 * @file
 * Size class cache: freed blocks of memory, kept by size for the next allocation of that size.
 *
 * Blocks of connections come and go by the ten thousand a second, in a few sizes. rte_malloc() (22.11) looks for the
 * first free piece that is large enough in a list of all that are about as large: with many pieces that are a little too
 * small it walks past all of them, under its lock, and so do we under an engine's. A block that waits here is had at
 * once. How much waits is bounded; nothing is allocated or freed here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_spinlock.h>

#define ROCE_SIZE_CLASS_MAX (32u << 10) /**< bytes of the largest block that may wait */
/** Sizes are multiples of it. */
#define ROCE_SIZE_CLASS_GRAIN RTE_CACHE_LINE_SIZE

struct roce_cached_block;

struct roce_size_class_cache {
	rte_spinlock_t lock;
	size_t most; /**< bytes that may wait */
	size_t bytes;
	struct roce_cached_block *waiting[ROCE_SIZE_CLASS_MAX /
			ROCE_SIZE_CLASS_GRAIN]; /**< by size, the last one freed first */
};

/**
 * Take a block that waits. Any thread.
 * @param size  a multiple of ROCE_SIZE_CLASS_GRAIN, not 0.
 * @return it, with whatever stands in it; NULL: none of this size waits.
 */
void *roce_size_class_cache_take(struct roce_size_class_cache *cache, size_t size);

/**
 * Let a block wait. Any thread.
 * @param size  as roce_size_class_cache_take(); the block has at least that.
 * @return false: it is too large, or too much waits already, and it is still the caller's.
 */
bool roce_size_class_cache_keep(struct roce_size_class_cache *cache, void *block, size_t size);

/** Take any block that waits, to give it back to where it came from. Any thread. @return NULL: none waits any more. */
void *roce_size_class_cache_drop(struct roce_size_class_cache *cache);

#endif
