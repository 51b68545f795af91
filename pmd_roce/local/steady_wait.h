/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_STEADY_WAIT_H
#define ROCE_LOCAL_STEADY_WAIT_H

/**
 * @file
 * Waits of calls that no signal ends. A handler of the program's that runs meanwhile, as often as a profiler has it run,
 * makes them neither shorter nor longer.
 */

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <time.h>

/** Sleep for @p ns nanoseconds, less than a second. */
static inline void
roce_steady_sleep(long ns)
{
	struct timespec left = { .tv_nsec = ns };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static inline int64_t
roce_steady_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/**
 * Wait until @p fd has @p events, at most @p ms milliseconds.
 * @return 0: it has, or an error of its own; -ETIMEDOUT; -errno of poll(2).
 */
static inline int
roce_steady_poll(int fd, short events, int ms)
{
	const int64_t end = roce_steady_ms() + ms;
	struct pollfd wait = { .fd = fd, .events = events };
	int64_t left = ms;
	int rc;

	while ((rc = poll(&wait, 1, (int)left)) < 0 && errno == EINTR) {
		left = end - roce_steady_ms();
		if (left < 0)
			left = 0;
	}
	if (rc < 0)
		return -errno;
	return rc == 0 ? -ETIMEDOUT : 0;
}

#endif
