/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_resize: exactly the size asked for, or no change at all; and whoever receives does not notice. */

#include <pthread.h>
#include <stdbool.h>

#include "contract.h"

/* A counter of @p end's adapter. */
static unsigned long long
counter(const struct end *end, const char *name)
{
	DAT_IA_ATTR attr;

	ok(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	for (DAT_COUNT i = 0; i < attr.num_vendor_attr; i++)
		if (strcmp(attr.vendor_attr[i].name, name) == 0)
			return strtoull(attr.vendor_attr[i].value, NULL, 10);
	fail_msg("the adapter has no counter %s", name);
	return 0;
}

static void
fill_up(struct pair *pair, DAT_COUNT depth, uint64_t first)
{
	post_many(&pair->b, (unsigned int)depth, first);
	want_type(post_srq(&pair->b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
	want_counts(pair->b.srq, depth, depth, depth);
}

static void
use_up(struct pair *pair, DAT_COUNT depth, uint64_t first)
{
	for (uint64_t i = first; i < first + (uint64_t)depth; i++) {
		deliver(pair, 64);
		want_dto(&pair->b, pair->b.recv, i, DAT_DTO_SUCCESS, 64);
	}
}

/*
 * The page allows success without a change; here the size is what was asked for, up or down, and so many posts succeed.
 *
 * Proves: srq_resize.5 bug.S7 bug.S8 bug.S12 bug.S26
 */
static void
resize__is_exact(void **state)
{
	static const DAT_COUNT sizes[] = { 1, 2, 3, 4, 5, 8, 7, 16, 15, 17, 31, 33, 32, 64, 65, 63,
		100, 2, 1, 129 };
	struct pair pair;

	srq_pair_up(&pair, 10, 3);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ok(dat_srq_resize(pair.b.srq, sizes[i]));
		want_counts(pair.b.srq, sizes[i], 0, 0);
		assert_int_equal(srq_param(pair.b.srq).max_recv_iov, 3);
		fill_up(&pair, sizes[i], 0);
		use_up(&pair, sizes[i], 0);
	}
	want_none(pair.b.async);
	pair_close(&pair);
}

/* Proves: srq_resize.6 */
static void
resize__to_what_is_there(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 10, 1);
	post_many(&pair.b, 7, 0);
	deliver(&pair, 64);
	ok(dat_srq_resize(pair.b.srq, 10));
	want_counts(pair.b.srq, 10, 6, 7);
	ok(dat_srq_resize(pair.b.srq, 7));
	want_counts(pair.b.srq, 7, 6, 7);
	want_type(post_srq(&pair.b, 0, 64, 9), DAT_INSUFFICIENT_RESOURCES);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	post_many(&pair.b, 1, 7);
	use_up(&pair, 7, 1);
	pair_close(&pair);
}

/*
 * Outstanding is what lies on the queue, what an endpoint holds, and what was not reaped: below their sum, no.
 *
 * Proves: srq_resize.2
 */
static void
resize__refused_below_what_is_outstanding(void **state)
{
	DAT_SRQ_PARAM before;
	struct pair pair;

	srq_pair_up(&pair, 10, 1);
	for (unsigned int i = 0; i < 4; i++)
		ok(post_srq(&pair.b, 0, LONG_LEN, i));
	deliver(&pair, 64);
	begin_long(&pair, 1);
	want_counts(pair.b.srq, 10, 2, 4);
	before = srq_param(pair.b.srq);
	for (DAT_COUNT size = 1; size < 4; size++) {
		want(dat_srq_resize(pair.b.srq, size), DAT_CLASS_ERROR | DAT_INVALID_STATE);
		want_unchanged(pair.b.srq, &before);
	}
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	want_type(dat_srq_resize(pair.b.srq, 2), DAT_INVALID_STATE);
	/* Held is enough. */
	ok(dat_srq_resize(pair.b.srq, 3));
	want_counts(pair.b.srq, 3, 2, 3);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, LONG_LEN);
	want_type(dat_srq_resize(pair.b.srq, 1), DAT_INVALID_STATE);
	ok(dat_srq_resize(pair.b.srq, 2));
	want_counts(pair.b.srq, 2, 2, 2);
	pair_close(&pair);
}

