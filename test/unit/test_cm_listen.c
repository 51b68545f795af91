/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_talk.h"

UNIT_RULE(listen__has_one_for_each_service)
{
	struct roce_cm_listener *first, *second = NULL;

	first = world_listen(passive, 1);
	assert_int_equal(roce_cm_listen(passive->cm, NULL, SERVICE, 1, passive, &second),
			-EADDRINUSE);
	assert_null(second);
	roce_cm_unlisten(first);
	world_listen(passive, 1);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(roce_cm_listen(passive->cm, NULL, SERVICE + 1 + i, 1, passive,
						 &second),
				0);
	roce_cm_unlisten(second);
	world->alloc_fails_at = 0;
	assert_int_equal(roce_cm_listen(passive->cm, NULL, 1, 1, passive, &second), -ENOMEM);
	world->alloc_fails_at = -1;
	/* The rest goes with the manager. */
}

static struct roce_context
at_addresses(uint32_t n, const struct roce_ip *first, const struct roce_ip *second)
{
	struct roce_context context = { .addrs = n };

	if (n > 0)
		context.addr[0] = *first;
	if (n > 1)
		context.addr[1] = *second;
	return context;
}

/* As bound listeners of rdma_cm: one service, several addresses, each request at the listener of its address. */
UNIT_RULE(listen__is_at_the_addresses_of_its_context)
{
	const struct roce_ip another = roce_ip_from_v4(RTE_BE32(0xc6336463));
	const struct roce_ip third = roce_ip_from_v4(RTE_BE32(0xc6336464));
	struct roce_context here = at_addresses(1, &passive->ip, NULL);
	struct roce_context there = at_addresses(1, &another, NULL);
	struct roce_context both = at_addresses(2, &third, &passive->ip);
	struct roce_context all = at_addresses(0, NULL, NULL);
	struct roce_cm_msg req = good_request(passive);
	struct roce_cm_listener *one, *two, *no = NULL;
	int owner[2];

	passive->policy = POLICY_HOLD;
	assert_int_equal(roce_cm_listen(passive->cm, &there, SERVICE, 1, &owner[0], &one), 0);
	/* A request to an address without a listener is refused, and causes no event. */
	assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_INVALID_SERVICE_ID);
	assert_int_equal(passive->events, 0);

	assert_int_equal(roce_cm_listen(passive->cm, &here, SERVICE, 1, &owner[1], &two), 0);
	assert_int_equal(roce_cm_listen(passive->cm, &here, SERVICE, 1, passive, &no), -EADDRINUSE);
	assert_int_equal(roce_cm_listen(passive->cm, &both, SERVICE, 1, passive, &no), -EADDRINUSE);
	assert_int_equal(roce_cm_listen(passive->cm, &all, SERVICE, 1, passive, &no), -EADDRINUSE);
	assert_int_equal(roce_cm_listen(passive->cm, NULL, SERVICE, 1, passive, &no), -EADDRINUSE);
	hear(passive, &req);
	assert_string_equal(told_all(passive), "Q");
	assert_ptr_equal(passive->told[0].owner, &owner[1]);

	/* A listener on all addresses leaves none for another. */
	roce_cm_unlisten(two);
	roce_cm_unlisten(one);
	assert_int_equal(roce_cm_listen(passive->cm, &all, SERVICE, 1, passive, &one), 0);
	assert_int_equal(
			roce_cm_listen(passive->cm, &there, SERVICE, 1, passive, &no), -EADDRINUSE);
	assert_null(no);
}

UNIT_RULE(request__is_told_as_it_came)
{
	struct roce_cm_msg req = good_request(passive);
	const struct told *told = &passive->told[0];

	world_listen(passive, 1);
	passive->policy = POLICY_HOLD;
	hear(passive, &req);
	assert_int_equal(speak(passive), 0);
	assert_string_equal(told_all(passive), "Q");
	assert_fields(told->peer, (qpn, 0x333), (psn, 0x444));
	/* The flow label of the peer decides the source port of both directions. */
	assert_int_equal(told->path.udp_sport, 60071);
	assert_memory_equal(&told->path.dst_mac, &active->mac, 6);
	assert_memory_equal(&told->path.src_mac, &passive->mac, 6);
}

