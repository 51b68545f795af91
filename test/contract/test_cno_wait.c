/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for notifications: who is woken, by what, and what waiting costs. */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "cnos.h"

#define WAITERS 4
#define EVDS    3
#define EACH    3000u /**< events of a dispatcher in a run with threads */
#define IDLE_US 1000000u
#define BUSY_SHARE \
	0.50 /**< of the time that a waiter may use at most; it uses some thousandths, one that spins all */

struct waiter {
	DAT_CNO_HANDLE cno;
	DAT_TIMEOUT timeout;
	DAT_RETURN rc;
	DAT_EVD_HANDLE evd;
	bool begun, over;
	pid_t tid;
};

static void *
wait_once(void *arg)
{
	struct waiter *w = arg;
	DAT_EVD_HANDLE evd = w;
	DAT_RETURN rc;

	w->tid = gettid();
	__atomic_store_n(&w->begun, true, __ATOMIC_RELEASE);
	rc = dat_cno_wait(w->cno, w->timeout, &evd);
	w->rc = rc;
	w->evd = evd;
	__atomic_store_n(&w->over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* It is in the call, or on its last steps to it, when this returns; and a moment later it sleeps. */
static pthread_t
begin_to_wait(struct waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
	pthread_t thread;

	*w = (struct waiter){ .cno = cno, .timeout = timeout };
	assert_int_equal(pthread_create(&thread, NULL, wait_once, w), 0);
	while (!__atomic_load_n(&w->begun, __ATOMIC_ACQUIRE))
		sched_yield();
	return thread;
}

/* The kernel says that it sleeps, and it does so in the call only. */
static void
wait_until_asleep(const struct waiter *w)
{
	char name[64], state = '?';

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)w->tid);
	while (state != 'S') {
		FILE *file = fopen(name, "r");

		assert_non_null(file);
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(file);
		sched_yield();
	}
}

static DAT_RETURN
post_one(DAT_EVD_HANDLE evd)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	return dat_evd_post_se(evd, &event);
}

static void
join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A waiter that is there already, however deep it sleeps, is woken by an event. */
static void
wait__is_woken(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	evd = make_fed(&end, cno);
	for (unsigned int round = 0; round < 200; round++) {
		struct waiter w;
		pthread_t thread = begin_to_wait(&w, cno, DAT_TIMEOUT_INFINITE);

		if (round % 8 == 0)
			usleep(round * 100);
		ok(post_one(evd));
		join(thread);
		ok(w.rc);
		assert_ptr_equal(w.evd, evd);
		want_event(evd, DAT_SOFTWARE_EVENT);
	}
	end_close(&end);
}

/* Of several waiters each gets one notification, and the others wait on. */
static void
wait__one_notification_for_one_waiter(void **state)
{
	struct waiter w[WAITERS];
	pthread_t thread[WAITERS];
	DAT_EVD_HANDLE evd, none;
	unsigned int over = 0;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	evd = make_fed(&end, cno);
	for (int i = 0; i < WAITERS; i++)
		thread[i] = begin_to_wait(&w[i], cno, DAT_TIMEOUT_INFINITE);
	for (unsigned int n = 1; n <= WAITERS; n++) {
		ok(post_one(evd));
		while (over < n) {
			over = 0;
			for (int i = 0; i < WAITERS; i++)
				over += __atomic_load_n(&w[i].over, __ATOMIC_ACQUIRE);
		}
		assert_int_equal(over, n);
	}
	for (int i = 0; i < WAITERS; i++) {
		join(thread[i]);
		ok(w[i].rc);
		assert_ptr_equal(w[i].evd, evd);
	}
	want_type(dat_cno_wait(cno, 0, &none), DAT_QUEUE_EMPTY);
	end_close(&end);
}

/* When its time is over the call says so, and names no dispatcher. */
static void
wait__is_over_in_time(void **state)
{
	static const DAT_TIMEOUT timeouts[] = { 0, 1, 1000, QUIET_US };
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	for (unsigned int i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
		evd = cno;
		want_error(dat_cno_wait(cno, timeouts[i], &evd), DAT_QUEUE_EMPTY, 0);
		assert_null(evd);
	}
	ok(dat_cno_free(cno));
	end_close(&end);
}

