/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "fixture_memory.h"

static unsigned int live; /* atomic: objects may end on any thread */
static unsigned int until_failure;
static bool failed;

static void *
counted_alloc(void *arg, size_t size)
{
	size_t rounded = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	void *p;

	if (until_failure > 0 && --until_failure == 0) {
		failed = true;
		return NULL;
	}
	if (posix_memalign(&p, RTE_CACHE_LINE_SIZE, rounded) != 0)
		abort();
	memset(p, 0, rounded);
	__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return p;
}

static void
counted_free(void *arg, void *p)
{
	if (p != NULL)
		__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	free(p);
}

const struct roce_memory fx_memory = { .alloc = counted_alloc, .free = counted_free };

unsigned int
fx_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

void
fx_fail(unsigned int nth)
{
	until_failure = nth;
	failed = false;
}

bool
fx_failed(void)
{
	return failed;
}
