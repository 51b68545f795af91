/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion flags of single posts, and whom the completions wake. */

#include "rig.h"

#define DEFAULT   DAT_COMPLETION_DEFAULT_FLAG
#define SUPPRESS  DAT_COMPLETION_SUPPRESS_FLAG
#define SOLICITED DAT_COMPLETION_SOLICITED_WAIT_FLAG
#define UNSIGNAL  DAT_COMPLETION_UNSIGNALLED_FLAG
#define FENCE     DAT_COMPLETION_BARRIER_FENCE_FLAG
#define THRESHOLD DAT_COMPLETION_EVD_THRESHOLD_FLAG

#define SHORT 64

/** The verbs of a send queue. */
enum verb {
	SEND,
	WRITE,
	READ,
	BIND,
	VERBS
};

/** A connected pair whose endpoints have flags of their choice. */
struct scene {
	struct pair pair;
	DAT_RMR_HANDLE rmr; /**< of a */
};

static void
use_ep(struct end *end, unsigned int recv_flags, unsigned int request_flags)
{
	const DAT_EP_ATTR attr = {
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)recv_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)request_flags,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};

	ok(dat_ep_free(end->ep));
	if (end->srq != DAT_HANDLE_NULL)
		end->ep = srq_ep(end, &attr);
	else
		ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, &attr,
				&end->ep));
}

static void
scene_open(struct scene *s, unsigned int recv_of_b, unsigned int request_of_a, bool on_srq)
{
	struct end *b = &s->pair.b;

	pair_open(&s->pair, NULL, NULL);
	if (on_srq)
		b->srq = make_srq(b, 16, 1);
	use_ep(b, recv_of_b, DEFAULT);
	use_ep(&s->pair.a, DEFAULT, request_of_a);
	ok(dat_rmr_create(s->pair.a.pz, &s->rmr));
	pair_connect(&s->pair);
}

static void
scene_close(struct scene *s)
{
	pair_close(&s->pair);
}

static DAT_RETURN
post(struct scene *s, enum verb verb, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	const DAT_COMPLETION_FLAGS f = (DAT_COMPLETION_FLAGS)flags;
	struct end *a = &s->pair.a, *b = &s->pair.b;
	DAT_LMR_TRIPLET iov = segment(a, 0, length);
	const DAT_RMR_TRIPLET there = {
		.rmr_context = b->key,
		.target_address = (uintptr_t)b->buffer,
		.segment_length = length,
	};
	DAT_RMR_CONTEXT context;

	switch (verb) {
	case SEND:
		return dat_ep_post_send(a->ep, 1, &iov, cookie(value), f);
	case WRITE:
		return dat_ep_post_rdma_write(a->ep, 1, &iov, cookie(value), &there, f);
	case READ:
		return dat_ep_post_rdma_read(a->ep, 1, &iov, cookie(value), &there, f);
	default:
		return dat_rmr_bind(s->rmr, &iov, DAT_MEM_PRIV_REMOTE_READ_FLAG, a->ep,
				cookie(value), f, &context);
	}
}

static DAT_RETURN
receive(struct scene *s, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	struct end *b = &s->pair.b;
	DAT_LMR_TRIPLET iov = segment(b, 0, length);

	if (b->srq != DAT_HANDLE_NULL)
		return dat_srq_post_recv(b->srq, 1, &iov, cookie(value));
	return dat_ep_post_recv(b->ep, 1, &iov, cookie(value), (DAT_COMPLETION_FLAGS)flags);
}

/* Receives 0 to @p n - 1, which say nothing of their own. */
static void
receive_many(struct scene *s, uint64_t n, DAT_VLEN length)
{
	for (uint64_t i = 0; i < n; i++)
		ok(receive(s, length, i, DEFAULT));
}

static void
send_one(struct scene *s, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	ok(post(s, SEND, length, value, flags));
}

