/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of verbs with arguments that are none: the error of the standard, and nothing has changed. */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rig.h"

static void
ports__there_is_one_with_one_gid_and_one_key(void **state)
{
	struct rig *rig = *state;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	ok(ibv_query_port(rig->context, 1, &port));
	assert_int_equal(port.gid_tbl_len, 1);
	assert_int_equal(ibv_query_port(rig->context, 0, &port), EINVAL);
	assert_int_equal(ibv_query_port(rig->context, 2, &port), EINVAL);
	assert_int_equal(ibv_query_gid(rig->context, 1, 1, &gid), -1);
	assert_int_equal(ibv_query_gid(rig->context, 1, -1, &gid), -1);
	assert_int_equal(ibv_query_pkey(rig->context, 1, 1, &pkey), -1);
	assert_int_equal(ibv_get_pkey_index(rig->context, 1, 0xffff), 0);
}

static void
cq__takes_only_what_there_is(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq_init_attr_ex attr = { .cqe = 4,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };

	refused(ibv_create_cq(rig->context, 0, NULL, NULL, 0), EINVAL);
	refused(ibv_create_cq(rig->context, -1, NULL, NULL, 0), EINVAL);
	refused(ibv_create_cq(rig->context, 1 << 30, NULL, NULL, 0), EINVAL);
	refused(ibv_create_cq(rig->context, 4, NULL, NULL, 1), EINVAL);
	refused(ibv_create_cq(rig->context, 4, NULL, NULL, -1), EINVAL);
	refused(ibv_create_cq_ex(rig->context, &attr), EOPNOTSUPP);
	assert_int_equal(ibv_resize_cq(rig->cq, 0), EINVAL);
	assert_int_equal(rig->cq->cqe, 4 * DEPTH);
}

static struct ibv_qp *
make_qp_on(struct rig *rig, struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr init = qp_init(rig);
	struct ibv_qp *qp;

	init.recv_cq = recv_cq;
	qp = ibv_create_qp(rig->pd, &init);
	assert_non_null(qp);
	return qp;
}

/* Have eight messages received by a queue pair; their completions are numbered. */
static void
receive_eight(struct rig *rig, struct ibv_qp *qp)
{
	connect_qps(rig, rig->a, qp);
	for (uint64_t i = 0; i < 8; i++)
		ok(post_recv(rig, qp, i));
	for (uint64_t i = 0; i < 8; i++)
		ok(post_send(rig, rig->a, i));
	/* The acknowledgement of a message follows the completion of its receive. */
	for (int i = 0; i < 8; i++)
		assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
}

/* Completions inside stay, in their order; and the queue does not become smaller than they are many. */
static void
resize_cq__keeps_the_completions_inside(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq *cq = ibv_create_cq(rig->context, DEPTH, NULL, NULL, 0);
	struct ibv_qp *qp = make_qp_on(rig, cq), *other = make_qp_on(rig, cq);

	receive_eight(rig, qp);
	assert_int_equal(ibv_resize_cq(cq, 7), EINVAL);
	/* So it is with those that are left when another queue pair ends. */
	ok(ibv_destroy_qp(other));
	assert_int_equal(ibv_resize_cq(cq, 7), EINVAL);
	assert_int_equal(cq->cqe, DEPTH);
	ok(ibv_resize_cq(cq, 8));
	assert_int_equal(cq->cqe, 8);
	ok(ibv_resize_cq(cq, 4 * DEPTH));
	assert_int_equal(cq->cqe, 4 * DEPTH);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(want_wc(cq).wr_id, i);
	ok(ibv_destroy_qp(qp));
	ok(ibv_destroy_cq(cq));
}

