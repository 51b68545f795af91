/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections without a connection manager: roce/dat_ep.h. */

#include "rig.h"

#include <arpa/inet.h>
#include <roce/dat_ep.h>

#define HALF (BUFFER_LEN / 2)

static struct pair pair;

static uint8_t
less(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/** What the one end is told of the other. */
static struct roce_dat_ep_peer
told(const struct end *near, const struct end *far)
{
	struct roce_dat_ep_local here, there;
	struct roce_dat_ep_peer peer = { 0 };

	ok(roce_dat_ep_query(near->ep, &here));
	ok(roce_dat_ep_query(far->ep, &there));
	peer.qpn = there.qpn;
	peer.rq_psn = there.psn;
	peer.sq_psn = here.psn;
	memcpy(peer.gid, there.gid, sizeof(peer.gid));
	peer.max_rd_atomic = less(here.max_rd_atomic, there.max_dest_rd_atomic);
	peer.max_dest_rd_atomic = less(here.max_dest_rd_atomic, there.max_rd_atomic);
	return peer;
}

static void
connect_both(void)
{
	struct roce_dat_ep_peer b = told(&pair.a, &pair.b), a = told(&pair.b, &pair.a);

	ok(roce_dat_ep_connect(pair.a.ep, &b));
	ok(roce_dat_ep_connect(pair.b.ep, &a));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
exchange(struct end *from, struct end *to, DAT_VLEN length, uint64_t value)
{
	fill_bytes(from->buffer, length, (uint32_t)value);
	memset(to->buffer + HALF, POISON, length + 1);
	ok(post_recv(to, HALF, HALF, value));
	ok(post_send(from, 0, length, value));
	want_dto(from, from->request, value, DAT_DTO_SUCCESS, length);
	want_dto(to, to->recv, value, DAT_DTO_SUCCESS, length);
	assert_memory_equal(from->buffer, to->buffer + HALF, length);
	assert_int_equal(to->buffer[HALF + length], POISON);
}

static void
query__tells_what_a_peer_has_to_know(void **state)
{
	const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in *address =
			(const struct sockaddr_in *)(const void *)&pair.b.address;
	struct roce_dat_ep_local a, b, again;

	pair_open(&pair, NULL, NULL);
	memset(&a, POISON, sizeof(a));
	ok(roce_dat_ep_query(pair.a.ep, &a));
	ok(roce_dat_ep_query(pair.b.ep, &b));
	assert_in_range(a.qpn, 2, 0xfffffe);
	assert_in_range(b.psn, 0, 0xffffff);
	assert_memory_equal(b.gid, mapped, sizeof(mapped));
	assert_memory_equal(b.gid + 12, &address->sin_addr, 4);
	assert_int_equal(a.mtu, 4096);
	/* What dat_ep_create() makes of no attributes. */
	assert_int_equal(a.max_rd_atomic, 4);
	assert_int_equal(a.max_dest_rd_atomic, 4);
	/* It is the same until the endpoint was connected. */
	ok(roce_dat_ep_query(pair.a.ep, &again));
	assert_memory_equal(&a, &again, sizeof(a));
	pair_close(&pair);
}

static void
query__arguments_in_their_order(void **state)
{
	struct roce_dat_ep_local local, before;

	pair_open(&pair, NULL, NULL);
	memset(&local, POISON, sizeof(local));
	before = local;
	want_error(roce_dat_ep_query(pair.a.lmr, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want_error(roce_dat_ep_query(pair.a.lmr, &local), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want_error(roce_dat_ep_query(pair.a.ep, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	assert_memory_equal(&local, &before, sizeof(local));
	pair_close(&pair);
}

static void
connect__makes_a_connection_for_everything(void **state)
{
	DAT_LMR_TRIPLET near;
	DAT_RMR_TRIPLET far;
	DAT_EP_PARAM param;

	pair_open(&pair, NULL, NULL);
	connect_both();
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	assert_int_equal(param.remote_port_qual, 0);
	assert_memory_equal(param.remote_ia_address_ptr, &pair.b.address, 8);
	exchange(&pair.a, &pair.b, 100000, 1);
	exchange(&pair.b, &pair.a, 1, 2);

	near = segment(&pair.a, 0, 50000);
	far = (DAT_RMR_TRIPLET){ .rmr_context = pair.b.key,
		.target_address = (DAT_VADDR)(uintptr_t)(pair.b.buffer + HALF),
		.segment_length = 50000 };
	fill_bytes(pair.a.buffer, 50000, 3);
	ok(dat_ep_post_rdma_write(
			pair.a.ep, 1, &near, cookie(3), &far, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 3, DAT_DTO_SUCCESS, 50000);
	assert_memory_equal(pair.a.buffer, pair.b.buffer + HALF, 50000);
	fill_bytes(pair.b.buffer + HALF, 50000, 4);
	ok(dat_ep_post_rdma_read(
			pair.a.ep, 1, &near, cookie(4), &far, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 4, DAT_DTO_SUCCESS, 50000);
	assert_memory_equal(pair.a.buffer, pair.b.buffer + HALF, 50000);
	pair_close(&pair);
}

/* Receives may be there first, the PSNs are the consumers' choice, and so is a smaller MTU. */
static void
connect__psn_and_mtu_are_as_told(void **state)
{
	struct roce_dat_ep_peer a, b;

	pair_open(&pair, NULL, NULL);
	b = told(&pair.a, &pair.b);
	a = told(&pair.b, &pair.a);
	b.sq_psn = a.rq_psn = 0xffffff;
	b.rq_psn = a.sq_psn = 0;
	a.mtu = b.mtu = 256;
	ok(post_recv(&pair.b, HALF, HALF, 7));
	ok(roce_dat_ep_connect(pair.a.ep, &b));
	ok(roce_dat_ep_connect(pair.b.ep, &a));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	fill_bytes(pair.a.buffer, 70000, 7);
	ok(post_send(&pair.a, 0, 70000, 7));
	want_dto(&pair.a, pair.a.request, 7, DAT_DTO_SUCCESS, 70000);
	want_dto(&pair.b, pair.b.recv, 7, DAT_DTO_SUCCESS, 70000);
	assert_memory_equal(pair.a.buffer, pair.b.buffer + HALF, 70000);
	exchange(&pair.b, &pair.a, 70000, 8);
	pair_close(&pair);
}

/* Ends that were not told the same MTU do not understand each other's longer messages: it is not the adapter's. */
static void
connect__mtu_is_of_both_ends(void **state)
{
	struct roce_dat_ep_peer a, b;

	pair_open(&pair, NULL, NULL);
	b = told(&pair.a, &pair.b);
	a = told(&pair.b, &pair.a);
	b.mtu = 256;
	ok(roce_dat_ep_connect(pair.a.ep, &b));
	ok(roce_dat_ep_connect(pair.b.ep, &a));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	exchange(&pair.a, &pair.b, 256, 1);
	ok(post_recv(&pair.b, HALF, HALF, 2));
	ok(post_send(&pair.a, 0, 1000, 2));
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_ERR_REMOTE_RESPONDER, 0);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	pair_close(&pair);
}

/* From a shared queue, too. */
static void
connect__goes_with_a_shared_queue(void **state)
{
	srq_pair_open(&pair, 8, 1);
	connect_both();
	ok(post_srq(&pair.b, HALF, 64, 5));
	ok(post_send(&pair.a, 0, 64, 5));
	want_dto(&pair.a, pair.a.request, 5, DAT_DTO_SUCCESS, 64);
	want_dto(&pair.b, pair.b.recv, 5, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

static void
refused(const struct roce_dat_ep_peer *peer)
{
	want_error(roce_dat_ep_connect(pair.a.ep, peer), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
}

static void
connect__arguments_in_their_order(void **state)
{
	struct roce_dat_ep_peer good, bad;

	pair_up(&pair);
	good = told(&pair.a, &pair.b);
	want_error(roce_dat_ep_connect(pair.a.lmr, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	/* The arguments come before the state. */
	refused(NULL);
#define REFUSED(field, value)        \
	do {                         \
		bad = good;          \
		bad.field = (value); \
		refused(&bad);       \
	} while (0)
	REFUSED(qpn, 0);
	REFUSED(qpn, 1);
	REFUSED(qpn, 0xffffff);
	REFUSED(qpn, 0x1000002);
	REFUSED(rq_psn, 0x1000000);
	REFUSED(sq_psn, 0x1000000);
	REFUSED(mtu, 1000);
	REFUSED(mtu, 8192);
	REFUSED(max_rd_atomic, 5);
	REFUSED(max_dest_rd_atomic, 5);
#undef REFUSED
	want_error(roce_dat_ep_connect(pair.a.ep, &good), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_CONNECTED);
	pair_close(&pair);
}

static void
connect__wants_an_unconnected_endpoint_with_a_dispatcher(void **state)
{
	struct roce_dat_ep_peer peer;
	DAT_EP_HANDLE mute;

	pair_open(&pair, NULL, NULL);
	peer = told(&pair.a, &pair.b);
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, DAT_HANDLE_NULL, NULL,
			&mute));
	want_error(roce_dat_ep_connect(mute, &peer), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_EVD_CONNECT);
	ok(dat_ep_free(mute));
	ok(roce_dat_ep_connect(pair.a.ep, &peer));
	want_error(roce_dat_ep_connect(pair.a.ep, &peer), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_ACTCONNPENDING);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_error(roce_dat_ep_connect(pair.a.ep, &peer), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_DISCONNECTED);
	pair_close(&pair);
}

static void
connect__tells_when_there_is_no_way(void **state)
{
	struct roce_dat_ep_peer nowhere;

	pair_open(&pair, NULL, NULL);
	nowhere = told(&pair.a, &pair.b);
	inet_pton(AF_INET, "10.9.9.9", nowhere.gid + 12);
	ok(roce_dat_ep_connect(pair.a.ep, &nowhere));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_UNREACHABLE);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	ok(dat_ep_reset(pair.a.ep));
	connect_both();
	exchange(&pair.a, &pair.b, 1000, 1);
	pair_close(&pair);
}

/* A neighbour that does not answer keeps an endpoint waiting, which may end it. */
static void
disconnect__ends_the_search(void **state)
{
	struct roce_dat_ep_peer nobody;

	pair_open(&pair, NULL, NULL);
	nobody = told(&pair.a, &pair.b);
	nobody.gid[15] = 77;
	ok(roce_dat_ep_connect(pair.a.ep, &nobody));
	want_none(pair.a.connect);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	ok(dat_ep_reset(pair.a.ep));
	/* Or be freed meanwhile. */
	ok(roce_dat_ep_connect(pair.a.ep, &nobody));
	ok(dat_ep_free(pair.a.ep));
	want_silence(pair.a.connect);
	pair_close(&pair);
}

static void
disconnect__abrupt_ends_at_once_and_tells_nobody(void **state)
{
	pair_open(&pair, NULL, NULL);
	connect_both();
	ok(post_recv(&pair.a, HALF, 64, 1));
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_dto_now(&pair.a, pair.a.recv, 1, DAT_DTO_ERR_FLUSHED);
	want_now(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(pair.b.connect);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_CONNECTED);
	pair_close(&pair);
}

/* Graceful: the requests are finished, new ones are refused, nobody is asked. */
static void
disconnect__graceful_ends_with_the_requests(void **state)
{
	pair_open(&pair, NULL, NULL);
	connect_both();
	ok(post_recv(&pair.b, HALF, HALF, 1));
	ok(post_recv(&pair.a, HALF, 64, 2));
	ok(post_send(&pair.a, 0, HALF, 1));
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_error(post_send(&pair.a, 0, 64, 3), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_DISCPENDING);
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, HALF);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	/* Flushed before the event. */
	want_dto_now(&pair.a, pair.a.recv, 2, DAT_DTO_ERR_FLUSHED);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, HALF);
	want_silence(pair.b.connect);
	pair_close(&pair);
}

/* With nothing posted it is over, too, but not inside the call. */
static void
disconnect__graceful_of_an_idle_one(void **state)
{
	pair_open(&pair, NULL, NULL);
	connect_both();
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECT_PENDING);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	pair_close(&pair);
}

/* A peer that is gone is noticed by the request that nobody answers; here the peer says why. */
static void
connection__breaks_like_any_other(void **state)
{
	DAT_LMR_TRIPLET near;
	DAT_RMR_TRIPLET far;

	pair_open(&pair, NULL, NULL);
	connect_both();
	near = segment(&pair.a, 0, 64);
	far = (DAT_RMR_TRIPLET){ .rmr_context = pair.b.key ^ 0xff,
		.target_address = (DAT_VADDR)(uintptr_t)pair.b.buffer,
		.segment_length = 64 };
	ok(dat_ep_post_rdma_write(
			pair.a.ep, 1, &near, cookie(1), &far, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	pair_close(&pair);
}

/* Reset and connected again, now so, now by the connection manager. */
static void
reset__makes_it_good_for_another(void **state)
{
	pair_open(&pair, NULL, NULL);
	for (uint64_t i = 0; i < 20; i++) {
		if (i % 3 == 2)
			pair_connect(&pair);
		else
			connect_both();
		exchange(&pair.a, &pair.b, 5000, i);
		exchange(&pair.b, &pair.a, 5000, i);
		ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		if (i % 3 != 2)
			ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_reset(pair.a.ep));
		ok(dat_ep_reset(pair.b.ep));
	}
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(query__tells_what_a_peer_has_to_know),
		dat_test(query__arguments_in_their_order),
		dat_test(connect__makes_a_connection_for_everything),
		dat_test(connect__psn_and_mtu_are_as_told),
		dat_test(connect__mtu_is_of_both_ends),
		dat_test(connect__goes_with_a_shared_queue),
		dat_test(connect__arguments_in_their_order),
		dat_test(connect__wants_an_unconnected_endpoint_with_a_dispatcher),
		dat_test(connect__tells_when_there_is_no_way),
		dat_test(disconnect__ends_the_search),
		dat_test(disconnect__abrupt_ends_at_once_and_tells_nobody),
		dat_test(disconnect__graceful_ends_with_the_requests),
		dat_test(disconnect__graceful_of_an_idle_one),
		dat_test(connection__breaks_like_any_other),
		dat_test(reset__makes_it_good_for_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
