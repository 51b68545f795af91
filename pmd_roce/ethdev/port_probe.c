/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_probe.h"

#include <errno.h>
#include <net/if.h>
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

#include "ethdev/eal.h"
#include "ethdev/loop.h"
#include "ethdev/memif.h"
#include "ethdev/port_owner.h"
#include "ethdev/signals.h"
#include "ethdev/vdev_args.h"
#include "ethdev/vdev_check.h"
#include "observe/compat.h"

enum origin {
	FOUND = 1, /* by name: somebody else made it */
	PROBED,
	LOOPED,
	LEFT, /* probed, and stays with its driver */
};

/* Buffers of a memif ring: chained transmit into smaller ones corrupts frames in DPDK 22.11. */
#define MEMIF_BSIZE         8192
#define MEMIF_BSIZE_DEFAULT 2048
#define MEMIF_RSIZE_DEFAULT 10 /* log2 of frames */

#define PACKET_FRAME_DEFAULT 2048

/* The kernel's header of a frame in a packet ring, and a frame's link header. */
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

/* Bytes of a client's file, the memory for the frames of both directions; @p bsize bytes a frame. */
static uint64_t
memif_file(const struct roce_devargs *args, const struct roce_port_probe *probe, uint32_t bsize)
{
	uint32_t log2 = roce_vdev_find_number(probe->port, "rsize");

	return (UINT64_C(2) * args->queues * bsize)
			<< (log2 != 0 ? RTE_MIN(log2, 31u) : MEMIF_RSIZE_DEFAULT);
}

