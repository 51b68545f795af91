/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of roce/cm.h by number: the queue pairs are moved by their owner. */

#include <errno.h>
#include <string.h>

#include "rig.h"

static struct roce_cm_conn_param
number_of(const struct roce_qp *qp, const char *text)
{
	return (struct roce_cm_conn_param){
		.qp_num = roce_qp_number(qp),
		.private_data = text,
		.private_data_len = text != NULL ? (uint16_t)(strlen(text) + 1) : 0,
		.responder_resources = 4,
		.initiator_depth = 4,
	};
}

/* By what the id knows of the peer, all the way to RTS. */
static void
raise_qp(struct pair *pair, struct end *end)
{
	struct roce_qp_mod mod = { .port_num = 1,
		.access = ROCE_ACCESS_REMOTE_WRITE,
		.timeout = 14,
		.retry_cnt = 7,
		.hop_limit = 64 };
	struct roce_cm_peer peer;
	int rc;

	ok(roce_cm_id_peer(end->id, &peer));
	mod.state = ROCE_QPS_INIT;
	ok(roce_qp_modify(end->qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT |
					ROCE_QP_MOD_ACCESS));
	memcpy(mod.remote_ip, peer.ip, sizeof(mod.remote_ip));
	mod.state = ROCE_QPS_RTR;
	mod.path_mtu = peer.mtu;
	mod.dest_qpn = peer.qpn;
	mod.rq_psn = peer.rq_psn;
	mod.max_dest_rd_atomic = peer.max_dest_rd_atomic;
	while ((rc = roce_qp_modify(end->qp, &mod,
				ROCE_QP_MOD_STATE | ROCE_QP_MOD_AV | ROCE_QP_MOD_PATH_MTU |
						ROCE_QP_MOD_DEST_QPN | ROCE_QP_MOD_RQ_PSN |
						ROCE_QP_MOD_MAX_DEST_RD_ATOMIC |
						ROCE_QP_MOD_MIN_RNR_TIMER)) == -EAGAIN)
		poll_once(pair);
	ok(rc);
	mod.state = ROCE_QPS_RTS;
	mod.sq_psn = peer.sq_psn;
	mod.rnr_retry = peer.rnr_retry;
	mod.max_rd_atomic = peer.max_rd_atomic;
	ok(roce_qp_modify(end->qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_SQ_PSN | ROCE_QP_MOD_TIMEOUT |
					ROCE_QP_MOD_RETRY_CNT | ROCE_QP_MOD_RNR_RETRY |
					ROCE_QP_MOD_MAX_RD_ATOMIC));
}

/* Up to the request. */
static void
ask(struct pair *pair)
{
	struct roce_cm_conn_param param = number_of(pair->a.qp, "hello");
	struct roce_cm_peer peer;

	ok(roce_cm_id_connect(pair->a.id, ip_b, PORT, &param, UINT64_MAX));
	assert_int_equal(roce_cm_id_peer(pair->a.id, &peer), -ENOTCONN);
	assert_int_equal(roce_cm_id_establish(pair->a.id), -EINVAL);
	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	roce_cm_id_set_user(pair->b.id, &pair->b);
}

static void
accept_it(struct pair *pair)
{
	struct roce_cm_conn_param param = number_of(pair->b.qp, "welcome");

	raise_qp(pair, &pair->b);
	ok(roce_cm_id_accept(pair->b.id, &param));
}

static void
connection__is_up_when_the_queue_pair_is(void **state)
{
	struct pair *pair = *state;
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };
	struct roce_cm_event_info event;

	ask(pair);
	accept_it(pair);
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_CONNECT_RESPONSE);
	assert_string_equal(event.private_data, "welcome");
	assert_int_equal(event.responder_resources, 4);
	want_quiet(pair, &pair->b);
	raise_qp(pair, &pair->a);
	ok(roce_cm_id_establish(pair->a.id));
	assert_int_equal(roce_cm_id_establish(pair->a.id), -EINVAL);
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	assert_int_equal(event.private_data_len, 0);
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, 64));
	ok(post_send(&pair->a, wr, 0, 64));
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	/* They are none of the ids' concern. */
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RTS);
}

