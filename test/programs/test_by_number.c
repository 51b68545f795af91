/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of queue pairs that the ids do not have, as UCX and rping -P make them: by number, moved by their owner. */

#include <stdlib.h>
#include <string.h>

#include "cm_rig.h"

/* Both ends, and the queue pairs that they connect. */
struct numbers {
	struct pair *pair;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *a, *b;
};

static int
numbers_open(void **state)
{
	struct numbers *numbers = calloc(1, sizeof(*numbers));
	struct pair *pair;
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	assert_non_null(numbers);
	pair_open((void **)&numbers->pair);
	pair = numbers->pair;
	/* A queue pair that an id has is that id's to move. */
	end(pair->active);
	pair->active = routed(pair->channel, address(pair->listener));
	numbers->pd = ibv_alloc_pd(pair->active->verbs);
	assert_non_null(numbers->pd);
	numbers->cq = ibv_create_cq(pair->active->verbs, 16, NULL, NULL, 0);
	assert_non_null(numbers->cq);
	init.send_cq = init.recv_cq = numbers->cq;
	numbers->a = ibv_create_qp(numbers->pd, &init);
	numbers->b = ibv_create_qp(numbers->pd, &init);
	assert_non_null(numbers->a);
	assert_non_null(numbers->b);
	*state = numbers;
	return 0;
}

static int
numbers_close(void **state)
{
	struct numbers *numbers = *state;

	ok(ibv_destroy_qp(numbers->a));
	ok(ibv_destroy_qp(numbers->b));
	ok(ibv_destroy_cq(numbers->cq));
	ok(ibv_dealloc_pd(numbers->pd));
	pair_close((void **)&numbers->pair);
	free(numbers);
	return 0;
}

#define numbers_test(function) \
	cmocka_unit_test_setup_teardown(function, numbers_open, numbers_close)

static void
move(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	ok(rdma_init_qp_attr(id, &attr, &mask));
	ok(ibv_modify_qp(qp, &attr, mask));
	assert_int_equal(qp->state, state);
}

static void
raise_qp(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	move(id, qp, IBV_QPS_INIT);
	move(id, qp, IBV_QPS_RTR);
	move(id, qp, IBV_QPS_RTS);
}

/* The request, of which the passive end learns the number. */
static void
ask(struct numbers *numbers)
{
	struct pair *pair = numbers->pair;
	struct rdma_conn_param param = { .private_data = "hello",
		.private_data_len = 6,
		.responder_resources = 3,
		.initiator_depth = 2,
		.qp_num = numbers->a->qp_num,
		.srq = 1 };

	ok(rdma_connect(pair->active, &param));
	pair->request = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	pair->passive = pair->request->id;
	assert_int_equal(pair->request->param.conn.qp_num, numbers->a->qp_num);
	assert_int_equal(pair->request->param.conn.srq, 1);
}

