/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion flags of single posts, and whom the completions wake. */

#include "flags.h"
#include "mix.h"

#define SHORT 64

static void
use_flags(struct end *end, unsigned int recv_flags, unsigned int request_flags)
{
	const DAT_EP_ATTR attr = {
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)recv_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)request_flags,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};

	if (end->srq != DAT_HANDLE_NULL)
		use_srq_ep(end, &attr);
	else
		use_ep(end, &attr);
}

static void
scene_open(unsigned int recv_of_b, unsigned int request_of_a, bool on_srq)
{
	pair_open(&pair, NULL, NULL);
	if (on_srq)
		b->srq = make_srq(b, 16, 1);
	use_flags(b, recv_of_b, DEFAULT);
	use_flags(a, DEFAULT, request_of_a);
	pair_connect(&pair);
	mix_begin();
}

static DAT_RETURN
receive(DAT_VLEN length, uint64_t value, unsigned int flags)
{
	DAT_LMR_TRIPLET iov = segment(b, 0, length);

	if (b->srq != DAT_HANDLE_NULL)
		return dat_srq_post_recv(b->srq, 1, &iov, cookie(value));
	return dat_ep_post_recv(b->ep, 1, &iov, cookie(value), (DAT_COMPLETION_FLAGS)flags);
}

/* Receives 0 to @p n - 1, which say nothing of their own. */
static void
receive_many(uint64_t n, DAT_VLEN length)
{
	for (uint64_t i = 0; i < n; i++)
		ok(receive(length, i, DEFAULT));
}

static void
send_one(DAT_VLEN length, uint64_t value, unsigned int flags)
{
	ok(mix_post_with(SEND, length, value, flags));
}

/* A wait for @p threshold gets the oldest, and learns how many are behind it. */
static void
want_several(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, uint64_t value,
		DAT_COUNT behind)
{
	DAT_DTO_COMPLETION_STATUS status;
	DAT_COUNT more = -1;
	DAT_EVENT event;
	uint64_t got;

	ok(dat_evd_wait(evd, timeout, threshold, &event, &more));
	mix_result(&event, &got, &status);
	assert_int_equal(got, value);
	assert_int_equal(more, behind);
}

/* So many are there when a wait for @p threshold is over in vain. */
static void
want_too_few(DAT_COUNT threshold, DAT_COUNT there)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;

	want_type(dat_evd_wait(b->recv, QUIET_US, threshold, &event, &more), DAT_TIMEOUT_EXPIRED);
	assert_int_equal(more, there);
}

/*
 * Messages move only inside this wait, so no event is there when it begins. It gets the oldest event and learns how
 * many are behind it, which tells when it woke: a message that comes is followed by a long one, which takes many polls.
 */
static void
want_woken_within(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, uint64_t value, DAT_COUNT behind)
{
	want_several(evd, timeout, 1, value, behind);
}

/* The same, however long it takes. */
static void
want_woken(DAT_EVD_HANDLE evd, uint64_t value, DAT_COUNT behind)
{
	want_woken_within(evd, DAT_TIMEOUT_INFINITE, value, behind);
}

/* Unsolicited messages are on the dispatcher, but only the solicited one wakes; the oldest event is what is returned. */
static void
solicited__alone_wakes(void **state)
{
	for (int on_srq = 0; on_srq < 2; on_srq++) {
		scene_open(SOLICITED, DEFAULT, on_srq);
		receive_many(3, LONG_LEN);
		send_one(SHORT, 0, DEFAULT);
		send_one(LONG_LEN, 1, FENCE);
		send_one(LONG_LEN, 2, SOLICITED);
		want_woken(b->recv, 0, 2);
		/* The event behind it is had without sleeping: a wait looks before it sleeps. */
		want_woken(b->recv, 1, 1);
		want_dto_now(b, b->recv, 2, DAT_DTO_SUCCESS);
		pair_close(&pair);
	}
}

/* The same flag on requests of an endpoint for which it was not made changes nothing. */
static void
solicited__only_where_it_was_asked_for(void **state)
{
	scene_open(DEFAULT, SOLICITED, false);
	receive_many(2, LONG_LEN);
	send_one(SHORT, 0, DEFAULT);
	send_one(LONG_LEN, 1, SOLICITED);
	want_woken(b->recv, 0, 0);
	want_woken(b->recv, 1, 0);
}

