/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_rmr_bind: a request of the endpoint that opens a part of a local region to peers, or closes it. */

#include "rig.h"

#define READ  DAT_MEM_PRIV_REMOTE_READ_FLAG
#define WRITE DAT_MEM_PRIV_REMOTE_WRITE_FLAG

/* A region of a's that is not bound, and the context of the last bind that was posted. */
static DAT_RMR_HANDLE rmr;
static DAT_RMR_CONTEXT context;

static int
begin_with_window(void **state)
{
	rig_begin_up(state);
	rmr = make_rmr(a);
	context = 0;
	return 0;
}

static int
begin_unconnected(void **state)
{
	rig_begin_pair(state);
	rmr = make_rmr(a);
	context = 0;
	return 0;
}

#define bind_test(function, begin) cmocka_unit_test_setup_teardown(function, begin, rig_sweep)

static DAT_RETURN
bind_with(DAT_LMR_TRIPLET triplet, unsigned int priv, uint64_t value, unsigned int flags)
{
	return dat_rmr_bind(rmr, &triplet, (DAT_MEM_PRIV_FLAGS)priv, a->ep, cookie(value),
			(DAT_COMPLETION_FLAGS)flags, &context);
}

static DAT_RETURN
bind_to(DAT_LMR_TRIPLET triplet, unsigned int priv, uint64_t value)
{
	return bind_with(triplet, priv, value, DAT_COMPLETION_DEFAULT_FLAG);
}

static void
want_bind(uint64_t value, DAT_RMR_BIND_COMPLETION_STATUS status)
{
	DAT_EVENT event = want_event(a->request, DAT_RMR_BIND_COMPLETION_EVENT);
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data =
			&event.event_data.rmr_completion_event_data;

	assert_ptr_equal(data->rmr_handle, rmr);
	assert_int_equal(data->user_cookie.as_64, value);
	assert_int_equal(data->status, status);
}

static void
bind_now(DAT_LMR_TRIPLET triplet, unsigned int priv, uint64_t value)
{
	ok(bind_to(triplet, priv, value));
	want_bind(value, DAT_RMR_BIND_SUCCESS);
}

/* The context that is bound now; 0: nothing is. */
static void
want_context(DAT_RMR_CONTEXT wanted)
{
	assert_int_equal(rmr_param(rmr).rmr_context, wanted);
}

static void
bind__arguments_in_their_order(void **state)
{
	const DAT_MEM_PRIV_FLAGS bad_priv = (DAT_MEM_PRIV_FLAGS)0x40;
	const DAT_COMPLETION_FLAGS bad_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
	DAT_LMR_TRIPLET triplet = segment(a, 0, 64);
	DAT_RMR_CONTEXT told = 77;

#define BIND(window, triplet, priv, ep, flags) \
	dat_rmr_bind(window, triplet, priv, ep, cookie(0), flags, &told)
	want_bad_handle(BIND(DAT_HANDLE_NULL, NULL, bad_priv, DAT_HANDLE_NULL, bad_flags), RMR);
	want_bad_handle(BIND(a->lmr, NULL, bad_priv, DAT_HANDLE_NULL, bad_flags), RMR);
	want_bad_arg(BIND(rmr, NULL, bad_priv, DAT_HANDLE_NULL, bad_flags), 2);
	want_bad_arg(BIND(rmr, &triplet, bad_priv, DAT_HANDLE_NULL, bad_flags), 3);
	want_bad_handle(BIND(rmr, &triplet, READ, DAT_HANDLE_NULL, bad_flags), EP);
	want_bad_handle(BIND(rmr, &triplet, READ, b->ep, bad_flags), EP);
	/* Unsignalled wants an endpoint made for it; there is nobody to be solicited. */
	for (unsigned int bit = 0; bit < 32; bit++) {
		DAT_COMPLETION_FLAGS flag = (DAT_COMPLETION_FLAGS)(1u << bit);

		if (flag == DAT_COMPLETION_SUPPRESS_FLAG ||
				flag == DAT_COMPLETION_BARRIER_FENCE_FLAG)
			continue;
		want_bad_arg(BIND(rmr, &triplet, READ, a->ep, flag), 6);
	}
	assert_int_equal(told, 77);
	want_none(a->request);
	want_context(0);
	/* A caller that does not want the context now can ask for it later. */
	ok(dat_rmr_bind(rmr, &triplet, READ, a->ep, cookie(0), 0, NULL));
	want_bind(0, DAT_RMR_BIND_SUCCESS);
	assert_int_not_equal(rmr_param(rmr).rmr_context, 0);
}

