/* SPDX-License-Identifier: BSD-3-Clause */
/* The path between the two ends, as each sees it: its MTU, its class and priority, its first hop. */

#include "cm_talk.h"

/* The larger end asks again with what the smaller one can do; the smaller one is met at once. */
UNIT_RULE(mtu__is_the_smaller_of_both)
{
	static const struct {
		uint8_t active, passive;
		unsigned int requests;
	} rule[] = { { 5, 3, 2 }, { 3, 5, 1 }, { 1, 1, 1 }, { 2, 1, 2 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint8_t want = RTE_MIN(rule[i].active, rule[i].passive);

		active->mtu_code = rule[i].active;
		passive->mtu_code = rule[i].passive;
		world_listen(passive, 1);
		world_connect(active, UINT64_MAX);
		world_run_ms(1);
		expect_told("P", "QE");
		assert_int_equal(active->told[0].path.mtu_code, want);
		assert_fields(passive->told[0], (path.mtu_code, want), (peer.mtu_code, want));
		assert_int_equal(roce_cm_stats(active->cm)->tx_req, rule[i].requests);
		world_again();
	}
}

/* A refusal that names no MTU that we could take is just a refusal. */
UNIT_RULE(mtu__refusal_without_a_way_out_is_told)
{
	static const uint8_t code[] = { 0, 3, 4, 0x30 };

	for (size_t i = 0; i < RTE_DIM(code); i++) {
		struct roce_cm_msg rej = {
			.attr = ROCE_CM_ATTR_REJ,
			.reason = ROCE_CM_REJ_INVALID_MTU,
			.ari = &code[i],
			.ari_len = 1,
		};

		rej.remote_id = world_connect(active, UINT64_MAX)->local_id;
		assert_int_equal(speak(active), 1);
		hear(active, &rej);
		assert_int_equal(speak(active), 0);
		assert_string_equal(told_all(active), "R");
		assert_int_equal(active->told[0].reason, ROCE_CM_REJ_INVALID_MTU);
		world_again();
	}
}

/* A neighbour that ARP does not know yet is answered over the route its frame came. */
UNIT_RULE(path__needs_no_neighbour)
{
	struct roce_cm_msg req = good_request(passive);

	world_listen(passive, 1);
	passive->resolve_rc = -EAGAIN;
	assert_int_equal(said_to(passive, &req).attr, ROCE_CM_ATTR_REP);
	assert_memory_equal(world->last, &active->mac, 6);
	assert_memory_equal(world->last + 6, &passive->mac, 6);
}

/*
 * Both directions of a connection are in one class and have one priority: that of the request, and of what it leaves at 0
 * that of the listener. Marks of congestion are no part of it. The VLAN is that of the frame, and no tag appears that
 * neither end wants.
 */
UNIT_RULE(path__is_in_the_class_of_the_request)
{
	static const struct {
		uint8_t own_tos, class, want_tos;
		uint16_t own_tci, frame_tci;
		uint8_t sl;
		uint16_t want_tci;
	} rule[] = {
		{ 0, 0x68, 0x68, 0, 0, 0, 0 },
		{ 0x28, 0x68, 0x68, 0, 0, 0, 0 },
		{ 0x28, 0, 0x28, 0, 0, 0, 0 },
		{ 0, 0x6a, 0x68, 0, 0, 0, 0 }, /* ECT(0), as Linux may say it */
		{ 0x28, 0x03, 0x28, 0, 0, 0, 0 },
		{ 0, 0, 0, 7, 7, 0, 7 },
		{ 0, 0, 0, 7, 7, 5, 5 << 13 | 7 },
		{ 0, 0, 0, 3 << 13 | 7, 7, 5, 5 << 13 | 7 },
		{ 0, 0, 0, 3 << 13 | 7, 7, 0, 3 << 13 | 7 },
		{ 0, 0, 0, 7, 5 << 13 | 7, 0, 7 },
		{ 0, 0, 0, 7, 7, 13, 5 << 13 | 7 }, /* the low three bits are the priority */
		{ 0, 0, 0, 7, 7, 8, 7 },
		{ 0, 0, 0, 0, 0, 5, 0 },
		{ 0, 0, 0, 0, 5 << 13, 5, 0 },
		{ 0, 0, 0, 3 << 13, 0, 5, 5 << 13 },
		{ 0, 0, 0, 3 << 13, 0, 0, 3 << 13 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_msg req = good_request(passive);

		world_listen(passive, 1);
		passive->policy = POLICY_HOLD;
		passive->tos = rule[i].own_tos;
		passive->vlan_tci = rule[i].own_tci;
		other(passive)->vlan_tci = rule[i].frame_tci;
		req.req.traffic_class = rule[i].class;
		req.req.sl = rule[i].sl;
		hear(passive, &req);
		assert_string_equal(told_all(passive), "Q");
		if (passive->told[0].path.tos != rule[i].want_tos ||
				passive->told[0].path.vlan_tci != rule[i].want_tci)
			fail_msg("rule %zu: tos %#x, tag %#x", i, passive->told[0].path.tos,
					passive->told[0].path.vlan_tci);
		world_again();
	}
}

/* Offsets into a frame with a tag. */
#define TCI 14
#define TOS 19

/* The messages of the connection manager themselves go the way that they agree on. */
UNIT_RULE(path__is_that_of_the_messages_too)
{
	struct roce_cm_msg req;

	world_listen(passive, 1);
	active->tos = 26 << 2;
	active->vlan_tci = 5 << 13 | 7;
	passive->vlan_tci = 7;
	world_connect(active, UINT64_MAX);
	/* The REQ says it, and is sent so. */
	assert_int_equal(speak(active), 1);
	req = last_msg();
	assert_fields(req, (attr, ROCE_CM_ATTR_REQ), (req.traffic_class, 26 << 2), (req.sl, 5));
	assert_int_equal(world->last[TCI] << 8 | world->last[TCI + 1], 5 << 13 | 7);
	assert_int_equal(world->last[TOS], 26 << 2);
	/* So is the REP. */
	hear(passive, &req);
	assert_int_equal(speak(passive), 1);
	assert_int_equal(last_msg().attr, ROCE_CM_ATTR_REP);
	assert_int_equal(world->last[TCI] << 8 | world->last[TCI + 1], 5 << 13 | 7);
	assert_int_equal(world->last[TOS], 26 << 2);
}

/* Offsets into a frame without a tag. */
#define TOS_UNTAGGED 15
#define SOURCE       26

/* The class that the owner of a connection wants is said by the REQ, and is that of the frame which carries it. */
UNIT_RULE(path__is_in_the_class_that_its_owner_wants)
{
	struct roce_cm_connect connect = {
		.dst = passive->ip,
		.tos = 10 << 2 | 1,
		.service_id = SERVICE,
		.local = offer(active, "hello"),
		.timeout_us = UINT64_MAX,
	};
	struct roce_cm_conn *conn;
	struct roce_cm_msg req;

	active->tos = 26 << 2;
	assert_int_equal(roce_cm_connect(active->cm, NULL, &connect, active, world->now, &conn), 0);
	assert_int_equal(speak(active), 1);
	req = last_msg();
	assert_fields(req, (attr, ROCE_CM_ATTR_REQ), (req.traffic_class, 10 << 2));
	assert_int_equal(world->last[TOS_UNTAGGED], 10 << 2);
}

/* So it is with the address of this end. */
UNIT_RULE(path__begins_where_its_owner_wants)
{
	struct roce_cm_connect connect = {
		.dst = passive->ip,
		.src = active->ip,
		.service_id = SERVICE,
		.local = offer(active, "hello"),
		.timeout_us = UINT64_MAX,
	};
	struct roce_cm_conn *conn;
	struct roce_cm_msg req;

	connect.src.b[15] ^= 0x40;
	assert_int_equal(roce_cm_connect(active->cm, NULL, &connect, active, world->now, &conn), 0);
	assert_int_equal(speak(active), 1);
	req = last_msg();
	assert_fields(req, (attr, ROCE_CM_ATTR_REQ));
	assert_memory_equal(req.req.local_gid.b, connect.src.b, sizeof(connect.src.b));
	assert_memory_equal(world->last + SOURCE, connect.src.b + 12, 4);
}
