/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_query: what it tells, what the counts mean, and that they are true at any moment. */

#include "rig.h"

/* Proves: srq_query.1 bug.S21 */
static void
query__fields(void **state)
{
	DAT_SRQ_PARAM param;

	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	deliver(&pair, 64);
	param = srq_param(b->srq);
	assert_ptr_equal(param.ia_handle, b->ia);
	assert_int_equal(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	assert_ptr_equal(param.pz_handle, b->pz);
	assert_int_equal(param.max_recv_dtos, 10);
	assert_int_equal(param.max_recv_iov, 3);
	assert_int_equal(param.low_watermark, 3);
	assert_int_equal(param.available_dto_count, 3);
	assert_int_equal(param.outstanding_dto_count, 4);
}

/* The fields that @p mask asks for are as in a query for all fields. */
static void
query_some(DAT_SRQ_HANDLE srq, unsigned int mask)
{
	DAT_SRQ_PARAM all = srq_param(srq), some;

	memset(&some, POISON, sizeof(some));
	ok(dat_srq_query(srq, (DAT_SRQ_PARAM_MASK)mask, &some));
#define ASKED(bit, member) want_asked(mask, DAT_SRQ_FIELD_##bit, &some, &all, member)
	ASKED(IA_HANDLE, ia_handle);
	ASKED(SRQ_STATE, srq_state);
	ASKED(PZ_HANDLE, pz_handle);
	ASKED(MAX_RECV_DTO, max_recv_dtos);
	ASKED(MAX_RECV_IOV, max_recv_iov);
	ASKED(LOW_WATERMARK, low_watermark);
	ASKED(AVAILABLE_DTO_COUNT, available_dto_count);
	ASKED(OUTSTANDING_DTO_COUNT, outstanding_dto_count);
}

/* Proves: srq_query.2 */
static void
query__mask_selects(void **state)
{
	a->srq = make_srq(a, 10, 3);
	post_many(a, 4, 0);
	for (unsigned int mask = 0; mask <= DAT_SRQ_FIELD_ALL; mask++)
		query_some(a->srq, mask);
}

/* One mistake after the other is mended; a refusal writes nothing. */
/* Proves: srq_query.2 bug.S21 */
static void
query__judges_in_the_order_of_the_arguments(void **state)
{
	const DAT_SRQ_PARAM_MASK unknown = (DAT_SRQ_PARAM_MASK)0x100;
	DAT_SRQ_PARAM param;

	a->srq = make_srq(a, 10, 3);
	memset(&param, POISON, sizeof(param));
	want_bad_handle(dat_srq_query(DAT_HANDLE_NULL, unknown, NULL), SRQ);
	want_bad_handle(dat_srq_query(a->ep, unknown, &param), SRQ);
	want_bad_arg(dat_srq_query(a->srq, unknown, NULL), 2);
	for (unsigned int bit = 8; bit < 32; bit++)
		want_bad_arg(dat_srq_query(a->srq, (DAT_SRQ_PARAM_MASK)(1u << bit | 1u), &param),
				2);
	want_bytes(&param, POISON, sizeof(param));
	want_bad_arg(dat_srq_query(a->srq, DAT_SRQ_FIELD_ALL, NULL), 3);
}

/* The worked example of the page, number for number. */
/* Proves: srq_query.4 */
static void
query__example_of_the_manual(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		ok(post_srq(b, (size_t)i * 64, 64, i));
	want_counts(b->srq, 10, 3, 3);
	ok(post_send(a, 0, 64, 1));
	/* The completion of the send proves that the message has arrived. */
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, 10, 2, 3);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, 10, 2, 2);
}

/* Every step in the life of a buffer, and what it does to either count. */
/* Proves: srq_query.3 srq_query.6 */
static void
query__counts_along_the_life_of_a_buffer(void **state)
{
	post_long(4, 0);
	want_counts(b->srq, 10, 4, 4);
	deliver(&pair, 64);
	want_counts(b->srq, 10, 3, 4);
	begin_long(&pair, 1);
	/* One completed and not reaped, one held: the difference of the counts. */
	want_counts(b->srq, 10, 2, 4);
	assert_int_equal(held(b->ep), 1);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, 10, 2, 3);
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, LONG_LEN);
	want_counts(b->srq, 10, 2, 2);
	assert_int_equal(held(b->ep), 0);
}

