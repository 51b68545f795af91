/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_UNIT_H
#define ROCE_TEST_UNIT_H

/**
 * @file
 * DPDK for tests: an EAL without privileges, a pool, frames made of bytes.
 *
 * A failure in here ends the program with a message: no test is about it.
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "rules.h"

/** Room for frame data in a pool buffer, behind the usual headroom: more than the largest frame. */
#define UNIT_DATA_ROOM 4608

/** Start the EAL without hugepages, devices or shared files; later calls do nothing. */
void unit_eal(void);

/** The pool that unit_mbuf() takes from, made at the first call; starts the EAL when needed. */
struct rte_mempool *unit_pool(void);

/** True when every buffer of the pool is back. */
bool unit_pool_is_full(void);

/** A frame of @p len bytes in one segment. The caller frees it. */
struct rte_mbuf *unit_mbuf(const void *bytes, uint32_t len);

/** The same in two segments, @p split bytes in the first; one when the split is 0 or @p len. */
struct rte_mbuf *unit_mbuf_chain(const void *bytes, uint32_t len, uint32_t split);

/**
 * A frame whose buffer ends with its last byte: the address sanitizer sees every read beyond.
 *
 * Not from a pool: free with unit_mbuf_exact_free().
 */
struct rte_mbuf *unit_mbuf_exact(const void *bytes, uint32_t len);

/** The same in two segments, each with a buffer of exactly its size. */
struct rte_mbuf *unit_mbuf_exact_chain(const void *bytes, uint32_t len, uint32_t split);

void unit_mbuf_exact_free(struct rte_mbuf *m);

#endif
