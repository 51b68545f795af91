/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"

struct ibv_qp_init_attr
qp_init(struct rig *rig)
{
	return (struct ibv_qp_init_attr){
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap = { .max_send_wr = DEPTH,
				.max_recv_wr = DEPTH,
				.max_send_sge = 2,
				.max_recv_sge = 2 },
		.qp_type = IBV_QPT_RC,
	};
}

struct ibv_qp_init_attr_ex
qp_init_ex(struct rig *rig, uint64_t operations)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap = qp_init(rig).cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig->pd,
		.send_ops_flags = operations,
	};
}

struct ibv_qp *
make_qp(struct rig *rig, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = qp_init(rig);
	struct ibv_qp *qp;

	init.srq = srq;
	qp = ibv_create_qp(rig->pd, &init);
	assert_non_null(qp);
	return qp;
}

void
to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	ok(ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	assert_int_equal(qp->state, IBV_QPS_INIT);
}

void
to_rtr(struct rig *rig, struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 64 } },
	};

	ok(ibv_query_gid(rig->context, 1, 0, &attr.ah_attr.grh.dgid));
	ok(ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER));
}

void
to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1 };

	ok(ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

void
connect_qps(struct rig *rig, struct ibv_qp *a, struct ibv_qp *b)
{
	to_init(a);
	to_init(b);
	to_rtr(rig, a, b);
	to_rtr(rig, b, a);
	to_rts(a);
	to_rts(b);
}

int
post_recv(struct rig *rig, struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rig->memory, .length = 64, .lkey = rig->mr->lkey
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

int
post_send(struct rig *rig, struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rig->memory + 128, .length = 64, .lkey = rig->mr->lkey
	};
	struct ibv_send_wr wr = { .wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

struct ibv_wc
want_wc(struct ibv_cq *cq)
{
	time_t end = time(NULL) + test_limit_s();
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 0) {
		if (time(NULL) > end)
			fail_msg("no completion came");
	}
	return wc;
}

int
rig_open(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct ibv_device **list = ibv_get_device_list(NULL);

	assert_non_null(rig);
	assert_non_null(list);
	rig->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	assert_non_null(rig->context);
	rig->pd = ibv_alloc_pd(rig->context);
	assert_non_null(rig->pd);
	rig->channel = ibv_create_comp_channel(rig->context);
	assert_non_null(rig->channel);
	rig->cq = ibv_create_cq(rig->context, 4 * DEPTH, rig, rig->channel, 0);
	assert_non_null(rig->cq);
	rig->mr = ibv_reg_mr(rig->pd, rig->memory, BYTES,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_MW_BIND);
	assert_non_null(rig->mr);
	rig->a = make_qp(rig, NULL);
	rig->b = make_qp(rig, NULL);
	*state = rig;
	return 0;
}

int
rig_close(void **state)
{
	struct rig *rig = *state;

	if (rig->a != NULL)
		ok(ibv_destroy_qp(rig->a));
	if (rig->b != NULL)
		ok(ibv_destroy_qp(rig->b));
	ok(ibv_dereg_mr(rig->mr));
	ok(ibv_destroy_cq(rig->cq));
	ok(ibv_destroy_comp_channel(rig->channel));
	ok(ibv_dealloc_pd(rig->pd));
	ok(ibv_close_device(rig->context));
	free(rig);
	return 0;
}