/* Waiting for several reaps one: the others stay outstanding until they are handed out. */
/* Proves: srq_query.3 */
static void
query__reaped_is_what_was_handed_out(void **state)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;

	post_many(b, 5, 0);
	deliver_n(4, 64);
	want_counts(b->srq, 10, 1, 5);
	ok(dat_evd_wait(b->recv, PATIENCE_US, 3, &event, &more));
	assert_int_equal(more, 3);
	want_counts(b->srq, 10, 1, 4);
	ok(dat_evd_dequeue(b->recv, &event));
	want_counts(b->srq, 10, 1, 3);
	/* In vain: too few for this threshold, and none is handed out. */
	want_type(dat_evd_wait(b->recv, 0, 3, &event, &more), DAT_TIMEOUT_EXPIRED);
	want_counts(b->srq, 10, 1, 3);
}

/*
 * Completions that nobody will ever see count as reaped: an endpoint without a dispatcher, one that overflows, one that
 * is freed, and a reset or a free of the endpoint in the middle of a message.
 * Proves: srq_query.3 bug.S24
 */
static void
query__what_nobody_can_reap_is_reaped(void **state)
{
	DAT_EVD_HANDLE small;

	ok(dat_ep_free(b->ep));
	b->ep = make_srq_ep(b, b->srq, DAT_HANDLE_NULL);
	pair_connect(&pair);
	post_long(8, 0);
	deliver(&pair, 64);
	want_counts(b->srq, 10, 7, 7);

	small = make_dto_evd(b, 1);
	b->recv = small;
	add_connection(&pair);
	deliver(&pair, 64);
	want_counts(b->srq, 10, 6, 7);
	deliver(&pair, 64);
	want_counts(b->srq, 10, 5, 6);
	begin_long(&pair, 1);
	want_counts(b->srq, 10, 4, 6);
	ok(dat_ep_free(b->ep));
	want_counts(b->srq, 10, 4, 5);
	ok(dat_evd_free(small));
	want_counts(b->srq, 10, 4, 4);
}

/* Proves: srq_query.3 bug.S24 */
static void
query__reset_drops_what_is_held(void **state)
{
	post_long(4, 0);
	for (DAT_COUNT left = 3; left > 0; left--) {
		begin_long(&pair, 1);
		ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
		want_counts(b->srq, 4, left, left + 1);
		ok(dat_ep_reset(b->ep));
		want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_reset(a->ep));
		want_event(a->request, DAT_DTO_COMPLETION_EVENT);
		want_dto(b, b->recv, 3 - (uint64_t)left, DAT_DTO_ERR_FLUSHED, 0);
		want_counts(b->srq, 4, left, left);
		pair_connect(&pair);
	}
}

/* Both counts are announced as known, and known they are, also while nothing stands still. */
/* Proves: srq_query.5 */
static void
query__counts_are_always_known(void **state)
{
	DAT_PROVIDER_ATTR provider = provider_attr(b, DAT_PROVIDER_FIELD_ALL);
	DAT_SRQ_PARAM param;

	assert_int_equal(provider.srq_info_supported, 0x11);
	ok(post_srq(b, 0, LONG_LEN, 1));
	begin_long(&pair, 1);
	param = srq_param(b->srq);
	assert_int_not_equal(param.available_dto_count, DAT_VALUE_UNKNOWN);
	assert_int_not_equal(param.outstanding_dto_count, DAT_VALUE_UNKNOWN);
}

