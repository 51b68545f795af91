/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA WRITE, READ and atomics between two ends: what arrives where, and what each side hears of it. */

#include <string.h>

#include "queue/qp.h"
#include "fixture.h"

#define DEPTH 4 /* READs and atomics outstanding */
#define HALF  (FX_MEMORY / 2)

static struct fx_end near, far;
static struct roce_qp *qn, *qf;
static struct roce_mr *open_mr; /* all of the far end's memory, for everybody */
static uint32_t rkey;

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
	open_mr = fx_mr(far.pd, (uintptr_t)far.memory, FX_MEMORY, FX_ALL);
	rkey = roce_mr_key(open_mr);
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

static int
post(uint8_t opcode, uint64_t wr_id, uint32_t at, uint32_t len, uint32_t remote, uint8_t flags)
{
	const struct roce_sge sge = { (uintptr_t)near.memory + at, len, near.key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = opcode,
		.flags = flags | ROCE_WR_SIGNALED,
		.imm = FX_IMM,
		.remote_addr = (uintptr_t)far.memory + remote,
		.rkey = rkey,
	};

	return roce_qp_post_send(qn, &wr);
}

static void
exchange(void)
{
	fx_exchange(&near, &far);
}

static void
done(uint64_t wr_id, uint32_t len)
{
	struct roce_event event = fx_event(near.send_cq);

	assert_fields(event, (wr_id, wr_id), (status, IBV_WC_SUCCESS), (byte_len, len));
}

static const uint32_t sizes[] = { 0, 1, 3, 4, 63, FX_MTU - 1, FX_MTU, FX_MTU + 1, 2 * FX_MTU,
	5 * FX_MTU + 77 };

UNIT_RULE(write__places_every_length)
{
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		uint8_t before = far.memory[HALF + sizes[i]];

		assert_int_equal(post(IBV_WR_RDMA_WRITE, i, 0, sizes[i], HALF, 0), 0);
		exchange();
		done(i, sizes[i]);
		assert_memory_equal(far.memory + HALF, near.memory, sizes[i]);
		assert_int_equal(far.memory[HALF + sizes[i]], before);
		/* The far end gets no completion. */
		assert_int_equal(roce_cq_count(far.recv_cq), 0);
		memset(far.memory + HALF, 0xee, sizes[i]);
	}
}

/* Proves: rc.R16 */
UNIT_RULE(write_imm__uses_up_a_receive)
{
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		fx_fill_srq(&far, 1, 0);
		assert_int_equal(post(IBV_WR_RDMA_WRITE_WITH_IMM, i, 0, sizes[i], HALF, 0), 0);
		exchange();
		done(i, sizes[i]);
		assert_fields(fx_event(far.recv_cq), (flags, ROCE_EVENT_IMM | ROCE_EVENT_WRITE),
				(imm, FX_IMM), (byte_len, sizes[i]));
		assert_memory_equal(far.memory + HALF, near.memory, sizes[i]);
	}
}

UNIT_RULE(read__fetches_every_length)
{
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		assert_int_equal(post(IBV_WR_RDMA_READ, i, 100, sizes[i], 50, 0), 0);
		exchange();
		done(i, sizes[i]);
		assert_memory_equal(near.memory + 100, far.memory + 50, sizes[i]);
	}
}

/* More than may be outstanding wait for their turn, and requests behind them do not. */
UNIT_RULE(read__keeps_to_its_depth)
{
	for (uint32_t i = 0; i < 3 * DEPTH; i++)
		assert_int_equal(post(IBV_WR_RDMA_READ, i, i * 64, 64, HALF + i * 64, 0), 0);
	exchange();
	for (uint32_t i = 0; i < 3 * DEPTH; i++) {
		struct roce_event event;

		assert_int_equal(roce_cq_poll(near.send_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i), (status, IBV_WC_SUCCESS));
	}
	assert_memory_equal(near.memory, far.memory + HALF, 3 * DEPTH * 64);
	assert_int_equal(fx_stats(&near)->retransmits, 0);
}

UNIT_RULE(atomics__change_and_tell_what_was_there)
{
	uint64_t *word = (uint64_t *)(void *)(far.memory + 1024), before;
	const struct roce_sge sge = { (uintptr_t)near.memory, 8, near.key };
	struct roce_wr wr = {
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = (uintptr_t)word,
		.rkey = rkey,
		.compare_add = 5,
	};

	*word = 0x0102030405060708ull;
	assert_int_equal(roce_qp_post_send(qn, &wr), 0);
	exchange();
	done(0, 8);
	memcpy(&before, near.memory, 8);
	assert_int_equal(before, 0x0102030405060708ull);
	assert_int_equal(*word, 0x010203040506070dull);

	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.swap = 42;
	assert_int_equal(roce_qp_post_send(qn, &wr), 0);
	exchange();
	done(0, 8);
	assert_int_equal(*word, 0x010203040506070dull);
	wr.compare_add = 0x010203040506070dull;
	assert_int_equal(roce_qp_post_send(qn, &wr), 0);
	exchange();
	done(0, 8);
	assert_int_equal(*word, 42);
	memcpy(&before, near.memory, 8);
	assert_int_equal(before, 0x010203040506070dull);
}
