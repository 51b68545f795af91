/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames recorded and played again by somebody who can put the peer's address on them: nothing is delivered or done
 * twice, no connection ends, and nobody is answered with more than was said.
 */

#include <stdlib.h>
#include <string.h>

#include "pair_scene.h"

#define MTU    FX_MTU
#define FRAMES 512u
#define ALL    (FX_ALL | ROCE_ACCESS_LOCAL_READ)

struct recorded {
	bool to_b;
	uint16_t len;
	uint8_t bytes[ROCE_FRAME_LEN_MAX(MTU)];
};

static uint32_t rkey;
static struct recorded tape[FRAMES];
static unsigned int taped;
static bool recording;

static int
setup(void **state)
{
	open_pair(ALL);
	rkey = roce_mr_key(mr);
	fx_fill_srq(&b, 32, 4 * MTU);
	fx_fill_srq(&a, 32, 4 * MTU);
	taped = 0;
	recording = true;
	return 0;
}

/* A poll of one end; what it says reaches the other, and the tape. @return frames. */
static unsigned int
carry(struct fx_end *from, struct fx_end *to)
{
	struct rte_mbuf *pkts[32];
	const uint16_t n = fx_take(from, pkts, 32);

	for (uint16_t i = 0; i < n; i++) {
		if (recording) {
			struct recorded *r = &tape[taped++];

			assert_true(taped < FRAMES);
			r->to_b = to == &b;
			r->len = (uint16_t)pkts[i]->pkt_len;
			memcpy(r->bytes, rte_pktmbuf_mtod(pkts[i], void *), r->len);
		}
		fx_rx(to, pkts[i]);
	}
	return n;
}

static void
talk(void)
{
	while (carry(&a, &b) + carry(&b, &a) > 0)
		;
}

static void
post(uint8_t opcode, uint64_t wr_id, uint32_t len, uint32_t at)
{
	const struct roce_sge sge = { (uintptr_t)a.memory, len, a.key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = (uintptr_t)b.memory + at,
		.rkey = rkey,
		.imm = FX_IMM,
		.compare_add = 1,
		.swap = 2,
	};

	assert_int_equal(roce_qp_post_send(qa, &wr), 0);
}

/* Everything that has a meaning, in both directions; done and reaped when it returns. */
static void
conversation(void)
{
	struct roce_event event[64];

	for (uint32_t round = 0; round < 2; round++) {
		post(IBV_WR_SEND, 1, 3 * MTU, 0);
		post(IBV_WR_RDMA_WRITE, 2, 2 * MTU + 5, 16384);
		post(IBV_WR_RDMA_WRITE_WITH_IMM, 3, 8, 16384);
		post(IBV_WR_SEND_WITH_IMM, 4, 8, 0);
		post(IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 8, 32768);
		post(IBV_WR_ATOMIC_CMP_AND_SWP, 6, 8, 32776);
		post(IBV_WR_RDMA_READ, 7, 3 * MTU, 0);
		post(IBV_WR_RDMA_READ, 8, 8, 0);
		assert_int_equal(fx_send(&b, qb, 9, 0, 2 * MTU, ROCE_WR_SIGNALED), 0);
		talk();
	}
	assert_int_equal(roce_cq_poll(a.send_cq, event, 64), 16);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(event[i].status, IBV_WC_SUCCESS);
	assert_int_equal(roce_cq_poll(b.recv_cq, event, 64), 6);
	assert_int_equal(roce_cq_poll(b.send_cq, event, 64), 2);
	assert_int_equal(roce_cq_poll(a.recv_cq, event, 64), 2);
	recording = false;
}

/* Frames that an end says now. They go to the other one, who did not ask and says nothing to them. */
static unsigned int
answers(struct fx_end *end)
{
	struct fx_end *other = end == &a ? &b : &a;
	unsigned int n = 0, more;

	while ((more = carry(end, other)) > 0)
		n += more;
	fx_tx_none(other);
	return n;
}

static void
nothing_happened(void)
{
	assert_int_equal(roce_cq_count(a.send_cq), 0);
	assert_int_equal(roce_cq_count(a.recv_cq), 0);
	assert_int_equal(roce_cq_count(b.send_cq), 0);
	assert_int_equal(roce_cq_count(b.recv_cq), 0);
	assert_int_equal(roce_qp_state(qa), ROCE_QP_RTS);
	assert_int_equal(roce_qp_state(qb), ROCE_QP_RTS);
	assert_int_equal(a.async_events, 0);
	assert_int_equal(b.async_events, 0);
}

/* And the connection still does what it is for. */
static void
goes_on(void)
{
	struct roce_event event[2];

	post(IBV_WR_SEND, 77, 8, 0);
	assert_int_equal(fx_send(&b, qb, 78, 0, 8, ROCE_WR_SIGNALED), 0);
	talk();
	assert_int_equal(fx_event(a.send_cq).wr_id, 77);
	assert_int_equal(fx_event(b.send_cq).wr_id, 78);
	assert_int_equal(roce_cq_poll(b.recv_cq, event, 2), 1);
	assert_int_equal(roce_cq_poll(a.recv_cq, event, 2), 1);
}

/* The frame number @p i of the tape, once more. @return frames that it draws. */
static unsigned int
again(unsigned int i)
{
	struct fx_end *to = tape[i].to_b ? &b : &a;

	fx_rx(to, unit_mbuf(tape[i].bytes, tape[i].len));
	return answers(to);
}

