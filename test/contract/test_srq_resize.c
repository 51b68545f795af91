/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_resize: exactly the size asked for, or no change at all; and whoever receives does not notice. */

#include "crowd.h"

/* A counter of @p end's adapter. */
static unsigned long long
counter(const struct end *end, const char *name)
{
	const DAT_IA_ATTR attr = ia_attr(end, DAT_IA_FIELD_ALL);

	for (DAT_COUNT i = 0; i < attr.num_vendor_attr; i++)
		if (strcmp(attr.vendor_attr[i].name, name) == 0)
			return strtoull(attr.vendor_attr[i].value, NULL, 10);
	fail_msg("the adapter has no counter %s", name);
	return 0;
}

static void
fill_up(DAT_COUNT depth, uint64_t first)
{
	post_many(b, (unsigned int)depth, first);
	want_type(post_srq(b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
	want_counts(b->srq, depth, depth, depth);
}

static void
use_up(DAT_COUNT depth, uint64_t first)
{
	for (uint64_t i = first; i < first + (uint64_t)depth; i++)
		deliver_as(i, 64);
}

/*
 * The page allows success without a change; here the size is what was asked for, up or down, and so many posts succeed.
 * Proves: srq_resize.5 bug.S7 bug.S8 bug.S12 bug.S26
 */
static void
resize__is_exact(void **state)
{
	static const DAT_COUNT sizes[] = { 1, 2, 3, 4, 5, 8, 7, 16, 15, 17, 31, 33, 32, 64, 65, 63,
		100, 2, 1, 129 };

	for (unsigned int i = 0; i < COUNT_OF(sizes); i++) {
		ok(dat_srq_resize(b->srq, sizes[i]));
		want_counts(b->srq, sizes[i], 0, 0);
		assert_int_equal(srq_param(b->srq).max_recv_iov, 3);
		fill_up(sizes[i], 0);
		use_up(sizes[i], 0);
	}
	want_none(b->async);
}

/* Proves: srq_resize.6 */
static void
resize__to_what_is_there(void **state)
{
	post_many(b, 7, 0);
	deliver(&pair, 64);
	ok(dat_srq_resize(b->srq, 10));
	want_counts(b->srq, 10, 6, 7);
	ok(dat_srq_resize(b->srq, 7));
	want_counts(b->srq, 7, 6, 7);
	want_type(post_srq(b, 0, 64, 9), DAT_INSUFFICIENT_RESOURCES);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	post_many(b, 1, 7);
	use_up(7, 1);
}

/* Outstanding is what lies on the queue, what an endpoint holds, and what was not reaped: below their sum, no. */
/* Proves: srq_resize.2 */
static void
resize__refused_below_what_is_outstanding(void **state)
{
	DAT_SRQ_PARAM before;

	post_long(4, 0);
	deliver(&pair, 64);
	begin_long(&pair, 1);
	want_counts(b->srq, 10, 2, 4);
	before = srq_param(b->srq);
	for (DAT_COUNT size = 1; size < 4; size++) {
		want(dat_srq_resize(b->srq, size), DAT_CLASS_ERROR | DAT_INVALID_STATE);
		want_unchanged(b->srq, &before);
	}
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	want_type(dat_srq_resize(b->srq, 2), DAT_INVALID_STATE);
	/* Held is enough. */
	ok(dat_srq_resize(b->srq, 3));
	want_counts(b->srq, 3, 2, 3);
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, LONG_LEN);
	want_type(dat_srq_resize(b->srq, 1), DAT_INVALID_STATE);
	ok(dat_srq_resize(b->srq, 2));
	want_counts(b->srq, 2, 2, 2);
}

/* Armed or spent, the mark is a bound; equal to it is good. */
/* Proves: srq_resize.3 srq_resize.6 */
static void
resize__refused_below_the_low_watermark(void **state)
{
	DAT_SRQ_PARAM before;

	post_many(b, 3, 0);
	for (unsigned int spent = 0; spent < 2; spent++) {
		ok(dat_srq_resize(b->srq, 10));
		ok(dat_srq_set_lw(b->srq, spent ? 5 : 3));
		if (spent)
			want_low(b->async, b->srq);
		before = srq_param(b->srq);
		want(dat_srq_resize(b->srq, before.low_watermark - 1),
				DAT_CLASS_ERROR | DAT_INVALID_STATE);
		want_unchanged(b->srq, &before);
		ok(dat_srq_resize(b->srq, before.low_watermark));
		want_counts(b->srq, before.low_watermark, 3, 3);
		want_none(b->async);
	}
	/* Disarmed, it is no bound any more. */
	ok(dat_srq_set_lw(b->srq, 0));
	ok(dat_srq_resize(b->srq, 3));
}

/* Proves: srq_resize.4 bug.S30 */
static void
resize__judges_the_handle_and_the_size(void **state)
{
	static const DAT_COUNT wrong[] = { 0, -1, INT32_MIN, INT32_MAX };
	DAT_SRQ_PARAM before;
	DAT_IA_ATTR limit = ia_attr(a, DAT_IA_FIELD_ALL);

	a->srq = make_srq(a, 10, 1);
	post_many(a, 3, 0);
	before = srq_param(a->srq);
	want_bad_handle(dat_srq_resize(DAT_HANDLE_NULL, 0), SRQ);
	want_bad_handle(dat_srq_resize(a->ep, 0), SRQ);
	/* A value that is never good is named before a state that forbids it. */
	for (unsigned int i = 0; i < COUNT_OF(wrong); i++)
		want_bad_arg(dat_srq_resize(a->srq, wrong[i]), 2);
	want_bad_arg(dat_srq_resize(a->srq, limit.max_recv_per_srq + 1), 2);
	want_unchanged(a->srq, &before);
	ok(dat_srq_resize(a->srq, limit.max_recv_per_srq));
	want_counts(a->srq, limit.max_recv_per_srq, 3, 3);
	ok(dat_srq_resize(a->srq, 3));
	want_counts(a->srq, 3, 3, 3);
}

/* From any size to any other, wherever the ring stands: each buffer is still there, once, in its order. */
/* Proves: srq_resize.1 */
static void
resize__keeps_what_is_posted(void **state)
{
	static const DAT_COUNT sizes[] = { 1, 2, 3, 5, 8, 13, 16, 40 };
#define SIZES COUNT_OF(sizes)

	srq_pair_up(&pair, 64, 1);
	for (unsigned int i = 0; i < SIZES * SIZES * 3; i++) {
		DAT_COUNT from = sizes[i % SIZES], to = sizes[i / SIZES % SIZES];
		DAT_COUNT turned = (DAT_COUNT)(i / SIZES / SIZES);
		DAT_COUNT kept = from < to ? from : to;

		ok(dat_srq_resize(b->srq, from));
		for (DAT_COUNT j = 0; j < turned; j++) {
			post_many(b, 1, 500);
			use_up(1, 500);
		}
		post_many(b, (unsigned int)kept, 0);
		ok(dat_srq_resize(b->srq, to));
		want_counts(b->srq, to, kept, kept);
		post_many(b, (unsigned int)(to - kept), (uint64_t)kept);
		use_up(to, 0);
	}
}

/* Proves: srq_resize.1 */
static void
resize__in_the_middle_of_a_message(void **state)
{
	static const DAT_COUNT sizes[] = { 2, 1000, 2, 3 };

	for (uint32_t i = 0; i < COUNT_OF(sizes); i++) {
		uint64_t first = 2 * (uint64_t)i;

		fill_bytes(a->buffer, LONG_LEN, i);
		ok(post_srq(b, 0, LONG_LEN, first));
		ok(post_srq(b, 0, 64, first + 1));
		begin_long(&pair, i);
		ok(dat_srq_resize(b->srq, sizes[i]));
		want_counts(b->srq, sizes[i], 1, 2);
		want_passed(first, i, LONG_LEN);
		assert_memory_equal(a->buffer, b->buffer, LONG_LEN);
		use_up(1, first + 1);
	}
}

/* A sender that waits for a buffer goes on waiting, and gets the one that the new size has room for. */
/* Proves: srq_resize.1 */
static void
resize__while_a_sender_waits(void **state)
{
	post_many(b, 1, 0);
	deliver(&pair, 64);
	ok(post_send(a, 0, 64, 5));
	want_silence(a->request);
	want_type(post_srq(b, 0, 64, 1), DAT_INSUFFICIENT_RESOURCES);
	ok(dat_srq_resize(b->srq, 2));
	post_many(b, 1, 1);
	want_dto(a, a->request, 5, DAT_DTO_SUCCESS, 64);
	want_received(0, 2, 64);
	want_counts(b->srq, 2, 0, 0);
}

/* Neither does a new size fire the mark, nor does it arm or disarm it. */
static void
resize__leaves_the_arming_alone(void **state)
{
	post_many(b, 4, 0);
	ok(dat_srq_set_lw(b->srq, 3));
	ok(dat_srq_resize(b->srq, 64));
	ok(dat_srq_resize(b->srq, 4));
	use_up(1, 0);
	want_none(b->async);
	ok(dat_srq_resize(b->srq, 100));
	use_up(1, 1);
	want_low(b->async, b->srq);
	ok(dat_srq_resize(b->srq, 3));
	ok(dat_srq_resize(b->srq, 300));
	use_up(2, 2);
	want_none(b->async);
	assert_int_equal(srq_param(b->srq).low_watermark, 3);
}

/* cmocka's assertions belong to the main thread: others return what went wrong. */
struct resizer {
	pthread_t thread;
	DAT_SRQ_HANDLE srq;
	bool stop;
	unsigned long done;
	DAT_RETURN result;
};

/* Between 24 and 280: never below what the main thread has outstanding. */
static void *
keep_resizing(void *arg)
{
	struct resizer *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED) && r->result == DAT_SUCCESS) {
		r->result = dat_srq_resize(r->srq, 24 + (DAT_COUNT)(r->done * 37 % 257));
		__atomic_store_n(&r->done, r->done + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static unsigned long
done_by(const struct resizer *r)
{
	return __atomic_load_n(&r->done, __ATOMIC_RELAXED);
}

#define CONNECTIONS 4
#define VOLLEYS     1500u /**< at least */
#define RESIZES     300u
#define BUFFERS     24

/*
 * Under fire: a thread changes the size all the time while endpoints receive, on several engines where there are
 * several. No message is lost, doubled, reordered or kept waiting.
 * Proves: srq_resize.1 bug.S12
 */
static void
resize__under_traffic(void **state)
{
	static struct resizer resizer; /* a test that fails leaves its thread behind */
	uint32_t next[CONNECTIONS] = { 0 }, number;
	unsigned long long before;

	crowd_join(CONNECTIONS);
	post_many(b, BUFFERS, 0);
	before = counter(b, "out_of_buffer");
	resizer.srq = b->srq;
	resizer.thread = start(keep_resizing, &resizer);
	for (uint32_t n = 0; n < VOLLEYS || done_by(&resizer) < RESIZES; n++) {
		/* One message for each at once: as many as are posted at least, so that none has to wait. */
		for (unsigned int i = 0; i < CONNECTIONS; i++)
			crowd_send(i, n, (size_t)i * NUMBER_LEN, NUMBER_LEN);
		for (unsigned int i = 0; i < CONNECTIONS; i++) {
			unsigned int from = crowd_receive(b->recv, 64, &number);

			assert_int_equal(number, next[from]++);
		}
		for (unsigned int i = 0; i < CONNECTIONS; i++)
			want_event(a->request, DAT_DTO_COMPLETION_EVENT);
	}
	__atomic_store_n(&resizer.stop, true, __ATOMIC_RELAXED);
	join(resizer.thread);
	ok(resizer.result);
	assert_true(resizer.done >= RESIZES);
	assert_int_equal(counter(b, "out_of_buffer"), before);
	assert_int_equal(srq_param(b->srq).available_dto_count, BUFFERS);
	assert_int_equal(srq_param(b->srq).outstanding_dto_count, BUFFERS);
}

const struct CMUnitTest tests[] = {
	srq_up_test(resize__is_exact, 10, 3),
	srq_up_test(resize__to_what_is_there, 10, 1),
	srq_up_test(resize__refused_below_what_is_outstanding, 10, 1),
	srq_up_test(resize__refused_below_the_low_watermark, 10, 1),
	end_test(resize__judges_the_handle_and_the_size),
	rig_test(resize__keeps_what_is_posted),
	srq_up_test(resize__in_the_middle_of_a_message, 4, 1),
	srq_up_test(resize__while_a_sender_waits, 1, 1),
	srq_up_test(resize__leaves_the_arming_alone, 8, 1),
	srq_up_test(resize__under_traffic, BUFFERS, 1),
	tests_end,
};
