/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_recv_query: the buffers that an endpoint has. */

#include <sched.h>

#include "rig.h"

#define POLLS_MAX 10000 /**< for a message that needs a few dozen */

/*
 * On a queue of its own a posted buffer is the endpoint's at once, in whatever state it is, until its completion is
 * generated: reaping that is another matter.
 * Proves: ep_recv_query.1 ep_recv_query.2
 */
static void
recv_query__own_queue_counts_what_is_posted(void **state)
{
	unsigned int polls = 0;
	DAT_EVENT event;

	want_held(b->ep, 0);
	for (DAT_COUNT i = 0; i < 5; i++) {
		ok(post_recv(b, 0, 64, (uint64_t)i));
		want_held(b->ep, i + 1);
	}
	pair_connect(&pair);
	want_held(b->ep, 5);
	want_held(a->ep, 0);
	for (DAT_COUNT i = 0; i < 3; i++) {
		ok(post_send(a, 0, 64, (uint64_t)i));
		want_dto(a, a->request, (uint64_t)i, DAT_DTO_SUCCESS, 64);
		want_held(b->ep, 4 - i);
	}
	want_received(0, 3, 64);
	want_held(b->ep, 2);
	/* The message in progress has its buffer still. */
	for (uint64_t i = 3; i < 5; i++) {
		ok(post_send(a, 0, 64, i));
		want_dto(b, b->recv, i, DAT_DTO_SUCCESS, 64);
	}
	ok(post_recv(b, 0, LONG_LEN, 5));
	ok(post_recv(b, 0, 64, 6));
	ok(post_send(a, 0, LONG_LEN, 5));
	do {
		want_held(b->ep, 2);
		poll_both(1);
	} while (dat_evd_dequeue(b->recv, &event) != DAT_SUCCESS && ++polls < POLLS_MAX);
	assert_in_range(polls, 3, POLLS_MAX - 1);
	want_held(b->ep, 1);
	ok(post_send(a, 0, 64, 6));
	want_dto(b, b->recv, 6, DAT_DTO_SUCCESS, 64);
	want_held(b->ep, 0);
	/* Flushed is completed, too: all of them, and one that is posted afterwards. */
	post_recvs(7, 9, 64);
	want_held(b->ep, 2);
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_held(b->ep, 0);
	ok(post_recv(b, 0, 64, 9));
	for (uint64_t i = 7; i < 10; i++)
		want_dto(b, b->recv, i, DAT_DTO_ERR_FLUSHED, 0);
	want_held(b->ep, 0);
}

static void
want_recv_idle(DAT_EP_HANDLE ep, DAT_BOOLEAN idle)
{
	DAT_BOOLEAN recv_idle;

	ok(dat_ep_get_status(ep, NULL, &recv_idle, NULL));
	assert_int_equal(recv_idle, idle);
}

/*
 * Buffers on a shared queue are nobody's: one is the endpoint's from the moment it takes it to the completion, and
 * only then is its receive side not idle.
 * Proves: ep_recv_query.1 ep_recv_query.2 srq_create.10
 */
static void
recv_query__shared_queue_counts_what_is_taken(void **state)
{
	DAT_EP_HANDLE idle = srq_ep(b, NULL);

	post_long(8, 0);
	want_held(b->ep, 0);
	for (uint64_t i = 0; i < 8; i++) {
		want_recv_idle(b->ep, DAT_TRUE);
		begin_long(&pair, i);
		want_counts(b->srq, 8, 7 - (DAT_COUNT)i, 8);
		want_recv_idle(b->ep, DAT_FALSE);
		want_held(idle, 0);
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, LONG_LEN);
		want_held(b->ep, 0);
	}
	want_received(0, 8, LONG_LEN);
	want_counts(b->srq, 8, 0, 0);
}

/* Either pointer may be null. An error writes nothing. */
/* Proves: ep_recv_query.3 ep_recv_query.5 */
static void
recv_query__arguments(void **state)
{
	DAT_COUNT n = 77, span = 77;
	DAT_EP_HANDLE gone;

	ok(post_srq(b, 0, LONG_LEN, 1));
	begin_long(&pair, 2);
	ok(dat_ep_recv_query(b->ep, NULL, NULL));
	ok(dat_ep_recv_query(b->ep, &n, NULL));
	assert_int_equal(n, 1);
	ok(dat_ep_recv_query(b->ep, NULL, &span));
	assert_int_equal(span, 1);

	gone = srq_ep(b, NULL);
	ok(dat_ep_free(gone));
	n = span = 77;
	want_bad_handle(dat_ep_recv_query(DAT_HANDLE_NULL, &n, &span), EP);
	want_bad_handle(dat_ep_recv_query(b->srq, &n, &span), EP);
	want_bad_handle(dat_ep_recv_query(gone, &n, &span), EP);
	assert_int_equal(n, 77);
	assert_int_equal(span, 77);
}

/*
 * The example of the manual has fragments of the messages 19, 22 and 23: three buffers, a span of five. Messages of
 * a connection arrive here in order and whole, so of these five at most one is in progress, and both numbers agree.
 * Proves: ep_recv_query.4
 */
static void
recv_query__example_of_the_manual(void **state)
{
	DAT_EVENT event;
	uint64_t done = 19;

	for (uint64_t i = 19; i <= 23; i++) {
		ok(post_srq(b, 0, LONG_LEN, i));
		ok(post_send(a, 0, LONG_LEN, i));
	}
	for (int i = 0; i < 1000 && done <= 23; i++) {
		poll_both(1);
		assert_in_range(held(b->ep), 0, 1);
		if (dat_evd_dequeue(b->recv, &event) == DAT_SUCCESS)
			assert_int_equal(event.event_data.dto_completion_event_data.user_cookie
							 .as_64,
					done++);
	}
	assert_int_equal(done, 24);
	want_held(b->ep, 0);
}

struct watcher {
	DAT_EP_HANDLE ep;
	bool stop; /**< atomic */
	unsigned int looks;
	unsigned int wrong;
};

static void *
watch(void *arg)
{
	struct watcher *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		DAT_COUNT n = -1, span = -1;

		if (dat_ep_recv_query(w->ep, &n, &span) != DAT_SUCCESS || n != span || n < 0 ||
				n > 1)
			w->wrong++;
		/* Each look stops the engine for a moment: leave it some. */
		if (++w->looks % 32 == 0)
			sched_yield();
	}
	return NULL;
}

/* Both numbers come from one look, also while another thread receives. */
/* Proves: ep_recv_query.2 */
static void
recv_query__beside_traffic(void **state)
{
	struct watcher w = { .looks = 0 };
	pthread_t thread;

	w.ep = b->ep;
	thread = start(watch, &w);
	for (uint64_t i = 0; i < 200; i++) {
		ok(post_srq(b, 0, LONG_LEN, i));
		ok(post_send(a, 0, LONG_LEN, i));
		want_passed(i, i, LONG_LEN);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
	join(thread);
	print_message("%u looks\n", w.looks);
	assert_int_equal(w.wrong, 0);
}

const struct CMUnitTest tests[] = {
	pair_test(recv_query__own_queue_counts_what_is_posted),
	srq_up_test(recv_query__shared_queue_counts_what_is_taken, 8, 1),
	srq_up_test(recv_query__arguments, 4, 1),
	srq_up_test(recv_query__example_of_the_manual, 8, 1),
	srq_up_test(recv_query__beside_traffic, 8, 1),
	tests_end,
};
