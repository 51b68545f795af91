/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions of verbs: ibv_reg_mr_iova(3), ibv_rereg_mr(3). */

#include <errno.h>
#include <string.h>

#include "rig.h"

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define LEN    64
#define IOVA   UINT64_C(0x100000000)

/* A request of LEN bytes, and how it ends. */
static enum ibv_wc_status
outcome(struct rig *rig, enum ibv_wr_opcode opcode, uint64_t local, uint32_t lkey, uint64_t remote,
		uint32_t rkey)
{
	struct ibv_sge sge = { local, LEN, lkey };
	struct ibv_send_wr wr = { .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { remote, rkey } };
	struct ibv_send_wr *bad;

	ok(ibv_post_send(rig->a, &wr, &bad));
	return want_wc(rig->cq).status;
}

/* A WRITE from the rig's region to offset 1024 of its memory, by that key. */
static enum ibv_wc_status
write_by(struct rig *rig, uint32_t rkey)
{
	return outcome(rig, IBV_WR_RDMA_WRITE, (uintptr_t)rig->memory, rig->mr->lkey,
			(uintptr_t)rig->memory + 1024, rkey);
}

static void
connect_again(struct rig *rig)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ok(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE));
	ok(ibv_modify_qp(rig->b, &attr, IBV_QP_STATE));
	connect_qps(rig, rig->a, rig->b);
}

static int
rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	errno = 0;
	return ibv_rereg_mr(mr, flags, pd, addr, length, access);
}

/* The call fails with this errno, and the region is what it was. */
#define refuses(call, error)                                    \
	do {                                                    \
		assert_int_equal(call, IBV_REREG_MR_ERR_INPUT); \
		assert_int_equal(errno, error);                 \
	} while (0)

static void
iova__names_the_region_at_both_ends(void **state)
{
	struct rig *rig = *state;
	struct ibv_mr *mr = ibv_reg_mr_iova(rig->pd, rig->memory, BYTES, IOVA, RIGHTS);

	assert_non_null(mr);
	assert_ptr_equal(mr->addr, rig->memory);
	memset(rig->memory, 1, LEN);
	memset(rig->memory + 1024, 2, LEN);
	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(outcome(rig, IBV_WR_RDMA_WRITE, IOVA, mr->lkey, IOVA + 1024, mr->rkey),
			IBV_WC_SUCCESS);
	assert_memory_equal(rig->memory + 1024, rig->memory, LEN);
	memset(rig->memory + 1024, 2, LEN);
	assert_int_equal(outcome(rig, IBV_WR_RDMA_READ, IOVA, mr->lkey, IOVA + 1024, mr->rkey),
			IBV_WC_SUCCESS);
	assert_memory_equal(rig->memory + 1024, rig->memory, LEN);
	assert_int_equal(write_by(rig, mr->rkey), IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dereg_mr(mr));
}

static void
iova__is_aligned_as_the_memory_is(void **state)
{
	struct rig *rig = *state;

	refused(ibv_reg_mr_iova(rig->pd, rig->memory, BYTES, IOVA + 4, RIGHTS), EINVAL);
	refused(ibv_reg_mr_iova(rig->pd, rig->memory, BYTES, UINT64_MAX - 7, RIGHTS), EINVAL);
}

/* Without remote rights the peer is refused, and with them it is not; the key stays. */
static void
rereg__changes_the_rights(void **state)
{
	struct rig *rig = *state;
	struct ibv_mr *mr = ibv_reg_mr(rig->pd, rig->memory, BYTES, RIGHTS);
	const uint32_t key = mr->rkey;

	connect_qps(rig, rig->a, rig->b);
	assert_int_equal(write_by(rig, key), IBV_WC_SUCCESS);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(write_by(rig, key), IBV_WC_REM_ACCESS_ERR);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS));
	connect_again(rig);
	assert_int_equal(write_by(rig, key), IBV_WC_SUCCESS);
	assert_int_equal(mr->rkey, key);
	assert_int_equal(mr->lkey, key);
	ok(ibv_dereg_mr(mr));
}

static void
rereg__changes_the_protection_domain(void **state)
{
	struct rig *rig = *state;
	struct ibv_pd *pd = ibv_alloc_pd(rig->context);
	struct ibv_mr *mr = ibv_reg_mr(rig->pd, rig->memory, BYTES, RIGHTS);

	connect_qps(rig, rig->a, rig->b);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0));
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(write_by(rig, mr->rkey), IBV_WC_REM_ACCESS_ERR);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_PD, rig->pd, NULL, 0, 0));
	ok(ibv_dealloc_pd(pd));
	connect_again(rig);
	assert_int_equal(write_by(rig, mr->rkey), IBV_WC_SUCCESS);
	ok(ibv_dereg_mr(mr));
}

