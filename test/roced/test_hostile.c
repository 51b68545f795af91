/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that say garbage, do not read, or take all that there is: roced goes on, and so do the other processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"
#include "passed.h"
#include "rig.h"

#define SERVICE UINT64_C(0x0000000001060009)

static struct daemon roced;
static struct client good;

static int
setup(void **state)
{
	daemon_folder(&roced);
	daemon_start(&roced, NULL);
	good = client_attach(&roced, 0);
	return 0;
}

/* A process that behaves has seen nothing of it, and others come as ever. */
static int
teardown(void **state)
{
	struct client later = client_attach(&roced, 0);

	client_hears_nothing(good.fd);
	client_end(&later);
	client_end(&good);
	daemon_remove(&roced);
	return 0;
}

/* ---- garbage ---- */

static int
guest(void)
{
	return daemon_connect(&roced);
}

static int
attached(void)
{
	struct client client = client_attach(&roced, 0);

	close(client.bell);
	return client.fd;
}

static void
assert_ends(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
	client_hears_end(fd);
	close(fd);
}

UNIT_RULE(datagram__of_no_type_ends_its_connection)
{
	static const uint32_t type[] = { 0, ROCE_MSG_TYPES, UINT32_MAX };
	struct roce_msg msg = { .type = 0 };

	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		msg.type = type[i];
		assert_ends(guest(), &msg, sizeof(msg));
		assert_ends(attached(), &msg, sizeof(msg));
	}
}

UNIT_RULE(datagram__of_another_length_than_its_type_has_ends_its_connection)
{
	static uint8_t longer[2 * sizeof(struct roce_msg)];
	struct roce_msg msg = { .type = ROCE_MSG_LISTEN };
	size_t len = roce_msg_len(ROCE_MSG_LISTEN, 0);

	assert_ends(attached(), &msg, 1);
	assert_ends(attached(), &msg, len - 1);
	assert_ends(attached(), &msg, len + 1);
	memcpy(longer, &msg, sizeof(msg));
	assert_ends(attached(), longer, sizeof(longer));
}

UNIT_RULE(frame__of_another_length_than_it_says_ends_its_connection)
{
	struct roce_msg msg = { .type = ROCE_MSG_FRAME };
	size_t empty = roce_msg_len(ROCE_MSG_FRAME, 0);

	msg.frame.len = 100;
	assert_ends(attached(), &msg, empty + 99);
	assert_ends(attached(), &msg, empty + 101);
	msg.frame.len = ROCE_PROTO_FRAME_MAX + 1;
	assert_ends(attached(), &msg, sizeof(msg));
	msg.frame.len = UINT32_MAX;
	assert_ends(attached(), &msg, empty - 1);
	assert_ends(attached(), &msg, empty + ROCE_PROTO_FRAME_MAX);
}

/* roced refuses descriptors where it can; where it cannot, the message is none. */
static void
assert_ends_with_fds(int fd, const struct roce_msg *msg, const int *fds, unsigned int n)
{
	if (roce_msg_send(fd, msg, fds, n) == 0)
		client_hears_end(fd);
	close(fd);
}

UNIT_RULE(descriptors__where_none_are_expected_or_more_than_one_end_the_connection)
{
	const struct roce_msg listen = { .type = ROCE_MSG_LISTEN };
	const struct roce_msg hello = client_hello(0);
	int fds[ROCE_PROTO_FDS] = { client_bell(), client_bell(), client_bell() };
	int fd;

	assert_ends_with_fds(attached(), &listen, fds, 1);
	assert_ends_with_fds(guest(), &listen, fds, 1);
	assert_ends_with_fds(guest(), &hello, fds, 2);
	assert_ends_with_fds(guest(), &hello, fds, 3);
	fd = guest();
	client_say(fd, &hello);
	client_hears_end(fd);
	close(fd);
	for (unsigned int i = 0; i < ROCE_PROTO_FDS; i++)
		close(fds[i]);
}

