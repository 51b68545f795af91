/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_rmr_bind: a request of the endpoint that opens a part of a local region to peers, or closes it. */

#include "contract.h"

#define READ  DAT_MEM_PRIV_REMOTE_READ_FLAG
#define WRITE DAT_MEM_PRIV_REMOTE_WRITE_FLAG

/* A connected pair, and a region of a's that is not bound. */
struct scene {
	struct pair pair;
	struct end *a;
	DAT_RMR_HANDLE rmr;
	DAT_RMR_CONTEXT context; /**< of the last bind that was posted */
};

static void
scene_open(struct scene *s)
{
	s->a = &s->pair.a;
	pair_up(&s->pair);
	ok(dat_rmr_create(s->a->pz, &s->rmr));
	s->context = 0;
}

static void
scene_close(struct scene *s)
{
	pair_close(&s->pair);
}

static DAT_RETURN
bind_with(struct scene *s, DAT_LMR_TRIPLET triplet, unsigned int priv, uint64_t value,
		unsigned int flags)
{
	return dat_rmr_bind(s->rmr, &triplet, (DAT_MEM_PRIV_FLAGS)priv, s->a->ep, cookie(value),
			(DAT_COMPLETION_FLAGS)flags, &s->context);
}

static DAT_RETURN
bind_to(struct scene *s, DAT_LMR_TRIPLET triplet, unsigned int priv, uint64_t value)
{
	return bind_with(s, triplet, priv, value, DAT_COMPLETION_DEFAULT_FLAG);
}

static void
want_bind(const struct scene *s, uint64_t value, DAT_RMR_BIND_COMPLETION_STATUS status)
{
	DAT_EVENT event = want_event(s->a->request, DAT_RMR_BIND_COMPLETION_EVENT);
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data =
			&event.event_data.rmr_completion_event_data;

	assert_ptr_equal(data->rmr_handle, s->rmr);
	assert_int_equal(data->user_cookie.as_64, value);
	assert_int_equal(data->status, status);
}

/* The context that a query tells; 0: unbound. */
static DAT_RMR_CONTEXT
context_now(const struct scene *s)
{
	DAT_RMR_PARAM param;

	memset(&param, POISON, sizeof(param));
	ok(dat_rmr_query(s->rmr, DAT_RMR_FIELD_ALL, &param));
	return param.rmr_context;
}

