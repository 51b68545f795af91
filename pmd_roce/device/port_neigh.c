/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_neigh.h"

#include <errno.h>

#include <rte_branch_prediction.h>

#define PATH_TTL 64

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
	int rc = port->neigh != NULL ? resolve_here(port, own, n, dst, &hop, now)
				     : resolve_there(port, own, n, dst, &hop);

	/* No host is on-link any more. */
	if (roce_port_events_is_gone(&port->events))
		rc = -EHOSTUNREACH;
	/* All but the MAC also when nobody has told it yet: a passive connection has that from the frame. */
	*path = (struct roce_path){
		.src_mac = port->mac,
		.dst_mac = hop.mac,
		.src_ip = hop.src,
		.dst_ip = *dst,
		.vlan_tci = port->vlan_tci,
		.tos = port->tos,
		.ttl = PATH_TTL,
		.mtu_code = port->mtu_code,
	};
	return rc;
}