/* While somebody waits it cannot be freed; when its last dispatcher is, waiters go home without one. */
static void
wait__ends_with_the_last_dispatcher(void **state)
{
	DAT_EVD_HANDLE first, second;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int round = 0; round < 20; round++) {
		pthread_t thread;
		struct waiter w;

		cno = make_cno(&end);
		first = make_fed(&end, cno);
		second = make_fed(&end, cno);
		thread = begin_to_wait(&w, cno, DAT_TIMEOUT_INFINITE);
		wait_until_asleep(&w);
		usleep(round * 200);
		/* To be taken away is not to be freed, nor is one of two. */
		ok(dat_evd_free(first));
		ok(dat_evd_modify_cno(second, DAT_HANDLE_NULL));
		want_error(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
		ok(dat_evd_modify_cno(second, cno));
		ok(dat_evd_free(second));
		join(thread);
		ok(w.rc);
		assert_null(w.evd);
		ok(dat_cno_free(cno));
	}
	end_close(&end);
}

static void *
wait_for_event(void *arg)
{
	struct waiter *w = arg;
	DAT_EVENT event;
	DAT_COUNT more;

	w->rc = dat_evd_wait(w->evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	return NULL;
}

/* With the instance all waiters go home: those of notification objects without a dispatcher, the others aborted. */
static void
wait__ends_with_the_instance(void **state)
{
	for (unsigned int round = 0; round < 10; round++) {
		struct waiter w[WAITERS], on_evd;
		pthread_t thread[WAITERS], other;
		DAT_RETURN rc = DAT_QUEUE_EMPTY;
		DAT_CNO_HANDLE cno, lonely;
		DAT_EVENT event;
		struct end end;

		end_open(&end, "loop0", NULL);
		cno = make_cno(&end);
		lonely = make_cno(&end);
		(void)make_fed(&end, cno);
		on_evd.evd = make_fed(&end, cno);
		for (int i = 0; i < WAITERS; i++)
			thread[i] = begin_to_wait(
					&w[i], i % 2 == 0 ? cno : lonely, DAT_TIMEOUT_INFINITE);
		assert_int_equal(pthread_create(&other, NULL, wait_for_event, &on_evd), 0);
		while (rc == DAT_QUEUE_EMPTY)
			rc = dat_evd_dequeue(on_evd.evd, &event);
		for (int i = 0; i < WAITERS; i++)
			wait_until_asleep(&w[i]);
		usleep(round * 1000);
		end_close(&end);
		for (int i = 0; i < WAITERS; i++) {
			join(thread[i]);
			ok(w[i].rc);
			assert_null(w[i].evd);
		}
		join(other);
		want_type(on_evd.rc, DAT_ABORT);
	}
}

static void
count_calls(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	__atomic_fetch_add((unsigned int *)data, 1, __ATOMIC_RELAXED);
}

/* Who waits on a dispatcher itself has it to himself, until he leaves: not even an agent hears of it. */
static void
wait__on_the_dispatcher_comes_first(void **state)
{
	unsigned int calls = 0;
	DAT_EVD_HANDLE evd, fired;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, (DAT_OS_WAIT_PROXY_AGENT){ &calls, count_calls }, &cno));
	evd = make_fed(&end, cno);
	for (unsigned int round = 0; round < 20; round++) {
		struct waiter w = { .evd = evd };
		DAT_RETURN rc = DAT_QUEUE_EMPTY;
		pthread_t thread;
		DAT_EVENT event;

		assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &w), 0);
		while (rc == DAT_QUEUE_EMPTY)
			rc = dat_evd_dequeue(evd, &event);
		usleep(round * 200);
		ok(post_one(evd));
		join(thread);
		ok(w.rc);
		assert_int_equal(calls, round);
		want_type(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY);
		ok(post_one(evd));
		assert_int_equal(calls, round + 1);
		ok(dat_cno_wait(cno, 0, &fired));
		assert_ptr_equal(fired, evd);
		want_event(evd, DAT_SOFTWARE_EVENT);
	}
	end_close(&end);
}

static void
on_signal(int number)
{
}

/* A signal that is caught ends a wait. One between two sleeps does not, so it is sent until it does. */
static void
wait__is_interrupted(void **state)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	DAT_CNO_HANDLE cno;
	pthread_t thread;
	struct waiter w;
	struct end end;

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	thread = begin_to_wait(&w, cno, DAT_TIMEOUT_INFINITE);
	while (!__atomic_load_n(&w.over, __ATOMIC_ACQUIRE)) {
		pthread_kill(thread, SIGUSR1);
		usleep(1000);
	}
	join(thread);
	want_error(w.rc, DAT_INTERRUPTED_CALL, DAT_SUB_INTERRUPTED);
	ok(dat_cno_free(cno));
	end_close(&end);
}

