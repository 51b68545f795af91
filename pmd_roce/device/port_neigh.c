/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_neigh.h"

#include <errno.h>

#include <rte_branch_prediction.h>

#include "device/host_addr.h"

#define PATH_TTL 64

#define LOOPBACK_NET 127 /**< first byte of its addresses (RFC 1122 3.2.1.3) */

/* Publish the table's deadline. The table's lock is held. */
static void
set_neigh_at(struct roce_port *port)
{
	__atomic_store_n(&port->neigh_at, roce_neigh_deadline(port->neigh), __ATOMIC_RELAXED);
}

__rte_noinline bool
roce_port_hear_neighbour(struct roce_port *port, const struct rte_mbuf *m, uint64_t now)
{
	bool heard;

	rte_spinlock_lock(&port->neigh_lock);
	heard = roce_neigh_rx(port->neigh, m, now);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	return heard;
}

/* The program's answers are others now. Before they are asked for again: it may change its mind meanwhile. */
static void
ask_program(struct roce_port *port, uint64_t now)
{
	__atomic_exchange_n(&port->neigh_at, ROCE_NEVER, __ATOMIC_ACQ_REL);
	roce_cm_resolved(port->cm, now);
}

__rte_noinline uint16_t
roce_port_poll_neigh(struct roce_port *port, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	bool changed;
	uint16_t n;

	if (port->neigh == NULL) {
		ask_program(port, now);
		return 0;
	}
	rte_spinlock_lock(&port->neigh_lock);
	n = roce_neigh_tx(port->neigh, pkts, max, now);
	changed = roce_neigh_changed(port->neigh);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	/* Comes back through roce_port_resolve(), so without the table's lock. */
	if (changed)
		roce_cm_resolved(port->cm, now);
	return n;
}

static int
resolve_here(struct roce_port *port, const struct roce_subnet *from, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop, uint64_t now)
{
	int rc;

	rte_spinlock_lock(&port->neigh_lock);
	rc = roce_neigh_resolve(port->neigh, from, n, dst, hop, now);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	return rc;
}

/* The way is ours to choose, the address of the first hop is the program's to know. */
static int
resolve_there(const struct roce_port *port, const struct roce_subnet *from, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop)
{
	struct roce_route route;
	int rc = roce_subnet_route(from, n, &port->args->gw, dst, &route);

	if (rc != 0)
		return rc;
	hop->src = route.src;
	if (roce_subnet_owns(port->ip.at, port->ip.n, &route.via)) {
		hop->mac = port->mac;
		return 0;
	}
	rc = port->attached.resolve(port->attached.arg, route.via.b, hop->mac.addr_bytes);
	return rc == 0 || rc == -EAGAIN ? rc : -EHOSTUNREACH;
}

static bool
is_loopback(const struct roce_ip *ip)
{
	static const struct roce_ip v6 = { .b = { [15] = 1 } };

	return (roce_ip_is_v4(ip) && ip->b[12] == LOOPBACK_NET) || roce_ip_equal(ip, &v6);
}

/*
 * Does an address that the shared adapter does not have itself name this host? The loopback addresses do, and those of
 * the host's network interfaces, unless they lie in a subnet of the uplink: who has such an address answers on the wire.
 */
static bool
names_host(const struct roce_port *port, const struct roce_ip *ip)
{
	return is_loopback(ip) ||
			(roce_subnet_find(port->ip.at, port->ip.n, ip) == NULL &&
					roce_host_has(ip));
}

const struct roce_ip *
roce_port_own_addr(const struct roce_port *port, const struct roce_ip *ip)
{
	const struct roce_ip *loopback = NULL;

	for (uint32_t i = 0; i < port->ip.n; i++) {
		const struct roce_ip *own = &port->ip.at[i].addr;

		if (roce_ip_equal(own, ip))
			return own;
		if (is_loopback(own))
			loopback = own;
	}
	return port->local != NULL && names_host(port, ip) ? loopback : NULL;
}

