/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock of the library, results of its calls, and whether this is a child of fork(2). */

#include "verbs/rdmacm/cma.h"

pthread_mutex_t cma_lock = PTHREAD_MUTEX_INITIALIZER;

static bool forked; /* atomic */

bool
cma_is_forked(void)
{
	return __atomic_load_n(&forked, __ATOMIC_RELAXED);
}

void
cma_set_forked(void)
{
	pthread_mutex_init(&cma_lock, NULL);
	__atomic_store_n(&forked, true, __ATOMIC_RELAXED);
}

int
cma_result(int rc)
{
	return rc == 0 ? 0 : cma_refuse(-rc);
}
