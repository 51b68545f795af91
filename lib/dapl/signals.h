/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SIGNALS_H
#define DAPL_SIGNALS_H

/**
 * @file
 * Signals while a thread waits. It holds them back from the moment on at which it says that it waits, and lets them in only
 * by calls that tell whether a handler ran: so none is handled unnoticed, whether the thread polls or sleeps.
 *
 * Not those that report a fault of the thread itself, which are handled at once and end no wait; and those of a driver are left
 * to another thread (ethdev/signals.h).
 */

#include <signal.h>
#include <stdbool.h>

/** Of the thread that waits. */
struct dapl_signals {
	sigset_t callers; /**< blocked before */
	sigset_t blocked; /**< while signals are let in */
	int cancel;       /**< could it be cancelled before? While it waits it is not */
};

/** From here on no handler of the caller's runs in this thread. One system call. */
void dapl_signals_hold(struct dapl_signals *signals);

/** Have the handlers of those held back run, if there are any. @return true: one ran. One system call. */
bool dapl_signals_let_in(const struct dapl_signals *signals);

/** As it was before. Those still held back are handled now. One system call. */
void dapl_signals_release(const struct dapl_signals *signals);

#endif
