/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_dup_connect, dat_psp_create_any and dat_cr_handoff. */

#include "rig.h"

#define FIRST 49152u
#define LAST  65535u

static DAT_EP_HANDLE
another_ep(const struct end *end)
{
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, NULL, &ep));
	return ep;
}

static DAT_RETURN
dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE other)
{
	return dat_ep_dup_connect(ep, other, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static void
dup_connect__arguments_in_their_order(void **state)
{
	const DAT_QOS bad_qos = DAT_QOS_PREMIUM;
	DAT_EP_HANDLE ep, dead;
	struct pair pair;
	char data[64];

	pair_up(&pair);
	ep = another_ep(&pair.a);
	dead = another_ep(&pair.a);
	ok(dat_ep_free(dead));
	want_type(dat_ep_dup_connect(DAT_HANDLE_NULL, dead, 0, -1, NULL, bad_qos),
			DAT_INVALID_HANDLE);
	want_error(dat_ep_dup_connect(dead, dead, 0, -1, NULL, bad_qos), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	{
		const DAT_HANDLE bad[] = { DAT_HANDLE_NULL, dead, pair.a.pz, pair.b.ep };

		for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			want_error(dat_ep_dup_connect(ep, bad[i], 0, -1, NULL, bad_qos),
					DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	}
	want_error(dat_ep_dup_connect(ep, pair.a.ep, 0, -1, NULL, bad_qos), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_ep_dup_connect(ep, pair.a.ep, 1, -1, NULL, bad_qos), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_ep_dup_connect(ep, pair.a.ep, 1, 57, data, bad_qos), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_ep_dup_connect(ep, pair.a.ep, 1, 1, NULL, bad_qos), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_error(dat_ep_dup_connect(ep, pair.a.ep, 1, 0, NULL, bad_qos), DAT_MODEL_NOT_SUPPORTED,
			0);
	/* The states, of the one that is to be copied first. */
	want_error(dup_connect(pair.a.ep, ep), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED);
	want_error(dup_connect(ep, ep), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED);
	want_error(dup_connect(pair.a.ep, pair.a.ep), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_CONNECTED);
	part(&pair);
	want_error(dup_connect(ep, pair.a.ep), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_DISCONNECTED);
	pair_close(&pair);
}

/* The copy goes to the same peer and service point, with private data of its own, and lives a life of its own. */
static void
dup_connect__goes_to_the_same_place(void **state)
{
	char data[] = "a second one";
	DAT_EP_HANDLE first, first_at_b;
	DAT_EP_PARAM old, copy;
	DAT_CR_PARAM request;
	DAT_CR_HANDLE cr;
	DAT_EP_STATE st;
	struct pair pair;

	pair_up(&pair);
	first = pair.a.ep;
	first_at_b = pair.b.ep;
	pair.a.ep = another_ep(&pair.a);
	pair.b.ep = another_ep(&pair.b);
	ok(dat_ep_dup_connect(
			pair.a.ep, first, PATIENCE_US, sizeof(data), data, DAT_QOS_BEST_EFFORT));
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	cr = end_request(&pair.b);
	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
	assert_memory_equal(request.private_data, data, sizeof(data));
	ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_query(first, DAT_EP_FIELD_ALL, &old));
	ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &copy));
	assert_int_equal(copy.remote_port_qual, old.remote_port_qual);
	assert_int_equal(copy.remote_port_qual, CONN_QUAL);
	assert_memory_equal(copy.remote_ia_address_ptr, old.remote_ia_address_ptr,
			sizeof(struct sockaddr));
	/* The first one goes; the second works. */
	ok(dat_ep_free(first));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	ok(dat_ep_get_status(first_at_b, &st, NULL, NULL));
	assert_int_equal(st, DAT_EP_STATE_DISCONNECTED);
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* What can happen to a request can happen to the copy's: here, that nobody listens any more. */
static void
dup_connect__is_refused_like_any_other(void **state)
{
	DAT_EP_HANDLE first;
	struct pair pair;

	pair_up(&pair);
	first = pair.a.ep;
	ok(dat_psp_free(pair.psp));
	pair.a.ep = another_ep(&pair.a);
	ok(dup_connect(pair.a.ep, first));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	pair_close(&pair);
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
	struct pair pair;
	struct end *a = &pair.a;

	pair_open(&pair, NULL, NULL);
	want_type(dat_psp_create_any(DAT_HANDLE_NULL, NULL, a->pz, bad, NULL), DAT_INVALID_HANDLE);
	want_error(dat_psp_create_any(a->pz, NULL, a->pz, bad, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_psp_create_any(a->ia, NULL, a->pz, bad, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_psp_create_any(a->ia, &qual, a->recv, bad, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EVD_CR);
	want_error(dat_psp_create_any(a->ia, &qual, DAT_HANDLE_NULL, bad, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EVD_CR);
	want_error(dat_psp_create_any(a->ia, &qual, pair.b.cr, bad, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EVD_CR);
	want_error(dat_psp_create_any(a->ia, &qual, a->cr, bad, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_psp_create_any(a->ia, &qual, a->cr, DAT_PSP_PROVIDER_FLAG, NULL),
			DAT_MODEL_NOT_SUPPORTED, 0);
	want_error(dat_psp_create_any(a->ia, &qual, a->cr, DAT_PSP_CONSUMER_FLAG, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	assert_int_equal(qual, 77);
	assert_ptr_equal(psp, &qual);
	pair_close(&pair);
}

/* A qualifier that nobody has, that the others can connect to, and that goes back with the service point. */
static void
create_any__is_a_service_point(void **state)
{
	DAT_PSP_HANDLE psp[3], taken;
	DAT_CONN_QUAL qual[3];
	DAT_PSP_PARAM param;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		ok(create_any(&pair.b, &qual[i], &psp[i]));
		assert_in_range(qual[i], FIRST, LAST);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(qual[k], qual[i]);
		ok(dat_psp_query(psp[i], DAT_PSP_FIELD_ALL, &param));
		assert_int_equal(param.conn_qual, qual[i]);
		assert_ptr_equal(param.evd_handle, pair.b.cr);
		want_type(dat_psp_create(pair.b.ia, qual[i], pair.b.cr, DAT_PSP_CONSUMER_FLAG,
					  &taken),
				DAT_CONN_QUAL_IN_USE);
	}
	ok(end_connect(&pair.a, &pair.b, qual[1]));
	ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (unsigned int i = 0; i < 3; i++)
		ok(dat_psp_free(psp[i]));
	ok(dat_psp_create(pair.b.ia, qual[1], pair.b.cr, DAT_PSP_CONSUMER_FLAG, &taken));
	pair_close(&pair);
}

/* There are only so many; one that comes back is found again. */
static void
create_any__until_there_is_none(void **state)
{
	static DAT_PSP_HANDLE psp[LAST - FIRST + 1];
	static bool seen[LAST - FIRST + 1];
	DAT_CONN_QUAL qual, last = 0;
	DAT_PSP_HANDLE more = NULL;
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int i = 0; i <= LAST - FIRST; i++) {
		ok(create_any(&end, &qual, &psp[i]));
		assert_in_range(qual, FIRST, LAST);
		assert_false(seen[qual - FIRST]);
		seen[qual - FIRST] = true;
		if (i == 1000)
			last = qual;
	}
	want_error(create_any(&end, &qual, &more), DAT_CONN_QUAL_UNAVAILABLE, 0);
	assert_null(more);
	ok(dat_psp_free(psp[1000]));
	ok(create_any(&end, &qual, &more));
	assert_int_equal(qual, last);
	end_close(&end);
}

static void
want_unanswered(DAT_CR_HANDLE cr)
{
	DAT_CR_PARAM param;

	ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
}

/* Nobody listens there, or has room: the request stays where it is, and good. */
static void
handoff__refused(void **state)
{
	DAT_EVD_HANDLE small;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_PSP_HANDLE psp;
	struct pair pair;
	DAT_CR_HANDLE cr;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	want_type(dat_cr_handoff(DAT_HANDLE_NULL, 1), DAT_INVALID_HANDLE);
	want_error(dat_cr_handoff(pair.b.ep, 1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	want_error(dat_cr_handoff(cr, 77), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	/* Another adapter's service point is not this one's. */
	ok(dat_psp_create(pair.a.ia, 77, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	want_error(dat_cr_handoff(cr, 77), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ok(dat_evd_create(pair.b.ia, 1, DAT_HANDLE_NULL,
			(DAT_EVD_FLAGS)(DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG), &small));
	ok(dat_psp_create(pair.b.ia, 78, small, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(dat_evd_post_se(small, &event));
	want_error(dat_cr_handoff(cr, 78), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_unanswered(cr);
	ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	pair_close(&pair);
}

/* It is a new request with all that the peer said; the old one is gone, and the peer notices nothing. */
static void
handoff__to_another_service_point(void **state)
{
	char data[] = "for whom it may concern";
	struct sockaddr_storage address;
	DAT_EVD_HANDLE other;
	DAT_CR_HANDLE cr, copy;
	DAT_CR_PARAM param;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	other = make_evd(&pair.b, DAT_EVD_CR_FLAG);
	ok(dat_psp_create(pair.b.ia, 78, other, DAT_PSP_CONSUMER_FLAG, &psp));
	address = pair.b.address;
	ok(dat_ep_connect(pair.a.ep, (DAT_IA_ADDRESS_PTR)&address, CONN_QUAL, PATIENCE_US,
			sizeof(data), data, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	cr = end_request(&pair.b);
	ok(dat_cr_handoff(cr, 78));
	want_error(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CR);
	want_error(dat_cr_accept(cr, pair.b.ep, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CR);
	event = want_now(other, DAT_CONNECTION_REQUEST_EVENT);
	assert_ptr_equal(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, psp);
	assert_int_equal(event.event_data.cr_arrival_event_data.conn_qual, 78);
	copy = event.event_data.cr_arrival_event_data.cr_handle;
	ok(dat_cr_query(copy, DAT_CR_FIELD_ALL, &param));
	assert_memory_equal(param.private_data, data, sizeof(data));
	/* There and back again. */
	ok(dat_cr_handoff(copy, CONN_QUAL));
	ok(dat_cr_handoff(end_request(&pair.b), 78));
	event = want_now(other, DAT_CONNECTION_REQUEST_EVENT);
	ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* From and to reserved service points: endpoints are let go of and taken. */
static void
handoff__of_reserved_endpoints(void **state)
{
	DAT_RSP_HANDLE from, to;
	DAT_EP_STATE first;
	DAT_EP_HANDLE ep;
	DAT_CR_HANDLE cr;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ep = pair.b.ep;
	pair.b.ep = another_ep(&pair.b);
	ok(dat_rsp_create(pair.b.ia, 80, ep, pair.b.cr, &from));
	ok(dat_rsp_create(pair.b.ia, 81, pair.b.ep, pair.b.cr, &to));
	ok(end_connect(&pair.a, &pair.b, 80));
	cr = end_request(&pair.b);
	ok(dat_cr_handoff(cr, 81));
	ok(dat_ep_get_status(ep, &first, NULL, NULL));
	assert_int_equal(first, DAT_EP_STATE_UNCONNECTED);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	cr = end_request(&pair.b);
	/* That was the one request of either. */
	want_error(dat_cr_handoff(cr, 80), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(dup_connect__arguments_in_their_order),
		rig_test(dup_connect__goes_to_the_same_place),
		rig_test(dup_connect__is_refused_like_any_other),
		rig_test(create_any__arguments_in_their_order),
		rig_test(create_any__is_a_service_point),
		rig_test(create_any__until_there_is_none),
		rig_test(handoff__refused),
		rig_test(handoff__to_another_service_point),
		rig_test(handoff__of_reserved_endpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