UNIT_RULE(datagram__of_random_bytes_ends_its_connection_or_means_nothing)
{
	uint32_t random = 1;

	for (unsigned int i = 0; i < 2000; i++) {
		uint8_t bytes[sizeof(struct roce_msg)];
		int fd = i % 2 == 0 ? guest() : attached();

		for (size_t j = 0; j < sizeof(bytes); j++) {
			random = random * 1664525 + 1013904223;
			bytes[j] = (uint8_t)(random >> 24);
		}
		/* Half of them have a type that there is. */
		if (i % 4 < 2) {
			memset(bytes, 0, 4);
			bytes[0] = (uint8_t)(random % ROCE_MSG_TYPES);
		}
		assert_true(send(fd, bytes, 1 + random % sizeof(bytes), MSG_NOSIGNAL) > 0);
		close(fd);
	}
}

/* ---- descriptors that do not close at once ---- */

UNIT_RULE(descriptor__whose_close_waits_does_not_stop_roced)
{
	const struct roce_msg listen = { .type = ROCE_MSG_LISTEN };
	struct roce_msg hello = client_hello(0);
	int fd[3], peer[3];

	for (unsigned int i = 0; i < 3; i++) {
		int lingering = lingering_socket(&peer[i]);

		fd[i] = guest();
		/* In the place of a bell; where none is expected; and in a message that is never read. */
		assert_int_equal(kill(roced.pid, SIGSTOP), 0);
		if (i == 2)
			client_say_service(fd[i], ROCE_MSG_LISTEN, SERVICE);
		assert_int_equal(roce_msg_send(fd[i], i == 0 ? &hello : &listen, &lingering, 1), 0);
		close(lingering);
		assert_int_equal(kill(roced.pid, SIGCONT), 0);
		client_hears_end(fd[i]);
		client_hears_nothing(good.fd);
	}
	for (unsigned int i = 0; i < 3; i++) {
		close(fd[i]);
		close(peer[i]);
	}
}

/* There is room for three: those beyond are dropped by whoever receives the message. */
UNIT_RULE(descriptors__beyond_those_of_any_message_do_not_stop_roced)
{
	const struct roce_msg hello = client_hello(0);
	int fds[ROCE_PROTO_FDS + 1], fd = guest(), peer;

	for (unsigned int i = 0; i < ROCE_PROTO_FDS; i++)
		fds[i] = client_bell();
	fds[ROCE_PROTO_FDS] = lingering_socket(&peer);
	assert_int_equal(kill(roced.pid, SIGSTOP), 0);
	assert_true(send_descriptors(fd, &hello, roce_msg_len(ROCE_MSG_HELLO, 0), fds,
				    ROCE_PROTO_FDS + 1) > 0);
	for (unsigned int i = 0; i <= ROCE_PROTO_FDS; i++)
		close(fds[i]);
	assert_int_equal(kill(roced.pid, SIGCONT), 0);
	client_hears_end(fd);
	client_hears_nothing(good.fd);
	close(fd);
	close(peer);
}

/* ---- processes that do not read ---- */

UNIT_RULE(process__that_does_not_read_loses_its_connection_and_nobody_waits)
{
	struct client slow = client_attach(&roced, 0);
	const struct roce_msg msg = { .type = ROCE_MSG_LISTEN, .service.service_id = SERVICE };
	struct pollfd wait = { .fd = slow.fd, .events = POLLOUT };
	unsigned int n = 0;

	while (n++ < 100000) {
		int rc = roce_msg_send(slow.fd, &msg, NULL, 0);

		if (rc == -EAGAIN)
			assert_int_equal(poll(&wait, 1, RIG_PATIENCE_MS), 1);
		else if (rc != 0)
			break;
		if (n % 100 == 0)
			client_hears_nothing(good.fd);
	}
	assert_true(n > 4096 && n < 100000);
	client_end(&slow);
}

static uint32_t
next_type(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int fds[ROCE_PROTO_FDS];
	struct roce_msg msg;
	unsigned int n;

	assert_int_equal(poll(&wait, 1, RIG_PATIENCE_MS), 1);
	assert_int_equal(roce_msg_recv(fd, &msg, fds, &n), 0);
	return msg.type;
}

