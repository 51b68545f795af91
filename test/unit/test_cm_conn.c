/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_talk.h"

static void
connect__tells_each_what_the_other_offers(void **state)
{
	struct roce_cm_conn *a, *b;
	struct world *world = world_connected(&a, &b);
	const struct told *request = &world->end[1].told[0];
	const struct told *reply = &world->end[0].told[0];

	assert_fields(*reply, (owner, &world->end[0]), (conn, a));
	assert_string_equal(reply->private_data, "world");
	assert_fields(*reply, (private_len, ROCE_CM_PRIVATE_MAX_REP), (peer.qpn, 0x10100),
			(peer.psn, 0x123456), (peer.rnr_retry, 7));

	assert_ptr_equal(request->owner, &world->end[1]);
	assert_string_equal(request->private_data, "hello");
	assert_fields(*request, (private_len, ROCE_CM_PRIVATE_MAX_REQ), (peer.qpn, 0x100),
			(peer.ack_timeout, 14), (peer.mtu_code, 3));
	assert_ptr_equal(world->end[1].told[1].owner, b);

	/* One flow in both directions, over the same UDP source port, as rxe has it. */
	assert_int_equal(request->path.udp_sport, reply->path.udp_sport);
	assert_true(reply->path.udp_sport >= 49152);
	assert_true(roce_ip_equal(&request->path.dst_ip, &world->end[0].ip));
	assert_true(roce_ip_equal(&request->path.src_ip, &world->end[1].ip));
	assert_memory_equal(&request->path.dst_mac, &world->end[0].mac, 6);
	assert_int_equal(request->path.mtu_code, 3);
	roce_cm_release(a, world->now);
	roce_cm_release(b, world->now);
	world_all_over(world);
}

