/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_KEYS_H
#define ROCE_QUEUE_KEYS_H

/**
 * @file
 * Memory keys of a domain: the table of its memory regions and memory windows.
 *
 * A key is the place of its entry, in bits 8 to 23, amid a tag of 16 bits that changes with every
 * use of the place: a key that outlived what it named names nothing, and
 * neither the next key of a place nor that of another can be told from those
 * that were seen. Entries live in chunks that are never moved or freed before
 * the domain is: looking a key up needs no lock. An entry is live while its key
 * word is the key; ending a region clears that word and then waits until every
 * engine was locked once.
 */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "queue/config.h"
#include "queue/objects.h"

#define ROCE_KEY_CHUNK  256u
#define ROCE_KEY_CHUNKS 256u /**< 65,536 keys a domain, less the first, which stays unused */
#define ROCE_KEY_PLACES (ROCE_KEY_CHUNK * ROCE_KEY_CHUNKS)

/** In access of a region: the device can read it. Above all that a user may ask for. */
#define ROCE_MR_EXTBUF (1u << 31)

struct roce_pd {
	struct roce_domain *domain;
	struct roce_context *context;
	uint32_t users; /**< regions, windows, queue pairs and shared receive queues; atomic */
};

/**
 * An entry of the key table: a memory region, or a memory window and what it is bound to.
 *
 * All that it takes to validate an access stands here, for windows too: the region under a window cannot end before
 * the binding does.
 *
 * Posts and peers name memory by addresses of the key, which begin at the region's iova. Where they are validated first they are
 * translated, by one addition; everything behind that, later validations of a post too, has addresses of memory.
 */
struct roce_mr {
	uint32_t key;    /**< 0: names nothing. Written last when made, first when ended. */
	uint32_t access; /**< IBV_ACCESS_*, ROCE_ACCESS_LOCAL_READ, ROCE_MR_EXTBUF */
	uint64_t start;  /**< address in memory */
	uint64_t length;
	uint64_t offset;    /**< from an address of the key to that in memory; modulo 2^64 */
	struct roce_pd *pd; /**< whose posts may name it; NULL: a window, no post may */
	/** Peers of this domain's queue pairs may name it; of a window of type 2 that of this queue pair, which bound it. */
	const void *peer;
	uint32_t uses; /**< keys ever made for this place; atomic */
	/** Of a window: accesses under way (mw.h). Of a region: requests whose frames refer to it (extbuf.h). Atomic. */
	uint32_t visitors;
	union {
		uint32_t windows; /**< bound to this region; keys.lock */
		uint32_t birth; /**< of a window: @c uses when it was made; binds of an earlier one differ */
	};
	uint16_t place;
	union {
		uint16_t next_free; /**< of a free entry: place of the next one; 0: none */
		uint16_t region; /**< of a window: place of the region that it is bound to, or 0; keys.lock */
	};
};

static_assert(sizeof(struct roce_mr) == 64, "validating an access reads one cache line");

struct roce_keys {
	struct roce_mr *chunk[ROCE_KEY_CHUNKS];
	rte_spinlock_t lock; /**< making, binding and ending; taken after an engine's lock, never before one */
	uint32_t free_first; /**< taken from here, given back at the end: a place rests as long as possible */
	uint32_t free_last;
	uint32_t made;   /**< places ever handed out */
	uint32_t epoch;  /**< regions ever ended, counted behind the end of their key; atomic */
	uint64_t secret; /**< of the tags; 0: not drawn yet */
};

/**
 * The key epoch: how many regions have ended. A segment that was validated stays valid as long as the epoch, which was read
 * before, is the same. 32 bits suffice, unless a request waits while 2^32 regions end.
 */
static inline uint32_t
roce_key_epoch(const struct roce_keys *keys)
{
	return __atomic_load_n(&keys->epoch, __ATOMIC_ACQUIRE);
}

/** The entry that a key belongs to, live or not. */
static inline struct roce_mr *
roce_keys_entry(const struct roce_keys *keys, uint32_t key)
{
	uint32_t place = key >> 8 & (ROCE_KEY_PLACES - 1);
	struct roce_mr *chunk =
			__atomic_load_n(&keys->chunk[place / ROCE_KEY_CHUNK], __ATOMIC_ACQUIRE);

	return &chunk[place % ROCE_KEY_CHUNK];
}

/** The live entry of a key; NULL when there is none. */
static inline struct roce_mr *
roce_keys_find(const struct roce_keys *keys, uint32_t key)
{
	struct roce_mr *mr = roce_keys_entry(keys, key);

	return likely(__atomic_load_n(&mr->key, __ATOMIC_ACQUIRE) == key) ? mr : NULL;
}

/**
 * Does the entry cover @p length bytes at @p addr? No entry wraps around the address space: what lies before its start
 * is further behind it than it is long.
 */