/* A receive that is posted names memory that the region no longer has: it fails, and nothing is written there. */
static void
rereg__changes_the_memory(void **state)
{
	struct rig *rig = *state;
	uint8_t other[LEN] = { 0 };
	struct ibv_wc wc;

	memset(rig->memory, 3, LEN);
	memset(rig->memory + 128, 4, LEN);
	connect_qps(rig, rig->a, rig->b);
	ok(post_recv(rig, rig->b, 7));
	ok(rereg(rig->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig->memory + 128, LEN, 0));
	assert_ptr_equal(rig->mr->addr, rig->memory + 128);
	assert_int_equal(rig->mr->length, LEN);
	ok(post_send(rig, rig->a, 8));
	for (int i = 0; i < 2; i++) {
		wc = want_wc(rig->cq);
		assert_int_equal(
				wc.status, wc.wr_id == 7 ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_OP_ERR);
	}
	assert_int_equal(rig->memory[0], 3);
	assert_memory_not_equal(rig->memory, other, LEN);
	/* With rights that it did not have before. */
	connect_again(rig);
	ok(rereg(rig->mr, IBV_REREG_MR_FLAGS_SUPPORTED, rig->pd, rig->memory, BYTES, RIGHTS));
	assert_int_equal(write_by(rig, rig->mr->rkey), IBV_WC_SUCCESS);
}

/* The addresses of memory that is given later are its own. */
static void
rereg__ends_an_iova(void **state)
{
	struct rig *rig = *state;
	struct ibv_mr *mr = ibv_reg_mr_iova(rig->pd, rig->memory, LEN, IOVA, RIGHTS);

	connect_qps(rig, rig->a, rig->b);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS));
	assert_int_equal(outcome(rig, IBV_WR_RDMA_WRITE, IOVA, mr->lkey, IOVA, mr->rkey),
			IBV_WC_SUCCESS);
	ok(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig->memory, BYTES, 0));
	assert_int_equal(write_by(rig, mr->rkey), IBV_WC_SUCCESS);
	assert_int_equal(outcome(rig, IBV_WR_RDMA_WRITE, (uintptr_t)rig->memory, mr->lkey, IOVA,
					 mr->rkey),
			IBV_WC_REM_ACCESS_ERR);
	ok(ibv_dereg_mr(mr));
}

static void
rereg__refuses_and_changes_nothing(void **state)
{
	struct rig *rig = *state;
	struct ibv_mr *mr = rig->mr;

	connect_qps(rig, rig->a, rig->b);
	refuses(rereg(mr, 0, NULL, NULL, 0, 0), EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_FLAGS_SUPPORTED + 1, rig->pd, rig->memory, LEN, 0), EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0), EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig->memory, 0, 0), EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig->memory, SIZE_MAX, 0), EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
			EINVAL);
	refuses(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ON_DEMAND),
			EOPNOTSUPP);
	assert_ptr_equal(mr->addr, rig->memory);
	assert_int_equal(mr->length, BYTES);
	assert_int_equal(write_by(rig, mr->rkey), IBV_WC_SUCCESS);
}

/* A region below a window stays; when the window has ended it can be changed, and says then whether it takes others. */
static void
rereg__is_busy_below_a_window(void **state)
{
	struct rig *rig = *state;
	struct ibv_mw *mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = rig->mr,
				.addr = (uintptr_t)rig->memory + 1024,
				.length = LEN,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE } };

	connect_qps(rig, rig->a, rig->b);
	ok(ibv_bind_mw(rig->b, mw, &bind));
	assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
	refuses(rereg(rig->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS), EBUSY);
	assert_int_equal(write_by(rig, mw->rkey), IBV_WC_SUCCESS);
	ok(ibv_dealloc_mw(mw));
	ok(rereg(rig->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS));
	mw = ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1);
	assert_int_equal(ibv_bind_mw(rig->b, mw, &bind), EINVAL);
	ok(ibv_dealloc_mw(mw));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(iova__names_the_region_at_both_ends),
		rig_test(iova__is_aligned_as_the_memory_is),
		rig_test(rereg__changes_the_rights),
		rig_test(rereg__changes_the_protection_domain),
		rig_test(rereg__changes_the_memory),
		rig_test(rereg__ends_an_iova),
		rig_test(rereg__refuses_and_changes_nothing),
		rig_test(rereg__is_busy_below_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
