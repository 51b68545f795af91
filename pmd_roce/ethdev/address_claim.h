/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_ADDRESS_CLAIM_H
#define ROCE_ETHDEV_ADDRESS_CLAIM_H

/**
 * @file
 * The addresses that a process uses on an interface of the kernel.
 *
 * Packet sockets give every process on an interface every frame, so two processes with one address both answer each
 * peer, and neither gets a connection that lasts. The kernel does not refuse the second, because the address is none of
 * its own. So each address is claimed by a name in the network namespace (an abstract socket, unix(7)), which goes with
 * the process however that ends. Any user of the host may take such a name: a claim warns and refuses nothing. The kernel
 * refuses every message to it.
 */

#include <stdint.h>

#include "engine/engine.h"
#include "neighbour/subnet.h"

struct roce_address_claim {
	uint32_t n;
	int fd[ROCE_ADDRS_MAX];
};

/**
 * Claim addresses, and warn of each that another process has claimed (log roce.port).
 * @param port as in `port=`; without an argument `iface=` there is nothing to claim.
 */
void roce_address_claim(struct roce_address_claim *claim, const char *port,
		const struct roce_subnet *at, uint32_t n);

void roce_address_release(struct roce_address_claim *claim);

#endif
