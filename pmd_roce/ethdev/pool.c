/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "ethdev/size_class_cache.h"
#include "ethdev/tsc.h"
#include "observe/log.h"

/* Frames an lcore keeps for itself; the pool lets it grow by half before it takes some back. */
#define POOL_CACHE     256
#define POOL_CACHE_MAX (POOL_CACHE * 3 / 2)

/* More lcores than this do not poll one port. */
#define POOL_LCORES_MAX ROCE_ENGINES_MAX

#define RETIRED_MAX 256

/** A page of the kernel that takes the place of many. */
#define LARGE_PAGE ((size_t)2 << 20)

/* Hugepage memory that waits for the next connections: those of a TIMEWAIT at a good rate. */
#define CACHE_MOST (16u << 20)

/** A pool that was given back. */
struct retired {
	struct rte_mempool *pool;
	bool full; /**< was so at the last sweep */
	uint64_t full_since;
};

static struct retired retired[RETIRED_MAX];
static unsigned int retired_n;

/* Is there one that is full, and will be freed when it has been so for a while? */
static bool
one_rests(void)
{
	for (unsigned int i = 0; i < retired_n; i++) {
		if (retired[i].full)
			return true;
	}
	return false;
}

/* A retired pool keeps its name for a while. */
static void
make_unique(char *unique, const char *name)
{
	static unsigned int serial;

	snprintf(unique, RTE_MEMPOOL_NAMESIZE, "r%u_%.12s", serial++, name);
}

/* One less than a power of two: what its ring holds. */
static unsigned int
round_up(unsigned int frames)
{
	unsigned int lcores = RTE_MIN(rte_lcore_count(), (unsigned int)POOL_LCORES_MAX);

	return rte_align32pow2(frames + lcores * POOL_CACHE_MAX + 1) - 1;
}

struct rte_mempool *
roce_pool_create(const char *name, unsigned int frames, uint32_t room, int socket)
{
	struct rte_mempool *pool;
	char unique[RTE_MEMPOOL_NAMESIZE];

	make_unique(unique, name);
	frames = round_up(frames);
	/* Memory for it may lie in one that only has to rest. */
	roce_pool_sweep();
	pool = rte_pktmbuf_pool_create(unique, frames, POOL_CACHE, 0, (uint16_t)room, socket);
	if (pool == NULL && rte_errno == ENOMEM && one_rests()) {
		rte_delay_us_sleep(ROCE_POOL_REST_MS * 1000u);
		roce_pool_sweep();
		pool = rte_pktmbuf_pool_create(
				unique, frames, POOL_CACHE, 0, (uint16_t)room, socket);
	}
	return pool;
}

static void
unmap(struct rte_mempool_memhdr *memory, void *arg)
{
	(void)arg;
	munmap(memory->addr, memory->len);
}

/* Large pages where the kernel has some: a fault for each of four thousand frames is what a new process would wait for. */
static bool
populate_own(struct rte_mempool *pool)
{
	size_t len = (size_t)pool->size * (pool->header_size + pool->elt_size + pool->trailer_size);
	char *memory;

	len = RTE_ALIGN_CEIL(len, LARGE_PAGE);
	memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	(void)madvise(memory, len, MADV_HUGEPAGE);
	if (rte_mempool_populate_virt(pool, memory, len, (size_t)sysconf(_SC_PAGESIZE), unmap,
			    NULL) == (int)pool->size)
		return true;
	/* Chunks that were added are unmapped with the pool. */
	if (pool->nb_mem_chunks == 0)
		munmap(memory, len);
	return false;
}

/* Hugepages as long as they last, else memory of its own. */
static bool
populate(struct rte_mempool *pool)
{
	if (rte_eal_has_hugepages() && rte_mempool_populate_default(pool) == (int)pool->size)
		return true;
	return populate_own(pool);
}

struct rte_mempool *
roce_pool_create_apart(const char *name, unsigned int frames, uint32_t room, int socket)
{
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = (uint16_t)room };
	char unique[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	roce_pool_sweep();
	make_unique(unique, name);
	pool = rte_mempool_create_empty(unique, round_up(frames), sizeof(struct rte_mbuf) + room,
			POOL_CACHE, sizeof(private), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) != 0)
		goto free_pool;
	rte_pktmbuf_pool_init(pool, &private);
	if (!populate(pool))
		goto free_pool;
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;

