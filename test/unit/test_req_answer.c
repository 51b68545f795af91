/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of answers to READs, and the answers that it leaves to the slow path. test_req_whole.c compares the two paths.
 */

#include <string.h>

#include <rte_ip.h>

#include "frames.h"
#include "played_scene.h"
#include "wire/icrc.h"

#define PSN      FX_SQ_PSN
#define DEPTH    4
#define RSP_ONLY IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
#define LEN      8u

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_rd_atomic = DEPTH });
	memset(end.memory, 0, FX_MEMORY);
	fx_tx_none(&end);
	return 0;
}

/* Each reads into other memory. */
static void
post(struct roce_qp *of, uint8_t opcode, uint64_t number)
{
	const struct roce_sge sge = { (uintptr_t)end.memory + number * LEN, LEN, end.key };
	const struct roce_wr wr = {
		.wr_id = number,
		.sg = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x123456780,
		.rkey = 0x99,
	};

	assert_int_equal(roce_qp_post_send(of, &wr), 0);
}

/* All at once. @return how many are left to others. */
static uint16_t
give(struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t left;

	roce_engine_lock(end.engine);
	left = roce_engine_rx(end.engine, pkts, n, end.now);
	roce_engine_unlock(end.engine);
	return left;
}

static struct rte_mbuf *
answer(struct fx_peer *from, uint32_t psn)
{
	return fx_response(from, RSP_ONLY, psn, LEN, 1);
}

static void
expect_done(uint64_t first, unsigned int n)
{
	struct roce_event event;

	for (uint64_t i = first; i < first + n; i++) {
		assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i), (status, IBV_WC_SUCCESS));
		assert_int_not_equal(end.memory[i * LEN + 1], 0);
	}
	assert_int_equal(roce_cq_count(end.send_cq), 0);
}

UNIT_RULE(answers__that_come_together_end_their_reads)
{
	struct rte_mbuf *pkts[3];

	for (uint64_t i = 0; i < 3; i++) {
		post(qp, IBV_WR_RDMA_READ, i);
		pkts[i] = answer(&peer, PSN + (uint32_t)i);
	}
	assert_int_equal(fx_tx_drop(&end), 3);
	assert_int_equal(give(pkts, 3), 0);
	expect_done(0, 3);
	assert_fields(*fx_stats(&end), (rx_read_responses, 3), (rx_ghost_acks, 0));
	fx_tx_none(&end);
}

/* One from another address, of another VLAN, or of a network that is congested. */
UNIT_RULE(answer__is_that_of_the_peer)
{
	struct rte_mbuf *m = answer(&peer, PSN);

	post(qp, IBV_WR_RDMA_READ, 0);
	fx_tx_drop(&end);
	rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, V4_L3)->src_addr ^= RTE_BE32(1);
	roce_icrc_put(m, &peer.template);
	assert_int_equal(give(&m, 1), 0);
	assert_int_equal(fx_stats(&end)->rx_wrong_source, 1);

	m = answer(&peer, PSN);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 5;
	assert_int_equal(give(&m, 1), 1);
	rte_pktmbuf_free(m);
	assert_int_equal(roce_cq_count(end.send_cq), 0);

	m = answer(&peer, PSN);
	rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, V4_L3)->type_of_service |= 3;
	assert_int_equal(give(&m, 1), 0);
	expect_done(0, 1);
	assert_int_equal(fx_tx_one(&end).opcode, ROCE_OPCODE_CNP);
}

/* The second frame has the PSN that comes next at the first queue pair. */
UNIT_RULE(answer__ends_the_read_of_its_queue_pair)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x778);
	struct roce_qp_attr attr = fx_attr(&end);
	struct rte_mbuf *pkts[2];
	struct fx_peer other;
	struct roce_qp *second;

	connect.max_rd_atomic = DEPTH;
	connect.sq_psn = PSN + 1;
	second = fx_play(&end, &attr, &connect, &other);
	post(qp, IBV_WR_RDMA_READ, 0);
	post(qp, IBV_WR_RDMA_READ, 7);
	post(second, IBV_WR_RDMA_READ, 1);
	assert_int_equal(fx_tx_drop(&end), 3);
	pkts[0] = answer(&peer, PSN);
	pkts[1] = answer(&other, PSN + 1);
	assert_int_equal(give(pkts, 2), 0);
	expect_done(0, 2);
}

/* The slot of a request that was not sent says when its segment was validated where that of another has its PSN. */
UNIT_RULE(answer__to_a_read_that_was_not_sent_is_not_taken)
{
	struct rte_mbuf *pkts[2] = { answer(&peer, PSN), answer(&peer, PSN + 1) };

	post(qp, IBV_WR_RDMA_READ, 0);
	fx_tx_drop(&end);
	post(qp, IBV_WR_RDMA_READ, 1);
	roce_wq_slot(&qp->wq, 1)->validated_epoch = PSN + 1;
	assert_int_equal(give(pkts, 2), 0);
	expect_done(0, 1);
	assert_int_equal(fx_stats(&end)->rx_ghost_acks, 1);
	assert_int_equal(end.memory[LEN], 0);
}

/* Its memory may be read-only, and its bytes are the program's. */
UNIT_RULE(answer__to_a_send_is_not_taken)
{
	struct rte_mbuf *pkts[2] = { answer(&peer, PSN), answer(&peer, PSN + 1) };

	post(qp, IBV_WR_RDMA_READ, 0);
	post(qp, IBV_WR_SEND, 1);
	fx_tx_drop(&end);
	assert_int_equal(give(pkts, 2), 0);
	expect_done(0, 1);
	assert_int_equal(fx_stats(&end)->rx_ghost_acks, 1);
	assert_int_equal(end.memory[LEN], 0);
}

/* A NAK that ends the queue pair waits behind answers to READs of the peer: its own requests are over. */
UNIT_RULE(answer__to_a_queue_pair_that_ends_is_not_taken)
{
	struct rte_mbuf *m = answer(&peer, PSN);

	post(qp, IBV_WR_RDMA_READ, 0);
	fx_tx_drop(&end);
	qp->rx.state = ROCE_QP_ENDING;
	assert_int_equal(give(&m, 1), 0);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	assert_int_equal(fx_stats(&end)->rx_wrong_state, 1);
	qp->rx.state = ROCE_QP_RTS;
}

UNIT_RULE(answer__to_the_last_request_drains)
{
	struct rte_mbuf *m = answer(&peer, PSN);

	post(qp, IBV_WR_RDMA_READ, 0);
	fx_tx_drop(&end);
	roce_engine_lock(end.engine);
	roce_qp_drain(qp);
	roce_engine_unlock(end.engine);
	fx_tx_none(&end);
	assert_int_equal(end.async_events, 0);
	assert_int_equal(give(&m, 1), 0);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_DRAINED);
	expect_done(0, 1);
}
