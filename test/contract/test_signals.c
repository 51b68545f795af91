/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Signals, and threads that wait. A signal that a handler took in a thread that waits ends that wait, whenever it came: each
 * is sent once, at a random moment, to a thread that is seen to wait, and its wait must end.
 */

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define ROUNDS     400u /**< of each kind, unless SIGNALS has another number */
#define MOMENTS_US 600u /**< a wait spins, and then sleeps a few times */

enum how {
	ON_EVD,
	ON_CNO
};

/** A thread that waits again and again. */
struct waiter {
	enum how how;
	DAT_TIMEOUT timeout;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	sigset_t blocked; /**< in it */
	pthread_t thread;
	sem_t go, over; /**< once for each wait */
	bool entered;   /**< the thread is in the call, which has blocked signals; atomic */
	bool stop;
	DAT_RETURN rc;
	sigset_t left; /**< blocked behind the call */
};

static struct waiter *w; /* a test that fails leaves it behind, with its thread */
static volatile sig_atomic_t handled;

static unsigned int
rounds(void)
{
	const char *text = getenv("SIGNALS");

	return text != NULL ? (unsigned int)strtoul(text, NULL, 10) : ROUNDS;
}

static void
on_signal(int number)
{
	handled++;
}

static void
handle(int number, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* This thread is the waiter, and about to call. */
static __thread bool calls;

/* In place of libc's, which the provider, loaded later, calls. A wait blocks signals at once: from then on none may be missed. */
int
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has reserved ones. */
pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	union {
		void *symbol;
		int (*call)(int, const sigset_t *, sigset_t *);
	} libc = { .symbol = dlsym(RTLD_NEXT, "pthread_sigmask") };
	int rc = libc.call(how, set, before);

	if (calls && how == SIG_BLOCK && set != NULL && sigismember(set, SIGUSR1) == 1)
		__atomic_store_n(&w->entered, true, __ATOMIC_RELEASE);
	return rc;
}

/* A signal behind a wait that an event ended is no order to go. */
static bool
await_go(struct waiter *self)
{
	int rc;

	do
		rc = sem_wait(&self->go);
	while (rc != 0 && errno == EINTR);
	return rc == 0;
}

static void *
wait_again_and_again(void *arg)
{
	struct waiter *self = arg;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	pthread_sigmask(SIG_SETMASK, &self->blocked, NULL);
	while (await_go(self) && !self->stop) {
		calls = true;
		if (self->how == ON_EVD)
			self->rc = dat_evd_wait(self->evd, self->timeout, 1, &event, &more);
		else
			self->rc = dat_cno_wait(self->cno, self->timeout, &evd);
		calls = false;
		pthread_sigmask(SIG_SETMASK, NULL, &self->left);
		sem_post(&self->over);
	}
	return NULL;
}

/* No other thread takes SIGUSR1; the library's own are none of the test's. */
static void
make_waiter(enum how how, int blocked)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	w = calloc(1, sizeof(*w));
	assert_non_null(w);
	w->how = how;
	w->timeout = DAT_TIMEOUT_INFINITE;
	sigemptyset(&w->blocked);
	if (blocked != 0)
		sigaddset(&w->blocked, blocked);
	w->evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG);
	ok(dat_cno_create(a->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &w->cno));
	if (how == ON_CNO)
		ok(dat_evd_modify_cno(w->evd, w->cno));
	sem_init(&w->go, 0, 0);
	sem_init(&w->over, 0, 0);
	w->thread = start(wait_again_and_again, w);
}

static void
end_waiter(void)
{
	w->stop = true;
	sem_post(&w->go);
	join(w->thread);
	ok(dat_evd_free(w->evd));
	ok(dat_cno_free(w->cno));
	free(w);
}