UNIT_RULE(request__is_refused_with_the_reason)
{
	static const struct {
		uint16_t reason;
		const char *what;
	} rule[] = {
		{ ROCE_CM_REJ_INVALID_SERVICE_ID, "nobody listens" },
		{ ROCE_CM_REJ_INVALID_TRANSPORT, "not reliable connected" },
		{ ROCE_CM_REJ_UNSUPPORTED, "version of the IP CM header" },
		{ ROCE_CM_REJ_UNSUPPORTED, "queue pair 1" },
		{ ROCE_CM_REJ_UNSUPPORTED, "the multicast queue pair" },
		{ ROCE_CM_REJ_UNSUPPORTED, "no id" },
		{ ROCE_CM_REJ_INVALID_MTU, "MTU code 0" },
		{ ROCE_CM_REJ_INVALID_MTU, "MTU code 6" },
	};

	world_listen(passive, 1);
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_msg req = good_request(passive);
		struct roce_cm_msg rej;
		struct roce_cm_mad mad;

		req.req.service_id += i == 0;
		req.req.transport = i == 1;
		req.param.qpn = i == 3 ? 1 : i == 4 ? 0xffffff : req.param.qpn;
		req.local_id = i == 5 ? 0 : req.local_id;
		req.param.mtu_code = i == 6 ? 0 : i == 7 ? 6 : 3;
		roce_cm_msg_encode(&req, &mad);
		if (i == 2)
			mad.req.private_data[0] = 0x10;
		world_deliver(passive, forge(passive, &mad));
		assert_int_equal(speak(passive), 1);
		rej = last_msg();
		if (rej.reason != rule[i].reason)
			fail_msg("%s: reason %u", rule[i].what, rej.reason);
		assert_fields(rej, (attr, ROCE_CM_ATTR_REJ), (about, ROCE_CM_ABOUT_REQ),
				(remote_id, req.local_id), (local_id, 0));
		assert_true(rej.tid == req.tid);
	}
	assert_int_equal(passive->events, 0);
	assert_int_equal(connections(passive), 0);
	assert_fields(*roce_cm_stats(passive->cm), (refused_no_listener, 1),
			(refused_unsupported, 7));
}

UNIT_RULE(backlog__is_a_bound)
{
	struct roce_cm_msg req = good_request(passive);
	struct roce_cm_param param = offer(passive, NULL);

	world_listen(passive, 3);
	passive->policy = POLICY_HOLD;
	for (unsigned int i = 0; i < 5; i++) {
		req.local_id++;
		req.param.qpn++;
		hear(passive, &req);
	}
	assert_int_equal(speak(passive), 2);
	assert_int_equal(last_msg().reason, ROCE_CM_REJ_NO_RESOURCES);
	assert_string_equal(told_all(passive), "QQQ");
	assert_int_equal(roce_cm_stats(passive->cm)->refused_backlog, 2);

	/* An answer makes room. */
	assert_int_equal(roce_cm_accept(passive->told[0].conn, &param, passive, world->now), 0);
	assert_int_equal(speak(passive), 1);
	hear(passive, &req);
	assert_int_equal(speak(passive), 0);
	assert_string_equal(told_all(passive), "QQQQ");
}

UNIT_RULE(backlog__is_refused_as_well_by_the_consumer)
{
	struct roce_cm_msg req = good_request(passive);

	world_listen(passive, 1);
	passive->policy = POLICY_REFUSE;
	assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_NO_RESOURCES);
	/* Said again, not asked again. */
	assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_NO_RESOURCES);
	assert_string_equal(told_all(passive), "Q");
	world_settle();
	assert_int_equal(connections(passive), 0);
}

UNIT_RULE(connections__are_bounded)
{
	struct roce_cm_msg req = good_request(passive);

	world_listen(passive, UINT32_MAX);
	passive->policy = POLICY_HOLD;
	for (unsigned int i = 0; i < 1100; i++) {
		req.local_id++;
		req.param.qpn++;
		hear(passive, &req);
	}
	assert_int_equal(passive->events, 1100);
	assert_int_equal(speak(passive), 0);
	req.local_id++;
	assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_NO_RESOURCES);
}

UNIT_RULE(unlisten__leaves_what_was_told)
{
	struct roce_cm_msg req = good_request(passive);
	struct roce_cm_param param = offer(passive, NULL);
	struct roce_cm_listener *listener = world_listen(passive, 2);

	passive->policy = POLICY_HOLD;
	hear(passive, &req);
	req.local_id++;
	hear(passive, &req);
	assert_string_equal(told_all(passive), "QQ");
	roce_cm_unlisten(listener);
	req.local_id++;
	assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_INVALID_SERVICE_ID);
	assert_int_equal(roce_cm_accept(passive->told[0].conn, &param, passive, world->now), 0);
	assert_int_equal(roce_cm_reject(passive->told[1].conn, 28, NULL, 0, world->now), 0);
	assert_int_equal(speak(passive), 2);
}

