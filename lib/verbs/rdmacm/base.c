/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock of the library, its clock, results of its calls, and whether this is a child of fork(2). */

#include <time.h>

#include "verbs/rdmacm/cma.h"

#define NS_PER_S INT64_C(1000000000)

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

int64_t
cma_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int
cma_result(int rc)
{
	return rc == 0 ? 0 : cma_refuse(-rc);
}
