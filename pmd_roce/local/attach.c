/* SPDX-License-Identifier: BSD-3-Clause */

/* The connection to roced: found or started, greeted, and the number of this process locked. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/file_limit.h"
#include "local/local_pvt.h"
#include "local/ring.h"
#include "local/steady_wait.h"
#include "observe/log.h"

#define ANSWER_MS \
	15000 /**< how long roced has for an answer: a busy machine may keep it waiting for seconds */
#define TRIES    50 /**< times that a roced which ends just now is found instead of the next one */
#define TRY_NS   2000000L
#define AWAIT_NS 100000000L /**< the same of one with an uplink that is to come back */

/* Folders with roced as seen from the folder of this library: installed, installed by Debian, and of the build. */
static const char *const places[] = { "", "../bin/", "../../bin/", "../../apps/", "../apps/" };

/* Does the program have more rights than its user? That one chose PATH, and the program's own name. */
static bool
is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

/* The file that has this function: a library, or the program by the name that it was started by. NULL: not known. */
static const char *
own_file(void)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)&roce_local_attach, &info, (void **)&map, RTLD_DL_LINKMAP) ==
			0)
		return NULL;
	/* Of the program the loader has no name but that. */
	return is_privileged() ? map->l_name : info.dli_fname;
}

/* @return false: there is none that this program may run. */
static bool
find_program(char *path, size_t len)
{
	const char *given = secure_getenv("UDAPL_ROCE_ROCED");
	const char *file = given == NULL ? own_file() : NULL;
	const char *slash = file != NULL ? strrchr(file, '/') : NULL;

	for (size_t i = 0; slash != NULL && i < RTE_DIM(places); i++) {
		snprintf(path, len, "%.*s/%sroced", (int)(slash - file), file, places[i]);
		if (access(path, X_OK) == 0)
			return true;
	}
	snprintf(path, len, "%s", given != NULL ? given : "roced");
	return !is_privileged();
}

/*
 * No signal, descriptor or session of the program is roced's. It is ready when the process that was started ends.
 * @return 0; -EBUSY: one with an uplink is to come back; -ENODEV; -ENOMEM.
 */
static int
start_roced(const char *dir, struct roce_errmsg *errmsg)
{
	char program[PATH_MAX];
	char *args[] = { program, (char *)(uintptr_t) "--on-demand", (char *)(uintptr_t) "--dir",
		(char *)(uintptr_t)dir, NULL };
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc, status = 0;
	pid_t pid;

	if (!find_program(program, sizeof(program)))
		return roce_errmsg_set(errmsg, -ENODEV,
				"roced does not run, and a program with more rights than its user starts "
				"none but the one that is installed beside the provider");
	/* It inherits the limit. */
	if (roce_file_limit_is_below(sizeof(struct roce_channel_memory)))
		return roce_errmsg_set(errmsg, -ENODEV,
				"%s is not started: channels are files of %zu MiB, raise the limit (ulimit -f)",
				program, sizeof(struct roce_channel_memory) >> 20);
	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawnattr_init(&attr) != 0)
		return -ENOMEM;
	posix_spawnattr_setflags(
			&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawnp(&pid, program, NULL, &attr, args, environ);
	posix_spawnattr_destroy(&attr);
	if (rc != 0)
		return roce_errmsg_set(errmsg, -ENODEV,
				"%s cannot be started: %s; set UDAPL_ROCE_ROCED to its path",
				program, strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == ROCE_PROTO_AWAITED)
		return -EBUSY;
	return roce_errmsg_set(errmsg, -ENODEV,
			"%s --on-demand --dir %s has failed: start it by hand to see why", program,
			dir);
}

/* Another user who has put a socket there gets nothing. */
static bool
is_trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
			(peer.uid == geteuid() || peer.uid == 0);
}

/* @return a descriptor; -ECONNREFUSED nobody listens; -errno. */
static int
dial(const char *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dir, ROCE_PROTO_SOCKET);
	rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
	if (rc == 0 && !is_trusted(fd))
		rc = -EACCES;
	if (rc == 0)
		return fd;
	close(fd);
	return rc == -ENOENT ? -ECONNREFUSED : rc;
}

static int
await_answer(int fd, struct roce_msg *msg)
{
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	int rc = roce_steady_poll(fd, POLLIN, ANSWER_MS);

	/* Neither answer has descriptors. */
	return rc != 0 ? rc : roce_msg_recv(fd, msg, fds, &n);
}

static int
say_hello(const struct roce_local *local, int fd, struct roce_msg *msg)
{
	int rc;

	memset(msg, 0, sizeof(*msg));
	msg->type = ROCE_MSG_HELLO;
	msg->hello.version = ROCE_PROTO_VERSION;
	msg->hello.number = local->number;
	msg->hello.uplink = local->uplink;
	if (local->uplink)
		msg->hello.identity = local->identity;
	snprintf(msg->hello.name, sizeof(msg->hello.name), "%s", program_invocation_short_name);
	rc = roce_msg_send(fd, msg, &local->bell_fd, 1);
	return rc != 0 ? rc : await_answer(fd, msg);
}

/* For the life of this process, also beyond that of roced: nobody else gets the number. */
static int
lock_number(struct roce_local *local, uint32_t number)
{
	struct flock byte = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1
	};
	char path[ROCE_RUN_DIR_LEN + sizeof(ROCE_PROTO_NUMBERS)];

	if (local->number_lock < 0) {
		snprintf(path, sizeof(path), "%s/%s", local->dir, ROCE_PROTO_NUMBERS);
		local->number_lock = open(
				path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
	}
	if (local->number_lock < 0)
		return -errno;
	return fcntl(local->number_lock, F_OFD_SETLK, &byte) == 0 ? 0 : -errno;
}