static void
mr__rights_are_judged_and_optional_ones_ignored(void **state)
{
	struct rig *rig = *state;
	struct ibv_mr *mr;

	refused(ibv_reg_mr(rig->pd, rig->memory, 64, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	refused(ibv_reg_mr(rig->pd, rig->memory, 64, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	refused(ibv_reg_mr(rig->pd, rig->memory, 64, 1 << 14), EINVAL);
	refused(ibv_reg_mr(rig->pd, rig->memory, 64, IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
	mr = ibv_reg_mr(rig->pd, rig->memory, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	ok(ibv_dereg_mr(mr));
}

static void
srq__has_room_and_a_limit_within_it(void **state)
{
	struct rig *rig = *state;
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 0, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 9 };
	struct ibv_srq *srq;

	refused(ibv_create_srq(rig->pd, &init), EINVAL);
	init.attr.max_wr = 8;
	init.attr.max_sge = 1000;
	refused(ibv_create_srq(rig->pd, &init), EINVAL);
	init.attr.max_sge = 1;
	srq = ibv_create_srq(rig->pd, &init);
	assert_non_null(srq);
	assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	assert_int_equal(ibv_modify_srq(srq, &attr, 1 << 7), EINVAL);
	ok(ibv_query_srq(srq, &attr));
	assert_int_equal(attr.max_wr, 8);
	assert_int_equal(attr.srq_limit, 0);
	ok(ibv_destroy_srq(srq));
}

static void
qp__is_of_a_reliable_connection_and_within_the_attributes(void **state)
{
	static const enum ibv_qp_type others[] = { IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET,
		IBV_QPT_XRC_SEND, IBV_QPT_DRIVER };
	struct rig *rig = *state;
	struct ibv_qp_init_attr init;

	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		init = qp_init(rig);
		init.qp_type = others[i];
		refused(ibv_create_qp(rig->pd, &init), EOPNOTSUPP);
	}
	init = qp_init(rig);
	init.cap.max_send_wr = 1 << 30;
	refused(ibv_create_qp(rig->pd, &init), EINVAL);
	init = qp_init(rig);
	init.cap.max_recv_sge = 1000;
	refused(ibv_create_qp(rig->pd, &init), EINVAL);
	init = qp_init(rig);
	init.cap.max_inline_data = 1 << 20;
	refused(ibv_create_qp(rig->pd, &init), EINVAL);
	init = qp_init(rig);
	init.send_cq = NULL;
	refused(ibv_create_qp(rig->pd, &init), EINVAL);
}

/* A step without what it needs, or one that there is not. */
static void
modify__refuses_and_stays(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .port_num = 1 };
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE), EINVAL);
	attr.qp_state = IBV_QPS_INIT;
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	attr.port_num = 2;
	assert_int_equal(ibv_modify_qp(rig->a, &attr,
					 IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
							 IBV_QP_ACCESS_FLAGS),
			EINVAL);
	assert_int_equal(rig->a->state, IBV_QPS_RESET);
	connect_qps(rig, rig->a, rig->b);
	/* There are no alternate paths. */
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE),
			EOPNOTSUPP);
	/* The lowest eight bits alone would be ERR. */
	attr.qp_state = (enum ibv_qp_state)(256 + IBV_QPS_ERR);
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE), EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = (enum ibv_qp_state)(256 + IBV_QPS_RTS);
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	ok(ibv_query_qp(rig->a, &attr, IBV_QP_STATE, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(init.cap.max_send_wr, DEPTH);
}

/* On Ethernet there is no address but a GID. */
static void
modify__wants_a_global_address(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = 2,
		.ah_attr = { .port_num = 1 } };
	const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

	to_init(rig->a);
	assert_int_equal(ibv_modify_qp(rig->a, &attr, mask), EINVAL);
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 1;
	assert_int_equal(ibv_modify_qp(rig->a, &attr, mask), EINVAL);
	assert_int_equal(rig->a->state, IBV_QPS_INIT);
}

/* Programs say all ones in the label (UCX), which has 20 bits. The marks of congestion are no part of a class. */
static void
modify__takes_the_bits_of_label_and_class(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = rig->b->qp_num,
		.ah_attr = { .is_global = 1,
				.port_num = 1,
				.grh = { .flow_label = ~0u, .traffic_class = 0x69 } } };
	struct ibv_qp_init_attr init;

	to_init(rig->a);
	ok(ibv_query_gid(rig->context, 1, 0, &attr.ah_attr.grh.dgid));
	ok(ibv_modify_qp(rig->a, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER));
	ok(ibv_query_qp(rig->a, &attr, IBV_QP_AV, &init));
	assert_int_equal(attr.ah_attr.grh.flow_label, 0xfffff);
	assert_int_equal(attr.ah_attr.grh.traffic_class, 0x68);
}

/* Programs print errno behind a call that returns it. */
static void
modify__says_why_in_errno_too(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	errno = 0;
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE), EINVAL);
	assert_int_equal(errno, EINVAL);
	to_init(rig->a);
	errno = 0;
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR };
	assert_int_equal(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE | IBV_QP_AV), EINVAL);
	assert_int_equal(errno, EINVAL);
}

