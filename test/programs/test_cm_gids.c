/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of librdmacm on a device with IPv4 and IPv6 addresses. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm_rig.h"

static struct sockaddr_in6
v6(const char *text, uint16_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
	return address;
}

static void
assert_address(const struct sockaddr *address, const char *text)
{
	const struct sockaddr_in6 *sin6 = (const void *)address;
	char have[INET6_ADDRSTRLEN];

	assert_int_equal(address->sa_family, AF_INET6);
	assert_string_equal(inet_ntop(AF_INET6, &sin6->sin6_addr, have, sizeof(have)), text);
}

static void
bind_addr__takes_each_address_of_the_device_and_no_other(void **state)
{
	struct sockaddr_in6 own = v6("2001:db8::1", 0), foreign = v6("2001:db8::2", 0);
	struct pair *pair = *state;
	struct rdma_cm_id *id;

	ok(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_TCP));
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&foreign), -1);
	assert_int_equal(errno, EADDRNOTAVAIL);
	ok(rdma_bind_addr(id, (struct sockaddr *)&own));
	assert_address(rdma_get_local_addr(id), "2001:db8::1");
	ok(rdma_destroy_id(id));
}

/* As librdmacm of rdma-core: programs resolve the name once, and pass the addresses on. */
static void
getaddrinfo__without_a_name_has_the_addresses_of_its_hints(void **state)
{
	struct sockaddr_in6 src = v6("2001:db8::1", 7), dst = v6("2001:db8::2", 8);
	struct rdma_addrinfo hints = {
		.ai_family = AF_INET6,
		.ai_port_space = RDMA_PS_TCP,
		.ai_src_addr = (struct sockaddr *)&src,
		.ai_src_len = sizeof(src),
		.ai_dst_addr = (struct sockaddr *)&dst,
		.ai_dst_len = sizeof(dst),
	};
	struct rdma_addrinfo *info;

	ok(rdma_getaddrinfo(NULL, NULL, &hints, &info));
	assert_int_equal(info->ai_family, AF_INET6);
	assert_int_equal(info->ai_src_len, sizeof(src));
	assert_memory_equal(info->ai_src_addr, &src, sizeof(src));
	assert_int_equal(info->ai_dst_len, sizeof(dst));
	assert_memory_equal(info->ai_dst_addr, &dst, sizeof(dst));
	rdma_freeaddrinfo(info);

	/* A name is the destination instead. */
	ok(rdma_getaddrinfo("127.0.0.1", "9", &hints, &info));
	assert_int_equal(info->ai_dst_addr->sa_family, AF_INET);
	assert_memory_equal(info->ai_src_addr, &src, sizeof(src));
	rdma_freeaddrinfo(info);

	assert_int_equal(rdma_getaddrinfo(NULL, NULL, NULL, &info), -1);
	assert_int_equal(errno, EINVAL);
}

static void
connection__has_addresses_of_the_family_that_it_was_asked_for(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in6 to = v6("2001:db8::1", ntohs(rdma_get_src_port(pair->listener)));
	struct rdma_cm_event *event;
	struct rdma_cm_id *active;

	ok(rdma_create_id(pair->channel, &active, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(active, NULL, (struct sockaddr *)&to, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_address(rdma_get_local_addr(active), "2001:db8::1");
	ok(rdma_resolve_route(active, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(active);
	ok(rdma_connect(active, NULL));
	event = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_address(rdma_get_local_addr(event->id), "2001:db8::1");
	assert_address(rdma_get_peer_addr(event->id), "2001:db8::1");
	make_qp(event->id);
	pair->passive = event->id;
	ok(rdma_accept(event->id, NULL));
	ok(rdma_ack_cm_event(event));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	ok(rdma_disconnect(active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(active);
	ok(rdma_destroy_id(active));
}

/* The id begins at the address that the program has bound it to, and so the peer sees it. */
static void
connection__begins_at_the_address_that_the_id_is_bound_to(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in to = address(pair->listener), from = address(NULL);
	struct rdma_cm_event *event;
	struct rdma_cm_id *active;

	assert_int_equal(inet_pton(AF_INET, "192.0.2.1", &to.sin_addr), 1);
	assert_int_equal(inet_pton(AF_INET, "192.0.2.7", &from.sin_addr), 1);
	ok(rdma_create_id(pair->channel, &active, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(active, (struct sockaddr *)&from, (struct sockaddr *)&to, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ok(rdma_resolve_route(active, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(active);
	ok(rdma_connect(active, NULL));
	event = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(event->id->route.addr.dst_sin.sin_addr.s_addr, from.sin_addr.s_addr);
	assert_int_equal(event->id->route.addr.src_sin.sin_addr.s_addr, to.sin_addr.s_addr);
	make_qp(event->id);
	pair->passive = event->id;
	ok(rdma_accept(event->id, NULL));
	ok(rdma_ack_cm_event(event));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	rdma_destroy_qp(active);
	ok(rdma_destroy_id(active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
}

/* A path has one family at both ends. */
static void
resolve_addr__refuses_an_id_that_is_bound_to_another_family(void **state)
{
	struct sockaddr_in6 own = v6("2001:db8::1", 0);
	struct pair *pair = *state;
	struct sockaddr_in to = address(pair->listener);
	struct rdma_cm_id *id;

	assert_int_equal(inet_pton(AF_INET, "192.0.2.1", &to.sin_addr), 1);
	ok(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_TCP));
	ok(rdma_bind_addr(id, (struct sockaddr *)&own));
	refused(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), EINVAL);
	ok(rdma_destroy_id(id));
}

/* A queue pair that its owner moves: rdma_init_qp_attr() names the entry of the path. */
static void
init_qp_attr__names_the_address_that_the_peer_was_connected_to(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in6 to = v6("2001:db8::1", ntohs(rdma_get_src_port(pair->listener)));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_conn_param param = { .qp_num = 77 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *active;
	struct ibv_qp *qp;
	int mask;

	ok(rdma_create_id(pair->channel, &active, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(active, NULL, (struct sockaddr *)&to, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ok(rdma_resolve_route(active, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	ok(rdma_connect(active, &param));
	event = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	qp = pair->active->qp; /* any that is in INIT */
	ok(rdma_init_qp_attr(event->id, &attr, &mask));
	attr.qp_state = IBV_QPS_RTR;
	ok(rdma_init_qp_attr(event->id, &attr, &mask));
	assert_int_equal(attr.ah_attr.grh.sgid_index, 1);
	ok(ibv_modify_qp(qp, &attr, mask));
	ok(rdma_reject(event->id, NULL, 0));
	pair->passive = event->id;
	ok(rdma_ack_cm_event(event));
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
	ok(rdma_destroy_id(active));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(bind_addr__takes_each_address_of_the_device_and_no_other),
		pair_test(getaddrinfo__without_a_name_has_the_addresses_of_its_hints),
		pair_test(connection__has_addresses_of_the_family_that_it_was_asked_for),
		pair_test(connection__begins_at_the_address_that_the_id_is_bound_to),
		pair_test(resolve_addr__refuses_an_id_that_is_bound_to_another_family),
		pair_test(init_qp_attr__names_the_address_that_the_peer_was_connected_to),
	};

	/* A port that hears what it says. */
	setenv("UDAPL_ROCE_PARAMS",
			"port=net_ring0 ip=192.0.2.1/24 ip=2001:db8::1/64 ip=192.0.2.7/24", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
