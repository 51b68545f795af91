/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_RX_INTERRUPT_H
#define ROCE_ETHDEV_RX_INTERRUPT_H

/**
 * @file
 * Receive interrupts of a port that is our own, where its driver has them: who would nap until he looks again sleeps until
 * a frame is there. The calls for sleepers are in user.h.
 *
 * No driver says beforehand whether it has any, so they are asked for when the port is configured, and without when that
 * fails. Ports that service lcores poll need none, nor do those of a program: it polls, and it sleeps.
 */

#include <stdbool.h>
#include <stdint.h>

struct roce_port;

struct roce_rx_interrupt {
	bool wanted;       /**< to be asked for when the port is configured */
	bool added;        /**< every queue tells on the descriptor */
	bool works;        /**< and its driver has kept its word so far; atomic */
	int epoll;         /**< readable after an interrupt; -1: there is none */
	uint32_t sleepers; /**< atomic */
};

/** The port runs: listen to its queues. Without interrupts nothing happens. No frame moves meanwhile. */
void roce_rx_interrupt_begin(struct roce_port *port);

/** The port is stopped for a while: listen no more. A thread that sleeps goes on sleeping. No frame moves meanwhile. */
void roce_rx_interrupt_end(struct roce_port *port);

/**
 * As roce_device_rx_arm().
 * @param others set when the port cannot any more, and roce_rx_interrupt_disarm() was called for that: its result.
 */
int roce_rx_interrupt_arm(struct roce_port *port, bool *others);

/** Count the interrupts. @return true: there was one, which may have been for another thread that sleeps on. */
bool roce_rx_interrupt_disarm(struct roce_port *port);

/** No thread sleeps, nor will. */
void roce_rx_interrupt_close(struct roce_port *port);

#endif
