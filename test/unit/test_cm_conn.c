/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_talk.h"

UNIT_RULE(connect__tells_each_what_the_other_offers)
{
	struct roce_cm_conn *a, *b;
	const struct told *request = &passive->told[0];
	const struct told *reply = &active->told[0];

	world_connected(&a, &b);
	assert_fields(*reply, (owner, active), (conn, a));
	assert_string_equal(reply->private_data, "world");
	assert_fields(*reply, (private_len, ROCE_CM_PRIVATE_MAX_REP), (peer.qpn, 0x10100),
			(peer.psn, 0x123456), (peer.rnr_retry, 7));

	assert_ptr_equal(request->owner, passive);
	assert_string_equal(request->private_data, "hello");
	assert_fields(*request, (private_len, ROCE_CM_PRIVATE_MAX_REQ), (peer.qpn, 0x100),
			(peer.ack_timeout, 14), (peer.mtu_code, 3));
	assert_ptr_equal(passive->told[1].owner, b);

	/* One flow in both directions, over the same UDP source port, as rxe has it. */
	assert_int_equal(request->path.udp_sport, reply->path.udp_sport);
	assert_true(reply->path.udp_sport >= 49152);
	assert_true(roce_ip_equal(&request->path.dst_ip, &active->ip));
	assert_true(roce_ip_equal(&request->path.src_ip, &passive->ip));
	assert_memory_equal(&request->path.dst_mac, &active->mac, 6);
	assert_int_equal(request->path.mtu_code, 3);
	world_over(a, b);
}

UNIT_RULE(connect__judges_its_arguments)
{
	const struct roce_cm_connect good = { .dst = passive->ip,
		.service_id = SERVICE,
		.local = offer(active, "x"),
		.timeout_us = 1 };
	struct roce_cm_connect bad;
	struct roce_cm_conn *conn = NULL;

#define REFUSED(field, value)                                                                \
	do {                                                                                 \
		bad = good;                                                                  \
		bad.local.field = (value);                                                   \
		assert_int_equal(roce_cm_connect(active->cm, NULL, &bad, active, world->now, \
						 &conn),                                     \
				-EINVAL);                                                    \
	} while (0)
	REFUSED(qpn, 0);
	REFUSED(qpn, 1);
	REFUSED(qpn, 0xffffff);
	REFUSED(qpn, 0x1000000);
	REFUSED(psn, 0x1000000);
	REFUSED(private_len, ROCE_CM_PRIVATE_MAX_REQ + 1);
	REFUSED(private_data, NULL);
	REFUSED(retry, 8);
	REFUSED(rnr_retry, 8);
	REFUSED(ack_timeout, 32);
	REFUSED(mtu_code, 6);
#undef REFUSED
	assert_null(conn);
	assert_int_equal(connections(active), 0);
}

UNIT_RULE(connect__tells_nothing_from_inside)
{
	struct roce_cm_conn *conn;

	active->resolve_rc = -EHOSTUNREACH;
	conn = world_connect(active, UINT64_MAX);
	assert_int_equal(active->resolves, 0);
	assert_int_equal(active->events, 0);
	world_settle();
	assert_string_equal(told_all(active), "U");
	assert_int_equal(roce_cm_stats(active->cm)->tx_req, 0);
	world_over(conn, NULL);
}

/* Asked again every 100 ms for three seconds, and at once when the neighbour answers. */
UNIT_RULE(resolve__waits_for_the_neighbour)
{
	struct roce_cm_conn *conn;
	uint64_t begin = world->now;

	world_listen(passive, 1);
	active->resolve_rc = -EAGAIN;
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(1050);
	assert_in_range(active->resolves, 10, 11);
	assert_int_equal(in_state(active, ROCE_CM_STATE_RESOLVING), 1);
	world_settle();
	assert_string_equal(told_all(active), "U");
	assert_in_range(active->told[0].at - begin, 5 * SECOND, 5 * SECOND + 110 * MS);
	roce_cm_release(conn, world->now);
	world_settle();

	world_reset();
	active->resolve_rc = -EAGAIN;
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(10);
	active->resolve_rc = 0;
	begin = world->now;
	roce_cm_resolved(active->cm, world->now);
	world_run_ms(5);
	assert_string_equal(told_all(active), "P");
	assert_true(active->told[0].at - begin < MS);
	world_over(conn, passive->told[0].conn);
}