static uint64_t
cookie_of(const DAT_EVENT *event)
{
	if (event->event_number == DAT_RMR_BIND_COMPLETION_EVENT)
		return event->event_data.rmr_completion_event_data.user_cookie.as_64;
	assert_int_equal(event->event_number, DAT_DTO_COMPLETION_EVENT);
	return event->event_data.dto_completion_event_data.user_cookie.as_64;
}

/*
 * Nothing moves but inside this wait, so nothing is there when it begins. It gets the oldest event and learns how many
 * are behind it, which tells when it woke: one that comes is followed by a long one, which takes many polls.
 */
static void
want_woken_within(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, uint64_t value, DAT_COUNT behind)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;

	ok(dat_evd_wait(evd, timeout, 1, &event, &more));
	assert_int_equal(cookie_of(&event), value);
	assert_int_equal(more, behind);
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
		struct scene s;

		scene_open(&s, SOLICITED, DEFAULT, on_srq);
		receive_many(&s, 3, LONG_LEN);
		send_one(&s, SHORT, 0, DEFAULT);
		send_one(&s, LONG_LEN, 1, FENCE);
		send_one(&s, LONG_LEN, 2, SOLICITED);
		want_woken(s.pair.b.recv, 0, 2);
		/* What is behind it is had without sleeping: a wait looks before it sleeps. */
		want_woken(s.pair.b.recv, 1, 1);
		want_dto_now(&s.pair.b, s.pair.b.recv, 2, DAT_DTO_SUCCESS);
		scene_close(&s);
	}
}

/* The same flag on requests of an endpoint for which it was not made changes nothing. */
static void
solicited__only_where_it_was_asked_for(void **state)
{
	struct scene s;

	scene_open(&s, DEFAULT, SOLICITED, false);
	receive_many(&s, 2, LONG_LEN);
	send_one(&s, SHORT, 0, DEFAULT);
	send_one(&s, LONG_LEN, 1, SOLICITED);
	want_woken(s.pair.b.recv, 0, 0);
	want_woken(s.pair.b.recv, 1, 0);
	scene_close(&s);
}

