/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_probe.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_common.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_pci.h>
#include <rte_string_fns.h>

#include "port/capture.h"
#include "port/compat.h"
#include "port/eal.h"
#include "port/loop.h"

enum origin {
	FOUND = 1, /* by name: somebody else made it */
	PROBED,
	LOOPED,
};

/* Buffers of a memif ring: chained transmit into smaller ones corrupts frames in DPDK 22.11. */
#define MEMIF_BSIZE         8192
#define MEMIF_BSIZE_DEFAULT 2048

#define PACKET_FRAME_DEFAULT 2048

/* What the kernel puts in front of a frame in a packet ring, and a frame's link header. */
#define PACKET_RING_OVERHEAD 128
#define LINK_OVERHEAD        18

#define ETHER_MTU 1500

/* net_bonding wants to be called at least every 100 ms. */
#define LACP_MS 50

/*
 * net_af_xdp shares the receive buffers with the kernel, which takes objects of a pool of 2048 to 4096 bytes and puts
 * 256 of its own in front of a frame. 2048 buffers are in the kernel's hands from the start, as many may hold what was
 * received, and as many the copies that the driver makes of what is sent.
 */
#define XDP_ROOM     3072
#define XDP_OVERHEAD 256
#define XDP_FRAMES   (3 * 2048)

/* Ours among the owners of ports, so that an appliance sees that a port is taken. */
static struct rte_eth_dev_owner owner;

/* The next value of @p key from the comma at or behind @p p, copied to @p value; NULL: no more, else where to go on. */
static const char *
next_arg(const char *p, const char *key, char *value, size_t len)
{
	size_t key_len = strlen(key);

	while ((p = strchr(p, ',')) != NULL) {
		p++;
		if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
			size_t n = strcspn(p + key_len + 1, ",");

			n = RTE_MIN(n, len - 1);
			memcpy(value, p + key_len + 1, n);
			value[n] = '\0';
			return p;
		}
	}
	return NULL;
}

/* The value of @p key in the arguments behind the port's name, copied to @p value; false: not there. */
static bool
find_arg(const char *port, const char *key, char *value, size_t len)
{
	return next_arg(port, key, value, len) != NULL;
}

