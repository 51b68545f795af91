/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Children of fork(2). Calls that programs make before they fork have nothing to do: a processor copies, so that pages may be
 * shared with a child as they like.
 */

#include "verbs/verbs_front.h"

static bool forked; /* atomic */

bool
verbs_is_forked(void)
{
	return __atomic_load_n(&forked, __ATOMIC_RELAXED);
}

void
verbs_set_forked(void)
{
	__atomic_store_n(&forked, true, __ATOMIC_RELAXED);
}

int
ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status
ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

/* Of no public header; the libraries of providers call them. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

int
ibv_dontfork_range(void *base, size_t size)
{
	return 0;
}

int
ibv_dofork_range(void *base, size_t size)
{
	return 0;
}
