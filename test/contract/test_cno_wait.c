/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for notifications: who is woken, by what, and what waiting costs. */

#include <sched.h>
#include <unistd.h>

#include "cnos.h"
#include "effort.h"
#include "waiting.h"

#define WAITERS  4
#define EVDS     3
#define EACH     3000u /**< events of a dispatcher in a run with threads */
#define IDLE_US  1000000u
#define NAPS_MIN 4 /**< while a thread waits for IDLE_US: one that spins has none */
#define NAPS_MAX \
	1000 /**< 600, and what else blocks a thread now and then; one that naps briefly has 10000 */

struct cno_waiter {
	DAT_CNO_HANDLE cno;
	DAT_TIMEOUT timeout;
	DAT_RETURN rc;
	DAT_EVD_HANDLE evd;
	bool begun, over;
	pid_t tid;
	pthread_t thread;
};

static void *
wait_once(void *arg)
{
	struct cno_waiter *w = arg;
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
static void
begin_cno_wait(struct cno_waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
	*w = (struct cno_waiter){ .cno = cno, .timeout = timeout };
	w->thread = start(wait_once, w);
	while (!__atomic_load_n(&w->begun, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Its call returns, and names that dispatcher, or none. */
static void
want_woken(const struct cno_waiter *w, DAT_EVD_HANDLE evd)
{
	join(w->thread);
	ok(w->rc);
	assert_ptr_equal(w->evd, evd);
}

/* The kernel says that it sleeps, and it does so in the call only. */
static void
wait_until_asleep(const struct cno_waiter *w)
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

/* A waiter that is there already, however deep it sleeps, is woken by an event. */
static void
wait__is_woken(void **state)
{
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	for (unsigned int round = 0; round < 200; round++) {
		static struct cno_waiter w; /* a test that fails leaves its threads behind */

		begin_cno_wait(&w, cno, DAT_TIMEOUT_INFINITE);
		if (round % 8 == 0)
			usleep(round * 100); /* for none: what follows finds it wherever it is */
		ok(post_software(evd, 0));
		want_woken(&w, evd);
		want_event(evd, DAT_SOFTWARE_EVENT);
	}
}

/* Of several waiters each gets one notification, and the others wait on. */
static void
wait__one_notification_for_one_waiter(void **state)
{
	static struct cno_waiter w[WAITERS]; /* a test that fails leaves its threads behind */
	unsigned int over = 0;
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	for (int i = 0; i < WAITERS; i++)
		begin_cno_wait(&w[i], cno, DAT_TIMEOUT_INFINITE);
	for (unsigned int n = 1; n <= WAITERS; n++) {
		ok(post_software(evd, 0));
		while (over < n) {
			over = 0;
			for (int i = 0; i < WAITERS; i++)
				over += __atomic_load_n(&w[i].over, __ATOMIC_ACQUIRE);
		}
		assert_int_equal(over, n);
	}
	for (int i = 0; i < WAITERS; i++)
		want_woken(&w[i], evd);
	want_not_notified(cno);
}

/* When its time is over the call says so, and names no dispatcher. */
static void
wait__is_over_in_time(void **state)
{
	static const DAT_TIMEOUT timeouts[] = { 0, 1, 1000, QUIET_US };
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno = make_cno(a);

	for (unsigned int i = 0; i < COUNT_OF(timeouts); i++) {
		evd = cno;
		want_error(dat_cno_wait(cno, timeouts[i], &evd), DAT_QUEUE_EMPTY, 0);
		assert_null(evd);
	}
	ok(dat_cno_free(cno));
}

/* While somebody waits it cannot be freed; when its last dispatcher is, waiters go home without one. */
static void
wait__ends_with_the_last_dispatcher(void **state)
{
	DAT_EVD_HANDLE first, second;
	DAT_CNO_HANDLE cno;

	for (unsigned int round = 0; round < 20; round++) {
		static struct cno_waiter w; /* a test that fails leaves its threads behind */

		cno = make_cno(a);
		first = make_fed(a, cno);
		second = make_fed(a, cno);
		begin_cno_wait(&w, cno, DAT_TIMEOUT_INFINITE);
		wait_until_asleep(&w);
		/* For none: what follows finds it wherever it is. */
		usleep(round * 200);
		/* To be taken away is not to be freed, nor is one of two. */
		ok(dat_evd_free(first));
		ok(dat_evd_modify_cno(second, DAT_HANDLE_NULL));
		want_bad_state(dat_cno_free(cno), CNO_IN_USE);
		ok(dat_evd_modify_cno(second, cno));
		ok(dat_evd_free(second));
		want_woken(&w, DAT_HANDLE_NULL);
		ok(dat_cno_free(cno));
	}
}

/* With the instance all waiters go home: those of notification objects without a dispatcher, the others aborted. */
static void
wait__ends_with_the_instance(void **state)
{
	for (unsigned int round = 0; round < 10; round++) {
		static struct cno_waiter
				w[WAITERS]; /* a test that fails leaves its threads behind */
		struct waiter on_evd = { .threshold = 1 };
		DAT_CNO_HANDLE cno, lonely;

		end_open(a, "loop0", NULL);
		cno = make_cno(a);
		lonely = make_cno(a);
		(void)make_fed(a, cno);
		on_evd.evd = make_fed(a, cno);
		for (int i = 0; i < WAITERS; i++)
			begin_cno_wait(&w[i], i % 2 == 0 ? cno : lonely, DAT_TIMEOUT_INFINITE);
		begin_to_wait(&on_evd);
		for (int i = 0; i < WAITERS; i++)
			wait_until_asleep(&w[i]);
		/* For none: what follows finds them wherever they are. */
		usleep(round * 1000);
		end_close(a);
		for (int i = 0; i < WAITERS; i++)
			want_woken(&w[i], DAT_HANDLE_NULL);
		join_waiter(&on_evd);
		want_type(on_evd.rc, DAT_ABORT);
	}
}

static void
count_calls(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	__atomic_fetch_add((unsigned int *)data, 1, __ATOMIC_RELAXED);
}

/* A thread that waits on a dispatcher has its events to itself until it leaves: not even an agent hears of them. */
static void
wait__on_the_dispatcher_comes_first(void **state)
{
	static unsigned int calls; /* the agent hears of the close, too */
	DAT_CNO_HANDLE cno = make_cno_with(a, count_calls, &calls);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	for (unsigned int round = 0; round < 20; round++) {
		struct waiter w = { .evd = evd };

		begin_to_wait(&w);
		/* For none: what follows finds it wherever it is. */
		usleep(round * 200);
		ok(post_software(evd, 0));
		join_waiter(&w);
		ok(w.rc);
		assert_int_equal(calls, round);
		want_not_notified(cno);
		ok(post_software(evd, 0));
		assert_int_equal(calls, round + 1);
		want_notified(cno, evd);
		want_event(evd, DAT_SOFTWARE_EVENT);
	}
}

static void *
post_each(void *evd)
{
	for (unsigned int n = 0; n < EACH;)
		n += post_software(evd, 0) == DAT_SUCCESS;
	return NULL;
}

/* No notification is lost, and none is for nothing: each leads to one event, however they come. */
static void
wait__finds_each_event_of_many(void **state)
{
	DAT_EVD_HANDLE fed[EVDS];
	pthread_t thread[EVDS];
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno = make_cno(a);

	for (int i = 0; i < EVDS; i++)
		fed[i] = make_fed(a, cno);
	for (int i = 0; i < EVDS; i++)
		thread[i] = start(post_each, fed[i]);
	for (unsigned int n = 0; n < EVDS * EACH; n++) {
		ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &evd));
		want_now(evd, DAT_SOFTWARE_EVENT);
	}
	for (int i = 0; i < EVDS; i++)
		join(thread[i]);
	want_not_notified(cno);
}

/* Unsolicited receives, which wake no waiter, do not notify. Failures do. */
static void
flags__solicited(void **state)
{
	DAT_CNO_HANDLE cno = make_cno(b);

	ok(dat_evd_modify_cno(b->recv, cno));
	use_ep(b, &(DAT_EP_ATTR){ .recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG });
	pair_connect(&pair);
	post_recvs(0, 4, 64);
	for (uint64_t i = 0; i < 3; i++) {
		ok(post_send_with(a, 64, i,
				i == 1 ? DAT_COMPLETION_SOLICITED_WAIT_FLAG
				       : DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, 64);
	}
	want_notified(cno, b->recv);
	want_not_notified(cno);
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_notified(cno, b->recv);
	want_not_notified(cno);
}

/* Unsignalled requests do not notify either. */
static void
flags__unsignalled(void **state)
{
	DAT_EVD_HANDLE fired;
	DAT_CNO_HANDLE cno = make_cno(a);

	ok(dat_evd_modify_cno(a->request, cno));
	use_ep(a, &(DAT_EP_ATTR){ .request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG });
	pair_connect(&pair);
	for (uint64_t i = 0; i < 3; i++) {
		ok(post_recv(b, 0, 64, i));
		ok(post_send_with(a, 64, i,
				i == 1 ? DAT_COMPLETION_DEFAULT_FLAG
				       : DAT_COMPLETION_UNSIGNALLED_FLAG));
	}
	want_notification(cno, a->request);
	want_sent(0, 3, 64);
	want_type(dat_cno_wait(cno, QUIET_US, &fired), DAT_QUEUE_EMPTY);
}

/*
 * A thread that waits in vain leaves the processor to others, though no other thread polls the device. It naps, and a nap
 * is a sixteenth of the time that nothing happened, from 50 us to 2 ms: that bounds their number on any machine.
 */
static void
wait__is_cheap(void **state)
{
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, cno), fired;
	struct effort before = effort_until_now();

	want_type(dat_cno_wait(cno, IDLE_US, &fired), DAT_QUEUE_EMPTY);
	want_little(&before, "a waiter on a notification object", NAPS_MIN, NAPS_MAX, IDLE_US);
	before = effort_until_now();
	want_type(wait_for(evd, IDLE_US, 1), DAT_TIMEOUT_EXPIRED);
	want_little(&before, "a waiter on a dispatcher", NAPS_MIN, NAPS_MAX, IDLE_US);
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

	end_open(a, "loop0", NULL);
	cno = make_cno_with(a, hear_and_take, &t);
	t.evd = make_fed(a, cno);
	for (int i = 0; i < WAITERS; i++)
		thread[i] = start(take_until_all, &t);
	for (uintptr_t n = 0; n < EACH;)
		n += post_software(t.evd, n) == DAT_SUCCESS;
	for (int i = 0; i < WAITERS; i++)
		join(thread[i]);
	assert_int_equal(t.wrong, 0);
	for (unsigned int n = 0; n < EACH; n++)
		assert_int_equal(t.seen[n], 1);
}

const struct CMUnitTest tests[] = {
	end_test(wait__is_woken),
	end_test(wait__one_notification_for_one_waiter),
	end_test(wait__is_over_in_time),
	end_test(wait__ends_with_the_last_dispatcher),
	rig_test(wait__ends_with_the_instance),
	end_test(wait__on_the_dispatcher_comes_first),
	end_test(wait__finds_each_event_of_many),
	rig_test(agent__takes_beside_threads),
	up_test(wait__is_cheap),
	pair_test(flags__solicited),
	pair_test(flags__unsignalled),
	tests_end,
};
