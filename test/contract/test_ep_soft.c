/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The soft high watermark of dat_ep_set_watermark: one asynchronous event when an endpoint has more buffers than the
 * mark. An endpoint on a shared queue holds one at most, that of the message in progress: 0 is the mark it exceeds.
 */

#include "rig.h"

#define NONE DAT_WATERMARK_INFINITE

static DAT_COUNT
soft_mark(DAT_EP_HANDLE ep)
{
	return ep_param(ep).ep_attr.srq_soft_hw;
}

/* No mark: unless one is set there is no event, and -1 takes one away. Zero at creation asks for the default (A11). */
/* Proves: ep_set_watermark.4 ep_create_with_srq.8 */
static void
soft__none_by_default(void **state)
{
	static const DAT_COUNT none[] = { 0, DAT_HW_DEFAULT };

	for (unsigned int i = 0; i < 2; i++) {
		use_srq_ep(b, &(DAT_EP_ATTR){ .srq_soft_hw = none[i] });
		assert_int_equal(soft_mark(b->ep), DAT_HW_DEFAULT);
		pair_connect(&pair);
		post_many(b, 2, 0);
		deliver(&pair, 64);
		ok(dat_ep_set_watermark(b->ep, 0, NONE));
		ok(dat_ep_set_watermark(b->ep, NONE, NONE));
		assert_int_equal(soft_mark(b->ep), DAT_HW_DEFAULT);
		deliver(&pair, 64);
		want_none(b->async);
		part(&pair);
		ok(dat_ep_reset(a->ep));
		want_received(0, 2, 64);
	}
}

/* A mark given at creation is armed from then on and reported; one buffer does not exceed a mark of one (A7). */
/* Proves: ep_create_with_srq.8 ep_set_watermark.2 */
static void
soft__set_at_creation(void **state)
{
	const DAT_EP_ATTR one = { .srq_soft_hw = 1 }, two = { .srq_soft_hw = 2 };

	use_srq_ep(b, &one);
	assert_int_equal(soft_mark(b->ep), 1);
	pair_connect(&pair);
	ok(post_srq(b, 0, LONG_LEN, 9));
	begin_long(&pair, 9);
	want_none(b->async);
	part(&pair);
	want_none(b->async);

	/* The attribute means the same of an endpoint with a queue of its own. */
	use_ep(b, &two);
	assert_int_equal(soft_mark(b->ep), 2);
	post_recvs(1, 3, 64);
	want_none(b->async);
	ok(post_recv(b, 0, 64, 3));
	want_soft(b->async, b->ep);
}

/*
 * One event for each call, at the first buffer that exceeds; the same value again arms again, whether or not the
 * former event came; the value stays readable.
 * Proves: ep_set_watermark.1 ep_set_watermark.2
 */
static void
soft__once_for_each_setting(void **state)
{
	for (unsigned int round = 0; round < 5; round++) {
		ok(dat_ep_set_watermark(b->ep, 0, NONE));
		ok(dat_ep_set_watermark(b->ep, 0, NONE));
		want_none(b->async);
		for (unsigned int i = 0; i < 4; i++) {
			pass(i);
			if (i == 0)
				want_soft(b->async, b->ep);
			want_none(b->async);
		}
		assert_int_equal(soft_mark(b->ep), 0);
	}
	/* A value that was replaced before it was exceeded says nothing. */
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	ok(dat_ep_set_watermark(b->ep, 1, NONE));
	post_many(b, 1, 0);
	deliver(&pair, 64);
	want_none(b->async);
	assert_int_equal(soft_mark(b->ep), 1);
}

/*
 * The event comes with the taking of the buffer: the message is not complete when it is there. Connection, message and
 * buffer are not affected.
 * Proves: ep_set_watermark.2
 */
static void
soft__before_the_completion(void **state)
{
	ok(post_srq(b, 0, LONG_LEN, 5));
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	begin_long(&pair, 6);
	want_soft(b->async, b->ep);
	want_none(b->recv);
	want_held(b->ep, 1);
	want_counts(b->srq, 4, 0, 1);
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	want_passed(5, 6, LONG_LEN);
	want_none(b->async);
	want_none(b->connect);
}

