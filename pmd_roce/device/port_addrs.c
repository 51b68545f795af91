/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several devices on one port, each with addresses of its own. The port has the addresses of all: it answers questions
 * about them, and frames to them are ours. From which of them a connection is made, and at which a service is listened
 * to, is the context's to say (struct roce_context).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "ethdev/port_setup.h"

struct addresses {
	uint32_t n;
	struct roce_subnet at[ROCE_ADDRS_MAX];
};

int
roce_device_refuse_gw(struct roce_errmsg *errmsg)
{
	return roce_errmsg_set(errmsg, -EINVAL, "gw= must be a host in the subnet of one ip=");
}

int
roce_device_check_neighbours(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	for (uint32_t i = 0; i < args->neigh.n; i++) {
		const struct roce_ip *ip = &args->neigh.at[i].ip;
		const struct roce_subnet *near = roce_subnet_find(args->ip.at, args->ip.n, ip);

		if (near != NULL && roce_subnet_is_reserved(near, ip))
			return roce_errmsg_set(errmsg, -EINVAL,
					"neigh= must be the address of one host in its subnet");
	}
	return 0;
}

bool
roce_device_is_share(const struct roce_device *first, const struct roce_devargs *args)
{
	/* One that was attached is joined also by who names no address. */
	if (args->ip.n == 0)
		return false;
	if (args->ip.n != first->args.ip.n)
		return true;
	for (uint32_t i = 0; i < args->ip.n; i++) {
		if (!roce_subnet_equal(&args->ip.at[i], &first->args.ip.at[i]))
			return true;
	}
	return false;
}

/* Those of one device among those of others. @return 0; -ENOSPC; -EEXIST: with another prefix. */
static int
add_addresses(struct addresses *all, const struct roce_devargs *args)
{
	for (uint32_t i = 0; i < args->ip.n; i++) {
		const struct roce_subnet *new = &args->ip.at[i];
		uint32_t at = 0;

		while (at < all->n && !roce_ip_equal(&all->at[at].addr, &new->addr))
			at++;
		if (at < all->n && all->at[at].prefix != new->prefix)
			return -EEXIST;
		if (at == ROCE_ADDRS_MAX)
			return -ENOSPC;
		if (at == all->n)
			all->at[all->n++] = *new;
	}
	return 0;
}

/* The addresses of the first and of its shares, in the order of their coming. They fitted when they came. */
static void
collect_addresses(const struct roce_device *first, struct addresses *all)
{
	const struct roce_device *share;

	all->n = 0;
	(void)add_addresses(all, &first->args);
	LIST_FOREACH(share, &first->shares, share)
		(void)add_addresses(all, &share->args);
}

/* From here on these are ours: for the engines, the neighbours and the device. */
static void
set_addresses(struct roce_device *first, const struct addresses *all)
{
	struct roce_port *port = first->port;
	struct roce_ip ip[ROCE_ADDRS_MAX];

	for (uint32_t i = 0; i < all->n; i++)
		ip[i] = all->at[i].addr;
	roce_port_lock(port);
	memcpy(port->ip.at, all->at, all->n * sizeof(all->at[0]));
	port->ip.n = all->n;
	roce_domain_set_addrs(first->domain, ip, all->n);
	if (port->neigh != NULL) {
		rte_spinlock_lock(&port->neigh_lock);
		roce_neigh_set_addrs(port->neigh, all->at, all->n);
		rte_spinlock_unlock(&port->neigh_lock);
	}
	/* The number of a port that was closed under us may be another port's by now. */
	if (port->attached.mode == 0 && !roce_port_events_is_gone(&port->events))
		roce_port_hear_addresses(port);
	roce_port_unlock(port);
}

/* The parameters of the new one fit beside those of the others. */
static int
check_addresses(const struct roce_device *first, const struct roce_devargs *args,
		struct addresses *all, struct roce_errmsg *errmsg)
{
	const char *name = first->port->probe.name;
	const struct roce_ip *gw = &first->args.gw;

	/* An attached device may have more addresses than this one names, and its gateway near one of those. */
	if (roce_subnet_owns(args->ip.at, args->ip.n, gw) ||
			(roce_devargs_has(args, "gw") &&
					!roce_subnet_gw_ok(args->ip.at, args->ip.n, gw)))
		return roce_device_refuse_gw(errmsg);
	collect_addresses(first, all);
	switch (add_addresses(all, args)) {
	case 0:
		return 0;
	case -EEXIST:
		return roce_errmsg_set(errmsg, -EBUSY,
				"port %s has an address of ip= with another prefix", name);
	default:
		return roce_errmsg_set(errmsg, -EBUSY,
				"port %s cannot have so many addresses: %d are the most", name,
				ROCE_ADDRS_MAX);
	}
}

int
roce_device_add_share(struct roce_device *first, const struct roce_devargs *args,
		struct roce_device **out, struct roce_errmsg *errmsg)
{
	struct addresses all;
	struct roce_device *share;
	int rc = check_addresses(first, args, &all, errmsg);

	if (rc != 0)
		return rc;
	share = calloc(1, sizeof(*share));
	if (share == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a device");
	share->first = first;
	/* A parameter that was left out is as the first one set it. */
	memcpy(&share->args, &first->args, sizeof(share->args));
	memcpy(&share->args.ip, &args->ip, sizeof(share->args.ip));
	share->port = first->port;
	share->domain = first->domain;
	share->cm = first->cm;
	LIST_INSERT_HEAD(&first->shares, share, share);
	first->refs++;
	set_addresses(first, &all);
	roce_address_claim(&share->claim, first->args.port, args->ip.at, args->ip.n);
	*out = share;
	return 0;
}

void
roce_device_drop_share(struct roce_device *share)
{
	struct roce_device *first = share->first;
	struct addresses all;

	LIST_REMOVE(share, share);
	roce_address_release(&share->claim);
	free(share);
	collect_addresses(first, &all);
	set_addresses(first, &all);
}
