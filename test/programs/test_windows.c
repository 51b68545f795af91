/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of verbs: ibv_alloc_mw(3), ibv_bind_mw(3), ibv_post_send(3), IBTA Vol 1, 10.6.7. */

#include <errno.h>

#include "rig.h"

#define RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static struct ibv_mw_bind_info
part(struct rig *rig)
{
	return (struct ibv_mw_bind_info){ .mr = rig->mr,
		.addr = (uintptr_t)rig->memory + 1024,
		.length = 64,
		.mw_access_flags = RIGHTS };
}

static int
bind_type1(struct rig *rig, struct ibv_qp *qp, struct ibv_mw *mw, uint64_t wr_id)
{
	struct ibv_mw_bind bind = {
		.wr_id = wr_id, .send_flags = IBV_SEND_SIGNALED, .bind_info = part(rig)
	};

	return ibv_bind_mw(qp, mw, &bind);
}

static struct ibv_send_wr
bind_wr(struct rig *rig, struct ibv_mw *mw, uint32_t rkey)
{
	return (struct ibv_send_wr){ .wr_id = rkey,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = rkey, .bind_info = part(rig) } };
}

static struct ibv_send_wr
invalidate_wr(enum ibv_wr_opcode opcode, uint32_t rkey)
{
	return (struct ibv_send_wr){ .wr_id = rkey,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey };
}

static int
post(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

/* Post, and see how it ends. */
static enum ibv_wc_status
outcome(struct rig *rig, struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_wc wc;

	ok(post(qp, wr));
	wc = want_wc(rig->cq);
	assert_int_equal(wc.wr_id, wr.wr_id);
	assert_int_equal(wc.qp_num, qp->qp_num);
	return wc.status;
}

/* The status of a WRITE to the memory of the window by this key. */
static enum ibv_wc_status
write_by(struct rig *rig, struct ibv_qp *from, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)rig->memory, 8, rig->mr->lkey };

	return outcome(rig, from,
			(struct ibv_send_wr){ .opcode = IBV_WR_RDMA_WRITE,
					.send_flags = IBV_SEND_SIGNALED,
					.sg_list = &sge,
					.num_sge = 1,
					.wr.rdma = { (uintptr_t)rig->memory + 1024, rkey } });
}

static void
reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* The completion of a bind is that of the queue pair which was told to bind, and vanishes with it. */
static void
bind__completes_on_its_queue_pair(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	struct ibv_wc wc;

	connect_qps(rig, rig->a, rig->b);
	ok(bind_type1(rig, rig->a, mw, 1));
	ok(bind_type1(rig, rig->b, mw, 2));
	for (int i = 0; i < 2; i++) {
		wc = want_wc(rig->cq);
		assert_int_equal(wc.qp_num, wc.wr_id == 1 ? rig->a->qp_num : rig->b->qp_num);
	}
	ok(bind_type1(rig, rig->a, mw, 3));
	ok(ibv_destroy_qp(rig->a));
	rig->a = NULL;
	assert_int_equal(ibv_poll_cq(rig->cq, 1, &wc), 0);
	ok(ibv_dealloc_mw(mw));
}

/* The region must have been registered for windows, and grants of a window are rights that there are. */
static void
bind__judges_region_and_rights(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr = ibv_reg_mr(rig->pd, rig->memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = { .bind_info = part(rig) };

	connect_qps(rig, rig->a, rig->b);
	bind.bind_info.mr = mr;
	assert_int_equal(ibv_bind_mw(rig->a, mw, &bind), EINVAL);
	bind.bind_info = part(rig);
	bind.bind_info.mw_access_flags |= 1 << 14;
	assert_int_equal(ibv_bind_mw(rig->a, mw, &bind), EINVAL);
	bind.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
	assert_int_equal(ibv_bind_mw(rig->a, mw, &bind), EOPNOTSUPP);
	bind.bind_info = part(rig);
	ok(ibv_bind_mw(rig->a, mw, &bind));
	ok(ibv_dealloc_mw(mw));
	ok(ibv_dereg_mr(mr));
}

/* The key that the peer names is that of the window, and its receive says which it was. */
static void
send_with_invalidate__ends_a_window(void **state, enum ibv_mw_type type)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, type);
	struct ibv_wc wc[2];
	uint32_t key;

	connect_qps(rig, rig->a, rig->b);
	if (type == IBV_MW_TYPE_1) {
		ok(bind_type1(rig, rig->b, mw, 1));
		assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
		key = mw->rkey;
	} else {
		key = ibv_inc_rkey(mw->rkey);
		assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_SUCCESS);
	}
	assert_int_equal(write_by(rig, rig->a, key), IBV_WC_SUCCESS);
	ok(post_recv(rig, rig->b, 1));
	ok(post(rig->a, invalidate_wr(IBV_WR_SEND_WITH_INV, key)));
	for (int i = 0; i < 2; i++) {
		wc[i] = want_wc(rig->cq);
		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		if (wc[i].opcode != IBV_WC_RECV)
			continue;
		assert_true(wc[i].wc_flags & IBV_WC_WITH_INV);
		assert_int_equal(wc[i].invalidated_rkey, key);
	}
	assert_int_equal(write_by(rig, rig->a, key), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dealloc_mw(mw));
}

