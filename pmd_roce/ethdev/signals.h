/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_SIGNALS_H
#define ROCE_ETHDEV_SIGNALS_H

/**
 * @file
 * Signals are the program's, and its threads': no thread that DPDK starts for us takes one from them.
 */

#include <signal.h>
#include <stdbool.h>

/**
 * Block in this thread, and in those that it starts from here on, all signals but those that report a fault of the thread
 * itself: the kernel ends a process that has one of these blocked, and the EAL handles SIGBUS where hugepages run short.
 * @param before for roce_signals_restore(); NULL is allowed.
 */
void roce_signals_block(sigset_t *before);

/**
 * Back to the mask of before roce_signals_block(). A driver may have written to a socket whose other end is gone
 * (net_virtio_user does): the SIGPIPE of that is dropped, unless the caller had it blocked.
 */
void roce_signals_restore(const sigset_t *before);

/** The EAL was started here, with signals blocked, by a thread that had this mask @p before. One thread at a time. */
void roce_signals_started(const sigset_t *before);

/**
 * @param hold adapters are open: the EAL's interrupt thread takes no signal, or a wait could miss it. When none is, it takes them
 * as the thread did that has started the EAL. It stays behind the last close, and else no signal but SIGKILL would end a
 * process whose own threads have ended. Of an EAL that the program started it changes nothing. One thread at a time, and not
 * the interrupt thread.
 */
void roce_signals_hold(bool hold);

/** The handlers of the signals that a driver may take: SIGIO, and the real-time signals. */
struct roce_signals_handlers {
	void (*of[NSIG])(int);
};

void roce_signals_look(struct roce_signals_handlers *handlers);

/**
 * A device of net_tap or net_tun was made: with each frame the kernel sends the process a signal, and the driver looks for
 * frames only when its handler has run, on whatever thread. The signals that have got a handler since @p before are the
 * driver's, for good, as their handlers are; the EAL's interrupt thread is there for them from here on.
 */
void roce_signals_take(const struct roce_signals_handlers *before);

/** Add the signals of drivers, which no thread of the program needs to take. Any thread. */
void roce_signals_add_taken(sigset_t *set);

#endif