/* Armed or spent, the mark is a bound; equal to it is good. */
/* Proves: srq_resize.3 srq_resize.6 */
static void
resize__refused_below_the_low_watermark(void **state)
{
	DAT_SRQ_PARAM before;
	struct pair pair;

	srq_pair_up(&pair, 10, 1);
	post_many(&pair.b, 3, 0);
	for (unsigned int spent = 0; spent < 2; spent++) {
		ok(dat_srq_resize(pair.b.srq, 10));
		ok(dat_srq_set_lw(pair.b.srq, spent ? 5 : 3));
		if (spent)
			want_low(pair.b.async, pair.b.srq);
		before = srq_param(pair.b.srq);
		want(dat_srq_resize(pair.b.srq, before.low_watermark - 1),
				DAT_CLASS_ERROR | DAT_INVALID_STATE);
		want_unchanged(pair.b.srq, &before);
		ok(dat_srq_resize(pair.b.srq, before.low_watermark));
		want_counts(pair.b.srq, before.low_watermark, 3, 3);
		want_none(pair.b.async);
	}
	/* Disarmed, it is no bound any more. */
	ok(dat_srq_set_lw(pair.b.srq, 0));
	ok(dat_srq_resize(pair.b.srq, 3));
	pair_close(&pair);
}

/* Proves: srq_resize.4 bug.S30 */
static void
resize__judges_the_handle_and_the_size(void **state)
{
	static const DAT_COUNT wrong[] = { 0, -1, INT32_MIN, INT32_MAX };
	DAT_SRQ_PARAM before;
	DAT_IA_ATTR limit;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &limit, 0, NULL));
	end.srq = make_srq(&end, 10, 1);
	post_many(&end, 3, 0);
	before = srq_param(end.srq);
	want_error(dat_srq_resize(DAT_HANDLE_NULL, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_resize(end.ep, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	/* A value that is never good is named before a state that forbids it. */
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		want_error(dat_srq_resize(end.srq, wrong[i]), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG2);
	want_error(dat_srq_resize(end.srq, limit.max_recv_per_srq + 1), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_unchanged(end.srq, &before);
	ok(dat_srq_resize(end.srq, limit.max_recv_per_srq));
	want_counts(end.srq, limit.max_recv_per_srq, 3, 3);
	ok(dat_srq_resize(end.srq, 3));
	want_counts(end.srq, 3, 3, 3);
	end_close(&end);
}

/*
 * From any size to any other, wherever the ring stands: each buffer is still there, once, in its order.
 *
 * Proves: srq_resize.1
 */
static void
resize__keeps_what_is_posted(void **state)
{
	static const DAT_COUNT sizes[] = { 1, 2, 3, 5, 8, 13, 16, 40 };
	enum {
		SIZES = sizeof(sizes) / sizeof(sizes[0])
	};
	struct pair pair;

	srq_pair_up(&pair, 64, 1);
	for (unsigned int i = 0; i < SIZES * SIZES * 3; i++) {
		DAT_COUNT from = sizes[i % SIZES], to = sizes[i / SIZES % SIZES];
		DAT_COUNT turned = (DAT_COUNT)(i / SIZES / SIZES);
		DAT_COUNT kept = from < to ? from : to;

		ok(dat_srq_resize(pair.b.srq, from));
		for (DAT_COUNT j = 0; j < turned; j++) {
			post_many(&pair.b, 1, 500);
			use_up(&pair, 1, 500);
		}
		post_many(&pair.b, (unsigned int)kept, 0);
		ok(dat_srq_resize(pair.b.srq, to));
		want_counts(pair.b.srq, to, kept, kept);
		post_many(&pair.b, (unsigned int)(to - kept), (uint64_t)kept);
		use_up(&pair, to, 0);
	}
	pair_close(&pair);
}

/* Proves: srq_resize.1 */
static void
resize__in_the_middle_of_a_message(void **state)
{
	static const DAT_COUNT sizes[] = { 2, 1000, 2, 3 };
	struct pair pair;

	srq_pair_up(&pair, 4, 1);
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t first = 2 * (uint64_t)i;

		fill_bytes(pair.a.buffer, LONG_LEN, i);
		ok(post_srq(&pair.b, 0, LONG_LEN, first));
		ok(post_srq(&pair.b, 0, 64, first + 1));
		begin_long(&pair, i);
		ok(dat_srq_resize(pair.b.srq, sizes[i]));
		want_counts(pair.b.srq, sizes[i], 1, 2);
		want_dto(&pair.b, pair.b.recv, first, DAT_DTO_SUCCESS, LONG_LEN);
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, LONG_LEN);
		assert_memory_equal(pair.a.buffer, pair.b.buffer, LONG_LEN);
		use_up(&pair, 1, first + 1);
	}
	pair_close(&pair);
}

/* A sender that waits for a buffer goes on waiting, and gets the one that the new size has room for. */
/* Proves: srq_resize.1 */
static void
resize__while_a_sender_waits(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 1, 1);
	post_many(&pair.b, 1, 0);
	deliver(&pair, 64);
	ok(post_send(&pair.a, 0, 64, 5));
	want_silence(pair.a.request);
	want_type(post_srq(&pair.b, 0, 64, 1), DAT_INSUFFICIENT_RESOURCES);
	ok(dat_srq_resize(pair.b.srq, 2));
	post_many(&pair.b, 1, 1);
	want_dto(&pair.a, pair.a.request, 5, DAT_DTO_SUCCESS, 64);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	want_counts(pair.b.srq, 2, 0, 0);
	pair_close(&pair);
}

