/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that polls what nobody else polls. Consumers were written for adapters that work by themselves: they look at
 * memory, compute, sleep, or stand at a breakpoint, and call nothing meanwhile; their peers expect answers all the same.
 *
 * It leaves alone what somebody polls, and looks less and less often whether that is still so: a polling consumer
 * meets it a few hundred times a second for some hundred instructions, and never at an engine's lock.
 */

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <rte_common.h>

#include "dapl/eventcount.h"
#include "dapl/ia_list.h"
#include "dapl/progress_thread.h"
#include "dapl/wait.h"

#define NAP_NS      50000L
#define LONG_NAP_NS 1000000L
#define NAPS        400u     /**< in a row before they are long */
#define AWAY_NAP_NS 4000000L /**< the longest while others poll */
#define UNTIL_WOKEN (-1L)    /**< while nothing has begun */
#define REST_NS     (UINT64_C(3600) * NS_PER_S)

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static pthread_t thread;
static bool stop;  /* atomic */
static bool eager; /* before the thread starts */

/* While nothing has begun the thread sleeps on it: until an adapter begins, or the thread is to end. */
static struct dapl_eventcount wakeup;

/** Results of the last looks. */
struct looks {
	unsigned int idle; /**< in a row at which nothing moved */
	long away_ns;      /**< the last nap while there was nothing to do here; 0: there was */
};

/* One look. @return nanoseconds to sleep, below a second; UNTIL_WOKEN; 0: at once again. */
static long
look(struct looks *l)
{
	enum dapl_quiet quiet = eager ? DAPL_QUIET : DAPL_ATTENDED;
	unsigned int moved = 0;

	/*
	 * Tools of DAT 2.0 free an endpoint right behind their last event, and their peers want its acknowledgement all
	 * the same: it does not wait until the consumer is known to be quiet.
	 */
	if (eager)
		moved = dapl_ia_poll_automatic();
	else if (!dapl_wait_sleeps())
		moved = dapl_ia_poll_quiet(&quiet);
	if (quiet != DAPL_QUIET) {
		l->idle = 0;
		l->away_ns = l->away_ns == 0 ? NAP_NS : RTE_MIN(2 * l->away_ns, AWAY_NAP_NS);
		return quiet == DAPL_NOT_BEGUN ? UNTIL_WOKEN : l->away_ns;
	}
	l->away_ns = 0;
	l->idle = moved > 0 ? 0 : l->idle + 1;
	if (moved > 0)
		return 0;
	return l->idle < NAPS ? NAP_NS : LONG_NAP_NS;
}

static void *
progress_thread_main(void *arg)
{
	struct looks looks = { .idle = 0 };

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		uint32_t seen = dapl_eventcount_prepare(&wakeup);
		struct timespec nap = { .tv_nsec = look(&looks) };

		if (nap.tv_nsec == UNTIL_WOKEN) {
			if (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST))
				(void)dapl_eventcount_sleep(&wakeup, seen, REST_NS);
		} else if (nap.tv_nsec > 0) {
			nanosleep(&nap, NULL);
		}
		dapl_eventcount_leave(&wakeup);
	}
	return NULL;
}

void
dapl_progress_thread_wake(void)
{
	if (dapl_eventcount_advance(&wakeup))
		dapl_eventcount_wake(&wakeup);
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
	rc = pthread_create(&thread, NULL, progress_thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

bool
dapl_progress_thread_use(bool beside)
{
	bool runs = true;

	pthread_mutex_lock(&users_lock);
	if (users == 0) {
		eager = beside;
		runs = start();
	}
	if (runs)
		users++;
	pthread_mutex_unlock(&users_lock);
	return runs;
}

void
dapl_progress_thread_forget_parent(void)
{
	pthread_mutex_init(&users_lock, NULL);
	users = 0;
	wakeup = (struct dapl_eventcount){ 0 };
}

void
dapl_progress_thread_drop(void)
{
	pthread_mutex_lock(&users_lock);
	if (--users == 0) {
		__atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
		dapl_progress_thread_wake();
		pthread_join(thread, NULL);
	}
	pthread_mutex_unlock(&users_lock);
}