static void
connect__judges_its_arguments(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	const struct roce_cm_connect good = { .dst = world->end[1].ip,
		.service_id = SERVICE,
		.local = offer(end, "x"),
		.timeout_us = 1 };
	struct roce_cm_connect bad;
	struct roce_cm_conn *conn = NULL;

#define REFUSED(field, value)                                                                  \
	do {                                                                                   \
		bad = good;                                                                    \
		bad.local.field = (value);                                                     \
		assert_int_equal(roce_cm_connect(end->cm, NULL, &bad, end, world->now, &conn), \
				-EINVAL);                                                      \
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
	assert_int_equal(connections(end), 0);
	world_destroy(world);
}

static void
connect__tells_nothing_from_inside(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	struct roce_cm_conn *conn;

	end->resolve_rc = -EHOSTUNREACH;
	conn = world_connect(end, UINT64_MAX);
	assert_int_equal(end->resolves, 0);
	assert_int_equal(end->events, 0);
	world_settle(world);
	assert_string_equal(told_all(end), "U");
	assert_int_equal(roce_cm_stats(end->cm)->tx_req, 0);
	roce_cm_release(conn, world->now);
	world_all_over(world);
}

/* Asked again every 100 ms for three seconds, and at once when the neighbour answers. */
static void
resolve__waits_for_the_neighbour(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	struct roce_cm_conn *conn;
	uint64_t begin = world->now;

	world_listen(&world->end[1], 1);
	end->resolve_rc = -EAGAIN;
	conn = world_connect(end, UINT64_MAX);
	world_run_ms(world, 1050);
	assert_in_range(end->resolves, 10, 11);
	assert_int_equal(in_state(end, ROCE_CM_STATE_RESOLVING), 1);
	world_settle(world);
	assert_string_equal(told_all(end), "U");
	assert_in_range(end->told[0].at - begin, 5 * SECOND, 5 * SECOND + 110 * MS);
	roce_cm_release(conn, world->now);
	world_settle(world);

	world_reset(world);
	end->resolve_rc = -EAGAIN;
	conn = world_connect(end, UINT64_MAX);
	world_run_ms(world, 10);
	end->resolve_rc = 0;
	begin = world->now;
	roce_cm_resolved(end->cm, world->now);
	world_run_ms(world, 5);
	assert_string_equal(told_all(end), "P");
	assert_true(end->told[0].at - begin < MS);
	roce_cm_release(conn, world->now);
	roce_cm_release(world->end[1].told[0].conn, world->now);
	world_all_over(world);
}

static void
resolve__ends_with_the_patience_of_the_consumer(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	uint64_t begin = world->now;

	end->resolve_rc = -EAGAIN;
	end->release_on_down = true;
	world_connect(end, 250000);
	world_settle(world);
	assert_string_equal(told_all(end), "U");
	assert_in_range(end->told[0].at - begin, 250 * MS, 252 * MS);
	world_all_over(world);
}

/* For a queue pair that is connected without messages: the way, and nothing else. */
static void
find_path__tells_the_path_and_sends_nothing(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	const struct roce_ip dst = world->end[1].ip;
	struct roce_cm_conn *conn;

	assert_int_equal(roce_cm_find_path(end->cm, NULL, &dst, end, world->now, &conn), 0);
	assert_int_equal(end->events, 0);
	world_settle(world);
	assert_string_equal(told_all(end), "W");
	assert_fields(end->told[0], (owner, end), (conn, conn));
	assert_true(roce_ip_equal(&end->told[0].path.dst_ip, &dst));
	assert_int_equal(end->told[0].path.mtu_code, end->mtu_code);
	assert_int_equal(roce_cm_stats(end->cm)->tx_req, 0);
	assert_int_equal(world->end[1].events, 0);
	roce_cm_release(conn, world->now);
	world_all_over(world);
}

/* It waits as a request does, may be given up meanwhile, and released from inside. */
static void
find_path__ends_like_a_request(void **state)
{
	struct world *world = world_create();
	struct end *end = &world->end[0];
	const struct roce_ip dst = world->end[1].ip;
	struct roce_cm_conn *conn;
	uint64_t begin = world->now;

	end->resolve_rc = -EAGAIN;
	end->release_on_down = true;
	assert_int_equal(roce_cm_find_path(end->cm, NULL, &dst, end, world->now, &conn), 0);
	world_settle(world);
	assert_string_equal(told_all(end), "U");
	assert_in_range(end->told[0].at - begin, 5 * SECOND, 5 * SECOND + 110 * MS);

	assert_int_equal(roce_cm_find_path(end->cm, NULL, &dst, end, world->now, &conn), 0);
	world_run_ms(world, 10);
	roce_cm_release(conn, world->now);
	assert_int_equal(connections(end), 0);

	assert_int_equal(roce_cm_find_path(end->cm, NULL, &dst, end, world->now, &conn), 0);
	world_run_ms(world, 10);
	end->resolve_rc = 0;
	roce_cm_resolved(end->cm, world->now);
	world_run_ms(world, 1);
	assert_string_equal(told_all(end), "UW");
	/* The end releases from inside what is over. */
	assert_int_equal(connections(end), 0);

	world->alloc_fails_at = 0;
	assert_int_equal(roce_cm_find_path(end->cm, NULL, &dst, end, world->now, &conn), -ENOMEM);
	world->alloc_fails_at = -1;
	world_all_over(world);
}

/* The owner of the active end may refuse the reply; the peer hears a REJ. */
static void
reply__can_be_refused(void **state)
{
	struct world *world = world_create();
	struct end *active = &world->end[0];
	struct end *passive = &world->end[1];
	struct roce_cm_conn *conn;

	world_listen(passive, 1);
	active->reply_rc = -ENOMEM;
	conn = world_connect(active, UINT64_MAX);
	passive->release_on_down = true;
	world_settle(world);
	assert_string_equal(told_all(active), "P");
	assert_string_equal(told_all(passive), "QR");
	assert_int_equal(passive->told[1].reason, ROCE_CM_REJ_NO_RESOURCES);
	roce_cm_release(conn, world->now);
	world_all_over(world);
}

static void
accept__judges_its_arguments(void **state)
{
	struct world *world = world_create();
	struct end *passive = &world->end[1];
	struct roce_cm_param param = offer(passive, NULL);
	struct roce_cm_conn *a, *b;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 1);
	a = world_connect(&world->end[0], UINT64_MAX);
	world_run_ms(world, 1);
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
	roce_cm_release(a, world->now);
	roce_cm_release(b, world->now);
	world_all_over(world);
}

/* The client died while its request waited: accept says so, and reject still cleans up. */
static void
accept__is_too_late_when_the_peer_gave_up(void **state)
{
	struct world *world = world_create();
	struct end *passive = &world->end[1];
	struct roce_cm_param param = offer(passive, NULL);
	struct roce_cm_conn *b[2];
	unsigned int i;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 2);
	for (i = 0; i < 2; i++) {
		struct roce_cm_conn *a = world_connect(&world->end[0], UINT64_MAX);

		world_run_ms(world, 1);
		roce_cm_release(a, world->now);
		world_run_ms(world, i == 0 ? 1 : 5000);
		b[i] = passive->told[i].conn;
		assert_int_equal(roce_cm_accept(b[i], &param, b[i], world->now), -ENOTCONN);
	}
	assert_string_equal(told_all(passive), "QQ");
	roce_cm_release(b[0], world->now);
	assert_int_equal(roce_cm_reject(b[1], 28, NULL, 0, world->now), 0);
	world_all_over(world);
}