/* Exceeded already: the event comes inside the call, each time. Not exceeded: only the value is replaced (A9). */
/* Proves: ep_set_watermark.5 */
static void
soft__at_once_when_exceeded_already(void **state)
{
	ok(post_srq(b, 0, LONG_LEN, 5));
	begin_long(&pair, 6);
	ok(dat_ep_set_watermark(b->ep, 1, NONE));
	want_none(b->async);
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	ok(dat_ep_set_watermark(b->ep, 7, NONE));
	/* Both were there before anything could be polled: an event that is there is taken without. */
	want_event_before(b->async, DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK, 1);
	want_soft(b->async, b->ep);
	want_none(b->async);
	want_dto(b, b->recv, 5, DAT_DTO_SUCCESS, LONG_LEN);
}

/*
 * On a queue of its own an endpoint has what was posted: the post that exceeds the mark makes the event, in any
 * state, and a mark below what is posted makes it at once.
 * Proves: ep_set_watermark.8 ep_set_watermark.1 ep_set_watermark.5
 */
static void
soft__counts_what_is_posted(void **state)
{
	ok(dat_ep_set_watermark(b->ep, 2, NONE));
	for (uint64_t i = 0; i < 5; i++) {
		ok(post_recv(b, 0, 64, i));
		if (i == 2)
			want_soft(b->async, b->ep);
		want_none(b->async);
	}
	ok(dat_ep_set_watermark(b->ep, 5, NONE));
	want_none(b->async);
	ok(dat_ep_set_watermark(b->ep, 4, NONE));
	want_soft(b->async, b->ep);
	pair_connect(&pair);
	want_none(b->async);
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	want_soft(b->async, b->ep);
	/* Completed is not had any more, reaped or not. */
	for (uint64_t i = 0; i < 4; i++) {
		ok(post_send(a, 0, 64, i));
		want_dto(a, a->request, i, DAT_DTO_SUCCESS, 64);
	}
	ok(dat_ep_set_watermark(b->ep, 1, NONE));
	want_none(b->async);
	ok(post_recv(b, 0, 64, 5));
	want_soft(b->async, b->ep);
}

static void
set_when(const char *when)
{
	print_message("set when %s\n", when);
	ok(dat_ep_set_watermark(b->ep, 0, NONE));
	assert_int_equal(soft_mark(b->ep), 0);
}

static void
use_mark(void)
{
	pass(1);
	want_soft(b->async, b->ep);
	want_none(b->async);
}