/* Up to the answer, which the active end is told of. */
static void
answer(struct numbers *numbers)
{
	struct pair *pair = numbers->pair;
	struct rdma_conn_param param = { .private_data = "welcome",
		.private_data_len = 8,
		.responder_resources = 2,
		.initiator_depth = 3,
		.qp_num = numbers->b->qp_num };
	struct rdma_cm_event *event;

	ask(numbers);
	raise_qp(pair->passive, numbers->b);
	ok(rdma_accept(pair->passive, &param));
	event = want(pair->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	assert_ptr_equal(event->id, pair->active);
	assert_int_equal(event->param.conn.qp_num, numbers->b->qp_num);
	assert_int_equal(event->param.conn.srq, 0);
	assert_string_equal(event->param.conn.private_data, "welcome");
	ok(rdma_ack_cm_event(event));
}

/* A message there and back, over the queue pairs that nobody but their owner has moved. */
static void
talk(struct numbers *numbers, struct ibv_qp *from, struct ibv_qp *to)
{
	static char memory[2][64];
	struct ibv_mr *mr = ibv_reg_mr(numbers->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge[2];
	struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = &sge[1], .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .wr_id = 2,
		.sg_list = &sge[0],
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad_send;
	struct ibv_wc wc;

	assert_non_null(mr);
	for (unsigned int i = 0; i < 2; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory[i], sizeof(memory[i]), mr->lkey };
	strcpy(memory[0], "by number");
	ok(ibv_post_recv(to, &receive, &bad_receive));
	ok(ibv_post_send(from, &send, &bad_send));
	for (unsigned int n = 0; n < 2;) {
		if (ibv_poll_cq(numbers->cq, 1, &wc) == 0)
			continue;
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		n++;
	}
	assert_string_equal(memory[1], "by number");
	ok(ibv_dereg_mr(mr));
	memset(memory, 0, sizeof(memory));
}

static void
connection__is_established_by_the_end_that_connects(void **state)
{
	struct numbers *numbers = *state;
	struct pair *pair = numbers->pair;

	answer(numbers);
	raise_qp(pair->active, numbers->a);
	ok(rdma_establish(pair->active));
	refused(rdma_establish(pair->active), EINVAL);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	talk(numbers, numbers->a, numbers->b);
	talk(numbers, numbers->b, numbers->a);
	ok(rdma_disconnect(pair->passive));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	/* The queue pairs are their owner's. */
	assert_int_equal(numbers->a->state, IBV_QPS_RTS);
}

/* READs and atomics are what both have agreed on, and each sends first what the other wants to receive. */
static void
init_qp_attr__says_what_the_ends_agree_on(void **state)
{
	struct numbers *numbers = *state;
	struct pair *pair = numbers->pair;
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTR }, b = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr a_rts = { .qp_state = IBV_QPS_RTS }, b_rts = { .qp_state = IBV_QPS_RTS };
	int mask;

	answer(numbers);
	ok(rdma_init_qp_attr(pair->active, &a, &mask));
	assert_true(mask & IBV_QP_AV);
	ok(rdma_init_qp_attr(pair->passive, &b, &mask));
	ok(rdma_init_qp_attr(pair->active, &a_rts, &mask));
	assert_true(mask & IBV_QP_SQ_PSN);
	ok(rdma_init_qp_attr(pair->passive, &b_rts, &mask));
	assert_int_equal(a.dest_qp_num, numbers->b->qp_num);
	assert_int_equal(b.dest_qp_num, numbers->a->qp_num);
	assert_int_equal(a.path_mtu, b.path_mtu);
	assert_int_equal(a.rq_psn, b_rts.sq_psn);
	assert_int_equal(b.rq_psn, a_rts.sq_psn);
	assert_int_not_equal(a.rq_psn, b.rq_psn);
	assert_int_equal(a.max_dest_rd_atomic, 3);
	assert_int_equal(b_rts.max_rd_atomic, 3);
	assert_int_equal(b.max_dest_rd_atomic, 2);
	assert_int_equal(a_rts.max_rd_atomic, 2);
	ok(rdma_reject(pair->active, NULL, 0));
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
}

static void
init_qp_attr__knows_nothing_before_the_peer_has_spoken(void **state)
{
	struct numbers *numbers = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	refused(rdma_init_qp_attr(numbers->pair->active, &attr, &mask), EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	refused(rdma_init_qp_attr(numbers->pair->active, &attr, &mask), EINVAL);
	attr.qp_state = IBV_QPS_SQD;
	refused(rdma_init_qp_attr(numbers->pair->active, &attr, &mask), EINVAL);
	move(numbers->pair->active, numbers->a, IBV_QPS_INIT);
}

static void
answer__can_be_rejected_with_data(void **state)
{
	struct numbers *numbers = *state;
	struct pair *pair = numbers->pair;
	struct rdma_cm_event *event;

	answer(numbers);
	ok(rdma_reject(pair->active, "changed", 8));
	event = want(pair->channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(event->id, pair->passive);
	assert_string_equal(event->param.conn.private_data, "changed");
	ok(rdma_ack_cm_event(event));
	refused(rdma_establish(pair->active), EINVAL);
}

/* A packet of the peer proves that it is ready, whatever became of its RTU. */
static void
notify__establishes_an_accepted_end(void **state)
{
	struct numbers *numbers = *state;
	struct pair *pair = numbers->pair;
	struct rdma_cm_event *event;

	answer(numbers);
	raise_qp(pair->active, numbers->a);
	talk(numbers, numbers->a, numbers->b);
	ok(rdma_notify(pair->passive, IBV_EVENT_COMM_EST));
	event = want(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(event->id, pair->passive);
	ok(rdma_ack_cm_event(event));
	ok(rdma_establish(pair->active));
	ok(rdma_disconnect(pair->active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void
connect__refuses_numbers_that_are_none(void **state)
{
	struct numbers *numbers = *state;
	struct pair *pair = numbers->pair;
	struct rdma_conn_param param = { .qp_num = 1 };

	refused(rdma_connect(pair->active, NULL), EINVAL);
	refused(rdma_connect(pair->active, &param), EINVAL);
	param.qp_num = 0xffffff;
	refused(rdma_connect(pair->active, &param), EINVAL);
	ask(numbers);
	refused(rdma_accept(pair->passive, NULL), EINVAL);
	refused(rdma_accept(pair->passive, &param), EINVAL);
	refused(rdma_establish(pair->active), EINVAL);
	ok(rdma_reject(pair->passive, NULL, 0));
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		numbers_test(connection__is_established_by_the_end_that_connects),
		numbers_test(init_qp_attr__says_what_the_ends_agree_on),
		numbers_test(init_qp_attr__knows_nothing_before_the_peer_has_spoken),
		numbers_test(answer__can_be_rejected_with_data),
		numbers_test(notify__establishes_an_accepted_end),
		numbers_test(connect__refuses_numbers_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
