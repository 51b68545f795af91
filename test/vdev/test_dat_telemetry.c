/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's telemetry in a process that is out of descriptors for a while. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "dat_pair.h"

#define SOCKET "/dpdk_telemetry.v2"
#define ASKED  "{\"/\":[\"/\","

static char loop0[] = "loop0";

/** A thread of this process, seen through /proc. */
struct watched {
	int file; /**< its "syscall", kept open: at the limit there is no other way to read it */
	char text[256];
};

static bool
ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

/* Where the process's own telemetry listens. False: it has none here. */
static bool
find_socket(struct sockaddr_un *address)
{
	for (int fd = 0; fd < 1024; fd++) {
		socklen_t len = sizeof(*address);

		*address = (struct sockaddr_un){ .sun_family = AF_UNSPEC };
		if (getsockname(fd, (struct sockaddr *)address, &len) == 0 &&
				address->sun_family == AF_UNIX &&
				ends_with(address->sun_path, SOCKET))
			return true;
	}
	return false;
}

/* The state of the thread; "": it has ended. */
static const char *
look(struct watched *thread)
{
	ssize_t len = pread(thread->file, thread->text, sizeof(thread->text) - 1, 0);

	thread->text[len > 0 ? len : 0] = '\0';
	return thread->text;
}

static bool
is_in(struct watched *thread, long call)
{
	const char *text = look(thread);
	char *end;

	return strtol(text, &end, 10) == call && end != text;
}

static bool
waits_for_client(struct watched *thread)
{
	return is_in(thread, SYS_accept4) || is_in(thread, SYS_accept);
}

/* Look at all threads once. */
static bool
look_for_thread(struct watched *thread)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	bool found = false;
	char path[300];

	assert_non_null(tasks);
	while (!found && (entry = readdir(tasks)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", entry->d_name);
		thread->file = open(path, O_RDONLY | O_CLOEXEC);
		found = thread->file >= 0 && waits_for_client(thread);
		if (!found && thread->file >= 0)
			close(thread->file);
	}
	closedir(tasks);
	return found;
}

/* Between two tries; on some processors there is only the newer call. */
static bool
sleeps(struct watched *thread)
{
#ifdef SYS_poll
	if (is_in(thread, SYS_poll))
		return true;
#endif
	return is_in(thread, SYS_ppoll);
}

/* The thread that takes clients of telemetry may still be on its way to the call. */
static void
find_thread(struct watched *thread)
{
	time_t end = time(NULL) + test_limit_s();

	while (!look_for_thread(thread)) {
		if (time(NULL) >= end)
			fail_msg("no thread waits for clients of telemetry");
	}
}

/* The thread has met the limit: it waits, but not for a client. */
static void
want_refusal(struct watched *thread)
{
	time_t end = time(NULL) + test_limit_s();

	while (time(NULL) < end) {
		if (*look(thread) == '\0')
			fail_msg("telemetry has ended");
		if (sleeps(thread))
			return;
	}
	fail_msg("the thread of telemetry does not meet the limit: %s", look(thread));
}

static int
client(void)
{
	const struct timeval limit = { .tv_sec = test_limit_s() };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	return fd;
}

static void
want_answer(int fd, const char *question, const char *begin)
{
	char answer[16384] = "";
	ssize_t len;

	if (question != NULL)
		assert_int_equal(send(fd, question, strlen(question), MSG_NOSIGNAL),
				strlen(question));
	len = recv(fd, answer, sizeof(answer) - 1, 0);
	if (len < 0)
		fail_msg("no answer: %s", strerror(errno));
	answer[strlen(begin)] = '\0';
	assert_string_equal(answer, begin);
}

/*
 * The kernel has set a descriptor aside for the first client: with it the thread takes that one, and finds none for the next.
 */
static void
telemetry__outlives_a_lack_of_descriptors(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct rlimit before, none;
	struct sockaddr_un address;
	struct watched thread;
	int first, second;
	DAT_IA_HANDLE ia;

	ok(dat_ia_open(loop0, 8, &async, &ia));
	/* Some kernels do not show what a thread does. */
	if (!find_socket(&address) || access("/proc/self/syscall", R_OK) != 0)
		skip();
	find_thread(&thread);
	first = client();
	second = client();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dup(first), -1);
	assert_int_equal(connect(first, (struct sockaddr *)&address, sizeof(address)), 0);
	want_answer(first, NULL, "{\"version\":");
	assert_int_equal(connect(second, (struct sockaddr *)&address, sizeof(address)), 0);
	want_refusal(&thread);
	want_answer(first, "/", ASKED);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	want_answer(second, NULL, "{\"version\":");
	want_answer(second, "/", ASKED);
	close(first);
	close(second);
	close(thread.file);
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(telemetry__outlives_a_lack_of_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