/** Posters, and one who is told by the notification object alone. */
struct crowd_of_posters {
	DAT_EVD_HANDLE evd[EVDS];
	unsigned int next; /**< atomic */
};

static void *
post_each(void *arg)
{
	struct crowd_of_posters *c = arg;
	DAT_EVD_HANDLE evd = c->evd[__atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)];

	for (unsigned int n = 0; n < EACH;)
		n += post_one(evd) == DAT_SUCCESS;
	return NULL;
}

/* No notification is lost, and none is for nothing: each leads to one event, however they come. */
static void
wait__finds_each_event_of_many(void **state)
{
	struct crowd_of_posters c = { .next = 0 };
	pthread_t thread[EVDS];
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	for (int i = 0; i < EVDS; i++)
		c.evd[i] = make_fed(&end, cno);
	for (int i = 0; i < EVDS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, post_each, &c), 0);
	for (unsigned int n = 0; n < EVDS * EACH; n++) {
		ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &evd));
		want_now(evd, DAT_SOFTWARE_EVENT);
	}
	for (int i = 0; i < EVDS; i++)
		join(thread[i]);
	want_type(dat_cno_wait(cno, 0, &evd), DAT_QUEUE_EMPTY);
	end_close(&end);
}

/* What is to wake nobody does not notify: unsolicited receives. Failures do. */
static void
flags__solicited(void **state)
{
	const DAT_EP_ATTR attr = { .recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG };
	DAT_EVD_HANDLE fired;
	DAT_LMR_TRIPLET iov;
	DAT_CNO_HANDLE cno;
	struct pair pair;
	struct end *b = &pair.b;

	pair_open(&pair, NULL, NULL);
	cno = make_cno(b);
	ok(dat_evd_modify_cno(b->recv, cno));
	ok(dat_ep_free(b->ep));
	ok(dat_ep_create(b->ia, b->pz, b->recv, b->request, b->connect, &attr, &b->ep));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 4; i++)
		ok(post_recv(b, 0, 64, i));
	for (uint64_t i = 0; i < 3; i++) {
		iov = segment(&pair.a, 0, 64);
		ok(dat_ep_post_send(pair.a.ep, 1, &iov, cookie(i),
				i == 1 ? DAT_COMPLETION_SOLICITED_WAIT_FLAG
				       : DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
	}
	ok(dat_cno_wait(cno, 0, &fired));
	assert_ptr_equal(fired, b->recv);
	want_type(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY);
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_cno_wait(cno, 0, &fired));
	want_type(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY);
	pair_close(&pair);
}

/* And what was posted as unsignalled. */
static void
flags__unsignalled(void **state)
{
	const DAT_EP_ATTR attr = { .request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG };
	DAT_EVD_HANDLE fired;
	DAT_LMR_TRIPLET iov;
	DAT_CNO_HANDLE cno;
	struct pair pair;
	struct end *a = &pair.a;

	pair_open(&pair, NULL, NULL);
	cno = make_cno(a);
	ok(dat_evd_modify_cno(a->request, cno));
	ok(dat_ep_free(a->ep));
	ok(dat_ep_create(a->ia, a->pz, a->recv, a->request, a->connect, &attr, &a->ep));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 3; i++) {
		ok(post_recv(&pair.b, 0, 64, i));
		iov = segment(a, 0, 64);
		ok(dat_ep_post_send(a->ep, 1, &iov, cookie(i),
				i == 1 ? DAT_COMPLETION_DEFAULT_FLAG
				       : DAT_COMPLETION_UNSIGNALLED_FLAG));
	}
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, a->request);
	for (uint64_t i = 0; i < 3; i++)
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, 64);
	want_type(dat_cno_wait(cno, QUIET_US, &fired), DAT_QUEUE_EMPTY);
	pair_close(&pair);
}

static double
seconds(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) * 1e-9;
}

