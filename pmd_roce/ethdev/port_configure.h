/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_CONFIGURE_H
#define ROCE_ETHDEV_PORT_CONFIGURE_H

/**
 * @file
 * Configure, set up and start a port of our own, without the features that its driver refuses.
 *
 * A driver may refuse what it offers, and in any of these calls: rte_eth_dev_configure(), rte_eth_dev_set_mtu(),
 * rte_eth_rx_queue_setup(), rte_eth_tx_queue_setup(), rte_eth_dev_start(). It does not say why. So a refusal is followed by further attempts, each
 * from the beginning: without one feature (port_plan.h), without another one, and when none of them alone makes a
 * difference, without more and more of them. An attempt makes a difference when it gets to a later call. A log line
 * names each feature that was given up.
 */

#include "ethdev/port.h"
#include "ethdev/port_plan.h"
#include "observe/errmsg.h"

/**
 * The port is stopped, or was never started. Its pools are made where they are missing.
 *
 * @param plan what it was configured with.
 * @return 0; -EINVAL the driver refuses all of it, or `mtu=` or `queues=` does not fit; -ENODEV it does not start;
 *   -EBUSY; -ENOMEM. The message is that of the attempt which got furthest with most.
 */
int roce_port_configure(
		struct roce_port *port, struct roce_port_plan *plan, struct roce_errmsg *errmsg);

/** Make the pool of what queue @p q sends, for a device that keeps @p desc frames. @return 0; -ENOMEM. */
int roce_port_make_tx_pool(struct roce_port *port, unsigned int q, uint16_t desc, int socket);

#endif
