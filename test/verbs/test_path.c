/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a connection as its frames show it: the program carries them between two devices, and looks at each. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "../embed/embed.h"
#include "../embed/rings.h"
#include "rig.h"

/* Offsets into a frame without a tag. */
#define ETHER_TYPE 12
#define TOS        15
#define PROTOCOL   23
#define SOURCE     26

#define UDP    17
#define MARKS  0x03u /**< of congestion, in the TOS */
#define LENGTH 5000u

#define CLASS (26u << 2)

/** IPv4 frames that an end has sent. */
struct sent {
	unsigned int frames;
	uint8_t class;     /**< of the first */
	uint8_t source[4]; /**< of the first */
	bool differ;       /**< not all are as the first */
};

static struct sent by_a, by_b;

static unsigned int
engines(void)
{
	const char *params = getenv("UDAPL_ROCE_PARAMS");

	return params != NULL && strcmp(params, "queues=4") == 0 ? RINGS_QUEUES : 1;
}

static void
note(struct sent *sent, const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t class = at[TOS] & (uint8_t)~MARKS;

	if (at[ETHER_TYPE] != 0x08 || at[ETHER_TYPE + 1] != 0x00 || at[PROTOCOL] != UDP)
		return;
	if (sent->frames++ == 0) {
		sent->class = class;
		memcpy(sent->source, at + SOURCE, sizeof(sent->source));
	}
	sent->differ |= class != sent->class ||
			memcmp(sent->source, at + SOURCE, sizeof(sent->source)) != 0;
}

static unsigned int
carry(struct roce_device *from, struct roce_device *to, struct sent *sent)
{
	unsigned int moved = 0;

	for (unsigned int e = 0; e < engines(); e++) {
		struct rte_mbuf *pkts[32];
		uint16_t n = roce_device_tx(from, e, pkts, RTE_DIM(pkts));

		for (uint16_t i = 0; i < n; i++)
			note(sent, pkts[i]);
		moved += n;
		n = roce_device_rx(to, e, pkts, n);
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return moved;
}

static unsigned int
carry_both(struct pair *pair)
{
	return carry(pair->a.device, pair->b.device, &by_a) +
			carry(pair->b.device, pair->a.device, &by_b);
}

static void
look_anew(void)
{
	by_a = (struct sent){ 0 };
	by_b = (struct sent){ 0 };
}

/* All frames of an end, of which there are some, have this class. */
static void
assert_class(const struct sent *sent, uint8_t class)
{
	assert_true(sent->frames > 0);
	assert_false(sent->differ);
	assert_int_equal(sent->class, class);
}

static int
start(void **state)
{
	/* The first device starts the EAL. */
	roce_device_close(open_device("port=loop0 ip=192.0.2.1/24"));
	return 0;
}

static struct roce_device *
attach(uint8_t n, const char *more)
{
	struct roce_attach_config config = embed_handover(n);
	char params[128];

	snprintf(params, sizeof(params), "%s %s", config.params, more);
	config.params = params;
	config.engines = engines();
	return embed_attach(&config);
}

static int
open_hands(void **state)
{
	struct roce_device *a = attach(1, "ip=192.0.2.7/24");
	struct pair *pair = pair_of(a, attach(2, ""));

	pair->poll_once = carry_both;
	look_anew();
	*state = pair;
	return 0;
}

static void
connect_as(struct pair *pair, struct roce_cm_conn_param ask, struct roce_cm_conn_param answer)
{
	ok(roce_cm_id_connect(pair->a.id, ip_b, PORT, &ask, UINT64_MAX));
	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	ok(roce_cm_id_accept(pair->b.id, &answer));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
}

/* Packets and acknowledgements both ways. */
static void
exchange(struct pair *pair)
{
	const struct roce_wr wr = { .wr_id = 2, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	ok(post_recv(&pair->a, pair->a.qp, 1, 8192, LENGTH));
	ok(post_recv(&pair->b, pair->b.qp, 1, 8192, LENGTH));
	ok(post_send(&pair->a, wr, 0, LENGTH));
	ok(post_send(&pair->b, wr, 0, LENGTH));
	for (unsigned int i = 0; i < 2; i++) {
		want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
		want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	}
	settle(pair);
}

/* The class that the end which connects names is that of all frames of both ends; marks of congestion are no part of it. */
static void
connect__names_the_class_of_both_ends(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param ask = param_of(pair->a.qp, NULL);
	struct roce_cm_peer peer;

	ask.traffic_class = CLASS | 1;
	connect_as(pair, ask, param_of(pair->b.qp, NULL));
	exchange(pair);
	assert_class(&by_a, CLASS);
	assert_class(&by_b, CLASS);
	ok(roce_cm_id_peer(pair->b.id, &peer));
	assert_int_equal(peer.traffic_class, CLASS);
}

/* The end that accepts may name another class for its own packets. */
static void
accept__names_the_class_of_its_end(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param answer = param_of(pair->b.qp, NULL);

	answer.traffic_class = CLASS;
	connect_as(pair, param_of(pair->a.qp, NULL), answer);
	settle(pair);
	look_anew();
	exchange(pair);
	assert_class(&by_a, 0);
	assert_class(&by_b, CLASS);
}

static void
refused_from(struct pair *pair, const uint8_t ip[16])
{
	struct roce_cm_conn_param ask = param_of(pair->a.qp, NULL);

	memcpy(ask.local_ip, ip, sizeof(ask.local_ip));
	assert_int_equal(roce_cm_id_connect(pair->a.id, ip_b, PORT, &ask, UINT64_MAX), -EINVAL);
}

/* A connection begins at the address that is named, in all frames; the peer sees it there. */
static void
connect__begins_at_the_address_that_it_names(void **state)
{
	static const uint8_t second[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 7 };
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	struct pair *pair = *state;
	struct roce_cm_conn_param ask = param_of(pair->a.qp, NULL);
	struct roce_cm_peer peer;

	refused_from(pair, ip_b);
	refused_from(pair, v6);
	memcpy(ask.local_ip, second, sizeof(ask.local_ip));
	connect_as(pair, ask, param_of(pair->b.qp, NULL));
	exchange(pair);
	assert_true(by_a.frames > 0);
	assert_false(by_a.differ);
	assert_memory_equal(by_a.source, second + 12, 4);
	ok(roce_cm_id_peer(pair->a.id, &peer));
	assert_memory_equal(peer.local_ip, second, sizeof(second));
	ok(roce_cm_id_peer(pair->b.id, &peer));
	assert_memory_equal(peer.ip, second, sizeof(second));
}

/* Without one it begins where the route does. */
static void
connect__begins_where_the_route_does(void **state)
{
	struct pair *pair = *state;

	connect_as(pair, param_of(pair->a.qp, NULL), param_of(pair->b.qp, NULL));
	exchange(pair);
	assert_false(by_a.differ);
	assert_memory_equal(by_a.source, ip_a + 12, 4);
}

#define path_test(function) cmocka_unit_test_setup_teardown(function, open_hands, pair_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(connect__names_the_class_of_both_ends),
		path_test(accept__names_the_class_of_its_end),
		path_test(connect__begins_at_the_address_that_it_names),
		path_test(connect__begins_where_the_route_does),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
