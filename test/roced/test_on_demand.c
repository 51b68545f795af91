/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A roced that is started by the first process that needs it, and ends with the last one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define STARTERS 64

static struct daemon roced;

static int
setup(void **state)
{
	daemon_folder(&roced);
	return 0;
}

static int
start(const char *linger)
{
	const char *args[] = { daemon_program(), "--on-demand", "--dir", roced.dir, "--linger",
		linger, NULL };

	return daemon_run(args);
}

/* roced is no child of the test, so its socket is all that tells. */
static void
await_end(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < RIG_PATIENCE_MS; i++) {
		int fd = daemon_try_connect(&roced);

		if (fd < 0)
			return;
		close(fd);
		nanosleep(&nap, NULL);
	}
	fail_msg("roced does not end");
}

static int
teardown(void **state)
{
	daemon_remove(&roced);
	return 0;
}

/* The client connects as soon as the process that it has started has ended. */
UNIT_RULE(start__is_done_when_the_socket_is_there)
{
	struct client client;

	assert_int_equal(start("0"), 0);
	client = client_attach(&roced, 0);
	assert_int_not_equal(client.daemon_pid, 0);
	client_end(&client);
	await_end();
}

UNIT_RULE(start__where_a_roced_runs_already_does_nothing)
{
	struct client a, b;

	assert_int_equal(start("0"), 0);
	a = client_attach(&roced, 0);
	assert_int_equal(start("0"), 0);
	b = client_attach(&roced, 0);
	assert_int_equal(a.daemon_pid, b.daemon_pid);
	client_end(&a);
	client_end(&b);
	await_end();
}

/* It is no part of the service whose program has started it: that one is ready, and ends, when its own program says so. */
UNIT_RULE(start__tells_the_service_manager_of_the_starter_nothing)
{
	struct sockaddr_un manager;
	int fd = daemon_manager(&manager, &roced);
	struct client client;
	char word[32];

	setenv("NOTIFY_SOCKET", manager.sun_path, 1);
	assert_int_equal(start("0"), 0);
	unsetenv("NOTIFY_SOCKET");
	client = client_attach(&roced, 0);
	client_end(&client);
	await_end();
	assert_int_equal(recv(fd, word, sizeof(word), MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

/* One that an administrator starts says that there is one already. */
UNIT_RULE(second_roced__in_the_foreground_fails)
{
	const char *args[] = { daemon_program(), "--dir", roced.dir, NULL };

	daemon_start(&roced, NULL);
	assert_int_equal(daemon_run(args), 1);
	assert_int_equal(start("0"), 0);
}

/* Processes attach to the new one as when the old one had been killed. */
UNIT_RULE(roced__on_demand_makes_way_for_one_that_somebody_starts)
{
	struct client before, after;

	assert_int_equal(start("100"), 0);
	before = client_attach(&roced, 0);
	daemon_start(&roced, NULL);
	client_hears_end(before.fd);
	after = client_attach(&roced, 0);
	assert_int_equal(after.daemon_pid, roced.pid);
	assert_int_not_equal(before.daemon_pid, after.daemon_pid);
	client_end(&before);
	client_end(&after);
}

/* One with an uplink was killed: processes wait for it instead of going on without. An administrator may think otherwise. */
UNIT_RULE(start__where_one_with_an_uplink_is_to_come_back_fails)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", roced.dir, ROCE_PROTO_UPLINK);
	assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)), 0);
	assert_int_equal(start("0"), ROCE_PROTO_AWAITED);
	assert_int_equal(access(path, F_OK), 0);
	daemon_start(&roced, NULL);
	assert_int_equal(access(path, F_OK), -1);
	daemon_end(&roced, SIGTERM);
	assert_int_equal(start("0"), 0);
	await_end();
}

/* In a child of the test a failure is an exit status: it must not go on with the test. */
#define MUST(holds)                                                                 \
	do {                                                                        \
		if (!(holds)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds); \
			_exit(1);                                                   \
		}                                                                   \
	} while (0)

