/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of librdmacm on roce0 with an uplink: within the host both ends of a connection have the same address. */

#include "cm_rig.h"

#define UPLINK "192.0.2.1"

static struct sockaddr_in
at(const char *text, const struct rdma_cm_id *listener)
{
	struct sockaddr_in sin = address(listener);

	assert_int_equal(inet_pton(AF_INET, text, &sin.sin_addr), 1);
	return sin;
}

/* An id from an address, or from none, on its way to another one. */
static struct rdma_cm_id *
begin(struct pair *pair, const char *from, const char *to)
{
	struct sockaddr_in dst = at(to, pair->listener), src = at(from != NULL ? from : to, NULL);
	struct rdma_cm_id *id;

	ok(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(id, from != NULL ? (struct sockaddr *)&src : NULL,
			(struct sockaddr *)&dst, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ok(rdma_resolve_route(id, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	ok(rdma_connect(id, NULL));
	return id;
}

static void
assert_addr(const struct sockaddr_in *have, const char *text)
{
	char name[INET_ADDRSTRLEN];

	assert_string_equal(inet_ntop(AF_INET, &have->sin_addr, name, sizeof(name)), text);
}

/* With the request both ends have the address that was asked for. */
static void
connects(struct pair *pair, const char *from, const char *to)
{
	struct rdma_cm_id *id = begin(pair, from, to);
	struct rdma_cm_event *event = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	assert_addr(&id->route.addr.src_sin, to);
	assert_addr(&event->id->route.addr.dst_sin, to);
	assert_addr(&event->id->route.addr.src_sin, to);
	ok(rdma_reject(event->id, NULL, 0));
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
	end(id);
	id = event->id;
	ok(rdma_ack_cm_event(event));
	end(id);
}

static void
connection__has_one_address_at_both_ends(void **state)
{
	struct pair *pair = *state;

	connects(pair, NULL, UPLINK);
	connects(pair, UPLINK, UPLINK);
	connects(pair, NULL, "127.0.0.1");
	connects(pair, "127.0.0.1", "127.0.0.1");
}

static void
connection__from_another_address_is_unreachable(void **state)
{
	static const char *const ways[][2] = { { "127.0.0.1", UPLINK }, { UPLINK, "127.0.0.1" } };
	struct pair *pair = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_cm_id *id = begin(pair, ways[i][0], ways[i][1]);

		want_acked(pair->channel, RDMA_CM_EVENT_UNREACHABLE);
		end(id);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(connection__has_one_address_at_both_ends),
		pair_test(connection__from_another_address_is_unreachable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
