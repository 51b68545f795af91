/* SPDX-License-Identifier: BSD-3-Clause */

/* The port of the uplink: opened, described to roced, and closed. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "ethdev/eal.h"
#include "ethdev/memif.h"
#include "ethdev/pool.h"
#include "ethdev/port_setup.h"
#include "local/ring.h"
#include "observe/log.h"
#include "uplink.h"

/** Frames of processes that are on their way: those that a device keeps, and some bursts. */
#define FRAMES 2048

static_assert(ROCE_FRAME_LEN_MAX(4096) <= ROCE_RING_FRAME_MAX, "every frame fits a ring");

/* ---- what comes from other threads ---- */

/* roced starts another one, which finds the device as it is by then. */
static int
lose_device(uint16_t port_id, enum rte_eth_event_type type, void *arg, void *ret)
{
	struct uplink *uplink = arg;

	__atomic_store_n(&uplink->lost, true, __ATOMIC_RELEASE);
	uplink_end(uplink);
	return 0;
}

static void
suspend(struct uplink *uplink, bool suspended)
{
	uplink_lock(uplink);
	__atomic_store_n(&uplink->port->events.suspended, suspended, __ATOMIC_RELEASE);
	uplink_unlock(uplink);
}

static void
welcome_peer(void *arg)
{
	suspend(arg, false);
}

static void
lose_peer(void *arg)
{
	suspend(arg, true);
}

static int
begin_events(struct uplink *uplink)
{
	static const struct roce_memif_notify notify = {
		.peer_came = welcome_peer,
		.peer_left = lose_peer,
	};
	uint16_t id = uplink->port->id;

	rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_RMV, lose_device, uplink);
	rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_RESET, lose_device, uplink);
	if (uplink->port->probe.memif == NULL)
		return 0;
	return roce_memif_begin(uplink->port->probe.memif, &notify, uplink);
}

static void
end_events(struct uplink *uplink)
{
	uint16_t id = uplink->port->id;

	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_RMV, lose_device, uplink);
	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_RESET, lose_device, uplink);
	if (uplink->port->probe.memif != NULL)
		roce_memif_end(uplink->port->probe.memif);
}

/* ---- the port ---- */

static int
create_neigh(struct uplink *uplink, struct roce_errmsg *errmsg)
{
	struct roce_neigh_config config = {
		.hz = roce_port_hz(),
		.mac = uplink->port->mac,
		.addrs = uplink->args.ip.n,
		.gw = uplink->args.gw,
		.pool = uplink->port->tx_pool[0],
		.memory = roce_pool_memory,
	};
	int rc;

	memcpy(config.addr, uplink->args.ip.at, sizeof(config.addr));
	rc = roce_neigh_create(&config, &uplink->neigh);
	if (rc == -EINVAL)
		return roce_errmsg_set(errmsg, rc, "gw= must be a host in the subnet of one ip=");
	return rc != 0 ? roce_errmsg_set(errmsg, rc, "no memory for neighbours") : 0;
}

static int
check(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	static const char *const others[] = { "vlan", "pcp", "neigh", "queues", "lcores", "qpn" };

	for (size_t i = 0; i < RTE_DIM(others); i++) {
		if (roce_devargs_has(args, others[i]))
			return roce_errmsg_set(
					errmsg, -EINVAL, "%s= is not for an uplink", others[i]);
	}
	if (args->ip.n >= ROCE_PROTO_ADDRS)
		return roce_errmsg_set(errmsg, -EINVAL, "an uplink has at most %d addresses",
				ROCE_PROTO_ADDRS - 1);
	if (!roce_subnet_gw_ok(args->ip.at, args->ip.n, &args->gw))
		return roce_errmsg_set(
				errmsg, -EINVAL, "gw= must be a host in the subnet of one ip=");
	return 0;
}

