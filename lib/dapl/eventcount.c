/* SPDX-License-Identifier: BSD-3-Clause */

/* The only file that blocks. */

#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/syscall.h>

#include "dapl/eventcount.h"

#define NS_PER_S UINT64_C(1000000000)

bool
dapl_eventcount_sleep(struct dapl_eventcount *e, uint32_t seen, uint64_t ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};

	/* With a time limit the kernel never goes on by itself behind a signal that was caught. */
	return syscall(SYS_futex, &e->count, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0) == 0 ||
			errno != EINTR;
}

void
dapl_eventcount_wake(const struct dapl_eventcount *e)
{
	syscall(SYS_futex, &e->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