/* Neither does a new size fire the mark, nor does it arm or disarm it. */
static void
resize__leaves_the_arming_alone(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 4, 0);
	ok(dat_srq_set_lw(pair.b.srq, 3));
	ok(dat_srq_resize(pair.b.srq, 64));
	ok(dat_srq_resize(pair.b.srq, 4));
	use_up(&pair, 1, 0);
	want_none(pair.b.async);
	ok(dat_srq_resize(pair.b.srq, 100));
	use_up(&pair, 1, 1);
	want_low(pair.b.async, pair.b.srq);
	ok(dat_srq_resize(pair.b.srq, 3));
	ok(dat_srq_resize(pair.b.srq, 300));
	use_up(&pair, 2, 2);
	want_none(pair.b.async);
	assert_int_equal(srq_param(pair.b.srq).low_watermark, 3);
	pair_close(&pair);
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

/* The next of the messages: it is whole, of its connection, and in its order. Its buffer is posted again. */
static void
receive_one(struct pair *pair, const DAT_EP_HANDLE *server, uint32_t *next)
{
	DAT_EVENT event = want_event(pair->b.recv, DAT_DTO_COMPLETION_EVENT);
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;
	uint64_t slot = data->user_cookie.as_64;
	uint32_t word[2];

	assert_int_equal(data->status, DAT_DTO_SUCCESS);
	assert_int_equal(data->transfered_length, sizeof(word));
	assert_true(slot < BUFFERS);
	memcpy(word, pair->b.buffer + slot * 64, sizeof(word));
	assert_true(word[0] < CONNECTIONS);
	assert_ptr_equal(data->ep_handle, server[word[0]]);
	assert_int_equal(word[1], next[word[0]]++);
	post_many(&pair->b, 1, slot);
}

/* One message for each connection at once: as many as are posted at least, so that none has to wait. */
static void
volley(struct pair *pair, const DAT_EP_HANDLE *client, uint32_t n)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		uint32_t word[2] = { i, n };

		memcpy(pair->a.buffer + (size_t)i * 8, word, sizeof(word));
		pair->a.ep = client[i];
		ok(post_send(&pair->a, (size_t)i * 8, sizeof(word), i));
	}
}

/*
 * Under fire: a thread changes the size all the time while endpoints receive, on several engines where there are
 * several. No message is lost, doubled, reordered or kept waiting.
 *
 * Proves: srq_resize.1 bug.S12
 */
static void
resize__under_traffic(void **state)
{
	DAT_EP_HANDLE client[CONNECTIONS], server[CONNECTIONS];
	static struct resizer resizer; /* a test that fails leaves its thread behind */
	uint32_t next[CONNECTIONS] = { 0 };
	unsigned long long before;
	struct pair pair;

	srq_pair_up(&pair, BUFFERS, 1);
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		if (i > 0)
			add_connection(&pair);
		client[i] = pair.a.ep;
		server[i] = pair.b.ep;
	}
	post_many(&pair.b, BUFFERS, 0);
	before = counter(&pair.b, "out_of_buffer");
	resizer.srq = pair.b.srq;
	assert_int_equal(pthread_create(&resizer.thread, NULL, keep_resizing, &resizer), 0);
	for (uint32_t n = 0; n < VOLLEYS || done_by(&resizer) < RESIZES; n++) {
		volley(&pair, client, n);
		for (unsigned int i = 0; i < CONNECTIONS; i++)
			receive_one(&pair, server, next);
		for (unsigned int i = 0; i < CONNECTIONS; i++)
			want_event(pair.a.request, DAT_DTO_COMPLETION_EVENT);
	}
	__atomic_store_n(&resizer.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(resizer.thread, NULL), 0);
	ok(resizer.result);
	assert_true(resizer.done >= RESIZES);
	assert_int_equal(counter(&pair.b, "out_of_buffer"), before);
	assert_int_equal(srq_param(pair.b.srq).available_dto_count, BUFFERS);
	assert_int_equal(srq_param(pair.b.srq).outstanding_dto_count, BUFFERS);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(resize__is_exact),
		dat_test(resize__to_what_is_there),
		dat_test(resize__refused_below_what_is_outstanding),
		dat_test(resize__refused_below_the_low_watermark),
		dat_test(resize__judges_the_handle_and_the_size),
		dat_test(resize__keeps_what_is_posted),
		dat_test(resize__in_the_middle_of_a_message),
		dat_test(resize__while_a_sender_waits),
		dat_test(resize__leaves_the_arming_alone),
		dat_test(resize__under_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
