/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_enable, _disable, _set_unwaitable, _clear_unwaitable and _post_se. */

#include "waiting.h"

static DAT_EVENT
software(uintptr_t pointer)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	event.event_number = DAT_SOFTWARE_EVENT;
	event.event_data.software_event_data.pointer = (DAT_PVOID)pointer;
	return event;
}

static void
state__handles(void **state)
{
	DAT_RETURN(*const call[])
	(DAT_EVD_HANDLE) = { dat_evd_enable, dat_evd_disable, dat_evd_set_unwaitable,
		dat_evd_clear_unwaitable };
	DAT_EVD_HANDLE dead = make_evd(a, DAT_EVD_SOFTWARE_FLAG);

	ok(dat_evd_free(dead));
	for (unsigned int i = 0; i < COUNT_OF(call); i++) {
		want_type(call[i](DAT_HANDLE_NULL), DAT_INVALID_HANDLE);
		want_error(call[i](a->ep), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
		want_error(call[i](dead), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	}
}

/* Two switches that do not know of each other; turning one twice is as good as once. */
static void
state__two_switches(void **state)
{
	static const struct {
		DAT_RETURN (*call)(DAT_EVD_HANDLE evd);
		unsigned int state;
	} rule[] = {
		{ dat_evd_disable, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_WAITABLE },
		{ dat_evd_set_unwaitable, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_UNWAITABLE },
		{ dat_evd_enable, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_UNWAITABLE },
		{ dat_evd_clear_unwaitable, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE },
	};
	DAT_EVD_HANDLE evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG);

	assert_int_equal(evd_param(evd).evd_state, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE);
	for (unsigned int i = 0; i < 2 * COUNT_OF(rule); i++) {
		for (int twice = 0; twice < 2; twice++) {
			ok(rule[i % COUNT_OF(rule)].call(evd));
			assert_int_equal(evd_param(evd).evd_state, rule[i % COUNT_OF(rule)].state);
		}
	}
}

/* A disabled dispatcher takes events, and is waited on, as ever. */
static void
disabled__is_still_waited_on(void **state)
{
	DAT_EVD_HANDLE evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG);

	ok(dat_evd_disable(evd));
	ok(post_software(evd, 1));
	want_event(evd, DAT_SOFTWARE_EVENT);
	want_silence(evd);
}

/* Every wait on it is refused, whatever is queued; events come, and are dequeued. */
static void
unwaitable__refuses_to_be_waited_on(void **state)
{
	DAT_EVD_HANDLE evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG);

	ok(dat_evd_set_unwaitable(evd));
	for (uint32_t timeout = 0; timeout <= QUIET_US; timeout += QUIET_US)
		want_bad_state(wait_for(evd, timeout, 1), EVD_UNWAITABLE);
	ok(post_software(evd, 1));
	want_bad_state(wait_for(evd, 0, 1), EVD_UNWAITABLE);
	/* Arguments come first. */
	want_bad_arg(wait_for(evd, 0, 0), 3);
	want_software(evd, 1);
	ok(post_software(evd, 1));
	ok(dat_evd_clear_unwaitable(evd));
	want_event(evd, DAT_SOFTWARE_EVENT);
	want_type(wait_for(evd, 0, 1), DAT_TIMEOUT_EXPIRED);
}

/* A thread that waits already is sent home, and leaves the dispatcher to others. */
static void
unwaitable__sends_the_waiter_home(void **state)
{
	for (int round = 0; round < 20; round++) {
		struct waiter w = { .evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG), .threshold = 1 };

		begin_to_wait(&w);
		ok(dat_evd_set_unwaitable(w.evd));
		join_waiter(&w);
		want_bad_state(w.rc, EVD_UNWAITABLE);
		want_none(w.evd);
		ok(dat_evd_free(w.evd));
	}
}

