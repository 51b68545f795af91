/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/size_class_cache.h"

#include <rte_branch_prediction.h>

/* What stands in a block while it waits. */
struct roce_cached_block {
	struct roce_cached_block *next;
	size_t size;
};

static struct roce_cached_block **
list_of(struct roce_size_class_cache *blocks, size_t size)
{
	return &blocks->waiting[size / ROCE_SIZE_CLASS_GRAIN - 1];
}

/* Under the lock. */
static void *
take_first(struct roce_size_class_cache *blocks, struct roce_cached_block **list)
{
	struct roce_cached_block *block = *list;

	if (block != NULL) {
		*list = block->next;
		blocks->bytes -= block->size;
	}
	return block;
}

void *
roce_size_class_cache_take(struct roce_size_class_cache *blocks, size_t size)
{
	void *block;

	if (size > ROCE_SIZE_CLASS_MAX)
		return NULL;
	rte_spinlock_lock(&blocks->lock);
	block = take_first(blocks, list_of(blocks, size));
	rte_spinlock_unlock(&blocks->lock);
	return block;
}

bool
roce_size_class_cache_keep(struct roce_size_class_cache *blocks, void *memory, size_t size)
{
	struct roce_cached_block *block = memory;
	bool room;

	if (size > ROCE_SIZE_CLASS_MAX)
		return false;
	rte_spinlock_lock(&blocks->lock);
	room = blocks->bytes + size <= blocks->most;
	if (likely(room)) {
		struct roce_cached_block **list = list_of(blocks, size);

		block->next = *list;
		block->size = size;
		*list = block;
		blocks->bytes += size;
	}
	rte_spinlock_unlock(&blocks->lock);
	return room;
}

void *
roce_size_class_cache_drop(struct roce_size_class_cache *blocks)
{
	void *block = NULL;

	rte_spinlock_lock(&blocks->lock);
	for (size_t i = 0; block == NULL && i < RTE_DIM(blocks->waiting); i++)
		block = take_first(blocks, &blocks->waiting[i]);
	rte_spinlock_unlock(&blocks->lock);
	return block;
}
