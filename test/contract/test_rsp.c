/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserved service points: one request, for one endpoint that was named in advance. */

#include "rig.h"

#define QUAL 1234

static DAT_RSP_HANDLE
reserve(struct end *end)
{
	DAT_RSP_HANDLE rsp;

	ok(dat_rsp_create(end->ia, QUAL, end->ep, end->cr, &rsp));
	return rsp;
}

/* The request of a at b's service point, and what it says. */
static DAT_CR_HANDLE
take_request(struct pair *pair, DAT_RSP_HANDLE rsp)
{
	DAT_EVENT event;
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;

	ok(end_connect(&pair->a, &pair->b, QUAL));
	event = want_event(pair->b.cr, DAT_CONNECTION_REQUEST_EVENT);
	assert_ptr_equal(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp);
	assert_int_equal(event.event_data.cr_arrival_event_data.conn_qual, QUAL);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	assert_ptr_equal(param.local_ep_handle, pair->b.ep);
	return cr;
}

static void
works(struct pair *pair)
{
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_send(&pair->a, 0, 64, 1));
	want_dto(&pair->a, pair->a.request, 1, DAT_DTO_SUCCESS, 64);
	want_dto(&pair->b, pair->b.recv, 7, DAT_DTO_SUCCESS, 64);
}

static void
create__arguments_in_their_order(void **state)
{
	DAT_RSP_HANDLE rsp = &rsp;
	DAT_EP_HANDLE dead;
	struct pair pair;
	struct end *b = &pair.b;

	pair_open(&pair, NULL, NULL);
	ok(dat_ep_create(b->ia, b->pz, b->recv, b->request, b->connect, NULL, &dead));
	ok(dat_ep_free(dead));
	want_type(dat_rsp_create(DAT_HANDLE_NULL, QUAL, b->pz, b->pz, NULL), DAT_INVALID_HANDLE);
	want_error(dat_rsp_create(b->pz, QUAL, b->pz, b->pz, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	{
		const DAT_HANDLE bad[] = { DAT_HANDLE_NULL, b->pz, dead, pair.a.ep };

		for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			want_error(dat_rsp_create(b->ia, QUAL, bad[i], b->pz, NULL),
					DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	}
	{
		const DAT_HANDLE bad[] = { DAT_HANDLE_NULL, b->pz, b->recv, pair.a.cr };

		for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			want_error(dat_rsp_create(b->ia, QUAL, b->ep, bad[i], NULL),
					DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
	}
	want_error(dat_rsp_create(b->ia, QUAL, b->ep, b->cr, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_type(dat_rsp_create(b->ia, CONN_QUAL, b->ep, b->cr, &rsp), DAT_CONN_QUAL_IN_USE);
	assert_ptr_equal(rsp, &rsp);
	assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
	pair_close(&pair);
}

static void
query__tells_what_it_is(void **state)
{
	DAT_HANDLE_TYPE type;
	DAT_RSP_PARAM param;
	DAT_RSP_HANDLE rsp;
	struct end end;

	end_open(&end, "loop1", NULL);
	rsp = reserve(&end);
	want_type(dat_rsp_query(DAT_HANDLE_NULL, DAT_RSP_FIELD_ALL, &param), DAT_INVALID_HANDLE);
	want_error(dat_rsp_query(end.ep, (DAT_RSP_PARAM_MASK)0x10, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_RSP);
	want_error(dat_rsp_query(rsp, (DAT_RSP_PARAM_MASK)0x10, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	memset(&param, POISON, sizeof(param));
	ok(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_int_equal(param.conn_qual, QUAL);
	assert_ptr_equal(param.evd_handle, end.cr);
	assert_ptr_equal(param.ep_handle, end.ep);
	ok(dat_get_handle_type(rsp, &type));
	assert_int_equal(type, DAT_HANDLE_TYPE_RSP);
	/* It is no public one, and its dispatcher is in use. */
	want_error(dat_psp_free(rsp), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	want_error(dat_evd_free(end.cr), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	ok(dat_rsp_free(rsp));
	want_error(dat_rsp_free(rsp), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
	want_error(dat_rsp_query(rsp, 0, &param), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
	ok(dat_evd_free(end.cr));
	end_close(&end);
}

/* What the consumer may do with an endpoint that a service point, or its request, has; @p subtype names that state. */
static void
want_taken(struct pair *pair, DAT_RETURN_SUBTYPE subtype)
{
	struct end *b = &pair->b;
	DAT_EP_PARAM param;
	DAT_RSP_HANDLE rsp;

	want_error(end_connect(b, &pair->a, QUAL), DAT_INVALID_STATE, subtype);
	want_error(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE, subtype);
	want_error(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE, subtype);
	want_error(dat_ep_free(b->ep), DAT_INVALID_STATE, subtype);
	want_error(dat_ep_reset(b->ep), DAT_INVALID_STATE, subtype);
	want_error(post_send(b, 0, 64, 1), DAT_INVALID_STATE, subtype);
	want_error(dat_rsp_create(b->ia, QUAL + 1, b->ep, b->cr, &rsp), DAT_INVALID_STATE, subtype);
	ok(dat_ep_query(b->ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_message_size = 100000;
	ok(dat_ep_modify(b->ep,
			DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
			&param));
	ok(dat_pz_create(b->ia, &param.pz_handle));
	want_error(dat_ep_modify(b->ep, DAT_EP_FIELD_PZ_HANDLE, &param), DAT_INVALID_STATE,
			subtype);
	ok(dat_pz_free(param.pz_handle));
}

/* Unconnected, reserved, pending, accepted, connected; receives may be posted all the way. */
static void
rsp__from_request_to_connection(void **state)
{
	DAT_RSP_HANDLE rsp;
	struct pair pair;
	DAT_CR_HANDLE cr;

	pair_open(&pair, NULL, NULL);
	rsp = reserve(&pair.b);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_RESERVED);
	want_taken(&pair, DAT_INVALID_STATE_EP_RESERVED);
	ok(post_recv(&pair.b, 0, 64, 7));
	cr = take_request(&pair, rsp);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	want_taken(&pair, DAT_INVALID_STATE_EP_PASSCONNPENDING);
	/* The endpoint goes without saying. */
	want_error(dat_cr_accept(cr, pair.b.ep, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_cr_accept(cr, DAT_HANDLE_NULL, -1, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_COMPLETION_PENDING);
	works(&pair);
	ok(dat_rsp_free(rsp));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	pair_close(&pair);
}

/* The consumer says no: the endpoint is free again, for whatever it likes. */
static void
rsp__rejected(void **state)
{
	DAT_RSP_HANDLE rsp;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	rsp = reserve(&pair.b);
	ok(dat_cr_reject(take_request(&pair, rsp) NEW_ARGS(, 0, NULL)));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_UNCONNECTED);
	/* It was the one request of this service point; the qualifier is taken as long as that lives. */
	ok(dat_ep_reset(pair.a.ep));
	ok(end_connect(&pair.a, &pair.b, QUAL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	want_silence(pair.b.cr);
	want_type(dat_rsp_create(pair.b.ia, QUAL, pair.b.ep, pair.b.cr, &rsp),
			DAT_CONN_QUAL_IN_USE);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_UNCONNECTED);
	ok(dat_rsp_free(rsp));
	ok(dat_ep_reset(pair.a.ep));
	rsp = reserve(&pair.b);
	ok(post_recv(&pair.b, 0, 64, 7));
	ok(dat_cr_accept(take_request(&pair, rsp), DAT_HANDLE_NULL, 0, NULL));
	works(&pair);
	pair_close(&pair);
}

/* A second request is refused, as if nobody listened, while the first waits and after it was accepted. */
static void
rsp__takes_one_request(void **state)
{
	DAT_EP_HANDLE first, second;
	DAT_RSP_HANDLE rsp;
	struct pair pair;
	DAT_CR_HANDLE cr;

	pair_open(&pair, NULL, NULL);
	first = pair.a.ep;
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, NULL,
			&second));
	rsp = reserve(&pair.b);
	cr = take_request(&pair, rsp);
	for (int accepted = 0; accepted < 2; accepted++) {
		pair.a.ep = second;
		ok(end_connect(&pair.a, &pair.b, QUAL));
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
		ok(dat_ep_reset(second));
		want_none(pair.b.cr);
		pair.a.ep = first;
		if (accepted == 0) {
			ok(post_recv(&pair.b, 0, 64, 7));
			ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
			works(&pair);
		}
	}
	pair_close(&pair);
}

/* Freed before the request: the endpoint is the consumer's again, and nobody listens any more. */
static void
rsp__freed_before_the_request(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	for (int round = 0; round < 3; round++) {
		ok(dat_rsp_free(reserve(&pair.b)));
		assert_int_equal(end_state(&pair.b), DAT_EP_STATE_UNCONNECTED);
	}
	ok(end_connect(&pair.a, &pair.b, QUAL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	ok(dat_ep_free(pair.b.ep));
	pair_close(&pair);
}

/* Freed behind the request: that stays, with its endpoint, and can be answered either way. */
static void
rsp__freed_behind_the_request(void **state)
{
	for (int accept = 0; accept < 2; accept++) {
		DAT_RSP_HANDLE rsp;
		struct pair pair;
		DAT_CR_HANDLE cr;

		pair_open(&pair, NULL, NULL);
		rsp = reserve(&pair.b);
		cr = take_request(&pair, rsp);
		ok(dat_rsp_free(rsp));
		assert_int_equal(end_state(&pair.b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
		if (accept) {
			ok(post_recv(&pair.b, 0, 64, 7));
			ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
			works(&pair);
		} else {
			ok(dat_cr_reject(cr NEW_ARGS(, 0, NULL)));
			want_event(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
			ok(dat_ep_free(pair.b.ep));
		}
		pair_close(&pair);
	}
}

/* An endpoint that waits for its own request accepts no other. */
static void
rsp__accepts_its_own_request_only(void **state)
{
	DAT_CR_HANDLE cr;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	reserve(&pair.b);
	want_error(dat_cr_accept(cr, pair.b.ep, 0, NULL), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_RESERVED);
	want_error(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	ok(dat_cr_reject(cr NEW_ARGS(, 0, NULL)));
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_RESERVED);
	pair_close(&pair);
}

/* Closing takes everything, in whatever state it is; a graceful close wants it gone before. */
static void
rsp__closed_with_everything(void **state)
{
	for (int pending = 0; pending < 2; pending++) {
		DAT_RSP_HANDLE rsp;
		struct pair pair;

		pair_open(&pair, NULL, NULL);
		rsp = reserve(&pair.b);
		if (pending)
			take_request(&pair, rsp);
		want_error(dat_ia_close(pair.b.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
				DAT_INVALID_STATE_IA_IN_USE);
		end_close(&pair.b);
		if (pending)
			want_event(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
		end_close(&pair.a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(create__arguments_in_their_order),
		rig_test(query__tells_what_it_is),
		rig_test(rsp__from_request_to_connection),
		rig_test(rsp__rejected),
		rig_test(rsp__takes_one_request),
		rig_test(rsp__freed_before_the_request),
		rig_test(rsp__freed_behind_the_request),
		rig_test(rsp__accepts_its_own_request_only),
		rig_test(rsp__closed_with_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
