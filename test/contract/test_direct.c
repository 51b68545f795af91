/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections without a connection manager: roce/dat_ep.h. */

#include "rig.h"

#include <arpa/inet.h>
#include <roce/dat_ep.h>

static uint8_t
less(uint8_t one, uint8_t other)
{
	return one < other ? one : other;
}

/** The parameters of @p far, as @p near is told them. */
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

/* Each end is connected as it was told. */
static void
connect_as(const struct roce_dat_ep_peer *of_a, const struct roce_dat_ep_peer *of_b)
{
	ok(roce_dat_ep_connect(a->ep, of_b));
	ok(roce_dat_ep_connect(b->ep, of_a));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
connect_both(void)
{
	struct roce_dat_ep_peer of_b = told(a, b), of_a = told(b, a);

	connect_as(&of_a, &of_b);
}

static void
query__tells_what_a_peer_has_to_know(void **state)
{
	const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)&b->address;
	struct roce_dat_ep_local of_a, of_b, again;

	memset(&of_a, POISON, sizeof(of_a));
	ok(roce_dat_ep_query(a->ep, &of_a));
	ok(roce_dat_ep_query(b->ep, &of_b));
	assert_in_range(of_a.qpn, 2, 0xfffffe);
	assert_in_range(of_b.psn, 0, 0xffffff);
	assert_memory_equal(of_b.gid, mapped, sizeof(mapped));
	assert_memory_equal(of_b.gid + 12, &address->sin_addr, 4);
	assert_int_equal(of_a.mtu, 4096);
	/* The defaults of dat_ep_create() without attributes. */
	assert_int_equal(of_a.max_rd_atomic, 4);
	assert_int_equal(of_a.max_dest_rd_atomic, 4);
	/* It is the same until the endpoint was connected. */
	ok(roce_dat_ep_query(a->ep, &again));
	assert_memory_equal(&of_a, &again, sizeof(of_a));
}

static void
query__arguments_in_their_order(void **state)
{
	struct roce_dat_ep_local local;

	memset(&local, POISON, sizeof(local));
	want_bad_handle(roce_dat_ep_query(a->lmr, NULL), EP);
	want_bad_handle(roce_dat_ep_query(a->lmr, &local), EP);
	want_bad_arg(roce_dat_ep_query(a->ep, NULL), 2);
	want_bytes(&local, POISON, sizeof(local));
}

