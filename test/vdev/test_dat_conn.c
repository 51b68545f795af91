/* SPDX-License-Identifier: BSD-3-Clause */
/* Service points, connection requests, connect and disconnect, through the public API. */

#include <netinet/in.h>

#include "dat_pair.h"

static void
dat_psp__life(void **state)
{
	DAT_PSP_HANDLE psp, second;
	DAT_PSP_PARAM param;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_psp_create(end.ia, 1, end.recv, DAT_PSP_CONSUMER_FLAG, &psp),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
	want_error(dat_psp_create(end.ia, 1, DAT_HANDLE_NULL, DAT_PSP_CONSUMER_FLAG, &psp),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
	want_error(dat_psp_create(end.ia, 1, end.cr, (DAT_PSP_FLAGS)2, &psp), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_psp_create(end.ia, 1, end.cr, DAT_PSP_PROVIDER_FLAG, &psp),
			DAT_MODEL_NOT_SUPPORTED, 0);
	want_error(dat_psp_create(end.ia, 1, end.cr, DAT_PSP_CONSUMER_FLAG, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);

	ok(dat_psp_create(end.ia, CONN_QUAL, end.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	want_error(dat_psp_create(end.ia, CONN_QUAL, end.cr, DAT_PSP_CONSUMER_FLAG, &second),
			DAT_CONN_QUAL_IN_USE, 0);
	ok(dat_psp_create(end.ia, UINT64_C(0x123456789a), end.cr, DAT_PSP_CONSUMER_FLAG, &second));
	ok(dat_psp_free(second));

	want_error(dat_psp_query(psp, (DAT_PSP_PARAM_MASK)0x10, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_psp_query(psp, DAT_PSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_ptr_equal(param.evd_handle, end.cr);
	assert_int_equal(param.conn_qual, CONN_QUAL);
	assert_int_equal(param.psp_flags, DAT_PSP_CONSUMER_FLAG);

	want_error(dat_evd_free(end.cr), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	ok(dat_psp_free(psp));
	want_error(dat_psp_free(psp), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	ok(dat_evd_free(end.cr));
	end_close(&end);
}

static void
dat_ep_connect__arguments(void **state)
{
	const DAT_QOS qos = DAT_QOS_BEST_EFFORT;
	struct sockaddr_storage to, odd = { .ss_family = AF_UNIX };
	DAT_IA_ADDRESS_PTR address = (DAT_IA_ADDRESS_PTR)&to;
	struct pair pair;
	char data[57];

	pair_open(&pair, NULL, NULL);
	to = pair.b.address;
	want_error(dat_ep_connect(pair.a.pz, address, CONN_QUAL, 1, 0, NULL, qos, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want_error(dat_ep_connect(pair.a.ep, NULL, CONN_QUAL, 1, 0, NULL, qos, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 0, 0, NULL, qos, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	want_error(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 1, 57, data, qos, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 1, -1, data, qos, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 1, 1, NULL, qos, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	want_type(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 1, 0, NULL, DAT_QOS_PREMIUM, 0),
			DAT_MODEL_NOT_SUPPORTED);
	want_type(dat_ep_connect(pair.a.ep, address, CONN_QUAL, 1, 0, NULL, qos,
				  DAT_CONNECT_MULTIPATH_FLAG),
			DAT_MODEL_NOT_SUPPORTED);
	want_error(dat_ep_connect(pair.a.ep, (DAT_IA_ADDRESS_PTR)&odd, CONN_QUAL, 1, 0, NULL, qos,
				   0),
			DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
	/* None of the refused calls changed the endpoint. */
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_UNCONNECTED);
	pair_connect(&pair);
	want_error(end_connect(&pair.a, &pair.b, CONN_QUAL), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_CONNECTED);
	pair_close(&pair);
}

#define PRIVATE_LEN 56

static in_addr_t
ipv4(const void *address)
{
	return ((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

/* Check what the passive side learns. @return the request. */
static DAT_CR_HANDLE
want_request(struct pair *pair, const uint8_t *hello, DAT_CR_PARAM *cr)
{
	DAT_EVENT event = want_event(pair->b.cr, DAT_CONNECTION_REQUEST_EVENT);
	DAT_CR_ARRIVAL_EVENT_DATA *arrival = &event.event_data.cr_arrival_event_data;

	assert_ptr_equal(arrival->sp_handle.psp_handle, pair->psp);
	assert_int_equal(arrival->conn_qual, CONN_QUAL);
	assert_int_equal(arrival->local_ia_address_ptr->sa_family, AF_INET);
	want_error(dat_cr_query(arrival->cr_handle, (DAT_CR_PARAM_MASK)0x20, cr),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, cr));
	assert_int_equal(cr->private_data_size, PRIVATE_LEN);
	assert_memory_equal(cr->private_data, hello, PRIVATE_LEN);
	assert_null(cr->local_ep_handle);
	assert_int_equal(ipv4(cr->remote_ia_address_ptr), ipv4(&pair->a.address));
	return arrival->cr_handle;
}

/* Check what both ends are told when the connection is up. */
static void
want_up(struct pair *pair, const uint8_t *answer)
{
	DAT_EVENT event = want_event(pair->a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	DAT_CONNECTION_EVENT_DATA *up = &event.event_data.connect_event_data;
	DAT_EP_PARAM ep;

	assert_ptr_equal(up->ep_handle, pair->a.ep);
	/* The field of a REP has a fixed size and no length: there may be zeros behind the answer. */
	assert_true(up->private_data_size >= PRIVATE_LEN);
	assert_memory_equal(up->private_data, answer, PRIVATE_LEN);
	event = want_event(pair->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, pair->b.ep);
	assert_int_equal(event.event_data.connect_event_data.private_data_size, 0);
	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(&pair->b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_query(pair->a.ep, DAT_EP_FIELD_ALL, &ep));
	assert_int_equal(ep.remote_port_qual, CONN_QUAL);
	assert_int_equal(ipv4(ep.remote_ia_address_ptr), ipv4(&pair->b.address));
	ok(dat_ep_query(pair->b.ep, DAT_EP_FIELD_ALL, &ep));
	assert_int_equal(ep.local_port_qual, CONN_QUAL);
	assert_int_equal(ipv4(ep.remote_ia_address_ptr), ipv4(&pair->a.address));
}

/* The whole conversation, with private data both ways and the states on the way. */
static void
dat_connect__private_data_both_ways(void **state)
{
	uint8_t hello[PRIVATE_LEN], answer[PRIVATE_LEN];
	struct sockaddr_storage to;
	DAT_CR_HANDLE request;
	DAT_CR_PARAM cr;
	struct pair pair;

	for (unsigned int i = 0; i < PRIVATE_LEN; i++) {
		hello[i] = (uint8_t)(i + 1);
		answer[i] = (uint8_t)(200 - i);
	}
	pair_open(&pair, NULL, NULL);
	to = pair.b.address;
	ok(dat_ep_connect(pair.a.ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, DAT_TIMEOUT_INFINITE,
			PRIVATE_LEN, hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	want_error(post_send(&pair.a, 0, 8, 1), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_ACTCONNPENDING);

	request = want_request(&pair, hello, &cr);
	/* Real servers change the data where they found it and send it back. */
	memcpy(cr.private_data, answer, PRIVATE_LEN);
	want_error(dat_cr_accept(request, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want_error(dat_cr_accept(request, pair.b.ep, PRIVATE_LEN + 1, answer),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(dat_cr_accept(request, pair.b.ep, 1, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	ok(dat_cr_accept(request, pair.b.ep, PRIVATE_LEN, cr.private_data));
	want_error(dat_cr_accept(request, pair.b.ep, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CR);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_COMPLETION_PENDING);
	want_up(&pair, answer);
	pair_close(&pair);
}

static void
dat_cr_reject__is_heard_as_peer_rejected(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	ok(dat_cr_reject(end_request(&pair.b)));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	/* Reset makes it good for another try. */
	ok(dat_ep_reset(pair.a.ep));
	pair_connect(&pair);
	pair_close(&pair);
}

static void
dat_ep_connect__nobody_listens(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(dat_psp_free(pair.psp));
	ok(post_recv(&pair.a, 0, 8, 5));
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	want_dto(&pair.a, pair.a.recv, 5, DAT_DTO_ERR_FLUSHED, 0);
	pair_close(&pair);
}

static void
dat_ep_connect__nobody_answers(void **state)
{
	struct sockaddr_storage to;
	struct pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	pair_open(&pair, NULL, NULL);
	to = pair.b.address;
	/* The request arrives and is not answered. */
	ok(dat_ep_connect(pair.a.ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, 500000, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_TIMED_OUT);
	ok(dat_ep_reset(pair.a.ep));

	/* No host has this address. The event is the same whether the neighbour search or our patience ends first. */
	((struct sockaddr_in *)&to)->sin_addr.s_addr = htonl(0xc0000263);
	ok(dat_ep_connect(pair.a.ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, PATIENCE_US, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	ok(dat_evd_wait(pair.a.connect, 2 * PATIENCE_US, 1, &event, &more));
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_UNREACHABLE);
	pair_close(&pair);
}

/* The peer gave up before we accepted: the accept cannot succeed, and says so later. */
static void
dat_cr_accept__too_late(void **state)
{
	DAT_CR_HANDLE cr;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(pair.b.connect);
	ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	pair_close(&pair);
}

/* An endpoint in another state than unconnected cannot be accepted with; the request stays good. */
static void
dat_cr_accept__wants_an_unconnected_endpoint(void **state)
{
	DAT_EP_HANDLE second, ep;
	DAT_CR_HANDLE cr;
	struct pair pair;

	pair_up(&pair);
	ok(dat_ep_create(pair.a.ia, pair.a.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, pair.a.connect,
			NULL, &second));
	pair.a.ep = second;
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	want_error(dat_cr_accept(cr, pair.b.ep, 0, NULL), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_CONNECTED);
	ok(dat_ep_create(pair.b.ia, pair.b.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
			NULL, &ep));
	want_error(dat_cr_accept(cr, ep, 0, NULL), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_EVD_CONNECT);
	ok(dat_ep_free(ep));
	ok(dat_ep_create(pair.b.ia, pair.b.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, pair.b.connect,
			NULL, &ep));
	ok(dat_cr_accept(cr, ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	pair_close(&pair);
}

static void
dat_cr__outlives_its_service_point(void **state)
{
	DAT_CR_HANDLE cr;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	cr = end_request(&pair.b);
	ok(dat_psp_free(pair.psp));
	ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	pair_close(&pair);
}

/* A request whose event is thrown away with its dispatcher is refused. */
static void
dat_evd_free__refuses_requests_nobody_saw(void **state)
{
	struct pair pair;
	DAT_EVENT event;
	DAT_COUNT more = 0;

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	/* It is there, and stays: a wait for two of them takes none. */
	while (more == 0)
		want_type(dat_evd_wait(pair.b.cr, QUIET_US, 2, &event, &more), DAT_TIMEOUT_EXPIRED);
	ok(dat_psp_free(pair.psp));
	ok(dat_evd_free(pair.b.cr));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	pair_close(&pair);
}

static void
dat_psp__backlog_is_the_length_of_the_dispatcher(void **state)
{
	struct end_options one = { .evd_len = 1 };
	DAT_EP_HANDLE second;
	struct pair pair;
	struct end late;

	pair_open(&pair, NULL, &one);
	late = pair.a;
	ok(dat_ep_create(pair.a.ia, pair.a.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, pair.a.connect,
			NULL, &second));
	late.ep = second;
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	want_silence(pair.a.connect);
	ok(end_connect(&late, &pair.b, CONN_QUAL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	assert_int_equal(end_state(&late), DAT_EP_STATE_DISCONNECTED);
	ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	pair_close(&pair);
}

static void
dat_ep_disconnect__states(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	want_error(dat_ep_disconnect(pair.a.ep, (DAT_CLOSE_FLAGS)2), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_UNCONNECTED);
	ok(dat_ep_reset(pair.a.ep));
	pair_connect(&pair);
	want_error(dat_ep_reset(pair.a.ep), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	/* Over is over: no error, no second event. */
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_silence(pair.a.connect);
	want_silence(pair.b.connect);
	pair_close(&pair);
}

/* Graceful lets what was posted arrive; then both ends hear of the end, and can start again. */
static void
dat_ep_disconnect__graceful_finishes_first(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	for (int round = 0; round < 3; round++) {
		pair_connect(&pair);
		for (unsigned int i = 0; i < 16; i++)
			ok(post_recv(&pair.b, i * 4096, 4096, i));
		for (unsigned int i = 0; i < 16; i++)
			ok(post_send(&pair.a, 0, 4000, i));
		ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
		/* From now on nothing new. */
		want_error(post_send(&pair.a, 0, 8, 99), DAT_INVALID_STATE,
				DAT_INVALID_STATE_EP_DISCPENDING);
		for (unsigned int i = 0; i < 16; i++)
			want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 4000);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		for (unsigned int i = 0; i < 16; i++)
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 4000);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_reset(pair.a.ep));
		ok(dat_ep_reset(pair.b.ep));
		assert_int_equal(end_state(&pair.a), DAT_EP_STATE_UNCONNECTED);
	}
	pair_close(&pair);
}

/* Abrupt flushes, before the event when one dispatcher has both; an abrupt one cuts a graceful one short. */
static void
dat_ep_disconnect__flushes(void **state)
{
	DAT_LMR_TRIPLET iov;
	DAT_EVD_HANDLE all;
	struct pair pair;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, NULL);
	ok(dat_evd_create(pair.a.ia, 64, DAT_HANDLE_NULL,
			(DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG), &all));
	ok(dat_ep_create(pair.a.ia, pair.a.pz, all, all, all, NULL, &ep));
	ok(dat_ep_free(pair.a.ep));
	pair.a.ep = ep;
	pair.a.connect = all;
	pair_connect(&pair);
	ok(post_recv(&pair.a, 0, 64, 1));
	ok(post_recv(&pair.a, 0, 64, 2));
	/* The peer has no buffer: these wait for ever. */
	ok(post_send(&pair.a, 0, 64, 3));
	ok(post_send(&pair.a, 0, 64, 4));
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECT_PENDING);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_silence(all);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_dto(&pair.a, all, 3, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&pair.a, all, 4, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&pair.a, all, 1, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&pair.a, all, 2, DAT_DTO_ERR_FLUSHED, 0);
	want_event(all, DAT_CONNECTION_EVENT_DISCONNECTED);
	/* A post in this state is flushed at once. */
	ok(post_send(&pair.a, 0, 64, 5));
	want_dto(&pair.a, all, 5, DAT_DTO_ERR_FLUSHED, 0);
	iov = segment(&pair.a, 0, 64);
	ok(dat_ep_post_recv(pair.a.ep, 1, &iov, cookie(6), DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, all, 6, DAT_DTO_ERR_FLUSHED, 0);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	pair_close(&pair);
}

/* Freeing a connected endpoint is the end of the connection for the peer. */
static void
dat_ep_free__tells_the_peer(void **state)
{
	struct pair pair;

	pair_up(&pair);
	ok(dat_ep_free(pair.a.ep));
	want_error(dat_ep_free(pair.a.ep), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_psp__life),
		dat_test(dat_ep_connect__arguments),
		dat_test(dat_connect__private_data_both_ways),
		dat_test(dat_cr_reject__is_heard_as_peer_rejected),
		dat_test(dat_ep_connect__nobody_listens),
		dat_test(dat_ep_connect__nobody_answers),
		dat_test(dat_cr_accept__too_late),
		dat_test(dat_cr_accept__wants_an_unconnected_endpoint),
		dat_test(dat_cr__outlives_its_service_point),
		dat_test(dat_evd_free__refuses_requests_nobody_saw),
		dat_test(dat_psp__backlog_is_the_length_of_the_dispatcher),
		dat_test(dat_ep_disconnect__states),
		dat_test(dat_ep_disconnect__graceful_finishes_first),
		dat_test(dat_ep_disconnect__flushes),
		dat_test(dat_ep_free__tells_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
