/* SPDX-License-Identifier: BSD-3-Clause */

/* Addresses and ports as consumers have them, and as the engine and the connection manager have them. */

#include <string.h>

#include "cm/cm.h"
#include "dapl/address.h"

bool
dapl_ip_from_sockaddr(const struct sockaddr *sa, struct roce_ip *ip)
{
	/* A consumer's address may lie anywhere: copied, not cast. */
	union dapl_sockaddr addr;

	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&addr.in, sa, sizeof(addr.in));
		*ip = roce_ip_from_v4(addr.in.sin_addr.s_addr);
		return true;
	case AF_INET6:
		memcpy(&addr.in6, sa, sizeof(addr.in6));
		memcpy(ip->b, &addr.in6.sin6_addr, sizeof(ip->b));
		return true;
	default:
		return false;
	}
}

void
dapl_ip_to_sockaddr(const struct roce_ip *ip, union dapl_sockaddr *out)
{
	memset(out, 0, sizeof(*out));
	if (roce_ip_is_v4(ip)) {
		out->in.sin_family = AF_INET;
		out->in.sin_addr.s_addr = ip->w[3];
	} else {
		out->in6.sin6_family = AF_INET6;
		memcpy(&out->in6.sin6_addr, ip->b, sizeof(ip->b));
	}
}

uint64_t
dapl_service_id(uint64_t conn_qual)
{
	return conn_qual <= UINT16_MAX ? ROCE_CM_SERVICE_TCP + conn_qual : conn_qual;
}
