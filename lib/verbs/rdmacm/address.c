/* SPDX-License-Identifier: BSD-3-Clause */

/* Addresses: of sockets and of libroce; names, by getaddrinfo(3). */

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "roce/device.h"
#include "verbs/rdmacm/cma.h"

#define PORT 1 /**< of the device; it has one */

static const uint8_t v4_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool
cma_is_v4(const uint8_t ip[16])
{
	return memcmp(ip, v4_prefix, sizeof(v4_prefix)) == 0;
}

bool
cma_ip_of(const struct sockaddr *addr, uint8_t ip[16])
{
	const struct sockaddr_in *sin = (const void *)addr;
	const struct sockaddr_in6 *sin6 = (const void *)addr;

	memcpy(ip, v4_prefix, sizeof(v4_prefix));
	if (addr->sa_family == AF_INET) {
		memcpy(ip + sizeof(v4_prefix), &sin->sin_addr, sizeof(sin->sin_addr));
		return true;
	}
	if (addr->sa_family != AF_INET6)
		return false;
	memcpy(ip, &sin6->sin6_addr, sizeof(sin6->sin6_addr));
	return true;
}

void
cma_set_addr(struct sockaddr_storage *to, const uint8_t ip[16], __be16 port)
{
	struct sockaddr_in *sin = (void *)to;
	struct sockaddr_in6 *sin6 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (cma_is_v4(ip)) {
		sin->sin_family = AF_INET;
		sin->sin_port = port;
		memcpy(&sin->sin_addr, ip + sizeof(v4_prefix), sizeof(sin->sin_addr));
	} else {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = port;
		memcpy(&sin6->sin6_addr, ip, sizeof(sin6->sin6_addr));
	}
}

int
cma_gid_index(struct ibv_context *context, const uint8_t ip[16])
{
	union ibv_gid gid;

	for (int i = 0; ibv_query_gid(context, PORT, i, &gid) == 0; i++) {
		if (memcmp(gid.raw, ip, sizeof(gid.raw)) == 0)
			return i;
	}
	return -1;
}

static bool
is_loopback(const uint8_t ip[16])
{
	return cma_is_v4(ip) && ip[sizeof(v4_prefix)] == IN_LOOPBACKNET;
}

bool
cma_is_local(struct ibv_context *context, const uint8_t ip[16])
{
	return roce_device_owns_addr(roce_context_device(verbs_ctx_of(context)->roce), ip);
}

void
cma_source_for(struct ibv_context *context, const uint8_t peer[16], uint8_t ip[16])
{
	bool found = false, local = cma_is_local(context, peer);
	union ibv_gid gid;

	for (int i = 0; ibv_query_gid(context, PORT, i, &gid) == 0; i++) {
		bool family = cma_is_v4(gid.raw) == cma_is_v4(peer);
		bool same = memcmp(gid.raw, peer, sizeof(gid.raw)) == 0 ||
				(is_loopback(gid.raw) && local);

		if (i == 0 || same || (family && !found))
			memcpy(ip, gid.raw, sizeof(gid.raw));
		found |= family;
		if (same)
			break;
	}
}

/* The port stands at the same place in both. */
__be16
cma_port_of(const struct sockaddr *addr)
{
	const struct sockaddr_in *sin = (const void *)addr;

	return addr->sa_family == AF_INET || addr->sa_family == AF_INET6 ? sin->sin_port : 0;
}

void
cma_set_port(struct sockaddr *addr, __be16 port)
{
	((struct sockaddr_in *)(void *)addr)->sin_port = port;
}

socklen_t
cma_addr_len(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in);
}

__be16
rdma_get_src_port(struct rdma_cm_id *id)
{
	return cma_port_of(&id->route.addr.src_addr);
}

__be16
rdma_get_dst_port(struct rdma_cm_id *id)
{
	return cma_port_of(&id->route.addr.dst_addr);
}

static struct sockaddr *
copy_addr(const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr *copy = malloc(len);

	if (copy != NULL)
		memcpy(copy, addr, len);
	return copy;
}

static bool
set_addr(struct sockaddr **to, socklen_t *to_len, const struct sockaddr *addr, socklen_t len)
{
	if (addr == NULL || len == 0)
		return true;
	*to = copy_addr(addr, len);
	*to_len = len;
	return *to != NULL;
}

/* The first address that a name has. */
static bool
add_found(struct rdma_addrinfo *info, const struct addrinfo *found)
{
	info->ai_family = found->ai_family;
	if (info->ai_flags & RAI_PASSIVE)
		return set_addr(&info->ai_src_addr, &info->ai_src_len, found->ai_addr,
				found->ai_addrlen);
	return set_addr(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
}

/* The caller's own addresses stand for those that no name has said. */
static bool
add_wanted(struct rdma_addrinfo *info, const struct rdma_addrinfo *wanted, bool named)
{
	if (!named &&
			!set_addr(&info->ai_dst_addr, &info->ai_dst_len, wanted->ai_dst_addr,
					wanted->ai_dst_len))
		return false;
	return info->ai_src_addr != NULL ||
			set_addr(&info->ai_src_addr, &info->ai_src_len, wanted->ai_src_addr,
					wanted->ai_src_len);
}

/* @p found NULL: no name was given. */
static struct rdma_addrinfo *
describe(const struct addrinfo *found, const struct rdma_addrinfo *wanted)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));

	if (info == NULL)
		return NULL;
	*info = (struct rdma_addrinfo){
		.ai_flags = wanted->ai_flags,
		.ai_family = wanted->ai_family,
		.ai_qp_type = wanted->ai_qp_type != 0 ? wanted->ai_qp_type : IBV_QPT_RC,
		.ai_port_space = wanted->ai_port_space != 0 ? wanted->ai_port_space : RDMA_PS_TCP,
	};
	if ((found == NULL || add_found(info, found)) && add_wanted(info, wanted, found != NULL))
		return info;
	rdma_freeaddrinfo(info);
	return NULL;
}

int
rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		struct rdma_addrinfo **res)
{
	static const struct rdma_addrinfo none;
	const struct rdma_addrinfo *wanted = hints != NULL ? hints : &none;
	struct addrinfo below = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	int rc = 0;

	if (node == NULL && service == NULL && hints == NULL)
		return cma_refuse(EINVAL);
	if (wanted->ai_flags & RAI_FAMILY)
		below.ai_family = wanted->ai_family;
	if (wanted->ai_flags & RAI_PASSIVE)
		below.ai_flags |= AI_PASSIVE;
	if (wanted->ai_flags & RAI_NUMERICHOST)
		below.ai_flags |= AI_NUMERICHOST;
	if (node != NULL || service != NULL)
		rc = getaddrinfo(node, service, &below, &found);
	if (rc != 0)
		return rc;
	*res = describe(found, wanted);
	if (found != NULL)
		freeaddrinfo(found);
	return *res != NULL ? 0 : cma_refuse(ENOMEM);
}

void
rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	while (res != NULL) {
		struct rdma_addrinfo *next = res->ai_next;

		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res);
		res = next;
	}
}