static uint32_t
find_number(const char *port, const char *key)
{
	char value[16];

	return find_arg(port, key, value, sizeof(value)) ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

/* MTU of an interface of the kernel; 0: there is none of that name. */
static uint32_t
interface_mtu(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request;
	uint32_t mtu = 0;

	if (fd < 0)
		return 0;
	memset(&request, 0, sizeof(request));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
		mtu = (uint32_t)request.ifr_mtu;
	close(fd);
	return mtu;
}

/* The driver's part of a virtual device's name: "net_memif" of "net_memif0,role=server". */
static bool
driver_is(const char *port, const char *driver)
{
	return strncmp(port, driver, strlen(driver)) == 0;
}

/* Append an argument, unless it is there. */
static int
add_arg(char *port, const char *key, unsigned int number)
{
	char value[4];
	size_t used = strlen(port);
	int len;

	if (find_arg(port, key, value, sizeof(value)))
		return 0;
	len = snprintf(port + used, ROCE_DEVARGS_PORT_LEN - used, ",%s=%u", key, number);
	return len < 0 || (size_t)len >= ROCE_DEVARGS_PORT_LEN - used ? -EINVAL : 0;
}

static int
prepare_memif(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	char role[8];
	uint32_t size;

	/* By default it is a client. */
	a->waits_for_peer = !find_arg(a->port, "role", role, sizeof(role)) ||
			(strcmp(role, "server") != 0 && strcmp(role, "master") != 0);
	if (a->origin != FOUND && add_arg(a->port, "bsize", MEMIF_BSIZE) != 0)
		return roce_errmsg_set(why, -EINVAL, "port=%.64s... is too long", a->port);
	size = find_number(a->port, "bsize");
	if (size == 0)
		size = MEMIF_BSIZE_DEFAULT;
	a->mtu = size - RTE_MIN(size, (uint32_t)LINK_OVERHEAD);
	return 0;
}

static int
prepare_af_packet(
		const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	uint32_t mtu, frame;
	char name[IF_NAMESIZE];

	if (!find_arg(a->port, "iface", name, sizeof(name)))
		return roce_errmsg_set(why, -EINVAL, "port=%.64s needs iface=", a->port);
	mtu = interface_mtu(name);
	if (mtu == 0)
		return roce_errmsg_set(why, -ENODEV, "port=%.64s: no interface %s", a->port, name);
	frame = find_number(a->port, "framesz");
	if (a->origin != FOUND && frame == 0 && mtu > ETHER_MTU) {
		/* A path MTU above 4096 does not exist, so larger frames are never ours. */
		frame = RTE_MIN(mtu, (uint32_t)ROCE_FRAME_LEN_MAX(4096)) + LINK_OVERHEAD +
				PACKET_RING_OVERHEAD;
		frame = rte_align32pow2(frame);
		if (add_arg(a->port, "framesz", frame) != 0 ||
				add_arg(a->port, "blocksz", frame * 8) != 0)
			return roce_errmsg_set(why, -EINVAL, "port=%.64s... is too long", a->port);
	}
	if (frame == 0)
		frame = PACKET_FRAME_DEFAULT;
	if (a->origin != FOUND && args->queues > 1 && add_arg(a->port, "qpairs", args->queues) != 0)
		return roce_errmsg_set(why, -EINVAL, "port=%.64s... is too long", a->port);
	a->mtu = RTE_MIN(mtu, frame - RTE_MIN(frame, (uint32_t)PACKET_RING_OVERHEAD));
	/* The driver copies whatever fits its ring frame into one buffer. */
	a->rx_room = frame;
	return 0;
}

/* Files take frames of any size; a live interface only what its MTU allows. */
static int
prepare_pcap(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	static const char *const keys[] = { "iface", "tx_iface", "rx_iface", "rx_iface_in" };
	char name[IF_NAMESIZE];

	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		uint32_t mtu;

		if (!find_arg(a->port, keys[i], name, sizeof(name)))
			continue;
		mtu = interface_mtu(name);
		if (mtu == 0)
			return roce_errmsg_set(
					why, -ENODEV, "port=%.64s: no interface %s", a->port, name);
		a->mtu = a->mtu == 0 ? mtu : RTE_MIN(a->mtu, mtu);
	}
	a->may_raise_mtu = a->mtu == 0;
	return 0;
}

static int
prepare_null(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	a->may_raise_mtu = true;
	/* The driver believes that any frame it makes up fits. */
	a->rx_room = find_number(a->port, "size");
	return 0;
}

static int
prepare_tap(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	a->mtu = ETHER_MTU;
	return 0;
}

static int
prepare_af_xdp(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	uint32_t mtu;
	char name[IF_NAMESIZE];

	if (!find_arg(a->port, "iface", name, sizeof(name)))
		return roce_errmsg_set(why, -EINVAL, "port=%.64s needs iface=", a->port);
	mtu = interface_mtu(name);
	if (mtu == 0)
		return roce_errmsg_set(why, -ENODEV, "port=%.64s: no interface %s", a->port, name);
	if (a->origin != FOUND && args->queues > 1 &&
			add_arg(a->port, "queue_count", args->queues) != 0)
		return roce_errmsg_set(why, -EINVAL, "port=%.64s... is too long", a->port);
	a->mtu = RTE_MIN(mtu, (uint32_t)(XDP_ROOM - XDP_OVERHEAD - LINK_OVERHEAD));
	a->rx_room = XDP_ROOM;
	a->rx_frames = XDP_FRAMES;
	a->forgets_frames = true;
	return 0;
}

/* The arguments somebody made the port with, in the place where the user's would stand. */
static void
recall_args(struct roce_port_probe *a)
{
	const struct rte_devargs *made = NULL;
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(a->port_id, &info) == 0 && info.device != NULL)
		made = rte_dev_devargs(info.device);
	if (made != NULL && made->args != NULL && made->args[0] != '\0')
		snprintf(a->port, sizeof(a->port), "%s,%s", a->name, made->args);
}

static int
prepare(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why);

