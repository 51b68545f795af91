/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/interrupt_thread.h"

#include <pthread.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_pause.h>

enum state {
	STARTED,
	ASKED,
	DONE,
};

/** The request of one caller, and how far it is; others wait, as that thread does one after the other anyway. */
static struct {
	pthread_mutex_t lock;
	void (*act)(void *arg);
	void *arg;
	enum state state; /**< atomic */
} request = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
set_state(enum state state)
{
	__atomic_store_n(&request.state, state, __ATOMIC_RELEASE);
}

static enum state
state(void)
{
	return __atomic_load_n(&request.state, __ATOMIC_ACQUIRE);
}

/* It waits for the end of rte_eal_alarm_set(), a moment: that call and the free of the alarm are ordered by a lock of DPDK's, which
   the thread sanitizer does not see. For its sake the request is no variable of the stack, either. */
static void
do_here(void *unused)
{
	(void)unused;
	while (state() == STARTED)
		rte_pause();
	/* DONE: this alarm is left of a call that failed. */
	if (state() != ASKED)
		return;
	request.act(request.arg);
	set_state(DONE);
}

void
roce_interrupt_thread_do(void (*act)(void *arg), void *arg)
{
	pthread_mutex_lock(&request.lock);
	request.act = act;
	request.arg = arg;
	set_state(STARTED);
	if (rte_eal_alarm_set(1, do_here, NULL) != 0) {
		set_state(DONE);
		act(arg);
	} else {
		set_state(ASKED);
		while (state() != DONE)
			rte_delay_us_sleep(50);
	}
	pthread_mutex_unlock(&request.lock);
}