/* As the library does it: connect, or start one and connect; and once more if it ends meanwhile. */
static struct client
attach_or_start(void)
{
	for (;;) {
		struct roce_msg msg = client_hello(0);
		struct client client = { .fd = daemon_try_connect(&roced), .lock = -1 };
		int fds[ROCE_PROTO_FDS];
		unsigned int n;

		if (client.fd < 0) {
			MUST(start("0") == 0);
			continue;
		}
		client.bell = client_bell();
		if (roce_msg_send(client.fd, &msg, &client.bell, 1) == 0) {
			struct pollfd wait = { .fd = client.fd, .events = POLLIN };

			MUST(poll(&wait, 1, RIG_PATIENCE_MS) == 1);
			if (roce_msg_recv(client.fd, &msg, fds, &n) == 0) {
				MUST(msg.type == ROCE_MSG_WELCOME);
				client.number = msg.welcome.number;
				client.daemon_pid = msg.welcome.pid;
				return client;
			}
		}
		client_hang_up(&client);
	}
}

/* Pipes: all begin at once, tell their number and the pid of their roced, and leave at once. */
struct gate {
	int begin[2], answer[2], leave[2];
};

static void
starter(const struct gate *gate)
{
	struct client client;
	uint32_t answer[2];
	char byte;

	MUST(read(gate->begin[0], &byte, 1) == 1);
	client = attach_or_start();
	answer[0] = client.number;
	answer[1] = client.daemon_pid;
	MUST(write(gate->answer[1], answer, sizeof(answer)) == sizeof(answer));
	MUST(read(gate->leave[0], &byte, 1) == 1);
	_exit(0);
}

static void
hear_starters(const struct gate *gate)
{
	bool used[ROCE_PROCESSES] = { false };
	uint32_t answer[2], daemon_pid = 0;

	for (unsigned int i = 0; i < STARTERS; i++) {
		assert_int_equal(read(gate->answer[0], answer, sizeof(answer)), sizeof(answer));
		assert_in_range(answer[0], 1, ROCE_PROCESS_MAX);
		assert_false(used[answer[0]]);
		used[answer[0]] = true;
		assert_true(i == 0 || answer[1] == daemon_pid);
		daemon_pid = answer[1];
	}
}

