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

bool
dapl_eventcount_sleep(struct dapl_eventcount *e, uint32_t seen, uint64_t ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_A_SECOND),
		.tv_nsec = (long)(ns % NS_A_SECOND),
	};

	/* With a time limit the kernel never goes on by itself behind a signal that was caught. */
	return syscall(SYS_futex, &e->count, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0) == 0 ||
			errno != EINTR;
}

/** A thread that sleeps on descriptors, where no futex reaches it. */
struct sleeper {
	LIST_ENTRY(sleeper) link;
	const struct dapl_eventcount *on;
	int bell; /**< an eventfd(2) of its own */
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

/* @return false: a signal, and nothing else. */
static bool
poll_for(struct pollfd *fds, nfds_t n, uint64_t ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_A_SECOND),
		.tv_nsec = (long)(ns % NS_A_SECOND),
	};

	/* net_tap has the kernel send a signal with each frame. */
	return ppoll(fds, n, &ts, NULL) >= 0 || errno != EINTR || poll(fds, n, 0) > 0;
}

bool
dapl_eventcount_sleep_on(const struct dapl_eventcount *e, uint32_t seen, uint64_t ns, int readable)
{
	struct sleeper s = { .on = e, .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	struct pollfd fds[] = { { .fd = readable, .events = POLLIN },
		{ .fd = s.bell, .events = POLLIN } };
	bool undisturbed = true;

	/* Out of descriptors: no sleep, and the next may be another. */
	if (s.bell < 0)
		return true;
	lie_down(&s);
	/* A thread that advances behind this look finds the bell. */
	if (__atomic_load_n(&e->count, __ATOMIC_SEQ_CST) == seen)
		undisturbed = poll_for(fds, sizeof(fds) / sizeof(fds[0]), ns);
	get_up(&s);
	close(s.bell);
	return undisturbed;
}

/* Under the lock the bell is its owner's. */
static void
ring_bells(const struct dapl_eventcount *e)
{
	const struct sleeper *s;

	rte_spinlock_lock(&sleepers_lock);
	LIST_FOREACH(s, &sleepers, link)
		if (s->on == e)
			(void)eventfd_write(s->bell, 1);
	rte_spinlock_unlock(&sleepers_lock);
}

void
dapl_eventcount_wake(const struct dapl_eventcount *e)
{
	if (__atomic_load_n(&sleepers_n, __ATOMIC_SEQ_CST) != 0)
		ring_bells(e);
	syscall(SYS_futex, &e->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
