/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/vdev_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_log.h>
#include <rte_memory.h>

#include "ethdev/vdev_args.h"
#include "local/file_limit.h"
#include "observe/log.h"

#define VIRTIO_USER "net_virtio_user"

#define VHOST_USER_FILES_MAX 8u /**< of VHOST_USER_SET_MEM_TABLE */

/* Newer than some C libraries. */
#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

static int
refuse(const char *name, const char *capability, struct roce_errmsg *errmsg)
{
	return roce_errmsg_set(errmsg, -ENODEV,
			"port=%s wants %s: run the program as root, or with that capability", name,
			capability);
}

/* The kernel's answer counts, since in a user namespace a capability need not be one over the network. */
static bool
socket_is_refused(int family)
{
	int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return false;
}

/* True also when nobody tells. */
static bool
has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capget, &header, data) != 0 ||
			(data[capability / 32].effective & UINT32_C(1) << capability % 32) != 0;
}

/* Has an interface that is up a carrier? Its driver knows. IFF_RUNNING, for drivers that cannot be asked, follows the carrier up to
   a second later, and is never set in the mode `dormant`, in which frames pass, too. */
static bool
has_carrier(int fd, struct ifreq *request)
{
	bool running = (request->ifr_flags & IFF_RUNNING) != 0;
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };

	request->ifr_data = (void *)&link;
	return ioctl(fd, SIOCETHTOOL, request) == 0 ? link.data != 0 : running;
}

/* Most drivers start on an interface that is down, and then no frame passes. It may come up later, so it is no failure; nor is an
   interface that does not exist, or cannot be asked: the driver says so. */
static void
warn_if_down(const char *interface)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request;

	if (fd < 0)
		return;
	memset(&request, 0, sizeof(request));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0) {
		close(fd);
		return;
	}
	if ((request.ifr_flags & IFF_UP) == 0)
		ROCE_LOG(WARNING,
				"interface %s is down: no frame passes until it is up (ip link set %s up)",
				interface, interface);
	else if (!has_carrier(fd, &request))
		ROCE_LOG(WARNING,
				"interface %s has no carrier: no frame passes until its other end is up",
				interface);
	close(fd);
}

/* Those that the device uses, each once. */
static void
warn_of_interfaces(const char *port)
{
	static const char *const keys[] = { "iface", "rx_iface", "tx_iface" };
	char interface[IF_NAMESIZE], before[IF_NAMESIZE] = "";

	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		const char *p = port;

		while ((p = roce_vdev_next_arg(p, keys[i], interface, sizeof(interface))) != NULL) {
			if (strcmp(interface, before) != 0)
				warn_if_down(interface);
			memcpy(before, interface, sizeof(before));
		}
	}
}

static int
check_packet(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	if (socket_is_refused(AF_PACKET))
		return refuse(name, "CAP_NET_RAW", errmsg);
	warn_of_interfaces(port);
	return 0;
}

/* Files want nothing. */
static int
check_pcap(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	return strstr(port, "iface") != NULL ? check_packet(name, port, errmsg) : 0;
}

static int
check_tap(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return roce_errmsg_set(errmsg, -ENODEV, "port=%s wants /dev/net/tun: %s%s", name,
				strerror(errno),
				errno == ENOENT || errno == ENODEV
						? "; load the module tun, or give it to the container"
						: "");
	close(fd);
	return has_capability(CAP_NET_ADMIN) ? 0 : refuse(name, "CAP_NET_ADMIN", errmsg);
}

static int
check_xdp(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	if (socket_is_refused(AF_XDP))
		return refuse(name, "CAP_NET_RAW", errmsg);
	if (!has_capability(CAP_NET_ADMIN))
		return refuse(name, "CAP_NET_ADMIN", errmsg);
	if (!has_capability(CAP_BPF) && !has_capability(CAP_SYS_ADMIN))
		return refuse(name, "CAP_BPF", errmsg);
	warn_of_interfaces(port);
	return 0;
}

/* The files of the EAL's memory. */
struct files {
	unsigned int n;
	int fd[VHOST_USER_FILES_MAX + 1];
};

