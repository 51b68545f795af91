/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process attaches to roced: its number, its bell, and which numbers are given.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define HUGE_PAGE (2l << 20)

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

/* ---- WELCOME ---- */

UNIT_RULE(hello__is_answered_by_a_number_and_the_identity_of_the_host)
{
	static const uint8_t mac[6] = { 0x02, 0x72, 0x6f, 0x63, 0x65, 0x00 };
	static const uint8_t ip[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	struct client client = client_attach(&roced, 0);

	assert_in_range(client.number, 1, ROCE_PROCESS_MAX);
	assert_int_equal(client.daemon_pid, roced.pid);
	assert_memory_equal(client.identity.mac, mac, sizeof(mac));
	assert_fields(client.identity, (mtu, 4200), (uplink, 0), (addrs, 1), (addr[0].prefix, 8));
	assert_memory_equal(client.identity.addr[0].ip, ip, sizeof(ip));
	client_end(&client);
}

static int
error_of_bell(int bell)
{
	struct roce_msg msg = client_hello(0);
	int fd = daemon_connect(&roced);

	assert_int_equal(roce_msg_send(fd, &msg, &bell, 1), 0);
	close(bell);
	msg = client_hear(fd, ROCE_MSG_REFUSED, NULL);
	client_hears_end(fd);
	close(fd);
	return msg.refused.error;
}

/* A peer that maps it would be ended by SIGBUS or SIGSEGV when this process likes. */
UNIT_RULE(bell__that_its_process_could_take_away_is_refused)
{
	const int good = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fds[2];

	assert_int_equal(error_of_bell(client_memory(1, 0, F_SEAL_GROW | F_SEAL_SEAL)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(1, 0, F_SEAL_SHRINK | F_SEAL_SEAL)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(1, 0, F_SEAL_SHRINK | F_SEAL_GROW)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(1, 0, good | F_SEAL_WRITE)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(1, 0, good | F_SEAL_FUTURE_WRITE)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(0, 0, good)), -EPROTO);
	assert_int_equal(error_of_bell(client_memory(2, 0, good)), -EPROTO);
	assert_int_equal(error_of_bell(open("/dev/null", O_RDWR | O_CLOEXEC)), -EPROTO);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[1]);
	assert_int_equal(error_of_bell(fds[0]), -EPROTO);
}

/* Huge pages may have gone to others when a peer touches the bell. */
UNIT_RULE(bell__in_huge_pages_is_refused)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0)
		skip();
	assert_int_equal(ftruncate(fd, HUGE_PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(error_of_bell(fd), -EPROTO);
}

UNIT_RULE(hello__of_another_version_is_refused)
{
	struct roce_msg msg = client_hello(0);
	int fd = daemon_connect(&roced);

	msg.hello.version++;
	client_say_hello(fd, &msg);
	msg = client_hear(fd, ROCE_MSG_REFUSED, NULL);
	assert_int_equal(msg.refused.error, -EPROTO);
	client_hears_end(fd);
	close(fd);
}

/* ---- numbers ---- */

UNIT_RULE(number__is_used_again_as_late_as_possible)
{
	bool used[ROCE_PROCESSES] = { false };

	for (unsigned int i = 0; i < ROCE_PROCESS_MAX; i++) {
		struct client client = client_attach(&roced, 0);

		assert_false(used[client.number]);
		used[client.number] = true;
		client_end(&client);
	}
}

UNIT_RULE(number__of_the_last_process_is_not_given_first_by_a_roced_that_was_killed_and_came_back)
{
	struct client a = client_attach(&roced, 0), b;

	client_end(&a);
	restart(SIGKILL);
	b = client_attach(&roced, 0);
	assert_int_not_equal(b.number, a.number);
	client_end(&b);
}

UNIT_RULE(number__that_is_wanted_and_free_is_given)
{
	struct client a = client_attach(&roced, 700), b;

	assert_int_equal(a.number, 700);
	b = client_attach(&roced, 700);
	assert_in_range(b.number, 1, ROCE_PROCESS_MAX);
	assert_int_not_equal(b.number, 700);
	client_end(&a);
	client_end(&b);
}

UNIT_RULE(number__of_a_process_that_lives_is_not_given_by_a_roced_that_was_killed_and_came_back)
{
	struct client lives = client_attach(&roced, 2), died = client_attach(&roced, 3), fresh;

	client_lock(&roced, &lives);
	client_lock(&roced, &died);
	client_end(&died);
	client_hang_up(&lives);
	restart(SIGKILL);
	for (unsigned int i = 0; i < ROCE_PROCESS_MAX; i++) {
		fresh = client_attach(&roced, 0);
		assert_int_not_equal(fresh.number, lives.number);
		client_end(&fresh);
	}
	fresh = client_attach(&roced, died.number);
	assert_int_equal(fresh.number, died.number);
	client_end(&fresh);
	client_end(&lives);
}

UNIT_RULE(number__is_given_to_its_process_again_when_roced_was_killed_and_came_back)
{
	struct client before = client_attach(&roced, 5), after;

	client_lock(&roced, &before);
	client_hang_up(&before);
	restart(SIGKILL);
	after = client_attach(&roced, before.number);
	assert_int_equal(after.number, before.number);
	client_end(&after);
	client_end(&before);
}

/* The other process says a number that is not its own, and gets another one. */
UNIT_RULE(number__of_a_process_that_lives_is_not_given_to_another_process)
{
	struct client before = client_attach(&roced, 5);
	int status;
	pid_t pid;

	client_lock(&roced, &before);
	client_hang_up(&before);
	restart(SIGKILL);
	pid = fork();
	if (pid == 0) {
		struct client thief = client_attach(&roced, before.number);

		_exit(thief.number == before.number);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	client_end(&before);
}

UNIT_RULE(hello__when_all_numbers_are_taken_is_refused_until_one_is_given_back)
{
	static struct client client[ROCE_PROCESS_MAX];
	struct roce_msg msg = client_hello(0);
	int fd = daemon_connect(&roced);

	for (unsigned int i = 0; i < ROCE_PROCESS_MAX; i++)
		client[i] = client_attach(&roced, 0);
	client_say_hello(fd, &msg);
	msg = client_hear(fd, ROCE_MSG_REFUSED, NULL);
	assert_int_equal(msg.refused.error, -EMFILE);
	close(fd);
	client_end(&client[77]);
	client[77] = client_attach(&roced, 0);
	for (unsigned int i = 0; i < ROCE_PROCESS_MAX; i++)
		client_end(&client[i]);
}

/* ---- the uplink ---- */

static struct roce_msg
uplink_hello(void)
{
	struct roce_msg msg = client_hello(0);

	msg.hello.uplink = 1;
	msg.hello.identity = (struct roce_proto_identity){
		.mac = { 0x02, 1, 2, 3, 4, 5 },
		.mtu = 1500,
		.addrs = 2,
		.addr = {
			{ .ip = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 7 }, .prefix = 24 },
			{ .ip = { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 }, .prefix = 64 },
		},
		.gw = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1 },
	};
	return msg;
}