static void
type1__is_ended_by_a_send_with_invalidate(void **state)
{
	send_with_invalidate__ends_a_window(state, IBV_MW_TYPE_1);
}

static void
type2__is_ended_by_a_send_with_invalidate(void **state)
{
	send_with_invalidate__ends_a_window(state, IBV_MW_TYPE_2);
}

/* The consumer chooses eight bits of the key; all others are the window's. It is not bound by ibv_bind_mw(), nor to nothing. */
static void
type2__is_bound_by_a_key_of_its_own(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind bind = { .bind_info = part(rig) };
	struct ibv_send_wr wr;

	assert_non_null(mw);
	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(ibv_bind_mw(rig->b, mw, &bind), EINVAL);
	assert_int_equal(post(rig->b, bind_wr(rig, mw, mw->rkey + 0x100)), EINVAL);
	assert_int_equal(post(rig->b, bind_wr(rig, mw, rig->mr->rkey)), EINVAL);
	wr = bind_wr(rig, mw, mw->rkey);
	wr.bind_mw.bind_info.length = 0;
	assert_int_equal(post(rig->b, wr), EINVAL);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, ibv_inc_rkey(mw->rkey))),
			IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, rig->a, ibv_inc_rkey(mw->rkey)), IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, rig->a, mw->rkey), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dealloc_mw(mw));
}

static void
type2__names_nothing_before_it_is_bound(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);

	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(write_by(rig, rig->a, mw->rkey), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dealloc_mw(mw));
}

/* Another queue pair of the same domain is foreign: its peer does not get in, and neither end of it ends the window. */
static void
type2__is_of_the_queue_pair_that_bound_it(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ibv_qp *c = make_qp(rig, NULL), *d = make_qp(rig, NULL);
	struct ibv_wc wc[2];

	connect_qps(rig, rig->a, rig->b);
	connect_qps(rig, c, d);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, c, key), IBV_WC_REM_ACCESS_ERR);
	reset(c);
	reset(d);
	connect_qps(rig, c, d);
	ok(post_recv(rig, d, 1));
	ok(post(c, invalidate_wr(IBV_WR_SEND_WITH_INV, key)));
	for (int i = 0; i < 2; i++) {
		wc[i] = want_wc(rig->cq);
		assert_int_equal(wc[i].status,
				wc[i].qp_num == c->qp_num ? IBV_WC_REM_ACCESS_ERR
							  : IBV_WC_REM_INV_REQ_ERR);
	}
	reset(c);
	reset(d);
	connect_qps(rig, c, d);
	assert_int_equal(outcome(rig, d, invalidate_wr(IBV_WR_LOCAL_INV, key)), IBV_WC_MW_BIND_ERR);
	assert_int_equal(write_by(rig, rig->a, key), IBV_WC_SUCCESS);
	ok(ibv_destroy_qp(c));
	ok(ibv_destroy_qp(d));
	ok(ibv_dealloc_mw(mw));
}

/* A window that is bound is not bound again. */
static void
type2__is_bound_once(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t key = ibv_inc_rkey(mw->rkey);

	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_SUCCESS);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, ibv_inc_rkey(key))),
			IBV_WC_MW_BIND_ERR);
	ok(ibv_dealloc_mw(mw));
}

/* Requests of one list, in order: each finds what those before it have done. */
static void
local_invalidate__frees_a_window(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t first = ibv_inc_rkey(mw->rkey), second = ibv_inc_rkey(first);
	struct ibv_send_wr wr[3] = { bind_wr(rig, mw, first),
		invalidate_wr(IBV_WR_LOCAL_INV, first), bind_wr(rig, mw, second) };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	connect_qps(rig, rig->a, rig->b);
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	ok(ibv_post_send(rig->b, wr, &bad));
	for (int i = 0; i < 3; i++) {
		wc = want_wc(rig->cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, i == 1 ? IBV_WC_LOCAL_INV : IBV_WC_BIND_MW);
	}
	assert_int_equal(write_by(rig, rig->a, second), IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, rig->a, first), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dealloc_mw(mw));
}