static void
connect__makes_a_connection_for_everything(void **state)
{
	const DAT_LMR_TRIPLET near = segment(a, 0, 50000);
	DAT_EP_PARAM param;

	connect_both();
	assert_int_equal(end_state(a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
	param = ep_param(a->ep);
	assert_int_equal(param.remote_port_qual, 0);
	assert_memory_equal(param.remote_ia_address_ptr, &b->address, 8);
	exchange(a, b, 100000, 1);
	exchange(b, a, 1, 2);
	fill_bytes(a->buffer, 50000, 3);
	ok(post_write(&near, target(b, HALF, 50000), 3));
	want_dto(a, a->request, 3, DAT_DTO_SUCCESS, 50000);
	assert_memory_equal(a->buffer, b->buffer + HALF, 50000);
	fill_bytes(b->buffer + HALF, 50000, 4);
	ok(post_read(&near, target(b, HALF, 50000), 4));
	want_dto(a, a->request, 4, DAT_DTO_SUCCESS, 50000);
	assert_memory_equal(a->buffer, b->buffer + HALF, 50000);
}

/* Receives may be there first, the PSNs are the consumers' choice, and so is a smaller MTU. */
static void
connect__psn_and_mtu_are_as_told(void **state)
{
	struct roce_dat_ep_peer of_b = told(a, b);
	struct roce_dat_ep_peer of_a = told(b, a);

	of_b.sq_psn = of_a.rq_psn = 0xffffff;
	of_b.rq_psn = of_a.sq_psn = 0;
	of_a.mtu = of_b.mtu = 256;
	ok(post_recv(b, HALF, HALF, 7));
	connect_as(&of_a, &of_b);
	fill_bytes(a->buffer, 70000, 7);
	ok(post_send(a, 0, 70000, 7));
	want_passed(7, 7, 70000);
	assert_memory_equal(a->buffer, b->buffer + HALF, 70000);
	exchange(b, a, 70000, 8);
}

/* Ends that were not told the same MTU do not understand each other's longer messages: it is not the adapter's. */
static void
connect__mtu_is_of_both_ends(void **state)
{
	struct roce_dat_ep_peer of_b = told(a, b);
	struct roce_dat_ep_peer of_a = told(b, a);

	of_b.mtu = 256;
	connect_as(&of_a, &of_b);
	exchange(a, b, 256, 1);
	ok(post_recv(b, HALF, HALF, 2));
	ok(post_send(a, 0, 1000, 2));
	want_dto(a, a->request, 2, DAT_DTO_ERR_REMOTE_RESPONDER, 0);
	want_both(DAT_CONNECTION_EVENT_BROKEN);
}

/* From a shared queue, too. */
static void
connect__goes_with_a_shared_queue(void **state)
{
	connect_both();
	ok(post_srq(b, HALF, 64, 5));
	ok(post_send(a, 0, 64, 5));
	want_passed(5, 5, 64);
}

static void
refused(const struct roce_dat_ep_peer *peer)
{
	want_bad_arg(roce_dat_ep_connect(a->ep, peer), 2);
}

static void
connect__arguments_in_their_order(void **state)
{
	struct roce_dat_ep_peer bad;
	struct roce_dat_ep_peer good = told(a, b);

	want_bad_handle(roce_dat_ep_connect(a->lmr, NULL), EP);
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
	want_bad_state(roce_dat_ep_connect(a->ep, &good), EP_CONNECTED);
}

static void
connect__wants_an_unconnected_endpoint_with_a_dispatcher(void **state)
{
	DAT_EP_HANDLE mute;
	struct roce_dat_ep_peer peer = told(a, b);

	ok(dat_ep_create(a->ia, a->pz, a->recv, a->request, DAT_HANDLE_NULL, NULL, &mute));
	want_bad_state(roce_dat_ep_connect(mute, &peer), EP_EVD_CONNECT);
	ok(dat_ep_free(mute));
	ok(roce_dat_ep_connect(a->ep, &peer));
	want_bad_state(roce_dat_ep_connect(a->ep, &peer), EP_ACTCONNPENDING);
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_bad_state(roce_dat_ep_connect(a->ep, &peer), EP_DISCONNECTED);
}

static void
connect__tells_when_there_is_no_way(void **state)
{
	struct roce_dat_ep_peer nowhere = told(a, b);

	inet_pton(AF_INET, "10.9.9.9", nowhere.gid + 12);
	ok(roce_dat_ep_connect(a->ep, &nowhere));
	want_event(a->connect, DAT_CONNECTION_EVENT_UNREACHABLE);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
	ok(dat_ep_reset(a->ep));
	connect_both();
	exchange(a, b, 1000, 1);
}

/* A neighbour that does not answer keeps an endpoint waiting, which may end it. */
static void
disconnect__ends_the_search(void **state)
{
	struct roce_dat_ep_peer nobody = told(a, b);

	nobody.gid[15] = 77;
	ok(roce_dat_ep_connect(a->ep, &nobody));
	want_none(a->connect);
	assert_int_equal(end_state(a), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	ok(dat_ep_reset(a->ep));
	/* Or be freed meanwhile. */
	ok(roce_dat_ep_connect(a->ep, &nobody));
	ok(dat_ep_free(a->ep));
	want_silence(a->connect);
}

static void
disconnect__abrupt_ends_at_once_and_tells_nobody(void **state)
{
	connect_both();
	ok(post_recv(a, HALF, 64, 1));
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_dto_now(a, a->recv, 1, DAT_DTO_ERR_FLUSHED);
	want_now(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_silence(b->connect);
	assert_int_equal(end_state(b), DAT_EP_STATE_CONNECTED);
}

/* Graceful: the requests are finished, new ones are refused, nobody is asked. */
static void
disconnect__graceful_ends_with_the_requests(void **state)
{
	connect_both();
	ok(post_recv(b, HALF, HALF, 1));
	ok(post_recv(a, HALF, 64, 2));
	ok(post_send(a, 0, HALF, 1));
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_bad_state(post_send(a, 0, 64, 3), EP_DISCPENDING);
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, HALF);
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	/* Flushed before the event. */
	want_dto_now(a, a->recv, 2, DAT_DTO_ERR_FLUSHED);
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, HALF);
	want_silence(b->connect);
}

/* With nothing posted it is over, too, but not inside the call. */
static void
disconnect__graceful_of_an_idle_one(void **state)
{
	connect_both();
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECT_PENDING);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
}

/* A peer that is gone is noticed by the request that nobody answers; here the peer says why. */
static void
connection__breaks_like_any_other(void **state)
{
	const DAT_LMR_TRIPLET near = segment(a, 0, 64);
	DAT_RMR_TRIPLET far = target(b, 0, 64);

	connect_both();
	far.rmr_context ^= 0xff;
	ok(post_write(&near, far, 1));
	want_dto(a, a->request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
	want_both(DAT_CONNECTION_EVENT_BROKEN);
}

/* Reset and connected again, now so, now by the connection manager. */
static void
reset__makes_it_good_for_another(void **state)
{
	for (uint64_t i = 0; i < 20; i++) {
		if (i % 3 == 2)
			pair_connect(&pair);
		else
			connect_both();
		exchange(a, b, 5000, i);
		exchange(b, a, 5000, i);
		ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
		want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		if (i % 3 != 2)
			ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
		want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		reset_both();
	}
}

const struct CMUnitTest tests[] = {
	pair_test(query__tells_what_a_peer_has_to_know),
	pair_test(query__arguments_in_their_order),
	pair_test(connect__makes_a_connection_for_everything),
	pair_test(connect__psn_and_mtu_are_as_told),
	pair_test(connect__mtu_is_of_both_ends),
	srq_test(connect__goes_with_a_shared_queue, 8, 1),
	up_test(connect__arguments_in_their_order),
	pair_test(connect__wants_an_unconnected_endpoint_with_a_dispatcher),
	pair_test(connect__tells_when_there_is_no_way),
	pair_test(disconnect__ends_the_search),
	pair_test(disconnect__abrupt_ends_at_once_and_tells_nobody),
	pair_test(disconnect__graceful_ends_with_the_requests),
	pair_test(disconnect__graceful_of_an_idle_one),
	pair_test(connection__breaks_like_any_other),
	pair_test(reset__makes_it_good_for_another),
	tests_end,
};
