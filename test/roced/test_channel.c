/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners of a host, channels between its processes, and what is told of the end of a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/ring.h"
#include "passed.h"
#include "rig.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define SERVICE UINT64_C(0x0000000001060007)

static struct daemon roced;

static int
setup(void **state)
{
	daemon_folder(&roced);
	daemon_start(&roced, NULL);
	return 0;
}

static int
teardown(void **state)
{
	daemon_remove(&roced);
	return 0;
}

static void
restart(int signal)
{
	daemon_end(&roced, signal);
	daemon_start(&roced, NULL);
}

/* ---- listeners ---- */

UNIT_RULE(listen__at_a_service_id_of_another_process_finds_it_in_use)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);

	assert_int_equal(client_listen(a.fd, SERVICE), 0);
	assert_int_equal(client_listen(b.fd, SERVICE), -EADDRINUSE);
	assert_int_equal(client_listen(b.fd, SERVICE + 1), 0);
	assert_int_equal(client_listen(a.fd, SERVICE), 0); /* the process counts its own */
	client_end(&a);
	client_end(&b);
}

UNIT_RULE(unlisten__gives_back_ones_own_service_id_alone)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);

	assert_int_equal(client_listen(a.fd, SERVICE), 0);
	client_say_service(b.fd, ROCE_MSG_UNLISTEN, SERVICE);
	assert_int_equal(client_listen(b.fd, SERVICE), -EADDRINUSE);
	client_say_service(a.fd, ROCE_MSG_UNLISTEN, SERVICE);
	client_hears_nothing(a.fd);
	assert_int_equal(client_listen(b.fd, SERVICE), 0);
	client_end(&a);
	client_end(&b);
}

/* The end of a connection reaches roced in its turn: the caller's next message is behind it. */
static void
settle(void)
{
	struct client client = client_attach(&roced, 0);

	client_hears_nothing(client.fd);
	client_end(&client);
}

UNIT_RULE(listeners__of_a_process_that_is_gone_are_given_back)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);

	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(client_listen(a.fd, SERVICE + i), 0);
	client_end(&a);
	settle();
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(client_listen(b.fd, SERVICE + i), 0);
	client_end(&b);
}

/* ---- channels ---- */

struct end {
	uint32_t number, side;
	int fd[ROCE_PROTO_FDS];
};

static struct end
hear_channel(int fd)
{
	struct end end;
	const struct roce_msg msg = client_hear(fd, ROCE_MSG_CHANNEL, end.fd);

	end.number = msg.channel.number;
	end.side = msg.channel.side;
	return end;
}

static void
close_end(struct end *end)
{
	for (unsigned int i = 0; i < ROCE_PROTO_FDS; i++)
		close(end->fd[i]);
}

static bool
is_same_file(int a, int b)
{
	struct stat st_a, st_b;

	assert_int_equal(fstat(a, &st_a), 0);
	assert_int_equal(fstat(b, &st_b), 0);
	return st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

static void
assert_wakes(int one, int other)
{
	char byte;

	assert_int_equal(send(one, "", 1, MSG_DONTWAIT), 1);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), 1);
}

UNIT_RULE(open__gives_both_ends_one_memory_the_bell_of_the_other_and_a_socket_to_it)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct end of_a, of_b;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	of_a = hear_channel(a.fd);
	of_b = hear_channel(b.fd);
	assert_int_equal(of_a.number, b.number);
	assert_int_equal(of_b.number, a.number);
	assert_int_equal(of_a.side + of_b.side, 1);
	assert_true(is_same_file(of_a.fd[0], of_b.fd[0]));
	assert_true(is_same_file(of_a.fd[1], b.bell));
	assert_true(is_same_file(of_b.fd[1], a.bell));
	assert_wakes(of_a.fd[2], of_b.fd[2]);
	assert_wakes(of_b.fd[2], of_a.fd[2]);
	close_end(&of_a);
	close_end(&of_b);
	client_end(&a);
	client_end(&b);
}

/* roced has no copy: the end of a process is seen by its peer also when roced does not live. */
UNIT_RULE(socket__of_a_channel_sees_the_end_of_the_other_end)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct end of_a, of_b;
	char byte;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	of_a = hear_channel(a.fd);
	of_b = hear_channel(b.fd);
	close_end(&of_a);
	assert_int_equal(recv(of_b.fd[2], &byte, 1, 0), 0);
	close_end(&of_b);
	client_end(&a);
	client_end(&b);
}

/* A peer could have the other end wait for as long as it takes to close one. */
UNIT_RULE(socket__of_a_channel_takes_no_descriptor_where_the_kernel_can_refuse)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct end of_a, of_b;
	int passes = 1;
	socklen_t len = sizeof(passes);
	bool can;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	of_a = hear_channel(a.fd);
	of_b = hear_channel(b.fd);
	can = getsockopt(a.fd, SOL_SOCKET, SO_PASSRIGHTS, &passes, &len) == 0;
	if (can) {
		assert_int_equal(send_descriptors(of_a.fd[2], "", 1, &a.bell, 1), -1);
		assert_int_equal(send_descriptors(of_b.fd[2], "", 1, &b.bell, 1), -1);
	}
	close_end(&of_a);
	close_end(&of_b);
	client_end(&a);
	client_end(&b);
	if (!can)
		skip();
}