/* When its time is over a waiter gets what is there. A poll gets it anyway. */
static void
solicited__nobody_is_woken_for_ever(void **state)
{
	scene_open(SOLICITED, DEFAULT, false);
	receive_many(2, SHORT);
	want_too_few(1, 0);
	send_one(SHORT, 0, DEFAULT);
	send_one(SHORT, 1, DEFAULT);
	/* Acknowledged, so both are there, however long the machine needs for that. */
	want_several(a->request, DAT_TIMEOUT_INFINITE, 2, 0, 1);
	want_several(a->request, DAT_TIMEOUT_INFINITE, 1, 1, 0);
	want_woken_within(b->recv, QUIET_US, 0, 1);
	want_woken(b->recv, 1, 0);
}

/* A receive that fails, or is flushed, wakes whatever the sender said. */
static void
solicited__a_failure_wakes(void **state)
{
	scene_open(SOLICITED, DEFAULT, false);
	for (uint64_t i = 0; i < 3; i++)
		ok(receive(i == 1 ? SHORT - 1 : LONG_LEN, i, DEFAULT));
	send_one(SHORT, 0, DEFAULT);
	send_one(SHORT, 1, DEFAULT);
	want_woken(b->recv, 0, 2);
	want_dto_now(b, b->recv, 1, DAT_DTO_ERR_LOCAL_LENGTH);
	want_dto_now(b, b->recv, 2, DAT_DTO_ERR_FLUSHED);
}

static void
solicited__a_flush_wakes(void **state)
{
	scene_open(SOLICITED, DEFAULT, false);
	ok(receive(SHORT, 7, DEFAULT));
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_woken(b->recv, 7, 0);
}

/* Each verb: the unsignalled completion is there when the signalled one behind it wakes. */
static void
unsignalled__requests_wake_nobody(void **state)
{
	for (enum verb verb = SEND; verb < VERBS; verb++) {
		print_message("verb %u\n", verb);
		scene_open(DEFAULT, UNSIGNAL, false);
		receive_many(2, LONG_LEN);
		ok(mix_post_with(verb, SHORT, 10, UNSIGNAL));
		ok(mix_post_with(WRITE, LONG_LEN, 11, UNSIGNAL | FENCE));
		ok(mix_post_with(WRITE, LONG_LEN, 12, DEFAULT));
		want_woken(a->request, 10, 2);
		want_dto_now(a, a->request, 11, DAT_DTO_SUCCESS);
		want_dto_now(a, a->request, 12, DAT_DTO_SUCCESS);
		/* One that is signalled wakes on its own. */
		ok(mix_post_with(verb, SHORT, 13, DEFAULT));
		ok(mix_post_with(WRITE, LONG_LEN, 14, DEFAULT));
		want_woken(a->request, 13, 0);
		want_woken(a->request, 14, 0);
		pair_close(&pair);
	}
}

static void
unsignalled__receives_wake_nobody(void **state)
{
	scene_open(UNSIGNAL, DEFAULT, false);
	ok(receive(SHORT, 0, UNSIGNAL));
	ok(receive(LONG_LEN, 1, UNSIGNAL));
	ok(receive(LONG_LEN, 2, DEFAULT));
	send_one(SHORT, 0, SOLICITED);
	send_one(LONG_LEN, 1, SOLICITED);
	send_one(LONG_LEN, 2, DEFAULT);
	want_woken(b->recv, 0, 2);
	want_received_now(1, 3);
}

/* Buffers of a shared queue have no flags: they all wake. */
static void
unsignalled__shared_receives_wake(void **state)
{
	scene_open(UNSIGNAL, DEFAULT, true);
	receive_many(2, LONG_LEN);
	send_one(SHORT, 0, DEFAULT);
	send_one(LONG_LEN, 1, DEFAULT);
	want_woken(b->recv, 0, 0);
	want_woken(b->recv, 1, 0);
}

/* A failure wakes, unsignalled or suppressed. */
static void
unsignalled__a_failure_wakes(void **state)
{
	static const unsigned int flags[] = { UNSIGNAL, SUPPRESS, SUPPRESS | UNSIGNAL };

	for (unsigned int i = 0; i < COUNT_OF(flags); i++) {
		scene_open(DEFAULT, UNSIGNAL, false);
		ok(receive(SHORT, 1, DEFAULT));
		send_one(SHORT + 1, 2, flags[i]);
		want_woken(a->request, 2, 0);
		pair_close(&pair);
	}
}

/* Suppressed successes are nowhere to be found, whatever else was asked for. */
static void
suppressed__there_is_no_completion(void **state)
{
	for (enum verb verb = SEND; verb < VERBS; verb++) {
		scene_open(DEFAULT, UNSIGNAL, false);
		receive_many(2, LONG_LEN);
		ok(mix_post_with(verb, SHORT, 1, SUPPRESS));
		ok(mix_post_with(verb, SHORT, 2, SUPPRESS | UNSIGNAL | FENCE));
		ok(mix_post_with(WRITE, SHORT, 3, DEFAULT));
		want_woken(a->request, 3, 0);
		want_silence(a->request);
		pair_close(&pair);
	}
}

