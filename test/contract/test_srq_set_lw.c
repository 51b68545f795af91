/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_set_lw: which values it takes, when the event comes, and how often. */

#include "contract.h"

/*
 * The page contradicts itself about the event inside the call. Decided: it comes if and only if fewer buffers are
 * available than the mark says, whatever the numbers.
 *
 * Proves: srq_set_lw.2 srq_set_lw.7 srq_set_lw.3 bug.S15
 */
static void
set_lw__fires_inside_the_call_when_fewer_are_available(void **state)
{
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int available = 0; available <= 5; available++) {
		for (DAT_COUNT mark = 0; mark <= 5; mark++) {
			end.srq = make_srq(&end, 5, 1);
			post_many(&end, available, 0);
			ok(dat_srq_set_lw(end.srq, mark));
			if (available < (unsigned int)mark)
				want_low(end.async, end.srq);
			want_none(end.async);
			assert_int_equal(srq_param(end.srq).low_watermark, mark);
			want_counts(end.srq, 5, (DAT_COUNT)available, (DAT_COUNT)available);
			ok(dat_srq_free(end.srq));
		}
	}
	end_close(&end);
}

/* Proves: srq_set_lw.2 srq_set_lw.5 bug.S15 bug.S16 */
static void
set_lw__fires_when_an_endpoint_takes_the_buffer_that_goes_below(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	for (DAT_COUNT mark = 1; mark <= 4; mark++) {
		post_many(&pair.b, 6, 0);
		ok(dat_srq_set_lw(pair.b.srq, mark));
		for (DAT_COUNT left = 5; left >= 0; left--) {
			use_one(&pair);
			if (left == mark - 1)
				want_low(pair.b.async, pair.b.srq);
			want_none(pair.b.async);
		}
	}
	pair_close(&pair);
}

/* Completions do not matter, reaped or not: what counts is what an endpoint can take. */
static void
set_lw__counts_available_and_not_outstanding(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 4, 0);
	ok(dat_srq_set_lw(pair.b.srq, 3));
	deliver(&pair, 64);
	want_counts(pair.b.srq, 8, 3, 4);
	want_none(pair.b.async);
	deliver(&pair, 64);
	want_counts(pair.b.srq, 8, 2, 4);
	want_low(pair.b.async, pair.b.srq);
	ok(dat_srq_set_lw(pair.b.srq, 3));
	want_low(pair.b.async, pair.b.srq);
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_set_lw.1 srq_set_lw.8 */
static void
set_lw__fires_once_per_arming(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	for (unsigned int arming = 0; arming < 3; arming++) {
		post_many(&pair.b, 5, 0);
		ok(dat_srq_set_lw(pair.b.srq, 3));
		want_none(pair.b.async);
		for (unsigned int i = 0; i < 2; i++)
			use_one(&pair);
		want_none(pair.b.async);
		use_one(&pair);
		want_low(pair.b.async, pair.b.srq);
		/* Further down, up again and down again: the arming is spent. */
		for (unsigned int i = 0; i < 2; i++)
			use_one(&pair);
		want_none(pair.b.async);
		post_many(&pair.b, 8, 0);
		for (unsigned int i = 0; i < 8; i++)
			use_one(&pair);
		want_none(pair.b.async);
		assert_int_equal(srq_param(pair.b.srq).low_watermark, 3);
	}
	pair_close(&pair);
}

/* Proves: srq_set_lw.1 */
static void
set_lw__each_call_replaces_and_arms_anew(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 6, 0);
	/* Not fired yet: only the last of several calls counts, be it higher or lower. */
	ok(dat_srq_set_lw(pair.b.srq, 2));
	ok(dat_srq_set_lw(pair.b.srq, 5));
	ok(dat_srq_set_lw(pair.b.srq, 4));
	use_one(&pair);
	use_one(&pair);
	want_none(pair.b.async);
	use_one(&pair);
	want_low(pair.b.async, pair.b.srq);
	/* Fired: the same value again arms again, and so does another. */
	ok(dat_srq_set_lw(pair.b.srq, 4));
	want_low(pair.b.async, pair.b.srq);
	ok(dat_srq_set_lw(pair.b.srq, 3));
	want_none(pair.b.async);
	use_one(&pair);
	want_low(pair.b.async, pair.b.srq);
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_set_lw.6 */
static void
set_lw__zero_disarms(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 4, 0);
	ok(dat_srq_set_lw(pair.b.srq, 4));
	ok(dat_srq_set_lw(pair.b.srq, DAT_SRQ_LW_DEFAULT));
	assert_int_equal(srq_param(pair.b.srq).low_watermark, DAT_SRQ_LW_DEFAULT);
	for (unsigned int i = 0; i < 4; i++)
		use_one(&pair);
	ok(dat_srq_set_lw(pair.b.srq, 0));
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_set_lw.3 */
static void
set_lw__refuses_what_the_queue_cannot_hold(void **state)
{
	static const DAT_COUNT wrong[] = { 9, 10, INT32_MAX, -1, -2, INT32_MIN };
	DAT_SRQ_PARAM before;
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 8, 0);
	ok(dat_srq_set_lw(pair.b.srq, 8));
	ok(dat_srq_set_lw(pair.b.srq, 7));
	before = srq_param(pair.b.srq);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		want_error(dat_srq_set_lw(pair.b.srq, wrong[i]), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG2);
		want_unchanged(pair.b.srq, &before);
	}
	/* Still armed, with the mark it had. */
	use_one(&pair);
	want_none(pair.b.async);
	use_one(&pair);
	want_low(pair.b.async, pair.b.srq);
	/* Spent, and a refusal does not arm. */
	want_type(dat_srq_set_lw(pair.b.srq, 9), DAT_INVALID_PARAMETER);
	use_one(&pair);
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_set_lw.4 */
static void
set_lw__judges_the_handle_first(void **state)
{
	DAT_PROVIDER_ATTR provider;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_srq_set_lw(DAT_HANDLE_NULL, -1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_set_lw(end.ep, -1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	/* Watermarks are supported here, all three: there is no answer DAT_MODEL_NOT_SUPPORTED. */
	ok(dat_ia_query(end.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider));
	assert_int_equal(provider.srq_watermarks_supported, 0x111);
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(set_lw__fires_inside_the_call_when_fewer_are_available),
		dat_test(set_lw__fires_when_an_endpoint_takes_the_buffer_that_goes_below),
		dat_test(set_lw__counts_available_and_not_outstanding),
		dat_test(set_lw__fires_once_per_arming),
		dat_test(set_lw__each_call_replaces_and_arms_anew),
		dat_test(set_lw__zero_disarms),
		dat_test(set_lw__refuses_what_the_queue_cannot_hold),
		dat_test(set_lw__judges_the_handle_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
