/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for roced by a program with more rights than its user, who chooses PATH and the program's name: this program
 * again, as a setuid program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/local_pvt.h"
#include "unit/rules.h"

/* Exit statuses of the setuid program. */
#define REFUSED   0
#define ELSE      1
#define NO_RIGHTS 77

static char base[] = "/tmp/test_local_attach.XXXXXX";

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

/* One that leaves a file behind when it runs. */
static void
make_false_roced(void)
{
	char path[64];
	FILE *file;

	path_in(path, "roced");
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\n: >%s/ran\n", base) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void
make_setuid_program(const char *path, uid_t uid)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char bytes[65536];
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	assert_int_equal(fchown(to, uid, uid), 0);
	assert_int_equal(fchmod(to, 04755), 0);
	close(from);
	close(to);
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
	return mkdtemp(base) != NULL ? chmod(base, 0777) : -1;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "roced", "program", "ran" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(path, names[i]);
		unlink(path);
	}
	return rmdir(base);
}

UNIT_RULE(attach__runs_no_roced_that_the_user_of_a_setuid_program_chose)
{
	char program[64], chosen[64], ran[64];
	int status;

	if (geteuid() != 0)
		skip();
	path_in(program, "program");
	path_in(chosen, "chosen");
	path_in(ran, "ran");
	make_false_roced();
	make_setuid_program(program, 2000000000 + (uid_t)getpid());
	status = run(program, chosen);
	if (status == NO_RIGHTS)
		skip();
	assert_int_not_equal(access(ran, F_OK), 0);
	assert_int_equal(status, REFUSED);
}

int
main(int argc, char **argv)
{
	/* The sanitizer of leaks cannot look into a setuid program, and calls that a failure: at once, without it. */
	if (argc == 2 && argv[1][0] == '/')
		_exit(attach_in(argv[1]));
	return unit_run();
}