int
uplink_open_port(struct uplink *uplink, struct roce_errmsg *errmsg)
{
	const struct roce_port_config config = { .args = &uplink->args, .seed = 1 };
	uint32_t room = RTE_PKTMBUF_HEADROOM + ROCE_RING_FRAME_MAX + ROCE_RING_LINE;
	int rc = check(&uplink->args, errmsg);

	if (rc == 0)
		rc = roce_eal_start(&uplink->args, errmsg);
	if (rc != 0)
		return rc;
	roce_log_setup();
	rc = roce_port_open(&config, &uplink->port, errmsg);
	if (rc != 0) {
		uplink->port = NULL;
		return rc;
	}
	uplink->pool = roce_pool_create("uplink", FRAMES, room, (int)rte_socket_id());
	if (uplink->pool == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for the frames of processes");
	rc = create_neigh(uplink, errmsg);
	if (rc == 0)
		rc = uplink_open_cm(uplink, errmsg);
	if (rc == 0 && begin_events(uplink) != 0)
		rc = roce_errmsg_set(errmsg, -ENOMEM, "no thread for the peers of port %s",
				uplink->port->probe.name);
	return rc;
}

/* ---- the identity ---- */

/* Bytes that a frame has behind its Ethernet header, of what the device carries and `mtu=` allows. */
static uint16_t
frame_mtu(const struct roce_port *port)
{
	uint32_t mtu = port->probe.mtu;
	uint16_t current = 0;

	if (mtu == 0) {
		rte_eth_dev_get_mtu(port->id, &current);
		mtu = current;
	}
	/* All processes take the path MTU that fits, as the port did. */
	if (port->args->mtu != 0)
		mtu = RTE_MIN(mtu, ROCE_FRAME_LEN_MAX(port->args->mtu));
	return (uint16_t)RTE_MIN(mtu, (uint32_t)UINT16_MAX);
}

static void
describe(const struct uplink *uplink, struct roce_proto_identity *identity)
{
	const struct roce_devargs *args = &uplink->args;

	*identity = (struct roce_proto_identity){
		.mtu = frame_mtu(uplink->port),
		.uplink = 1,
		.addrs = args->ip.n,
	};
	memcpy(identity->mac, uplink->port->mac.addr_bytes, sizeof(identity->mac));
	memcpy(identity->gw, args->gw.b, sizeof(identity->gw));
	for (uint32_t i = 0; i < args->ip.n; i++) {
		memcpy(identity->addr[i].ip, args->ip.at[i].addr.b, sizeof(identity->addr[i].ip));
		identity->addr[i].prefix = args->ip.at[i].prefix;
	}
}

static void
lock(void *arg)
{
	uplink_lock(arg);
}

static void
unlock(void *arg)
{
	uplink_unlock(arg);
}

/* The last frames of the process, perhaps why it ends, go out with the next bursts: the channel is there until then. */
static void
lose_process(void *arg, uint32_t number)
{
	struct uplink *uplink = arg;

	for (unsigned int i = 0; i < ROCE_RING_BYTES / ROCE_RING_LINE / UPLINK_BURST &&
			roce_local_is_pending(uplink->local, number);
			i++)
		(void)uplink_poll(uplink);
}

int
uplink_attach(struct uplink *uplink, const char *dir, struct roce_errmsg *errmsg)
{
	const struct roce_local_user user = {
		.lock = lock,
		.unlock = unlock,
		.gone = lose_process,
		.arg = uplink,
	};
	struct roce_proto_identity identity;
	int rc;

	describe(uplink, &identity);
	rc = roce_uplink_open(dir, &identity, &uplink->local, errmsg);
	if (rc != 0) {
		uplink->local = NULL;
		return rc;
	}
	rc = roce_local_start(uplink->local, &user, uplink->pool);
	return rc != 0 ? roce_errmsg_set(errmsg, rc, "no thread: %s", strerror(-rc)) : 0;
}

void
uplink_close(struct uplink *uplink)
{
	roce_local_close(uplink->local);
	rte_pktmbuf_free_bulk(uplink->held + uplink->held_at, uplink->held_n);
	if (uplink->port != NULL) {
		end_events(uplink);
		roce_cm_destroy(uplink->cm);
		roce_neigh_destroy(uplink->neigh);
		roce_port_close(uplink->port);
	}
	roce_pool_retire(uplink->pool);
}
