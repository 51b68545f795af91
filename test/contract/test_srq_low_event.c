/* SPDX-License-Identifier: BSD-3-Clause */
/* The event of dat_srq_set_lw: where it goes, what it names, that it precedes what caused it, and that it is one. */

#include "crowd.h"
#include "waiting.h"

/* Proves: srq_set_lw.5 bug.S17 */
static void
set_lw__several_queues_on_one_dispatcher(void **state)
{
	DAT_SRQ_HANDLE second = make_srq(b, 4, 1);
	DAT_SRQ_HANDLE third = make_srq(b, 4, 1);

	post_many(b, 1, 0);
	ok(dat_srq_set_lw(b->srq, 1));
	ok(dat_srq_set_lw(third, 1));
	use_one(&pair);
	ok(dat_srq_set_lw(second, 4));
	want_low(b->async, third);
	want_low(b->async, b->srq);
	want_low(b->async, second);
	want_none(b->async);
}

/* The message has begun, its buffer is taken, nothing is complete: the event is there. */
/* Proves: bug.S28 */
static void
set_lw__event_comes_with_the_take(void **state)
{
	post_long(3, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	begin_long(&pair, 1);
	want_counts(b->srq, 4, 2, 3);
	want_low(b->async, b->srq);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, LONG_LEN);
	want_none(b->async);
}

/*
 * A completion that finds no room makes an event on the asynchronous dispatcher at the moment it should have come:
 * the low watermark of the same message stands before it.
 * Proves: bug.S28
 */
static void
set_lw__event_precedes_the_completion(void **state)
{
	DAT_EVENT event;

	ok(dat_ep_free(b->ep));
	b->recv = make_dto_evd(b, 1);
	b->ep = make_srq_ep(b, b->srq, b->recv);
	pair_connect(&pair);
	post_many(b, 2, 0);
	deliver(&pair, 64);
	ok(dat_srq_set_lw(b->srq, 1));
	deliver(&pair, 64);
	want_low(b->async, b->srq);
	ok(dat_evd_dequeue(b->async, &event));
	assert_int_equal(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	want_counts(b->srq, 4, 0, 1);
}

/* The end of a connection takes nothing from the queue, and the arming belongs to the queue. */
static void
set_lw__outlives_connections_and_endpoints(void **state)
{
	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 4));
	part(&pair);
	ok(dat_ep_reset(a->ep));
	ok(dat_ep_free(b->ep));
	want_none(b->async);
	assert_int_equal(srq_param(b->srq).low_watermark, 4);
	b->ep = make_srq_ep(b, b->srq, b->recv);
	pair_connect(&pair);
	want_none(b->async);
	use_one(&pair);
	want_low(b->async, b->srq);
}

/* The event is of a queue that was; the handle says which. */
static void
set_lw__event_outlives_its_queue(void **state)
{
	DAT_SRQ_HANDLE srq = make_srq(a, 4, 1);

	ok(dat_srq_set_lw(srq, 1));
	ok(dat_srq_free(srq));
	want_low(a->async, srq);
	want_none(a->async);
}