/* The value set last, armed, spent, or refused a change; 0 before the first. */
/* Proves: srq_query.7 */
static void
query__low_watermark_is_the_value_set_last(void **state)
{
	assert_int_equal(srq_param(b->srq).low_watermark, 0);
	post_many(b, 2, 0);
	ok(dat_srq_set_lw(b->srq, 2));
	assert_int_equal(srq_param(b->srq).low_watermark, 2);
	deliver(&pair, 64);
	want_low(b->async, b->srq);
	assert_int_equal(srq_param(b->srq).low_watermark, 2);
	ok(dat_srq_set_lw(b->srq, 4));
	want_low(b->async, b->srq);
	assert_int_equal(srq_param(b->srq).low_watermark, 4);
	want_type(dat_srq_set_lw(b->srq, 5), DAT_INVALID_PARAMETER);
	assert_int_equal(srq_param(b->srq).low_watermark, 4);
	ok(dat_srq_set_lw(b->srq, 0));
	assert_int_equal(srq_param(b->srq).low_watermark, 0);
}

/* cmocka's assertions belong to the main thread: others return what went wrong. */
struct watcher {
	pthread_t thread;
	DAT_SRQ_HANDLE srq;
	DAT_COUNT max;
	bool stop;
	unsigned long looks;
	unsigned long wrong;
};

static void *
watch(void *arg)
{
	struct watcher *w = arg;
	DAT_SRQ_PARAM p;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		memset(&p, POISON, sizeof(p));
		if (dat_srq_query(w->srq, DAT_SRQ_FIELD_ALL, &p) != DAT_SUCCESS ||
				p.available_dto_count < 0 ||
				p.available_dto_count > p.outstanding_dto_count ||
				p.outstanding_dto_count > p.max_recv_dtos ||
				p.max_recv_dtos > w->max || p.low_watermark > p.max_recv_dtos)
			w->wrong++;
		__atomic_store_n(&w->looks, w->looks + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

#define MESSAGES 3000u /**< at least */
#define LOOKS    3000u
#define DEPTH    16

static unsigned long
looks_of(const struct watcher *w)
{
	return __atomic_load_n(&w->looks, __ATOMIC_RELAXED);
}

/*
 * Another thread asks all the time, while buffers are posted, taken, completed and reaped and the size and the mark
 * change: each answer is one that was true.
 * Proves: srq_query.6
 */
static void
query__holds_at_any_moment(void **state)
{
	static struct watcher w = { .max = 2 *
				DEPTH }; /* a test that fails leaves its thread behind */

	w.srq = b->srq;
	w.thread = start(watch, &w);
	for (unsigned int i = 0; i < MESSAGES || looks_of(&w) < LOOKS; i += 4) {
		post_many(b, 4, i);
		ok(dat_srq_resize(b->srq, DEPTH + (DAT_COUNT)(i % (DEPTH + 1))));
		ok(dat_srq_set_lw(b->srq, (DAT_COUNT)(i % 3)));
		for (unsigned int j = 0; j < 4; j++)
			ok(post_send(a, 0, 64, j));
		for (unsigned int j = 0; j < 4; j++)
			want_passed(i + j, j, 64);
		while (dat_evd_dequeue(b->async, &(DAT_EVENT){ 0 }) == DAT_SUCCESS)
			;
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	join(w.thread);
	assert_int_equal(w.wrong, 0);
	assert_true(w.looks >= LOOKS);
	assert_int_equal(srq_param(b->srq).outstanding_dto_count, 0);
}

const struct CMUnitTest tests[] = {
	srq_up_test(query__fields, 10, 3),
	end_test(query__mask_selects),
	end_test(query__judges_in_the_order_of_the_arguments),
	srq_up_test(query__example_of_the_manual, 10, 1),
	srq_up_test(query__counts_along_the_life_of_a_buffer, 10, 1),
	srq_up_test(query__reaped_is_what_was_handed_out, 10, 1),
	srq_test(query__what_nobody_can_reap_is_reaped, 10, 1),
	srq_up_test(query__reset_drops_what_is_held, 4, 1),
	srq_up_test(query__counts_are_always_known, 4, 1),
	srq_up_test(query__low_watermark_is_the_value_set_last, 4, 1),
	srq_up_test(query__holds_at_any_moment, DEPTH, 1),
	tests_end,
};
