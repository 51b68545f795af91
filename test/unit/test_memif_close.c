/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels and listeners of net_memif are closed at once, whatever descriptors strangers have left in them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ethdev/memif_pvt.h"
#include "limit.h"
#include "passed.h"
#include "unit/rules.h"

/* The end of what a stranger may hold up. */
static int peer;

/* The program ends where a close waits. */
static int
setup(void **state)
{
	alarm(test_limit_s());
	return 0;
}

/* The stranger lets go, and nothing is left to be closed. */
static int
teardown(void **state)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	close(peer);
	for (unsigned int ms = 0; roce_memif_closing() > 0 && ms < test_limit_s() * 1000; ms++)
		nanosleep(&nap, NULL);
	alarm(0);
	return roce_memif_closing() == 0 ? 0 : -1;
}

/* A message of so many bytes that has the last descriptor of a lingering socket. */
static void
leave_lingering(int fd, size_t bytes)
{
	int lingering = lingering_socket(&peer);

	assert_int_equal(send_descriptors(fd, "message", bytes, &lingering, 1), (ssize_t)bytes);
	close(lingering);
}

static void
hang_up_behind(size_t empty, size_t bytes)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	for (size_t i = 0; i < empty; i++)
		assert_int_equal(send(fds[1], "", 0, 0), 0);
	leave_lingering(fds[1], bytes);
	roce_memif_hang_up(fds[0]);
	assert_int_not_equal(roce_memif_closing(), 0);
	close(fds[1]);
}

UNIT_RULE(channel__with_an_unread_descriptor_is_closed_at_once)
{
	hang_up_behind(0, 8);
}

UNIT_RULE(channel__with_one_in_a_message_of_no_bytes_is_closed_at_once)
{
	hang_up_behind(0, 0);
}

UNIT_RULE(channel__with_one_behind_a_message_of_no_bytes_is_closed_at_once)
{
	hang_up_behind(1, 0);
}

UNIT_RULE(channel__without_a_message_needs_no_thread)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	close(fds[1]);
	roce_memif_hang_up(fds[0]);
	assert_int_equal(roce_memif_closing(), 0);
	peer = -1;
}

/* A listener with a name of its own, and a stranger who connects and is not taken. */
static int
listen_and_connect(int *stranger)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(name.sun_family);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* The kernel gives it a name. */
	assert_int_equal(bind(listener, (struct sockaddr *)&name, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	len = sizeof(name);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &len), 0);
	*stranger = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*stranger, (struct sockaddr *)&name, len), 0);
	return listener;
}

UNIT_RULE(listener__with_one_in_a_connection_that_waits_is_closed_at_once)
{
	int stranger;
	int listener = listen_and_connect(&stranger);

	leave_lingering(stranger, 8);
	roce_memif_stop_listening(listener);
	assert_int_not_equal(roce_memif_closing(), 0);
	close(stranger);
}

UNIT_RULE(listener__without_a_descriptor_for_a_connection_is_closed_at_once)
{
	struct rlimit limit, few;
	int stranger;
	int listener = listen_and_connect(&stranger);

	leave_lingering(stranger, 8);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	roce_memif_stop_listening(listener);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_not_equal(roce_memif_closing(), 0);
	close(stranger);
}

/* The file of a listener that ends, and whether it was there when the listener ended. */
static const char *file;
static bool outlived;

/* The library's: what stops a listener. */
int
shutdown(int fd, int how)
{
	outlived = outlived || (file != NULL && access(file, F_OK) == 0);
	return (int)syscall(SYS_shutdown, fd, how);
}

/*
 * A server that starts meanwhile would replace a file where nobody listens, and the one that ends would take away that of the
 * new one, whose clients then find nobody.
 */
UNIT_RULE(listener__that_ends_takes_its_file_away_first)
{
	char base[] = "/tmp/roce-memif-XXXXXX", folder[64];
	struct roce_memif memif = { .server = true };

	peer = -1;
	assert_non_null(mkdtemp(base));
	assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
	snprintf(memif.place.name, sizeof(memif.place.name), "%s/wire", base);
	assert_int_equal(roce_memif_add_listener(&memif), 0);
	file = memif.place.name;
	assert_int_equal(access(file, F_OK), 0);
	roce_memif_drop_listener(&memif);
	assert_int_not_equal(access(file, F_OK), 0);
	file = NULL;
	assert_false(outlived);
	snprintf(folder, sizeof(folder), "%s/udapl-roce", base);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(base), 0);
}