static int
greet(struct roce_local *local, int fd, struct roce_errmsg *errmsg)
{
	struct roce_msg msg;
	int rc = say_hello(local, fd, &msg);

	if (rc == 0 && msg.type == ROCE_MSG_REFUSED)
		return roce_errmsg_set(errmsg, -ENODEV, "roced in %s refuses: %s", local->dir,
				strerror(-msg.refused.error));
	if (rc == 0 &&
			(msg.type != ROCE_MSG_WELCOME ||
					(msg.welcome.number == ROCE_PROCESS_UPLINK) !=
							local->uplink ||
					msg.welcome.number > ROCE_PROCESS_MAX ||
					msg.welcome.identity.addrs == 0 ||
					msg.welcome.identity.addrs > ROCE_PROTO_ADDRS ||
					(local->number != 0 &&
							msg.welcome.number != local->number)))
		rc = -EPROTO;
	if (rc == -ETIMEDOUT)
		return roce_errmsg_set(errmsg, rc, "roced in %s does not answer", local->dir);
	if (rc != 0)
		return rc;
	if (local->number_lock < 0) {
		rc = lock_number(local, msg.welcome.number);
		if (rc != 0)
			return rc == -EAGAIN ? -EPIPE : rc;
	}
	local->number = msg.welcome.number;
	local->identity = msg.welcome.identity;
	return 0;
}

/* Also more messages than the socket holds. */
static int
tell(int fd, const struct roce_msg *msg)
{
	int rc;

	while ((rc = roce_msg_send(fd, msg, NULL, 0)) == -EAGAIN) {
		rc = roce_steady_poll(fd, POLLOUT, ANSWER_MS);
		if (rc != 0)
			return rc;
	}
	return rc;
}

/*
 * A new roced learns what the last one knew, before it gets a request of this process: else it would make a second channel
 * for a pair that has one. The thread of the connection, which alone makes and ends channels.
 */
static int
tell_again(struct roce_local *local, int fd)
{
	struct roce_msg have = { .type = ROCE_MSG_HAVE }, listen = { .type = ROCE_MSG_LISTEN };
	int rc = 0;

	for (uint32_t number = 0; number < ROCE_PROCESSES && rc == 0; number++) {
		have.peer.number = number;
		if (local->channel[number] != NULL)
			rc = tell(fd, &have);
		local->asked[number] = 0;
	}
	for (unsigned int i = 0;
			rc == 0 && roce_local_service_at(local, i, &listen.service.service_id); i++)
		rc = tell(fd, &listen);
	return rc;
}

/*
 * A roced with an uplink is started again by whoever started it. A process that has been attached comes back by itself
 * (attach_again()); a new one waits here.
 */
static bool
awaits_roced(const struct roce_local *local, unsigned int tries)
{
	if (local->number != 0 || tries == TRIES)
		return false;
	roce_steady_sleep(AWAIT_NS);
	return true;
}

/*
 * @return a connection to the roced that runs, or to one that was started; -EALREADY: one with an uplink is to come back;
 * -ESRCH: none can be started, and why was said; -errno.
 */
static int
find_roced(struct roce_local *local, struct roce_errmsg *errmsg)
{
	int fd = dial(local->dir);
	int rc;

	if (fd != -ECONNREFUSED || local->uplink)
		return fd;
	rc = start_roced(local->dir, errmsg);
	if (rc != 0)
		return rc == -EBUSY ? -EALREADY : -ESRCH;
	return dial(local->dir);
}

/* @return 0: attached, by @p fd; else that is closed. */
static int
enter(struct roce_local *local, int fd, struct roce_errmsg *errmsg)
{
	int rc = greet(local, fd, errmsg);

	if (rc == 0)
		rc = tell_again(local, fd);
	if (rc == 0)
		roce_local_use_socket(local, fd);
	else
		close(fd);
	return rc;
}

/* Has the roced ended that was found or greeted? The next one is started. */
static bool
may_follow(const struct roce_local *local, int rc)
{
	if (rc == -ECONNREFUSED)
		return !local->uplink;
	return rc == -EPIPE || rc == -ECONNRESET || rc == -EAGAIN;
}

int
roce_local_attach(struct roce_local *local, struct roce_errmsg *errmsg)
{
	int rc = -ECONNREFUSED;

	for (unsigned int i = 1; i <= TRIES; i++) {
		rc = find_roced(local, errmsg);
		if (rc == -EALREADY && awaits_roced(local, i))
			continue;
		if (rc >= 0)
			rc = enter(local, rc, errmsg);
		if (rc == 0 || !may_follow(local, rc))
			break;
		roce_steady_sleep(TRY_NS);
	}
	if (rc == 0)
		return 0;
	if (rc == -ESRCH)
		return -ENODEV;
	if (rc == -EALREADY)
		return roce_errmsg_set(errmsg, -ENODEV,
				"the roced with an uplink of %s does not run: start it, or remove "
				"%s/" ROCE_PROTO_UPLINK,
				local->dir, local->dir);
	return roce_errmsg_set(errmsg,
			rc == -ETIMEDOUT || rc == -EMFILE || rc == -ENOMEM ? rc : -ENODEV,
			"roced in %s cannot be reached: %s", local->dir, strerror(-rc));
}