UNIT_RULE(resolve__ends_with_the_patience_of_the_consumer)
{
	uint64_t begin = world->now;

	active->resolve_rc = -EAGAIN;
	active->release_on_down = true;
	world_connect(active, 250000);
	world_settle();
	assert_string_equal(told_all(active), "U");
	assert_in_range(active->told[0].at - begin, 250 * MS, 252 * MS);
	world_all_over();
}

/* For a queue pair that is connected without messages: the way, and nothing else. */
UNIT_RULE(find_path__tells_the_path_and_sends_nothing)
{
	const struct roce_ip dst = passive->ip;
	struct roce_cm_conn *conn;

	assert_int_equal(roce_cm_find_path(active->cm, NULL, &dst, active, world->now, &conn), 0);
	assert_int_equal(active->events, 0);
	world_settle();
	assert_string_equal(told_all(active), "W");
	assert_fields(active->told[0], (owner, active), (conn, conn));
	assert_true(roce_ip_equal(&active->told[0].path.dst_ip, &dst));
	assert_int_equal(active->told[0].path.mtu_code, active->mtu_code);
	assert_int_equal(roce_cm_stats(active->cm)->tx_req, 0);
	assert_int_equal(passive->events, 0);
	world_over(conn, NULL);
}

/* It waits as a request does, may be given up meanwhile, and released from inside. */
UNIT_RULE(find_path__ends_like_a_request)
{
	const struct roce_ip dst = passive->ip;
	struct roce_cm_conn *conn;
	uint64_t begin = world->now;

	active->resolve_rc = -EAGAIN;
	active->release_on_down = true;
	assert_int_equal(roce_cm_find_path(active->cm, NULL, &dst, active, world->now, &conn), 0);
	world_settle();
	assert_string_equal(told_all(active), "U");
	assert_in_range(active->told[0].at - begin, 5 * SECOND, 5 * SECOND + 110 * MS);

	assert_int_equal(roce_cm_find_path(active->cm, NULL, &dst, active, world->now, &conn), 0);
	world_run_ms(10);
	roce_cm_release(conn, world->now);
	assert_int_equal(connections(active), 0);

	assert_int_equal(roce_cm_find_path(active->cm, NULL, &dst, active, world->now, &conn), 0);
	world_run_ms(10);
	active->resolve_rc = 0;
	roce_cm_resolved(active->cm, world->now);
	world_run_ms(1);
	assert_string_equal(told_all(active), "UW");
	/* The active releases from inside what is over. */
	assert_int_equal(connections(active), 0);

	world->alloc_fails_at = 0;
	assert_int_equal(roce_cm_find_path(active->cm, NULL, &dst, active, world->now, &conn),
			-ENOMEM);
	world->alloc_fails_at = -1;
	world_all_over();
}

/* The owner of the active end may refuse the reply; the peer hears a REJ. */
UNIT_RULE(reply__can_be_refused)
{
	struct roce_cm_conn *conn;

	world_listen(passive, 1);
	active->reply_rc = -ENOMEM;
	conn = world_connect(active, UINT64_MAX);
	passive->release_on_down = true;
	world_settle();
	expect_told("P", "QR");
	assert_int_equal(passive->told[1].reason, ROCE_CM_REJ_NO_RESOURCES);
	world_over(conn, NULL);
}

UNIT_RULE(accept__judges_its_arguments)
{
	struct roce_cm_param param = offer(passive, NULL);
	struct roce_cm_conn *a, *b;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 1);
	a = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	b = passive->told[0].conn;
	param.private_len = ROCE_CM_PRIVATE_MAX_REP + 1;
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), -EINVAL);
	param.private_len = 0;
	param.qpn = 1;
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), -EINVAL);
	assert_int_equal(roce_cm_reject(b, 28, "x", ROCE_CM_PRIVATE_MAX_REJ + 1, world->now),
			-EINVAL);
	param.qpn = 5;
	/* Only who was asked may answer. */
	assert_int_equal(roce_cm_accept(a, &param, a, world->now), -EINVAL);
	assert_int_equal(roce_cm_reject(a, 28, NULL, 0, world->now), -EINVAL);
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), 0);
	/* And only once. */
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), -EINVAL);
	assert_int_equal(roce_cm_reject(b, 28, NULL, 0, world->now), -EINVAL);
	world_over(a, b);
}

