/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_LOCAL_MEMORY_H
#define ROCE_TEST_LOCAL_MEMORY_H

/**
 * @file
 * Memory between two pages that nobody may touch: an access before or behind it ends the test.
 *
 * Pages are larger than the alignment of the object, so it touches one of the two: at its beginning or at its end.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rules.h"

enum guarded_side {
	GUARDED_BEGIN, /**< the first byte is next to a page that nobody may touch */
	GUARDED_END,   /**< the last byte is */
};

struct guarded {
	uint8_t *map;
	size_t map_size;
	void *object; /**< zeroed */
	size_t size;
};

static inline struct guarded
guarded_make(size_t size, enum guarded_side side)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t inner = (size + page - 1) / page * page;
	struct guarded g = { .map_size = inner + 2 * page, .size = size };

	g.map = mmap(NULL, g.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(g.map, MAP_FAILED);
	assert_int_equal(mprotect(g.map + page, inner, PROT_READ | PROT_WRITE), 0);
	g.object = g.map + page + (side == GUARDED_END ? inner - size : 0);
	return g;
}

static inline void
guarded_free(struct guarded *g)
{
	if (g->map != NULL)
		munmap(g->map, g->map_size);
	g->map = NULL;
}

#endif
