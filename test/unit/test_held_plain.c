/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that come early while the engine holds others: plain ones take a shorter path, which has the same rules. Another queue
 * pair holds a frame all the time.
 */

#include "played_scene.h"
#include "wire/icrc.h"

#define PSN  FX_RQ_PSN
#define ONLY IBV_OPCODE_RC_SEND_ONLY
#define RNR  (ROCE_AETH_RNR | 12)
#define GAP  FX_NAK(ROCE_NAK_PSN_SEQUENCE)

static int
setup(void **state)
{
	struct roce_qp_connect connect;
	struct fx_peer neighbour;

	open_scene(&(struct played){ .max_dest_rd_atomic = 4, .rights = FX_ALL });
	fx_fill_srq(&end, 3, 64);
	connect = fx_connect(&end, fx_ip(98), 0x778);
	(void)fx_play(&end, NULL, &connect, &neighbour);
	fx_rx_request(&end, &neighbour, ONLY, PSN + 1, 8, 0);
	(void)fx_tx_drop(&end);
	assert_int_equal(end.engine->held, 1);
	return 0;
}

static struct rte_mbuf *
message(uint32_t number)
{
	return fx_request(&peer, ONLY, PSN + number, 8, 0);
}

static void
expect_held(uint32_t n)
{
	assert_int_equal(qp->cold.held.n, n);
	assert_int_equal(end.engine->held, n + 1);
}

static void
expect_answer(uint8_t syndrome, uint32_t psn)
{
	assert_fields(fx_tx_one(&end), (syndrome, syndrome), (psn, psn));
}

/* Behind a gap that is reported, frames are held without a word, and executed in order. */
UNIT_RULE(plain__is_held_behind_a_gap)
{
	fx_rx(&end, message(1));
	expect_answer(GAP, PSN);
	fx_rx(&end, message(2));
	fx_tx_none(&end);
	expect_held(2);
	assert_int_equal(fx_stats(&end)->out_of_sequence, 3);
	fx_rx(&end, message(0));
	expect_held(0);
	assert_int_equal(roce_cq_count(end.recv_cq), 3);
	expect_answer(FX_ACK, PSN + 2);
}

UNIT_RULE(plain__copy_of_an_executed_frame_is_answered)
{
	fx_rx(&end, message(0));
	fx_rx(&end, message(2));
	(void)fx_tx_drop(&end);
	fx_rx(&end, message(0));
	expect_held(1);
	expect_answer(FX_ACK, PSN);
	assert_int_equal(fx_stats(&end)->duplicate_request, 1);
}

/* A bit of the payload is wrong. */
UNIT_RULE(plain__damaged_is_dropped)
{
	struct rte_mbuf *m = message(2);

	fx_rx(&end, message(1));
	*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - ROCE_ICRC_LEN - 1) ^= 1;
	fx_rx(&end, m);
	expect_held(1);
	assert_int_equal(fx_stats(&end)->rx_icrc_encapsulated, 1);
}

UNIT_RULE(plain__of_another_host_is_dropped)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(97), 0x777);
	struct fx_peer stranger = fx_peer_of(qp, &connect);

	fx_rx(&end, message(1));
	fx_rx_request(&end, &stranger, ONLY, PSN + 2, 8, 0);
	expect_held(1);
	assert_int_equal(fx_stats(&end)->rx_wrong_source, 1);
}

UNIT_RULE(plain__of_another_vlan_is_foreign)
{
	struct rte_mbuf *m = message(2);
	uint16_t left;

	fx_rx(&end, message(1));
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 5;
	roce_engine_lock(end.engine);
	left = roce_engine_rx(end.engine, &m, 1, end.now);
	roce_engine_unlock(end.engine);
	assert_int_equal(left, 1);
	rte_pktmbuf_free(m);
	expect_held(1);
}

/* The network's mark is reported, whatever becomes of the frame. */
UNIT_RULE(plain__marked_is_reported)
{
	struct rte_mbuf *m = message(2);

	fx_rx(&end, message(1));
	(void)fx_tx_drop(&end);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, peer.template.l3_off + 1) |= 3;
	fx_rx(&end, m);
	expect_held(2);
	assert_int_equal(fx_tx_one(&end).opcode, ROCE_OPCODE_CNP);
}

/* Behind a message that found no receive nothing is held. */
UNIT_RULE(plain__behind_a_message_without_a_receive_is_dropped)
{
	for (uint32_t i = 0; i < 4; i++)
		fx_rx(&end, message(i));
	expect_answer(RNR, PSN + 3);
	fx_rx(&end, message(4));
	expect_held(0);
	fx_tx_none(&end);
}