/* This host, behind whose addresses all processes of the shared adapter are. Both ends of such a path have the same one. */
static bool
resolve_to_self(const struct roce_port *port, struct roce_ip *dst, struct roce_neigh_hop *hop)
{
	const struct roce_ip *own = port->local != NULL ? roce_port_own_addr(port, dst) : NULL;

	if (own == NULL)
		return false;
	*dst = *own;
	hop->src = *own;
	hop->mac = port->mac;
	return true;
}

/* Both ends of a path are the context's: one address for both. */
static bool
resolve_to_own(const struct roce_port *port, const struct roce_subnet *own, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop)
{
	if (!roce_subnet_owns(own, n, dst))
		return false;
	hop->src = *dst;
	hop->mac = port->mac;
	return true;
}

/* A path leads back to the port, whose device would not send it frames of its own. */
static void
turn_back(struct roce_port *port)
{
	for (unsigned int q = 0; q < port->queues; q++)
		__atomic_store_n(&port->queue[q].loops, true, __ATOMIC_RELAXED);
}

/* The addresses of a context, with their subnets. @return how many. */
static unsigned int
own_subnets(const struct roce_port *port, const struct roce_context *context,
		struct roce_subnet *own)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < port->ip.n; i++) {
		const struct roce_subnet *subnet = &port->ip.at[i];
		bool all = context == NULL || context->addrs == 0;

		for (uint32_t c = 0; !all && c < context->addrs; c++) {
			if (roce_ip_equal(&context->addr[c], &subnet->addr)) {
				own[n++] = *subnet;
				break;
			}
		}
		if (all)
			own[n++] = *subnet;
	}
	return n;
}

int
roce_port_resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		struct roce_path *path, uint64_t now)
{
	struct roce_port *port = arg;
	struct roce_subnet own[ROCE_ADDRS_MAX];
	struct roce_neigh_hop hop = { 0 };
	unsigned int n = own_subnets(port, context, own);
	struct roce_ip there = *dst;
	int rc;

	if (resolve_to_self(port, &there, &hop) || resolve_to_own(port, own, n, dst, &hop))
		rc = 0;
	else if (port->neigh != NULL)
		rc = resolve_here(port, own, n, dst, &hop, now);
	else
		rc = resolve_there(port, own, n, dst, &hop);
	if (rc == 0 && port->local == NULL && roce_subnet_owns(port->ip.at, port->ip.n, dst))
		turn_back(port);
	/* No host is on-link any more. */
	if (roce_port_events_is_gone(&port->events))
		rc = -EHOSTUNREACH;
	/* All but the MAC also when nobody has told it yet: a passive connection has that from the frame. */
	*path = (struct roce_path){
		.src_mac = port->mac,
		.dst_mac = hop.mac,
		.src_ip = hop.src,
		.dst_ip = there,
		.vlan_tci = port->vlan_tci,
		.tos = port->tos,
		.ttl = PATH_TTL,
		.mtu_code = port->mtu_code,
	};
	return rc;
}

/* On the shared adapter both ends of a path within the host have the same address, and other hosts see no loopback address. */
static bool
may_begin_at(const struct roce_port *port, const struct roce_context *context,
		const struct roce_ip *src, const struct roce_path *path)
{
	struct roce_subnet own[ROCE_ADDRS_MAX];

	if (port->local != NULL && roce_ip_equal(&path->src_ip, &path->dst_ip))
		return roce_ip_equal(src, &path->src_ip);
	return !is_loopback(src) && roce_subnet_owns(own, own_subnets(port, context, own), src) &&
			roce_ip_is_v4(src) == roce_ip_is_v4(&path->dst_ip);
}

int
roce_port_resolve_from(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now)
{
	int rc = roce_port_resolve(arg, context, dst, path, now);

	if (rc != 0 || roce_ip_is_zero(src))
		return rc;
	if (!may_begin_at(arg, context, src, path))
		return -EINVAL;
	path->src_ip = *src;
	return 0;
}
