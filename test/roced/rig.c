/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_MAX 16

/* No test listens there but to have an answer. */
#define BARRIER_SERVICE UINT64_C(0xb0b0000000000000)

/* ---- the program ---- */

const char *
daemon_program(void)
{
	const char *program = getenv("ROCED");

	assert_non_null(program);
	return program;
}

void
daemon_folder(struct daemon *daemon)
{
	*daemon = (struct daemon){ .dir = "/tmp/roced-test-XXXXXX" };
	assert_non_null(mkdtemp(daemon->dir));
}

int
daemon_manager(struct sockaddr_un *address, const struct daemon *daemon)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/notify", daemon->dir);
	unlink(address->sun_path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

static void
wait_readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&wait, 1, RIG_PATIENCE_MS), 1);
}

void
daemon_start(struct daemon *daemon, const char *const *more)
{
	const char *args[ARGS_MAX] = { daemon_program(), "--dir", daemon->dir };
	struct sockaddr_un manager;
	int fd = daemon_manager(&manager, daemon);
	char state[32] = "";

	for (int i = 3; more != NULL && *more != NULL; i++)
		args[i] = *more++;
	daemon->pid = fork();
	assert_true(daemon->pid >= 0);
	if (daemon->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("NOTIFY_SOCKET", manager.sun_path, 1);
		execv(args[0], (char *const *)(uintptr_t)args);
		_exit(127);
	}
	wait_readable(fd);
	assert_int_equal(recv(fd, state, sizeof(state) - 1, 0), (int)strlen("READY=1"));
	assert_string_equal(state, "READY=1");
	close(fd);
}

int
daemon_end(struct daemon *daemon, int signal)
{
	int status;

	assert_int_equal(kill(daemon->pid, signal), 0);
	assert_int_equal(waitpid(daemon->pid, &status, 0), daemon->pid);
	daemon->pid = 0;
	return status;
}

void
daemon_remove(struct daemon *daemon)
{
	static const char *const files[] = { "roced.sock", "roced.lock", "roced.numbers",
		"notify" };
	char path[128];

	if (daemon->pid > 0)
		daemon_end(daemon, SIGKILL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", daemon->dir, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(daemon->dir), 0);
}

int
daemon_run(const char *const *args)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		execv(args[0], (char *const *)(uintptr_t)args);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

int
daemon_try_connect(const struct daemon *daemon)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", daemon->dir,
			ROCE_PROTO_SOCKET);
	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int
daemon_connect(const struct daemon *daemon)
{
	int fd = daemon_try_connect(daemon);

	assert_true(fd >= 0);
	return fd;
}

unsigned int
daemon_descriptors(pid_t pid)
{
	char path[64];
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* ---- a client ---- */

struct roce_msg
client_hello(uint32_t wanted)
{
	return (struct roce_msg){
		.type = ROCE_MSG_HELLO,
		.hello = { .version = ROCE_PROTO_VERSION, .number = wanted, .name = "test" },
	};
}

int
client_memory(unsigned int pages, unsigned int flags, int seals)
{
	int fd = memfd_create("test-bell", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)pages * sysconf(_SC_PAGESIZE)), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

int
client_bell(void)
{
	return client_memory(1, 0, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

void
client_say_hello(int fd, const struct roce_msg *hello)
{
	int bell = client_bell();

	assert_int_equal(roce_msg_send(fd, hello, &bell, 1), 0);
	close(bell);
}

struct client
client_attach(const struct daemon *daemon, uint32_t wanted)
{
	struct client client = { .fd = daemon_connect(daemon), .bell = client_bell(), .lock = -1 };
	struct roce_msg msg = client_hello(wanted);

	assert_int_equal(roce_msg_send(client.fd, &msg, &client.bell, 1), 0);
	msg = client_hear(client.fd, ROCE_MSG_WELCOME, NULL);
	client.number = msg.welcome.number;
	client.daemon_pid = msg.welcome.pid;
	client.identity = msg.welcome.identity;
	return client;
}

void
client_lock(const struct daemon *daemon, struct client *client)
{
	struct flock lock = {
		.l_type = F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = client->number,
		.l_len = 1,
	};
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", daemon->dir, ROCE_PROTO_NUMBERS);
	client->lock = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(client->lock >= 0);
	assert_int_equal(fcntl(client->lock, F_OFD_SETLK, &lock), 0);
}

void
client_hang_up(struct client *client)
{
	close(client->fd);
	close(client->bell);
	client->fd = -1;
}

void
client_end(struct client *client)
{
	if (client->fd >= 0)
		client_hang_up(client);
	if (client->lock >= 0)
		close(client->lock);
	client->lock = -1;
}

void
client_say(int fd, const struct roce_msg *msg)
{
	assert_int_equal(roce_msg_send(fd, msg, NULL, 0), 0);
}

void
client_say_peer(int fd, uint32_t type, uint32_t number)
{
	const struct roce_msg msg = { .type = type, .peer.number = number };

	client_say(fd, &msg);
}

void
client_say_service(int fd, uint32_t type, uint64_t service_id)
{
	const struct roce_msg msg = { .type = type, .service.service_id = service_id };

	client_say(fd, &msg);
}

struct roce_msg
client_hear(int fd, uint32_t type, int *fds)
{
	int got[ROCE_PROTO_FDS] = { -1, -1, -1 };
	struct roce_msg msg;
	unsigned int n = 0;

	wait_readable(fd);
	assert_int_equal(roce_msg_recv(fd, &msg, got, &n), 0);
	assert_int_equal(msg.type, type);
	for (unsigned int i = 0; i < n && fds == NULL; i++)
		close(got[i]);
	if (fds != NULL)
		memcpy(fds, got, sizeof(got));
	return msg;
}

void
client_hear_gone(int fd, uint32_t number)
{
	const struct roce_msg msg = client_hear(fd, ROCE_MSG_GONE, NULL);

	assert_int_equal(msg.peer.number, number);
}

int
client_listen(int fd, uint64_t service_id)
{
	struct roce_msg msg;

	client_say_service(fd, ROCE_MSG_LISTEN, service_id);
	msg = client_hear(fd, ROCE_MSG_LISTENED, NULL);
	assert_true(msg.listened.service_id == service_id);
	return msg.listened.error;
}

void
client_hears_nothing(int fd)
{
	uint64_t service_id = BARRIER_SERVICE | (uint64_t)getpid() << 16 | (uint64_t)fd;

	assert_int_equal(client_listen(fd, service_id), 0);
	client_say_service(fd, ROCE_MSG_UNLISTEN, service_id);
}

void
client_hears_end(int fd)
{
	int fds[ROCE_PROTO_FDS];
	struct roce_msg msg;
	unsigned int n;
	int rc;

	do {
		wait_readable(fd);
		rc = roce_msg_recv(fd, &msg, fds, &n);
		for (unsigned int i = 0; rc == 0 && i < n; i++)
			close(fds[i]);
	} while (rc == 0);
	assert_true(rc == -EPIPE || rc == -ECONNRESET);
}