/* The list is posted up to the request that is refused, which the caller is shown. */
static void
post__shows_the_bad_request(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge sge = {
		.addr = (uintptr_t)rig->memory, .length = 64, .lkey = rig->mr->lkey
	};
	struct ibv_send_wr wr[3], *bad = NULL;
	int left = 0;

	connect_qps(rig, rig->a, rig->b);
	for (int i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t)i,
			.next = i < 2 ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = (uintptr_t)rig->memory, .rkey = rig->mr->rkey },
		};
	wr[1].num_sge = 1000;
	assert_int_equal(ibv_post_send(rig->a, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[1]);
	wr[1].num_sge = -1;
	assert_int_equal(ibv_post_send(rig->a, &wr[1], &bad), EINVAL);
	wr[1].num_sge = 1;
	wr[1].opcode = IBV_WR_TSO;
	assert_int_equal(ibv_post_send(rig->a, &wr[1], &bad), EOPNOTSUPP);
	wr[1].opcode = (enum ibv_wr_opcode)99;
	assert_int_equal(ibv_post_send(rig->a, &wr[1], &bad), EOPNOTSUPP);
	wr[1].opcode = IBV_WR_RDMA_WRITE;
	wr[1].send_flags = IBV_SEND_IP_CSUM;
	assert_int_equal(ibv_post_send(rig->a, &wr[1], &bad), EINVAL);
	for (struct ibv_wc wc = want_wc(rig->cq); left < 1; left++) {
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, 0);
	}
}

/* Where a program gives the data of a request twice, the last ones are sent. */
static void
wr__sends_the_data_of_the_last_call(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_init_attr_ex init = qp_init_ex(rig, IBV_QP_EX_WITH_SEND);
	struct ibv_qp *qp = ibv_create_qp_ex(rig->context, &init);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	char bytes[] = "inline";
	struct ibv_wc wc;

	assert_non_null(ex);
	connect_qps(rig, qp, rig->b);
	ok(post_recv(rig, rig->b, 1));
	ok(post_recv(rig, rig->b, 2));
	memset(rig->memory + 128, 'm', 8);
	ibv_wr_start(ex);
	ex->wr_flags = 0;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, bytes, 6);
	ibv_wr_set_sge(ex, rig->mr->lkey, (uintptr_t)rig->memory + 128, 3);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, rig->mr->lkey, (uintptr_t)rig->memory + 128, 3);
	ibv_wr_set_inline_data(ex, bytes, 6);
	ok(ibv_wr_complete(ex));
	wc = want_wc(rig->cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 3);
	wc = want_wc(rig->cq);
	assert_int_equal(wc.byte_len, 6);
	assert_memory_equal(rig->memory, bytes, 6);
	ok(ibv_destroy_qp(qp));
}

/* A SEND of the batch, of the rig's memory or by a key that is none. */
static void
add_send(struct rig *rig, struct ibv_qp_ex *ex, uint64_t wr_id, uint32_t lkey)
{
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, lkey, (uintptr_t)rig->memory + 128, 8);
}

static struct ibv_qp *
make_connected_ex(struct rig *rig)
{
	struct ibv_qp_init_attr_ex init =
			qp_init_ex(rig, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_BIND_MW);
	struct ibv_qp *qp = ibv_create_qp_ex(rig->context, &init);

	assert_non_null(qp);
	connect_qps(rig, qp, rig->b);
	return qp;
}

/* The peer gets exactly these: what was posted before would come before. */
static void
want_sent(struct rig *rig, struct ibv_qp *qp, uint64_t wr_id)
{
	bool sent = false, received = false;

	while (!sent || !received) {
		struct ibv_wc wc = want_wc(rig->cq);

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, wr_id);
		sent |= wc.qp_num == qp->qp_num;
		received |= wc.qp_num == rig->b->qp_num;
	}
}

/* A batch with one request that is refused, wherever it stands, posts none and tells why. */
static void
wr_complete__posts_all_or_none(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp *qp = make_connected_ex(rig);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);

	for (uint64_t bad = 0; bad < 4; bad++) {
		ibv_wr_start(ex);
		for (uint64_t i = 0; i < 4; i++)
			add_send(rig, ex, 99, rig->mr->lkey + (i == bad ? 0x100 : 0));
		assert_int_equal(ibv_wr_complete(ex), EINVAL);
		ok(post_recv(rig, rig->b, bad));
		ibv_wr_start(ex);
		add_send(rig, ex, bad, rig->mr->lkey);
		ok(ibv_wr_complete(ex));
		want_sent(rig, qp, bad);
	}
	ibv_wr_start(ex);
	for (uint64_t i = 0; i < DEPTH + 1; i++)
		add_send(rig, ex, 99, rig->mr->lkey);
	assert_int_equal(ibv_wr_complete(ex), ENOMEM);
	ibv_wr_start(ex);
	ok(ibv_wr_complete(ex));
	ok(post_recv(rig, rig->b, 4));
	ok(post_send(rig, qp, 4));
	want_sent(rig, qp, 4);
	ok(ibv_destroy_qp(qp));
}

