/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_dup_connect, dat_psp_create_any and dat_cr_handoff. */

#include "rig.h"

#define FIRST 49152u
#define LAST  65535u

static DAT_RETURN
dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE other)
{
	return dat_ep_dup_connect(ep, other, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static void
dup_connect__arguments_in_their_order(void **state)
{
	const DAT_QOS bad_qos = DAT_QOS_PREMIUM;
	char data[64];
	DAT_EP_HANDLE ep = another_ep(a);
	DAT_EP_HANDLE dead = another_ep(a);
	const DAT_HANDLE bad[] = { DAT_HANDLE_NULL, dead, a->pz, b->ep };

	ok(dat_ep_free(dead));
	want_type(dat_ep_dup_connect(DAT_HANDLE_NULL, dead, 0, -1, NULL, bad_qos),
			DAT_INVALID_HANDLE);
	want_bad_handle(dat_ep_dup_connect(dead, dead, 0, -1, NULL, bad_qos), EP);
	for (unsigned int i = 0; i < COUNT_OF(bad); i++)
		want_bad_handle(dat_ep_dup_connect(ep, bad[i], 0, -1, NULL, bad_qos), EP);
	want_bad_arg(dat_ep_dup_connect(ep, a->ep, 0, -1, NULL, bad_qos), 3);
	want_bad_arg(dat_ep_dup_connect(ep, a->ep, 1, -1, NULL, bad_qos), 4);
	want_bad_arg(dat_ep_dup_connect(ep, a->ep, 1, 57, data, bad_qos), 4);
	want_bad_arg(dat_ep_dup_connect(ep, a->ep, 1, 1, NULL, bad_qos), 5);
	want_error(dat_ep_dup_connect(ep, a->ep, 1, 0, NULL, bad_qos), DAT_MODEL_NOT_SUPPORTED, 0);
	/* The states, of the one that is to be copied first. */
	want_bad_state(dup_connect(a->ep, ep), EP_UNCONNECTED);
	want_bad_state(dup_connect(ep, ep), EP_UNCONNECTED);
	want_bad_state(dup_connect(a->ep, a->ep), EP_CONNECTED);
	part(&pair);
	want_bad_state(dup_connect(ep, a->ep), EP_DISCONNECTED);
}

/* The copy goes to the same peer and service point, with private data of its own, and lives a life of its own. */
static void
dup_connect__goes_to_the_same_place(void **state)
{
	char data[] = "a second one";
	DAT_EP_PARAM old, copy;
	DAT_CR_PARAM request;
	DAT_CR_HANDLE cr;
	DAT_EP_STATE st;
	DAT_EP_HANDLE first = a->ep;
	DAT_EP_HANDLE first_at_b = b->ep;

	a->ep = another_ep(a);
	b->ep = another_ep(b);
	ok(dat_ep_dup_connect(a->ep, first, PATIENCE_US, sizeof(data), data, DAT_QOS_BEST_EFFORT));
	assert_int_equal(end_state(a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	cr = end_request(b);
	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
	assert_memory_equal(request.private_data, data, sizeof(data));
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	old = ep_param(first);
	copy = ep_param(a->ep);
	assert_int_equal(copy.remote_port_qual, old.remote_port_qual);
	assert_int_equal(copy.remote_port_qual, CONN_QUAL);
	assert_memory_equal(copy.remote_ia_address_ptr, old.remote_ia_address_ptr,
			sizeof(struct sockaddr));
	/* The first one goes; the second works. */
	ok(dat_ep_free(first));
	want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	ok(dat_ep_get_status(first_at_b, &st, NULL, NULL));
	assert_int_equal(st, DAT_EP_STATE_DISCONNECTED);
	transfer(1, 64);
}

/* The request of a copy can be refused like any other: here, because no service point listens any more. */
static void
dup_connect__is_refused_like_any_other(void **state)
{
	DAT_EP_HANDLE first = a->ep;

	ok(dat_psp_free(pair.psp));
	a->ep = another_ep(a);
	ok(dup_connect(a->ep, first));
	want_event(a->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
}

static DAT_RETURN
create_any(const struct end *end, DAT_CONN_QUAL *qual, DAT_PSP_HANDLE *psp)
{
	return dat_psp_create_any(end->ia, qual, end->cr, DAT_PSP_CONSUMER_FLAG, psp);
}

static void
create_any__arguments_in_their_order(void **state)
{
	const DAT_PSP_FLAGS bad = (DAT_PSP_FLAGS)7;
	DAT_CONN_QUAL qual = 77;
	DAT_PSP_HANDLE psp = &qual;

	want_type(dat_psp_create_any(DAT_HANDLE_NULL, NULL, a->pz, bad, NULL), DAT_INVALID_HANDLE);
	want_bad_handle(dat_psp_create_any(a->pz, NULL, a->pz, bad, NULL), IA);
	want_bad_arg(dat_psp_create_any(a->ia, NULL, a->pz, bad, NULL), 2);
	want_bad_handle(dat_psp_create_any(a->ia, &qual, a->recv, bad, NULL), EVD_CR);
	want_bad_handle(dat_psp_create_any(a->ia, &qual, DAT_HANDLE_NULL, bad, NULL), EVD_CR);
	want_bad_handle(dat_psp_create_any(a->ia, &qual, b->cr, bad, NULL), EVD_CR);
	want_bad_arg(dat_psp_create_any(a->ia, &qual, a->cr, bad, NULL), 4);
	want_error(dat_psp_create_any(a->ia, &qual, a->cr, DAT_PSP_PROVIDER_FLAG, NULL),
			DAT_MODEL_NOT_SUPPORTED, 0);
	want_bad_arg(dat_psp_create_any(a->ia, &qual, a->cr, DAT_PSP_CONSUMER_FLAG, NULL), 5);
	assert_int_equal(qual, 77);
	assert_ptr_equal(psp, &qual);
}

/* A qualifier that nobody has, that the others can connect to, and that goes back with the service point. */
static void
create_any__is_a_service_point(void **state)
{
	DAT_PSP_HANDLE psp[3], taken;
	DAT_CONN_QUAL qual[3];
	DAT_PSP_PARAM param;

	for (unsigned int i = 0; i < 3; i++) {
		ok(create_any(b, &qual[i], &psp[i]));
		assert_in_range(qual[i], FIRST, LAST);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(qual[k], qual[i]);
		ok(dat_psp_query(psp[i], DAT_PSP_FIELD_ALL, &param));
		assert_int_equal(param.conn_qual, qual[i]);
		assert_ptr_equal(param.evd_handle, b->cr);
		want_type(dat_psp_create(b->ia, qual[i], b->cr, DAT_PSP_CONSUMER_FLAG, &taken),
				DAT_CONN_QUAL_IN_USE);
	}
	ok(end_connect(a, b, qual[1]));
	ok(dat_cr_accept(end_request(b), b->ep, 0, NULL));
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (unsigned int i = 0; i < 3; i++)
		ok(dat_psp_free(psp[i]));
	ok(dat_psp_create(b->ia, qual[1], b->cr, DAT_PSP_CONSUMER_FLAG, &taken));
}

/* There are only so many; one that comes back is found again. */
static void
create_any__until_there_is_none(void **state)
{
	static DAT_PSP_HANDLE psp[LAST - FIRST + 1];
	static bool seen[LAST - FIRST + 1];
	DAT_CONN_QUAL qual, last = 0;
	DAT_PSP_HANDLE more = NULL;

	for (unsigned int i = 0; i <= LAST - FIRST; i++) {
		ok(create_any(a, &qual, &psp[i]));
		assert_in_range(qual, FIRST, LAST);
		assert_false(seen[qual - FIRST]);
		seen[qual - FIRST] = true;
		if (i == 1000)
			last = qual;
	}
	want_error(create_any(a, &qual, &more), DAT_CONN_QUAL_UNAVAILABLE, 0);
	assert_null(more);
	ok(dat_psp_free(psp[1000]));
	ok(create_any(a, &qual, &more));
	assert_int_equal(qual, last);
}

static void
want_unanswered(DAT_CR_HANDLE cr)
{
	DAT_CR_PARAM param;

	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
}

/* No service point listens there, or it has no room: the request stays where it is, and good. */
static void
handoff__refused(void **state)
{
	DAT_EVD_HANDLE small;
	DAT_CR_HANDLE cr;

	ok(end_connect(a, b, CONN_QUAL));
	cr = end_request(b);
	want_type(dat_cr_handoff(DAT_HANDLE_NULL, 1), DAT_INVALID_HANDLE);
	want_bad_handle(dat_cr_handoff(b->ep, 1), CR);
	want_bad_arg(dat_cr_handoff(cr, 77), 2);
	/* Another adapter's service point is not this one's. */
	make_psp(a, 77, a->cr);
	want_bad_arg(dat_cr_handoff(cr, 77), 2);
	small = make_evd_of(b, 1, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG);
	make_psp(b, 78, small);
	ok(post_software(small, 0));
	want_bad_arg(dat_cr_handoff(cr, 78), 2);
	want_unanswered(cr);
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* It is a new request with all that the peer said; the old one is gone, and the peer notices nothing. */
static void
handoff__to_another_service_point(void **state)
{
	char data[] = "for whom it may concern";
	DAT_CR_HANDLE cr, copy;
	DAT_CR_PARAM param;
	DAT_EVENT event;
	DAT_EVD_HANDLE other = make_evd(b, DAT_EVD_CR_FLAG);
	DAT_PSP_HANDLE psp = make_psp(b, 78, other);
	struct sockaddr_storage address = b->address;

	ok(dat_ep_connect(a->ep, (DAT_IA_ADDRESS_PTR)&address, CONN_QUAL, PATIENCE_US, sizeof(data),
			data, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	cr = end_request(b);
	ok(dat_cr_handoff(cr, 78));
	want_bad_handle(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), CR);
	want_bad_handle(dat_cr_accept(cr, b->ep, 0, NULL), CR);
	event = want_now(other, DAT_CONNECTION_REQUEST_EVENT);
	assert_ptr_equal(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, psp);
	assert_int_equal(event.event_data.cr_arrival_event_data.conn_qual, 78);
	copy = event.event_data.cr_arrival_event_data.cr_handle;
	ok(dat_cr_query(copy, DAT_CR_FIELD_ALL, &param));
	assert_memory_equal(param.private_data, data, sizeof(data));
	/* There and back again. */
	ok(dat_cr_handoff(copy, CONN_QUAL));
	ok(dat_cr_handoff(end_request(b), 78));
	event = want_now(other, DAT_CONNECTION_REQUEST_EVENT);
	ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b->ep, 0, NULL));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_recv(b, 0, 64, 1));
	ok(post_send(a, 0, 64, 2));
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, 64);
}

/* From and to reserved service points: endpoints are let go of and taken. */
static void
handoff__of_reserved_endpoints(void **state)
{
	DAT_RSP_HANDLE from, to;
	DAT_EP_STATE first;
	DAT_CR_HANDLE cr;
	DAT_EP_HANDLE ep = b->ep;

	b->ep = another_ep(b);
	ok(dat_rsp_create(b->ia, 80, ep, b->cr, &from));
	ok(dat_rsp_create(b->ia, 81, b->ep, b->cr, &to));
	ok(end_connect(a, b, 80));
	cr = end_request(b);
	ok(dat_cr_handoff(cr, 81));
	ok(dat_ep_get_status(ep, &first, NULL, NULL));
	assert_int_equal(first, DAT_EP_STATE_UNCONNECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	cr = end_request(b);
	/* That was the one request of either. */
	want_bad_arg(dat_cr_handoff(cr, 80), 2);
	ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

const struct CMUnitTest tests[] = {
	up_test(dup_connect__arguments_in_their_order),
	up_test(dup_connect__goes_to_the_same_place),
	up_test(dup_connect__is_refused_like_any_other),
	pair_test(create_any__arguments_in_their_order),
	pair_test(create_any__is_a_service_point),
	end_test(create_any__until_there_is_none),
	pair_test(handoff__refused),
	pair_test(handoff__to_another_service_point),
	pair_test(handoff__of_reserved_endpoints),
	tests_end,
};
