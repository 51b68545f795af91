/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "ethdev/fork.h"

/* DPDK has two: one for each version of its protocol. */
#define SOCKETS_MAX 4

/* Between two tries to accept a client. */
#define AGAIN_MS 100

/* Between two tries to lock the folder, and how many there are. */
#define LOCK_MS  2
#define LOCK_TRY 500

static char paths[SOCKETS_MAX][sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
static unsigned int count;
static pid_t owner;      /* the process whose EAL it is */
static int folder = -1;  /* locked by a child while it exits */
static int opening = -1; /* the same, while the EAL opens its sockets */

/* Where descriptor @p fd is bound to, if it is a file; "": nowhere. */
static void
bound_to(int fd, char *path, size_t room)
{
	struct sockaddr_un addr = { .sun_family = AF_UNSPEC };
	socklen_t len = sizeof(addr);

	path[0] = '\0';
	if (getsockname(fd, (struct sockaddr *)&addr, &len) != 0 || addr.sun_family != AF_UNIX ||
			len <= offsetof(struct sockaddr_un, sun_path) || addr.sun_path[0] == '\0')
		return;
	snprintf(path, room, "%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path)),
			addr.sun_path);
}

/* One of those in the EAL's folder? Then it is ours, and no program that is executed has it. */
static void
look_at(int fd, const char *dir)
{
	size_t len = strlen(dir);

	bound_to(fd, paths[count], sizeof(paths[count]));
	if (strncmp(paths[count], dir, len) != 0 || paths[count][len] != '/')
		return;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	roce_fork_close(fd);
	count++;
}

/* Name for a second link to socket @p i, which nobody takes for a socket of DPDK. */
static void
spare_path(unsigned int i, char *path, size_t room)
{
	snprintf(path, room, "%s/.%ld.%u", rte_eal_get_runtime_dir(), (long)getpid(), i);
}

/*
 * A child exits. Behind this DPDK's handler unlinks the files, and behind that put_back() is called. Of several children
 * one at a time does that.
 */
static void
keep(void)
{
	char path[PATH_MAX];

	if (count == 0 || getpid() == owner)
		return;
	folder = open(rte_eal_get_runtime_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		flock(folder, LOCK_EX);
	for (unsigned int i = 0; i < count; i++) {
		spare_path(i, path, sizeof(path));
		(void)link(paths[i], path);
	}
}

static void
put_back(void)
{
	char path[PATH_MAX];

	if (count == 0 || getpid() == owner)
		return;
	for (unsigned int i = 0; i < count; i++) {
		spare_path(i, path, sizeof(path));
		/* The file is there again if another process has made it: that one's stays. */
		(void)link(path, paths[i]);
		(void)unlink(path);
	}
	if (folder >= 0)
		close(folder);
}

void
roce_sockets_before_eal(void)
{
	static bool registered;

	if (!registered)
		registered = atexit(put_back) == 0;
}

static void
lock_folder(void)
{
	opening = open(rte_eal_get_runtime_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int i = 0; opening >= 0 && i < LOCK_TRY; i++) {
		if (flock(opening, LOCK_EX | LOCK_NB) == 0)
			return;
		(void)poll(NULL, 0, LOCK_MS);
	}
}

static void
unlock_folder(void)
{
	if (opening >= 0)
		close(opening);
	opening = -1;
}

int
roce_sockets_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	if (opening < 0)
		lock_folder();
	return bind(fd, address, len);
}

int
roce_sockets_listen(int fd, int backlog)
{
	int rc = listen(fd, backlog);
	int error = errno;

	unlock_folder();
	errno = error;
	return rc;
}

void
roce_sockets_after_eal(void)
{
	const char *dir = rte_eal_get_runtime_dir();
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;

	unlock_folder();
	owner = getpid();
	if (fds == NULL || dir == NULL)
		goto close_fds;
	while (count < SOCKETS_MAX && (entry = readdir(fds)) != NULL)
		look_at((int)strtol(entry->d_name, NULL, 10), dir);
	/* Called in the opposite order: this one before DPDK's, which is from rte_eal_init(). */
	if (count > 0)
		(void)atexit(keep);

close_fds:
	if (fds != NULL)
		closedir(fds);
}

static bool
passes_by(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
			error == EINTR;
}

int
roce_sockets_accept(int fd, struct sockaddr *address, socklen_t *len)
{
	struct pollfd client = { .fd = fd, .events = POLLIN };
	int rc;

	for (;;) {
		rc = accept4(fd, address, len, SOCK_CLOEXEC);
		if (rc >= 0 || !passes_by(errno))
			return rc;
		/* The kernel wakes no thread when a descriptor is closed. */
		(void)poll(NULL, 0, AGAIN_MS);
		(void)poll(&client, 1, -1);
	}
}