/* It may be set in every state of an endpoint and holds from then on, beyond the end of a connection and a reset. */
/* Proves: ep_set_watermark.1 */
static void
soft__in_every_state(void **state)
{
	DAT_CR_HANDLE cr;

	set_when("unconnected");
	ok(end_connect(a, b, CONN_QUAL));
	cr = end_request(b);
	assert_int_equal(end_state(a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	ok(dat_ep_set_watermark(a->ep, 0, NONE));
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	assert_int_equal(end_state(b), DAT_EP_STATE_COMPLETION_PENDING);
	set_when("completion pending");
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	use_mark();
	/* Set in active pending: what is posted exceeds it. */
	ok(post_recv(a, 0, 64, 1));
	want_soft(a->async, a->ep);
	set_when("connected");
	use_mark();
	/* A request that the peer has no buffer for keeps the endpoint in disconnect pending, where it still receives. */
	ok(post_send(b, 0, 64, 70));
	ok(post_send(b, 0, 64, 71));
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECT_PENDING);
	set_when("disconnect pending");
	use_mark();
	part(&pair);
	set_when("disconnected");
	want_none(b->async);
	connect_again();
	use_mark();
}

/* Marks are not negative but for -1; what is refused changes neither of them. */
/* Proves: ep_set_watermark.7 */
static void
set_watermark__arguments(void **state)
{
	DAT_EP_HANDLE gone = srq_ep(b, NULL);

	ok(dat_ep_free(gone));
	want_bad_handle(dat_ep_set_watermark(DAT_HANDLE_NULL, 1, 1), EP);
	want_bad_handle(dat_ep_set_watermark(b->srq, 1, 1), EP);
	want_bad_handle(dat_ep_set_watermark(gone, 1, 1), EP);
	ok(dat_ep_set_watermark(b->ep, INT32_MAX, INT32_MAX));
	ok(dat_ep_set_watermark(b->ep, 0, 1));
	want_bad_arg(dat_ep_set_watermark(b->ep, -2, 0), 2);
	want_bad_arg(dat_ep_set_watermark(b->ep, INT32_MIN, 0), 2);
	want_bad_arg(dat_ep_set_watermark(b->ep, 5, -2), 3);
	want_bad_arg(dat_ep_set_watermark(b->ep, 5, INT32_MIN), 3);
	assert_int_equal(soft_mark(b->ep), 0);
	post_many(b, 1, 1);
	deliver(&pair, 64);
	want_soft(b->async, b->ep);
	want_none(b->connect);
}

/* Another instance of b's adapter, whose asynchronous dispatcher is @p async; an endpoint of it instead of b's. */
static void
move_to_instance(struct end *twin, DAT_EVD_HANDLE async)
{
	open_beside(twin, "loop1", async);
	twin->recv = make_evd(twin, DAT_EVD_DTO_FLAG);
	twin->connect = make_evd(twin, DAT_EVD_CONNECTION_FLAG);
	twin->cr = make_evd(twin, DAT_EVD_CR_FLAG);
	twin->ep = srq_ep(twin, NULL);
	ok(dat_srq_post_recv(twin->srq, 0, NULL, cookie(1)));
	ok(dat_psp_free(pair.psp));
	pair.psp = make_psp(twin, CONN_QUAL, twin->cr);
	ok(end_connect(a, b, CONN_QUAL));
	ok(dat_cr_accept(end_request(twin), twin->ep, 0, NULL));
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(twin->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/*
 * The event goes to the asynchronous dispatcher of the instance that owns the endpoint (A12): its own, one of another
 * instance that it was opened with, or none at all, and then there is no event in this process.
 * Proves: ep_set_watermark.2 srq_set_lw.9
 */
static void
soft__tells_its_own_instance(void **state)
{
	for (unsigned int kind = 0; kind < 3; kind++) {
		struct end twin;

		print_message("kind %u\n", kind);
		srq_pair_open(&pair, 4, 1);
		move_to_instance(&twin,
				kind == 0 ? DAT_HANDLE_NULL
					  : (kind == 1 ? b->async : DAT_EVD_ASYNC_EXISTS));
		ok(dat_ep_set_watermark(twin.ep, 0, NONE));
		ok(dat_srq_set_lw(twin.srq, 1));
		ok(post_send(a, 0, 0, 3));
		want_dto(&twin, twin.recv, 1, DAT_DTO_SUCCESS, 0);
		if (kind < 2) {
			/* First the queue loses the buffer, then the endpoint has it. */
			want_low(twin.async, twin.srq);
			want_soft(twin.async, twin.ep);
		}
		want_none(b->async);
		ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
		pair_close(&pair);
	}
}

/* Queues and endpoints tell one dispatcher, each with its own handle, number and reason. */
/* Proves: ep_set_watermark.2 srq_set_lw.5 bug.S16 bug.S17 */
static void
soft__names_the_endpoint(void **state)
{
	DAT_EP_HANDLE client[3], server[3];
	DAT_SRQ_HANDLE srq[3];

	ok(dat_ep_free(a->ep));
	ok(dat_ep_free(b->ep));
	for (unsigned int i = 0; i < 3; i++) {
		srq[i] = b->srq = make_srq(b, 4, 1);
		add_connection(&pair);
		client[i] = a->ep;
		server[i] = b->ep;
		post_many(b, 1, i);
		ok(dat_ep_set_watermark(server[i], 0, NONE));
		ok(dat_srq_set_lw(srq[i], 1));
	}
	for (unsigned int i = 3; i-- > 0;) {
		a->ep = client[i];
		deliver(&pair, 64);
		want_low(b->async, srq[i]);
		want_soft(b->async, server[i]);
		want_none(b->async);
	}
}

const struct CMUnitTest tests[] = {
	srq_test(soft__none_by_default, 8, 1),
	srq_test(soft__set_at_creation, 8, 1),
	srq_up_test(soft__once_for_each_setting, 64, 1),
	srq_up_test(soft__before_the_completion, 4, 1),
	srq_up_test(soft__at_once_when_exceeded_already, 4, 1),
	pair_test(soft__counts_what_is_posted),
	srq_test(soft__in_every_state, 8, 1),
	srq_up_test(set_watermark__arguments, 4, 1),
	rig_test(soft__tells_its_own_instance),
	pair_test(soft__names_the_endpoint),
	tests_end,
};