UNIT_RULE(starts__by_64_processes_at_once_yield_one_roced)
{
	static const char go[STARTERS];
	struct gate gate;

	assert_int_equal(pipe2(gate.begin, O_CLOEXEC), 0);
	assert_int_equal(pipe2(gate.answer, O_CLOEXEC), 0);
	assert_int_equal(pipe2(gate.leave, O_CLOEXEC), 0);
	for (unsigned int i = 0; i < STARTERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			starter(&gate);
	}
	assert_int_equal(write(gate.begin[1], go, STARTERS), STARTERS);
	hear_starters(&gate);
	assert_int_equal(write(gate.leave[1], go, STARTERS), STARTERS);
	for (unsigned int i = 0; i < STARTERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (unsigned int i = 0; i < 2; i++) {
		close(gate.begin[i]);
		close(gate.answer[i]);
		close(gate.leave[i]);
	}
	await_end();
}

UNIT_RULE(end__is_no_race_with_a_process_that_comes)
{
	uint32_t daemons = 0, last = 0;

	for (unsigned int i = 0; i < 2000; i++) {
		struct client client = attach_or_start();

		daemons += client.daemon_pid != last;
		last = client.daemon_pid;
		client_end(&client);
	}
	assert_in_range(daemons, 1, 2000);
	await_end();
}

UNIT_RULE(end__leaves_no_socket_behind)
{
	struct client client;
	char path[128];
	struct stat st;

	assert_int_equal(start("0"), 0);
	client = client_attach(&roced, 0);
	client_end(&client);
	await_end();
	snprintf(path, sizeof(path), "%s/%s", roced.dir, ROCE_PROTO_SOCKET);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(errno, ENOENT);
}

UNIT_RULE(socket__that_a_killed_roced_left_behind_is_replaced)
{
	struct client before, after;

	assert_int_equal(start("60"), 0);
	before = client_attach(&roced, 0);
	assert_int_equal(kill((pid_t)before.daemon_pid, SIGKILL), 0);
	client_hears_end(before.fd);
	await_end();
	assert_int_equal(daemon_try_connect(&roced), -ECONNREFUSED);
	after = attach_or_start();
	assert_int_not_equal(after.daemon_pid, before.daemon_pid);
	client_end(&before);
	client_end(&after);
	await_end();
}

/* ---- what it takes over from its starter ---- */

static char
state_of(pid_t pid, int *session, int *tty)
{
	char path[64], line[512] = "", *at;
	FILE *file;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	/* Behind the name: state, parent, group, session, terminal. */
	at = strrchr(line, ')');
	assert_non_null(at);
	state = at[2];
	at += 3;
	for (unsigned int i = 0; i < 2; i++)
		(void)strtol(at, &at, 10);
	*session = (int)strtol(at, &at, 10);
	*tty = (int)strtol(at, &at, 10);
	return state;
}

static void
assert_descriptors(pid_t pid, const char *unwanted)
{
	char path[64], target[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (strtol(entry->d_name, NULL, 10) <= STDERR_FILENO)
			assert_string_equal(target, "/dev/null");
		assert_null(strstr(target, unwanted));
	}
	closedir(dir);
}

UNIT_RULE(roced__keeps_no_session_terminal_or_descriptor_of_its_starter)
{
	struct client client;
	int session, tty, pipes[2];

	assert_int_equal(pipe(pipes), 0); /* inherited, as careless programs have them */
	assert_int_equal(start("0"), 0);
	client = client_attach(&roced, 0);
	state_of((pid_t)client.daemon_pid, &session, &tty);
	assert_int_equal(session, client.daemon_pid);
	assert_int_equal(tty, 0);
	assert_descriptors((pid_t)client.daemon_pid, "pipe:");
	client_end(&client);
	close(pipes[0]);
	close(pipes[1]);
	await_end();
}

UNIT_RULE(roced__starts_with_closed_standard_descriptors_and_blocked_signals)
{
	struct client client;
	sigset_t all;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		signal(SIGQUIT, SIG_IGN);
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			close(fd);
		execl(daemon_program(), "roced", "--on-demand", "--dir", roced.dir, "--linger",
				"60", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	client = client_attach(&roced, 0);
	assert_int_equal(kill((pid_t)client.daemon_pid, SIGQUIT), 0);
	client_hears_end(client.fd);
	client_end(&client);
	await_end();
}

/* ---- folders ---- */

UNIT_RULE(folder__that_others_may_enter_is_refused)
{
	assert_int_equal(chmod(roced.dir, 0755), 0);
	assert_int_equal(start("0"), 1);
	assert_int_equal(chmod(roced.dir, 0710), 0);
	assert_int_equal(start("0"), 1);
	assert_int_equal(chmod(roced.dir, 0700), 0);
	assert_int_equal(start("0"), 0);
	await_end();
}

UNIT_RULE(socket_and_files__are_the_users_alone)
{
	static const char *const names[] = { ROCE_PROTO_SOCKET, ROCE_PROTO_LOCK,
		ROCE_PROTO_NUMBERS };
	char path[128];
	struct stat st;

	daemon_start(&roced, NULL);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", roced.dir, names[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

UNIT_RULE(socket__of_a_group_is_for_its_members)
{
	static const char *const more[] = { "--group", "root", NULL };
	char path[128];
	struct stat st;

	if (geteuid() != 0)
		skip();
	daemon_start(&roced, more);
	assert_int_equal(stat(roced.dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0750);
	snprintf(path, sizeof(path), "%s/%s", roced.dir, ROCE_PROTO_SOCKET);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	snprintf(path, sizeof(path), "%s/%s", roced.dir, ROCE_PROTO_NUMBERS);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}
