/* SPDX-License-Identifier: BSD-3-Clause */
/* Lean queue pairs: no slots until the first request comes, and slots for small ones until a larger one does. */

#include <errno.h>
#include <string.h>

#include "queue/qp.h"
#include "fixture.h"

#define DEPTH    8u
#define SEGMENTS 4u
#define SEGMENT  10u /* bytes */
#define LINE     6   /* log2 of a small slot */

static struct fx_end near, far;
static struct roce_qp *qn, *qf;
static struct roce_mr *open_mr;

static void
join(const struct roce_qp_attr *attr)
{
	struct roce_qp_attr other = fx_attr(&far);

	other.max_dest_rd_atomic = 4;
	assert_int_equal(roce_qp_create_small(attr, &qn), 0);
	qf = fx_qp(&far, &other);
	fx_join_reading(&near, qn, &far, qf, 4);
}

/* The same, and slots have been made: a message of no bytes went. */
static void
join_used(const struct roce_qp_attr *attr)
{
	const struct roce_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	join(attr);
	assert_int_equal(roce_qp_post_send(qn, &wr), 0);
	fx_exchange(&near, &far);
	assert_int_equal(fx_requests(qn), 0);
}

static struct roce_qp_attr
lean_attr(void)
{
	struct roce_qp_attr attr = fx_attr(&near);

	attr.max_send_wr = DEPTH;
	attr.max_send_sge = SEGMENTS;
	attr.atomics = true;
	return attr;
}

static int
setup(void **state)
{
	struct roce_qp_attr attr;

	fx_end_open(&near, 1, NULL);
	fx_end_open(&far, 2, NULL);
	open_mr = fx_mr(far.pd, (uintptr_t)far.memory, FX_MEMORY, FX_ALL);
	for (uint32_t i = 0; i < FX_MEMORY; i++)
		near.memory[i] = (uint8_t)(i * 7);
	attr = lean_attr();
	join_used(&attr);
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&near);
	fx_end_close(&far);
	return fx_left();
}

/* Segments of 10 bytes with 10 bytes between them, from the place of @p id on; of an atomic 8. */
static int
post(uint8_t opcode, uint32_t segments, uint64_t id)
{
	struct roce_sge sge[SEGMENTS + 1];
	bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const struct roce_wr wr = {
		.wr_id = id,
		.sg = sge,
		.num_sge = segments,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = (uintptr_t)far.memory + 4096,
		.rkey = roce_mr_key(open_mr),
		.compare_add = 1,
	};

	for (uint32_t i = 0; i < segments; i++)
		sge[i] = (struct roce_sge){ (uintptr_t)near.memory + id * 100 + i * 2 * SEGMENT,
			atomic ? 8 : SEGMENT, near.key };
	return roce_qp_post_send(qn, &wr);
}

/* Message @p id of so many segments is in the far end's memory at @p at. */
static void
expect_message(const uint8_t *at, uint32_t segments, uint64_t id)
{
	for (uint32_t i = 0; i < segments; i++)
		assert_memory_equal(at + i * SEGMENT, near.memory + id * 100 + i * 2 * SEGMENT,
				SEGMENT);
}

static bool
is_small(const struct roce_qp *qp)
{
	assert_fields(qp->wq, (stride_shift, qp->post.wq.stride_shift), (slots, qp->post.wq.slots));
	return qp->wq.stride_shift == LINE;
}

static void
join_again(void)
{
	struct roce_qp_attr attr = lean_attr();

	roce_qp_destroy(qn);
	roce_qp_destroy(qf);
	join(&attr);
}

static bool
has_slots(const struct roce_qp *qp)
{
	assert_ptr_equal(qp->wq.slots, qp->post.wq.slots);
	return qp->wq.slots != NULL;
}

UNIT_RULE(lean__has_no_slots_before_the_first_request)
{
	struct roce_qp_attr attr = lean_attr();
	struct roce_qp *full = fx_qp(&near, &attr);
	unsigned int live;

	join_again();
	live = fx_live();
	assert_true(has_slots(full));
	assert_false(has_slots(qn));
	fx_fill_srq(&far, 1, 100);
	assert_int_equal(post(IBV_WR_SEND, 1, 1), 0);
	assert_int_equal(fx_live(), live + 1);
	assert_true(is_small(qn));
	assert_false(is_small(full));
	fx_exchange(&near, &far);
	expect_message(far.memory, 1, 1);
}

