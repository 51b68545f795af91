/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that turns what nobody else turns. Consumers of DAT 2.0 were written for adapters that work by themselves:
 * they look at memory, or compute, and call nothing meanwhile.
 */

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "dapl/dapl.h"

#define NAP_NS      50000L
#define LONG_NAP_NS 1000000L
#define NAPS        400u /**< in a row before they are long */

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static pthread_t thread;
static bool stop; /* atomic */

static void *
run(void *arg)
{
	unsigned int idle = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		struct timespec nap = { .tv_nsec = idle < NAPS ? NAP_NS : LONG_NAP_NS };

		if (dapl_ia_poll_others(NULL) > 0) {
			idle = 0;
			continue;
		}
		idle++;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

/* Signals are the consumer's, and its threads'. */
static bool
start(void)
{
	sigset_t all, before;
	int rc;

	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

bool
dapl_progress_thread_use(void)
{
	bool runs = true;

	pthread_mutex_lock(&users_lock);
	if (users == 0)
		runs = start();
	if (runs)
		users++;
	pthread_mutex_unlock(&users_lock);
	return runs;
}

void
dapl_progress_thread_forget_parent(void)
{
	pthread_mutex_lock(&users_lock);
	if (--users == 0) {
		__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
	}
	pthread_mutex_unlock(&users_lock);
}