UNIT_RULE(uplink__has_number_0_and_gives_all_later_processes_its_identity)
{
	const struct roce_msg hello = uplink_hello();
	int fd = daemon_connect(&roced);
	struct roce_msg msg;
	struct client later;

	client_say_hello(fd, &hello);
	msg = client_hear(fd, ROCE_MSG_WELCOME, NULL);
	assert_int_equal(msg.welcome.number, ROCE_PROCESS_UPLINK);
	later = client_attach(&roced, 0);
	assert_fields(later.identity, (mtu, 1500), (uplink, 1), (addrs, 3), (addr[1].prefix, 64),
			(addr[2].ip[12], 127), (addr[2].prefix, 8));
	assert_memory_equal(later.identity.mac, hello.hello.identity.mac, 6);
	assert_memory_equal(later.identity.gw, hello.hello.identity.gw, 16);
	assert_memory_equal(later.identity.addr, hello.hello.identity.addr,
			2 * sizeof(struct roce_proto_addr));
	client_end(&later);
	close(fd);
}

UNIT_RULE(uplink__is_one_at_a_time)
{
	const struct roce_msg hello = uplink_hello();
	int first = daemon_connect(&roced), second = daemon_connect(&roced), third;
	struct roce_msg msg;

	client_say_hello(first, &hello);
	client_hear(first, ROCE_MSG_WELCOME, NULL);
	client_say_hello(second, &hello);
	msg = client_hear(second, ROCE_MSG_REFUSED, NULL);
	assert_int_equal(msg.refused.error, -EBUSY);
	client_hears_end(second);
	close(first);
	third = daemon_connect(&roced);
	client_say_hello(third, &hello);
	client_hear(third, ROCE_MSG_WELCOME, NULL);
	close(second);
	close(third);
}

/* Processes that came before its end and those that come behind it go on talking by the same addresses. */
UNIT_RULE(identity__outlives_the_uplink)
{
	const struct roce_msg hello = uplink_hello();
	int fd = daemon_connect(&roced);
	struct client later;

	client_say_hello(fd, &hello);
	client_hear(fd, ROCE_MSG_WELCOME, NULL);
	close(fd);
	later = client_attach(&roced, 0);
	assert_fields(later.identity, (mtu, 1500), (uplink, 0), (addrs, 3));
	client_end(&later);
}

UNIT_RULE(uplink__without_a_good_identity_is_refused)
{
	struct roce_msg bad[6];

	for (unsigned int i = 0; i < 6; i++)
		bad[i] = uplink_hello();
	bad[0].hello.identity.addrs = ROCE_PROTO_ADDRS; /* no room for 127.0.0.1 */
	for (unsigned int i = 1; i < ROCE_PROTO_ADDRS; i++)
		bad[0].hello.identity.addr[i] = bad[0].hello.identity.addr[0];
	bad[1].hello.identity.addrs = 0;
	bad[2].hello.identity.mac[0] |= 1; /* of a group */
	bad[3].hello.identity.addr[0].prefix = 33;
	bad[4].hello.identity.addr[0].ip[12] = 224; /* of a group */
	bad[5].hello.identity.gw[0] = 0xff;         /* of a group */
	for (unsigned int i = 0; i < 6; i++) {
		int fd = daemon_connect(&roced);
		struct roce_msg msg;

		client_say_hello(fd, &bad[i]);
		msg = client_hear(fd, ROCE_MSG_REFUSED, NULL);
		assert_int_equal(msg.refused.error, -EINVAL);
		close(fd);
	}
}