free_pool:
	rte_mempool_free(pool);
	rte_errno = ENOMEM;
	return NULL;
}

/*
 * Every frame in the ring: whoever has put it there touches the pool no more. Not so in the cache of an lcore, where it
 * counts before it is there; those of this thread go into the ring first. Only of DPDK's ring it is known.
 */
static bool
is_left(struct rte_mempool *pool)
{
	const struct rte_mempool_ops *ops = rte_mempool_get_ops(pool->ops_index);

	rte_mempool_cache_flush(NULL, pool);
	return strncmp(ops->name, "ring", strlen("ring")) == 0 &&
			ops->get_count(pool) == pool->size;
}

/* @return false: not yet. */
static bool
may_free(struct retired *r, uint64_t now)
{
	const uint64_t rest = roce_tsc_hz() / MS_PER_S * ROCE_POOL_REST_MS;
	bool was_full = r->full;

	if (is_left(r->pool))
		return true;
	r->full = rte_mempool_full(r->pool) == 1;
	if (r->full && !was_full)
		r->full_since = now;
	return r->full && (int64_t)(now - r->full_since) >= (int64_t)rest;
}

unsigned int
roce_pool_sweep_at(uint64_t now)
{
	unsigned int kept = 0, out = 0;

	for (unsigned int i = 0; i < retired_n; i++) {
		struct retired *r = &retired[i];

		if (may_free(r, now)) {
			rte_mempool_free(r->pool);
			continue;
		}
		out += rte_mempool_in_use_count(r->pool);
		retired[kept++] = *r;
	}
	retired_n = kept;
	return out;
}

unsigned int
roce_pool_sweep(void)
{
	return roce_pool_sweep_at(rte_rdtsc());
}

void
roce_pool_retire(struct rte_mempool *pool)
{
	if (pool == NULL)
		return;
	if (retired_n == RETIRED_MAX) {
		ROCE_LOG(WARNING, "pool %s is kept for ever: %u frames are still out", pool->name,
				rte_mempool_in_use_count(pool));
		return;
	}
	retired[retired_n++] = (struct retired){ .pool = pool };
	roce_pool_sweep();
}

static struct roce_size_class_cache cache = {
	.lock = RTE_SPINLOCK_INITIALIZER,
	.most = CACHE_MOST,
};

/* The header of each block of memory: where it came from. */
struct origin {
	size_t size; /* with this */
	bool huge;
} __rte_cache_aligned;

static struct origin *
alloc_huge(size_t size)
{
	struct origin *o = roce_size_class_cache_take(&cache, size);

	if (o == NULL)
		return rte_zmalloc("roce", size, RTE_CACHE_LINE_SIZE);
	memset(o, 0, size);
	return o;
}

static void *
alloc_memory(void *arg, size_t size)
{
	struct origin *o = NULL;
	bool huge = rte_eal_has_hugepages();

	if (size > SIZE_MAX / 2)
		return NULL;
	size = RTE_ALIGN_CEIL(size, RTE_CACHE_LINE_SIZE) + sizeof(*o);
	if (huge)
		o = alloc_huge(size);
	if (o == NULL) {
		huge = false;
		o = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
		if (o == NULL)
			return NULL;
		memset(o, 0, size);
	}
	o->huge = huge;
	o->size = size;
	return o + 1;
}

static void
free_memory(void *arg, void *p)
{
	struct origin *o;

	if (p == NULL)
		return;
	o = (struct origin *)p - 1;
	if (!o->huge)
		free(o);
	else if (!roce_size_class_cache_keep(&cache, o, o->size))
		rte_free(o);
}

void
roce_pool_drop_cache(void)
{
	void *block;

	while ((block = roce_size_class_cache_drop(&cache)) != NULL)
		rte_free(block);
}

const struct roce_memory roce_pool_memory = { .alloc = alloc_memory, .free = free_memory };
