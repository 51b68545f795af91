/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/size_class_cache.h"

#include <rte_branch_prediction.h>

/* The content of a block while it waits. */
struct roce_cached_block {
	struct roce_cached_block *next;
	size_t size;
};

static struct roce_cached_block **
list_of(struct roce_size_class_cache *cache, size_t size)
{
	return &cache->waiting[size / ROCE_SIZE_CLASS_GRAIN - 1];
}

/* Under the lock. */
static void *
take_first(struct roce_size_class_cache *cache, struct roce_cached_block **list)
{
	struct roce_cached_block *block = *list;

	if (block != NULL) {
		*list = block->next;
		cache->bytes -= block->size;
	}
	return block;
}

void *
roce_size_class_cache_take(struct roce_size_class_cache *cache, size_t size)
{
	void *block;

	if (size > ROCE_SIZE_CLASS_MAX)
		return NULL;
	rte_spinlock_lock(&cache->lock);
	block = take_first(cache, list_of(cache, size));
	rte_spinlock_unlock(&cache->lock);
	return block;
}

bool
roce_size_class_cache_keep(struct roce_size_class_cache *cache, void *memory, size_t size)
{
	struct roce_cached_block *block = memory;
	bool room;

	if (size > ROCE_SIZE_CLASS_MAX)
		return false;
	rte_spinlock_lock(&cache->lock);
	room = cache->bytes + size <= cache->most;
	if (likely(room)) {
		struct roce_cached_block **list = list_of(cache, size);

		block->next = *list;
		block->size = size;
		*list = block;
		cache->bytes += size;
	}
	rte_spinlock_unlock(&cache->lock);
	return room;
}

void *
roce_size_class_cache_drop(struct roce_size_class_cache *cache)
{
	void *block = NULL;

	rte_spinlock_lock(&cache->lock);
	for (size_t i = 0; block == NULL && i < RTE_DIM(cache->waiting); i++)
		block = take_first(cache, &cache->waiting[i]);
	rte_spinlock_unlock(&cache->lock);
	return block;
}
