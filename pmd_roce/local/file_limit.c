/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/file_limit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

bool
roce_file_limit_is_below(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
			limit.rlim_cur < size;
}

static sigset_t
file_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	return set;
}

void
roce_file_limit_begin(struct roce_file_limit *limit)
{
	const sigset_t set = file_signal();

	pthread_sigmask(SIG_BLOCK, &set, &limit->before);
}

/* A thread that had it blocked before, and perhaps pending, finds it so. */
void
roce_file_limit_end(const struct roce_file_limit *limit)
{
	const struct timespec at_once = { 0 };
	const sigset_t set = file_signal();
	int error = errno;

	if (sigismember(&limit->before, SIGXFSZ) == 0) {
		while (sigtimedwait(&set, NULL, &at_once) >= 0)
			;
		pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
	}
	errno = error;
}
