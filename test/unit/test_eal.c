/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the kernel before the EAL starts, files eal_probe.c and log.c. The EAL is never started here. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_common.h>

#include "ethdev/eal_probe.h"
#include "observe/log.h"
#include "rules.h"

static char sentence[256];

static struct roce_errmsg
hear(void)
{
	sentence[0] = '\0';
	return (struct roce_errmsg){ .text = sentence, .len = sizeof(sentence) };
}

/* The EAL panics when it cannot open a file it counts on. */
UNIT_RULE_IN(needs__names_missing_descriptors, NULL, NULL)
{
	struct roce_errmsg errmsg = hear();
	struct rlimit limit, few;

	assert_int_equal(roce_eal_probe_needs(0, &errmsg), 0);
	assert_string_equal(sentence, "");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 2;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(roce_eal_probe_needs(0, &errmsg), -ENODEV);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_string_equal(sentence,
			"this process may open 0 more descriptors: DPDK's EAL wants 16, raise the "
			"limit (ulimit -n)");
}

/* As a user who may have no more threads: root has no such limit. False: it cannot be had here. */
static bool
become_limited(void)
{
	const struct rlimit none = { 0 };

	return (getuid() != 0 || setresuid(65534, 65534, 65534) == 0) &&
			setrlimit(RLIMIT_NPROC, &none) == 0;
}

/* The EAL panics when a thread cannot be created: a limit of the user, or of the container. */
UNIT_RULE_IN(needs__names_missing_threads, NULL, NULL)
{
	struct roce_errmsg errmsg = hear();
	int status, ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (!become_limited())
			_exit(77);
		if (roce_eal_probe_needs(3, &errmsg) != -ENODEV)
			_exit(1);
		_exit(write(ends[1], sentence, sizeof(sentence)) != sizeof(sentence));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("not tried: no user with a limit here\n");
	} else {
		assert_int_equal(WEXITSTATUS(status), 0);
		assert_int_equal(read(ends[0], sentence, sizeof(sentence)), sizeof(sentence));
		assert_string_equal(sentence,
				"this process may have 0 more threads: DPDK's EAL wants 5, raise the "
				"limit (ulimit -u, or that of the container)");
	}
	close(ends[0]);
	close(ends[1]);
}

/* A processor that is not there, or not for us: the EAL prints its usage, or panics. */
UNIT_RULE_IN(lcores__are_processors_of_this_process, NULL, NULL)
{
	struct roce_devargs args = { .lcores = { .n = 1 } };
	struct roce_errmsg errmsg = hear();
	cpu_set_t before, after;

	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(before), &before), 0);
	for (uint32_t i = 0; i < CPU_SETSIZE; i++) {
		args.lcores.at[0] = i;
		if (CPU_ISSET(i, &before))
			assert_int_equal(roce_eal_probe_lcores(&args, &errmsg), 0);
	}
	assert_string_equal(sentence, "");
	args.lcores.at[0] = CPU_SETSIZE;
	assert_int_equal(roce_eal_probe_lcores(&args, &errmsg), -EINVAL);
	assert_memory_equal(sentence, "lcores=1024: must be processors that this process may use, ",
			59);
	assert_true(sentence[59] >= '0' && sentence[59] <= '9');
	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

UNIT_RULE_IN(folder__is_the_usual_one_if_that_serves, NULL, NULL)
{
	char base[] = "/tmp/test_eal.XXXXXX", path[64];
	struct roce_eal_means means = { 0 };
	struct stat st;

	assert_non_null(mkdtemp(base));
	setenv("RUNTIME_DIRECTORY", base, 1);
	roce_eal_probe_folder(&means);
	unsetenv("RUNTIME_DIRECTORY");
	assert_true(means.telemetry);
	assert_string_equal(means.folder, base);
	assert_string_equal(means.other_folder, "");
	assert_string_equal(means.no_telemetry, "");
	/* Files that the EAL will make are there, and nothing else is. */
	snprintf(path, sizeof(path), "%s/dpdk/roce", base);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/dpdk", base);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(base), 0);
}

