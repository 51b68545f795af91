/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "dapl/signals.h"
#include "ethdev/signals.h"

void
dapl_signals_hold(struct dapl_signals *signals)
{
	/* ppoll() is where a thread may be cancelled, and others know of this one by its stack. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &signals->cancel);
	roce_signals_block(&signals->callers);
	signals->blocked = signals->callers;
	roce_signals_add_taken(&signals->blocked);
}

bool
dapl_signals_let_in(const struct dapl_signals *signals)
{
	const struct timespec at_once = { 0 };

	/* One that is ignored does not end it. */
	return ppoll(NULL, 0, &at_once, &signals->blocked) < 0 && errno == EINTR;
}

void
dapl_signals_release(const struct dapl_signals *signals)
{
	pthread_sigmask(SIG_SETMASK, &signals->callers, NULL);
	pthread_setcancelstate(signals->cancel, NULL);
}