/* What share of the time this thread was on a processor while it waited. */
static double
share_of(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
	struct timespec wall[2], cpu[2];
	DAT_EVD_HANDLE fired;
	DAT_EVENT event;
	DAT_COUNT more;

	clock_gettime(CLOCK_MONOTONIC, &wall[0]);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu[0]);
	if (cno != DAT_HANDLE_NULL)
		want_type(dat_cno_wait(cno, IDLE_US, &fired), DAT_QUEUE_EMPTY);
	else
		want_type(dat_evd_wait(evd, IDLE_US, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu[1]);
	clock_gettime(CLOCK_MONOTONIC, &wall[1]);
	return seconds(&cpu[0], &cpu[1]) / seconds(&wall[0], &wall[1]);
}

/* A thread that waits in vain leaves the processor to others, though no other thread polls the device. */
static void
wait__is_cheap(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct pair pair;
	double share[2];

	pair_up(&pair);
	cno = make_cno(&pair.a);
	evd = make_fed(&pair.a, cno);
	share[0] = share_of(cno, evd);
	share[1] = share_of(DAT_HANDLE_NULL, evd);
	print_message("processor time of a waiter: %.2f %% and %.2f %%\n", share[0] * 100,
			share[1] * 100);
	assert_true(share[0] < BUSY_SHARE);
	assert_true(share[1] < BUSY_SHARE);
	pair_close(&pair);
}

/** Threads that take from one dispatcher, beside the agent that hears of it. */
struct takers {
	DAT_EVD_HANDLE evd;
	unsigned int taken; /**< by threads; atomic */
	unsigned int heard; /**< by the agent; atomic */
	unsigned int wrong; /**< dequeues that said anything else; atomic */
	uint8_t seen[EACH]; /**< how often each event was; its taker's, then who joins */
};

static void
take_one(struct takers *t, bool agent)
{
	DAT_EVENT event;
	DAT_RETURN rc = dat_evd_dequeue(t->evd, &event);

	if (rc == DAT_SUCCESS) {
		t->seen[(uintptr_t)event.event_data.software_event_data.pointer]++;
		__atomic_fetch_add(agent ? &t->heard : &t->taken, 1, __ATOMIC_RELEASE);
	} else if (rc != DAT_QUEUE_EMPTY) {
		__atomic_fetch_add(&t->wrong, 1, __ATOMIC_RELAXED);
	}
}

static void
hear_and_take(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	struct takers *t = data;

	if (evd != DAT_HANDLE_NULL)
		take_one(t, true);
}

static bool
is_all_taken(const struct takers *t)
{
	return __atomic_load_n(&t->taken, __ATOMIC_ACQUIRE) +
			__atomic_load_n(&t->heard, __ATOMIC_ACQUIRE) ==
			EACH;
}

static void *
take_until_all(void *arg)
{
	struct takers *t = arg;

	while (!is_all_taken(t))
		take_one(t, false);
	return NULL;
}

/* Each event is taken once: by the agent, in whosever call it runs, or by a thread. */
static void
agent__takes_beside_threads(void **state)
{
	static struct takers t;
	pthread_t thread[WAITERS];
	DAT_CNO_HANDLE cno;
	struct end end;

	t = (struct takers){ .wrong = 0 };
	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, (DAT_OS_WAIT_PROXY_AGENT){ &t, hear_and_take }, &cno));
	t.evd = make_fed(&end, cno);
	for (int i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, take_until_all, &t), 0);
	for (uintptr_t n = 0; n < EACH;) {
		DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

		event.event_data.software_event_data.pointer = (DAT_PVOID)n;
		n += dat_evd_post_se(t.evd, &event) == DAT_SUCCESS;
	}
	for (int i = 0; i < WAITERS; i++)
		join(thread[i]);
	assert_int_equal(t.wrong, 0);
	for (unsigned int n = 0; n < EACH; n++)
		assert_int_equal(t.seen[n], 1);
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(wait__is_woken),
		rig_test(wait__one_notification_for_one_waiter),
		rig_test(wait__is_over_in_time),
		rig_test(wait__ends_with_the_last_dispatcher),
		rig_test(wait__ends_with_the_instance),
		rig_test(wait__on_the_dispatcher_comes_first),
		rig_test(wait__is_interrupted),
		rig_test(wait__finds_each_event_of_many),
		rig_test(agent__takes_beside_threads),
		rig_test(wait__is_cheap),
		rig_test(flags__solicited),
		rig_test(flags__unsignalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