/* Of two instances of one adapter the one that owns the queue is told. */
static void
set_lw__goes_to_the_instance_that_owns_the_queue(void **state)
{
	struct end twin;

	open_beside(&twin, "loop1", DAT_HANDLE_NULL);
	assert_ptr_not_equal(twin.async, b->async);
	ok(dat_srq_set_lw(twin.srq, 1));
	want_none(b->async);
	want_low(twin.async, twin.srq);
	post_many(b, 1, 0);
	ok(dat_srq_set_lw(b->srq, 1));
	use_one(&pair);
	want_none(twin.async);
	want_low(b->async, b->srq);
	ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* The asynchronous dispatcher may be that of another instance; when it goes, nobody listens any more. */
static void
set_lw__goes_to_a_dispatcher_that_is_shared(void **state)
{
	struct end twin;

	end_open(b, "loop1", NULL);
	open_beside(&twin, "loop1", b->async);
	assert_ptr_equal(twin.async, b->async);
	ok(dat_srq_set_lw(twin.srq, 1));
	want_low(b->async, twin.srq);
	ok(dat_srq_set_lw(twin.srq, 1));
	end_close(b);
	ok(dat_srq_set_lw(twin.srq, 1));
	assert_int_equal(srq_param(twin.srq).low_watermark, 1);
	ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* Opened with word that somebody else listens: nothing is told in this process, and nothing else changes. */
/* Proves: srq_set_lw.9 */
static void
set_lw__is_silent_without_a_dispatcher(void **state)
{
	DAT_EVD_HANDLE asked = DAT_HANDLE_NULL;
	struct end twin;

	end_open(b, "loop1", NULL);
	open_beside(&twin, "loop1", DAT_EVD_ASYNC_EXISTS);
	assert_ptr_equal(twin.async, DAT_EVD_OUT_OF_SCOPE);
	ok(dat_ia_query(twin.ia, &asked, 0, NULL, 0, NULL));
	assert_ptr_equal(asked, DAT_EVD_OUT_OF_SCOPE);
	for (unsigned int i = 0; i < 3; i++)
		ok(dat_srq_set_lw(twin.srq, 4));
	want_none(b->async);
	want_counts(twin.srq, 4, 0, 0);
	assert_int_equal(srq_param(twin.srq).low_watermark, 4);
	ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
}

#define FLOOD 1000

/* The events are not read: they are lost in the end, and the queue and its endpoints do not mind. */
static void
set_lw__does_not_need_a_reader(void **state)
{
	unsigned int events = 0;
	DAT_EVENT event;

	for (unsigned int i = 0; i < FLOOD; i++)
		ok(dat_srq_set_lw(b->srq, 1));
	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 4));
	use_n(4);
	while (dat_evd_dequeue(b->async, &event) == DAT_SUCCESS) {
		assert_int_equal(event.event_number, DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK);
		events++;
	}
	assert_true(events > 0 && events <= FLOOD + 1);
	/* With room again, events again. */
	ok(dat_srq_set_lw(b->srq, 1));
	want_low(b->async, b->srq);
	want_none(b->async);
}

#define CONNECTIONS 4
#define ARMINGS     200

/* A message for each connection at once; all are received. */
static void
volley(void)
{
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		crowd_pick(i);
		ok(post_send(a, 0, 64, i));
	}
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		want_event(b->recv, DAT_DTO_COMPLETION_EVENT);
		want_event(a->request, DAT_DTO_COMPLETION_EVENT);
	}
}

/*
 * Several endpoints take while the mark is crossed, on several engines and threads where there are several: each
 * arming makes one event.
 * Proves: srq_set_lw.1 bug.S18
 */
static void
set_lw__one_event_however_many_take(void **state)
{
	static struct poller poller;

	crowd_join(CONNECTIONS);
	begin_to_poll(&poller, b->cr, DAT_HANDLE_NULL);
	for (unsigned int i = 0; i < ARMINGS; i++) {
		post_many(b, CONNECTIONS, 0);
		ok(dat_srq_set_lw(b->srq, 1 + (DAT_COUNT)(i % CONNECTIONS)));
		volley();
		want_low(b->async, b->srq);
		want_none(b->async);
	}
	end_polling(&poller);
}

const struct CMUnitTest tests[] = {
	srq_up_test(set_lw__several_queues_on_one_dispatcher, 4, 1),
	srq_up_test(set_lw__event_comes_with_the_take, 4, 1),
	srq_test(set_lw__event_precedes_the_completion, 4, 1),
	srq_up_test(set_lw__outlives_connections_and_endpoints, 4, 1),
	end_test(set_lw__event_outlives_its_queue),
	srq_up_test(set_lw__goes_to_the_instance_that_owns_the_queue, 4, 1),
	rig_test(set_lw__goes_to_a_dispatcher_that_is_shared),
	rig_test(set_lw__is_silent_without_a_dispatcher),
	srq_up_test(set_lw__does_not_need_a_reader, 4, 1),
	srq_up_test(set_lw__one_event_however_many_take, CONNECTIONS, 1),
	tests_end,
};
