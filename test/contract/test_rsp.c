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
take_request(DAT_RSP_HANDLE rsp)
{
	DAT_EVENT event;
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;

	ok(end_connect(a, b, QUAL));
	event = want_event(b->cr, DAT_CONNECTION_REQUEST_EVENT);
	assert_ptr_equal(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp);
	assert_int_equal(event.event_data.cr_arrival_event_data.conn_qual, QUAL);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	assert_ptr_equal(param.local_ep_handle, b->ep);
	return cr;
}

static void
works(void)
{
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_send(a, 0, 64, 1));
	want_passed(7, 1, 64);
}

/* The endpoint goes without saying. */
static void
accept_and_work(DAT_CR_HANDLE cr)
{
	ok(post_recv(b, 0, 64, 7));
	ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	works();
}

/* As if nobody listened. */
static void
want_no_answer(void)
{
	ok(end_connect(a, b, QUAL));
	want_event(a->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

static void
create__arguments_in_their_order(void **state)
{
	DAT_RSP_HANDLE rsp = &rsp;
	DAT_EP_HANDLE dead = another_ep(b);
	const DAT_HANDLE bad_ep[] = { DAT_HANDLE_NULL, b->pz, dead, a->ep };
	const DAT_HANDLE bad_cr[] = { DAT_HANDLE_NULL, b->pz, b->recv, a->cr };

	ok(dat_ep_free(dead));
	want_type(dat_rsp_create(DAT_HANDLE_NULL, QUAL, b->pz, b->pz, NULL), DAT_INVALID_HANDLE);
	want_bad_handle(dat_rsp_create(b->pz, QUAL, b->pz, b->pz, NULL), IA);
	for (unsigned int i = 0; i < COUNT_OF(bad_ep); i++)
		want_bad_handle(dat_rsp_create(b->ia, QUAL, bad_ep[i], b->pz, NULL), EP);
	for (unsigned int i = 0; i < COUNT_OF(bad_cr); i++)
		want_bad_handle(dat_rsp_create(b->ia, QUAL, b->ep, bad_cr[i], NULL), EVD_CR);
	want_bad_arg(dat_rsp_create(b->ia, QUAL, b->ep, b->cr, NULL), 5);
	want_type(dat_rsp_create(b->ia, CONN_QUAL, b->ep, b->cr, &rsp), DAT_CONN_QUAL_IN_USE);
	assert_ptr_equal(rsp, &rsp);
	assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
}

static void
query__tells_what_it_is(void **state)
{
	DAT_RSP_PARAM param;
	DAT_RSP_HANDLE rsp;

	end_open(b, "loop1", NULL);
	rsp = reserve(b);
	want_type(dat_rsp_query(DAT_HANDLE_NULL, DAT_RSP_FIELD_ALL, &param), DAT_INVALID_HANDLE);
	want_bad_handle(dat_rsp_query(b->ep, (DAT_RSP_PARAM_MASK)0x10, NULL), RSP);
	want_bad_arg(dat_rsp_query(rsp, (DAT_RSP_PARAM_MASK)0x10, NULL), 2);
	want_bad_arg(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, NULL), 3);
	memset(&param, POISON, sizeof(param));
	ok(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, b->ia);
	assert_int_equal(param.conn_qual, QUAL);
	assert_ptr_equal(param.evd_handle, b->cr);
	assert_ptr_equal(param.ep_handle, b->ep);
	want_type_of(rsp, DAT_HANDLE_TYPE_RSP);
	/* It is no public one, and its dispatcher is in use. */
	want_bad_handle(dat_psp_free(rsp), PSP);
	want_bad_state(dat_evd_free(b->cr), EVD_IN_USE);
	ok(dat_rsp_free(rsp));
	want_bad_handle(dat_rsp_free(rsp), RSP);
	want_bad_handle(dat_rsp_query(rsp, 0, &param), RSP);
	ok(dat_evd_free(b->cr));
}

/* Calls of the consumer on an endpoint that a service point, or its request, has; @p subtype names that state. */
static void
want_taken(DAT_RETURN_SUBTYPE subtype)
{
	DAT_EP_PARAM param;
	DAT_RSP_HANDLE rsp;

#define REFUSED(call) want_error(call, DAT_INVALID_STATE, subtype)
	REFUSED(end_connect(b, a, QUAL));
	REFUSED(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	REFUSED(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	REFUSED(dat_ep_free(b->ep));
	REFUSED(dat_ep_reset(b->ep));
	REFUSED(post_send(b, 0, 64, 1));
	REFUSED(dat_rsp_create(b->ia, QUAL + 1, b->ep, b->cr, &rsp));
	param = ep_param(b->ep);
	param.ep_attr.max_message_size = 100000;
	ok(dat_ep_modify(b->ep,
			DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
			&param));
	param.pz_handle = make_pz(b);
	REFUSED(dat_ep_modify(b->ep, DAT_EP_FIELD_PZ_HANDLE, &param));
	ok(dat_pz_free(param.pz_handle));
}

/* Unconnected, reserved, pending, accepted, connected; receives may be posted all the way. */
static void
rsp__from_request_to_connection(void **state)
{
	DAT_CR_HANDLE cr;
	DAT_RSP_HANDLE rsp = reserve(b);

	assert_int_equal(end_state(b), DAT_EP_STATE_RESERVED);
	want_taken(DAT_INVALID_STATE_EP_RESERVED);
	ok(post_recv(b, 0, 64, 7));
	cr = take_request(rsp);
	assert_int_equal(end_state(b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	want_taken(DAT_INVALID_STATE_EP_PASSCONNPENDING);
	/* The endpoint goes without saying. */
	want_bad_arg(dat_cr_accept(cr, b->ep, 0, NULL), 2);
	want_bad_arg(dat_cr_accept(cr, DAT_HANDLE_NULL, -1, NULL), 3);
	ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	assert_int_equal(end_state(b), DAT_EP_STATE_COMPLETION_PENDING);
	works();
	ok(dat_rsp_free(rsp));
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
}

/* The consumer says no: the endpoint is free again, for whatever it likes. */
static void
rsp__rejected(void **state)
{
	DAT_RSP_HANDLE rsp = reserve(b);

	ok(dat_cr_reject(take_request(rsp) NEW_ARGS(, 0, NULL)));
	want_event(a->connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
	/* It was the one request of this service point; the qualifier is taken as long as that lives. */
	ok(dat_ep_reset(a->ep));
	want_no_answer();
	want_silence(b->cr);
	want_type(dat_rsp_create(b->ia, QUAL, b->ep, b->cr, &rsp), DAT_CONN_QUAL_IN_USE);
	assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
	ok(dat_rsp_free(rsp));
	ok(dat_ep_reset(a->ep));
	rsp = reserve(b);
	accept_and_work(take_request(rsp));
}

/* A second request is refused, as if nobody listened, while the first waits and after it was accepted. */
static void
rsp__takes_one_request(void **state)
{
	DAT_EP_HANDLE first = a->ep;
	DAT_EP_HANDLE second = another_ep(a);
	DAT_RSP_HANDLE rsp = reserve(b);
	DAT_CR_HANDLE cr = take_request(rsp);

	for (int accepted = 0; accepted < 2; accepted++) {
		a->ep = second;
		want_no_answer();
		ok(dat_ep_reset(second));
		want_none(b->cr);
		a->ep = first;
		if (accepted == 0) {
			accept_and_work(cr);
		}
	}
}

/* Freed before the request: the endpoint is the consumer's again, and nobody listens any more. */
static void
rsp__freed_before_the_request(void **state)
{
	for (int round = 0; round < 3; round++) {
		ok(dat_rsp_free(reserve(b)));
		assert_int_equal(end_state(b), DAT_EP_STATE_UNCONNECTED);
	}
	want_no_answer();
	ok(dat_ep_free(b->ep));
}

/* Freed behind the request: that stays, with its endpoint, and can be answered either way. */
static void
rsp__freed_behind_the_request(void **state)
{
	for (int accept = 0; accept < 2; accept++) {
		DAT_RSP_HANDLE rsp;
		DAT_CR_HANDLE cr;

		pair_open(&pair, NULL, NULL);
		rsp = reserve(b);
		cr = take_request(rsp);
		ok(dat_rsp_free(rsp));
		assert_int_equal(end_state(b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
		if (accept) {
			accept_and_work(cr);
		} else {
			ok(dat_cr_reject(cr NEW_ARGS(, 0, NULL)));
			want_event(a->connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
			ok(dat_ep_free(b->ep));
		}
		pair_close(&pair);
	}
}

/* An endpoint that waits for its own request accepts no other. */
static void
rsp__accepts_its_own_request_only(void **state)
{
	DAT_CR_HANDLE cr;

	ok(end_connect(a, b, CONN_QUAL));
	cr = end_request(b);
	reserve(b);
	want_bad_state(dat_cr_accept(cr, b->ep, 0, NULL), EP_RESERVED);
	want_bad_handle(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL), EP);
	ok(dat_cr_reject(cr NEW_ARGS(, 0, NULL)));
	assert_int_equal(end_state(b), DAT_EP_STATE_RESERVED);
}

/* Closing takes everything, in whatever state it is; a graceful close wants it gone before. */
static void
rsp__closed_with_everything(void **state)
{
	for (int pending = 0; pending < 2; pending++) {
		DAT_RSP_HANDLE rsp;

		pair_open(&pair, NULL, NULL);
		rsp = reserve(b);
		if (pending)
			take_request(rsp);
		want_bad_state(dat_ia_close(b->ia, DAT_CLOSE_GRACEFUL_FLAG), IA_IN_USE);
		end_close(b);
		if (pending)
			want_event(a->connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
		end_close(a);
	}
}

const struct CMUnitTest tests[] = {
	pair_test(create__arguments_in_their_order),
	rig_test(query__tells_what_it_is),
	pair_test(rsp__from_request_to_connection),
	pair_test(rsp__rejected),
	pair_test(rsp__takes_one_request),
	pair_test(rsp__freed_before_the_request),
	rig_test(rsp__freed_behind_the_request),
	pair_test(rsp__accepts_its_own_request_only),
	rig_test(rsp__closed_with_everything),
	tests_end,
};