/* A slave by name or, as the driver allows, by number. False: there is none, or it has slaves itself. */
static bool
find_slave(struct roce_port_probe *slave, const char *name)
{
	char *end;

	slave->origin = FOUND;
	if (rte_eth_dev_get_port_by_name(name, &slave->port_id) != 0) {
		slave->port_id = (uint16_t)strtoul(name, &end, 10);
		if (end == name || *end != '\0' || !rte_eth_dev_is_valid_port(slave->port_id))
			return false;
	}
	if (rte_eth_dev_get_name_by_port(slave->port_id, slave->name) != 0)
		return false;
	rte_strlcpy(slave->port, slave->name, sizeof(slave->port));
	return !driver_is(slave->name, "net_bonding");
}

/* What one slave of a bonding device carries and wants goes for the whole. */
static int
add_slave(const struct roce_devargs *args, struct roce_port_probe *bond, const char *name,
		struct roce_errmsg *why)
{
	struct roce_port_probe slave = { 0 };
	int rc;

	if (!find_slave(&slave, name))
		return roce_errmsg_set(why, -ENODEV,
				"port=%.64s: there is no port %s that can be a " ROCE_BOND_MEMBER
				"; they are made first, by --vdev= in UDAPL_ROCE_EAL",
				bond->name, name);
	recall_args(&slave);
	rc = prepare(args, &slave, why);
	if (rc != 0)
		return rc;
	/* The bonding driver sets its own MTU on every slave, and on the kernel's interface below. */
	if (!slave.may_raise_mtu)
		slave.mtu = slave.mtu == 0 ? ETHER_MTU : RTE_MIN(slave.mtu, (uint32_t)ETHER_MTU);
	if (slave.mtu != 0)
		bond->mtu = bond->mtu == 0 ? slave.mtu : RTE_MIN(bond->mtu, slave.mtu);
	bond->rx_room = RTE_MAX(bond->rx_room, slave.rx_room);
	bond->rx_frames += slave.rx_frames;
	return 0;
}

static int
prepare_bonding(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	const char *p = a->port;
	char name[sizeof(a->name)];

	while ((p = next_arg(p, ROCE_BOND_MEMBER, name, sizeof(name))) != NULL) {
		int rc = add_slave(args, a, name, why);

		if (rc != 0)
			return rc;
	}
	a->may_raise_mtu = a->mtu == 0;
	/* LACP speaks, and finds its partner, only inside the calls for frames. */
	a->idle_tx_ms = LACP_MS;
	return 0;
}

/* What must be known of a driver before its device is made. */
static int
prepare(const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	static const struct {
		const char *driver;
		int (*prepare)(const struct roce_devargs *args, struct roce_port_probe *a,
				struct roce_errmsg *why);
	} drivers[] = {
		{ "net_memif", prepare_memif },
		{ "net_af_packet", prepare_af_packet },
		{ "net_pcap", prepare_pcap },
		{ "net_null", prepare_null },
		{ "net_tap", prepare_tap },
		{ "net_af_xdp", prepare_af_xdp },
		{ "net_bonding", prepare_bonding },
	};

	for (size_t i = 0; i < RTE_DIM(drivers); i++) {
		if (driver_is(a->port, drivers[i].driver))
			return drivers[i].prepare(args, a, why);
	}
	if (driver_is(a->port, "net_ring"))
		a->may_raise_mtu = true;
	return 0;
}

static int
probe(struct roce_port_probe *a, struct roce_errmsg *why)
{
	const char *rest = a->port + roce_devargs_name_len(a->port);
	int rc;

	/* The vdev bus takes any name that begins with a driver's; others are refused here, without EAL's noise. */
	if (roce_eal_name_is_pci(a->port))
		rc = rte_dev_probe(a->port);
	else if (strncmp(a->name, "net_", 4) == 0 || strncmp(a->name, "eth_", 4) == 0)
		rc = rte_eal_hotplug_add("vdev", a->name, *rest == ',' ? rest + 1 : "");
	else
		return roce_errmsg_set(
				why, -ENODEV, "port=%s: there is no port of that name", a->name);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(a->name, &a->port_id);
	if (rc != 0)
		return roce_errmsg_set(why, rc == -ENOMEM ? -ENOMEM : -ENODEV,
				"port=%.200s cannot be made (%s)", a->port, strerror(-rc));
	return 0;
}

