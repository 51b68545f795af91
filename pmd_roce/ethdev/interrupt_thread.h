/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_INTERRUPT_THREAD_H
#define ROCE_ETHDEV_INTERRUPT_THREAD_H

/**
 * @file
 * The EAL's interrupt thread, where net_memif does what its channels ask for.
 *
 * net_memif takes a connection down on the thread that stops or closes the port, and on the EAL's interrupt thread when
 * the peer goes. It does not expect both at once, and frees memory twice. So that is done where it cannot meet itself.
 * The thread's own signal mask is changed here, too (signals.h).
 */

/** Do something on the EAL's interrupt thread. Returns when it is done. */
void roce_interrupt_thread_do(void (*act)(void *arg), void *arg);

#endif
