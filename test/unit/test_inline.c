/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that carry their bytes in themselves: the memory they came from is free as soon as they are posted. */

#include <errno.h>
#include <string.h>

#include "queue/qp.h"
#include "fixture.h"

#define MOST 200u

static struct fx_end near, far;
static struct roce_qp *qn, *qf;
static struct roce_mr *open_mr;

static struct roce_qp *
make(struct fx_end *end, uint16_t max_inline)
{
	struct roce_qp_attr attr = fx_attr(end);

	attr.max_inline = max_inline;
	attr.max_send_sge = 3;
	return fx_qp(end, &attr);
}

static int
setup(void **state)
{
	fx_end_open(&near, 1, NULL);
	fx_end_open(&far, 2, NULL);
	qn = make(&near, MOST);
	qf = make(&far, 0);
	fx_join(&near, qn, &far, qf);
	open_mr = fx_mr(far.pd, (uintptr_t)far.memory, FX_MEMORY, FX_ALL);
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&near);
	fx_end_close(&far);
	return fx_live() != 0 || !unit_pool_is_full();
}

/* From memory that nobody registered, in two segments with a key that names nothing; scribbled over at once. */
static int
post(uint8_t opcode, uint32_t len)
{
	uint8_t bytes[2 * ROCE_INLINE_MAX];
	uint32_t first = len / 3;
	const struct roce_sge sge[] = {
		{ (uintptr_t)bytes, first, 0xdead },
		{ (uintptr_t)bytes + first, len - first, 0xbeef },
	};
	const struct roce_wr wr = {
		.wr_id = len,
		.sg = sge,
		.num_sge = RTE_DIM(sge),
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED | ROCE_WR_INLINE,
		.imm = FX_IMM,
		.remote_addr = (uintptr_t)far.memory + 512,
		.rkey = roce_mr_key(open_mr),
	};
	int rc;

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(len + i * 3);
	rc = roce_qp_post_send(qn, &wr);
	memset(bytes, 0xdb, sizeof(bytes));
	return rc;
}

static void
expect_bytes(const uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(at[i], (uint8_t)(len + i * 3));
}

UNIT_RULE(send__carries_what_the_memory_held_at_the_post)
{
	for (uint32_t len = 0; len <= MOST; len++) {
		memset(far.memory, 0, MOST);
		fx_fill_srq(&far, 1, MOST);
		assert_int_equal(post(len & 1 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, len), 0);
		fx_exchange(&near, &far);
		assert_int_equal(fx_event(far.recv_cq).byte_len, len);
		assert_int_equal(fx_event(near.send_cq).byte_len, len);
		expect_bytes(far.memory, len);
	}
}

UNIT_RULE(write__carries_what_the_memory_held_at_the_post)
{
	for (uint32_t len = 0; len <= MOST; len++) {
		memset(far.memory, 0, 1024);
		assert_int_equal(post(IBV_WR_RDMA_WRITE, len), 0);
		fx_exchange(&near, &far);
		assert_int_equal(fx_event(near.send_cq).byte_len, len);
		expect_bytes(far.memory + 512, len);
		assert_int_equal(far.memory[512 + len], 0);
		assert_int_equal(far.memory[511], 0);
	}
}

/* A message that is sent again has the bytes that were sent first. */
UNIT_RULE(send__is_the_same_when_sent_again)
{
	struct rte_mbuf *m[8];
	uint16_t n;

	fx_fill_srq(&far, 1, MOST);
	assert_int_equal(post(IBV_WR_SEND, MOST), 0);
	n = fx_take(&near, m, RTE_DIM(m));
	assert_int_equal(n, 1);
	rte_pktmbuf_free(m[0]);
	near.now += FX_HZ;
	fx_exchange(&near, &far);
	assert_int_equal(fx_event(far.recv_cq).byte_len, MOST);
	expect_bytes(far.memory, MOST);
	assert_int_equal(fx_event(near.send_cq).status, IBV_WC_SUCCESS);
}

/* A full ring of the largest inline requests: no slot touches its neighbour. */
UNIT_RULE(slots__hold_the_largest)
{
	struct roce_qp_attr attr = fx_attr(&near);
	uint32_t n = 0;

	while (post(IBV_WR_RDMA_WRITE, MOST - n % 2) == 0)
		n++;
	assert_int_equal(n, attr.max_send_wr);
	while (n > 0) {
		struct roce_event event[16];
		unsigned int got;

		fx_exchange(&near, &far);
		got = roce_cq_poll(near.send_cq, event, RTE_DIM(event));
		for (unsigned int i = 0; i < got; i++)
			assert_int_equal(event[i].status, IBV_WC_SUCCESS);
		n -= got;
	}
	expect_bytes(far.memory + 512, far.memory[512]);
}

UNIT_RULE(post__refuses_what_cannot_be_inline)
{
	struct roce_qp *q;
	struct roce_qp_attr attr = fx_attr(&near);

	assert_int_equal(post(IBV_WR_SEND, MOST + 1), -EMSGSIZE);
	assert_int_equal(post(IBV_WR_RDMA_READ, 8), -EINVAL);
	assert_int_equal(post(IBV_WR_ATOMIC_FETCH_AND_ADD, 8), -EINVAL);
	attr.max_inline = ROCE_INLINE_MAX + 1;
	assert_int_equal(roce_qp_create(&attr, &q), -EINVAL);
	attr.max_inline = ROCE_INLINE_MAX;
	assert_int_equal(roce_qp_create(&attr, &q), 0);
	roce_qp_destroy(q);
	fx_tx_none(&near);
}