UNIT_RULE(first__list_of_requests_makes_slots)
{
	const struct roce_wr wr[DEPTH + 1] = { [0 ... DEPTH] = { .opcode = IBV_WR_RDMA_WRITE } };

	join_again();
	assert_int_equal(roce_qp_post_list(qn, wr, DEPTH + 1), -ENOSPC);
	assert_int_equal(roce_qp_post_list(qn, wr, 0), 0);
	assert_false(has_slots(qn));
	assert_int_equal(roce_qp_post_list(qn, wr, DEPTH), 0);
	assert_true(is_small(qn));
	assert_int_equal(roce_qp_post_list(qn, wr, 1), -ENOSPC);
	fx_exchange(&near, &far);
	assert_int_equal(fx_requests(qn), 0);
}

UNIT_RULE(first__request_without_memory_is_refused_and_nothing_changes)
{
	join_again();
	fx_fill_srq(&far, 1, 100);
	fx_fail(1);
	assert_int_equal(post(IBV_WR_SEND, 1, 1), -ENOMEM);
	assert_true(fx_failed());
	assert_false(has_slots(qn));
	assert_int_equal(post(IBV_WR_SEND, SEGMENTS, 2), 0);
	fx_exchange(&near, &far);
	expect_message(far.memory, SEGMENTS, 2);
}

UNIT_RULE(first__request_in_reset_makes_no_slots)
{
	const struct roce_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	join_again();
	roce_qp_to_reset(qn);
	assert_int_equal(roce_qp_post_send(qn, &wr), -EINVAL);
	assert_int_equal(roce_qp_post_list(qn, &wr, 1), -EINVAL);
	assert_false(has_slots(qn));
}

UNIT_RULE(small__requests_stay_in_their_line)
{
	unsigned int live = fx_live();

	fx_fill_srq(&far, 2, 100);
	assert_int_equal(post(IBV_WR_SEND, 2, 1), 0);
	assert_int_equal(post(IBV_WR_SEND, 0, 2), 0);
	assert_int_equal(post(IBV_WR_RDMA_WRITE, 1, 3), 0);
	assert_int_equal(post(IBV_WR_RDMA_READ, 1, 4), 0);
	fx_exchange(&near, &far);
	assert_int_equal(roce_cq_count(near.send_cq), 4);
	expect_message(far.memory + 4096, 1, 3);
	assert_true(is_small(qn));
	assert_int_equal(fx_live(), live);
}

UNIT_RULE(larger__request_of_each_kind_makes_room)
{
	static const struct {
		uint8_t opcode;
		uint8_t segments;
	} kind[] = { { IBV_WR_SEND, 3 }, { IBV_WR_SEND, 4 }, { IBV_WR_RDMA_WRITE, 2 },
		{ IBV_WR_RDMA_READ, 2 }, { IBV_WR_ATOMIC_FETCH_AND_ADD, 1 } };

	for (size_t i = 0; i < RTE_DIM(kind); i++) {
		struct roce_qp_attr attr = lean_attr();
		struct roce_event event;

		roce_qp_destroy(qn);
		roce_qp_destroy(qf);
		join_used(&attr);
		fx_fill_srq(&far, 1, 100);
		assert_true(is_small(qn));
		assert_int_equal(post(kind[i].opcode, kind[i].segments, i), 0);
		assert_false(is_small(qn));
		fx_exchange(&near, &far);
		event = fx_event(near.send_cq);
		assert_fields(event, (status, IBV_WC_SUCCESS), (wr_id, i));
		if (kind[i].opcode == IBV_WR_SEND)
			expect_message(far.memory, kind[i].segments, i);
		while (roce_cq_poll(far.recv_cq, &event, 1) > 0)
			;
	}
}

/* Five requests before it: two acknowledged, one sent and lost, two never sent; at every place of the ring. */
UNIT_RULE(larger__moves_what_is_under_way)
{
	for (uint32_t before = 0; before < 2 * DEPTH; before++) {
		struct roce_qp_attr attr = lean_attr();
		struct roce_event event;
		unsigned int n;

		roce_qp_destroy(qn);
		roce_qp_destroy(qf);
		join_used(&attr);
		for (uint32_t i = 0; i < before + 2; i++) {
			fx_fill_srq(&far, 1, 100);
			assert_int_equal(post(IBV_WR_SEND, 1, i), 0);
			fx_exchange(&near, &far);
			assert_int_equal(fx_event(near.send_cq).wr_id, i);
			fx_event(far.recv_cq);
		}
		assert_int_equal(post(IBV_WR_SEND, 1, 100), 0);
		fx_tx_all(&near, &n);
		assert_int_equal(n, 1);
		assert_int_equal(post(IBV_WR_SEND, 2, 101), 0);
		assert_int_equal(post(IBV_WR_RDMA_WRITE, 1, 102), 0);
		assert_true(is_small(qn));
		assert_int_equal(post(IBV_WR_SEND, 4, 103), 0);
		assert_false(is_small(qn));
		fx_fill_srq(&far, 3, 100);
		/* The far end finds a gap, and the lost one is made again from where it lies now. */
		fx_exchange(&near, &far);
		for (uint64_t id = 100; id < 104; id++) {
			assert_int_equal(roce_cq_poll(near.send_cq, &event, 1), 1);
			assert_fields(event, (wr_id, id), (status, IBV_WC_SUCCESS));
		}
		expect_message(far.memory, 4, 103);
		expect_message(far.memory + 4096, 1, 102);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(roce_cq_poll(far.recv_cq, &event, 1), 1);
		assert_int_equal(event.byte_len, 4 * SEGMENT);
	}
}