static int
take_ownership(struct roce_port_probe *a, struct roce_errmsg *why)
{
	if (roce_capture_is_on())
		return 0;
	if (owner.id == RTE_ETH_DEV_NO_OWNER) {
		if (rte_eth_dev_owner_new(&owner.id) != 0)
			return roce_errmsg_set(why, -ENOMEM, "no owner id for ports");
		snprintf(owner.name, sizeof(owner.name), "udapl-roce");
	}
	if (rte_eth_dev_owner_set(a->port_id, &owner) != 0)
		return roce_errmsg_set(why, -EBUSY, "port %s belongs to somebody else", a->name);
	return 0;
}

static void
ask_device(struct roce_port_probe *a)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(a->port_id, &info) != 0 || info.device == NULL)
		return;
	a->soft = strcmp(rte_bus_name(rte_dev_bus(info.device)), "vdev") == 0;
}

/* The name ethdev knows: a PCI address may be given without its domain. */
static void
set_name(struct roce_port_probe *a, size_t len)
{
	struct rte_pci_addr pci;

	memcpy(a->name, a->port, len);
	a->name[len] = '\0';
	if (roce_eal_name_is_pci(a->name) && rte_pci_addr_parse(a->name, &pci) == 0)
		rte_pci_device_name(&pci, a->name, sizeof(a->name));
}

int
roce_attach_open(
		const struct roce_devargs *args, struct roce_port_probe *a, struct roce_errmsg *why)
{
	size_t len = roce_devargs_name_len(args->port);
	int rc;

	if (len >= sizeof(a->name))
		return roce_errmsg_set(why, -EINVAL, "port=%.64s... is too long", args->port);
	memset(a, 0, sizeof(*a));
	rte_strlcpy(a->port, args->port, sizeof(a->port));
	set_name(a, len);
	if (rte_eth_dev_get_port_by_name(a->name, &a->port_id) == 0) {
		a->origin = FOUND;
		recall_args(a);
		rc = prepare(args, a, why);
	} else if (roce_loop_is(a->port)) {
		a->origin = LOOPED;
		a->may_raise_mtu = true;
		rc = roce_loop_open(a->port, args->queues, &a->port_id, why);
	} else {
		a->origin = PROBED;
		rc = prepare(args, a, why);
		if (rc == 0)
			rc = probe(a, why);
	}
	if (rc != 0)
		return rc;
	rc = take_ownership(a, why);
	if (rc != 0) {
		if (a->origin != FOUND)
			roce_port_probe_close(a);
		return rc;
	}
	ask_device(a);
	return 0;
}

int
roce_attach_lend(struct roce_port_probe *a, const char *name, uint16_t port_id,
		struct roce_errmsg *why)
{
	struct rte_eth_dev_owner has;

	memset(a, 0, sizeof(*a));
	rte_strlcpy(a->name, name, sizeof(a->name));
	a->port_id = port_id;
	if (port_id == RTE_MAX_ETHPORTS) {
		a->soft = true;
		return 0;
	}
	if (owner.id != RTE_ETH_DEV_NO_OWNER && rte_eth_dev_owner_get(port_id, &has) == 0 &&
			has.id == owner.id)
		return roce_errmsg_set(why, -EBUSY, "port %u is open here as a device of its own",
				port_id);
	ask_device(a);
	return 0;
}

void
roce_port_probe_close(struct roce_port_probe *a)
{
	switch (a->origin) {
	case FOUND:
		rte_eth_dev_owner_unset(a->port_id, owner.id);
		break;
	case LOOPED:
		roce_loop_close(a->port);
		break;
	default:
		rte_eal_hotplug_remove(roce_eal_name_is_pci(a->port) ? "pci" : "vdev", a->name);
		break;
	}
}

bool
roce_port_probe_is_found(const struct roce_port_probe *a)
{
	return a->origin == FOUND;
}
