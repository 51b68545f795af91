/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of roce/cm.h: how they begin, how they end, and what is told of it. */

#include <errno.h>
#include <string.h>

#include "rig.h"

static const uint8_t nobody[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 99 };

static void
connect_to(struct pair *pair, const uint8_t ip[16], uint16_t port, const char *text, uint64_t us)
{
	struct roce_cm_conn_param param = param_of(pair->a.qp, text);

	ok(roce_cm_id_connect(pair->a.id, ip, port, &param, us));
}

/* The end that is asked learns who asks and what it says; the end that asked, what the answer says. */
static void
connect__private_data_both_ways(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param answer = param_of(pair->b.qp, "welcome");
	struct roce_cm_event_info event;

	connect_to(pair, ip_b, PORT, "hello", UINT64_MAX);
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(event.listen_id, pair->listener);
	assert_ptr_equal(event.user, pair);
	assert_ptr_equal(roce_cm_id_user(event.id), pair);
	assert_memory_equal(event.remote_ip, ip_a, sizeof(ip_a));
	assert_int_not_equal(event.remote_port, 0);
	assert_int_equal(event.responder_resources, 4);
	assert_int_equal(event.initiator_depth, 16);
	assert_true(event.private_data_len >= sizeof("hello"));
	assert_string_equal(event.private_data, "hello");
	pair->b.id = event.id;
	roce_cm_id_set_user(event.id, &pair->b);
	ok(roce_cm_id_accept(event.id, &answer));
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(event.user, &pair->a);
	assert_ptr_equal(event.id, pair->a.id);
	assert_string_equal(event.private_data, "welcome");
	assert_null(event.listen_id);
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(event.user, &pair->b);
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RTS);
}

/* The refusal says 28 and its data; the queue pair keeps its receives, and a second try has it connected. */
static void
reject__with_data_and_try_again(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_event_info event;
	uint32_t requests, receives;

	ok(post_recv(&pair->a, pair->a.qp, 1, 0, 64));
	connect_to(pair, ip_b, PORT, NULL, UINT64_MAX);
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST);
	ok(roce_cm_id_reject(event.id, "no", 3));
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED);
	assert_int_equal(event.status, 28);
	assert_string_equal(event.private_data, "no");
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_RESET);
	roce_qp_depth(pair->a.qp, &requests, &receives);
	assert_int_equal(receives, 1);
	roce_cm_id_destroy(pair->a.id);
	ok(roce_cm_id_create(pair->a.context, &pair->a, &pair->a.id));
	pair_connect(pair);
}

static void
connect__nobody_listens(void **state)
{
	struct pair *pair = *state;

	connect_to(pair, ip_b, PORT + 1, NULL, UINT64_MAX);
	assert_int_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED).status, 8);
	assert_int_equal(roce_cm_id_listen(pair->a.id, PORT, 1), -EINVAL);
}

static void
connect__no_such_address(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_event_info event;

	connect_to(pair, nobody, PORT, NULL, 20000);
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_UNREACHABLE);
	assert_int_equal(event.status, -EHOSTUNREACH);
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_RESET);
}

/* A listener that does not answer in time. */
static void
connect__no_answer(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_event_info event;
	struct roce_cm_id *request;
	struct roce_cm_conn_param answer = param_of(pair->b.qp, NULL);

	connect_to(pair, ip_b, PORT, NULL, 500000);
	request = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_UNREACHABLE);
	assert_int_equal(event.status, -ETIMEDOUT);
	settle(pair);
	/* The peer has given up: that leaves the queue pair as it was. */
	assert_int_equal(roce_cm_id_accept(request, &answer), -ENOTCONN);
	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RESET);
	assert_int_equal(roce_cm_id_accept(request, &answer), -EINVAL);
	roce_cm_id_destroy(request);
	want_quiet(pair, &pair->b);
}

/* One more than the backlog is refused for want of room. */
static void
listen__backlog(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_id *id[5];
	struct roce_qp *qp[5];

	for (int i = 0; i < 5; i++) {
		struct roce_cm_conn_param param;

		qp[i] = end_qp(&pair->a, NULL);
		param = param_of(qp[i], NULL);
		ok(roce_cm_id_create(pair->a.context, &qp[i], &id[i]));
		ok(roce_cm_id_connect(id[i], ip_b, PORT, &param, UINT64_MAX));
		settle(pair);
	}
	assert_int_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED).status, 3);
	for (int i = 0; i < 4; i++)
		ok(roce_cm_id_reject(want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id,
				NULL, 0));
	for (int i = 0; i < 4; i++)
		assert_int_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED).status, 28);
	for (int i = 0; i < 5; i++) {
		roce_cm_id_destroy(id[i]);
		roce_qp_destroy(qp[i]);
	}
}