/* A window that is not bound, one of type 1 and a region are not ended so; the queue pair is in error. */
static void
local_invalidate__is_of_windows_of_type_2(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *type1 = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	struct ibv_mw *type2 = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	uint32_t keys[3] = { type2->rkey, 0, rig->mr->rkey };

	connect_qps(rig, rig->a, rig->b);
	ok(bind_type1(rig, rig->b, type1, 1));
	assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
	keys[1] = type1->rkey;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(outcome(rig, rig->b, invalidate_wr(IBV_WR_LOCAL_INV, keys[i])),
				IBV_WC_MW_BIND_ERR);
		reset(rig->a);
		reset(rig->b);
		connect_qps(rig, rig->a, rig->b);
	}
	assert_int_equal(write_by(rig, rig->a, type1->rkey), IBV_WC_SUCCESS);
	ok(ibv_dealloc_mw(type1));
	ok(ibv_dealloc_mw(type2));
}

/* A bind that was flushed, and so never executed, ends no binding that has the same key. */
static void
flush__ends_only_what_it_bound(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_SUCCESS);
	ok(ibv_modify_qp(rig->b, &attr, IBV_QP_STATE));
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_WR_FLUSH_ERR);
	reset(rig->a);
	reset(rig->b);
	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(write_by(rig, rig->a, key), IBV_WC_SUCCESS);
	ok(ibv_dealloc_mw(mw));
}

/* A region does not end below a window; the end of the queue pair that bound it unbinds that. */
static void
region__is_held_by_what_is_bound(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t key = ibv_inc_rkey(mw->rkey);

	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(outcome(rig, rig->b, bind_wr(rig, mw, key)), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(rig->mr), EBUSY);
	ok(ibv_destroy_qp(rig->b));
	rig->b = NULL;
	ok(ibv_dereg_mr(rig->mr));
	rig->mr = ibv_reg_mr(rig->pd, rig->memory, BYTES, 0);
	ok(ibv_dealloc_mw(mw));
}

/* The same by the calls of a batch. */
static void
wr__binds_and_invalidates(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_init_attr_ex init =
			qp_init_ex(rig, IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV);
	struct ibv_qp *qp = ibv_create_qp_ex(rig->context, &init);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_2);
	const uint32_t first = ibv_inc_rkey(mw->rkey), second = ibv_inc_rkey(first);
	const struct ibv_mw_bind_info info = part(rig);

	connect_qps(rig, qp, rig->b);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, mw, first, &info);
	ibv_wr_local_inv(ex, first);
	ibv_wr_bind_mw(ex, mw, second, &info);
	ok(ibv_wr_complete(ex));
	for (int i = 0; i < 3; i++)
		assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, rig->b, second), IBV_WC_SUCCESS);
	assert_int_equal(write_by(rig, rig->b, first), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_destroy_qp(qp));
	ok(ibv_dealloc_mw(mw));
}

static void
device__says_what_it_has(void **state)
{
	struct rig *rig = *state;
	struct ibv_device_attr attr;

	ok(ibv_query_device(rig->context, &attr));
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	/* Which promises registration by a request, too. */
	assert_false(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	refused(ibv_alloc_mw(rig->pd, (enum ibv_mw_type)3), EINVAL);
}

/* Regions and windows have keys of one table; the rig has one region. */
static void
device__has_as_many_keys_as_it_says(void **state)
{
	struct rig *rig = *state;
	struct ibv_device_attr attr;
	struct ibv_mw **mw;
	int n = 0;

	ok(ibv_query_device(rig->context, &attr));
	assert_int_equal(attr.max_mr, attr.max_mw);
	mw = calloc((size_t)attr.max_mw, sizeof(mw[0]));
	assert_non_null(mw);
	while (n < attr.max_mw && (mw[n] = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1)) != NULL)
		n++;
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(n, attr.max_mw - 1);
	while (n > 0)
		ok(ibv_dealloc_mw(mw[--n]));
	free(mw);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(bind__completes_on_its_queue_pair),
		rig_test(bind__judges_region_and_rights),
		rig_test(type1__is_ended_by_a_send_with_invalidate),
		rig_test(type2__is_ended_by_a_send_with_invalidate),
		rig_test(type2__is_bound_by_a_key_of_its_own),
		rig_test(type2__names_nothing_before_it_is_bound),
		rig_test(type2__is_of_the_queue_pair_that_bound_it),
		rig_test(type2__is_bound_once),
		rig_test(local_invalidate__frees_a_window),
		rig_test(local_invalidate__is_of_windows_of_type_2),
		rig_test(flush__ends_only_what_it_bound),
		rig_test(device__has_as_many_keys_as_it_says),
		rig_test(region__is_held_by_what_is_bound),
		rig_test(wr__binds_and_invalidates),
		rig_test(device__says_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