/* The thread waits when this returns. */
static void
begin_wait(void)
{
	__atomic_store_n(&w->entered, false, __ATOMIC_RELEASE);
	sem_post(&w->go);
	while (!__atomic_load_n(&w->entered, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* The wait has ended. */
static void
want_over(const char *what, unsigned int round)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += test_limit_s();
	do
		rc = sem_clockwait(&w->over, CLOCK_MONOTONIC, &until);
	while (rc != 0 && errno == EINTR);
	if (rc != 0)
		fail_msg("%s %u ended no wait", what, round);
}

static void
pass_a_moment(void)
{
	const struct timespec ts = { .tv_nsec = rand() % (int)(MOMENTS_US * 1000u) };

	/* For no condition: the moment is random. */
	nanosleep(&ts, NULL);
}

/* To the thread, and to the process, where no other thread takes it. */
static void
send_signal(unsigned int round)
{
	if (round % 2 == 0)
		pthread_kill(w->thread, SIGUSR1);
	else
		kill(getpid(), SIGUSR1);
}

static void
interrupt_each(enum how how)
{
	make_waiter(how, 0);
	for (unsigned int round = 0; round < rounds(); round++) {
		/* As with poll(2), it makes no difference that calls are to be restarted. */
		handle(SIGUSR1, on_signal, round / 2 % 2 != 0 ? SA_RESTART : 0);
		w->timeout = round / 4 % 2 != 0 ? DAT_TIMEOUT_INFINITE : PATIENCE_US;
		begin_wait();
		pass_a_moment();
		send_signal(round);
		want_over("signal", round);
		want_error(w->rc, DAT_INTERRUPTED_CALL, DAT_SUB_INTERRUPTED);
	}
	end_waiter();
}

static void
wait_for_events__is_ended_by_each_signal(void **state)
{
	interrupt_each(ON_EVD);
}

static void
wait_for_notifications__is_ended_by_each_signal(void **state)
{
	interrupt_each(ON_CNO);
}

static bool silent; /* atomic */

/* Messages from a to b, without an end. */
static void *
talk(void *arg)
{
	DAT_EVENT event;

	while (!__atomic_load_n(&silent, __ATOMIC_ACQUIRE)) {
		if (post_recv(b, 0, 64, 1) != DAT_SUCCESS || post_send(a, 0, 64, 1) != DAT_SUCCESS)
			return arg;
		while (!__atomic_load_n(&silent, __ATOMIC_ACQUIRE) &&
				dat_evd_dequeue(b->recv, &event) != DAT_SUCCESS)
			sched_yield();
		while (!__atomic_load_n(&silent, __ATOMIC_ACQUIRE) &&
				dat_evd_dequeue(a->request, &event) != DAT_SUCCESS)
			sched_yield();
	}
	return NULL;
}

static void
interrupt_each_in_traffic(enum how how)
{
	pthread_t talker;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	__atomic_store_n(&silent, false, __ATOMIC_RELEASE);
	talker = start(talk, NULL);
	interrupt_each(how);
	__atomic_store_n(&silent, true, __ATOMIC_RELEASE);
	join(talker);
}

static void
wait_for_events__is_ended_by_each_signal_in_traffic(void **state)
{
	interrupt_each_in_traffic(ON_EVD);
}

static void
wait_for_notifications__is_ended_by_each_signal_in_traffic(void **state)
{
	interrupt_each_in_traffic(ON_CNO);
}

/* Nor by those that are blocked, which stay pending; and the thread has its mask again. */
static void
wait__is_not_ended_by_signals_without_handler(void **state)
{
	handle(SIGCHLD, SIG_DFL, 0);
	handle(SIGWINCH, SIG_DFL, 0);
	handle(SIGURG, SIG_IGN, 0);
	handle(SIGUSR2, on_signal, 0);
	handled = 0;
	make_waiter(ON_EVD, SIGUSR2);
	for (unsigned int round = 0; round < rounds() / 8; round++) {
		static const int numbers[] = { SIGCHLD, SIGWINCH, SIGURG, SIGUSR2 };

		begin_wait();
		for (unsigned int i = 0; i < COUNT_OF(numbers); i++) {
			pass_a_moment();
			pthread_kill(w->thread, numbers[i]);
		}
		pass_a_moment();
		ok(post_software(w->evd, round));
		want_over("event", round);
		ok(w->rc);
		assert_int_equal(sigismember(&w->left, SIGUSR2), 1);
		assert_int_equal(sigismember(&w->left, SIGUSR1), 0);
	}
	assert_int_equal(handled, 0);
	end_waiter();
	handle(SIGUSR2, SIG_DFL, 0);
}

/* An event and a signal at once: the wait ends with one of them, and the event is there still, or was handed over. */
static void
event__is_not_lost_to_a_signal(void **state)
{
	DAT_EVENT event;

	make_waiter(ON_EVD, 0);
	handle(SIGUSR1, on_signal, 0);
	for (unsigned int round = 0; round < rounds(); round++) {
		begin_wait();
		pass_a_moment();
		if (round % 2 == 0)
			ok(post_software(w->evd, round));
		pthread_kill(w->thread, SIGUSR1);
		if (round % 2 != 0)
			ok(post_software(w->evd, round));
		want_over("event", round);
		if (w->rc == DAT_SUCCESS)
			continue;
		want_type(w->rc, DAT_INTERRUPTED_CALL);
		ok(dat_evd_dequeue(w->evd, &event));
	}
	end_waiter();
}

const struct CMUnitTest tests[] = {
	end_test(wait_for_events__is_ended_by_each_signal),
	end_test(wait_for_notifications__is_ended_by_each_signal),
	up_test(wait_for_events__is_ended_by_each_signal_in_traffic),
	up_test(wait_for_notifications__is_ended_by_each_signal_in_traffic),
	end_test(wait__is_not_ended_by_signals_without_handler),
	end_test(event__is_not_lost_to_a_signal),
	tests_end,
};