static void
reject__is_told_with_its_private_data(void **state)
{
	struct world *world = world_create();
	struct end *active = &world->end[0];

	world->end[1].policy = POLICY_REJECT;
	world_listen(&world->end[1], 1);
	active->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_run_ms(world, 1);
	assert_string_equal(told_all(active), "R");
	assert_int_equal(active->told[0].reason, ROCE_CM_REJ_CONSUMER);
	assert_int_equal(active->told[0].private_len, ROCE_CM_PRIVATE_MAX_REJ);
	assert_string_equal(active->told[0].private_data, "no");
	world_all_over(world);
}

/* A slow consumer: the request is repeated, the peer is told to wait, and there is one connection. */
static void
accept__may_come_late(void **state)
{
	struct world *world = world_create();
	struct end *passive = &world->end[1];
	struct roce_cm_param param = offer(passive, "late");
	struct roce_cm_conn *a, *b;

	passive->policy = POLICY_HOLD;
	world_listen(passive, 1);
	a = world_connect(&world->end[0], UINT64_MAX);
	world_run_ms(world, 60000);
	b = passive->told[0].conn;
	/* One at 200 ms, then one each time that the MRA's 17 s are over. */
	assert_in_range(roce_cm_stats(passive->cm)->tx_mra, 3, 5);
	assert_int_equal(roce_cm_accept(b, &param, b, world->now), 0);
	world_run_ms(world, 1);
	assert_string_equal(told_all(&world->end[0]), "P");
	assert_string_equal(told_all(passive), "QE");
	roce_cm_release(a, world->now);
	roce_cm_release(b, world->now);
	world_all_over(world);
}

static void
disconnect__is_told_to_both(void **state)
{
	unsigned int who;

	for (who = 0; who < 2; who++) {
		struct roce_cm_conn *conn[2];
		struct world *world = world_connected(&conn[0], &conn[1]);

		assert_true(roce_cm_disconnect(conn[who], world->now));
		world_settle(world);
		assert_string_equal(told_all(&world->end[0]), "PD");
		assert_string_equal(told_all(&world->end[1]), "QED");
		/* REQ, REP, RTU, DREQ, DREP. */
		assert_int_equal(world->sent, 5);
		assert_false(roce_cm_disconnect(conn[who], world->now));
		assert_int_equal(in_state(&world->end[who], ROCE_CM_STATE_CLOSED), 1);
		roce_cm_release(conn[0], world->now);
		roce_cm_release(conn[1], world->now);
		world_all_over(world);
	}
}

static void
disconnect__may_come_from_both_at_once(void **state)
{
	struct roce_cm_conn *conn[2];
	struct world *world = world_connected(&conn[0], &conn[1]);

	assert_true(roce_cm_disconnect(conn[0], world->now));
	assert_true(roce_cm_disconnect(conn[1], world->now));
	world_settle(world);
	assert_string_equal(told_all(&world->end[0]), "PD");
	assert_string_equal(told_all(&world->end[1]), "QED");
	roce_cm_release(conn[0], world->now);
	roce_cm_release(conn[1], world->now);
	world_all_over(world);
}

/* Stop the talk after @p sent messages and let one end release there: it hears nothing more, and all ends well. */
static void
release_at(unsigned int who, unsigned int sent, enum policy policy, int resolve_rc)
{
	struct world *world = world_create();
	struct end *end = &world->end[who];
	struct end *peer = &world->end[!who];
	struct roce_cm_conn *conn[2];
	unsigned int before;

	world_listen(&world->end[1], 1);
	world->end[1].policy = policy;
	world->end[0].resolve_rc = resolve_rc;
	conn[0] = world_connect(&world->end[0], UINT64_MAX);
	/* A message is delivered in the poll after the one that sent it, not yet answered. */
	while (world->sent < sent || world->flying > 0) {
		if (!world_poll(world))
			world->now = RTE_MAX(world_next(world), world->now);
		if (world->sent >= sent && world->flying == 0)
			break;
	}
	conn[1] = world->end[1].events > 0 ? world->end[1].told[0].conn : NULL;
	before = end->events;
	peer->release_on_down = true;
	assert_non_null(conn[who]);
	roce_cm_release(conn[who], world->now);
	world->end[0].resolve_rc = 0;
	world_settle(world);
	assert_int_equal(end->events, before);
	/* A request that its consumer never answered is still its consumer's. */
	if (policy == POLICY_HOLD && who == 0 && conn[1] != NULL) {
		assert_int_equal(in_state(peer, ROCE_CM_STATE_CLOSED), 1);
		roce_cm_release(conn[1], world->now);
	}
	world_all_over(world);
}

