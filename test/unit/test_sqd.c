/* SPDX-License-Identifier: BSD-3-Clause */
/* SQD drains whatever the requester was at: the peer is asked for the acknowledgement of all that was begun. */

#include "engine/verbs.h"
#include "played_scene.h"

#define PSN FX_SQ_PSN

/* Without a timeout nothing is sent again that was not asked for. */
static int
setup(void **state)
{
	struct roce_qp_connect connect;

	open_ordinary_scene();
	roce_qp_destroy(qp);
	connect = connect_to_peer(&(struct played){ .max_send_wr = 64 });
	connect.ack_timeout = 0;
	qp = fx_play(&end, NULL, &connect, &peer);
	/* Its answer says that there are no credits. */
	assert_int_equal(fx_send(&end, qp, 0, 0, 8, 0), 0);
	(void)fx_tx_one(&end);
	fx_rx_answer(&end, &peer, FX_ACK, PSN);
	return 0;
}

static void
enter_sqd(void)
{
	const struct roce_qp_mod mod = { .state = ROCE_QPS_SQD };

	roce_engine_lock(end.engine);
	assert_int_equal(roce_qp_do_modify(qp, &mod, ROCE_QP_MOD_STATE, NULL), 0);
	roce_engine_unlock(end.engine);
}

static void
post(uint64_t first, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fx_send(&end, qp, first + i, 0, len, ROCE_WR_SIGNALED), 0);
}

/* Send two frames, neither of which asks for an acknowledgement. Half of the burst is for the connection manager. */
static void
send_two(void)
{
	struct rte_mbuf *pkts[4];

	assert_int_equal(fx_take(&end, pkts, RTE_DIM(pkts)), 2);
	rte_pktmbuf_free_bulk(pkts, 2);
	assert_int_equal(qp->tx.silent, 2);
}

/* The rest of a message that was begun leaves, and its last frame asks, though another message was posted behind it. */
UNIT_RULE(drain__asks_at_the_end_of_what_was_begun)
{
	const struct fx_sent *sent;

	post(1, 2, 4 * FX_MTU);
	send_two();
	enter_sqd();
	sent = fx_tx_exactly(&end, 2);
	assert_false(sent[0].ack_req);
	assert_true(sent[1].ack_req);
	fx_tx_none(&end);
	fx_rx_answer(&end, &peer, FX_ACK, PSN + 4);
	assert_false(qp->tx.draining);
	assert_int_equal(roce_cq_count(end.send_cq), 1);
}

/* All frames of what was begun are sent, and none asked: they are sent again. */
UNIT_RULE(drain__asks_again_when_nothing_asked)
{
	const struct fx_sent *sent;

	post(1, 6, 8);
	send_two();
	enter_sqd();
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].psn, PSN + 1);
	assert_true(sent[1].ack_req);
	fx_rx_answer(&end, &peer, FX_ACK, PSN + 2);
	assert_false(qp->tx.draining);
	assert_int_equal(roce_cq_count(end.send_cq), 2);
}
