/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/subnet.h"

#include <errno.h>

#include <rte_byteorder.h>
#include <rte_common.h>

bool
roce_ip_is_host(const struct roce_ip *ip)
{
	if (roce_ip_is_v4(ip))
		return ip->b[12] != 0 && ip->b[12] != 127 && ip->b[12] < 224;
	if (ip->b[0] == 0xff)
		return false;
	return ip->q[0] != 0 || ip->w[2] != 0 || rte_be_to_cpu_32(ip->w[3]) > 1;
}

bool
roce_subnet_has(const struct roce_subnet *subnet, const struct roce_ip *ip)
{
	bool v4 = roce_ip_is_v4(ip);
	uint32_t bits = subnet->prefix + (v4 ? 96 : 0);

	if (v4 != roce_ip_is_v4(&subnet->addr))
		return false;
	for (uint32_t byte = 0; byte < 16 && bits > 0; byte++) {
		uint32_t take = RTE_MIN(bits, 8u);
		uint8_t mask = (uint8_t)(0xff << (8 - take));

		if (((ip->b[byte] ^ subnet->addr.b[byte]) & mask) != 0)
			return false;
		bits -= take;
	}
	return true;
}

bool
roce_subnet_is_broadcast(const struct roce_subnet *subnet, const struct roce_ip *ip)
{
	uint32_t host;

	if (!roce_ip_is_v4(ip) || subnet->prefix >= 31)
		return false;
	host = UINT32_MAX >> subnet->prefix;
	return (rte_be_to_cpu_32(ip->w[3]) & host) == host;
}

bool
roce_subnet_is_reserved(const struct roce_subnet *subnet, const struct roce_ip *ip)
{
	if (!roce_ip_is_v4(ip) || subnet->prefix >= 31)
		return false;
	return (rte_be_to_cpu_32(ip->w[3]) & UINT32_MAX >> subnet->prefix) == 0 ||
			roce_subnet_is_broadcast(subnet, ip);
}

const struct roce_subnet *
roce_subnet_find(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *ip)
{
	for (unsigned int i = 0; i < n; i++) {
		if (roce_subnet_has(&subnet[i], ip))
			return &subnet[i];
	}
	return NULL;
}

bool
roce_subnet_owns(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *ip)
{
	for (unsigned int i = 0; i < n; i++) {
		if (roce_ip_equal(&subnet[i].addr, ip))
			return true;
	}
	return false;
}

bool
roce_subnet_gw_ok(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *gw)
{
	const struct roce_subnet *near = roce_subnet_find(subnet, n, gw);

	return roce_ip_is_zero(gw) ||
			(near != NULL && !roce_subnet_is_reserved(near, gw) &&
					!roce_subnet_owns(subnet, n, gw));
}

int
roce_subnet_route(const struct roce_subnet *subnet, unsigned int n, const struct roce_ip *gw,
		const struct roce_ip *dst, struct roce_route *route)
{
	const struct roce_ip *via = dst;
	const struct roce_subnet *near;

	if (!roce_ip_is_host(dst))
		return -ENETUNREACH;
	if (roce_subnet_owns(subnet, n, dst))
		return -EHOSTUNREACH;
	near = roce_subnet_find(subnet, n, dst);
	if (near == NULL && roce_ip_is_v4(dst) == roce_ip_is_v4(gw)) {
		via = gw;
		near = roce_ip_is_zero(gw) ? NULL : roce_subnet_find(subnet, n, gw);
	}
	if (near == NULL || roce_subnet_is_reserved(near, via))
		return -ENETUNREACH;
	*route = (struct roce_route){ .src = near->addr, .via = *via };
	return 0;
}
