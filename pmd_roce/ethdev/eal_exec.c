/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal_exec.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_common.h>

#include "ethdev/eal_divert.h"
#include "ethdev/sockets.h"

/* The thread that opens a port. */
static struct {
	bool opens;
	pthread_t by;
} self;

/* The EAL is about to load drivers. */
static bool awaits_drivers;

/* A mode is there where a file may be made. */
static mode_t
mode_of(int flags, va_list args)
{
	bool has = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;

	return has ? va_arg(args, mode_t) : 0;
}

static int
open_closed(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open(path, flags | O_CLOEXEC, mode);
}

static int
openat_closed(int folder, const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return openat(folder, path, flags | O_CLOEXEC, mode);
}

static FILE *
fopen_closed(const char *path, const char *mode)
{
	char closed[16];

	snprintf(closed, sizeof(closed), "%se", mode);
	return fopen(path, closed);
}

static int
mkstemp_closed(char *template)
{
	return mkostemp(template, O_CLOEXEC);
}

static int
memfd_create_closed(const char *name, unsigned int flags)
{
	return memfd_create(name, flags | MFD_CLOEXEC);
}

static int
socket_closed(int domain, int type, int protocol)
{
	return socket(domain, type | SOCK_CLOEXEC, protocol);
}

static int
accept_closed(int fd, struct sockaddr *address, socklen_t *len)
{
	return accept4(fd, address, len, SOCK_CLOEXEC);
}

/* Descriptors that another process passes. */
static ssize_t
recvmsg_closed(int fd, struct msghdr *message, int flags)
{
	return recvmsg(fd, message, flags | MSG_CMSG_CLOEXEC);
}

static int
dup_closed(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The EAL makes its first pipe when it has loaded drivers, and before it opens devices. */
static int
pipe_closed(int ends[2])
{
	if (awaits_drivers) {
		awaits_drivers = false;
		roce_eal_exec_divert();
	}
	return pipe2(ends, O_CLOEXEC);
}

static int
epoll_create_closed(int size)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int
epoll_create1_closed(int flags)
{
	return epoll_create1(flags | EPOLL_CLOEXEC);
}

static int
eventfd_closed(unsigned int count, int flags)
{
	return eventfd(count, flags | EFD_CLOEXEC);
}

static int
timerfd_create_closed(int clock, int flags)
{
	return timerfd_create(clock, flags | TFD_CLOEXEC);
}

static int
inotify_init1_closed(int flags)
{
	return inotify_init1(flags | IN_CLOEXEC);
}

/* Of libraries that a program may call itself: does a port call, while it is opened? */
static bool
is_of_port(void)
{
	return __atomic_load_n(&self.opens, __ATOMIC_ACQUIRE) &&
			pthread_equal(self.by, pthread_self()) != 0;
}

static int
socket_of_port(int domain, int type, int protocol)
{
	return is_of_port() ? socket_closed(domain, type, protocol)
			    : socket(domain, type, protocol);
}

static int
eventfd_of_port(unsigned int count, int flags)
{
	return is_of_port() ? eventfd_closed(count, flags) : eventfd(count, flags);
}

static FILE *
fopen_of_port(const char *path, const char *mode)
{
	return is_of_port() ? fopen_closed(path, mode) : fopen(path, mode);
}

#define TO(function) (void *)(uintptr_t)(function)

void
roce_eal_exec_divert(void)
{
	static const struct roce_eal_detour all[] = {
		{ "open", TO(open_closed) },
		{ "open64", TO(open_closed) },
		{ "openat", TO(openat_closed) },
		{ "openat64", TO(openat_closed) },
		{ "fopen", TO(fopen_closed) },
		{ "fopen64", TO(fopen_closed) },
		{ "mkstemp", TO(mkstemp_closed) },
		{ "mkstemp64", TO(mkstemp_closed) },
		{ "memfd_create", TO(memfd_create_closed) },
		{ "socket", TO(socket_closed) },
		{ "accept", TO(accept_closed) },
		{ "recvmsg", TO(recvmsg_closed) },
		{ "dup", TO(dup_closed) },
		{ "pipe", TO(pipe_closed) },
		{ "epoll_create", TO(epoll_create_closed) },
		{ "epoll_create1", TO(epoll_create1_closed) },
		{ "eventfd", TO(eventfd_closed) },
		{ "timerfd_create", TO(timerfd_create_closed) },
		{ "inotify_init1", TO(inotify_init1_closed) },
	};
	static const struct roce_eal_detour of_telemetry[] = {
		{ "accept", TO(roce_sockets_accept) },
		{ "bind", TO(roce_sockets_bind) },
		{ "listen", TO(roce_sockets_listen) },
	};
	static const struct roce_eal_detour of_port[] = {
		{ "socket", TO(socket_of_port) },
		{ "eventfd", TO(eventfd_of_port) },
		{ "fopen", TO(fopen_of_port) },
		{ "fopen64", TO(fopen_of_port) },
	};
	static const char *const of_drivers[] = { "libpcap.", "libxdp.", "libbpf." };

	/* First: what is diverted already stays. */
	roce_eal_divert_all("librte_telemetry.", of_telemetry, RTE_DIM(of_telemetry));
	roce_eal_divert_all("librte_", all, RTE_DIM(all));
	for (size_t i = 0; i < RTE_DIM(of_drivers); i++)
		roce_eal_divert_all(of_drivers[i], of_port, RTE_DIM(of_port));
}

void
roce_eal_exec_begin(void)
{
	awaits_drivers = true;
	roce_eal_exec_divert();
}

void
roce_eal_exec_begin_port(void)
{
	self.by = pthread_self();
	__atomic_store_n(&self.opens, true, __ATOMIC_RELEASE);
}

void
roce_eal_exec_end_port(void)
{
	__atomic_store_n(&self.opens, false, __ATOMIC_RELEASE);
}
