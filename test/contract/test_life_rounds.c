/* SPDX-License-Identifier: BSD-3-Clause */
/* The same queue through very many connections, endpoints and threads: not a place, not an event is lost or too many. */

#include <sched.h>

#include "rig.h"

#define DEPTH  8
#define ROUNDS 1000u

/* One life of a connection that ends, by turns, in each of four ways and with each of three kinds of remains. */
static void
live(unsigned int round)
{
	static const enum ending ways[] = { BY_A_GRACEFUL, BY_A_ABRUPT, BY_B_GRACEFUL,
		BY_B_ABRUPT };
	unsigned int remains = round % 3;

	deliver_n(2, 64);
	if (remains == 0)
		drain(b->recv);
	else if (remains == 1)
		begin_long(&pair, 1);
	end_by(ways[round % 4]);
	want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
	drain(a->request);
}

/*
 * A thousand connections of one pair of endpoints, one queue: its buffers used up, posted again, flushed, reaped
 * before or after the end. After each the queue holds as many buffers as ever.
 * Proves: ep_create_with_srq.5 srq_query.6 bug.S23 bug.S24
 */
static void
rounds__connect_receive_disconnect_reset(void **state)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		DAT_SRQ_PARAM param;

		pair_connect(&pair);
		param = srq_param(b->srq);
		for (DAT_COUNT i = param.outstanding_dto_count; i < DEPTH; i++)
			ok(post_srq(b, 0, LONG_LEN, 1));
		want_type(post_srq(b, 0, LONG_LEN, 1), DAT_INSUFFICIENT_RESOURCES);
		want_counts(b->srq, DEPTH, DEPTH, DEPTH);
		live(round);
		drain(b->recv);
		param = srq_param(b->srq);
		assert_int_equal(param.available_dto_count, param.outstanding_dto_count);
		assert_in_range(param.available_dto_count, DEPTH - 3, DEPTH - 2);
		reset_both();
	}
	want_none(b->async);
}

/*
 * A thousand endpoints, one after the other on one queue, each freed while connected, with a completion nobody has
 * reaped and often with a buffer in its hands.
 * Proves: srq_free.5 bug.S19 bug.S23 bug.S24
 */
static void
rounds__endpoints_of_one_queue(void **state)
{
	ok(dat_ep_free(a->ep));
	ok(dat_ep_free(b->ep));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		DAT_COUNT used = round % 2 == 0 ? 2 : 1;

		add_connection(&pair);
		for (DAT_COUNT i = srq_param(b->srq).outstanding_dto_count; i < DEPTH; i++)
			ok(post_srq(b, 0, LONG_LEN, 1));
		deliver(&pair, 64);
		if (used == 2)
			begin_long(&pair, 1);
		want_counts(b->srq, DEPTH, DEPTH - used, DEPTH);
		ok(dat_ep_free(b->ep));
		want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_free(a->ep));
		drain(a->request);
		drain(b->recv);
		want_counts(b->srq, DEPTH, DEPTH - used, DEPTH - used);
	}
	want_none(b->connect);
	ok(dat_srq_free(b->srq));
}

#define THREADS 3u
#define STORMS  300u
#define UNSEEN  100 /**< events that may wait, so that the dispatcher does not overflow */

static int unseen; /**< events of all threads that nobody has taken yet; atomic */

/* A thread with objects of its own; what went wrong first. */
struct storm {
	pthread_t thread;
	const struct end *end;
	DAT_RETURN rc;
};

/*
 * Queues and endpoints come and go: each queue tells of its low watermark once, each endpoint of its soft high one
 * once, in the moment before it goes.
 */
static void *
storm(void *arg)
{
	struct storm *s = arg;
	const struct end *end = s->end;
	DAT_SRQ_ATTR srq_attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };

	for (unsigned int i = 0; i < STORMS && s->rc == DAT_SUCCESS; i++) {
		DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
		DAT_EP_HANDLE ep = DAT_HANDLE_NULL, own = DAT_HANDLE_NULL;

		while (__atomic_load_n(&unseen, __ATOMIC_ACQUIRE) > UNSEEN)
			sched_yield();
		__atomic_fetch_add(&unseen, 2, __ATOMIC_RELEASE);
		s->rc |= dat_srq_create(end->ia, end->pz, &srq_attr, &srq);
		s->rc |= dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request,
				end->connect, srq, &(DAT_EP_ATTR){ .max_request_dtos = 1 }, &ep);
		s->rc |= dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect,
				NULL, &own);
		s->rc |= dat_srq_set_lw(srq, 1);
		s->rc |= dat_ep_post_recv(own, 0, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
		s->rc |= dat_ep_set_watermark(own, 0, DAT_WATERMARK_INFINITE);
		s->rc |= dat_srq_post_recv(srq, 0, NULL, cookie(1));
		s->rc |= dat_srq_resize(srq, 2 + (DAT_COUNT)(i % 7));
		s->rc |= dat_ep_free(ep);
		s->rc |= dat_srq_free(srq);
		s->rc |= dat_ep_free(own);
	}
	return NULL;
}

/* Count what the asynchronous dispatcher has. */
static void
count_async(DAT_EVD_HANDLE async, unsigned int *low, unsigned int *soft)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) {
		assert_int_equal(event.event_data.asynch_error_event_data.reason, 2);
		if (event.event_number == DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK)
			(*low)++;
		else if (event.event_number == DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK)
			(*soft)++;
		else
			fail_msg("event 0x%x", (unsigned int)event.event_number);
		__atomic_fetch_sub(&unseen, 1, __ATOMIC_RELEASE);
	}
}

/*
 * Threads that make queues and endpoints, have their marks fire, and free them, beside a connection that receives on
 * a queue of its own: an event for each mark, and the connection notices nothing.
 * Proves: ep_set_watermark.2 srq_set_lw.1 bug.S18 bug.S19
 */
static void
rounds__storm_beside_a_connection(void **state)
{
	unsigned int low = 0, soft = 0, running = 0;
	struct storm storms[THREADS];
	unseen = 0;

	srq_pair_up(&pair, DEPTH, 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		storms[i] = (struct storm){ .end = b };
		storms[i].thread = start(storm, &storms[i]);
	}
	for (uint64_t n = 0; running < THREADS; n++) {
		transfer(n, 64);
		count_async(b->async, &low, &soft);
		if (pthread_tryjoin_np(storms[running].thread, NULL) == 0)
			running++;
	}
	count_async(b->async, &low, &soft);
	for (unsigned int i = 0; i < THREADS; i++)
		ok(storms[i].rc);
	assert_int_equal(low, THREADS * STORMS);
	assert_int_equal(soft, THREADS * STORMS);
	want_counts(b->srq, DEPTH, 0, 0);
	/* No object is left behind that would hold the zone. */
	free_to_the_zone(b);
}

const struct CMUnitTest tests[] = {
	srq_test(rounds__connect_receive_disconnect_reset, DEPTH, 1),
	srq_test(rounds__endpoints_of_one_queue, DEPTH, 1),
	rig_test(rounds__storm_beside_a_connection),
	tests_end,
};
