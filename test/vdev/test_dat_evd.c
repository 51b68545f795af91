/* SPDX-License-Identifier: BSD-3-Clause */
/* Event dispatchers, through the public API. */

#include <stdbool.h>

#include "dat_pair.h"

static void
dat_evd_create__arguments(void **state)
{
	const DAT_EVD_FLAGS dto = DAT_EVD_DTO_FLAG;
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_evd_create(end.ep, 1, DAT_HANDLE_NULL, dto, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_evd_create(end.ia, 0, DAT_HANDLE_NULL, dto, &evd), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_evd_create(end.ia, -1, DAT_HANDLE_NULL, dto, &evd), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_type(dat_evd_create(end.ia, INT32_MAX, DAT_HANDLE_NULL, dto, &evd),
			DAT_INSUFFICIENT_RESOURCES);
	want_error(dat_evd_create(end.ia, 1, end.recv, dto, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CNO);
	want_error(dat_evd_create(end.ia, 1, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0, &evd),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	want_error(dat_evd_create(end.ia, 1, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0x200, &evd),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	want_error(dat_evd_create(end.ia, 1, DAT_HANDLE_NULL, dto, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	end_close(&end);
}

/* All streams may share one dispatcher, in any mixture. */
static void
dat_evd__flags_length_and_state(void **state)
{
	static const DAT_EVD_FLAGS flags[] = {
		DAT_EVD_DTO_FLAG,
		DAT_EVD_DEFAULT_FLAG,
		(DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG),
		(DAT_EVD_FLAGS)(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG),
	};
	DAT_EVD_PARAM param;
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		ok(dat_evd_create(end.ia, 10 + (DAT_COUNT)i, DAT_HANDLE_NULL, flags[i], &evd));
		want_error(dat_evd_query(evd, (DAT_EVD_PARAM_MASK)0x20, &param),
				DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
		want_error(dat_evd_query(evd, DAT_EVD_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG3);
		ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
		assert_ptr_equal(param.ia_handle, end.ia);
		assert_int_equal(param.evd_flags, flags[i]);
		assert_int_equal(param.evd_state, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE);
		assert_null(param.cno_handle);
		assert_true(param.evd_qlen >= 10 + (DAT_COUNT)i);
		ok(dat_evd_free(evd));
		want_type(dat_evd_free(evd), DAT_INVALID_HANDLE);
		want_type(dat_evd_dequeue(evd, NULL), DAT_INVALID_HANDLE);
	}
	end_close(&end);
}

static void
dat_evd_free__in_use(void **state)
{
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_evd_free(end.recv), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	want_error(dat_evd_free(end.connect), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	want_error(dat_evd_free(end.async), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_ASYNC);
	ok(dat_ep_free(end.ep));
	ok(dat_evd_free(end.recv));
	ok(dat_evd_free(end.connect));
	end_close(&end);
}

static void
dat_evd_dequeue__empty_is_bare(void **state)
{
	DAT_EVENT event;
	struct end end;

	end_open(&end, "loop0", NULL);
	want(dat_evd_dequeue(end.recv, &event), DAT_QUEUE_EMPTY);
	want(dat_evd_dequeue(end.connect, &event), DAT_QUEUE_EMPTY);
	want_error(dat_evd_dequeue(end.recv, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_type(dat_evd_dequeue(end.ep, &event), DAT_INVALID_HANDLE);
	end_close(&end);
}

static void
dat_evd_wait__arguments(void **state)
{
	DAT_EVENT event;
	DAT_COUNT more;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_type(dat_evd_wait(end.ia, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	want_error(dat_evd_wait(end.recv, 0, 0, &event, &more), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_evd_wait(end.recv, 0, -1, &event, &more), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_evd_wait(end.recv, 0, EVD_LEN + 1, &event, &more), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_evd_wait(end.recv, 0, 1, NULL, &more), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_evd_wait(end.recv, 0, 1, &event, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_error(dat_evd_wait(end.recv, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED, 0);
	want_error(dat_evd_wait(end.recv, 1, EVD_LEN, &event, &more), DAT_TIMEOUT_EXPIRED, 0);
	end_close(&end);
}

/* The threshold holds the waiter back; what is left behind is counted, after a timeout too. */
static void
dat_evd_wait__threshold(void **state)
{
	struct pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	pair_up(&pair);
	for (unsigned int i = 0; i < 3; i++)
		ok(post_recv(&pair.b, 0, 64, i));
	ok(post_send(&pair.a, 0, 8, 0));
	ok(post_send(&pair.a, 0, 8, 1));
	want_dto(&pair.a, pair.a.request, 0, DAT_DTO_SUCCESS, 8);
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 8);
	more = -1;
	want_type(dat_evd_wait(pair.b.recv, QUIET_US, 3, &event, &more), DAT_TIMEOUT_EXPIRED);
	assert_int_equal(more, 2);
	ok(post_send(&pair.a, 0, 8, 2));
	ok(dat_evd_wait(pair.b.recv, PATIENCE_US, 3, &event, &more));
	assert_int_equal(more, 2);
	assert_int_equal(event.event_data.dto_completion_event_data.user_cookie.as_64, 0);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 8);
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_SUCCESS, 8);
	pair_close(&pair);
}

/* More completions than the dispatcher holds: the adapter's asynchronous dispatcher hears of it, once. */
static void
dat_evd__overflow(void **state)
{
	DAT_EVD_HANDLE tiny;
	struct pair pair;
	DAT_EVENT event;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, NULL);
	ok(dat_evd_create(pair.b.ia, 1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &tiny));
	ok(dat_ep_create(pair.b.ia, pair.b.pz, tiny, pair.b.request, pair.b.connect, NULL, &ep));
	ok(dat_ep_free(pair.b.ep));
	pair.b.ep = ep;
	pair_connect(&pair);
	for (unsigned int i = 0; i < 4; i++)
		ok(post_recv(&pair.b, 0, 64, i));
	for (unsigned int i = 0; i < 4; i++)
		ok(post_send(&pair.a, 0, 8, i));
	event = want_event(pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle, tiny);
	assert_int_equal(event.event_data.asynch_error_event_data.reason, DAT_EVD_OVERFLOW_ERROR);
	want_silence(pair.b.async);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_evd_create__arguments),
		dat_test(dat_evd__flags_length_and_state),
		dat_test(dat_evd_free__in_use),
		dat_test(dat_evd_dequeue__empty_is_bare),
		dat_test(dat_evd_wait__arguments),
		dat_test(dat_evd_wait__threshold),
		dat_test(dat_evd__overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