/* Which flags a post may have, by the flags of its endpoint; nothing is posted with others. */
static void
post__judges_its_flags(void **state)
{
	static const unsigned int modes[] = { DEFAULT, THRESHOLD, UNSIGNAL };

	for (unsigned int m = 0; m < COUNT_OF(modes); m++) {
		unsigned int quiet = modes[m] == UNSIGNAL ? UNSIGNAL : 0;

		scene_open(modes[m], modes[m], false);
		for (unsigned int flags = 0; flags < 0x80; flags++) {
			bool dto = (flags & ~(SUPPRESS | SOLICITED | FENCE | quiet)) == 0;
			bool bind = (flags & ~(SUPPRESS | FENCE | quiet)) == 0;

			print_message("endpoint 0x%x, post 0x%x\n", modes[m], flags);
			if (dto)
				continue;
			want_bad_arg(mix_post_with(SEND, SHORT, 1, flags), 5);
			want_bad_arg(mix_post_with(WRITE, SHORT, 1, flags), 6);
			want_bad_arg(mix_post_with(READ, SHORT, 1, flags), 6);
			assert_false(bind);
			want_bad_arg(mix_post_with(BIND, SHORT, 1, flags), 6);
			want_bad_arg(receive(SHORT, 1, flags), 5);
		}
		/* There is nobody to be woken at the other end of a bind. */
		want_bad_arg(mix_post_with(BIND, SHORT, 1, SOLICITED), 6);
		want_bad_arg(receive(SHORT, 1, SUPPRESS), 5);
		want_bad_arg(receive(SHORT, 1, SOLICITED), 5);
		want_bad_arg(receive(SHORT, 1, FENCE), 5);
		want_silence(a->request);
		ok(receive(SHORT, 1, quiet));
		send_one(SHORT, 1, quiet);
		poll_until(a->request, DAT_DTO_COMPLETION_EVENT);
		pair_close(&pair);
	}
}

/* The threshold says how many it takes, and nothing else does. */
static void
threshold__counts_completions(void **state)
{
	static const unsigned int modes[] = { DEFAULT, THRESHOLD };

	for (unsigned int m = 0; m < 2; m++) {
		scene_open(modes[m], modes[m], false);
		receive_many(4, LONG_LEN);
		send_one(SHORT, 0, SOLICITED);
		send_one(LONG_LEN, 1, DEFAULT);
		send_one(LONG_LEN, 2, DEFAULT);
		send_one(LONG_LEN, 3, DEFAULT);
		want_several(b->recv, DAT_TIMEOUT_INFINITE, 3, 0, 2);
		/* Two are there, and two more than that will not come. */
		want_too_few(4, 3);
		pair_close(&pair);
	}
}

/* A fenced request begins when what was read before it is there. */
static void
fence__waits_for_reads(void **state)
{
	DAT_LMR_TRIPLET iov;

	scene_open(DEFAULT, DEFAULT, false);
	fill_bytes(b->buffer, LONG_LEN, 9);
	iov = segment(b, 0, LONG_LEN);
	iov.virtual_address += LONG_LEN / 2;
	iov.segment_length = SHORT;
	ok(dat_ep_post_recv(b->ep, 1, &iov, cookie(1), DEFAULT));
	ok(mix_post_with(READ, LONG_LEN / 2, 1, DEFAULT));
	iov = segment(a, LONG_LEN / 2 - SHORT, SHORT);
	ok(dat_ep_post_send(a->ep, 1, &iov, cookie(2), FENCE));
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, LONG_LEN / 2);
	want_dto(a, a->request, 2, DAT_DTO_SUCCESS, SHORT);
	assert_memory_equal(b->buffer + LONG_LEN / 2, b->buffer + LONG_LEN / 2 - SHORT, SHORT);
}

const struct CMUnitTest tests[] = {
	rig_test(solicited__alone_wakes),
	rig_test(solicited__only_where_it_was_asked_for),
	rig_test(solicited__nobody_is_woken_for_ever),
	rig_test(solicited__a_failure_wakes),
	rig_test(solicited__a_flush_wakes),
	rig_test(unsignalled__requests_wake_nobody),
	rig_test(unsignalled__receives_wake_nobody),
	rig_test(unsignalled__shared_receives_wake),
	rig_test(unsignalled__a_failure_wakes),
	rig_test(suppressed__there_is_no_completion),
	rig_test(post__judges_its_flags),
	rig_test(threshold__counts_completions),
	rig_test(fence__waits_for_reads),
	tests_end,
};