UNIT_RULE(process__that_is_stopped_does_not_stop_its_peers)
{
	struct client stopped = client_attach(&roced, 0);
	const struct frame_spec spec = {
		.attr = ROCE_CM_ATTR_DREQ,
		.local_id = frame_id(good.number, 1),
		.remote_id = frame_id(stopped.number, 1),
	};
	const struct roce_msg msg = frame_message(&spec);
	unsigned int n = 0;

	for (unsigned int i = 0; i < 5000; i++) {
		struct pollfd wait = { .fd = good.fd, .events = POLLOUT };

		assert_int_equal(poll(&wait, 1, RIG_PATIENCE_MS), 1);
		client_say(good.fd, &msg);
	}
	client_hears_nothing(good.fd);
	/* As many as the socket held, and 64. */
	client_say_service(stopped.fd, ROCE_MSG_LISTEN, SERVICE);
	while (next_type(stopped.fd) == ROCE_MSG_FRAME)
		n++;
	assert_in_range(n, 65, 4999);
	client_end(&stopped);
}

/* ---- processes that take all ---- */

UNIT_RULE(connections__without_a_hello_are_bounded)
{
	static int fd[600];
	unsigned int ended = 0;

	for (unsigned int i = 0; i < 600; i++)
		fd[i] = guest();
	for (unsigned int i = 0; i < 600 - 256; i++)
		client_hears_end(fd[i]);
	client_hears_nothing(good.fd);
	for (unsigned int i = 600 - 256; i < 600; i++) {
		struct pollfd wait = { .fd = fd[i], .events = POLLIN };

		ended += poll(&wait, 1, 0) == 1;
	}
	assert_int_equal(ended, 0);
	for (unsigned int i = 0; i < 600; i++)
		close(fd[i]);
}

static double
cpu_seconds(pid_t pid)
{
	clockid_t clock;
	struct timespec t;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define GUESTS 40

UNIT_RULE(connections__beyond_the_descriptors_wait_until_there_are_some)
{
	const struct rlimit few = { 60, 60 };
	static struct client client[60];
	struct roce_msg msg = client_hello(0);
	unsigned int n = 0;
	double before;
	int fd[GUESTS];

	assert_int_equal(prlimit(roced.pid, RLIMIT_NOFILE, &few, NULL), 0);
	while (n < 12)
		client[n++] = client_attach(&roced, 0);
	for (unsigned int i = 0; i < GUESTS; i++) {
		fd[i] = guest();
		client_say_hello(fd[i], &msg);
	}
	/* roced waits, and does not try without end. */
	client_hears_nothing(good.fd);
	before = cpu_seconds(roced.pid);
	/* For no condition: what roced computes meanwhile counts. */
	nanosleep(&(struct timespec){ .tv_nsec = 500 * 1000 * 1000 }, NULL);
	assert_true(cpu_seconds(roced.pid) - before < 0.25);
	client_hears_nothing(good.fd);
	for (unsigned int i = 0; i < n; i++)
		client_end(&client[i]);
	/* Some leave, so that the others have their turn. */
	for (unsigned int i = 0; i < GUESTS; i++) {
		client_hear(fd[i], ROCE_MSG_WELCOME, NULL);
		close(fd[i]);
	}
}

/* Without descriptors for a channel, a process asks again. */
UNIT_RULE(open__without_descriptors_is_answered_by_gone_and_works_later)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct rlimit few = { daemon_descriptors(roced.pid) - 2, 1024 };
	const struct rlimit enough = { 1024, 1024 };

	assert_int_equal(prlimit(roced.pid, RLIMIT_NOFILE, &few, NULL), 0);
	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_hear_gone(a.fd, b.number);
	client_hears_nothing(b.fd);
	assert_int_equal(prlimit(roced.pid, RLIMIT_NOFILE, &enough, NULL), 0);
	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_hear(a.fd, ROCE_MSG_CHANNEL, NULL);
	client_hear(b.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&a);
	client_end(&b);
}
