/* SPDX-License-Identifier: BSD-3-Clause */
/* A process whose own threads have ended: those of DPDK, which stay behind the last close, keep it (udapl-roce(7)). */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "rig.h"

static void
leave_threads(void **state)
{
	assert_int_equal(rig_begin_end(state), 0);
	assert_int_equal(rig_sweep(state), 0);
	/* The mask is given back at each last close, not at the first one alone. */
	assert_int_equal(rig_begin_end(state), 0);
	assert_int_equal(rig_sweep(state), 0);
	pthread_exit(NULL);
}

/* Of a process whose first thread has ended the kernel shows that one as a zombie. */
static bool
has_left(pid_t pid)
{
	char path[64], line[512] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	return strstr(line, ") Z ") != NULL;
}

static bool
has_ended(pid_t pid, int *status)
{
	pid_t ended = waitpid(pid, status, WNOHANG);

	assert_int_not_equal(ended, -1);
	return ended == pid;
}

static void
signal__ends_a_process_that_only_threads_of_dpdk_keep(void **state)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	time_t limit = time(NULL) + test_limit_s();
	pid_t child = begin_child(leave_threads);
	bool left = false;
	int status = 0;

	while (!has_ended(child, &status)) {
		if (!left && has_left(child)) {
			left = true;
			kill(child, SIGTERM);
		}
		if (time(NULL) > limit)
			kill(child, SIGKILL);
		nanosleep(&nap, NULL);
	}
	assert_true(left);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

const struct CMUnitTest tests[] = {
	rig_test(signal__ends_a_process_that_only_threads_of_dpdk_keep),
	tests_end,
};