/* A request that came twice is one request: patience, the reply again, then silence. */
UNIT_RULE(duplicate__never_makes_a_second_connection)
{
	struct roce_cm_msg req = good_request(passive);
	struct roce_cm_msg rtu = { .attr = ROCE_CM_ATTR_RTU, .local_id = req.local_id };
	struct roce_cm_param param = offer(passive, "x");
	struct roce_cm_msg said;

	world_listen(passive, 4);
	passive->policy = POLICY_HOLD;
	hear(passive, &req);
	assert_fields(said_to(passive, &req), (attr, ROCE_CM_ATTR_MRA), (about, ROCE_CM_ABOUT_REQ),
			(remote_id, req.local_id));

	assert_int_equal(roce_cm_accept(passive->told[0].conn, &param, passive, world->now), 0);
	assert_int_equal(speak(passive), 1);
	said = said_to(passive, &req);
	assert_fields(said, (attr, ROCE_CM_ATTR_REP), (param.qpn, param.qpn));
	assert_true(said.tid == req.tid);

	rtu.remote_id = said.local_id;
	hear(passive, &rtu);
	hear(passive, &req);
	assert_int_equal(speak(passive), 0);
	assert_string_equal(told_all(passive), "QE");
	assert_int_equal(roce_cm_stats(passive->cm)->rx_duplicate_req, 3);
	assert_int_equal(connections(passive), 1);
}

/* Bring a connection up by hand. @return the id of this end. */
static uint32_t
establish(struct end *end, const struct roce_cm_msg *req)
{
	struct roce_cm_msg rtu = { .attr = ROCE_CM_ATTR_RTU, .local_id = req->local_id };

	rtu.remote_id = said_to(end, req).local_id;
	hear(end, &rtu);
	return rtu.remote_id;
}

/* The peer lost its memory: the old connection ends, the new one is refused once. */
UNIT_RULE(stale__connection_makes_room)
{
	enum {
		OTHER_ID,
		OTHER_REQUEST,
		SAME_AGAIN_LATE,
		WAYS
	};

	for (unsigned int way = 0; way < WAYS; way++) {
		struct roce_cm_msg req = good_request(passive);

		world_listen(passive, 4);
		passive->release_on_down = true;
		establish(passive, &req);
		assert_string_equal(told_all(passive), "QE");

		/* A request that comes while the old one may still be on the wire is an echo of it. */
		world->now += SECOND / 2;
		hear(passive, &req);
		assert_int_equal(speak(passive), 0);
		req.local_id += way == OTHER_ID;
		req.tid += way == OTHER_REQUEST;
		world->now += way == SAME_AGAIN_LATE ? 2 * SECOND : 0;
		assert_int_equal(said_to(passive, &req).reason, ROCE_CM_REJ_STALE);
		assert_string_equal(told_all(passive), "QED");
		assert_int_equal(roce_cm_stats(passive->cm)->refused_stale, 1);
		/* The same words are an echo again until the old one is forgotten; others are heard at once. */
		if (way == SAME_AGAIN_LATE) {
			hear(passive, &req);
			assert_int_equal(speak(passive), 0);
			world_settle();
		}
		assert_int_equal(said_to(passive, &req).attr, ROCE_CM_ATTR_REP);
		assert_string_equal(told_all(passive), "QEDQ");
		world_again();
	}
}

/* One that is over stands in nobody's way, and its end does not touch the one that came after it. */
UNIT_RULE(stale__is_nothing_that_waits_for_its_end)
{
	struct roce_cm_msg req = good_request(passive);
	struct roce_cm_msg dreq = { .attr = ROCE_CM_ATTR_DREQ, .local_id = req.local_id };

	world_listen(passive, 4);
	passive->release_on_down = true;
	dreq.remote_id = establish(passive, &req);
	dreq.qpn = 0x10100;
	hear(passive, &dreq);
	assert_int_equal(speak(passive), 1);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_TIMEWAIT), 1);
	/* The same again is an echo of the past, another one is new. */
	hear(passive, &req);
	assert_int_equal(speak(passive), 0);
	req.tid++;
	assert_int_equal(said_to(passive, &req).attr, ROCE_CM_ATTR_REP);
	assert_string_equal(told_all(passive), "QEDQ");
	while (in_state(passive, ROCE_CM_STATE_TIMEWAIT) != 0) {
		world->now += MS;
		speak(passive);
	}
	assert_int_equal(said_to(passive, &req).attr, ROCE_CM_ATTR_REP);
	assert_string_equal(told_all(passive), "QEDQ");
}

/* The same queue pair number of another host is another queue pair. */
UNIT_RULE(stale__is_a_matter_of_the_same_host)
{
	struct roce_cm_msg req = good_request(passive);

	world_listen(passive, 4);
	establish(passive, &req);
	other(passive)->ip = roce_ip_from_v4(RTE_BE32(0xc0000263));
	assert_int_equal(said_to(passive, &req).attr, ROCE_CM_ATTR_REP);
	assert_string_equal(told_all(passive), "QEQ");
}