/* A window has the key that its bind gave it, unless the batch of the bind was refused. */
static void
wr_complete__gives_keys_to_windows_with_all(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp *qp = make_connected_ex(rig);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	const struct ibv_mw_bind_info bind = { .mr = rig->mr,
		.addr = (uintptr_t)rig->memory,
		.length = 64,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ };
	const uint32_t key = mw->rkey;

	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, mw, 0, &bind);
	add_send(rig, ex, 99, rig->mr->lkey + 0x100);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	assert_int_equal(mw->rkey, key);
	ok(post_recv(rig, rig->b, 1));
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ibv_wr_bind_mw(ex, mw, 0, &bind);
	add_send(rig, ex, 1, rig->mr->lkey);
	ok(ibv_wr_complete(ex));
	assert_int_not_equal(mw->rkey, key);
	want_sent(rig, qp, 1);
	ok(ibv_dealloc_mw(mw));
	ok(ibv_destroy_qp(qp));
}

static void
post__full_queues_are_no_memory(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(post_recv(rig, rig->a, 1), EINVAL);
	to_init(rig->a);
	for (int i = 0; i < DEPTH; i++)
		ok(post_recv(rig, rig->a, 1));
	assert_int_equal(post_recv(rig, rig->a, 1), ENOMEM);
	assert_int_equal(post_send(rig, rig->a, 1), EINVAL);
}

static void
poll__takes_no_negative_number(void **state)
{
	struct rig *rig = *state;
	struct ibv_wc wc;

	assert_true(ibv_poll_cq(rig->cq, -1, &wc) < 0);
	assert_int_equal(ibv_poll_cq(rig->cq, 0, &wc), 0);
	assert_int_equal(ibv_poll_cq(rig->cq, 1, &wc), 0);
}

/* A call that is not offered says so, by a result or errno; never that it is not implemented. */
static void
others__are_not_supported(void **state)
{
	struct rig *rig = *state;
	struct ibv_xrcd_init_attr xrcd = { .comp_mask = 0 };
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	struct ibv_ece ece = { .vendor_id = 0 };
	union ibv_gid gid = { .raw = { 0 } };

	refused(ibv_open_xrcd(rig->context, &xrcd), EOPNOTSUPP);
	refused(ibv_alloc_dm(rig->context, &dm), EOPNOTSUPP);
	refused(ibv_reg_dmabuf_mr(rig->pd, 0, 64, 0, 0, 0), EOPNOTSUPP);
	refused(ibv_import_pd(rig->context, 0), EOPNOTSUPP);
	assert_int_equal(ibv_attach_mcast(rig->a, &gid, 0), EOPNOTSUPP);
	assert_int_equal(ibv_query_ece(rig->a, &ece), EOPNOTSUPP);
	assert_null(ibv_qp_to_qp_ex(rig->a));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(ports__there_is_one_with_one_gid_and_one_key),
		rig_test(cq__takes_only_what_there_is),
		rig_test(resize_cq__keeps_the_completions_inside),
		rig_test(mr__rights_are_judged_and_optional_ones_ignored),
		rig_test(srq__has_room_and_a_limit_within_it),
		rig_test(qp__is_of_a_reliable_connection_and_within_the_attributes),
		rig_test(modify__refuses_and_stays),
		rig_test(modify__wants_a_global_address),
		rig_test(modify__takes_the_bits_of_label_and_class),
		rig_test(modify__says_why_in_errno_too),
		rig_test(post__shows_the_bad_request),
		rig_test(wr__sends_the_data_of_the_last_call),
		rig_test(wr_complete__posts_all_or_none),
		rig_test(wr_complete__gives_keys_to_windows_with_all),
		rig_test(post__full_queues_are_no_memory),
		rig_test(poll__takes_no_negative_number),
		rig_test(others__are_not_supported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