static int
count_file(const struct rte_memseg_list *list, const struct rte_memseg *segment, void *arg)
{
	struct files *files = arg;
	int fd = list->external ? -1 : rte_memseg_get_fd_thread_unsafe(segment);

	for (unsigned int i = 0; i < files->n; i++) {
		if (files->fd[i] == fd)
			return 0;
	}
	if (fd >= 0 && files->n < RTE_DIM(files->fd))
		files->fd[files->n++] = fd;
	return 0;
}

/* The driver gives its server all of this memory. With too many files it starts all the same, and no frame passes. */
static int
check_memory(const char *name, struct roce_errmsg *errmsg)
{
	struct files files = { 0 };

	rte_memseg_walk(count_file, &files);
	if (files.n <= VHOST_USER_FILES_MAX)
		return 0;
	return roce_errmsg_set(errmsg, -EINVAL,
			"port=%s: the memory of the EAL is more than the %u files that vhost-user takes: "
			"open this adapter first, or start the EAL with --single-file-segments",
			name, VHOST_USER_FILES_MAX);
}

bool
roce_vdev_is_virtio_user(const char *port)
{
	return strncmp(port, VIRTIO_USER, strlen(VIRTIO_USER)) == 0;
}

/* The server of vhost-user listens at `path=`, unless this end does. Its driver says only that something is not permitted. */
static int
check_virtio_user(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	char path[PATH_MAX], server[4];
	struct stat there;

	if (!roce_vdev_find_arg(port, "path", path, sizeof(path)))
		return roce_errmsg_set(errmsg, -EINVAL, "port=%s needs path=", name);
	if ((!roce_vdev_find_arg(port, "server", server, sizeof(server)) || server[0] == '0') &&
			stat(path, &there) != 0)
		return roce_errmsg_set(errmsg, -ENODEV,
				"port=%s: its vhost-user server is not there: path=%.100s: %s",
				name, path, strerror(errno));
	return check_memory(name, errmsg);
}

/* The vdev bus knows its devices by how their drivers' names begin. Its complaint says less than ours. */
static bool
has_driver(const char *name)
{
	uint32_t level = (uint32_t)rte_log_get_level(RTE_LOGTYPE_EAL);
	struct rte_devargs parsed;
	char text[128];
	int rc;

	memset(&parsed, 0, sizeof(parsed));
	snprintf(text, sizeof(text), "vdev:%s", name);
	rte_log_set_level(RTE_LOGTYPE_EAL, RTE_LOG_CRIT);
	rc = rte_devargs_parse(&parsed, text);
	rte_log_set_level(RTE_LOGTYPE_EAL, level);
	free(parsed.data);
	return rc == 0;
}

int
roce_vdev_check(const char *name, const char *port, struct roce_errmsg *errmsg)
{
	static const struct {
		const char *driver;
		int (*check)(const char *name, const char *port, struct roce_errmsg *errmsg);
	} drivers[] = {
		{ "net_af_packet", check_packet },
		{ "eth_af_packet", check_packet },
		{ "net_af_xdp", check_xdp },
		{ "net_pcap", check_pcap },
		{ "eth_pcap", check_pcap },
		{ "net_tap", check_tap },
		{ "net_tun", check_tap },
		{ VIRTIO_USER, check_virtio_user },
	};

	/* The bus has devices that are no ports, too. */
	if (strncmp(name, "net_", 4) != 0 && strncmp(name, "eth_", 4) != 0)
		return roce_errmsg_set(
				errmsg, -ENODEV, "port=%s: there is no port of that name", name);
	if (!has_driver(name))
		return roce_errmsg_set(errmsg, -ENODEV,
				"port=%s: DPDK has no driver of that name, as it has for net_memif0 "
				"or net_af_packet0",
				name);
	for (size_t i = 0; i < RTE_DIM(drivers); i++) {
		if (strncmp(name, drivers[i].driver, strlen(drivers[i].driver)) == 0)
			return drivers[i].check(name, port, errmsg);
	}
	return 0;
}

int
roce_vdev_check_file(const char *port, uint64_t bytes, struct roce_errmsg *errmsg)
{
	if (!roce_file_limit_is_below(bytes))
		return 0;
	return roce_errmsg_set(errmsg, -ENODEV,
			"port=%.64s: its frames are a file larger than this process may have, raise the "
			"limit (ulimit -f)",
			port);
}
