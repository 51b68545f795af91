/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_PORT_NEIGH_H
#define ROCE_DEVICE_PORT_NEIGH_H

/**
 * @file
 * The neighbours of a port: its table, with the lock and the timer of that, or the program that resolves.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "cm/cm.h"
#include "ethdev/port.h"

/** Look at a frame that the engine did not want. Locked. @return true: a word among neighbours that was for us. */
bool roce_port_hear_neighbour(struct roce_port *port, const struct rte_mbuf *m, uint64_t now);

/** Poll the neighbour table, on queue 0, which is locked. @return frames to send, at most @p max; ownership passes. */
uint16_t
roce_port_poll_neigh(struct roce_port *port, struct rte_mbuf **pkts, uint16_t max, uint64_t now);

/**
 * The address of the port by which it reaches itself when it connects to @p ip: the same, or on the shared adapter that of
 * the loopback network, for all other addresses of this host. NULL: @p ip is not here. May ask the kernel.
 */
const struct roce_ip *roce_port_own_addr(const struct roce_port *port, const struct roce_ip *ip);

/** Resolve the path to an address, from the address that the route has for it. @p arg is the port. Locked: engine 0. */
int roce_port_resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		struct roce_path *path, uint64_t now);

/** The same as roce_cm_resolve_fn. */
int roce_port_resolve_from(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now);

#endif
