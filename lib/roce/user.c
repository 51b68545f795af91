/* SPDX-License-Identifier: BSD-3-Clause */

/* Parts of a context that ids use, too: its memory, and the descriptor to sleep on. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "user.h"

void *
roce_user_alloc(size_t size)
{
	void *p;

	/* All memory of objects comes from here, without hugepages that of the engine, too. */
	size = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	p = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (p != NULL)
		memset(p, 0, size);
	return p;
}

static bool
has_events(const struct roce_user *user)
{
	return __atomic_load_n(&user->port_events, __ATOMIC_ACQUIRE) != 0 ||
			__atomic_load_n(&user->async_queue.count, __ATOMIC_ACQUIRE) != 0 ||
			__atomic_load_n(&user->cm_pending_count, __ATOMIC_ACQUIRE) != 0;
}

/* Under fd_lock: the word and the descriptor say the same. Neither call blocks, nor fails. */
static void
set_readable(struct roce_user *user, bool readable)
{
	eventfd_t count;

	if (user->fd < 0 || user->readable == readable)
		return;
	if (readable)
		(void)eventfd_write(user->fd, 1);
	else
		(void)eventfd_read(user->fd, &count);
	__atomic_store_n(&user->readable, readable, __ATOMIC_RELAXED);
}

void
roce_user_signal(struct roce_user *user)
{
	rte_spinlock_lock(&user->fd_lock);
	set_readable(user, true);
	rte_spinlock_unlock(&user->fd_lock);
}

/* An event is queued first and signalled then: either it is seen here, or its signal finds the descriptor calm. */
void
roce_user_calm(struct roce_user *user)
{
	if (!__atomic_load_n(&user->readable, __ATOMIC_RELAXED))
		return;
	rte_spinlock_lock(&user->fd_lock);
	if (!has_events(user))
		set_readable(user, false);
	rte_spinlock_unlock(&user->fd_lock);
}

int
roce_context_fd(struct roce_context *context)
{
	struct roce_user *user = roce_user_of(context);
	int fd = -1, mine, rc = 0;

	rte_spinlock_lock(&user->fd_lock);
	fd = user->fd;
	rte_spinlock_unlock(&user->fd_lock);
	if (fd >= 0)
		return fd;
	mine = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mine < 0)
		rc = -errno;
	rte_spinlock_lock(&user->fd_lock);
	if (user->fd < 0 && mine >= 0) {
		user->fd = mine;
		mine = -1;
		set_readable(user, has_events(user));
	}
	fd = user->fd;
	rte_spinlock_unlock(&user->fd_lock);
	/* Another thread asked at the same moment. */
	if (mine >= 0)
		close(mine);
	return fd >= 0 ? fd : rc;
}