UNIT_RULE(channel__is_memory_of_its_size_that_cannot_shrink)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct end end;
	struct stat st;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	end = hear_channel(a.fd);
	assert_int_equal(fstat(end.fd[0], &st), 0);
	assert_true((size_t)st.st_size >= sizeof(struct roce_channel_memory));
	assert_int_equal(st.st_size % sysconf(_SC_PAGESIZE), 0);
	assert_int_equal(fcntl(end.fd[0], F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	assert_int_equal(ftruncate(end.fd[0], 0), -1);
	close_end(&end);
	client_end(&a);
	client_end(&b);
}

UNIT_RULE(open__of_a_pair_that_has_a_channel_makes_no_second_one)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct end end;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_say_peer(b.fd, ROCE_MSG_OPEN, a.number);
	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	end = hear_channel(a.fd);
	close_end(&end);
	client_hears_nothing(a.fd);
	end = hear_channel(b.fd);
	close_end(&end);
	client_hears_nothing(b.fd);
	client_end(&a);
	client_end(&b);
}

UNIT_RULE(open__of_no_process_is_answered_by_its_end_and_of_oneself_by_nothing)
{
	struct client a = client_attach(&roced, 0);

	client_say_peer(a.fd, ROCE_MSG_OPEN, a.number);
	client_say_peer(a.fd, ROCE_MSG_OPEN, 999);
	client_hear_gone(a.fd, 999);
	client_say_peer(a.fd, ROCE_MSG_OPEN, ROCE_PROCESS_UPLINK);
	client_hear_gone(a.fd, ROCE_PROCESS_UPLINK);
	client_say_peer(a.fd, ROCE_MSG_OPEN, UINT32_MAX);
	client_hear_gone(a.fd, UINT32_MAX);
	client_hears_nothing(a.fd);
	client_end(&a);
}

/* ---- the end of a process ---- */

UNIT_RULE(end__of_a_process_is_told_to_its_peers_and_to_no_others)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);
	struct client other = client_attach(&roced, 0);

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_hear(b.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&a);
	client_hear_gone(b.fd, a.number);
	client_hears_nothing(other.fd);
	client_hears_nothing(b.fd);
	client_end(&b);
	client_end(&other);
}

UNIT_RULE(kill__of_a_process_is_told_to_its_peers)
{
	struct client b = client_attach(&roced, 0);
	struct roce_msg msg;
	pid_t pid = fork();

	if (pid == 0) {
		struct client a = client_attach(&roced, 0);

		client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
		pause();
		_exit(0);
	}
	msg = client_hear(b.fd, ROCE_MSG_CHANNEL, NULL);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	client_hear_gone(b.fd, msg.channel.number);
	client_end(&b);
}

/* It has nothing to forget, and its queue has no more to keep. */
UNIT_RULE(end__of_a_peer_takes_back_a_channel_that_was_not_read)
{
	struct client reader = client_attach(&roced, 0), peer;

	for (unsigned int i = 0; i < 8000; i++) {
		peer = client_attach(&roced, 0);
		client_say_peer(peer.fd, ROCE_MSG_OPEN, reader.number);
		client_hear(peer.fd, ROCE_MSG_CHANNEL, NULL);
		client_end(&peer);
	}
	/* The words that the socket held before it was full come in pairs. */
	settle();
	client_say_service(reader.fd, ROCE_MSG_LISTEN, SERVICE);
	for (;;) {
		int fds[ROCE_PROTO_FDS];
		struct roce_msg msg;
		unsigned int n;
		int rc = roce_msg_recv(reader.fd, &msg, fds, &n);

		if (rc == -EAGAIN)
			continue;
		assert_int_equal(rc, 0);
		for (unsigned int i = 0; i < n; i++)
			close(fds[i]);
		if (msg.type == ROCE_MSG_LISTENED)
			break;
	}
	client_end(&reader);
}

/* ---- a roced that was killed and came back ---- */

struct couple {
	struct client a, b;
};

static struct couple
couple_of_before(void)
{
	struct couple c = { client_attach(&roced, 0), client_attach(&roced, 0) };

	client_lock(&roced, &c.a);
	client_lock(&roced, &c.b);
	client_say_peer(c.a.fd, ROCE_MSG_OPEN, c.b.number);
	client_hear(c.a.fd, ROCE_MSG_CHANNEL, NULL);
	client_hear(c.b.fd, ROCE_MSG_CHANNEL, NULL);
	client_hang_up(&c.a);
	client_hang_up(&c.b);
	restart(SIGKILL);
	return c;
}

