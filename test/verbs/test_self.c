/* SPDX-License-Identifier: BSD-3-Clause */
/* A device reaches itself: both ends of a connection are of one device, at its own address. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static const char *params = "port=loop0 ip=192.0.2.1/24";

static int
self_open(void **state)
{
	struct roce_device *device = open_device(params);

	*state = pair_of(device, open_device(params));
	return 0;
}

#define self_test(function) cmocka_unit_test_setup_teardown(function, self_open, pair_close)

static void
own_address(const struct pair *pair, uint8_t ip[16])
{
	struct roce_device_attr attr;

	roce_device_query(pair->a.device, &attr);
	memcpy(ip, attr.ip, sizeof(attr.ip));
}

static void
connect_self(struct pair *pair)
{
	struct roce_cm_conn_param ask = param_of(pair->a.qp, "me");
	struct roce_cm_conn_param answer = param_of(pair->b.qp, "myself");
	struct roce_cm_event_info event;
	uint8_t ip[16];

	own_address(pair, ip);
	ok(roce_cm_id_connect(pair->a.id, ip, PORT, &ask, UINT64_MAX));
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST);
	assert_string_equal(event.private_data, "me");
	assert_memory_equal(event.remote_ip, ip, sizeof(ip));
	pair->b.id = event.id;
	ok(roce_cm_id_accept(event.id, &answer));
	event = want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	assert_string_equal(event.private_data, "myself");
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
}

static struct roce_wr
request(const struct end *to, enum roce_wr_opcode opcode)
{
	return (struct roce_wr){
		.wr_id = 2,
		.opcode = (uint8_t)opcode,
		.flags = ROCE_WR_SIGNALED,
		.rkey = roce_mr_key(to->mr),
		.remote_addr = (uintptr_t)to->memory,
	};
}

/* Messages of many packets, both ways, and everything that RDMA does. */
static void
exchange(struct pair *pair, struct end *from, struct end *to)
{
	for (uint32_t i = 0; i < 30000; i++)
		from->memory[i + 32768] = (uint8_t)(i * 7 + 1);
	ok(post_recv(to, to->qp, 1, 0, 32768));
	ok(post_send(from, request(to, ROCE_WR_SEND), 32768, 30000));
	want_completion(pair, from->cq, ROCE_WC_SUCCESS);
	assert_int_equal(want_completion(pair, to->cq, ROCE_WC_SUCCESS).byte_len, 30000);
	assert_memory_equal(to->memory, from->memory + 32768, 30000);
	memset(to->memory, 0, 30000);
	ok(post_send(from, request(to, ROCE_WR_RDMA_WRITE), 32768, 30000));
	want_completion(pair, from->cq, ROCE_WC_SUCCESS);
	assert_memory_equal(to->memory, from->memory + 32768, 30000);
	ok(post_send(from, request(to, ROCE_WR_RDMA_READ), 0, 30000));
	want_completion(pair, from->cq, ROCE_WC_SUCCESS);
	assert_memory_equal(from->memory, to->memory, 30000);
	ok(post_send(from, request(to, ROCE_WR_ATOMIC_FETCH_AND_ADD), 0, 8));
	want_completion(pair, from->cq, ROCE_WC_SUCCESS);
}

static void
self__connects_by_the_connection_manager(void **state)
{
	struct pair *pair = *state;

	connect_self(pair);
	exchange(pair, &pair->a, &pair->b);
	exchange(pair, &pair->b, &pair->a);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
}

static void
self__is_refused_where_nobody_listens(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param ask = param_of(pair->a.qp, NULL);
	uint8_t ip[16];

	own_address(pair, ip);
	ok(roce_cm_id_connect(pair->a.id, ip, PORT + 1, &ask, UINT64_MAX));
	assert_int_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED).status, 8);
}

static void
up(struct pair *pair, struct roce_qp *qp, struct roce_qp *peer, uint32_t sq_psn, uint32_t rq_psn)
{
	struct roce_qp_mod mod = {
		.state = ROCE_QPS_INIT,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.access = ROCE_ACCESS_REMOTE_READ | ROCE_ACCESS_REMOTE_WRITE |
				ROCE_ACCESS_REMOTE_ATOMIC,
		.path_mtu = 1024,
		.dest_qpn = roce_qp_number(peer),
		.rq_psn = rq_psn,
		.sq_psn = sq_psn,
	};

	own_address(pair, mod.remote_ip);
	own_address(pair, mod.local_ip);
	ok(roce_qp_modify(qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT |
					ROCE_QP_MOD_ACCESS));
	mod.state = ROCE_QPS_RTR;
	ok(roce_qp_modify(qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_AV | ROCE_QP_MOD_PATH_MTU |
					ROCE_QP_MOD_DEST_QPN | ROCE_QP_MOD_RQ_PSN |
					ROCE_QP_MOD_MAX_DEST_RD_ATOMIC |
					ROCE_QP_MOD_MIN_RNR_TIMER));
	mod.state = ROCE_QPS_RTS;
	ok(roce_qp_modify(qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_SQ_PSN | ROCE_QP_MOD_TIMEOUT |
					ROCE_QP_MOD_RETRY_CNT | ROCE_QP_MOD_RNR_RETRY |
					ROCE_QP_MOD_MAX_RD_ATOMIC));
}

static void
self__connects_step_by_step(void **state)
{
	struct pair *pair = *state;

	up(pair, pair->a.qp, pair->b.qp, 7, 9);
	up(pair, pair->b.qp, pair->a.qp, 9, 7);
	exchange(pair, &pair->a, &pair->b);
	exchange(pair, &pair->b, &pair->a);
}

/* A queue pair may even be its own peer. */
static void
self__one_queue_pair_is_both_ends(void **state)
{
	struct pair *pair = *state;

	up(pair, pair->a.qp, pair->a.qp, 5, 5);
	ok(post_recv(&pair->a, pair->a.qp, 1, 0, 64));
	ok(post_send(&pair->a, request(&pair->a, ROCE_WR_SEND), 128, 64));
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
}

/* Called with the parameters of another device, that is the one. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		self_test(self__connects_by_the_connection_manager),
		self_test(self__is_refused_where_nobody_listens),
		self_test(self__connects_step_by_step),
		self_test(self__one_queue_pair_is_both_ends),
	};

	if (argc > 1)
		params = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
