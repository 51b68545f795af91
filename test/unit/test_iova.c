/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions with an iova (ibv_reg_mr_iova(3)): posts, windows and peers name them by addresses that begin there, and nothing is
 * found where the memory is.
 */

#include <errno.h>
#include <string.h>

#include "queue/mw.h"
#include "queue/qp.h"
#include "fixture.h"

#define DEPTH     4
#define LEN       3000u
#define NEAR_IOVA UINT64_C(0)
#define FAR_IOVA  UINT64_C(0xffffffff00000000)

static struct fx_end near, far;
static struct roce_qp *qn, *qf;
static struct roce_mr *near_mr, *far_mr;

static struct roce_mr *
region(struct fx_end *end, uint64_t iova)
{
	struct roce_mr *mr;

	assert_int_equal(roce_mr_create_iova(end->pd, (uintptr_t)end->memory, FX_MEMORY, iova,
					 FX_ALL | ROCE_ACCESS_LOCAL_READ, &mr),
			0);
	return mr;
}

static struct roce_qp *
make(struct fx_end *end)
{
	struct roce_qp_attr attr = fx_attr(end);

	attr.max_dest_rd_atomic = DEPTH;
	attr.atomics = true;
	return fx_qp(end, &attr);
}

static int
setup(void **state)
{
	fx_end_open(&near, 1, NULL);
	fx_end_open(&far, 2, NULL);
	near_mr = region(&near, NEAR_IOVA);
	far_mr = region(&far, FAR_IOVA);
	qn = make(&near);
	qf = make(&far);
	fx_join_reading(&near, qn, &far, qf, DEPTH);
	for (uint32_t i = 0; i < FX_MEMORY; i++) {
		near.memory[i] = (uint8_t)(i * 7 + 1);
		far.memory[i] = (uint8_t)(i * 13 + 5);
	}
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&near);
	fx_end_close(&far);
	return fx_left();
}

/* A request with @p n segments, which follow each other at the begin of the near region, about the far region at @p remote. */
static int
post_at(uint8_t opcode, uint32_t n, uint64_t local, uint64_t remote)
{
	const uint32_t part = LEN / n;
	struct roce_sge sge[2] = { { local, part, roce_mr_key(near_mr) },
		{ local + part, part, roce_mr_key(near_mr) } };
	const struct roce_wr wr = {
		.sg = sge,
		.num_sge = n,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = remote,
		.rkey = roce_mr_key(far_mr),
	};

	return roce_qp_post_send(qn, &wr);
}

static int
post(uint8_t opcode, uint32_t n, uint32_t remote)
{
	return post_at(opcode, n, NEAR_IOVA, FAR_IOVA + remote);
}

/* A receive of @p n segments at offset 1000 of the far region. */
static void
receive(uint32_t n)
{
	struct roce_sge sge[2] = { { FAR_IOVA + 1000, LEN / n, roce_mr_key(far_mr) },
		{ FAR_IOVA + 1000 + LEN / n, LEN / n, roce_mr_key(far_mr) } };
	const struct roce_recv_wr wr = { .sg = sge, .num_sge = n };

	assert_int_equal(roce_srq_post(far.srq, &wr), 0);
}

static void
exchange(uint8_t status)
{
	fx_exchange(&near, &far);
	assert_int_equal(fx_event(near.send_cq).status, status);
}

UNIT_RULE(create__refuses_an_iova_that_wraps_or_misaligns_atomics)
{
	static const struct {
		uint64_t addr, len, iova;
		int want;
	} rule[] = {
		{ 0x1000, 16, 0, 0 },
		{ 0x1000, 16, 0x1008, 0 },
		{ 0x1003, 16, 0x2003, 0 },
		{ 0x1000, 16, UINT64_MAX - 15, -EINVAL },
		{ 0x1000, 16, UINT64_MAX - 23, 0 },
		{ 0x1000, 16, 0x2004, -EINVAL },
		{ 0x1000, 16, 1, -EINVAL },
		{ 0x1000, 0, 0, -EINVAL },
		{ UINT64_MAX, 2, 7, -EINVAL },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_mr *mr = NULL;

		assert_int_equal(roce_mr_create_iova(near.pd, rule[i].addr, rule[i].len,
						 rule[i].iova, 0, &mr),
				rule[i].want);
		assert_int_equal(mr != NULL, rule[i].want == 0);
		if (mr != NULL)
			roce_mr_destroy(mr);
	}
}

UNIT_RULE(messages__go_from_iova_to_iova)
{
	for (uint32_t n = 1; n <= 2; n++) {
		for (uint32_t m = 1; m <= 2; m++) {
			receive(m);
			memset(far.memory + 1000, 0, LEN);
			assert_int_equal(post(IBV_WR_SEND, n, 0), 0);
			exchange(IBV_WC_SUCCESS);
			assert_int_equal(fx_event(far.recv_cq).status, IBV_WC_SUCCESS);
			assert_memory_equal(far.memory + 1000, near.memory, LEN);
		}
	}
}

UNIT_RULE(memory__is_written_and_read_by_iova)
{
	for (uint32_t n = 1; n <= 2; n++) {
		memset(far.memory + 4096, 0, LEN);
		assert_int_equal(post(IBV_WR_RDMA_WRITE, n, 4096), 0);
		exchange(IBV_WC_SUCCESS);
		assert_memory_equal(far.memory + 4096, near.memory, LEN);
		assert_int_equal(post(IBV_WR_RDMA_READ, n, 9000), 0);
		exchange(IBV_WC_SUCCESS);
		assert_memory_equal(near.memory, far.memory + 9000, LEN);
	}
}