static void
bind__arguments_in_their_order(void **state)
{
	const DAT_MEM_PRIV_FLAGS bad_priv = (DAT_MEM_PRIV_FLAGS)0x40;
	const DAT_COMPLETION_FLAGS bad_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
	const DAT_RMR_COOKIE none = { .as_64 = 0 };
	DAT_RMR_CONTEXT context = 77;
	DAT_LMR_TRIPLET triplet;
	struct scene s;

	scene_open(&s);
	triplet = segment(s.a, 0, 64);
	want_error(dat_rmr_bind(DAT_HANDLE_NULL, NULL, bad_priv, DAT_HANDLE_NULL, none, bad_flags,
				   &context),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	want_error(dat_rmr_bind(s.a->lmr, NULL, bad_priv, DAT_HANDLE_NULL, none, bad_flags,
				   &context),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	want_error(dat_rmr_bind(s.rmr, NULL, bad_priv, DAT_HANDLE_NULL, none, bad_flags, &context),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_rmr_bind(s.rmr, &triplet, bad_priv, DAT_HANDLE_NULL, none, bad_flags,
				   &context),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(dat_rmr_bind(s.rmr, &triplet, READ, DAT_HANDLE_NULL, none, bad_flags, &context),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want_error(dat_rmr_bind(s.rmr, &triplet, READ, s.pair.b.ep, none, bad_flags, &context),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	/* Unsignalled wants an endpoint made for it; there is nobody to be solicited. */
	for (unsigned int bit = 0; bit < 32; bit++) {
		DAT_COMPLETION_FLAGS flag = (DAT_COMPLETION_FLAGS)(1u << bit);

		if (flag == DAT_COMPLETION_SUPPRESS_FLAG ||
				flag == DAT_COMPLETION_BARRIER_FENCE_FLAG)
			continue;
		want_error(dat_rmr_bind(s.rmr, &triplet, READ, s.a->ep, none, flag, &context),
				DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	}
	assert_int_equal(context, 77);
	want_none(s.a->request);
	assert_int_equal(context_now(&s), 0);
	/* Who does not want the context now can ask for it later. */
	ok(dat_rmr_bind(s.rmr, &triplet, READ, s.a->ep, none, 0, NULL));
	want_bind(&s, 0, DAT_RMR_BIND_SUCCESS);
	assert_int_not_equal(context_now(&s), 0);
	scene_close(&s);
}

/* The segment inside its region, then privileges, then zones; nothing is posted when one is wrong. */
static void
bind__judges_the_memory(void **state)
{
	DAT_LMR_CONTEXT plain, writable, foreign, dead;
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;
	struct scene s;

	scene_open(&s);
	ok(dat_pz_create(s.a->ia, &pz));
	dead = register_as(s.a, s.a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	ok(dat_lmr_free(lmr));
	plain = register_as(s.a, s.a->pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &lmr);
	writable = register_as(s.a, s.a->pz, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr);
	foreign = register_as(s.a, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	{
		const struct {
			DAT_LMR_CONTEXT key;
			size_t offset;
			DAT_VLEN length;
			unsigned int priv;
			DAT_RETURN want;
		} rule[] = {
			{ dead, 0, 64, READ, DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ 0, 0, 64, READ, DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ s.a->key, (size_t)-1, 64, READ,
					DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ s.a->key, 0, BUFFER_LEN + 1, READ,
					DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ s.a->key, BUFFER_LEN, 1, READ, DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ s.a->key, 1, UINT64_MAX, READ, DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ foreign, 0, BUFFER_LEN + 1, READ,
					DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ plain, 0, BUFFER_LEN + 1, WRITE,
					DAT_INVALID_PARAMETER | DAT_INVALID_ARG2 },
			{ plain, 0, 64, WRITE, DAT_PRIVILEGES_VIOLATION },
			{ plain, 0, 64, READ | WRITE, DAT_PRIVILEGES_VIOLATION },
			{ plain, 0, 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_PRIVILEGES_VIOLATION },
			{ writable, 0, 64, READ, DAT_PRIVILEGES_VIOLATION },
			{ foreign, 0, 64, READ, DAT_PROTECTION_VIOLATION },
		};

		for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
			DAT_LMR_TRIPLET triplet = segment(s.a, rule[i].offset, rule[i].length);

			triplet.lmr_context = rule[i].key;
			want(bind_to(&s, triplet, rule[i].priv, 1), DAT_CLASS_ERROR | rule[i].want);
		}
	}
	assert_int_equal(s.context, 0);
	want_none(s.a->request);
	/* What each of them does grant. */
	for (unsigned int i = 0; i < 2; i++) {
		DAT_LMR_TRIPLET triplet = segment(s.a, 0, BUFFER_LEN);

		triplet.lmr_context = i == 0 ? plain : writable;
		ok(bind_to(&s, triplet, i == 0 ? READ : WRITE, i));
		want_bind(&s, i, DAT_RMR_BIND_SUCCESS);
	}
	scene_close(&s);
}

/* Window, region and endpoint must be of one zone, to unbind, too. */
static void
bind__wants_one_zone(void **state)
{
	DAT_PZ_HANDLE pz;
	struct scene s;

	scene_open(&s);
	ok(dat_rmr_free(s.rmr));
	ok(dat_pz_create(s.a->ia, &pz));
	ok(dat_rmr_create(pz, &s.rmr));
	want_error(bind_to(&s, segment(s.a, 0, 64), READ, 1), DAT_PROTECTION_VIOLATION, 0);
	want_error(bind_to(&s, segment(s.a, 0, 0), READ, 1), DAT_PROTECTION_VIOLATION, 0);
	want_none(s.a->request);
	scene_close(&s);
}

/* Allowed connected, and disconnected, where it is flushed and changes nothing. */
static void
bind__by_the_state_of_the_endpoint(void **state)
{
	struct scene s;

	s.a = &s.pair.a;
	pair_open(&s.pair, NULL, NULL);
	ok(dat_rmr_create(s.a->pz, &s.rmr));
	want_error(bind_to(&s, segment(s.a, 0, 64), READ, 1), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_UNCONNECTED);
	ok(end_connect(s.a, &s.pair.b, CONN_QUAL));
	want_error(bind_to(&s, segment(s.a, 0, 64), READ, 1), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_ACTCONNPENDING);
	/* Bad memory is told before a bad state. */
	want_error(bind_to(&s, segment(s.a, 1, BUFFER_LEN), READ, 1), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	ok(dat_cr_accept(end_request(&s.pair.b), s.pair.b.ep, 0, NULL));
	want_event(s.a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(s.pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(bind_to(&s, segment(s.a, 0, 64), READ, 1));
	want_bind(&s, 1, DAT_RMR_BIND_SUCCESS);
	ok(dat_ep_disconnect(s.a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	if (end_state(s.a) == DAT_EP_STATE_DISCONNECT_PENDING)
		want_error(bind_to(&s, segment(s.a, 0, 64), READ, 1), DAT_INVALID_STATE,
				DAT_INVALID_STATE_EP_DISCPENDING);
	want_event(s.a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	{
		DAT_RMR_CONTEXT bound = context_now(&s);

		ok(bind_to(&s, segment(s.a, 64, 64), READ, 2));
		want_bind(&s, 2, DAT_DTO_ERR_FLUSHED);
		assert_int_equal(context_now(&s), bound);
		/* To flush an unbind is not to unbind. */
		ok(bind_to(&s, segment(s.a, 0, 0), READ, 3));
		want_bind(&s, 3, DAT_RMR_BIND_FAILURE);
		assert_int_equal(context_now(&s), bound);
	}
	ok(dat_ep_reset(s.a->ep));
	want_error(bind_to(&s, segment(s.a, 0, 64), READ, 1), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_UNCONNECTED);
	scene_close(&s);
}

/* Each bind has a context of its own, none of which was seen before. */
static void
bind__makes_a_new_context(void **state)
{
	DAT_RMR_CONTEXT seen[200];
	struct scene s;

	scene_open(&s);
	for (unsigned int i = 0; i < 200; i++) {
		ok(bind_to(&s, segment(s.a, i, 64), READ | WRITE, i));
		want_bind(&s, i, DAT_RMR_BIND_SUCCESS);
		assert_int_equal(context_now(&s), s.context);
		assert_int_not_equal(s.context, s.a->key);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(seen[k], s.context);
		seen[i] = s.context;
	}
	scene_close(&s);
}

/* A suppressed success is silent, a failure never is. */
static void
bind__suppressed(void **state)
{
	struct scene s;

	scene_open(&s);
	ok(bind_with(&s, segment(s.a, 0, 64), READ, 1, DAT_COMPLETION_SUPPRESS_FLAG));
	want_silence(s.a->request);
	assert_int_equal(context_now(&s), s.context);
	part(&s.pair);
	ok(bind_with(&s, segment(s.a, 0, 64), READ, 2, DAT_COMPLETION_SUPPRESS_FLAG));
	want_bind(&s, 2, DAT_DTO_ERR_FLUSHED);
	scene_close(&s);
}

static void
want_send(const struct scene *s, uint64_t value)
{
	want_dto(s->a, s->a->request, value, DAT_DTO_SUCCESS, 64);
}

/* Among messages it keeps its place, with a fence and without: both ends see what was posted, in its order. */
static void
bind__is_a_request_among_others(void **state)
{
	static const unsigned int flags[] = { 0, DAT_COMPLETION_BARRIER_FENCE_FLAG };
	struct scene s;

	scene_open(&s);
	for (uint64_t i = 0; i < 40; i++)
		ok(post_recv(&s.pair.b, i * 64, 64, i));
	for (unsigned int f = 0; f < 2; f++) {
		for (uint64_t i = 0; i < 20; i++) {
			ok(post_send(s.a, 0, 64, 2 * i));
			ok(bind_with(&s, segment(s.a, i, 64), READ, 2 * i + 1, flags[f]));
		}
		for (uint64_t i = 0; i < 20; i++) {
			want_send(&s, 2 * i);
			want_bind(&s, 2 * i + 1, DAT_RMR_BIND_SUCCESS);
		}
		assert_int_equal(context_now(&s), s.context);
		for (uint64_t i = 0; i < 20; i++)
			want_dto(&s.pair.b, s.pair.b.recv, 20 * f + i, DAT_DTO_SUCCESS, 64);
	}
	want_none(s.a->request);
	scene_close(&s);
}

/* A message that follows a bind may carry its context: it is good before the message can arrive. */
static void
bind__precedes_the_message_that_tells_of_it(void **state)
{
	struct scene s;

	scene_open(&s);
	for (uint64_t i = 0; i < 50; i++) {
		DAT_RMR_CONTEXT told;

		ok(post_recv(&s.pair.b, 0, 64, i));
		ok(bind_with(&s, segment(s.a, i, 64), READ, i, DAT_COMPLETION_SUPPRESS_FLAG));
		memcpy(s.a->buffer, &s.context, sizeof(s.context));
		ok(post_send(s.a, 0, 64, i));
		want_dto(&s.pair.b, s.pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		memcpy(&told, s.pair.b.buffer, sizeof(told));
		assert_int_equal(told, context_now(&s));
		want_send(&s, i);
	}
	scene_close(&s);
}

/* It counts against the requests that were granted. */
static void
bind__takes_a_place_in_the_queue(void **state)
{
	const struct end_options options = { .depth = 4 };
	struct scene s;

	s.a = &s.pair.a;
	pair_open(&s.pair, &options, NULL);
	pair_connect(&s.pair);
	ok(dat_rmr_create(s.a->pz, &s.rmr));
	for (uint64_t i = 0; i < 4; i++)
		ok(bind_to(&s, segment(s.a, i, 64), READ, i));
	want_type(bind_to(&s, segment(s.a, 4, 64), READ, 4), DAT_INSUFFICIENT_RESOURCES);
	want_type(post_send(s.a, 0, 64, 4), DAT_INSUFFICIENT_RESOURCES);
	want_bind(&s, 0, DAT_RMR_BIND_SUCCESS);
	ok(bind_to(&s, segment(s.a, 4, 64), READ, 4));
	for (uint64_t i = 1; i < 5; i++)
		want_bind(&s, i, DAT_RMR_BIND_SUCCESS);
	scene_close(&s);
}

/* A region cannot be freed while a window lies over it; unbound, bound elsewhere, or freed it lets go. */
static void
bind__holds_the_local_region(void **state)
{
	DAT_LMR_CONTEXT other;
	DAT_LMR_TRIPLET triplet;
	DAT_LMR_HANDLE lmr;
	struct scene s;

	scene_open(&s);
	other = register_as(s.a, s.a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	triplet = segment(s.a, 0, 64);
	triplet.lmr_context = other;
	ok(bind_to(&s, triplet, READ, 1));
	want_bind(&s, 1, DAT_RMR_BIND_SUCCESS);
	want_error(dat_lmr_free(lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
	/* Refused means unharmed. */
	ok(bind_to(&s, triplet, READ, 2));
	want_bind(&s, 2, DAT_RMR_BIND_SUCCESS);
	ok(bind_to(&s, segment(s.a, 0, 64), READ, 3));
	want_bind(&s, 3, DAT_RMR_BIND_SUCCESS);
	ok(dat_lmr_free(lmr));
	want_error(dat_lmr_free(s.a->lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
	ok(bind_to(&s, segment(s.a, 0, 0), READ, 4));
	want_bind(&s, 4, DAT_RMR_BIND_SUCCESS);
	ok(dat_lmr_free(s.a->lmr));
	scene_close(&s);
}

/* The binding is the window's, not the connection's: it outlives the endpoint, and any endpoint of the zone ends it. */
static void
bind__outlives_the_connection(void **state)
{
	DAT_RMR_CONTEXT bound;
	struct scene s;

	scene_open(&s);
	ok(bind_to(&s, segment(s.a, 0, 64), READ, 1));
	want_bind(&s, 1, DAT_RMR_BIND_SUCCESS);
	bound = s.context;
	part(&s.pair);
	ok(dat_ep_free(s.a->ep));
	ok(dat_ep_free(s.pair.b.ep));
	assert_int_equal(context_now(&s), bound);
	ok(dat_ep_create(s.a->ia, s.a->pz, s.a->recv, s.a->request, s.a->connect, NULL, &s.a->ep));
	ok(dat_ep_create(s.pair.b.ia, s.pair.b.pz, s.pair.b.recv, s.pair.b.request,
			s.pair.b.connect, NULL, &s.pair.b.ep));
	pair_connect(&s.pair);
	ok(bind_to(&s, segment(s.a, 0, 0), READ, 2));
	want_bind(&s, 2, DAT_RMR_BIND_SUCCESS);
	assert_int_equal(context_now(&s), 0);
	scene_close(&s);
}

/* The region goes after the post: the bind fails, in its turn, and the connection breaks with it. */
static void
bind__fails_when_its_region_is_gone(void **state)
{
	struct scene s;
	DAT_LMR_TRIPLET triplet;
	DAT_LMR_HANDLE lmr;

	scene_open(&s);
	ok(post_recv(&s.pair.b, 0, 64, 0));
	triplet = segment(s.a, 0, 64);
	triplet.lmr_context = register_as(s.a, s.a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	ok(post_send(s.a, 0, 64, 1));
	ok(bind_with(&s, triplet, READ, 2, DAT_COMPLETION_SUPPRESS_FLAG));
	ok(post_send(s.a, 0, 64, 3));
	ok(dat_lmr_free(lmr));
	want_send(&s, 1);
	want_bind(&s, 2, DAT_RMR_OPERATION_FAILED);
	want_dto(s.a, s.a->request, 3, DAT_DTO_ERR_FLUSHED, 0);
	want_event(s.a->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(s.a), DAT_EP_STATE_DISCONNECTED);
	assert_int_equal(context_now(&s), 0);
	scene_close(&s);
}

/* The window goes: the same. The event still names it. */
static void
bind__fails_when_its_window_is_gone(void **state)
{
	struct scene s;

	scene_open(&s);
	ok(bind_to(&s, segment(s.a, 0, 64), READ, 1));
	ok(dat_rmr_free(s.rmr));
	want_bind(&s, 1, DAT_RMR_OPERATION_FAILED);
	want_event(s.a->connect, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_lmr_free(s.a->lmr));
	scene_close(&s);
}

/* Nobody listens to the requests: the bind is done all the same. */
static void
bind__without_a_dispatcher(void **state)
{
	struct scene s;
	DAT_EVENT event;

	s.a = &s.pair.a;
	pair_open(&s.pair, NULL, NULL);
	ok(dat_ep_free(s.a->ep));
	ok(dat_ep_create(s.a->ia, s.a->pz, s.a->recv, DAT_HANDLE_NULL, s.a->connect, NULL,
			&s.a->ep));
	pair_connect(&s.pair);
	ok(dat_rmr_create(s.a->pz, &s.rmr));
	ok(bind_to(&s, segment(s.a, 0, 64), READ, 1));
	for (int i = 0; i < 1000 && context_now(&s) == 0; i++)
		want(dat_evd_dequeue(s.a->cr, &event), DAT_QUEUE_EMPTY);
	assert_int_equal(context_now(&s), s.context);
	scene_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(bind__arguments_in_their_order),
		dat_test(bind__judges_the_memory),
		dat_test(bind__wants_one_zone),
		dat_test(bind__by_the_state_of_the_endpoint),
		dat_test(bind__makes_a_new_context),
		dat_test(bind__suppressed),
		dat_test(bind__is_a_request_among_others),
		dat_test(bind__precedes_the_message_that_tells_of_it),
		dat_test(bind__takes_a_place_in_the_queue),
		dat_test(bind__holds_the_local_region),
		dat_test(bind__outlives_the_connection),
		dat_test(bind__fails_when_its_region_is_gone),
		dat_test(bind__fails_when_its_window_is_gone),
		dat_test(bind__without_a_dispatcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
