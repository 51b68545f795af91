/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_SETUP_H
#define ROCE_ETHDEV_PORT_SETUP_H

/**
 * @file
 * A port of our own: configured, started, reset and closed; and what both kinds of ports need.
 */

#include <stdint.h>

#include "ethdev/port.h"
#include "observe/errmsg.h"

struct roce_port_config {
	const struct roce_devargs *args;
	uint64_t seed; /**< of injected faults */
};

/**
 * Attach, configure and start a port with pools for its frames.
 *
 * The path MTU is the largest whose frames pass. The MTU of the device is raised for it only when `mtu=` asks or
 * when the wire is ours alone (net_ring, net_null, pcap files): on a real network the others must agree.
 *
 * Hardware gets two seconds for its link, a net_memif client ten for its server.
 *
 * @return 0; -EINVAL the MTU or the number of queues does not fit; -ENODEV; -EBUSY; -ENOMEM.
 */
int roce_port_open(const struct roce_port_config *config, struct roce_port **out,
		struct roce_errmsg *errmsg);

/**
 * Stop, reset, configure and start again, with the same pools. All engines' locks are held: frames that are held
 * stay, those the device had are lost.
 * @return 0; negative: the device is of no use any more.
 */
int roce_port_reset(struct roce_port *port, const struct roce_devargs *args,
		struct roce_errmsg *errmsg);

/** Let the device receive what the addresses of the port want. */
void roce_port_hear_addresses(const struct roce_port *port);

/** Stop and give back; frames still held are freed. NULL is allowed. No thread polls it any more. */
void roce_port_close(struct roce_port *port);

/** A port that has its queues and no device yet. @return NULL: no memory. */
struct roce_port *roce_port_create(const struct roce_port_config *config);

#endif
