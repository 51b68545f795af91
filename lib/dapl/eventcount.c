/* SPDX-License-Identifier: BSD-3-Clause */

/* The only file that blocks. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/syscall.h>

#include <rte_spinlock.h>

#include "dapl/eventcount.h"

#define NS_A_SECOND UINT64_C(1000000000)
#define DEAF_NS     UINT64_C(50000) /**< the longest sleep without a bell */

void
dapl_eventcount_sleep(struct dapl_eventcount *e, uint32_t seen, uint64_t ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_A_SECOND),
		.tv_nsec = (long)(ns % NS_A_SECOND),
	};

	(void)syscall(SYS_futex, &e->count, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0);
}

/** A waiter that sleeps on descriptors, where no futex reaches it. */
struct sleeper {
	LIST_ENTRY(sleeper) link;
	const struct dapl_eventcount *on;
	int bell; /**< an eventfd(2) */
};

static LIST_HEAD(, sleeper) sleepers = LIST_HEAD_INITIALIZER(sleepers);
static unsigned int sleepers_n; /* on the list; atomic */
static rte_spinlock_t sleepers_lock = RTE_SPINLOCK_INITIALIZER;

static void
lie_down(struct sleeper *s)
{
	rte_spinlock_lock(&sleepers_lock);
	LIST_INSERT_HEAD(&sleepers, s, link);
	__atomic_fetch_add(&sleepers_n, 1, __ATOMIC_SEQ_CST);
	rte_spinlock_unlock(&sleepers_lock);
}

static void
get_up(struct sleeper *s)
{
	rte_spinlock_lock(&sleepers_lock);
	LIST_REMOVE(s, link);
	__atomic_fetch_sub(&sleepers_n, 1, __ATOMIC_SEQ_CST);
	rte_spinlock_unlock(&sleepers_lock);
}

/* A bell that was rung is silenced, or the next sleep would end at once. @return false: a handler of a signal ran. */
static bool
poll_for(int bell, int readable, uint64_t ns, const sigset_t *blocked)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_A_SECOND),
		.tv_nsec = (long)(ns % NS_A_SECOND),
	};
	/* A descriptor that is negative is passed over. */
	struct pollfd fds[] = { { .fd = bell, .events = POLLIN },
		{ .fd = readable, .events = POLLIN } };
	eventfd_t rung;

	if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), &ts, blocked) < 0)
		return errno != EINTR;
	if (fds[0].revents != 0)
		(void)eventfd_read(bell, &rung);
	return true;
}

bool
dapl_eventcount_sleep_on(const struct dapl_eventcount *e, uint32_t seen, uint64_t ns, int readable,
		struct dapl_bed *bed)
{
	struct sleeper s = { .on = e };
	bool undisturbed = true;

	if (bed->bell < 0)
		bed->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bed->bell < 0)
		return poll_for(-1, readable, ns < DEAF_NS ? ns : DEAF_NS, bed->blocked);
	s.bell = bed->bell;
	lie_down(&s);
	/* A thread that advances behind this look finds the bell. */
	if (__atomic_load_n(&e->count, __ATOMIC_SEQ_CST) == seen)
		undisturbed = poll_for(s.bell, readable, ns, bed->blocked);
	get_up(&s);
	return undisturbed;
}

void
dapl_bed_leave(struct dapl_bed *bed)
{
	if (bed->bell >= 0)
		close(bed->bell);
	bed->bell = -1;
}

/* Under the lock the bell is its owner's. @return true: somebody sleeps. */
static bool
ring_bells(const struct dapl_eventcount *e)
{
	const struct sleeper *s;
	bool any = false;

	rte_spinlock_lock(&sleepers_lock);
	LIST_FOREACH(s, &sleepers, link) {
		if (s->on != e)
			continue;
		(void)eventfd_write(s->bell, 1);
		any = true;
	}
	rte_spinlock_unlock(&sleepers_lock);
	return any;
}

void
dapl_eventcount_wake(const struct dapl_eventcount *e)
{
	if (__atomic_load_n(&sleepers_n, __ATOMIC_SEQ_CST) != 0 && ring_bells(e))
		return;
	syscall(SYS_futex, &e->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