static void
release__is_possible_in_every_state(void **state)
{
	unsigned int sent;

	release_at(0, 0, POLICY_ACCEPT, -EAGAIN); /* RESOLVING, not asked yet */
	release_at(0, 1, POLICY_HOLD, 0);         /* REQ_SENT, REQ_RCVD at the peer */
	release_at(1, 1, POLICY_HOLD, 0);         /* REQ_RCVD */
	for (sent = 1; sent <= 3; sent++) {
		release_at(0, sent, POLICY_ACCEPT, 0);
		release_at(1, sent, POLICY_ACCEPT, 0);
	}
}

/* Also from where nobody waits for it: while it ends, and when it has ended. */
static void
release__is_possible_after_the_end(void **state)
{
	static const uint64_t after_ms[] = { 0, 1, 60, 5000 };
	size_t i;

	for (i = 0; i < RTE_DIM(after_ms); i++) {
		struct roce_cm_conn *a, *b;
		struct world *world = world_connected(&a, &b);

		assert_true(roce_cm_disconnect(a, world->now));
		world_run_ms(world, after_ms[i]);
		roce_cm_release(a, world->now);
		roce_cm_release(b, world->now);
		world_all_over(world);
	}
}

static void
release__ends_a_connection_like_a_disconnect(void **state)
{
	unsigned int who;

	for (who = 0; who < 2; who++) {
		struct roce_cm_conn *conn[2];
		struct world *world = world_connected(&conn[0], &conn[1]);

		world->end[!who].release_on_down = true;
		roce_cm_release(conn[who], world->now);
		world_settle(world);
		assert_int_equal(told_times(&world->end[who], ROCE_CM_DISCONNECTED), 0);
		assert_int_equal(told_times(&world->end[!who], ROCE_CM_DISCONNECTED), 1);
		world_all_over(world);
	}
}

/* Inside a notify: end this connection, and begin another. */
static void
reenter(struct end *end, const struct roce_cm_event *event)
{
	struct roce_cm_conn *conn = event->conn;

	switch (event->kind) {
	case ROCE_CM_REPLY:
		assert_false(roce_cm_disconnect(conn, end->world->now));
		roce_cm_release(conn, end->world->now);
		break;
	case ROCE_CM_REJECTED:
		roce_cm_release(conn, end->world->now);
		if (end->events < 8)
			world_connect(end, UINT64_MAX);
		break;
	default:
		break;
	}
}

static void
notify__may_call_everything(void **state)
{
	struct world *world = world_create();
	struct end *active = &world->end[0];
	struct end *passive = &world->end[1];

	world_listen(passive, 1);
	active->also = reenter;
	passive->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_settle(world);
	assert_string_equal(told_all(active), "P");
	assert_string_equal(told_all(passive), "QR");

	world_reset(world);
	passive->policy = POLICY_REJECT;
	active->also = reenter;
	world_connect(active, UINT64_MAX);
	world_settle(world);
	assert_string_equal(told_all(active), "RRRRRRRR");

	/* End and release from inside ESTABLISHED, which came with the DREQ. */
	world_reset(world);
	passive->end_on_up = true;
	passive->release_on_down = true;
	world->lose = 1 << 2;
	world_connect(active, UINT64_MAX);
	active->also = NULL;
	world_run_ms(world, 1);
	active->release_on_down = true;
	assert_true(roce_cm_disconnect(active->told[0].conn, world->now));
	world_settle(world);
	assert_string_equal(told_all(active), "PD");
	assert_string_equal(told_all(passive), "QED");
	world_all_over(world);
}

RULES = {
	cmocka_unit_test(connect__tells_each_what_the_other_offers),
	cmocka_unit_test(connect__judges_its_arguments),
	cmocka_unit_test(connect__tells_nothing_from_inside),
	cmocka_unit_test(resolve__waits_for_the_neighbour),
	cmocka_unit_test(resolve__ends_with_the_patience_of_the_consumer),
	cmocka_unit_test(find_path__tells_the_path_and_sends_nothing),
	cmocka_unit_test(find_path__ends_like_a_request),
	cmocka_unit_test(reply__can_be_refused),
	cmocka_unit_test(accept__judges_its_arguments),
	cmocka_unit_test(accept__is_too_late_when_the_peer_gave_up),
	cmocka_unit_test(reject__is_told_with_its_private_data),
	cmocka_unit_test(accept__may_come_late),
	cmocka_unit_test(disconnect__is_told_to_both),
	cmocka_unit_test(disconnect__may_come_from_both_at_once),
	cmocka_unit_test(release__is_possible_in_every_state),
	cmocka_unit_test(release__is_possible_after_the_end),
	cmocka_unit_test(release__ends_a_connection_like_a_disconnect),
	cmocka_unit_test(notify__may_call_everything),
};