/* The client died while its request waited: accept says so, and reject still cleans up. */
UNIT_RULE(accept__is_too_late_when_the_peer_gave_up)
{
	struct roce_cm_param param = offer(passive, NULL);
	struct roce_cm_conn *b[2];

	passive->policy = POLICY_HOLD;
	world_listen(passive, 2);
	for (unsigned int i = 0; i < 2; i++) {
		struct roce_cm_conn *a = world_connect(active, UINT64_MAX);

		world_run_ms(1);
		roce_cm_release(a, world->now);
		world_run_ms(i == 0 ? 1 : 5000);
		b[i] = passive->told[i].conn;
		assert_int_equal(roce_cm_accept(b[i], &param, b[i], world->now), -ENOTCONN);
	}
	assert_string_equal(told_all(passive), "QQ");
	roce_cm_release(b[0], world->now);
	assert_int_equal(roce_cm_reject(b[1], 28, NULL, 0, world->now), 0);
	world_all_over();
}

UNIT_RULE(reject__is_told_with_its_private_data)
{
	passive->policy = POLICY_REJECT;
	world_listen(passive, 1);
	active->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_run_ms(1);
	assert_string_equal(told_all(active), "R");
	assert_int_equal(active->told[0].reason, ROCE_CM_REJ_CONSUMER);
	assert_int_equal(active->told[0].private_len, ROCE_CM_PRIVATE_MAX_REJ);
	assert_string_equal(active->told[0].private_data, "no");
	world_all_over();
}

/* A slow consumer: the request is repeated, the peer is told to wait, and there is one connection. */
UNIT_RULE(accept__may_come_late)
{
	struct roce_cm_param param = offer(passive, "late");
	struct roce_cm_conn *a, *b;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 1);
	a = world_connect(active, UINT64_MAX);
	world_run_ms(60000);
	b = passive->told[0].conn;
	/* One at 200 ms, then one each time that the MRA's 17 s are over. */
	assert_in_range(roce_cm_stats(passive->cm)->tx_mra, 3, 5);
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), 0);
	world_run_ms(1);
	expect_told("P", "QE");
	world_over(a, b);
}

UNIT_RULE(disconnect__is_told_to_both)
{
	for (unsigned int who = 0; who < 2; who++) {
		struct roce_cm_conn *conn[2];

		world_connected(&conn[0], &conn[1]);
		assert_true(roce_cm_disconnect(conn[who], world->now));
		world_settle();
		expect_told("PD", "QED");
		/* REQ, REP, RTU, DREQ, DREP. */
		assert_int_equal(world->sent, 5);
		assert_false(roce_cm_disconnect(conn[who], world->now));
		assert_int_equal(in_state(&world->end[who], ROCE_CM_STATE_CLOSED), 1);
		world_over(conn[0], conn[1]);
	}
}

UNIT_RULE(disconnect__may_come_from_both_at_once)
{
	struct roce_cm_conn *conn[2];

	world_connected(&conn[0], &conn[1]);
	assert_true(roce_cm_disconnect(conn[0], world->now));
	assert_true(roce_cm_disconnect(conn[1], world->now));
	world_settle();
	expect_told("PD", "QED");
	world_over(conn[0], conn[1]);
}