/* An answer that was not polled when the peer gave up is no news any more. */
static void
answer__is_replaced_by_its_end(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_event_info event;

	ask(pair);
	accept_it(pair);
	settle(pair);
	roce_cm_id_destroy(pair->b.id);
	pair->b.id = NULL;
	settle(pair);
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED);
	assert_string_equal(event.private_data_len > 0 ? event.private_data : "", "");
	want_quiet(pair, &pair->a);
	assert_int_equal(roce_cm_id_establish(pair->a.id), -EINVAL);
}

static void
accept__is_established_by_its_owner(void **state)
{
	struct pair *pair = *state;

	ask(pair);
	accept_it(pair);
	ok(roce_cm_id_establish(pair->b.id));
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_CONNECT_RESPONSE);
	ok(roce_cm_id_establish(pair->a.id));
	settle(pair);
	want_quiet(pair, &pair->b);
}

static void
answer__is_rejected_with_data(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_event_info event;

	ask(pair);
	accept_it(pair);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_CONNECT_RESPONSE);
	ok(roce_cm_id_reject(pair->a.id, "no", 3));
	pair->a.id = NULL;
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_ERROR);
	assert_int_equal(event.status, 28);
	assert_string_equal(event.private_data, "no");
}

/* A queue pair that an id has is established by that id. */
static void
establish__is_for_numbers_alone(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	assert_int_equal(roce_cm_id_establish(pair->a.id), -EINVAL);
	assert_int_equal(roce_cm_id_establish(pair->b.id), -EINVAL);
}

static void
peer__tells_of_a_queue_pair_too(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_peer a, b;
	struct roce_qp_mod mod;

	pair_connect(pair);
	ok(roce_cm_id_peer(pair->a.id, &a));
	ok(roce_cm_id_peer(pair->b.id, &b));
	assert_int_equal(a.qpn, roce_qp_number(pair->b.qp));
	assert_int_equal(a.sq_psn, b.rq_psn);
	assert_int_equal(a.mtu, b.mtu);
	assert_memory_equal(a.ip, ip_b, sizeof(a.ip));
	roce_qp_query(pair->a.qp, &mod);
	assert_int_equal(mod.rq_psn, a.rq_psn);
	assert_int_equal(mod.sq_psn, a.sq_psn);
	assert_int_equal(mod.max_rd_atomic, a.max_rd_atomic);
	assert_int_equal(mod.path_mtu, a.mtu);
}

/* The number of the first queue pair, and the key of the first region, of a device that is opened without seed= and qpn=. */
static void
first_of_device(uint32_t *qpn, uint32_t *key)
{
	struct roce_device *device = open_device("port=loop0 ip=192.0.2.1/24");
	struct end end;

	end_join(&end, device);
	const struct roce_qp_attr attr = { .pd = end.pd, .send_cq = end.cq, .recv_cq = end.cq };

	ok(roce_qp_create(&attr, &end.qp));
	*qpn = roce_qp_number(end.qp);
	*key = roce_mr_key(end.mr);
	end_leave(&end);
	roce_device_close(device);
}

#define OPENS 5u

/* One life of a program tells a stranger nothing of the next. By chance, all five are equal once in 2^60 times. */
static void
device__opened_anew_has_other_numbers(void **state)
{
	uint32_t qpn[OPENS], key[OPENS];
	unsigned int same_qpn = 0, same_key = 0;

	for (unsigned int i = 0; i < OPENS; i++) {
		first_of_device(&qpn[i], &key[i]);
		same_qpn += qpn[i] == qpn[0];
		same_key += key[i] == key[0];
	}
	assert_true(same_qpn < OPENS);
	assert_true(same_key < OPENS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(connection__is_up_when_the_queue_pair_is),
		pair_test(answer__is_replaced_by_its_end),
		pair_test(accept__is_established_by_its_owner),
		pair_test(answer__is_rejected_with_data),
		pair_test(establish__is_for_numbers_alone),
		pair_test(peer__tells_of_a_queue_pair_too),
		cmocka_unit_test(device__opened_anew_has_other_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
