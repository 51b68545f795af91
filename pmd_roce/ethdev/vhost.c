/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/vhost.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ethdev/memif_pvt.h"
#include "ethdev/vdev_args.h"

#define VHOST "net_vhost"

static bool
is_at(const struct sockaddr_un *address, socklen_t len, const char *path)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);

	return address->sun_family == AF_UNIX && len > head &&
			strncmp(address->sun_path, path, len - head) == 0 &&
			strlen(path) < sizeof(address->sun_path);
}

/* A connection that was accepted has the listener's name; one that was made (client=1) has it at its other end. */
static bool
is_of(int fd, const char *path)
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return false;
	if (is_at(&address, len, path))
		return true;
	len = sizeof(address);
	return getpeername(fd, (struct sockaddr *)&address, &len) == 0 &&
			is_at(&address, len, path);
}

static bool
listens(int fd)
{
	int yes = 0;
	socklen_t len = sizeof(yes);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes != 0;
}

/*
 * The driver closes the descriptors. Connections that wait in the backlog of a listener can be accepted after its shutdown,
 * too: the driver's thread would wait for the next one as for the one before.
 */
static void
end_socket(int fd, bool listener)
{
	if (listener)
		roce_memif_refuse_waiting(fd);
	else
		shutdown(fd, SHUT_RDWR);
}

/* The driver keeps its descriptors to itself, so they are found among those of the process. */
static void
end_sockets(const char *path, bool listeners)
{
	const struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && is_of(fd, path) && listens(fd) == listeners)
			end_socket(fd, listeners);
	}
	closedir(dir);
}

void
roce_vhost_hang_up(const char *port)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	if (strncmp(port, VHOST, strlen(VHOST)) != 0 ||
			!roce_vdev_find_arg(port, "iface", path, sizeof(path)))
		return;
	/* First: no connection comes behind the look at those that are there. */
	end_sockets(path, true);
	end_sockets(path, false);
}