/* Both are told; receives are flushed before that; neither end can do it again. */
static void
disconnect__either_side(void **state)
{
	struct pair *pair = *state;
	struct end *first[2] = { &pair->a, &pair->b };

	for (int side = 0; side < 2; side++) {
		struct end *end = first[side], *other = first[!side];

		ok(post_recv(end, end->qp, 1, 0, 64));
		ok(post_recv(other, other->qp, 2, 0, 64));
		pair_connect(pair);
		ok(roce_cm_id_disconnect(end->id));
		assert_int_equal(roce_cm_id_disconnect(end->id), -EINVAL);
		want_cm(pair, end, ROCE_CM_EVENT_DISCONNECTED);
		want_cm(pair, other, ROCE_CM_EVENT_DISCONNECTED);
		assert_int_equal(want_completion(pair, end->cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 1);
		assert_int_equal(want_completion(pair, other->cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 2);
		assert_int_equal(roce_cm_id_disconnect(other->id), -EINVAL);
		want_quiet(pair, end);
		want_quiet(pair, other);
		for (int i = 0; i < 2; i++) {
			roce_cm_id_destroy(first[i]->id);
			first[i]->id = NULL;
			roce_qp_destroy(first[i]->qp);
			first[i]->qp = end_qp(first[i], NULL);
		}
		ok(roce_cm_id_create(pair->a.context, &pair->a, &pair->a.id));
	}
}

/* Requests that are not finished are flushed; nobody waits for an end that can not come. */
static void
disconnect__unfinished_is_flushed(void **state)
{
	struct pair *pair = *state;
	struct roce_wr wr = { .opcode = ROCE_WR_SEND };

	pair_connect(pair);
	/* There is no receive for it. */
	ok(post_send(&pair->a, wr, 0, 64));
	settle(pair);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_completion(pair, pair->a.cq, ROCE_WC_WR_FLUSH_ERR);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
}

/* Events that were not polled go with their id, and requests with their listener. */
static void
destroy__takes_its_events_along(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	ok(roce_cm_id_disconnect(pair->a.id));
	settle(pair);
	roce_cm_id_destroy(pair->b.id);
	pair->b.id = NULL;
	want_quiet(pair, &pair->b);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	roce_cm_id_destroy(pair->a.id);
	roce_qp_destroy(pair->a.qp);
	pair->a.qp = end_qp(&pair->a, NULL);
	ok(roce_cm_id_create(pair->a.context, NULL, &pair->a.id));
	connect_to(pair, ip_b, PORT, NULL, UINT64_MAX);
	settle(pair);
	roce_cm_id_destroy(pair->listener);
	pair->listener = NULL;
	want_quiet(pair, &pair->b);
	assert_int_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED).status, 28);
}

/* The numbers of both are exchanged by other means; nobody hears of the other's end. */
static void
connect_peer__without_messages(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_peer b = { .qpn = roce_qp_number(pair->b.qp), .rq_psn = 7, .sq_psn = 9 };
	struct roce_cm_peer a = { .qpn = roce_qp_number(pair->a.qp), .rq_psn = 9, .sq_psn = 7 };
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	memcpy(a.ip, ip_a, sizeof(a.ip));
	memcpy(b.ip, ip_b, sizeof(b.ip));
	ok(roce_cm_id_create(pair->b.context, &pair->b, &pair->b.id));
	b.mtu = 1000;
	assert_int_equal(roce_cm_id_connect_peer(pair->a.id, pair->a.qp, &b), -EINVAL);
	b.mtu = 256;
	a.mtu = 256;
	ok(roce_cm_id_connect_peer(pair->a.id, pair->a.qp, &b));
	ok(roce_cm_id_connect_peer(pair->b.id, pair->b.qp, &a));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, 4096));
	ok(post_send(&pair->a, wr, 0, 3000));
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).byte_len, 3000);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_ERR);
	want_quiet(pair, &pair->b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(connect__private_data_both_ways),
		pair_test(reject__with_data_and_try_again),
		pair_test(connect__nobody_listens),
		pair_test(connect__no_such_address),
		pair_test(connect__no_answer),
		pair_test(listen__backlog),
		pair_test(disconnect__either_side),
		pair_test(disconnect__unfinished_is_flushed),
		pair_test(destroy__takes_its_events_along),
		pair_test(connect_peer__without_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