UNIT_RULE(larger__without_memory_is_refused_and_nothing_changes)
{
	fx_fill_srq(&far, 3, 100);
	assert_int_equal(post(IBV_WR_SEND, 1, 1), 0);
	fx_fail(1);
	assert_int_equal(post(IBV_WR_SEND, 4, 2), -ENOMEM);
	assert_true(fx_failed());
	assert_true(is_small(qn));
	assert_int_equal(post(IBV_WR_SEND, 1, 3), 0);
	assert_int_equal(post(IBV_WR_SEND, 4, 4), 0);
	fx_exchange(&near, &far);
	assert_int_equal(roce_cq_count(near.send_cq), 3);
	expect_message(far.memory, 4, 4);
}

static int
post_unaligned(void)
{
	struct roce_sge segment = { (uintptr_t)near.memory, 8, near.key };
	const struct roce_wr wr = {
		.sg = &segment,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = (uintptr_t)far.memory + 4,
		.rkey = roce_mr_key(open_mr),
	};

	return roce_qp_post_send(qn, &wr);
}

UNIT_RULE(refused__requests_take_no_memory)
{
	struct roce_qp_attr attr = lean_attr();
	unsigned int live = fx_live();

	/* More than was agreed upon. */
	assert_int_equal(post(IBV_WR_SEND, SEGMENTS + 1, 1), -EINVAL);
	assert_int_equal(post(IBV_WR_RDMA_WRITE, SEGMENTS + 1, 1), -EINVAL);
	/* Atomics have one segment, and an aligned place; the largest number of segments is no reason to look for room for ever. */
	assert_int_equal(post(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 1), -EINVAL);
	assert_int_equal(post(IBV_WR_ATOMIC_FETCH_AND_ADD, SEGMENTS, 1), -EINVAL);
	assert_int_equal(post_unaligned(), -EINVAL);
	assert_true(is_small(qn));
	assert_int_equal(fx_live(), live);
	assert_int_equal(post(IBV_WR_SEND, SEGMENTS, 1), 0);
	assert_int_equal(post(IBV_WR_ATOMIC_FETCH_AND_ADD, SEGMENTS, 1), -EINVAL);
	roce_qp_destroy(qn);
	roce_qp_destroy(qf);
	attr.atomics = false;
	join_used(&attr);
	assert_int_equal(post(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 1), -EINVAL);
	assert_true(is_small(qn));
	assert_int_equal(fx_live(), live);
}

/* A third of the bytes from each of three places, to @p at of the far end. */
static int
post_inline(uint32_t bytes, uint32_t at)
{
	struct roce_sge sge[3];
	const struct roce_wr wr = {
		.sg = sge,
		.num_sge = RTE_DIM(sge),
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = ROCE_WR_SIGNALED | ROCE_WR_INLINE,
		.remote_addr = (uintptr_t)far.memory + at,
		.rkey = roce_mr_key(open_mr),
	};

	for (uint32_t i = 0; i < RTE_DIM(sge); i++)
		sge[i] = (struct roce_sge){ (uintptr_t)near.memory + at + i * bytes / 3, bytes / 3,
			0 };
	return roce_qp_post_send(qn, &wr);
}

/* Inline requests have their room from the start, however many segments their bytes come from. */
UNIT_RULE(lean__keeps_room_for_inline_requests)
{
	static const uint16_t most[] = { 12, 60, 120 };

	for (size_t i = 0; i < RTE_DIM(most); i++) {
		struct roce_qp_attr attr = lean_attr();
		struct roce_event event;
		unsigned int live;

		roce_qp_destroy(qn);
		roce_qp_destroy(qf);
		attr.max_inline = most[i];
		join_used(&attr);
		live = fx_live();
		assert_int_equal(post_inline(most[i], 0), 0);
		assert_int_equal(post_inline(most[i], 512), 0);
		assert_int_equal(fx_live(), live);
		fx_exchange(&near, &far);
		assert_int_equal(roce_cq_poll(near.send_cq, &event, 1), 1);
		assert_int_equal(event.byte_len, most[i]);
		assert_memory_equal(far.memory, near.memory, most[i]);
		assert_memory_equal(far.memory + 512, near.memory + 512, most[i]);
		while (roce_cq_poll(near.send_cq, &event, 1) > 0)
			;
	}
}
