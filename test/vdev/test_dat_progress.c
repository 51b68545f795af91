/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Progress while the consumer calls nothing: the provider's thread polls the adapters (progress=auto, the default), or
 * no thread does (progress=manual).
 */

#include <dirent.h>
#include <stdbool.h>
#include <time.h>

#include "dat_pair.h"

#define LENGTH 3000
#define SLEEPS "voluntary_ctxt_switches:" /**< of a thread, in /proc */

static void
set_progress(const char *params)
{
	if (params != NULL)
		setenv("UDAPL_ROCE_PARAMS", params, 1);
	else
		unsetenv("UDAPL_ROCE_PARAMS");
}

static void
nap_ms(long ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	/* Callers have the condition. */
	nanosleep(&ts, NULL);
}

/* Memory alone is looked at. @return it has become that byte. */
static bool
becomes(const uint8_t *at, uint8_t byte)
{
	const volatile uint8_t *place = at;

	for (unsigned int ms = 0; ms < test_limit_s() * 1000 && *place != byte; ms++)
		nap_ms(1);
	return *place == byte;
}

static void
write_to_peer(struct pair *pair, uint8_t byte)
{
	DAT_LMR_TRIPLET local = segment(&pair->a, 0, LENGTH);
	DAT_RMR_TRIPLET there = {
		.rmr_context = pair->b.key,
		.target_address = (DAT_VADDR)(uintptr_t)pair->b.buffer,
		.segment_length = LENGTH,
	};

	memset(pair->a.buffer, byte, LENGTH);
	ok(dat_ep_post_rdma_write(
			pair->a.ep, 1, &local, cookie(byte), &there, DAT_COMPLETION_DEFAULT_FLAG));
}

/* As with hardware: a write arrives, and is acknowledged, while both ends look at memory or sleep. */
static void
progress__works_while_nobody_calls(void **state)
{
	struct pair pair;

	pair_up(&pair);
	for (uint8_t i = 1; i <= 3; i++) {
		write_to_peer(&pair, i);
		assert_true(becomes(pair.b.buffer + LENGTH - 1, i));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, LENGTH);
	}
	pair_close(&pair);
}

/* Longer than the consumer's last wait or dequeue is remembered: it has slept, and it has polled in between. */
static void
progress__begins_again_behind_a_poller(void **state)
{
	DAT_EVENT event;
	struct pair pair;

	pair_up(&pair);
	for (uint8_t i = 1; i <= 3; i++) {
		for (unsigned int n = 0; n < 100000; n++)
			want_type(dat_evd_dequeue(pair.a.recv, &event), DAT_QUEUE_EMPTY);
		write_to_peer(&pair, i);
		assert_true(becomes(pair.b.buffer + LENGTH - 1, i));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, LENGTH);
	}
	pair_close(&pair);
}

/* Several instances of one adapter, of which one is used: it works like one alone. */
static void
progress__of_one_instance_among_several(void **state)
{
	struct end idle[2];
	struct pair pair;

	end_open(&idle[0], "loop0", NULL);
	end_open(&idle[1], "loop1", NULL);
	pair_up(&pair);
	write_to_peer(&pair, 7);
	assert_true(becomes(pair.b.buffer + LENGTH - 1, 7));
	pair_close(&pair);
	end_close(&idle[0]);
	end_close(&idle[1]);
}

static struct {
	DAT_IA_HANDLE ia;
	DAT_RETURN status;
	int called; /* atomic */
} opened;

static void
open_another(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";

	if (evd == DAT_HANDLE_NULL || __atomic_load_n(&opened.called, __ATOMIC_ACQUIRE) != 0)
		return;
	opened.status = dat_ia_open(name, 8, &async, &opened.ia);
	__atomic_store_n(&opened.called, 1, __ATOMIC_RELEASE);
}

/* An agent that is called on the provider's thread may make calls, too. */
static void
progress__agent_may_open_an_adapter(void **state)
{
	DAT_OS_WAIT_PROXY_AGENT agent = { .proxy_agent_func = open_another };
	DAT_CNO_HANDLE cno;
	struct pair pair;

	pair_up(&pair);
	ok(dat_cno_create(pair.b.ia, agent, &cno));
	ok(dat_evd_modify_cno(pair.b.recv, cno));
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	for (unsigned int ms = 0; ms < test_limit_s() * 1000; ms++) {
		if (__atomic_load_n(&opened.called, __ATOMIC_ACQUIRE) != 0)
			break;
		nap_ms(1);
	}
	assert_int_equal(__atomic_load_n(&opened.called, __ATOMIC_ACQUIRE), 1);
	ok(opened.status);
	ok(dat_ia_close(opened.ia, DAT_CLOSE_GRACEFUL_FLAG));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
	pair_close(&pair);
}

static struct {
	DAT_IA_HANDLE ia;
	DAT_RETURN status;
	int called; /* atomic */
} closed;

static void
close_another(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	if (evd == DAT_HANDLE_NULL || __atomic_load_n(&closed.called, __ATOMIC_ACQUIRE) != 0)
		return;
	closed.status = dat_ia_close(closed.ia, DAT_CLOSE_GRACEFUL_FLAG);
	__atomic_store_n(&closed.called, 1, __ATOMIC_RELEASE);
}

