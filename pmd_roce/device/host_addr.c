/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/host_addr.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

static bool
is_at(const struct sockaddr *addr, const struct roce_ip *ip)
{
	const struct sockaddr_in *v4 = (const void *)addr;
	const struct sockaddr_in6 *v6 = (const void *)addr;

	if (addr == NULL)
		return false;
	if (addr->sa_family == AF_INET)
		return roce_ip_is_v4(ip) &&
				memcmp(ip->b + 12, &v4->sin_addr, sizeof(v4->sin_addr)) == 0;
	return addr->sa_family == AF_INET6 &&
			memcmp(ip->b, &v6->sin6_addr, sizeof(v6->sin6_addr)) == 0;
}

bool
roce_host_has(const struct roce_ip *ip)
{
	struct ifaddrs *first, *at;
	bool has;

	if (getifaddrs(&first) != 0)
		return false;
	for (at = first; at != NULL && !is_at(at->ifa_addr, ip); at = at->ifa_next)
		;
	has = at != NULL;
	freeifaddrs(first);
	return has;
}