/* When its time is over a waiter gets what is there. A poll gets it anyway. */
static void
solicited__nobody_is_woken_for_ever(void **state)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SOLICITED, DEFAULT, false);
	receive_many(&s, 2, SHORT);
	want_type(dat_evd_wait(s.pair.b.recv, QUIET_US, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	assert_int_equal(more, 0);
	send_one(&s, SHORT, 0, DEFAULT);
	send_one(&s, SHORT, 1, DEFAULT);
	want_woken_within(s.pair.b.recv, QUIET_US, 0, 1);
	want_woken(s.pair.b.recv, 1, 0);
	scene_close(&s);
}

/* A receive that fails, or is flushed, wakes whatever the sender said. */
static void
solicited__a_failure_wakes(void **state)
{
	struct scene s;

	scene_open(&s, SOLICITED, DEFAULT, false);
	for (uint64_t i = 0; i < 3; i++)
		ok(receive(&s, i == 1 ? SHORT - 1 : LONG_LEN, i, DEFAULT));
	send_one(&s, SHORT, 0, DEFAULT);
	send_one(&s, SHORT, 1, DEFAULT);
	want_woken(s.pair.b.recv, 0, 2);
	want_dto_now(&s.pair.b, s.pair.b.recv, 1, DAT_DTO_ERR_LOCAL_LENGTH);
	want_dto_now(&s.pair.b, s.pair.b.recv, 2, DAT_DTO_ERR_FLUSHED);
	scene_close(&s);
}

static void
solicited__a_flush_wakes(void **state)
{
	struct scene s;

	scene_open(&s, SOLICITED, DEFAULT, false);
	ok(receive(&s, SHORT, 7, DEFAULT));
	ok(dat_ep_disconnect(s.pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_woken(s.pair.b.recv, 7, 0);
	scene_close(&s);
}

/* Each verb: the unsignalled completion is there when the signalled one behind it wakes. */
static void
unsignalled__requests_wake_nobody(void **state)
{
	for (enum verb verb = SEND; verb < VERBS; verb++) {
		struct scene s;

		print_message("verb %u\n", verb);
		scene_open(&s, DEFAULT, UNSIGNAL, false);
		receive_many(&s, 2, LONG_LEN);
		ok(post(&s, verb, SHORT, 10, UNSIGNAL));
		ok(post(&s, WRITE, LONG_LEN, 11, UNSIGNAL | FENCE));
		ok(post(&s, WRITE, LONG_LEN, 12, DEFAULT));
		want_woken(s.pair.a.request, 10, 2);
		want_dto_now(&s.pair.a, s.pair.a.request, 11, DAT_DTO_SUCCESS);
		want_dto_now(&s.pair.a, s.pair.a.request, 12, DAT_DTO_SUCCESS);
		/* One that is signalled wakes on its own. */
		ok(post(&s, verb, SHORT, 13, DEFAULT));
		ok(post(&s, WRITE, LONG_LEN, 14, DEFAULT));
		want_woken(s.pair.a.request, 13, 0);
		want_woken(s.pair.a.request, 14, 0);
		scene_close(&s);
	}
}

static void
unsignalled__receives_wake_nobody(void **state)
{
	struct scene s;

	scene_open(&s, UNSIGNAL, DEFAULT, false);
	ok(receive(&s, SHORT, 0, UNSIGNAL));
	ok(receive(&s, LONG_LEN, 1, UNSIGNAL));
	ok(receive(&s, LONG_LEN, 2, DEFAULT));
	send_one(&s, SHORT, 0, SOLICITED);
	send_one(&s, LONG_LEN, 1, SOLICITED);
	send_one(&s, LONG_LEN, 2, DEFAULT);
	want_woken(s.pair.b.recv, 0, 2);
	want_dto_now(&s.pair.b, s.pair.b.recv, 1, DAT_DTO_SUCCESS);
	want_dto_now(&s.pair.b, s.pair.b.recv, 2, DAT_DTO_SUCCESS);
	scene_close(&s);
}

/* Buffers of a shared queue have no flags: they all wake. */
static void
unsignalled__shared_receives_wake(void **state)
{
	struct scene s;

	scene_open(&s, UNSIGNAL, DEFAULT, true);
	receive_many(&s, 2, LONG_LEN);
	send_one(&s, SHORT, 0, DEFAULT);
	send_one(&s, LONG_LEN, 1, DEFAULT);
	want_woken(s.pair.b.recv, 0, 0);
	want_woken(s.pair.b.recv, 1, 0);
	scene_close(&s);
}

/* A failure wakes, unsignalled or suppressed. */
static void
unsignalled__a_failure_wakes(void **state)
{
	static const unsigned int flags[] = { UNSIGNAL, SUPPRESS, SUPPRESS | UNSIGNAL };

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct scene s;

		scene_open(&s, DEFAULT, UNSIGNAL, false);
		ok(receive(&s, SHORT, 1, DEFAULT));
		send_one(&s, SHORT + 1, 2, flags[i]);
		want_woken(s.pair.a.request, 2, 0);
		scene_close(&s);
	}
}

/* Suppressed successes are nowhere to be found, whatever else was asked for. */
static void
suppressed__there_is_no_completion(void **state)
{
	for (enum verb verb = SEND; verb < VERBS; verb++) {
		struct scene s;

		scene_open(&s, DEFAULT, UNSIGNAL, false);
		receive_many(&s, 2, LONG_LEN);
		ok(post(&s, verb, SHORT, 1, SUPPRESS));
		ok(post(&s, verb, SHORT, 2, SUPPRESS | UNSIGNAL | FENCE));
		ok(post(&s, WRITE, SHORT, 3, DEFAULT));
		want_woken(s.pair.a.request, 3, 0);
		want_silence(s.pair.a.request);
		scene_close(&s);
	}
}

/* Which flags a post may have, by the flags of its endpoint; nothing is posted with others. */
static void
post__judges_its_flags(void **state)
{
	static const unsigned int modes[] = { DEFAULT, THRESHOLD, UNSIGNAL };

	for (unsigned int m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		unsigned int quiet = modes[m] == UNSIGNAL ? UNSIGNAL : 0;
		struct scene s;

		scene_open(&s, modes[m], modes[m], false);
		for (unsigned int flags = 0; flags < 0x80; flags++) {
			bool dto = (flags & ~(SUPPRESS | SOLICITED | FENCE | quiet)) == 0;
			bool bind = (flags & ~(SUPPRESS | FENCE | quiet)) == 0;

			print_message("endpoint 0x%x, post 0x%x\n", modes[m], flags);
			if (dto)
				continue;
			want_error(post(&s, SEND, SHORT, 1, flags), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG5);
			want_error(post(&s, WRITE, SHORT, 1, flags), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG6);
			want_error(post(&s, READ, SHORT, 1, flags), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG6);
			assert_false(bind);
			want_error(post(&s, BIND, SHORT, 1, flags), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG6);
			want_error(receive(&s, SHORT, 1, flags), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG5);
		}
		/* There is nobody to be woken at the other end of a bind. */
		want_error(post(&s, BIND, SHORT, 1, SOLICITED), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG6);
		want_error(receive(&s, SHORT, 1, SUPPRESS), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG5);
		want_error(receive(&s, SHORT, 1, SOLICITED), DAT_INVALID_PARAMETER,
				DAT_INVALID_ARG5);
		want_error(receive(&s, SHORT, 1, FENCE), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
		want_silence(s.pair.a.request);
		ok(receive(&s, SHORT, 1, quiet));
		send_one(&s, SHORT, 1, quiet);
		poll_until(&s.pair, s.pair.a.request, DAT_DTO_COMPLETION_EVENT);
		scene_close(&s);
	}
}

/* The threshold says how many it takes, and nothing else does. */
static void
threshold__counts_completions(void **state)
{
	static const unsigned int modes[] = { DEFAULT, THRESHOLD };

	for (unsigned int m = 0; m < 2; m++) {
		DAT_COUNT more = -1;
		DAT_EVENT event;
		struct scene s;

		scene_open(&s, modes[m], modes[m], false);
		receive_many(&s, 4, LONG_LEN);
		send_one(&s, SHORT, 0, SOLICITED);
		send_one(&s, LONG_LEN, 1, DEFAULT);
		send_one(&s, LONG_LEN, 2, DEFAULT);
		send_one(&s, LONG_LEN, 3, DEFAULT);
		ok(dat_evd_wait(s.pair.b.recv, DAT_TIMEOUT_INFINITE, 3, &event, &more));
		assert_int_equal(cookie_of(&event), 0);
		assert_int_equal(more, 2);
		/* Two are there, and two more than that will not come. */
		want_type(dat_evd_wait(s.pair.b.recv, QUIET_US, 4, &event, &more),
				DAT_TIMEOUT_EXPIRED);
		assert_int_equal(more, 3);
		scene_close(&s);
	}
}

/* A fenced request begins when what was read before it is there. */
static void
fence__waits_for_reads(void **state)
{
	struct scene s;
	struct end *a = &s.pair.a, *b = &s.pair.b;
	DAT_LMR_TRIPLET iov;

	scene_open(&s, DEFAULT, DEFAULT, false);
	fill_bytes(b->buffer, LONG_LEN, 9);
	iov = segment(b, 0, LONG_LEN);
	iov.virtual_address += LONG_LEN / 2;
	iov.segment_length = SHORT;
	ok(dat_ep_post_recv(b->ep, 1, &iov, cookie(1), DEFAULT));
	ok(post(&s, READ, LONG_LEN / 2, 1, DEFAULT));
	iov = segment(a, LONG_LEN / 2 - SHORT, SHORT);
	ok(dat_ep_post_send(a->ep, 1, &iov, cookie(2), FENCE));
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, LONG_LEN / 2);
	want_dto(a, a->request, 2, DAT_DTO_SUCCESS, SHORT);
	assert_memory_equal(b->buffer + LONG_LEN / 2, b->buffer + LONG_LEN / 2 - SHORT, SHORT);
	scene_close(&s);
}

int
main(void)
{
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
