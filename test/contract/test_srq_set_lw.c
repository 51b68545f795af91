/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_set_lw: which values it takes, when the event comes, and how often. */

#include "rig.h"

/*
 * The page contradicts itself about the event inside the call. Decided: it comes if and only if fewer buffers are
 * available than the mark says, whatever the numbers.
 * Proves: srq_set_lw.2 srq_set_lw.7 srq_set_lw.3 bug.S15
 */
static void
set_lw__fires_inside_the_call_when_fewer_are_available(void **state)
{
	for (unsigned int available = 0; available <= 5; available++) {
		for (DAT_COUNT mark = 0; mark <= 5; mark++) {
			a->srq = make_srq(a, 5, 1);
			post_many(a, available, 0);
			ok(dat_srq_set_lw(a->srq, mark));
			if (available < (unsigned int)mark)
				want_low(a->async, a->srq);
			want_none(a->async);
			assert_int_equal(srq_param(a->srq).low_watermark, mark);
			want_counts(a->srq, 5, (DAT_COUNT)available, (DAT_COUNT)available);
			ok(dat_srq_free(a->srq));
		}
	}
}

/* Proves: srq_set_lw.2 srq_set_lw.5 bug.S15 bug.S16 */
static void
set_lw__fires_when_an_endpoint_takes_the_buffer_that_goes_below(void **state)
{
	for (DAT_COUNT mark = 1; mark <= 4; mark++) {
		post_many(b, 6, 0);
		ok(dat_srq_set_lw(b->srq, mark));
		for (DAT_COUNT left = 5; left >= 0; left--) {
			use_one(&pair);
			if (left == mark - 1)
				want_low(b->async, b->srq);
			want_none(b->async);
		}
	}
}

/* Completions do not matter, reaped or not: what counts is what an endpoint can take. */
static void
set_lw__counts_available_and_not_outstanding(void **state)
{
	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	deliver(&pair, 64);
	want_counts(b->srq, 8, 3, 4);
	want_none(b->async);
	deliver(&pair, 64);
	want_counts(b->srq, 8, 2, 4);
	want_low(b->async, b->srq);
	ok(dat_srq_set_lw(b->srq, 3));
	want_low(b->async, b->srq);
	want_none(b->async);
}

/* Proves: srq_set_lw.1 srq_set_lw.8 */
static void
set_lw__fires_once_per_arming(void **state)
{
	for (unsigned int arming = 0; arming < 3; arming++) {
		post_many(b, 5, 0);
		ok(dat_srq_set_lw(b->srq, 3));
		want_none(b->async);
		use_n(2);
		want_none(b->async);
		use_one(&pair);
		want_low(b->async, b->srq);
		/* Further down, up again and down again: the arming is spent. */
		use_n(2);
		want_none(b->async);
		post_many(b, 8, 0);
		use_n(8);
		want_none(b->async);
		assert_int_equal(srq_param(b->srq).low_watermark, 3);
	}
}

/* Proves: srq_set_lw.1 */
static void
set_lw__each_call_replaces_and_arms_anew(void **state)
{
	post_many(b, 6, 0);
	/* Not fired yet: only the last of several calls counts, be it higher or lower. */
	ok(dat_srq_set_lw(b->srq, 2));
	ok(dat_srq_set_lw(b->srq, 5));
	ok(dat_srq_set_lw(b->srq, 4));
	use_n(2);
	want_none(b->async);
	use_one(&pair);
	want_low(b->async, b->srq);
	/* Fired: the same value again arms again, and so does another. */
	ok(dat_srq_set_lw(b->srq, 4));
	want_low(b->async, b->srq);
	ok(dat_srq_set_lw(b->srq, 3));
	want_none(b->async);
	use_one(&pair);
	want_low(b->async, b->srq);
	want_none(b->async);
}

/* Proves: srq_set_lw.6 */
static void
set_lw__zero_disarms(void **state)
{
	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 4));
	ok(dat_srq_set_lw(b->srq, DAT_SRQ_LW_DEFAULT));
	assert_int_equal(srq_param(b->srq).low_watermark, DAT_SRQ_LW_DEFAULT);
	use_n(4);
	ok(dat_srq_set_lw(b->srq, 0));
	want_none(b->async);
}

/* Proves: srq_set_lw.3 */
static void
set_lw__refuses_what_the_queue_cannot_hold(void **state)
{
	static const DAT_COUNT wrong[] = { 9, 10, INT32_MAX, -1, -2, INT32_MIN };
	DAT_SRQ_PARAM before;

	post_many(b, 8, 0);
	ok(dat_srq_set_lw(b->srq, 8));
	ok(dat_srq_set_lw(b->srq, 7));
	before = srq_param(b->srq);
	for (unsigned int i = 0; i < COUNT_OF(wrong); i++) {
		want_bad_arg(dat_srq_set_lw(b->srq, wrong[i]), 2);
		want_unchanged(b->srq, &before);
	}
	/* Still armed, with the mark it had. */
	use_one(&pair);
	want_none(b->async);
	use_one(&pair);
	want_low(b->async, b->srq);
	/* Spent, and a refusal does not arm. */
	want_type(dat_srq_set_lw(b->srq, 9), DAT_INVALID_PARAMETER);
	use_one(&pair);
	want_none(b->async);
}

/* Proves: srq_set_lw.4 */
static void
set_lw__judges_the_handle_first(void **state)
{
	DAT_PROVIDER_ATTR provider = provider_attr(a, DAT_PROVIDER_FIELD_ALL);

	want_bad_handle(dat_srq_set_lw(DAT_HANDLE_NULL, -1), SRQ);
	want_bad_handle(dat_srq_set_lw(a->ep, -1), SRQ);
	/* Watermarks are supported here, all three: there is no answer DAT_MODEL_NOT_SUPPORTED. */
	assert_int_equal(provider.srq_watermarks_supported, 0x111);
}

const struct CMUnitTest tests[] = {
	end_test(set_lw__fires_inside_the_call_when_fewer_are_available),
	srq_up_test(set_lw__fires_when_an_endpoint_takes_the_buffer_that_goes_below, 8, 1),
	srq_up_test(set_lw__counts_available_and_not_outstanding, 8, 1),
	srq_up_test(set_lw__fires_once_per_arming, 8, 1),
	srq_up_test(set_lw__each_call_replaces_and_arms_anew, 8, 1),
	srq_up_test(set_lw__zero_disarms, 8, 1),
	srq_up_test(set_lw__refuses_what_the_queue_cannot_hold, 8, 1),
	end_test(set_lw__judges_the_handle_first),
	tests_end,
};
