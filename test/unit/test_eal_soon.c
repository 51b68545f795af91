/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the EAL that are diverted, files eal_divert.c and eal_soon.c. rte_delay_us_sleep() of the same library sleeps by nanosleep(2), too,
 * so it stands for the measurement. The EAL is never started here.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_telemetry.h>

#include "ethdev/eal_divert.h"
#include "ethdev/eal_soon.h"
#include "rules.h"
#include "setuid.h"

/** As in DPDK's lib/eal/linux/eal_timer.c: a tenth of a second. */
#define MEASURE_US 100000u

static void *const eal = (void *)(uintptr_t)rte_eal_init;
static struct roce_eal_diverted diverted;
static unsigned int calls;
static struct timespec last;

static int
count_sleep(const struct timespec *wanted, struct timespec *left)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	last = *wanted;
	return 0;
}

static int
setup(void **state)
{
	calls = 0;
	last = (struct timespec){ 0 };
	return 0;
}

static int
teardown(void **state)
{
	return 0;
}

UNIT_RULE(divert__calls_for_the_sleep_of_dpdk)
{
	assert_true(roce_eal_divert(&diverted, eal, "nanosleep", (void *)(uintptr_t)count_sleep));
	rte_delay_us_sleep(MEASURE_US);
	assert_int_equal(calls, 1);
	assert_int_equal(last.tv_sec, 0);
	assert_int_equal(last.tv_nsec, 1000 * MEASURE_US);
	roce_eal_undivert(&diverted);
	rte_delay_us_sleep(1);
	assert_int_equal(calls, 1);
}

