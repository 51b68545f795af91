/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that a driver causes in a thread of the program stay where they came from. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "ethdev/signals.h"
#include "rules.h"

static unsigned int taken;

static void
take(int number)
{
	(void)number;
	taken++;
}

static int
setup(void **state)
{
	taken = 0;
	signal(SIGPIPE, take);
	signal(SIGUSR1, take);
	return 0;
}

static int
teardown(void **state)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	return 0;
}

/* As a driver does whose peer has closed the socket. */
static void
write_to_nobody(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(write(ends[1], "", 1), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

static bool
is_pending(int number)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, number) == 1;
}

UNIT_RULE(restore__drops_the_sigpipe_of_a_driver)
{
	sigset_t before, after;

	roce_signals_block(&before);
	write_to_nobody();
	assert_true(is_pending(SIGPIPE));
	roce_signals_restore(&before);
	assert_int_equal(taken, 0);
	assert_false(is_pending(SIGPIPE));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGPIPE), 0);
}

UNIT_RULE(restore__delivers_every_other_signal)
{
	sigset_t before;

	roce_signals_block(&before);
	raise(SIGUSR1);
	assert_int_equal(taken, 0);
	roce_signals_restore(&before);
	assert_int_equal(taken, 1);
}

/* It may be one of the caller's own, which is waiting for sigwait(3). */
UNIT_RULE(restore__leaves_a_sigpipe_that_the_caller_had_blocked)
{
	sigset_t blocked, before;
	int number;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	raise(SIGPIPE);
	roce_signals_block(&before);
	roce_signals_restore(&before);
	assert_true(is_pending(SIGPIPE));
	assert_int_equal(sigwait(&blocked, &number), 0);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	assert_int_equal(taken, 0);
}
