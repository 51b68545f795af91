/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_POOL_H
#define ROCE_ETHDEV_POOL_H

/**
 * @file
 * Memory of a device: pools of frames, and memory for its engines.
 *
 * Over net_ring the receiver frees the sender's frames, so a pool can outlive
 * its port: it is given back here, and freed when its last frame is home.
 *
 * A thread that puts that frame home may not have left the pool yet. When all are in the pool's ring it has. But a frame
 * in the cache of another lcore counts before it lies there, and nobody can tell when it does; so such a pool is freed
 * only by a sweep that finds it full ROCE_POOL_REST_MS after another one did: no thread stands in those few
 * instructions for so long, unless it is stopped there by a debugger.
 */

#include <stdint.h>

#include <rte_mempool.h>

#include "engine/engine.h"

/**
 * Make a pool of frames; sweeps before. One thread at a time.
 *
 * @param name   unique while it lives; shortened if need be.
 * @param frames how many must be there at once; those in the caches of lcores are added.
 * @param room   bytes of one buffer, headroom included.
 * @return NULL: rte_errno says why.
 */
struct rte_mempool *
roce_pool_create(const char *name, unsigned int frames, uint32_t room, int socket);

/**
 * The same of memory that no device reads: without hugepages, or when they run short, the pool has memory of its own, which
 * is not touched before it is used, nor when it is freed. Of IOVA addresses it has none.
 */
struct rte_mempool *
roce_pool_create_apart(const char *name, unsigned int frames, uint32_t room, int socket);

/** That a pool is full before it is freed, with frames in caches of other lcores. */
#define ROCE_POOL_REST_MS 50u

/** Give a pool back: freed now or when its frames are home. NULL is allowed. One thread at a time. */
void roce_pool_retire(struct rte_mempool *pool);

/**
 * Free the retired pools whose frames are home, and have been so for long enough where that matters.
 * @return frames still out. One thread at a time.
 */
unsigned int roce_pool_sweep(void);
/** The same at a time of rte_rdtsc(). */
unsigned int roce_pool_sweep_at(uint64_t now);

/**
 * Memory for engines: hugepages when the EAL has them and they last, else ordinary memory. Always zeroed, cache
 * line aligned. Any thread.
 */
extern const struct roce_memory roce_pool_memory;

/** Give hugepage memory back that was freed and waits to be used again (size_class_cache.h). Any thread. */
void roce_pool_drop_cache(void);

#endif
