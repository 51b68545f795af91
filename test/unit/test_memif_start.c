/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of net_memif that gives up (ethdev/memif.c) says that nobody listens where no socket listens at the name when it
 * asks for the last time, and only there. Time passes in waits alone.
 */
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "ethdev/memif_pvt.h"
#include "unit/rules.h"

#define NOBODY  "nobody listens"
#define SILENT  "does not answer for ten seconds"
#define REFUSES "refuses: "

/** Of the peer: rounds that the client waited, and connections that fill the queue of a listener. */
#define LATE      3u
#define CROWD_MAX 256u

static char base[32], name[64];
static uint64_t now_ms;
static unsigned int waits;
static int listener, crowd[CROWD_MAX];
static unsigned int crowded;
/** The peer's part while the client waits; NULL: none. */
static void (*does)(void);

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	*tp = (struct timespec){ (time_t)(now_ms / 1000), (long)(now_ms % 1000) * 1000000 };
	return 0;
}

static void
pass(unsigned int ms)
{
	now_ms += ms;
	waits++;
	if (does != NULL)
		does();
}

int
poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	pass((unsigned int)timeout);
	return 0;
}

void
rte_delay_us_sleep(unsigned int us)
{
	pass(us / 1000);
}

static int
setup(void **state)
{
	listener = -1;
	crowded = waits = 0;
	does = NULL;
	snprintf(base, sizeof(base), "/tmp/test_memif_start.XXXXXX");
	if (mkdtemp(base) == NULL)
		return -1;
	snprintf(name, sizeof(name), "%s/wire", base);
	return 0;
}

static int
teardown(void **state)
{
	while (crowded > 0)
		close(crowd[--crowded]);
	if (listener >= 0)
		close(listener);
	unlink(name);
	return rmdir(base);
}

static void
listen_at(int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, name, strlen(name));
	listener = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
}

/* The client's sentence, which has the one word, and not the other. */
static void
gives_up(const char *wanted)
{
	struct roce_memif memif = {
		.name = "net_memif0", .queues = 1, .private_fd = -1, .peer = -1, .driver = -1
	};
	char text[512] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };
	uint64_t begin = now_ms;

	snprintf(memif.place.name, sizeof(memif.place.name), "%s", name);
	assert_int_equal(roce_memif_start(&memif, 0, &errmsg), -ENODEV);
	if (strstr(text, wanted) == NULL ||
			(strcmp(wanted, NOBODY) == 0) != (strstr(text, NOBODY) != NULL))
		fail_msg("it says '%s', and not '%s'", text, wanted);
	assert_true(now_ms - begin <= 10000);
}

UNIT_RULE(start__without_a_socket_finds_nobody)
{
	gives_up(NOBODY);
}

UNIT_RULE(start__with_the_file_of_a_socket_that_is_gone_finds_nobody)
{
	listen_at(SOCK_SEQPACKET);
	close(listener);
	listener = -1;
	gives_up(NOBODY);
}

UNIT_RULE(start__with_a_silent_server_finds_it)
{
	listen_at(SOCK_SEQPACKET);
	gives_up(SILENT);
}

/* Connections that the server has not taken. */
static void
fill(void)
{
	while (crowded < CROWD_MAX && (crowd[crowded] = roce_memif_connect(name, false)) >= 0)
		crowded++;
	assert_in_range(crowded, 1, CROWD_MAX - 1);
	assert_int_equal(crowd[crowded], -EAGAIN);
}

UNIT_RULE(start__with_a_server_that_takes_no_connection_finds_it)
{
	listen_at(SOCK_SEQPACKET);
	fill();
	gives_up(SILENT);
}

UNIT_RULE(start__with_a_socket_of_another_type_finds_it)
{
	listen_at(SOCK_STREAM);
	gives_up("cannot be reached: ");
}

/* The server takes what is there, says so many bytes of a message, and closes. */
static struct roce_memif_msg says;
static size_t says_len;

static void
say_and_close(void)
{
	int client = listener >= 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;

	if (client < 0)
		return;
	if (says_len > 0)
		assert_int_equal(send(client, &says, says_len, 0), (ssize_t)says_len);
	close(client);
}

static void
gives_up_by(struct roce_memif_msg msg, size_t len, const char *wanted)
{
	listen_at(SOCK_SEQPACKET);
	says = msg;
	says_len = len;
	does = say_and_close;
	gives_up(wanted);
}

UNIT_RULE(start__with_a_server_that_hangs_up_finds_it)
{
	gives_up_by((struct roce_memif_msg){ 0 }, 0, REFUSES);
}

UNIT_RULE(start__with_a_server_that_says_half_a_message_finds_it)
{
	gives_up_by((struct roce_memif_msg){ 0 }, 3, REFUSES);
}

/* With words or without. */
UNIT_RULE(start__with_a_server_that_refuses_finds_it)
{
	gives_up_by((struct roce_memif_msg){ .type = ROCE_MEMIF_DISCONNECT },
			sizeof(struct roce_memif_msg), REFUSES);
}

UNIT_RULE(start__with_a_server_of_another_version_finds_it)
{
	gives_up_by((struct roce_memif_msg){ .type = ROCE_MEMIF_HELLO,
				    .hello.min_version = UINT16_MAX },
			sizeof(struct roce_memif_msg), REFUSES);
}

static void
come_late(void)
{
	if (waits == LATE)
		listen_at(SOCK_SEQPACKET);
}

UNIT_RULE(start__with_a_server_that_comes_late_finds_it)
{
	does = come_late;
	gives_up(SILENT);
}

static void
leave_early(void)
{
	say_and_close();
	if (waits < LATE || listener < 0)
		return;
	close(listener);
	listener = -1;
}

/* It refused before; that no longer holds. */
UNIT_RULE(start__with_a_server_that_has_left_finds_nobody)
{
	says_len = 0;
	listen_at(SOCK_SEQPACKET);
	does = leave_early;
	gives_up(NOBODY);
}