#define OUTSIDE (DAT_INVALID_PARAMETER | DAT_INVALID_ARG2)

/* The segment inside its region, then privileges, then zones; nothing is posted when one is wrong. */
static void
bind__judges_the_memory(void **state)
{
	DAT_LMR_CONTEXT plain, writable, foreign, dead;
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;

	pz = make_pz(a);
	dead = register_as(a, a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	ok(dat_lmr_free(lmr));
	plain = register_as(a, a->pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &lmr);
	writable = register_as(a, a->pz, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr);
	foreign = register_as(a, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	{
		const struct {
			DAT_LMR_CONTEXT key;
			size_t offset;
			DAT_VLEN length;
			unsigned int priv;
			DAT_RETURN want;
		} rule[] = {
			{ dead, 0, 64, READ, OUTSIDE },
			{ 0, 0, 64, READ, OUTSIDE },
			{ a->key, (size_t)-1, 64, READ, OUTSIDE },
			{ a->key, 0, BUFFER_LEN + 1, READ, OUTSIDE },
			{ a->key, BUFFER_LEN, 1, READ, OUTSIDE },
			{ a->key, 1, UINT64_MAX, READ, OUTSIDE },
			{ foreign, 0, BUFFER_LEN + 1, READ, OUTSIDE },
			{ plain, 0, BUFFER_LEN + 1, WRITE, OUTSIDE },
			{ plain, 0, 64, WRITE, DAT_PRIVILEGES_VIOLATION },
			{ plain, 0, 64, READ | WRITE, DAT_PRIVILEGES_VIOLATION },
			{ plain, 0, 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_PRIVILEGES_VIOLATION },
			{ writable, 0, 64, READ, DAT_PRIVILEGES_VIOLATION },
			{ foreign, 0, 64, READ, DAT_PROTECTION_VIOLATION },
		};

		for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
			DAT_LMR_TRIPLET there =
					segment_of(a, rule[i].key, rule[i].offset, rule[i].length);

			print_message("row %u\n", i);
			want(bind_to(there, rule[i].priv, 1), DAT_CLASS_ERROR | rule[i].want);
		}
	}
	assert_int_equal(context, 0);
	want_none(a->request);
	/* Each of the two grants what its privileges allow. */
	bind_now(segment_of(a, plain, 0, BUFFER_LEN), READ, 0);
	bind_now(segment_of(a, writable, 0, BUFFER_LEN), WRITE, 1);
}

/* Window, region and endpoint must be of one zone, to unbind, too. */
static void
bind__wants_one_zone(void **state)
{
	DAT_PZ_HANDLE pz;

	ok(dat_rmr_free(rmr));
	pz = make_pz(a);
	ok(dat_rmr_create(pz, &rmr));
	want_error(bind_to(segment(a, 0, 64), READ, 1), DAT_PROTECTION_VIOLATION, 0);
	want_error(bind_to(segment(a, 0, 0), READ, 1), DAT_PROTECTION_VIOLATION, 0);
	want_none(a->request);
}

/* Allowed connected, and disconnected, where it is flushed and changes nothing. */
static void
bind__by_the_state_of_the_endpoint(void **state)
{
	want_bad_state(bind_to(segment(a, 0, 64), READ, 1), EP_UNCONNECTED);
	ok(end_connect(a, b, CONN_QUAL));
	want_bad_state(bind_to(segment(a, 0, 64), READ, 1), EP_ACTCONNPENDING);
	/* Bad memory is told before a bad state. */
	want_bad_arg(bind_to(segment(a, 1, BUFFER_LEN), READ, 1), 2);
	ok(dat_cr_accept(end_request(b), b->ep, 0, NULL));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	bind_now(segment(a, 0, 64), READ, 1);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	if (end_state(a) == DAT_EP_STATE_DISCONNECT_PENDING)
		want_bad_state(bind_to(segment(a, 0, 64), READ, 1), EP_DISCPENDING);
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	{
		DAT_RMR_CONTEXT bound = rmr_param(rmr).rmr_context;

		ok(bind_to(segment(a, 64, 64), READ, 2));
		want_bind(2, DAT_DTO_ERR_FLUSHED);
		want_context(bound);
		/* To flush an unbind is not to unbind. */
		ok(bind_to(segment(a, 0, 0), READ, 3));
		want_bind(3, DAT_RMR_BIND_FAILURE);
		want_context(bound);
	}
	ok(dat_ep_reset(a->ep));
	want_bad_state(bind_to(segment(a, 0, 64), READ, 1), EP_UNCONNECTED);
}

/* Each bind has a context of its own, none of which was seen before. */
static void
bind__makes_a_new_context(void **state)
{
	DAT_RMR_CONTEXT seen[200];

	for (unsigned int i = 0; i < 200; i++) {
		bind_now(segment(a, i, 64), READ | WRITE, i);
		want_context(context);
		assert_int_not_equal(context, a->key);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(seen[k], context);
		seen[i] = context;
	}
}

/* A suppressed success is silent, a failure never is. */
static void
bind__suppressed(void **state)
{
	ok(bind_with(segment(a, 0, 64), READ, 1, DAT_COMPLETION_SUPPRESS_FLAG));
	want_silence(a->request);
	want_context(context);
	part(&pair);
	ok(bind_with(segment(a, 0, 64), READ, 2, DAT_COMPLETION_SUPPRESS_FLAG));
	want_bind(2, DAT_DTO_ERR_FLUSHED);
}

static void
want_send(uint64_t value)
{
	want_dto(a, a->request, value, DAT_DTO_SUCCESS, 64);
}

/* Among messages it keeps its place, with a fence and without: both ends see what was posted, in its order. */
static void
bind__is_a_request_among_others(void **state)
{
	static const unsigned int flags[] = { 0, DAT_COMPLETION_BARRIER_FENCE_FLAG };

	for (uint64_t i = 0; i < 40; i++)
		ok(post_recv(b, i * 64, 64, i));
	for (unsigned int f = 0; f < 2; f++) {
		for (uint64_t i = 0; i < 20; i++) {
			ok(post_send(a, 0, 64, 2 * i));
			ok(bind_with(segment(a, i, 64), READ, 2 * i + 1, flags[f]));
		}
		for (uint64_t i = 0; i < 20; i++) {
			want_send(2 * i);
			want_bind(2 * i + 1, DAT_RMR_BIND_SUCCESS);
		}
		want_context(context);
		for (uint64_t i = 0; i < 20; i++)
			want_dto(b, b->recv, 20 * f + i, DAT_DTO_SUCCESS, 64);
	}
	want_none(a->request);
}

/* A message that follows a bind may carry its context: it is good before the message can arrive. */
static void
bind__precedes_the_message_that_tells_of_it(void **state)
{
	for (uint64_t i = 0; i < 50; i++) {
		DAT_RMR_CONTEXT told;

		ok(post_recv(b, 0, 64, i));
		ok(bind_with(segment(a, i, 64), READ, i, DAT_COMPLETION_SUPPRESS_FLAG));
		memcpy(a->buffer, &context, sizeof(context));
		ok(post_send(a, 0, 64, i));
		want_dto(b, b->recv, i, DAT_DTO_SUCCESS, 64);
		memcpy(&told, b->buffer, sizeof(told));
		assert_int_equal(told, rmr_param(rmr).rmr_context);
		want_send(i);
	}
}

/* It counts against the requests that were granted. */
static void
bind__takes_a_place_in_the_queue(void **state)
{
	pair_open(&pair, &(struct end_options){ .depth = 4 }, NULL);
	pair_connect(&pair);
	rmr = make_rmr(a);
	for (uint64_t i = 0; i < 4; i++)
		ok(bind_to(segment(a, i, 64), READ, i));
	want_type(bind_to(segment(a, 4, 64), READ, 4), DAT_INSUFFICIENT_RESOURCES);
	want_type(post_send(a, 0, 64, 4), DAT_INSUFFICIENT_RESOURCES);
	want_bind(0, DAT_RMR_BIND_SUCCESS);
	ok(bind_to(segment(a, 4, 64), READ, 4));
	for (uint64_t i = 1; i < 5; i++)
		want_bind(i, DAT_RMR_BIND_SUCCESS);
}

/* A region cannot be freed while a window lies over it; unbound, bound elsewhere, or freed it lets go. */
static void
bind__holds_the_local_region(void **state)
{
	DAT_LMR_TRIPLET triplet;
	DAT_LMR_HANDLE lmr;

	triplet = segment_of(a, register_as(a, a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr), 0, 64);
	bind_now(triplet, READ, 1);
	want_bad_state(dat_lmr_free(lmr), LMR_IN_USE);
	/* Refused means unharmed. */
	bind_now(triplet, READ, 2);
	bind_now(segment(a, 0, 64), READ, 3);
	ok(dat_lmr_free(lmr));
	want_bad_state(dat_lmr_free(a->lmr), LMR_IN_USE);
	bind_now(segment(a, 0, 0), READ, 4);
	ok(dat_lmr_free(a->lmr));
}

/* The binding is the window's, not the connection's: it outlives the endpoint, and any endpoint of the zone ends it. */
static void
bind__outlives_the_connection(void **state)
{
	DAT_RMR_CONTEXT bound;

	bind_now(segment(a, 0, 64), READ, 1);
	bound = context;
	part(&pair);
	ok(dat_ep_free(a->ep));
	ok(dat_ep_free(b->ep));
	want_context(bound);
	a->ep = another_ep(a);
	b->ep = another_ep(b);
	pair_connect(&pair);
	bind_now(segment(a, 0, 0), READ, 2);
	assert_int_equal(rmr_param(rmr).rmr_context, 0);
}

/* The region goes after the post: the bind fails, in its turn, and the connection breaks with it. */
static void
bind__fails_when_its_region_is_gone(void **state)
{
	DAT_LMR_TRIPLET triplet;
	DAT_LMR_HANDLE lmr;

	ok(post_recv(b, 0, 64, 0));
	triplet = segment_of(a, register_as(a, a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr), 0, 64);
	ok(post_send(a, 0, 64, 1));
	ok(bind_with(triplet, READ, 2, DAT_COMPLETION_SUPPRESS_FLAG));
	ok(post_send(a, 0, 64, 3));
	ok(dat_lmr_free(lmr));
	want_send(1);
	want_bind(2, DAT_RMR_OPERATION_FAILED);
	want_dto(a, a->request, 3, DAT_DTO_ERR_FLUSHED, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
	assert_int_equal(rmr_param(rmr).rmr_context, 0);
}

/* The window goes: the same. The event still names it. */
static void
bind__fails_when_its_window_is_gone(void **state)
{
	ok(bind_to(segment(a, 0, 64), READ, 1));
	ok(dat_rmr_free(rmr));
	want_bind(1, DAT_RMR_OPERATION_FAILED);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_lmr_free(a->lmr));
}

/* The endpoint has no dispatcher for requests: the bind is done all the same. */
static void
bind__without_a_dispatcher(void **state)
{
	ok(dat_ep_free(a->ep));
	ok(dat_ep_create(a->ia, a->pz, a->recv, DAT_HANDLE_NULL, a->connect, NULL, &a->ep));
	pair_connect(&pair);
	ok(bind_to(segment(a, 0, 64), READ, 1));
	for (int i = 0; i < 1000 && rmr_param(rmr).rmr_context == 0; i++)
		poll_once(a);
	assert_int_equal(rmr_param(rmr).rmr_context, context);
}

const struct CMUnitTest tests[] = {
	bind_test(bind__arguments_in_their_order, begin_with_window),
	bind_test(bind__judges_the_memory, begin_with_window),
	bind_test(bind__wants_one_zone, begin_with_window),
	bind_test(bind__by_the_state_of_the_endpoint, begin_unconnected),
	bind_test(bind__makes_a_new_context, begin_with_window),
	bind_test(bind__suppressed, begin_with_window),
	bind_test(bind__is_a_request_among_others, begin_with_window),
	bind_test(bind__precedes_the_message_that_tells_of_it, begin_with_window),
	rig_test(bind__takes_a_place_in_the_queue),
	bind_test(bind__holds_the_local_region, begin_with_window),
	bind_test(bind__outlives_the_connection, begin_with_window),
	bind_test(bind__fails_when_its_region_is_gone, begin_with_window),
	bind_test(bind__fails_when_its_window_is_gone, begin_with_window),
	bind_test(bind__without_a_dispatcher, begin_unconnected),
	tests_end,
};