/* The process says HELLO again, and which channel it has. */
static void
come_back(struct client *client, uint32_t peer)
{
	struct client again = client_attach(&roced, client->number);

	assert_int_equal(again.number, client->number);
	again.lock = client->lock;
	*client = again;
	client_say_peer(client->fd, ROCE_MSG_HAVE, peer);
}

UNIT_RULE(channel__outlives_roced)
{
	struct couple c = couple_of_before();

	come_back(&c.a, c.b.number);
	client_hears_nothing(c.a.fd);
	come_back(&c.b, c.a.number);
	client_hears_nothing(c.b.fd);
	client_say_peer(c.a.fd, ROCE_MSG_OPEN, c.b.number);
	client_hears_nothing(c.a.fd);
	client_end(&c.b);
	client_hear_gone(c.a.fd, c.b.number);
	client_end(&c.a);
}

UNIT_RULE(have__of_a_peer_that_died_meanwhile_is_answered_by_its_end)
{
	struct couple c = couple_of_before();

	client_end(&c.b);
	come_back(&c.a, c.b.number);
	client_hear_gone(c.a.fd, c.b.number);
	client_hears_nothing(c.a.fd);
	client_end(&c.a);
}

UNIT_RULE(have__of_a_peer_that_dies_before_it_comes_back_is_answered_by_its_end)
{
	struct couple c = couple_of_before();

	come_back(&c.a, c.b.number);
	client_hears_nothing(c.a.fd);
	client_end(&c.b);
	client_hear_gone(c.a.fd, c.b.number);
	client_end(&c.a);
}

/* That process is no longer the peer. */
UNIT_RULE(have__of_a_number_that_another_process_has_now_is_answered_by_its_end)
{
	struct couple c = couple_of_before();
	struct client other;

	client_end(&c.b);
	other = client_attach(&roced, c.b.number);
	assert_int_equal(other.number, c.b.number);
	come_back(&c.a, c.b.number);
	client_hear_gone(c.a.fd, c.b.number);
	client_say_peer(c.a.fd, ROCE_MSG_OPEN, c.b.number);
	client_hear(c.a.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&c.a);
	client_end(&other);
}

/* Its peers were told of its end when the connection ended. */
UNIT_RULE(have__of_a_process_that_only_lost_its_connection_is_answered_by_the_end_of_the_peer)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0), again;

	client_lock(&roced, &a);
	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_hear(b.fd, ROCE_MSG_CHANNEL, NULL);
	client_hang_up(&a);
	client_hear_gone(b.fd, a.number);
	again = client_attach(&roced, a.number);
	assert_int_equal(again.number, a.number);
	client_say_peer(again.fd, ROCE_MSG_HAVE, b.number);
	client_hear_gone(again.fd, b.number);
	client_hears_nothing(b.fd);
	client_end(&again);
	client_end(&a);
	client_end(&b);
}

/* As above, but both are from before: still, the peer was told. */
UNIT_RULE(have__of_a_process_from_before_that_lost_its_connection_is_answered_by_the_end_of_the_peer)
{
	struct couple c = couple_of_before();

	come_back(&c.a, c.b.number);
	come_back(&c.b, c.a.number);
	client_hears_nothing(c.b.fd);
	client_hang_up(&c.a);
	client_hear_gone(c.b.fd, c.a.number);
	come_back(&c.a, c.b.number);
	client_hear_gone(c.a.fd, c.b.number);
	client_hears_nothing(c.b.fd);
	client_end(&c.a);
	client_end(&c.b);
}

/* The peer came back and went before this process came back. */
UNIT_RULE(have__of_a_peer_that_has_been_here_is_answered_by_its_end)
{
	struct couple c = couple_of_before();

	come_back(&c.b, c.a.number);
	client_hears_nothing(c.b.fd);
	client_hang_up(&c.b);
	settle();
	come_back(&c.a, c.b.number);
	client_hear_gone(c.a.fd, c.b.number);
	client_end(&c.a);
	client_end(&c.b);
}

UNIT_RULE(open__after_the_end_of_a_peer_makes_a_channel_to_the_next_process_of_its_number)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0), next;

	client_say_peer(a.fd, ROCE_MSG_OPEN, b.number);
	client_hear(a.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&b);
	client_hear_gone(a.fd, b.number);
	next = client_attach(&roced, b.number);
	assert_int_equal(next.number, b.number);
	client_say_peer(a.fd, ROCE_MSG_OPEN, next.number);
	client_hear(a.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&a);
	client_end(&next);
}

/* One end has told of the channel; the other one has not, so far. */
UNIT_RULE(open__of_a_channel_that_one_end_has_told_of_makes_no_second_one)
{
	struct couple c = couple_of_before();
	struct client b;

	come_back(&c.a, c.b.number);
	client_hears_nothing(c.a.fd);
	b = client_attach(&roced, c.b.number);
	assert_int_equal(b.number, c.b.number);
	client_say_peer(b.fd, ROCE_MSG_OPEN, c.a.number);
	client_hears_nothing(b.fd);
	client_hears_nothing(c.a.fd);
	client_end(&b);
	client_end(&c.a);
	client_end(&c.b);
}
