/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Openers that join a device: checks of their parameters, and of queues that belong to another. The addresses that a device
 * was opened with.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "device/device.h"
#include "device/port_neigh.h"

static_assert(ROCE_DEVICE_ADDRS_MAX == ROCE_ADDRS_MAX, "a program has room for all of a device");

/* Some of those that the program has said: others would not reach its port, or not find it. */
static bool
addresses_are_there(const struct roce_device *device, const struct roce_devargs *args)
{
	for (uint32_t i = 0; i < args->ip.n; i++) {
		const struct roce_subnet *want = &args->ip.at[i], *has = device->args.ip.at;
		uint32_t n = 0;

		while (n < device->args.ip.n && !roce_subnet_equal(&has[n], want))
			n++;
		if (n == device->args.ip.n)
			return false;
	}
	return true;
}

int
roce_device_check_joiner(const struct roce_device *device, const struct roce_devargs *args,
		struct roce_errmsg *errmsg)
{
	const char *name = device->port->probe.name;
	struct roce_devargs same;
	const char *key;
	int rc;

	/* Addresses are each one's own. */
	memcpy(&same, args, sizeof(same));
	memcpy(&same.ip, &device->args.ip, sizeof(same.ip));
	if (device->port->attached.mode != 0) {
		key = addresses_are_there(device, args) ? roce_devargs_differ(&device->args, &same)
							: "ip";
		return key == NULL ? 0
				   : roce_errmsg_set(errmsg, -EBUSY,
						     "port %s is attached with another %s=", name,
						     key);
	}
	rc = roce_devargs_complete(args, errmsg);
	if (rc == 0 && !roce_devargs_equal(&device->args, &same))
		rc = roce_errmsg_set(errmsg, -EBUSY,
				"port %s is open already with other parameters", name);
	return rc;
}

int
roce_device_check_queues(const struct roce_device *devices,
		const struct roce_attach_config *attached, struct roce_errmsg *errmsg)
{
	for (const struct roce_device *d = devices; d != NULL; d = d->next) {
		const struct roce_port *port = d->port;

		if (port->attached.mode != ROCE_ATTACH_QUEUES || port->id != attached->port_id ||
				__atomic_load_n(&port->events.closed, __ATOMIC_ACQUIRE))
			continue;
		for (unsigned int i = 0; i < port->queues * RTE_MAX(attached->engines, 1u); i++) {
			const struct roce_port_queue *queue = &port->queue[i % port->queues];
			unsigned int e = i / port->queues;

			if (queue->rx_queue == attached->rx_queue[e] ||
					queue->tx_queue == attached->tx_queue[e])
				return roce_errmsg_set(errmsg, -EBUSY,
						"a queue of engine %u is that of device %s", e,
						port->probe.name);
		}
	}
	return 0;
}

unsigned int
roce_device_addrs(const struct roce_device *device, uint8_t (*ip)[16], unsigned int max)
{
	const unsigned int n = device->args.ip.n;

	for (unsigned int i = 0; i < RTE_MIN(n, max); i++)
		memcpy(ip[i], device->args.ip.at[i].addr.b, sizeof(ip[i]));
	return n;
}

bool
roce_device_owns_addr(const struct roce_device *device, const uint8_t ip[16])
{
	struct roce_ip addr;

	memcpy(addr.b, ip, sizeof(addr.b));
	return roce_port_own_addr(device->port, &addr) != NULL;
}
