/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/signals.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rte_common.h>

#include "ethdev/interrupt_thread.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))

static uint64_t taken; /* a bit for each signal of a driver; atomic */

/** The signal mask of the EAL's interrupt thread, when this library has started it. One thread at a time. */
static struct {
	bool known;
	bool held;
	sigset_t before; /**< of the thread that has started the EAL */
} interrupt_thread;

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

void
roce_signals_restore(const sigset_t *before)
{
	const struct timespec at_once = { 0 };
	sigset_t broken_pipe;

	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	if (!sigismember(before, SIGPIPE))
		(void)sigtimedwait(&broken_pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, before, NULL);
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

static void
unblock_taken(void)
{
	sigset_t set;

	sigemptyset(&set);
	roce_signals_add_taken(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Without a free alarm it would be the mask of the caller. */
static void
set_mask(void *caller)
{
	if (pthread_equal(*(pthread_t *)caller, pthread_self()))
		return;
	if (interrupt_thread.known && !interrupt_thread.held)
		roce_signals_restore(&interrupt_thread.before);
	else if (interrupt_thread.known)
		roce_signals_block(NULL);
	unblock_taken();
}

static void
change_mask(void)
{
	pthread_t self = pthread_self();

	roce_interrupt_thread_do(set_mask, &self);
}

void
roce_signals_started(const sigset_t *before)
{
	interrupt_thread.before = *before;
	interrupt_thread.held = true;
	interrupt_thread.known = true;
}

void
roce_signals_hold(bool hold)
{
	if (!interrupt_thread.known || interrupt_thread.held == hold)
		return;
	interrupt_thread.held = hold;
	change_mask();
}

void
roce_signals_take(const struct roce_signals_handlers *before)
{
	struct roce_signals_handlers now;
	uint64_t bits = 0;

	roce_signals_look(&now);
	for (int number = 1; number < NSIG; number++)
		if (now.of[number] != before->of[number])
			bits |= BIT(number);
	if (bits == 0)
		return;
	__atomic_fetch_or(&taken, bits, __ATOMIC_RELEASE);
	change_mask();
}
