/* SPDX-License-Identifier: BSD-3-Clause */
/* dat-info's connection to a process (info/link.c): what a process may say, and how long it may take. Time is the test's. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "info/link.h"

#define MIB         (1u << 20)
#define LONGEST     65536u      /**< of an answer; no socket needs a larger buffer */
#define HEARD_MAX   (32u * MIB) /**< of a process */
#define PATIENCE_MS 5000u       /**< for all that it says */
#define STEP_MS     40u

static uint64_t now_ms;
static char base[32], path[64];
static int listener;
static pthread_t thread;
static struct info_link process_link; /**< open while a rule runs */
/** Of the process: does it answer? Atomic. */
static bool answers;

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	*tp = (struct timespec){ (time_t)(now_ms / 1000), (long)(now_ms % 1000) * 1000000 };
	return 0;
}

/* The time of a wait has passed where no answer comes. */
int
poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (__atomic_load_n(&answers, __ATOMIC_ACQUIRE))
		return ppoll(fds, nfds, NULL, NULL);
	now_ms += (uint64_t)timeout;
	return 0;
}

/* One connection. Each answer is as long as it may be. */
static void *
be_process(void *arg)
{
	static const char greeting[] = "{\"pid\": 1, \"max_output_len\": 65536}";
	static char answer[LONGEST];
	char question[64];
	int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	int len;

	len = snprintf(answer, sizeof(answer), "{\"/roce/help\": {}}");
	memset(answer + len, ' ', sizeof(answer) - (size_t)len);
	if (send(client, greeting, strlen(greeting), MSG_NOSIGNAL) > 0)
		while (recv(client, question, sizeof(question), 0) > 0)
			if (__atomic_load_n(&answers, __ATOMIC_ACQUIRE) &&
					send(client, answer, sizeof(answer), MSG_NOSIGNAL) < 0)
				break;
	close(client);
	return arg;
}

static int
setup(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	__atomic_store_n(&answers, true, __ATOMIC_RELEASE);
	snprintf(base, sizeof(base), "/tmp/test_info_link.XXXXXX");
	if (mkdtemp(base) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/socket", base);
	memcpy(address.sun_path, path, strlen(path));
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
			listen(listener, 1) != 0)
		return -1;
	if (pthread_create(&thread, NULL, be_process, NULL) != 0)
		return -1;
	return info_link_open(&process_link, path, true, &(struct info_errmsg){ "" });
}

static int
teardown(void **state)
{
	info_link_close(&process_link);
	pthread_join(thread, NULL);
	close(listener);
	unlink(path);
	return rmdir(base);
}

static bool
ask(struct info_errmsg *errmsg)
{
	struct json_object *answer = NULL;

	if (info_link_ask(&process_link, "/roce/help", &answer, errmsg) != 0)
		return false;
	json_object_put(answer);
	return true;
}

/* However fast it comes. */
static void
answers__are_32_mib_together(void **state)
{
	struct info_errmsg errmsg = { "" };
	uint32_t n = 0;

	while (n <= HEARD_MAX / LONGEST && ask(&errmsg))
		n++;
	/* The greeting counts. */
	assert_int_equal(n, HEARD_MAX / LONGEST - 1);
	assert_non_null(strstr(errmsg.text, "says more than 32 MiB"));
	assert_false(ask(&errmsg));
}

/* A process that answers each time has no more than one that does not. */
static void
answers__have_five_seconds_together(void **state)
{
	struct info_errmsg errmsg = { "" };
	uint32_t n = 0;

	while (n <= PATIENCE_MS / STEP_MS && ask(&errmsg)) {
		now_ms += STEP_MS;
		n++;
	}
	assert_int_equal(n, PATIENCE_MS / STEP_MS);
	assert_non_null(strstr(errmsg.text, "does not answer"));
}

static void
silence__ends_after_five_seconds(void **state)
{
	struct info_errmsg errmsg = { "" };
	uint64_t begin = now_ms;

	__atomic_store_n(&answers, false, __ATOMIC_RELEASE);
	assert_false(ask(&errmsg));
	assert_non_null(strstr(errmsg.text, "does not answer"));
	assert_int_equal(now_ms - begin, PATIENCE_MS);
}

int
main(void)
{
	const struct CMUnitTest test[] = {
		cmocka_unit_test_setup_teardown(answers__are_32_mib_together, setup, teardown),
		cmocka_unit_test_setup_teardown(
				answers__have_five_seconds_together, setup, teardown),
		cmocka_unit_test_setup_teardown(silence__ends_after_five_seconds, setup, teardown),
	};

	return cmocka_run_group_tests(test, NULL, NULL);
}
