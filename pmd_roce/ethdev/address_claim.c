/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/address_claim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ethdev/fork.h"
#include "ethdev/vdev_args.h"
#include "observe/log.h"

/* @return a descriptor that has the name; -EADDRINUSE; another error: it cannot be known. */
static int
take_name(unsigned int interface, const char *ip)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc, len;

	if (fd < 0)
		return -errno;
	/* Messages would stay until the last close(2), which waits for a descriptor in one as long as a stranger wants. */
	shutdown(fd, SHUT_RDWR);
	/* The first byte is 0: a name and no file. */
	len = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "udapl-roce/%u/%s", interface,
			ip);
	rc = bind(fd, (struct sockaddr *)&addr,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len));
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

void
roce_address_claim(struct roce_address_claim *claim, const char *port, const struct roce_subnet *at,
		uint32_t n)
{
	char name[IF_NAMESIZE], ip[INET6_ADDRSTRLEN];
	unsigned int interface;

	claim->n = 0;
	if (!roce_vdev_find_arg(port, "iface", name, sizeof(name)))
		return;
	interface = if_nametoindex(name);
	for (uint32_t i = 0; i < n && interface != 0; i++) {
		const struct roce_ip *addr = &at[i].addr;
		bool v4 = roce_ip_is_v4(addr);
		int fd;

		inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? addr->b + 12 : addr->b, ip, sizeof(ip));
		fd = take_name(interface, ip);
		if (fd >= 0) {
			roce_fork_close(fd);
			claim->fd[claim->n++] = fd;
		} else if (fd == -EADDRINUSE) {
			ROCE_LOG(WARNING,
					"%s on interface %s is in use by another process: both get each "
					"frame and answer it, so connections of both fail",
					ip, name);
		}
	}
}

void
roce_address_release(struct roce_address_claim *claim)
{
	while (claim->n > 0)
		close(claim->fd[--claim->n]);
}
