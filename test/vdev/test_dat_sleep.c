/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where service lcores poll the devices, who waits sleeps until he is woken. A program of its own, because the first
 * open decides which lcores the process has. Exits 77, skipped, on a machine with one CPU.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dat_pair.h"
#include "effort.h"

#define PARAMS   "UDAPL_ROCE_PARAMS"
#define SERVED   "lcores=1"
#define ROUNDS   400
#define NOD_US   3000 /**< long enough for a waiter to fall asleep */
#define IDLE_US  1000000u
#define NAPS_MIN 1  /**< while a thread waits for IDLE_US: one that spins has none */
#define NAPS_MAX 20 /**< one sleep, and what else blocks it; one that looks now and then has 500 */

enum how {
	ON_EVD,
	ON_CNO
};

struct sleeper {
	enum how how;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd; /**< to wait on; of a notification object: the one that fired */
	DAT_COUNT threshold;
	DAT_RETURN rc;
	DAT_EVENT event;
	pid_t thread; /**< once it is about to fall asleep; 0: not yet; atomic */
	bool over;
};

static void
fall_asleep(struct sleeper *s, DAT_TIMEOUT timeout)
{
	DAT_COUNT more;

	__atomic_store_n(&s->thread, gettid(), __ATOMIC_RELEASE);
	if (s->how == ON_EVD)
		s->rc = dat_evd_wait(s->evd, timeout, s->threshold, &s->event, &more);
	else
		s->rc = dat_cno_wait(s->cno, timeout, &s->evd);
	__atomic_store_n(&s->over, true, __ATOMIC_RELEASE);
}

static void *
sleep_in_thread(void *arg)
{
	fall_asleep(arg, DAT_TIMEOUT_INFINITE);
	return NULL;
}

/* The kernel tells the state of a thread: the letter behind the name. */
static bool
is_asleep(pid_t thread)
{
	char path[64], line[256], *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(fclose(file), 0);
	name_end = strrchr(line, ')');
	assert_non_null(name_end);
	return name_end[1] == ' ' && name_end[2] == 'S';
}

