/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/shared_port.h"

#include <errno.h>
#include <string.h>

#include <rte_lcore.h>

#include "device/burst.h"
#include "ethdev/pool.h"
#include "ethdev/port_configure.h"
#include "ethdev/port_plan.h"
#include "ethdev/zcrx.h"
#include "local/local.h"
#include "local/ring.h"
#include "observe/log.h"

/** Frames to send, and received ones that are not freed yet. */
#define FRAMES 1024

/** Bursts after which a peer that has ended is taken to have said all: its ring holds no more. */
#define REST_BURSTS (ROCE_RING_BYTES / ROCE_RING_LINE / ROCE_PORT_RX_BURST)

static_assert(ROCE_QPS_LIMIT == 1u << ROCE_QPN_SHIFT, "a process has a number for each queue pair");
static_assert(ROCE_FRAME_LEN_MAX(4096) <= ROCE_RING_FRAME_MAX, "every frame fits a ring");
static_assert(ROCE_ADDRS_MAX <= ROCE_PROTO_ADDRS, "no address is beyond the message");

int
roce_shared_port_check(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	static const char *const others[] = { "ip", "gw", "vlan", "pcp", "neigh", "queues", "qpn" };

	for (size_t i = 0; i < RTE_DIM(others); i++) {
		if (roce_devargs_has(args, others[i]))
			return roce_errmsg_set(errmsg, -EINVAL,
					"%s= is not for port=roced, which all processes share: roced has the "
					"addresses, and each process one engine",
					others[i]);
	}
	return 0;
}

/* Addresses beyond those that a device can have are left out: the first ones are the uplink's. */
static void
take_addresses(struct roce_devargs *args, const struct roce_proto_identity *identity)
{
	uint32_t skip = identity->addrs > ROCE_ADDRS_MAX ? identity->addrs - ROCE_ADDRS_MAX : 0;

	memcpy(args->gw.b, identity->gw, sizeof(args->gw.b));
	args->ip.n = 0;
	for (uint32_t i = 0; i < identity->addrs; i++) {
		struct roce_subnet *subnet = &args->ip.at[args->ip.n];

		/* The loopback address is the last one, and always there. */
		if (i + 1 < identity->addrs && i + 1 + skip >= identity->addrs)
			continue;
		memcpy(subnet->addr.b, identity->addr[i].ip, sizeof(subnet->addr.b));
		subnet->prefix = (uint8_t)identity->addr[i].prefix;
		args->ip.n++;
	}
}

static int
make_pools(struct roce_port *port, struct roce_errmsg *errmsg)
{
	uint32_t room = RTE_PKTMBUF_HEADROOM + ROCE_RING_FRAME_MAX + ROCE_RING_LINE;
	int socket = (int)rte_socket_id();

	if (roce_port_make_tx_pool(port, 0, FRAMES, socket) == 0)
		port->rx_pool[0] = roce_pool_create_apart(
				"r0_roced", FRAMES + port->args->zcrx, room, socket);
	if (port->rx_pool[0] == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for the frames of port roced");
	return roce_port_zcrx_create(port, socket, errmsg);
}

/* A host without an uplink reaches itself, and nobody else. */
static int
refuse_to_resolve(void *arg, const uint8_t ip[16], uint8_t mac[6])
{
	return -EHOSTUNREACH;
}

static int
describe(struct roce_port *port, const struct roce_proto_identity *identity,
		struct roce_errmsg *errmsg)
{
	int rc = roce_port_probe_attached(&port->probe, "roced", RTE_MAX_ETHPORTS, errmsg);

	if (rc != 0)
		return rc;
	port->id = RTE_MAX_ETHPORTS;
	port->attached.mode = ROCE_PORT_SHARED;
	if (identity->uplink == 0)
		port->attached.resolve = refuse_to_resolve;
	memcpy(port->mac.addr_bytes, identity->mac, sizeof(port->mac.addr_bytes));
	snprintf(port->driver, sizeof(port->driver), "roced");
	port->any_memory = true;
	port->zero_copy = port->args->zero_copy;
	return roce_port_fit_mtu(port, identity->mtu, &port->mtu_code, errmsg);
}

int
roce_shared_port_open(const struct roce_port_config *config, struct roce_devargs *args,
		struct roce_port **out, struct roce_errmsg *errmsg)
{
	struct roce_local *local;
	struct roce_port *port;
	int rc = roce_local_open(&local, errmsg);

	if (rc != 0)
		return rc;
	take_addresses(args, roce_local_identity(local));
	port = roce_port_create(config);
	if (port == NULL) {
		roce_local_close(local);
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a port");
	}
	port->local = local;
	port->queue[0].local = local;
	rc = describe(port, roce_local_identity(local), errmsg);
	if (rc == 0)
		rc = make_pools(port, errmsg);
	if (rc != 0) {
		roce_port_close(port);
		return rc;
	}
	*out = port;
	return 0;
}

static void
lock(void *arg)
{
	const struct roce_device *device = arg;

	roce_port_lock(device->port);
}

static void
unlock(void *arg)
{
	const struct roce_device *device = arg;

	roce_port_unlock_inner(device->port);
}

/* Frames that it sent before its end are received: the last ones may say why. */
static void
lose_process(void *arg, uint32_t number)
{
	struct roce_device *device = arg;
	struct roce_port_queue *queue = &device->port->queue[0];

	for (uint32_t i = 0; i < REST_BURSTS && roce_local_is_pending(device->port->local, number);
			i++)
		roce_port_receive(queue, roce_port_now());
	/* Another uplink may follow: connections to other hosts live as long as their retries. */
	if (number == ROCE_PROCESS_UPLINK)
		return;
	roce_domain_break_process(device->domain, (uint16_t)number);
	roce_cm_lose_process(device->cm, (uint16_t)number, roce_port_now());
	ROCE_LOG(INFO, "port roced: process %u has ended, connections to it are broken", number);
}

static void
leave_to_parent(void *arg)
{
	roce_local_abandon(arg);
}

int
roce_shared_port_start(struct roce_device *device, struct roce_errmsg *errmsg)
{
	const struct roce_local_user user = {
		.lock = lock,
		.unlock = unlock,
		.gone = lose_process,
		.arg = device,
	};
	int rc = roce_local_start(device->port->local, &user, device->port->rx_pool[0]);

	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "no thread for port roced: %s", strerror(-rc));
	device->fork = (struct roce_fork){ .child = leave_to_parent, .arg = device->port->local };
	roce_fork_add(&device->fork);
	return 0;
}

void
roce_shared_port_stop(struct roce_device *device)
{
	if (device->port->local == NULL)
		return;
	roce_local_stop(device->port->local);
	if (device->fork.child != NULL)
		roce_fork_remove(&device->fork);
}

int
roce_device_take_service(struct roce_device *device, uint64_t service_id)
{
	struct roce_local *local = device->port->local;

	return local != NULL ? roce_local_listen(local, service_id) : 0;
}

void
roce_device_drop_service(struct roce_device *device, uint64_t service_id)
{
	if (device->port->local != NULL)
		roce_local_unlisten(device->port->local, service_id);
}