/* Handle, kind of dispatcher, event, in this order; nothing is queued. */
static void
post_se__arguments(void **state)
{
	DAT_EVENT event = software(1), wrong = software(2);
	DAT_EVD_HANDLE evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);

	want_type(dat_evd_post_se(DAT_HANDLE_NULL, &event), DAT_INVALID_HANDLE);
	want_error(dat_evd_post_se(a->ep, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_error(dat_evd_post_se(a->recv, &event), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_error(dat_evd_post_se(a->async, &event), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_bad_arg(dat_evd_post_se(evd, NULL), 2);
	for (unsigned int number = 0; number <= 0x10002; number++) {
		wrong.event_number = (DAT_EVENT_NUMBER)number;
		if (number != DAT_SOFTWARE_EVENT)
			want_bad_arg(dat_evd_post_se(evd, &wrong), 2);
	}
	want_none(evd);
}

/* They come in their order, between those of other streams, with the pointer and nothing else of the consumer's event. */
static void
post_se__is_an_event_like_others(void **state)
{
	DAT_EVENT event;
	DAT_COUNT more;

	b->recv = make_evd(b, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	use_ep(b, NULL);
	pair_connect(&pair);
	event = software(1);
	event.evd_handle = DAT_HANDLE_NULL;
	ok(dat_evd_post_se(b->recv, &event));
	/* The event is the consumer's again. */
	memset(&event, 0, sizeof(event));
	ok(post_recv(b, 0, 64, 7));
	ok(post_send(a, 0, 64, 8));
	want_dto(a, a->request, 8, DAT_DTO_SUCCESS, 64);
	ok(post_software(b->recv, 0));
	ok(dat_evd_wait(b->recv, PATIENCE_US, 3, &event, &more));
	assert_int_equal(event.event_number, DAT_SOFTWARE_EVENT);
	assert_ptr_equal(event.evd_handle, b->recv);
	assert_ptr_equal(event.event_data.software_event_data.pointer, (DAT_PVOID)1);
	want_dto_now(b, b->recv, 7, DAT_DTO_SUCCESS);
	want_software(b->recv, 0);
	want_none(b->recv);
}

/* A full dispatcher says so to who posts, and to nobody else: nothing was lost. */
static void
post_se__full_is_no_overflow(void **state)
{
	for (DAT_COUNT len = 1; len <= 5; len++) {
		DAT_EVD_HANDLE evd = make_evd_of(a, len, DAT_EVD_SOFTWARE_FLAG);

		for (int round = 0; round < 3; round++) {
			for (DAT_COUNT i = 0; i < len; i++)
				ok(post_software(evd, (uintptr_t)i));
			want_error(post_software(evd, 99), DAT_QUEUE_FULL, 0);
			for (DAT_COUNT i = 0; i < len; i++)
				want_software(evd, (uintptr_t)i);
		}
		ok(dat_evd_free(evd));
	}
	want_none(a->async);
}

/* A waiter is woken by another thread's event. */
static void
post_se__wakes_a_waiter(void **state)
{
	for (uintptr_t round = 0; round < 20; round++) {
		struct waiter w = { .evd = make_evd(a, DAT_EVD_SOFTWARE_FLAG), .threshold = 2 };

		begin_to_wait(&w);
		ok(post_software(w.evd, round));
		ok(post_software(w.evd, round));
		join_waiter(&w);
		ok(w.rc);
		assert_int_equal(w.more, 1);
		assert_ptr_equal(w.event.event_data.software_event_data.pointer, (DAT_PVOID)round);
		want_software(w.evd, round);
		ok(dat_evd_free(w.evd));
	}
}

const struct CMUnitTest tests[] = {
	end_test(state__handles),
	end_test(state__two_switches),
	end_test(disabled__is_still_waited_on),
	end_test(unwaitable__refuses_to_be_waited_on),
	end_test(unwaitable__sends_the_waiter_home),
	end_test(post_se__arguments),
	pair_test(post_se__is_an_event_like_others),
	end_test(post_se__full_is_no_overflow),
	end_test(post_se__wakes_a_waiter),
	tests_end,
};
