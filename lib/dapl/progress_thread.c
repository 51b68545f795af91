/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that polls what no other thread polls. Consumers were written for adapters that work by themselves: they read
 * memory, compute, sleep, or stand at a breakpoint, and call nothing meanwhile; their peers expect answers all the same.
 *
 * It leaves alone what another thread polls, and checks less and less often whether that is still so: a polling consumer
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

#define SLEEP_NS      50000L
#define LONG_SLEEP_NS 1000000L
#define SLEEPS        400u     /**< in a row before they are long */
#define AWAY_SLEEP_NS 4000000L /**< the longest while others poll */
#define UNTIL_WOKEN   (-1L)    /**< while nothing has begun */
#define REST_NS       (UINT64_C(3600) * NS_PER_S)

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static pthread_t thread;
static bool stop;        /* atomic */
static bool poll_always; /* before the thread starts */

/* While nothing has begun the thread sleeps on it: until an adapter begins, or the thread is to end. */
static struct dapl_eventcount wakeup;

/** Results of the last visits. */
struct visits {
	unsigned int idle; /**< in a row at which nothing moved */
	long away_ns;      /**< the last sleep while there was nothing to do here; 0: there was */
};

/* One visit to all adapters. @return nanoseconds to sleep, below a second; UNTIL_WOKEN; 0: at once again. */
static long
visit(struct visits *v)
{
	enum dapl_polling polling = poll_always ? DAPL_UNPOLLED : DAPL_POLLED;
	unsigned int moved = 0;

	/*
	 * Tools of DAT 2.0 free an endpoint right behind their last event, and their peers want its acknowledgement all
	 * the same: it does not wait until the consumer is known not to poll.
	 */
	if (poll_always)
		moved = dapl_ia_poll_automatic();
	else if (!dapl_wait_sleeps())
		moved = dapl_ia_poll_unpolled(&polling);
	if (polling != DAPL_UNPOLLED) {
		v->idle = 0;
		v->away_ns = v->away_ns == 0 ? SLEEP_NS : RTE_MIN(2 * v->away_ns, AWAY_SLEEP_NS);
		return polling == DAPL_NOT_BEGUN ? UNTIL_WOKEN : v->away_ns;
	}
	v->away_ns = 0;
	v->idle = moved > 0 ? 0 : v->idle + 1;
	if (moved > 0)
		return 0;
	return v->idle < SLEEPS ? SLEEP_NS : LONG_SLEEP_NS;
}

static void *
progress_thread_main(void *arg)
{
	struct visits visits = { .idle = 0 };

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		uint32_t seen = dapl_eventcount_prepare(&wakeup);
		struct timespec duration = { .tv_nsec = visit(&visits) };

		if (duration.tv_nsec == UNTIL_WOKEN) {
			if (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST))
				dapl_eventcount_sleep(&wakeup, seen, REST_NS);
		} else if (duration.tv_nsec > 0) {
			nanosleep(&duration, NULL);
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
dapl_progress_thread_use(bool always)
{
	bool runs = true;

	pthread_mutex_lock(&users_lock);
	if (users == 0) {
		poll_always = always;
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