/* As often as wanted: the entry is what it was. */
UNIT_RULE(divert__can_be_undone_again_and_again)
{
	for (unsigned int i = 1; i < 100; i++) {
		assert_true(roce_eal_divert(
				&diverted, eal, "nanosleep", (void *)(uintptr_t)count_sleep));
		rte_delay_us_sleep(1);
		roce_eal_undivert(&diverted);
		rte_delay_us_sleep(1);
		assert_int_equal(calls, i);
	}
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *
sleep_elsewhere(void *arg)
{
	uint64_t *slept = arg, since = now_ns();

	rte_delay_us_sleep(MEASURE_US);
	*slept = now_ns() - since;
	return NULL;
}

static uint64_t other_slept, longer_slept;
static int got_argc;
static char **got_argv;

/* In the place of rte_eal_init(): another thread sleeps as long, and this one longer. */
static int
fake_init(int argc, char **argv)
{
	uint64_t since = now_ns();
	pthread_t thread;

	got_argc = argc;
	got_argv = argv;
	rte_delay_us_sleep(MEASURE_US + 1000);
	longer_slept = now_ns() - since;
	assert_int_equal(pthread_create(&thread, NULL, sleep_elsewhere, &other_slept), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	rte_delay_us_sleep(MEASURE_US);
	return 17;
}

/* No sleep but that of the measurement, and no thread but that of the EAL, wakes too soon. */
UNIT_RULE(init__leaves_other_sleeps_as_they_are)
{
	char *argv[] = { NULL };

	assert_int_equal(roce_eal_init_soon(3, argv, "", true, fake_init), 17);
	assert_int_equal(got_argc, 3);
	assert_ptr_equal(got_argv, argv);
	assert_true(longer_slept >= 1000u * (MEASURE_US + 1000));
	assert_true(other_slept >= 1000u * MEASURE_US);
	sleep_elsewhere(&other_slept);
	assert_true(other_slept >= 1000u * MEASURE_US);
}

static int
count_within(int argc, char **argv)
{
	uint64_t since = now_ns();

	rte_delay_us_sleep(MEASURE_US);
	longer_slept = now_ns() - since;
	return 0;
}

/* The EAL computes with the length that its sleep had, so no length is too short; but one of 5 ms is awaited. */
UNIT_RULE(init__sleeps_for_the_measurement_all_the_same)
{
	assert_int_equal(roce_eal_init_soon(0, NULL, "", true, count_within), 0);
	assert_true(longer_slept >= 5000000u);
}

/* The function that a library calls now for one of the C library; NULL: its own. */
static void *
called_for(void *has, const char *function)
{
	struct roce_eal_diverted seen;

	if (!roce_eal_divert(&seen, has, function, (void *)(uintptr_t)count_sleep))
		return NULL;
	roce_eal_undivert(&seen);
	return seen.before;
}

static unsigned int there;

static void
compare_access(int (*by_eal)(const char *path, int mode), const char *path)
{
	int mine, error;

	errno = 0;
	mine = access(path, F_OK);
	error = errno;
	errno = 0;
	assert_int_equal(by_eal(path, F_OK), mine);
	if (mine != 0)
		assert_int_equal(errno, error);
	there += mine == 0;
}

static int
look_around(int argc, char **argv)
{
	int (*by_eal)(const char *path, int mode) =
			(int (*)(const char *, int))(uintptr_t)called_for(eal, "access");
	char path[128];

	assert_non_null(by_eal);
	for (unsigned int node = 0; node < 80; node++) {
		for (unsigned int cpu = 0; cpu < 3; cpu++) {
			snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpu%u", node,
					cpu);
			compare_access(by_eal, path);
		}
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
		compare_access(by_eal, path);
	}
	compare_access(by_eal, "/");
	compare_access(by_eal, "/sys/devices/system/node/node0/cpu0x");
	compare_access(by_eal, "/sys/devices/system/cpu/cpu0/topology/core_id");
	return 0;
}

/* The EAL hears of processors and nodes what the kernel says. */
UNIT_RULE(init__tells_the_eal_of_nodes_as_the_kernel)
{
	there = 0;
	assert_int_equal(roce_eal_init_soon(0, NULL, "", true, look_around), 0);
	assert_true(there > 0);
}

/* As the EAL asks for its folder. */
static int
look_for_folder(int argc, char **argv)
{
	char *(*by_eal)(const char *name) =
			(char *(*)(const char *))(uintptr_t)called_for(eal, "getenv");

	assert_non_null(by_eal);
	assert_string_equal(by_eal("RUNTIME_DIRECTORY"), "/ours");
	assert_string_equal(by_eal("XDG_RUNTIME_DIR"), "/other");
	/* Other threads may be reading the environment. */
	assert_string_equal(getenv("RUNTIME_DIRECTORY"), "/callers");
	return 0;
}

/* The folder that was tried is the one that is used, not what the environment names: that may be a stranger's. */
UNIT_RULE(init__has_its_folder_without_the_environment)
{
	setenv("RUNTIME_DIRECTORY", "/callers", 1);
	setenv("XDG_RUNTIME_DIR", "/other", 1);
	assert_int_equal(roce_eal_init_soon(0, NULL, "/ours", true, look_for_folder), 0);
	assert_string_equal(getenv("RUNTIME_DIRECTORY"), "/callers");
	unsetenv("RUNTIME_DIRECTORY");
	unsetenv("XDG_RUNTIME_DIR");
}

/* Exit statuses of the setuid program. */
#define REFUSED   0
#define BELIEVED  1
#define NO_RIGHTS 77

/* As a setuid program. @return an exit status. */
static int
look_for_callers_folder(int argc, char **argv)
{
	char *(*by_eal)(const char *name) =
			(char *(*)(const char *))(uintptr_t)called_for(eal, "getenv");

	if (getauxval(AT_SECURE) == 0)
		return NO_RIGHTS;
	if (by_eal == NULL || by_eal("RUNTIME_DIRECTORY") != NULL ||
			by_eal("XDG_RUNTIME_DIR") != NULL)
		return BELIEVED;
	return REFUSED;
}

/* Where no folder was tried the EAL chooses one itself. It makes folders and sockets there, with the rights of the program. */
UNIT_RULE(init__believes_no_variable_of_a_setuid_program)
{
	char base[] = "/tmp/test_eal_soon.XXXXXX", path[64];
	pid_t child;
	int status;

	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(base));
	assert_int_equal(chmod(base, 0755), 0);
	snprintf(path, sizeof(path), "%s/program", base);
	make_setuid_program(path, 2000000000 + (uid_t)getpid());
	child = fork();
	if (child == 0) {
		setenv("RUNTIME_DIRECTORY", "/callers", 1);
		setenv("XDG_RUNTIME_DIR", "/callers", 1);
		execl(path, path, "setuid", NULL);
		_exit(BELIEVED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(base), 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_RIGHTS)
		skip();
	assert_int_equal(WEXITSTATUS(status), REFUSED);
}

static int finds_drivers;

/* @return 0: the EAL sees the folder of drivers; -1: not; and other folders in any case. */
static int
look_for_drivers(int argc, char **argv)
{
	int (*by_eal)(const char *path, struct stat *st) =
			(int (*)(const char *, struct stat *))(uintptr_t)called_for(eal, "stat64");
	struct stat st;

	assert_non_null(by_eal);
	assert_int_equal(by_eal("/", &st), 0);
	finds_drivers = by_eal(RTE_EAL_PMD_PATH, &st);
	return 0;
}

UNIT_RULE(init__hides_drivers_when_they_are_not_wanted)
{
	struct stat st;

	if (stat(RTE_EAL_PMD_PATH, &st) != 0)
		skip();
	roce_eal_init_soon(0, NULL, "", true, look_for_drivers);
	assert_int_equal(finds_drivers, 0);
	roce_eal_init_soon(0, NULL, "", false, look_for_drivers);
	assert_int_equal(finds_drivers, -1);
	roce_eal_init_soon(0, NULL, "", true, look_for_drivers);
	assert_int_equal(finds_drivers, 0);
}

/* A name that nobody else has, and a socket that has it and of which nobody accepts. */
static int
take_name(struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "roce_eal_soon_%ld",
			(long)getpid());
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)name, sizeof(*name)), 0);
	return fd;
}