/* Stop the talk after @p sent messages and let one end release there: it hears nothing more, and all ends well. */
static void
release_at(unsigned int who, unsigned int sent, enum policy policy, int resolve_rc)
{
	struct end *end = &world->end[who];
	struct end *peer = &world->end[!who];
	struct roce_cm_conn *conn[2];
	unsigned int before;

	world_listen(passive, 1);
	passive->policy = policy;
	active->resolve_rc = resolve_rc;
	conn[0] = world_connect(active, UINT64_MAX);
	/* A message is delivered in the poll after the one that sent it, not yet answered. */
	while (world->sent < sent || world->flying > 0) {
		if (!world_poll())
			world->now = RTE_MAX(world_next(), world->now);
		if (world->sent >= sent && world->flying == 0)
			break;
	}
	conn[1] = passive->events > 0 ? passive->told[0].conn : NULL;
	before = end->events;
	peer->release_on_down = true;
	assert_non_null(conn[who]);
	roce_cm_release(conn[who], world->now);
	active->resolve_rc = 0;
	world_settle();
	assert_int_equal(end->events, before);
	/* A request that its consumer never answered is still its consumer's. */
	if (policy == POLICY_HOLD && who == 0 && conn[1] != NULL) {
		assert_int_equal(in_state(peer, ROCE_CM_STATE_CLOSED), 1);
		roce_cm_release(conn[1], world->now);
	}
	world_all_over();
}

UNIT_RULE(release__is_possible_in_every_state)
{
	release_at(0, 0, POLICY_ACCEPT, -EAGAIN); /* RESOLVING, not asked yet */
	release_at(0, 1, POLICY_HOLD, 0);         /* REQ_SENT, REQ_RCVD at the peer */
	release_at(1, 1, POLICY_HOLD, 0);         /* REQ_RCVD */
	for (unsigned int sent = 1; sent <= 3; sent++) {
		release_at(0, sent, POLICY_ACCEPT, 0);
		release_at(1, sent, POLICY_ACCEPT, 0);
	}
}

/* Also from where nobody waits for it: while it ends, and when it has ended. */
UNIT_RULE(release__is_possible_after_the_end)
{
	static const uint64_t after_ms[] = { 0, 1, 60, 5000 };

	for (size_t i = 0; i < RTE_DIM(after_ms); i++) {
		struct roce_cm_conn *a, *b;

		world_connected(&a, &b);
		assert_true(roce_cm_disconnect(a, world->now));
		world_run_ms(after_ms[i]);
		world_over(a, b);
	}
}

UNIT_RULE(release__ends_a_connection_like_a_disconnect)
{
	for (unsigned int who = 0; who < 2; who++) {
		struct roce_cm_conn *conn[2];

		world_connected(&conn[0], &conn[1]);
		world->end[!who].release_on_down = true;
		roce_cm_release(conn[who], world->now);
		world_settle();
		assert_int_equal(told_times(&world->end[who], ROCE_CM_DISCONNECTED), 0);
		assert_int_equal(told_times(&world->end[!who], ROCE_CM_DISCONNECTED), 1);
		world_all_over();
	}
}

/* Inside a notify: end this connection, and begin another. */
static void
reenter(struct end *end, const struct roce_cm_event *event)
{
	struct roce_cm_conn *conn = event->conn;

	switch (event->kind) {
	case ROCE_CM_REPLY:
		assert_false(roce_cm_disconnect(conn, world->now));
		roce_cm_release(conn, world->now);
		break;
	case ROCE_CM_REJECTED:
		roce_cm_release(conn, world->now);
		if (end->events < 8)
			world_connect(end, UINT64_MAX);
		break;
	default:
		break;
	}
}

UNIT_RULE(notify__may_call_everything)
{
	world_listen(passive, 1);
	active->also = reenter;
	passive->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_settle();
	expect_told("P", "QR");

	world_reset();
	passive->policy = POLICY_REJECT;
	active->also = reenter;
	world_connect(active, UINT64_MAX);
	world_settle();
	assert_string_equal(told_all(active), "RRRRRRRR");

	/* End and release from inside ESTABLISHED, which came with the DREQ. */
	world_reset();
	passive->end_on_up = true;
	passive->release_on_down = true;
	world->lose = 1 << 2;
	world_connect(active, UINT64_MAX);
	active->also = NULL;
	world_run_ms(1);
	active->release_on_down = true;
	assert_true(roce_cm_disconnect(active->told[0].conn, world->now));
	world_settle();
	expect_told("PD", "QED");
	world_all_over();
}
