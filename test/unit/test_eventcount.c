/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sleeping on descriptors: lib/dapl/eventcount.c. A long sleep here lasts an hour, so a test that does not end has lost
 * a wake-up. Where there is no descriptor, test/model looks at every order of the same steps.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dapl/eventcount.h"
#include "rules.h"

#define LONG_NS UINT64_C(3600000000000)
#define ROUNDS  2000u

static int fd; /**< readable when a test says so */

struct sleeper {
	struct dapl_eventcount count;
	bool undisturbed; /**< atomic, as two may sleep on one count */
	bool over;        /**< atomic */
	pid_t tid;        /**< atomic */
};

/* As a waiter does it, with nothing to look at but the count. */
static void *
sleep_once(void *arg)
{
	struct sleeper *s = arg;
	sigset_t blocked;
	struct dapl_bed bed = { .bell = -1, .blocked = &blocked };
	uint32_t seen;

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	seen = dapl_eventcount_prepare(&s->count);
	__atomic_store_n(&s->undisturbed,
			seen != 0 || dapl_eventcount_sleep_on(&s->count, seen, LONG_NS, fd, &bed),
			__ATOMIC_RELAXED);
	dapl_eventcount_leave(&s->count);
	dapl_bed_leave(&bed);
	__atomic_store_n(&s->over, true, __ATOMIC_RELEASE);
	return NULL;
}

static pthread_t
begin(struct sleeper *s)
{
	pthread_t thread;

	*s = (struct sleeper){ 0 };
	assert_int_equal(pthread_create(&thread, NULL, sleep_once, s), 0);
	return thread;
}

static int
setup(void **state)
{
	fd = eventfd(0, EFD_NONBLOCK);
	return fd >= 0 ? 0 : -1;
}

static int
teardown(void **state)
{
	return close(fd);
}

/* Whether he sleeps, is about to, or has not begun. */
UNIT_RULE(sleep_on__ends_when_the_count_advances)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct sleeper s;
		pthread_t thread = begin(&s);

		for (unsigned int i = 0; i < round % 8; i++)
			sched_yield();
		if (dapl_eventcount_advance(&s.count))
			dapl_eventcount_wake(&s.count);
		pthread_join(thread, NULL);
		assert_true(s.undisturbed);
	}
}

UNIT_RULE(sleep_on__does_not_begin_behind_an_advance)
{
	struct dapl_eventcount count = { 0 };
	struct dapl_bed bed = { .bell = -1 };
	uint32_t seen = dapl_eventcount_prepare(&count);

	assert_true(dapl_eventcount_advance(&count));
	assert_true(dapl_eventcount_sleep_on(&count, seen, LONG_NS, fd, &bed));
	dapl_eventcount_leave(&count);
	dapl_bed_leave(&bed);
}

/* Two on one count, one on another, which is woken last. */
UNIT_RULE(wake__reaches_all_on_the_count)
{
	struct sleeper one, other;
	pthread_t thread[3];

	thread[0] = begin(&one);
	assert_int_equal(pthread_create(&thread[1], NULL, sleep_once, &one), 0);
	thread[2] = begin(&other);
	while (__atomic_load_n(&one.count.sleepers, __ATOMIC_ACQUIRE) < 2 ||
			__atomic_load_n(&other.count.sleepers, __ATOMIC_ACQUIRE) < 1)
		sched_yield();
	assert_true(dapl_eventcount_advance(&one.count));
	dapl_eventcount_wake(&one.count);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	assert_false(__atomic_load_n(&other.over, __ATOMIC_ACQUIRE));
	assert_true(dapl_eventcount_advance(&other.count));
	dapl_eventcount_wake(&other.count);
	pthread_join(thread[2], NULL);
}

UNIT_RULE(sleep_on__ends_when_the_descriptor_is_readable)
{
	struct sleeper s;
	pthread_t thread = begin(&s);

	assert_int_equal(eventfd_write(fd, 1), 0);
	pthread_join(thread, NULL);
	assert_true(s.undisturbed);
}

static void
on_signal(int number)
{
}

/* In a system call that waits, as the kernel says. */
static bool
is_asleep(struct sleeper *s)
{
	pid_t tid = __atomic_load_n(&s->tid, __ATOMIC_ACQUIRE);
	char name[64], state = '?';
	FILE *file;

	if (__atomic_load_n(&s->count.sleepers, __ATOMIC_ACQUIRE) == 0)
		return false;
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(name, "r");
	if (file == NULL)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(file);
	return state == 'S';
}

static struct sleeper
interrupt_sleeper(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sleeper s;
	pthread_t thread;

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	thread = begin(&s);
	while (!__atomic_load_n(&s.over, __ATOMIC_ACQUIRE)) {
		if (is_asleep(&s))
			pthread_kill(thread, SIGUSR1);
		sched_yield();
	}
	pthread_join(thread, NULL);
	return s;
}

UNIT_RULE(sleep_on__is_ended_by_a_signal)
{
	assert_false(interrupt_sleeper().undisturbed);
}

/* Blocked in the thread, and not in its sleep: one that is pending already ends it at once. */
UNIT_RULE(sleep_on__lets_in_signals_as_it_begins)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct dapl_eventcount count = { 0 };
	sigset_t set, before;
	struct dapl_bed bed = { .bell = -1, .blocked = &before };

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	pthread_kill(pthread_self(), SIGUSR1);
	assert_false(dapl_eventcount_sleep_on(&count, 0, LONG_NS, -1, &bed));
	dapl_bed_leave(&bed);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