static inline bool
roce_mr_holds(const struct roce_mr *mr, uint64_t addr, uint64_t length)
{
	uint64_t at = addr - mr->start;

	return at <= mr->length && length <= mr->length - at;
}

/**
 * May @p pd touch the first @p len bytes of a segment with all of @p access? The address is one of memory.
 * @return 0; -EACCES no such key or right; -EPERM other protection domain; -ERANGE outside.
 */
static inline int
roce_keys_check_part(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t len, unsigned int access)
{
	const struct roce_mr *mr = roce_keys_find(keys, sge->lkey);

	if (unlikely(mr == NULL))
		return -EACCES;
	if (unlikely(mr->pd != pd))
		return mr->pd != NULL ? -EPERM : -EACCES;
	if (unlikely((mr->access & access) != access))
		return -EACCES;
	if (unlikely(!roce_mr_holds(mr, sge->addr, len)))
		return -ERANGE;
	return 0;
}

/** The same for all of it. */
static inline int
roce_keys_check(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		unsigned int access)
{
	return roce_keys_check_part(keys, pd, sge, sge->length, access);
}

/** Address in memory of a segment that is being posted; undefined unless its key is live. */
static inline uint64_t
roce_keys_address(const struct roce_keys *keys, const struct roce_sge *sge)
{
	return sge->addr + roce_keys_entry(keys, sge->lkey)->offset;
}

/**
 * roce_keys_check() of a segment as it is posted, with an address of its key.
 * @param addr receives the address in memory, when 0 is returned.
 */
static inline int
roce_keys_translate(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, unsigned int access, uint64_t *addr)
{
	const struct roce_sge memory = { roce_keys_address(keys, sge), sge->length, sge->lkey };

	*addr = memory.addr;
	return roce_keys_check(keys, pd, &memory, access);
}

/** The key of a queue's last post, which the next one most likely has, too, and its entry. Its addresses are those of memory. */
struct roce_keys_recent {
	const struct roce_mr *mr;
	uint32_t key;
};

/** Not used yet: the entry of no key. */
static inline void
roce_keys_recent_init(struct roce_keys_recent *recent, const struct roce_keys *keys)
{
	recent->mr = roce_keys_entry(keys, 0);
	recent->key = 0;
}

/** Is it the key of the last one, and may @p pd touch the segment, whose address is one of memory, with all of @p access? */
static inline bool
roce_keys_is_recent(const struct roce_keys_recent *recent, const struct roce_pd *pd,
		const struct roce_sge *sge, unsigned int access)
{
	const struct roce_mr *mr = recent->mr;

	return likely(sge->lkey == recent->key && mr->pd == pd &&
			__atomic_load_n(&mr->key, __ATOMIC_ACQUIRE) == sge->lkey &&
			(mr->access & access) == access &&
			roce_mr_holds(mr, sge->addr, sge->length));
}

/** roce_keys_check(), which looks at the entry of the last good key first. @p recent is for this call alone. */
static inline int
roce_keys_check_again(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, unsigned int access, struct roce_keys_recent *recent)
{
	int rc;

	if (likely(roce_keys_is_recent(recent, pd, sge, access)))
		return 0;
	rc = roce_keys_check(keys, pd, sge, access);
	if (rc == 0) {
		recent->mr = roce_keys_entry(keys, sge->lkey);
		recent->key = sge->lkey;
	}
	return rc;
}

/**
 * roce_keys_translate(), which looks at the entry of the last good key first. @p recent is the caller's, one thread's at a
 * time. Keys with an iova of their own are never the recent one, so that others pay nothing for them.
 */
static inline int
roce_keys_check_recent(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, unsigned int access, struct roce_keys_recent *recent,
		uint64_t *addr)
{
	int rc;

	*addr = sge->addr;
	if (likely(roce_keys_is_recent(recent, pd, sge, access)))
		return 0;
	rc = roce_keys_translate(keys, pd, sge, access, addr);
	if (rc == 0 && *addr == sge->addr) {
		recent->mr = roce_keys_entry(keys, sge->lkey);
		recent->key = sge->lkey;
	}
	return rc;
}

/** An entry that is nobody's, without a key. Under keys.lock. @return NULL: no memory, or the table is full. */
struct roce_mr *roce_keys_take(struct roce_domain *domain);

/** An entry that no engine looks at any more. Under keys.lock. */
void roce_keys_give(struct roce_keys *keys, struct roce_mr *mr);

/** A key that this entry did not have in its last 65,535 uses, not live yet. The entry's owner. */
uint32_t roce_keys_name(const struct roce_keys *keys, struct roce_mr *mr);

/** An empty table. */
void roce_keys_init(struct roce_keys *keys);

/** Frees the chunks. */
void roce_keys_fini(struct roce_keys *keys, const struct roce_memory *memory);

#endif