static int
prepare_memif(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	char role[8];
	uint32_t size;
	int rc;

	/* By default it is a client. */
	probe->waits_for_peer = !roce_vdev_find_arg(probe->port, "role", role, sizeof(role)) ||
			(strcmp(role, "server") != 0 && strcmp(role, "master") != 0);
	if (probe->origin != FOUND && roce_vdev_default_arg(probe->port, "bsize", MEMIF_BSIZE) != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s... is too long", probe->port);
	size = roce_vdev_find_number(probe->port, "bsize");
	if (size == 0)
		size = MEMIF_BSIZE_DEFAULT;
	probe->mtu = size - RTE_MIN(size, (uint32_t)LINK_OVERHEAD);
	rc = probe->waits_for_peer
			? roce_vdev_check_file(probe->port, memif_file(args, probe, size), errmsg)
			: 0;
	if (rc == 0 && probe->origin == PROBED)
		return roce_memif_create(
				probe->name, probe->port, args->queues, &probe->memif, errmsg);
	return rc;
}

/* The interface of the kernel that `iface=` names. @return 0, and its MTU; -EINVAL: the key is missing; -ENODEV: there is none. */
static int
find_interface(const struct roce_port_probe *probe, uint32_t *mtu, struct roce_errmsg *errmsg)
{
	char name[IF_NAMESIZE];

	if (!roce_vdev_find_arg(probe->port, "iface", name, sizeof(name)))
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s needs iface=", probe->port);
	*mtu = interface_mtu(name);
	if (*mtu == 0)
		return roce_errmsg_set(
				errmsg, -ENODEV, "port=%.64s: no interface %s", probe->port, name);
	return 0;
}

static int
prepare_af_packet(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	uint32_t mtu = 0, frame;
	int rc = find_interface(probe, &mtu, errmsg);

	if (rc != 0)
		return rc;
	frame = roce_vdev_find_number(probe->port, "framesz");
	if (probe->origin != FOUND && frame == 0 && mtu > ETHER_MTU) {
		/* A path MTU above 4096 does not exist, so larger frames are never ours. */
		frame = RTE_MIN(mtu, (uint32_t)ROCE_FRAME_LEN_MAX(4096)) + LINK_OVERHEAD +
				PACKET_RING_OVERHEAD;
		frame = rte_align32pow2(frame);
		if (roce_vdev_default_arg(probe->port, "framesz", frame) != 0 ||
				roce_vdev_default_arg(probe->port, "blocksz", frame * 8) != 0)
			return roce_errmsg_set(
					errmsg, -EINVAL, "port=%.64s... is too long", probe->port);
	}
	if (frame == 0)
		frame = PACKET_FRAME_DEFAULT;
	if (probe->origin != FOUND && args->queues > 1 &&
			roce_vdev_default_arg(probe->port, "qpairs", args->queues) != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s... is too long", probe->port);
	probe->mtu = RTE_MIN(mtu, frame - RTE_MIN(frame, (uint32_t)PACKET_RING_OVERHEAD));
	/* The driver copies whatever fits its ring frame into one buffer. */
	probe->rx_room = frame;
	return 0;
}

/* Files take frames of any size; a live interface only what its MTU allows. */
static int
prepare_pcap(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	static const char *const keys[] = { "iface", "tx_iface", "rx_iface", "rx_iface_in" };
	char name[IF_NAMESIZE];

	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		uint32_t mtu;

		if (!roce_vdev_find_arg(probe->port, keys[i], name, sizeof(name)))
			continue;
		mtu = interface_mtu(name);
		if (mtu == 0)
			return roce_errmsg_set(errmsg, -ENODEV, "port=%.64s: no interface %s",
					probe->port, name);
		probe->mtu = probe->mtu == 0 ? mtu : RTE_MIN(probe->mtu, mtu);
	}
	probe->may_raise_mtu = probe->mtu == 0;
	/* How large it becomes is not known. */
	if (roce_vdev_find_arg(probe->port, "tx_pcap", name, sizeof(name)))
		return roce_vdev_check_file(probe->port, UINT64_MAX, errmsg);
	return 0;
}

static int
prepare_null(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	probe->may_raise_mtu = true;
	/* The driver believes that any frame it makes up fits. */
	probe->rx_room = roce_vdev_find_number(probe->port, "size");
	return 0;
}

static int
prepare_tap(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	probe->mtu = ETHER_MTU;
	return 0;
}

static int
prepare_af_xdp(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	uint32_t mtu = 0;
	int rc = find_interface(probe, &mtu, errmsg);

	if (rc != 0)
		return rc;
	if (probe->origin != FOUND && args->queues > 1 &&
			roce_vdev_default_arg(probe->port, "queue_count", args->queues) != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s... is too long", probe->port);
	probe->mtu = RTE_MIN(mtu, (uint32_t)(XDP_ROOM - XDP_OVERHEAD - LINK_OVERHEAD));
	probe->rx_room = XDP_ROOM;
	probe->rx_frames = XDP_FRAMES;
	probe->forgets_frames = true;
	return 0;
}

/* The arguments somebody made the port with, in the place where the user's would stand. */
static void
recall_args(struct roce_port_probe *probe)
{
	const struct rte_devargs *made = NULL;
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(probe->port_id, &info) == 0 && info.device != NULL)
		made = rte_dev_devargs(info.device);
	if (made != NULL && made->args != NULL && made->args[0] != '\0')
		snprintf(probe->port, sizeof(probe->port), "%s,%s", probe->name, made->args);
}

static int
prepare(const struct roce_devargs *args, struct roce_port_probe *probe, struct roce_errmsg *errmsg);

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

/* The limits and needs of one slave of a bonding device are those of the whole. */
static int
add_slave(const struct roce_devargs *args, struct roce_port_probe *bond, const char *name,
		struct roce_errmsg *errmsg)
{
	struct roce_port_probe slave = { 0 };
	int rc;

	if (!find_slave(&slave, name))
		return roce_errmsg_set(errmsg, -ENODEV,
				"port=%.64s: there is no port %s that can be a " ROCE_BOND_MEMBER
				"; they are made first, by --vdev= in UDAPL_ROCE_EAL",
				bond->name, name);
	recall_args(&slave);
	rc = prepare(args, &slave, errmsg);
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
prepare_bonding(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	const char *p = probe->port;
	char name[sizeof(probe->name)];

	while ((p = roce_vdev_next_arg(p, ROCE_BOND_MEMBER, name, sizeof(name))) != NULL) {
		int rc = add_slave(args, probe, name, errmsg);

		if (rc != 0)
			return rc;
	}
	probe->may_raise_mtu = probe->mtu == 0;
	/* LACP speaks, and finds its partner, only inside the calls for frames. */
	probe->idle_tx_ms = LACP_MS;
	return 0;
}

/* Facts about a driver that must be known before its device is made. */
static int
prepare(const struct roce_devargs *args, struct roce_port_probe *probe, struct roce_errmsg *errmsg)
{
	static const struct {
		const char *driver;
		int (*prepare)(const struct roce_devargs *args, struct roce_port_probe *probe,
				struct roce_errmsg *errmsg);
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
		if (driver_is(probe->port, drivers[i].driver))
			return drivers[i].prepare(args, probe, errmsg);
	}
	if (driver_is(probe->port, "net_ring"))
		probe->may_raise_mtu = true;
	return 0;
}

static int
probe_vdev(struct roce_port_probe *probe, struct roce_errmsg *errmsg)
{
	const char *rest = probe->port + roce_devargs_name_len(probe->port);
	struct roce_signals_handlers handlers;
	int rc = roce_vdev_check(probe->name, probe->port, errmsg);

	if (rc != 0)
		return rc;
	roce_signals_look(&handlers);
	rc = rte_eal_hotplug_add("vdev", probe->name, *rest == ',' ? rest + 1 : "");
	if (driver_is(probe->port, "net_tap") || driver_is(probe->port, "net_tun"))
		roce_signals_take(&handlers);
	return rc;
}

static int
probe_port(struct roce_port_probe *probe, struct roce_errmsg *errmsg)
{
	sigset_t signals;
	int rc;

	/* Some drivers start threads. */
	roce_signals_block(&signals);
	rc = roce_eal_name_is_pci(probe->port) ? rte_dev_probe(probe->port)
					       : probe_vdev(probe, errmsg);
	roce_signals_restore(&signals);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(probe->name, &probe->port_id);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc == -ENOMEM ? -ENOMEM : -ENODEV,
				"port=%.200s cannot be made (%s)", probe->port, strerror(-rc));
	return 0;
}

static void
ask_device(struct roce_port_probe *probe)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(probe->port_id, &info) != 0 || info.device == NULL)
		return;
	probe->soft = strcmp(rte_bus_name(rte_dev_bus(info.device)), "vdev") == 0;
}