static uint8_t
opcode_of(unsigned int i)
{
	struct rte_mbuf *m = unit_mbuf(tape[i].bytes, tape[i].len);
	struct roce_pkt pkt;
	uint8_t opcode;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	opcode = pkt.opcode;
	rte_pktmbuf_free(m);
	return opcode;
}

static void
remember(uint8_t *to, const struct fx_end *end)
{
	memcpy(to, end->memory, FX_MEMORY);
}

/* One frame draws one at the most; a READ that is still kept draws its own answer, which its asker has, and no more. */
UNIT_RULE(replay__one_by_one_does_nothing)
{
	static uint8_t before[2][FX_MEMORY];

	conversation();
	remember(before[0], &a);
	remember(before[1], &b);
	for (unsigned int i = 0; i < taped; i++) {
		const uint8_t opcode = opcode_of(i);
		const unsigned int most = opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST ? 3 : 1;

		assert_in_range(again(i), 0, most);
		nothing_happened();
	}
	assert_memory_equal(a.memory, before[0], FX_MEMORY);
	assert_memory_equal(b.memory, before[1], FX_MEMORY);
	goes_on();
}

/* In any order, several at a time. */
UNIT_RULE(replay__shuffled_does_nothing)
{
	static uint8_t before[2][FX_MEMORY];
	unsigned int in = 0, out = 0, kept = 0, more;

	conversation();
	remember(before[0], &a);
	remember(before[1], &b);
	srand(4);
	for (unsigned int k = 0; k < 20000; k++) {
		const unsigned int i = (unsigned int)rand() % taped;

		fx_rx(tape[i].to_b ? &b : &a, unit_mbuf(tape[i].bytes, tape[i].len));
		kept += opcode_of(i) == IBV_OPCODE_RC_RDMA_READ_REQUEST;
		in++;
		if (rand() % 8 == 0)
			out += carry(&a, &b) + carry(&b, &a);
	}
	while ((more = carry(&a, &b) + carry(&b, &a)) > 0)
		out += more;
	nothing_happened();
	assert_in_range(out, 1, in + 2 * kept);
	assert_memory_equal(a.memory, before[0], FX_MEMORY);
	assert_memory_equal(b.memory, before[1], FX_MEMORY);
	goes_on();
}

/* While other work is under way: the copies neither complete it nor hold it up. */
UNIT_RULE(replay__beside_traffic_loses_nothing)
{
	struct roce_event event[64];

	conversation();
	for (uint32_t k = 0; k < taped; k++) {
		fx_rx(tape[k].to_b ? &b : &a, unit_mbuf(tape[k].bytes, tape[k].len));
		if (k % 8 != 0)
			continue;
		post(IBV_WR_RDMA_WRITE, k, MTU, 16384);
		post(IBV_WR_RDMA_READ, k, 2 * MTU, 0);
		talk();
		assert_int_equal(roce_cq_poll(a.send_cq, event, 64), 2);
		assert_int_equal(event[0].status, IBV_WC_SUCCESS);
		assert_int_equal(event[1].status, IBV_WC_SUCCESS);
	}
	talk();
	nothing_happened();
	goes_on();
}

/*
 * Memory that the peer read or wrote may go when that is done. Late copies of its frames end nothing: one of a READ
 * draws a NAK at the most, which the peer, who has the answer, drops.
 */
UNIT_RULE(replay__after_the_memory_went_ends_nothing)
{
	unsigned int reads = 0, naks = 0;

	conversation();
	assert_int_equal(roce_mr_destroy(mr), 0);
	for (unsigned int i = 0; i < taped; i++) {
		const bool is_read = opcode_of(i) == IBV_OPCODE_RC_RDMA_READ_REQUEST;
		const unsigned int n = again(i);

		reads += is_read;
		naks += is_read ? n : 0;
		assert_in_range(n, 0, 1);
		nothing_happened();
	}
	assert_int_equal(reads, 4);
	assert_in_range(naks, 1, 4);
	assert_int_equal(fx_stats(&a)->retransmits, 0);
	mr = fx_mr(b.pd, (uintptr_t)b.memory, FX_MEMORY, ALL);
	rkey = roce_mr_key(mr);
	goes_on();
}

/* The peer that lost the answer, and asks for it when the memory is gone, learns why there is none. */
UNIT_RULE(replay__by_who_lost_the_answer_ends_with_its_reason)
{
	recording = false;
	post(IBV_WR_RDMA_READ, 1, 2 * MTU, 0);
	assert_int_equal(carry(&a, &b), 1);
	assert_int_equal(fx_tx_drop(&b), 2);
	assert_int_equal(roce_mr_destroy(mr), 0);
	while (a.async_events == 0) {
		a.now = RTE_MAX(roce_engine_deadline(a.engine), a.now + 1);
		talk();
	}
	assert_int_equal(a.async_event[0].kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
	assert_int_equal(fx_event(a.send_cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(roce_qp_state(qb), ROCE_QP_RTS);
}

/* A frame of one connection is nothing to the next one, though both have the same ends. */
UNIT_RULE(replay__to_the_next_connection_finds_nothing)
{
	struct roce_qp *old_a = qa, *old_b = qb;

	conversation();
	qa = fx_qp(&a, NULL);
	qb = fx_qp(&b, NULL);
	roce_qp_destroy(old_a);
	roce_qp_destroy(old_b);
	fx_join(&a, qa, &b, qb);
	for (unsigned int i = 0; i < taped; i++)
		assert_int_equal(again(i), 0);
	nothing_happened();
	assert_int_equal(fx_stats(&a)->rx_unknown_qp + fx_stats(&b)->rx_unknown_qp, taped);
	goes_on();
}
