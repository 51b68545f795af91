/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_resize: alone, beside a waiter, and while events come and go. */

#include <limits.h>

#include "waiting.h"

#define MANY  5000u /**< events of a run with threads */
#define OFTEN 100u  /**< how often the length changes in it at least */

static uintptr_t
number_of(const DAT_EVENT *event)
{
	return (uintptr_t)event->event_data.software_event_data.pointer;
}

static void
resize__arguments(void **state)
{
	DAT_EVD_HANDLE dead = make_evd_of(a, 4, DAT_EVD_SOFTWARE_FLAG);

	ok(dat_evd_free(dead));
	want_type(dat_evd_resize(DAT_HANDLE_NULL, 4), DAT_INVALID_HANDLE);
	want_error(dat_evd_resize(a->ep, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_error(dat_evd_resize(dead, 4), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_bad_arg(dat_evd_resize(a->recv, 0), 2);
	want_bad_arg(dat_evd_resize(a->recv, -1), 2);
	want_error(dat_evd_resize(a->recv, INT32_MAX), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_TEVD);
	assert_int_equal(evd_param(a->recv).evd_qlen, EVD_LEN);
}

/* Exactly as many events as were asked for fit, then the dispatcher is full. */
static void
resize__is_exact(void **state)
{
	static const DAT_COUNT lengths[] = { 1, 2, 3, 4, 5, 8, 7, 64, 65, 1000, 63, 1 };
	DAT_EVD_HANDLE evd = make_evd_of(a, 10, DAT_EVD_SOFTWARE_FLAG);

	for (unsigned int i = 0; i < COUNT_OF(lengths); i++) {
		ok(dat_evd_resize(evd, lengths[i]));
		assert_int_equal(evd_param(evd).evd_qlen, lengths[i]);
		for (DAT_COUNT n = 0; n < lengths[i]; n++)
			ok(post_software(evd, (uintptr_t)n));
		want_error(post_software(evd, 0), DAT_QUEUE_FULL, 0);
		for (DAT_COUNT n = 0; n < lengths[i]; n++)
			want_software(evd, (uintptr_t)n);
		want_none(evd);
	}
	want_none(a->async);
}

/* Queued events stay, in their order, wherever they lie in the ring, and more come behind them. */
static void
resize__keeps_what_is_queued(void **state)
{
	for (DAT_COUNT to = 3; to <= 20; to++) {
		for (uintptr_t start = 0; start < 9; start++) {
			DAT_EVD_HANDLE evd = make_evd_of(a, 8, DAT_EVD_SOFTWARE_FLAG);

			for (uintptr_t n = 0; n < start; n++) {
				ok(post_software(evd, n));
				want_software(evd, n);
			}
			for (uintptr_t n = 0; n < 3; n++)
				ok(post_software(evd, n));
			ok(dat_evd_resize(evd, to));
			for (DAT_COUNT n = 3; n < to; n++)
				ok(post_software(evd, (uintptr_t)n));
			want_error(post_software(evd, 0), DAT_QUEUE_FULL, 0);
			for (DAT_COUNT n = 0; n < to; n++)
				want_software(evd, (uintptr_t)n);
			ok(dat_evd_free(evd));
		}
	}
}

/* Below the number of events that are queued it is refused, and nothing has changed; to that number it is granted. */
static void
resize__not_below_what_is_queued(void **state)
{
	DAT_EVD_HANDLE evd = make_evd_of(a, 20, DAT_EVD_SOFTWARE_FLAG);

	for (uintptr_t n = 0; n < 10; n++)
		ok(post_software(evd, n));
	for (DAT_COUNT to = 1; to < 10; to++) {
		want_error(dat_evd_resize(evd, to), DAT_INVALID_STATE, 0);
		assert_int_equal(evd_param(evd).evd_qlen, 20);
	}
	ok(dat_evd_resize(evd, 10));
	want_error(post_software(evd, 0), DAT_QUEUE_FULL, 0);
	for (uintptr_t n = 0; n < 10; n++)
		want_software(evd, n);
	ok(dat_evd_resize(evd, 1));
}

/* Completions of a shared receive queue: its counts know of each, before and after, and a full dispatcher says so. */
static void
resize__keeps_the_books_of_a_shared_queue(void **state)
{
	post_many(b, 16, 0);
	deliver_n(6, 64);
	want_counts(b->srq, 16, 10, 16);
	want_error(dat_evd_resize(b->recv, 5), DAT_INVALID_STATE, 0);
	ok(dat_evd_resize(b->recv, 6));
	want_counts(b->srq, 16, 10, 16);
	for (uint64_t n = 0; n < 3; n++) {
		want_dto_now(b, b->recv, n, DAT_DTO_SUCCESS);
		want_counts(b->srq, 16, 10, 15 - (DAT_COUNT)n);
	}
	ok(dat_evd_resize(b->recv, 100));
	deliver_n(4, 64);
	for (uint64_t n = 3; n < 10; n++)
		want_dto_now(b, b->recv, n, DAT_DTO_SUCCESS);
	want_counts(b->srq, 16, 6, 6);
	/* One that is lost for want of room is reaped, too. */
	ok(dat_evd_resize(b->recv, 1));
	deliver_n(2, 64);
	want_event(b->async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	want_counts(b->srq, 16, 4, 5);
	want_dto_now(b, b->recv, 10, DAT_DTO_SUCCESS);
	want_counts(b->srq, 16, 4, 4);
}

/* A waiter does not notice; but what he waits for must fit. */
static void
resize__beside_a_waiter(void **state)
{
	for (unsigned int round = 0; round < 10; round++) {
		struct waiter w = { .evd = make_evd_of(a, 8, DAT_EVD_SOFTWARE_FLAG),
			.threshold = 4 };

		begin_to_wait(&w);
		ok(post_software(w.evd, 0));
		want_bad_state(dat_evd_resize(w.evd, 3), EVD_WAITER);
		assert_int_equal(evd_param(w.evd).evd_qlen, 8);
		ok(dat_evd_resize(w.evd, 100));
		ok(post_software(w.evd, 1));
		ok(dat_evd_resize(w.evd, 4));
		ok(post_software(w.evd, 2));
		ok(post_software(w.evd, 3));
		join_waiter(&w);
		ok(w.rc);
		assert_int_equal(number_of(&w.event), 0);
		assert_int_equal(w.more, 3);
		for (uintptr_t n = 1; n < 4; n++)
			want_software(w.evd, n);
		want_bad_arg(dat_evd_wait(w.evd, 0, 5, &w.event, &w.more), 3);
		ok(dat_evd_free(w.evd));
	}
}

/** Events that come and go in their order while the length changes. Each field is written by one thread. */
struct traffic {
	DAT_EVD_HANDLE evd;
	unsigned int granted;
	unsigned int posted; /* UINT_MAX until the last one was */
	unsigned int taken;
	unsigned int wrong;
};

/* By waiting for one, by waiting for two, and by dequeuing, in turn. */
static void *
take_all(void *arg)
{
	struct traffic *t = arg;

	for (unsigned int turn = 0; t->taken < __atomic_load_n(&t->posted, __ATOMIC_ACQUIRE);
			turn++) {
		DAT_EVENT event;
		DAT_COUNT more;
		DAT_RETURN rc;

		if (turn % 3 == 0)
			rc = dat_evd_dequeue(t->evd, &event);
		else
			rc = dat_evd_wait(t->evd, 1000, (DAT_COUNT)(turn % 3), &event, &more);
		if (rc != DAT_SUCCESS)
			continue;
		t->wrong += number_of(&event) != t->taken;
		t->taken++;
	}
	return NULL;
}

/* However the threads are scheduled, the length was changed often between the first event and the last. */
static void *
post_all(void *arg)
{
	struct traffic *t = arg;
	uintptr_t n = 0;

	while (n < MANY || __atomic_load_n(&t->granted, __ATOMIC_RELAXED) < OFTEN)
		n += post_software(t->evd, n) == DAT_SUCCESS;
	__atomic_store_n(&t->posted, (unsigned int)n, __ATOMIC_RELEASE);
	return NULL;
}

/* One posts, one waits and dequeues, and the length changes all the time: each event comes once, in its order. */
static void
resize__while_events_come_and_go(void **state)
{
	pthread_t poster, consumer;
	struct traffic traffic;

	traffic = (struct traffic){ .evd = make_evd_of(a, 8, DAT_EVD_SOFTWARE_FLAG),
		.posted = UINT_MAX };
	consumer = start(take_all, &traffic);
	poster = start(post_all, &traffic);
	for (uint32_t seed = 1; __atomic_load_n(&traffic.posted, __ATOMIC_RELAXED) == UINT_MAX;) {
		DAT_RETURN rc;

		seed = seed * 1664525u + 1013904223u;
		rc = dat_evd_resize(traffic.evd, 2 + (DAT_COUNT)(seed >> 24) % 70);
		if (rc == DAT_SUCCESS)
			__atomic_store_n(&traffic.granted, traffic.granted + 1, __ATOMIC_RELAXED);
		else
			want_type(rc, DAT_INVALID_STATE);
	}
	join(poster);
	join(consumer);
	assert_int_equal(traffic.wrong, 0);
	assert_int_equal(traffic.taken, traffic.posted);
	want_none(traffic.evd);
}

const struct CMUnitTest tests[] = {
	end_test(resize__arguments),
	end_test(resize__is_exact),
	end_test(resize__keeps_what_is_queued),
	end_test(resize__not_below_what_is_queued),
	srq_up_test(resize__keeps_the_books_of_a_shared_queue, 16, 1),
	end_test(resize__beside_a_waiter),
	end_test(resize__while_events_come_and_go),
	tests_end,
};