/* The name ethdev knows: a PCI address may be given without its domain. */
static void
set_name(struct roce_port_probe *probe, size_t len)
{
	struct rte_pci_addr pci;

	memcpy(probe->name, probe->port, len);
	probe->name[len] = '\0';
	if (roce_eal_name_is_pci(probe->name) && rte_pci_addr_parse(probe->name, &pci) == 0)
		rte_pci_device_name(&pci, probe->name, sizeof(probe->name));
}

int
roce_port_probe_open(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg)
{
	size_t len = roce_devargs_name_len(args->port);
	int rc;

	if (len >= sizeof(probe->name))
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s... is too long", args->port);
	memset(probe, 0, sizeof(*probe));
	rte_strlcpy(probe->port, args->port, sizeof(probe->port));
	set_name(probe, len);
	if (rte_eth_dev_get_port_by_name(probe->name, &probe->port_id) == 0) {
		if (roce_port_owner_has_left(probe->port_id))
			return roce_errmsg_set(errmsg, -EBUSY,
					"port %s was refused its queues: another process can open it, this one cannot",
					probe->name);
		probe->origin = roce_eal_take_probed(probe->name) ? PROBED : FOUND;
		recall_args(probe);
		rc = prepare(args, probe, errmsg);
	} else if (roce_loop_is(probe->port)) {
		probe->origin = LOOPED;
		probe->may_raise_mtu = true;
		rc = roce_loop_open(probe->port, args->queues, &probe->port_id, errmsg);
	} else {
		probe->origin = PROBED;
		rc = prepare(args, probe, errmsg);
		if (rc == 0)
			rc = probe_port(probe, errmsg);
		if (rc == 0 && probe->memif != NULL)
			roce_memif_probed(probe->memif);
		else if (rc != 0)
			roce_memif_destroy(probe->memif);
	}
	if (rc != 0)
		return rc;
	rc = roce_port_owner_begin(probe->port_id, probe->name, errmsg);
	if (rc != 0) {
		if (probe->origin != FOUND)
			roce_port_probe_close(probe);
		return rc;
	}
	ask_device(probe);
	return 0;
}

int
roce_port_probe_attached(struct roce_port_probe *probe, const char *name, uint16_t port_id,
		struct roce_errmsg *errmsg)
{
	memset(probe, 0, sizeof(*probe));
	rte_strlcpy(probe->name, name, sizeof(probe->name));
	probe->port_id = port_id;
	if (port_id == RTE_MAX_ETHPORTS) {
		probe->soft = true;
		return 0;
	}
	if (roce_port_owner_is_ours(port_id))
		return roce_errmsg_set(errmsg, -EBUSY,
				"port %u is open here as a device of its own", port_id);
	ask_device(probe);
	return 0;
}

void
roce_port_probe_close(struct roce_port_probe *probe)
{
	switch (probe->origin) {
	case FOUND:
		roce_port_owner_end(probe->port_id);
		break;
	case LEFT:
		break;
	case LOOPED:
		roce_loop_close(probe->port);
		break;
	default:
		rte_eal_hotplug_remove(
				roce_eal_name_is_pci(probe->port) ? "pci" : "vdev", probe->name);
		roce_memif_destroy(probe->memif);
		break;
	}
}

void
roce_port_probe_leave(struct roce_port_probe *probe)
{
	if (probe->origin != PROBED)
		return;
	probe->origin = LEFT;
	roce_port_owner_leave(probe->port_id);
}

bool
roce_port_probe_is_found(const struct roce_port_probe *probe)
{
	return probe->origin == FOUND || probe->origin == LEFT;
}