/* It may nod on its way there, too: so it is given a little more. */
static pthread_t
begin(struct sleeper *s)
{
	pthread_t thread;
	pid_t id;

	s->over = false;
	s->thread = 0;
	assert_int_equal(pthread_create(&thread, NULL, sleep_in_thread, s), 0);
	while ((id = __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(id))
		usleep(100);
	usleep(NOD_US);
	return thread;
}

static void
join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static DAT_CNO_HANDLE
make_cno(const struct end *end, DAT_EVD_HANDLE evd)
{
	DAT_CNO_HANDLE cno;

	ok(dat_cno_create(end->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	ok(dat_evd_modify_cno(evd, cno));
	return cno;
}

static DAT_EVD_HANDLE
make_software(const struct end *end)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, 16, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	return evd;
}

static void
post_one(DAT_EVD_HANDLE evd)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	ok(dat_evd_post_se(evd, &event));
}

/* In vain, on a connection that is idle: one sleep, whose end is that of the wait. */
static void
sleep__costs_nothing(void **state)
{
	struct sleeper on_evd = { .how = ON_EVD, .threshold = 1 }, on_cno = { .how = ON_CNO };
	struct effort before;
	struct pair pair;

	pair_up(&pair);
	on_evd.evd = pair.a.recv;
	on_cno.cno = make_cno(&pair.a, pair.a.request);
	before = effort_until_now();
	fall_asleep(&on_evd, IDLE_US);
	want_type(on_evd.rc, DAT_TIMEOUT_EXPIRED);
	want_little(&before, "a sleeper on a dispatcher", NAPS_MIN, NAPS_MAX, IDLE_US);
	before = effort_until_now();
	fall_asleep(&on_cno, IDLE_US);
	want_type(on_cno.rc, DAT_QUEUE_EMPTY);
	want_little(&before, "a sleeper on a notification object", NAPS_MIN, NAPS_MAX, IDLE_US);
	pair_close(&pair);
}

/* A message wakes, whether the waiter spins, is about to fall asleep, or sleeps: no wake-up is lost. */
static void
sleep__ends_with_a_message(void **state)
{
	for (enum how how = ON_EVD; how <= ON_CNO; how++) {
		struct sleeper s = { .how = how, .threshold = 1 };
		struct pair pair;

		pair_up(&pair);
		if (how == ON_CNO)
			s.cno = make_cno(&pair.b, pair.b.recv);
		for (unsigned int round = 0; round < ROUNDS; round++) {
			pthread_t thread;

			s.evd = pair.b.recv;
			s.over = false;
			ok(post_recv(&pair.b, 0, 64, round));
			assert_int_equal(pthread_create(&thread, NULL, sleep_in_thread, &s), 0);
			/* From before its first look to deep asleep. */
			usleep(round % 100 * 10);
			ok(post_send(&pair.a, 0, 64, round));
			join(thread);
			ok(s.rc);
			assert_ptr_equal(s.evd, pair.b.recv);
			if (how == ON_CNO)
				want_dto(&pair.b, pair.b.recv, round, DAT_DTO_SUCCESS, 64);
			want_dto(&pair.a, pair.a.request, round, DAT_DTO_SUCCESS, 64);
		}
		pair_close(&pair);
	}
}

/* Not before there are as many as he waits for, whatever the length becomes meanwhile. */
static void
sleep__for_several(void **state)
{
	struct sleeper s = { .how = ON_EVD, .threshold = 3 };
	pthread_t thread;
	struct end end;

	end_open(&end, "loop0", NULL);
	s.evd = make_software(&end);
	thread = begin(&s);
	for (int i = 0; i < 3; i++) {
		usleep(NOD_US);
		assert_false(__atomic_load_n(&s.over, __ATOMIC_ACQUIRE));
		ok(dat_evd_resize(s.evd, 3 + i * 50));
		post_one(s.evd);
	}
	join(thread);
	ok(s.rc);
	end_close(&end);
}

static void
on_signal(int number)
{
}

/* Everything else that ends a wait reaches a sleeper, too. */
static void
sleep__ends_otherwise(void **state)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sleeper s = { .how = ON_EVD, .threshold = 1 }, c = { .how = ON_CNO };
	pthread_t thread, other;
	struct end end;

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	end_open(&end, "loop0", NULL);
	s.evd = make_software(&end);
	c.cno = make_cno(&end, make_software(&end));
	thread = begin(&s);
	ok(dat_evd_set_unwaitable(s.evd));
	join(thread);
	want_error(s.rc, DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
	ok(dat_evd_clear_unwaitable(s.evd));
	thread = begin(&s);
	other = begin(&c);
	pthread_kill(thread, SIGUSR1);
	pthread_kill(other, SIGUSR1);
	join(thread);
	join(other);
	want_type(s.rc, DAT_INTERRUPTED_CALL);
	want_type(c.rc, DAT_INTERRUPTED_CALL);
	thread = begin(&s);
	other = begin(&c);
	end_close(&end);
	join(thread);
	join(other);
	want_type(s.rc, DAT_ABORT);
	ok(c.rc);
	assert_null(c.evd);
}

struct heard {
	pthread_t main;
	unsigned int calls, wrong;
};

static void
hear(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	struct heard *heard = data;
	DAT_EVENT event;

	if (evd == DAT_HANDLE_NULL)
		return;
	if (pthread_equal(pthread_self(), heard->main) ||
			dat_evd_dequeue(evd, &event) != DAT_SUCCESS)
		heard->wrong++;
	__atomic_fetch_add(&heard->calls, 1, __ATOMIC_RELEASE);
}

/* An agent is called by the service lcore, without anybody's doing, and may take the event; nobody else hears of it then. */
static void
agent__is_called_by_the_service(void **state)
{
	struct heard heard = { .main = pthread_self() };
	DAT_EVD_HANDLE fired;
	DAT_CNO_HANDLE cno;
	struct pair pair;

	pair_up(&pair);
	cno = make_cno(&pair.b, pair.b.recv);
	ok(dat_cno_modify_agent(cno, (DAT_OS_WAIT_PROXY_AGENT){ &heard, hear }));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ok(post_recv(&pair.b, 0, 64, round));
		ok(post_send(&pair.a, 0, 64, round));
		want_dto(&pair.a, pair.a.request, round, DAT_DTO_SUCCESS, 64);
		while (__atomic_load_n(&heard.calls, __ATOMIC_ACQUIRE) <= round)
			sched_yield();
	}
	/* When this returns the agent is not running. */
	ok(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
	assert_int_equal(heard.calls, ROUNDS);
	assert_int_equal(heard.wrong, 0);
	want_type(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY);
	pair_close(&pair);
}

static void
note_call(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	if (evd != DAT_HANDLE_NULL)
		__atomic_fetch_add((unsigned int *)data, 1, __ATOMIC_RELEASE);
}

/*
 * A thread that sleeps where service lcores poll everything polls no adapter that is opened behind it. The progress thread
 * does: a request arrives while nobody calls.
 */
static void
sleep__leaves_new_adapters_to_the_progress_thread(void **state)
{
	struct sleeper s = { .how = ON_EVD, .threshold = 1 };
	DAT_OS_WAIT_PROXY_AGENT agent = { .proxy_agent_func = note_call };
	unsigned int calls = 0;
	DAT_PSP_HANDLE psp;
	DAT_CNO_HANDLE cno;
	pthread_t thread;
	struct pair pair;

	end_open(&pair.a, "loop0", NULL);
	s.evd = make_software(&pair.a);
	thread = begin(&s);
	unsetenv(PARAMS);
	end_open(&pair.b, "loop1", NULL);
	agent.instance_data = &calls;
	ok(dat_cno_create(pair.b.ia, agent, &cno));
	ok(dat_evd_modify_cno(pair.b.cr, cno));
	ok(dat_psp_create(pair.b.ia, CONN_QUAL, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	for (unsigned int ms = 0; ms < test_limit_s() * 1000 &&
			__atomic_load_n(&calls, __ATOMIC_ACQUIRE) == 0;
			ms++)
		usleep(1000);
	assert_int_not_equal(__atomic_load_n(&calls, __ATOMIC_ACQUIRE), 0);
	post_one(s.evd);
	join(thread);
	ok(s.rc);
	pair_close(&pair);
	setenv(PARAMS, SERVED, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(sleep__costs_nothing),
		dat_test(sleep__ends_with_a_message),
		dat_test(sleep__for_several),
		dat_test(sleep__ends_otherwise),
		dat_test(agent__is_called_by_the_service),
		dat_test(sleep__leaves_new_adapters_to_the_progress_thread),
	};

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 77;
	setenv(PARAMS, SERVED, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