UNIT_RULE_IN(folder__is_another_where_the_usual_one_is_refused, NULL, NULL)
{
	char ours[64], want[256], words[512], too_long[90];
	struct roce_eal_means means = { 0 };

	snprintf(ours, sizeof(ours), "/tmp/udapl-roce-%u", (unsigned int)geteuid());
	setenv("RUNTIME_DIRECTORY", "/proc/self/nothing", 1);
	roce_eal_probe_folder(&means);
	assert_true(means.telemetry);
	assert_string_equal(means.folder, ours);
	snprintf(want, sizeof(want),
			"with another folder for its sockets (%s, not /proc/self/nothing: No such file "
			"or directory)",
			ours);
	assert_string_equal(roce_eal_means_words(&means, words, sizeof(words)), want);
	/* The names in it must fit an address. */
	memset(too_long, 'x', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	setenv("RUNTIME_DIRECTORY", too_long, 1);
	memset(&means, 0, sizeof(means));
	roce_eal_probe_folder(&means);
	unsetenv("RUNTIME_DIRECTORY");
	assert_string_equal(means.folder, ours);
	assert_non_null(strstr(means.other_folder, ": File name too long"));
}

/* The variable is not set, as far as its reader is concerned: a name that is none, and one that depends on where it runs. */
UNIT_RULE_IN(folder__is_no_name_that_is_not_absolute, NULL, NULL)
{
	static const char *const bad[] = { "", "run", "./run" };

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		struct roce_eal_means means = { 0 }, unset = { 0 };

		unsetenv("RUNTIME_DIRECTORY");
		unsetenv("XDG_RUNTIME_DIR");
		roce_eal_probe_folder(&unset);
		setenv("RUNTIME_DIRECTORY", bad[i], 1);
		setenv("XDG_RUNTIME_DIR", bad[i], 1);
		roce_eal_probe_folder(&means);
		unsetenv("RUNTIME_DIRECTORY");
		unsetenv("XDG_RUNTIME_DIR");
		assert_string_equal(means.folder, unset.folder);
		assert_string_equal(means.other_folder, unset.other_folder);
	}
}

/* Its owner could put another folder in the place of ours at any time. */
UNIT_RULE_IN(folder__is_in_none_of_a_stranger, NULL, NULL)
{
	char base[] = "/tmp/test_eal.XXXXXX", path[64], ours[64];
	struct roce_eal_means means = { 0 };

	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/dpdk", base);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	setenv("RUNTIME_DIRECTORY", base, 1);
	roce_eal_probe_folder(&means);
	unsetenv("RUNTIME_DIRECTORY");
	snprintf(ours, sizeof(ours), "/tmp/udapl-roce-%u", (unsigned int)geteuid());
	assert_string_equal(means.folder, ours);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(base), 0);
}

/* A thing that is not there is no news; one that is there and is refused is. */
UNIT_RULE_IN(words__tell_what_was_refused, NULL, NULL)
{
	struct roce_eal_means means = { .telemetry = true };
	char words[512];

	assert_string_equal(roce_eal_means_words(&means, words, sizeof(words)), "");
	strcpy(means.no_hugepages, "get_mempolicy(2): Operation not permitted");
	strcpy(means.no_telemetry, "/var/run: Read-only file system");
	assert_string_equal(roce_eal_means_words(&means, words, sizeof(words)),
			"with ordinary memory instead of hugepages (get_mempolicy(2): Operation not "
			"permitted), without telemetry (/var/run: Read-only file system)");
	assert_int_equal(strlen(roce_eal_means_words(&means, words, 20)), 19);
}

UNIT_RULE_IN(hugepages__are_as_many_as_the_queues_want, NULL, NULL)
{
	struct roce_eal_means means = { 0 };

	/* No machine has so many free. */
	roce_eal_probe_hugepages(1u << 24, &means);
	assert_false(means.hugepages);
	assert_string_equal(means.no_hugepages, "");
}

/* While a process may be about to take the last ones, another does without. */
UNIT_RULE_IN(hugepages__are_looked_for_by_one_process_at_a_time, NULL, NULL)
{
	struct roce_eal_means first = { 0 }, second = { 0 };

	roce_eal_probe_hugepages(1, &first);
	if (first.turn < 0 || !first.hugepages) {
		roce_eal_end_turn(&first);
		print_message("not tried: no hugepages here, or so many that they last\n");
		return;
	}
	roce_eal_probe_hugepages(1, &second);
	assert_false(second.hugepages);
	assert_string_equal(second.no_hugepages, "");
	roce_eal_end_turn(&second);
	roce_eal_end_turn(&first);
}

UNIT_RULE_IN(log__is_one_of_the_levels, NULL, NULL)
{
	static const char *const good[] = { "", "error", "warning", "notice", "info", "debug" };
	struct roce_errmsg errmsg = hear();

	unsetenv("UDAPL_ROCE_LOG");
	assert_int_equal(roce_log_check(&errmsg), 0);
	for (size_t i = 0; i < RTE_DIM(good); i++) {
		setenv("UDAPL_ROCE_LOG", good[i], 1);
		assert_int_equal(roce_log_check(&errmsg), 0);
	}
	setenv("UDAPL_ROCE_LOG", "loud", 1);
	assert_int_equal(roce_log_check(&errmsg), -EINVAL);
	unsetenv("UDAPL_ROCE_LOG");
	assert_string_equal(sentence,
			"UDAPL_ROCE_LOG=loud: must be error, warning, notice, info or debug");
}
