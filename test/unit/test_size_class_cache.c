/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "ethdev/size_class_cache.h"
#include "unit.h"

#define GRAIN ROCE_SIZE_CLASS_GRAIN

static void *
make(size_t size)
{
	void *block = aligned_alloc(GRAIN, size);

	assert_non_null(block);
	return memset(block, 0xff, size);
}

static void
drop_all(struct roce_size_class_cache *cache)
{
	void *block;

	while ((block = roce_size_class_cache_drop(cache)) != NULL)
		free(block);
	assert_int_equal(cache->bytes, 0);
}

UNIT_RULE_IN(take__gives_what_was_kept_of_this_size_alone, NULL, NULL)
{
	struct roce_size_class_cache cache = { .most = 1 << 20 };
	void *small = make(GRAIN), *larger = make(2 * GRAIN);

	assert_null(roce_size_class_cache_take(&cache, GRAIN));
	assert_true(roce_size_class_cache_keep(&cache, small, GRAIN));
	assert_true(roce_size_class_cache_keep(&cache, larger, 2 * GRAIN));
	assert_null(roce_size_class_cache_take(&cache, 3 * GRAIN));
	assert_ptr_equal(roce_size_class_cache_take(&cache, 2 * GRAIN), larger);
	assert_null(roce_size_class_cache_take(&cache, 2 * GRAIN));
	assert_ptr_equal(roce_size_class_cache_take(&cache, GRAIN), small);
	assert_int_equal(cache.bytes, 0);
	free(small);
	free(larger);
}

/* Its lines are in the caches still. */
UNIT_RULE_IN(take__gives_the_last_one_first, NULL, NULL)
{
	struct roce_size_class_cache cache = { .most = 1 << 20 };
	void *a = make(GRAIN), *b = make(GRAIN);

	roce_size_class_cache_keep(&cache, a, GRAIN);
	roce_size_class_cache_keep(&cache, b, GRAIN);
	assert_ptr_equal(roce_size_class_cache_take(&cache, GRAIN), b);
	assert_ptr_equal(roce_size_class_cache_take(&cache, GRAIN), a);
	free(a);
	free(b);
}

UNIT_RULE_IN(keep__has_a_bound, NULL, NULL)
{
	struct roce_size_class_cache cache = { .most = 3 * GRAIN };
	void *block[4];

	for (unsigned int i = 0; i < 4; i++) {
		block[i] = make(GRAIN);
		assert_int_equal(roce_size_class_cache_keep(&cache, block[i], GRAIN), i < 3);
	}
	/* A block that is taken makes room. */
	assert_ptr_equal(roce_size_class_cache_take(&cache, GRAIN), block[2]);
	assert_true(roce_size_class_cache_keep(&cache, block[3], GRAIN));
	free(block[2]);
	drop_all(&cache);
}

UNIT_RULE_IN(keep__refuses_the_largest, NULL, NULL)
{
	struct roce_size_class_cache cache = { .most = SIZE_MAX };
	void *fits = make(ROCE_SIZE_CLASS_MAX), *larger = make(ROCE_SIZE_CLASS_MAX + GRAIN);

	assert_true(roce_size_class_cache_keep(&cache, fits, ROCE_SIZE_CLASS_MAX));
	assert_false(roce_size_class_cache_keep(&cache, larger, ROCE_SIZE_CLASS_MAX + GRAIN));
	assert_null(roce_size_class_cache_take(&cache, ROCE_SIZE_CLASS_MAX + GRAIN));
	free(larger);
	drop_all(&cache);
}

UNIT_RULE_IN(drop__finds_every_size, NULL, NULL)
{
	struct roce_size_class_cache cache = { .most = SIZE_MAX };
	unsigned int dropped = 0;
	void *block;

	for (size_t size = GRAIN; size <= ROCE_SIZE_CLASS_MAX; size += GRAIN)
		assert_true(roce_size_class_cache_keep(&cache, make(size), size));
	while ((block = roce_size_class_cache_drop(&cache)) != NULL) {
		free(block);
		dropped++;
	}
	assert_int_equal(dropped, ROCE_SIZE_CLASS_MAX / GRAIN);
	assert_int_equal(cache.bytes, 0);
}
