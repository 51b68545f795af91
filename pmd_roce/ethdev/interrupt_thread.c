/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/interrupt_thread.h"

#include <stdbool.h>

#include <rte_alarm.h>
#include <rte_cycles.h>

/** Something that is done on the EAL's interrupt thread, and whether it is done. */
struct apart {
	void (*act)(void *arg);
	void *arg;
	bool done; /**< atomic */
};

static void
do_here(void *arg)
{
	struct apart *apart = arg;

	apart->act(apart->arg);
	__atomic_store_n(&apart->done, true, __ATOMIC_RELEASE);
}

void
roce_interrupt_thread_do(void (*act)(void *arg), void *arg)
{
	struct apart apart = { .act = act, .arg = arg };

	if (rte_eal_alarm_set(1, do_here, &apart) != 0) {
		act(arg);
		return;
	}
	while (!__atomic_load_n(&apart.done, __ATOMIC_ACQUIRE))
		rte_delay_us_sleep(50);
}