/* An agent may not close its own instance, but any other. */
static void
progress__agent_may_close_another_adapter(void **state)
{
	DAT_OS_WAIT_PROXY_AGENT agent = { .proxy_agent_func = close_another };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";
	DAT_CNO_HANDLE cno;
	struct pair pair;

	ok(dat_ia_open(name, 8, &async, &closed.ia));
	pair_up(&pair);
	ok(dat_cno_create(pair.b.ia, agent, &cno));
	ok(dat_evd_modify_cno(pair.b.recv, cno));
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	for (unsigned int ms = 0; ms < test_limit_s() * 1000; ms++) {
		if (__atomic_load_n(&closed.called, __ATOMIC_ACQUIRE) != 0)
			break;
		nap_ms(1);
	}
	assert_int_equal(__atomic_load_n(&closed.called, __ATOMIC_ACQUIRE), 1);
	ok(closed.status);
	want_type(dat_ia_close(closed.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_HANDLE);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
	pair_close(&pair);
}

static int agent_runs, main_is_done; /* atomic */

static void
wait_for_main(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	if (evd == DAT_HANDLE_NULL || __atomic_exchange_n(&agent_runs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	for (unsigned int ms = 0; ms < test_limit_s() * 1000; ms++) {
		if (__atomic_load_n(&main_is_done, __ATOMIC_ACQUIRE) != 0)
			break;
		nap_ms(1);
	}
	*(bool *)data = __atomic_load_n(&main_is_done, __ATOMIC_ACQUIRE) != 0;
}

/* An agent may wait for another thread, which opens and closes adapters meanwhile. */
static void
progress__agent_holds_up_nobody(void **state)
{
	bool was_done = false;
	DAT_OS_WAIT_PROXY_AGENT agent = { &was_done, wait_for_main };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";
	DAT_CNO_HANDLE cno;
	struct pair pair;
	DAT_IA_HANDLE ia;

	pair_up(&pair);
	ok(dat_cno_create(pair.b.ia, agent, &cno));
	ok(dat_evd_modify_cno(pair.b.recv, cno));
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	for (unsigned int ms = 0; ms < test_limit_s() * 1000; ms++) {
		if (__atomic_load_n(&agent_runs, __ATOMIC_ACQUIRE) != 0)
			break;
		nap_ms(1);
	}
	assert_int_equal(__atomic_load_n(&agent_runs, __ATOMIC_ACQUIRE), 1);
	ok(dat_ia_open(name, 8, &async, &ia));
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	__atomic_store_n(&main_is_done, 1, __ATOMIC_RELEASE);
	/* Behind this the agent is over. */
	ok(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
	assert_true(was_done);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
	pair_close(&pair);
}

/* How often the threads of this process went to sleep, all of them together. */
static unsigned long
sleeps_of_all(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	unsigned long sum = 0;
	char path[300], line[128];

	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = task->d_name[0] != '.' ? fopen(path, "r") : NULL;
		if (status == NULL)
			continue;
		while (fgets(line, sizeof(line), status) != NULL)
			if (strncmp(line, SLEEPS, strlen(SLEEPS)) == 0)
				sum += strtoul(line + strlen(SLEEPS), NULL, 10);
		assert_int_equal(fclose(status), 0);
	}
	assert_int_equal(closedir(tasks), 0);
	return sum;
}

/* Before an adapter listens or connects nothing is owed to anybody, and the thread rests. */
static void
progress__rests_before_anything_begins(void **state)
{
	unsigned long before;
	struct end end;

	end_open(&end, "loop0", NULL);
	nap_ms(20);
	before = sleeps_of_all();
	nap_ms(500);
	assert_in_range(sleeps_of_all() - before, 0, 20);
	end_close(&end);
}

/* progress=manual: an adapter stands still between the calls of its consumer, and works in them. */
static void
progress__manual_waits_for_calls(void **state)
{
	struct pair pair;

	set_progress("progress=manual");
	pair_up(&pair);
	write_to_peer(&pair, 9);
	nap_ms(200);
	assert_int_not_equal(pair.b.buffer[LENGTH - 1], 9);
	want_dto(&pair.a, pair.a.request, 9, DAT_DTO_SUCCESS, LENGTH);
	assert_int_equal(pair.b.buffer[LENGTH - 1], 9);
	pair_close(&pair);
	set_progress(NULL);
}

/* The error says by name what it may be, and nothing is opened. */
static void
progress__bad_value_is_refused(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";
	DAT_IA_HANDLE ia;

	set_progress("progress=sometimes");
	want_type(dat_ia_open(name, 8, &async, &ia), DAT_INVALID_PARAMETER);
	set_progress("progress=auto");
	async = DAT_HANDLE_NULL;
	ok(dat_ia_open(name, 8, &async, &ia));
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	set_progress(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(progress__works_while_nobody_calls),
		dat_test(progress__begins_again_behind_a_poller),
		dat_test(progress__of_one_instance_among_several),
		dat_test(progress__agent_may_open_an_adapter),
		dat_test(progress__agent_may_close_another_adapter),
		dat_test(progress__agent_holds_up_nobody),
		dat_test(progress__rests_before_anything_begins),
		dat_test(progress__manual_waits_for_calls),
		dat_test(progress__bad_value_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