typedef int (*connect_fn)(int fd, const struct sockaddr *address, socklen_t len);

/* @return 0, or what errno says. The socket is as it was. */
static int
connect_to(connect_fn by_telemetry, const struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc;

	assert_true(fd >= 0);
	rc = by_telemetry(fd, (const struct sockaddr *)name, sizeof(*name)) == 0 ? 0 : errno;
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	return rc;
}

static int
look_for_processes(int argc, char **argv)
{
	connect_fn by_telemetry = (connect_fn)(uintptr_t)called_for(
			(void *)(uintptr_t)rte_tel_data_start_dict, "connect");
	struct sockaddr_un name;
	int fd = take_name(&name);

	assert_non_null(by_telemetry);
	/* It does not listen: the name was left. */
	assert_int_equal(connect_to(by_telemetry, &name), ECONNREFUSED);
	assert_int_equal(listen(fd, 1), 0);
	/* More than it has room for. */
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(connect_to(by_telemetry, &name), 0);
	close(fd);
	return 0;
}

/* Telemetry looks whether a name is another process's. One that is stopped is not waited for. */
UNIT_RULE(init__waits_for_no_process_that_is_stopped)
{
	alarm(60);
	assert_int_equal(roce_eal_init_soon(0, NULL, "", true, look_for_processes), 0);
	alarm(0);
}

int
main(int argc, char **argv)
{
	/* The sanitizer of leaks cannot look into a setuid program, and calls that a failure: at once, without it. */
	if (argc == 2 && strcmp(argv[1], "setuid") == 0)
		_exit(roce_eal_init_soon(0, NULL, "", true, look_for_callers_folder));
	return unit_run();
}
