/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/memif_socket.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "local/run_dir.h"
#include "local/steady_wait.h"

/* Connections that wait to be taken. */
#define BACKLOG 64

/* How long a server waits for another that makes its socket, in milliseconds. */
#define LOCK_MS     1000
#define LOCK_NAP_MS 5
#define NS_PER_MS   1000000L

#define DEFAULT_NAME "memif.sock"

static_assert(ROCE_MEMIF_SOCKET_LEN == sizeof(((struct sockaddr_un *)NULL)->sun_path),
		"a place is what an address holds");

int
roce_memif_place(const char *given, bool abstract, struct roce_memif_place *place,
		struct roce_errmsg *errmsg)
{
	const char *name = given != NULL ? given : DEFAULT_NAME;
	char folder[ROCE_RUN_DIR_LEN] = "";
	int len;

	if (!abstract && strchr(name, '/') == NULL) {
		int rc = roce_run_dir(folder, sizeof(folder), errmsg);

		if (rc != 0)
			return rc;
	}
	len = snprintf(place->name, sizeof(place->name), "%s%s%s", folder,
			folder[0] != '\0' ? "/" : "", name);
	if (name[0] == '\0' || len < 0 || (size_t)len >= sizeof(place->name) - 1)
		return roce_errmsg_set(errmsg, -EINVAL,
				"socket=%.120s: want a name of 1 to %zu bytes with its folder",
				name, sizeof(place->name) - 2);
	place->abstract = abstract;
	return 0;
}

int
roce_memif_private_path(char path[ROCE_MEMIF_SOCKET_LEN], struct roce_errmsg *errmsg)
{
	char folder[ROCE_RUN_DIR_LEN];
	uint64_t random;
	int rc = roce_run_dir(folder, sizeof(folder), errmsg);

	if (rc != 0)
		return rc;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return roce_errmsg_set(errmsg, -EIO, "no random number for the name of a socket");
	snprintf(path, ROCE_MEMIF_SOCKET_LEN, "%s/.memif-%016" PRIx64, folder, random);
	return 0;
}

/* @return its length: all bytes of an abstract name count, and net_memif has no zero behind it. */
static socklen_t
set_address(struct sockaddr_un *address, const char *name, bool abstract)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + abstract, name, strlen(name));
	return abstract ? (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))
			: (socklen_t)sizeof(*address);
}

/* A socket file where nobody listens any more. */
static bool
is_stale(const struct roce_memif_place *place)
{
	struct stat st;
	int fd;

	if (place->abstract || lstat(place->name, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = roce_memif_connect(place->name, false);
	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

/* A link that leads nowhere is one, too. */
static bool
is_other_file(const struct roce_memif_place *place)
{
	struct stat st;

	return !place->abstract && lstat(place->name, &st) == 0 && !S_ISSOCK(st.st_mode);
}

/*
 * Servers of this user replace what is left one after the other: between bind(2) and listen(2) the socket of another
 * looks as if nobody listened any more. One that is stopped meanwhile holds nobody up for long.
 * @return a descriptor that is to be closed; -1: there is no folder.
 */
static int
lock_folder(void)
{
	struct roce_errmsg errmsg = { 0 };
	char path[ROCE_RUN_DIR_LEN];
	int fd;

	if (roce_run_dir(path, sizeof(path), &errmsg) != 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int ms = 0; fd >= 0 && ms < LOCK_MS; ms += LOCK_NAP_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			break;
		roce_steady_sleep(LOCK_NAP_MS * NS_PER_MS);
	}
	return fd;
}

static int
listen_locked(const struct roce_memif_place *place)
{
	struct sockaddr_un address;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	len = set_address(&address, place->name, place->abstract);
	rc = bind(fd, (struct sockaddr *)&address, len) == 0 ? 0 : -errno;
	if (rc == -EADDRINUSE && is_stale(place) && unlink(place->name) == 0)
		rc = bind(fd, (struct sockaddr *)&address, len) == 0 ? 0 : -errno;
	if (rc == 0 && listen(fd, BACKLOG) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc == -EADDRINUSE && is_other_file(place) ? -ENOTSOCK : rc;
}

int
roce_memif_listen(const struct roce_memif_place *place)
{
	int lock = place->abstract ? -1 : lock_folder();
	int rc = listen_locked(place);

	if (lock >= 0)
		close(lock);
	return rc;
}

int
roce_memif_connect(const char *path, bool abstract)
{
	struct sockaddr_un address;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	len = set_address(&address, path, abstract);
	if (connect(fd, (struct sockaddr *)&address, len) == 0)
		return fd;
	rc = errno == ENOENT ? -ECONNREFUSED : -errno;
	close(fd);
	return rc;
}