UNIT_RULE(atomics__change_the_word_at_the_iova)
{
	uint64_t *word = (uint64_t *)(void *)(far.memory + 64), before = 77;
	const struct roce_sge sge = { NEAR_IOVA + 8, 8, roce_mr_key(near_mr) };
	const struct roce_wr wr = {
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = FAR_IOVA + 64,
		.rkey = roce_mr_key(far_mr),
		.compare_add = 5,
	};

	*word = before;
	assert_int_equal(roce_qp_post_send(qn, &wr), 0);
	exchange(IBV_WC_SUCCESS);
	assert_int_equal(*word, before + 5);
	assert_memory_equal(near.memory + 8, &before, sizeof(before));
}

/* The address of the memory is none of the key, and the bounds are those behind the iova. */
UNIT_RULE(bounds__are_those_of_the_iova)
{
	assert_int_equal(post_at(IBV_WR_SEND, 1, (uintptr_t)near.memory, 0), -ERANGE);
	assert_int_equal(post_at(IBV_WR_SEND, 2, (uintptr_t)near.memory, 0), -ERANGE);
	assert_int_equal(post_at(IBV_WR_SEND, 1, NEAR_IOVA + FX_MEMORY - LEN + 1, 0), -ERANGE);
	assert_int_equal(post_at(IBV_WR_SEND, 1, NEAR_IOVA - 1, 0), -ERANGE);
	assert_int_equal(post(IBV_WR_RDMA_WRITE, 1, FX_MEMORY - LEN), 0);
	exchange(IBV_WC_SUCCESS);
	assert_int_equal(post_at(IBV_WR_RDMA_WRITE, 1, NEAR_IOVA, (uintptr_t)far.memory), 0);
	exchange(IBV_WC_REM_ACCESS_ERR);
}

UNIT_RULE(bounds__end_where_the_region_does)
{
	assert_int_equal(post(IBV_WR_RDMA_WRITE, 1, FX_MEMORY - LEN + 1), 0);
	exchange(IBV_WC_REM_ACCESS_ERR);
}

/* A request and a receive that are validated a second time have been translated once. */
UNIT_RULE(posts__are_translated_once)
{
	struct roce_mr *other = fx_mr(near.pd, 0x1000, 16, 0);
	struct roce_mr *third = fx_mr(far.pd, 0x1000, 16, 0);

	receive(1);
	receive(2);
	assert_int_equal(post(IBV_WR_SEND, 1, 0), 0);
	assert_int_equal(post(IBV_WR_SEND, 2, 0), 0);
	roce_mr_destroy(other);
	roce_mr_destroy(third);
	fx_exchange(&near, &far);
	assert_int_equal(roce_cq_count(near.send_cq), 2);
	assert_memory_equal(far.memory + 1000, near.memory, LEN);
	/* Of the next ones the regions themselves are gone. */
	assert_int_equal(post(IBV_WR_SEND, 1, 0), 0);
	roce_mr_destroy(near_mr);
	fx_exchange(&near, &far);
	assert_int_equal(roce_cq_count(near.send_cq), 3);
}

/* The addresses of a key are those of its own region, whichever was named last. */
UNIT_RULE(recent__has_no_iova)
{
	struct roce_keys_recent recent;
	const struct roce_keys *keys = &near.domain->keys;
	const struct roce_sge plain = { (uintptr_t)near.memory + 8, 8, near.key };
	const struct roce_sge moved = { NEAR_IOVA + 8, 8, roce_mr_key(near_mr) };
	uint64_t addr;

	roce_keys_recent_init(&recent, keys);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(roce_keys_check_recent(keys, near.pd, i & 2 ? &plain : &moved, 0,
						 &recent, &addr),
				0);
		assert_int_equal(addr, plain.addr);
		assert_int_not_equal(recent.key, moved.lkey);
	}
}

/* A window has the addresses of the region below it. */
UNIT_RULE(window__is_bound_and_used_by_iova)
{
	struct roce_mw *mw;
	struct roce_mw_binding binding;
	struct roce_mw_bind bind = { .mr_key = roce_mr_key(far_mr),
		.access = IBV_ACCESS_REMOTE_WRITE,
		.addr = FAR_IOVA + 128,
		.length = 64 };
	const struct roce_wr wr = {
		.bind = &bind, .opcode = IBV_WR_BIND_MW, .flags = ROCE_WR_SIGNALED
	};
	struct roce_sge sge;
	struct roce_mr *entered;

	assert_int_equal(roce_mw_create(far.pd, NULL, &mw), 0);
	bind.mw = mw;
	bind.addr = (uintptr_t)far.memory + 128;
	assert_int_equal(roce_qp_post_send(qf, &wr), -ERANGE);
	bind.addr = FAR_IOVA + 128;
	assert_int_equal(roce_qp_post_send(qf, &wr), 0);
	fx_exchange(&near, &far);
	assert_true(roce_mw_query(mw, &binding));
	assert_fields(binding, (addr, FAR_IOVA + 128), (length, 64), (mr_key, bind.mr_key));
	sge = (struct roce_sge){ FAR_IOVA + 130, 62, bind.key };
	assert_int_equal(roce_keys_enter(far.domain, far.pd, qf, &sge, IBV_ACCESS_REMOTE_WRITE,
					 &entered),
			0);
	assert_int_equal(sge.addr, (uintptr_t)far.memory + 130);
	sge = (struct roce_sge){ FAR_IOVA + 130, 63, bind.key };
	assert_int_equal(roce_keys_enter(far.domain, far.pd, qf, &sge, IBV_ACCESS_REMOTE_WRITE,
					 &entered),
			-ERANGE);
	roce_mw_destroy(mw);
}
