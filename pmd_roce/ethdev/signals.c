/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/signals.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "ethdev/interrupt_thread.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))

static uint64_t taken; /* a bit for each signal of a driver; atomic */

void
roce_signals_block(sigset_t *before)
{
	static const int faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	sigset_t set;

	sigfillset(&set);
	for (unsigned int i = 0; i < RTE_DIM(faults); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static bool
may_be_taken(int number)
{
	return number == SIGIO || (number >= SIGRTMIN && number <= SIGRTMAX);
}

void
roce_signals_look(struct roce_signals_handlers *handlers)
{
	struct sigaction action;

	for (int number = 1; number < NSIG; number++) {
		handlers->of[number] = SIG_DFL;
		if (may_be_taken(number) && sigaction(number, NULL, &action) == 0)
			handlers->of[number] = action.sa_handler;
	}
}

void
roce_signals_add_taken(sigset_t *set)
{
	uint64_t bits = __atomic_load_n(&taken, __ATOMIC_RELAXED);

	for (int number = 1; bits != 0 && number < NSIG; number++)
		if ((bits & BIT(number)) != 0)
			sigaddset(set, number);
}

/* Without a free alarm it would be the caller's mask. */
static void
unblock_taken(void *caller)
{
	sigset_t set;

	if (pthread_equal(*(pthread_t *)caller, pthread_self()))
		return;
	sigemptyset(&set);
	roce_signals_add_taken(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void
roce_signals_take(const struct roce_signals_handlers *before)
{
	struct roce_signals_handlers now;
	pthread_t self = pthread_self();
	uint64_t bits = 0;

	roce_signals_look(&now);
	for (int number = 1; number < NSIG; number++)
		if (now.of[number] != before->of[number])
			bits |= BIT(number);
	if (bits == 0)
		return;
	__atomic_fetch_or(&taken, bits, __ATOMIC_RELEASE);
	roce_interrupt_thread_do(unblock_taken, &self);
}
