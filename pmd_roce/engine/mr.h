/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_MR_H
#define ROCE_ENGINE_MR_H

/**
 * @file
 * Memory keys of a domain, and copying through them.
 *
 * A key is a 24-bit index and an 8-bit tag that changes with every use of the
 * index, so a key that outlived its region names nothing. Entries live in
 * chunks that are never moved or freed before the domain is: looking a key up
 * needs no lock. An entry is live while its key word is the key; ending a
 * region clears that word and then waits until every engine was locked once.
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "engine/engine.h"
#include "engine/verbs.h"

#define ROCE_KEY_CHUNK  256u
#define ROCE_KEY_CHUNKS 256u /**< 65,536 keys a domain, less the first, which stays unused */

struct roce_pd {
	struct roce_domain *domain;
	uint32_t users; /**< regions, queue pairs and shared receive queues; atomic */
};

/** A memory region is an entry of the key table. */
struct roce_mr {
	uint32_t key;    /**< 0: free. Written last when made, first when ended. */
	uint32_t access; /**< IBV_ACCESS_* */
	uint64_t start;
	uint64_t length;
	struct roce_pd *pd;
	uint32_t index : 24;
	uint32_t tag : 8;   /**< of the key in use or used last; the first is random */
	uint32_t next_free; /**< index of the next free entry; 0: none */
};

struct roce_keys {
	struct roce_mr *chunk[ROCE_KEY_CHUNKS];
	rte_spinlock_t lock; /**< making and ending */
	uint32_t free_first; /**< taken from here, given back at the end: an index rests as long as possible */
	uint32_t free_last;
	uint32_t made; /**< indices ever handed out */
};

/** Copy a piece word by word: the caller has just written it so, and a wide load would wait for those stores. */
static inline void
roce_sge_set(struct roce_sge *to, const struct roce_sge *from)
{
	to->addr = from->addr;
	to->length = from->length;
	to->lkey = from->lkey;
}

/** The live region of a key; NULL when there is none. */
static inline const struct roce_mr *
roce_keys_find(const struct roce_keys *keys, uint32_t key)
{
	uint32_t index = key >> 8;
	const struct roce_mr *chunk;
	const struct roce_mr *mr;

	if (unlikely(index >= ROCE_KEY_CHUNK * ROCE_KEY_CHUNKS))
		return NULL;
	chunk = __atomic_load_n(&keys->chunk[index / ROCE_KEY_CHUNK], __ATOMIC_ACQUIRE);
	if (unlikely(chunk == NULL))
		return NULL;
	mr = &chunk[index % ROCE_KEY_CHUNK];
	return likely(key != 0 && __atomic_load_n(&mr->key, __ATOMIC_ACQUIRE) == key) ? mr : NULL;
}

/**
 * May @p pd touch @p len bytes at @p addr through @p key with all of @p access?
 * @return 0; -EACCES no such key or right; -EPERM other protection domain; -ERANGE outside.
 */
static inline int
roce_keys_check(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		unsigned int access)
{
	const struct roce_mr *mr = roce_keys_find(keys, sge->lkey);

	if (unlikely(mr == NULL))
		return -EACCES;
	if (unlikely(mr->pd != pd))
		return -EPERM;
	if (unlikely((mr->access & access) != access))
		return -EACCES;
	/* The order of the subtractions leaves no room for overflow. */
	if (unlikely(sge->addr < mr->start || sge->length > mr->length ||
			    sge->addr - mr->start > mr->length - sge->length))
		return -ERANGE;
	return 0;
}

/**
 * Copy bytes of a gather list into a frame.
 *
 * @param offset  bytes of the list to skip.
 * @param len     bytes to copy; the list is at least offset + len long.
 * @return 0, or as roce_keys_check(): nothing useful was copied.
 */
int roce_sge_copy_out(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, uint8_t *dst, uint32_t len);

/**
 * Copy the payload of a frame into a scatter list.
 *
 * @param offset  bytes of the list to skip; the list is at least that and the payload long.
 * @param pkt     the frame; its payload may be chained.
 * @return 0, or as roce_keys_check(): some bytes may have been written.
 */
int roce_sge_copy_in(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, const struct roce_pkt *pkt);

/** Frees the chunks. */
void roce_keys_fini(struct roce_keys *keys, const struct roce_memory *memory);

#endif
