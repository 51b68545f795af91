/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for roced: by a program with more rights than its user, who chooses PATH and the program's name (this program
 * again, as a setuid program); and by one that handles signals all the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "local/local_pvt.h"
#include "unit/rules.h"
#include "unit/setuid.h"

/* Exit statuses of the setuid program. */
#define REFUSED   0
#define ELSE      1
#define NO_RIGHTS 77

#define TEMPLATE "/tmp/test_local_attach.XXXXXX"

#define MS_NS INT64_C(1000000)
#define S_NS  INT64_C(1000000000)

static char base[] = TEMPLATE;

/* Time that passes in waits alone. A signal ends each of them when half of it is over; the last instant is not halved. */
static struct {
	bool runs;
	int64_t ns;
	unsigned int waits;
} made_up;

#define WAITS_MAX 10000u

/* @return true: a signal ends it. */
static bool
pass_half(int64_t ns)
{
	bool last = ns <= MS_NS || ++made_up.waits >= WAITS_MAX;

	made_up.ns += last ? ns : ns / 2;
	errno = last ? 0 : EINTR;
	return !last;
}

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	if (!made_up.runs)
		return (int)syscall(SYS_clock_gettime, clock_id, tp);
	*tp = (struct timespec){ made_up.ns / S_NS, made_up.ns % S_NS };
	return 0;
}

int
poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	const struct timespec time = { timeout / 1000, timeout % 1000 * MS_NS };

	if (!made_up.runs)
		return ppoll(fds, nfds, timeout < 0 ? NULL : &time, NULL);
	return pass_half(timeout * MS_NS) ? -1 : 0;
}

int
nanosleep(const struct timespec *requested_time, struct timespec *remaining)
{
	int64_t ns = requested_time->tv_sec * S_NS + requested_time->tv_nsec;

	if (!made_up.runs) {
		/* As long as the library wants. */
		errno = clock_nanosleep(CLOCK_REALTIME, 0, requested_time, remaining);
		return errno == 0 ? 0 : -1;
	}
	if (!pass_half(ns))
		return 0;
	if (remaining != NULL)
		*remaining = (struct timespec){ (ns - ns / 2) / S_NS, (ns - ns / 2) % S_NS };
	return -1;
}

/* No roced listens in the folder. */
static int
attach_in(const char *dir)
{
	static struct roce_local local = { .number_lock = -1 };
	char text[256] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	if (getauxval(AT_SECURE) == 0)
		return NO_RIGHTS;
	snprintf(local.dir, sizeof(local.dir), "%s", dir);
	if (roce_local_attach(&local, &errmsg) != -ENODEV ||
			strstr(text, "more rights than its user") == NULL)
		return ELSE;
	return REFUSED;
}

static void
path_in(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", base, name);
}

static void
make_false_roced(const char *command)
{
	char path[64];
	FILE *file;

	path_in(path, "roced");
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\n%s\n", command) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* @return its exit status. */
static int
run(const char *program, const char *name)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setenv("PATH", base, 1);
		unsetenv("UDAPL_ROCE_ROCED");
		execl(program, name, base, NULL);
		_exit(ELSE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
setup(void **state)
{
	memcpy(base, TEMPLATE, sizeof(base));
	return mkdtemp(base) != NULL ? chmod(base, 0777) : -1;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "roced", "program", "ran", "roced.sock" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(path, names[i]);
		unlink(path);
	}
	return rmdir(base);
}

UNIT_RULE(attach__runs_no_roced_that_the_user_of_a_setuid_program_chose)
{
	char program[64], chosen[64], ran[64], leave[80];
	int status;

	if (geteuid() != 0)
		skip();
	path_in(program, "program");
	path_in(chosen, "chosen");
	path_in(ran, "ran");
	/* It leaves a file behind when it runs. */
	snprintf(leave, sizeof(leave), ": >%s", ran);
	make_false_roced(leave);
	make_setuid_program(program, 2000000000 + (uid_t)getpid());
	status = run(program, chosen);
	if (status == NO_RIGHTS)
		skip();
	assert_int_not_equal(access(ran, F_OK), 0);
	assert_int_equal(status, REFUSED);
}

/* In made-up time. @return as roce_local_attach(). */
static int
attach_among_signals(struct roce_errmsg *errmsg)
{
	static struct roce_local local;
	int rc;

	local = (struct roce_local){ .number_lock = -1, .bell_fd = eventfd(0, EFD_CLOEXEC) };
	snprintf(local.dir, sizeof(local.dir), "%s", base);
	memset(&made_up, 0, sizeof(made_up));
	made_up.runs = true;
	rc = roce_local_attach(&local, errmsg);
	made_up.runs = false;
	close(local.bell_fd);
	return rc;
}

UNIT_RULE(answer__is_awaited_as_long_among_signals)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct roce_errmsg errmsg = { 0 };

	path_in(address.sun_path, "roced.sock");
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(attach_among_signals(&errmsg), -ETIMEDOUT);
	assert_in_range(made_up.ns / MS_NS, 14990, 15010);
	close(listener);
}

UNIT_RULE(uplink__is_awaited_as_long_among_signals)
{
	char path[64], text[256] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	path_in(path, "roced");
	make_false_roced("exit 75");
	setenv("UDAPL_ROCE_ROCED", path, 1);
	assert_int_equal(attach_among_signals(&errmsg), -ENODEV);
	unsetenv("UDAPL_ROCE_ROCED");
	assert_non_null(strstr(text, "roced with an uplink"));
	assert_in_range(made_up.ns / MS_NS, 4890, 4910);
}

int
main(int argc, char **argv)
{
	/* The sanitizer of leaks cannot look into a setuid program, and calls that a failure: at once, without it. */
	if (argc == 2 && argv[1][0] == '/')
		_exit(attach_in(argv[1]));
	return unit_run();
}
