/* SPDX-License-Identifier: BSD-3-Clause */

#include "child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool in_child;

#ifdef __SANITIZE_ADDRESS__

/* The leak sanitizer asks. Memory that a child has lost is its parent's: it has no handle to free it by. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return in_child;
}

#endif

pid_t
begin_child(void (*check)(void **state))
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		const struct CMUnitTest tests[] = { { "in a child", check, NULL, NULL, NULL } };
		int failed;

		in_child = true;
		alarm(CHILD_SECONDS);
		failed = cmocka_run_group_tests(tests, NULL, NULL);
		fflush(NULL);
		_exit(failed != 0);
	}
	return pid;
}

static void
want_good_end(int status)
{
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

bool
child_is_over(pid_t pid)
{
	int status;
	pid_t ended = waitpid(pid, &status, WNOHANG);

	assert_int_not_equal(ended, -1);
	if (ended == 0)
		return false;
	want_good_end(status);
	return true;
}

void
want_child(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	want_good_end(status);
}
