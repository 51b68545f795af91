/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_NEIGHBOUR_SUBNET_H
#define ROCE_NEIGHBOUR_SUBNET_H

/**
 * @file
 * Arithmetic of IP addresses and subnets. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

/** An address of ours and the subnet it lies in. */
struct roce_subnet {
	struct roce_ip addr;
	uint32_t prefix; /**< bits, of 32 for IPv4 and of 128 for IPv6 */
};

/** The IPv6 unspecified address, which also stands for "none". */
static inline bool
roce_ip_is_zero(const struct roce_ip *ip)
{
	return ip->q[0] == 0 && ip->q[1] == 0;
}

/** An address one host on a network can have: not unspecified, loopback, broadcast or multicast. */
bool roce_ip_is_host(const struct roce_ip *ip);

/** The same address, with as many bits before those of the host. */
static inline bool
roce_subnet_equal(const struct roce_subnet *a, const struct roce_subnet *b)
{
	return a->prefix == b->prefix && roce_ip_equal(&a->addr, &b->addr);
}

/** Does @p ip lie in the subnet? */
bool roce_subnet_has(const struct roce_subnet *subnet, const struct roce_ip *ip);

/** The subnet of @p n in which @p ip lies; NULL: none. */
const struct roce_subnet *
roce_subnet_find(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *ip);

/** Is @p ip one of our @p n addresses? */
bool roce_subnet_owns(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *ip);

/** A gateway that can be reached: one of the hosts of our subnets, or none (zero). */
bool roce_subnet_gw_ok(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *gw);

/** The route to an address: its first hop. */
struct roce_route {
	struct roce_ip src; /**< which of our addresses to send from */
	struct roce_ip via; /**< whose MAC address is wanted: the other's, or the gateway's */
};

/**
 * Choose the way to @p dst, through the gateway when it lies in none of our subnets.
 *
 * @param gw    all zero: none.
 * @param route filled when the call returns 0.
 * @return 0; -ENETUNREACH no subnet and no gateway, or not the address of one host; -EHOSTUNREACH our own.
 */
int roce_subnet_route(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *gw,
		const struct roce_ip *dst, struct roce_route *route);

/** Is @p ip the address of everybody in the subnet? IPv4 only; /31 and /32 have none (RFC 3021). */
bool roce_subnet_is_broadcast(const struct roce_subnet *subnet, const struct roce_ip *ip);

/** Is it that, or the address of the subnet itself? No host has either (RFC 1122, 3.2.1.3). IPv4 only. */
bool roce_subnet_is_reserved(const struct roce_subnet *subnet, const struct roce_ip *ip);

#endif
