/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that leaves a frame out on every queue pair that it may have, and sends all others. */

#include "played_scene.h"

#define PSN   FX_RQ_PSN
#define QPS   16000u
#define HOLES 4u /**< frames of each queue pair that came too early */
#define LIMIT (1023u / 4)

static struct roce_qp *crowd[QPS];

static int
setup(void **state)
{
	struct roce_qp_attr attr;

	fx_end_open(&end, 1, NULL);
	fx_fill_srq(&end, 200, 64);
	attr = fx_attr(&end);
	attr.max_send_wr = 1;
	for (uint32_t i = 0; i < QPS; i++) {
		const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777 + i);
		struct fx_peer attacker;

		crowd[i] = fx_play(&end, &attr, &connect, &attacker);
		for (uint32_t hole = 1; hole <= HOLES; hole++)
			fx_rx_request(&end, &attacker, IBV_OPCODE_RC_SEND_ONLY, PSN + 2 * hole, 8,
					0);
		if (i % 256 == 0)
			(void)fx_tx_drop(&end);
	}
	(void)fx_tx_drop(&end);
	return 0;
}

static int
finish(void **state)
{
	for (uint32_t i = 0; i < QPS; i++)
		roce_qp_destroy(crowd[i]);
	return teardown(state);
}

/* However many queue pairs there are, they hold what an engine may hold, and three quarters of the pool are left. */
UNIT_RULE_IN(held__memory_is_bounded, setup, finish)
{
	assert_int_equal(end.engine->held, LIMIT);
	assert_fields(*fx_stats(&end), (rx_held, LIMIT),
			(rx_held_limited, (uint64_t)QPS * HOLES - LIMIT),
			(out_of_sequence, (uint64_t)QPS * HOLES), (tx_no_mbuf, 0));
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_expect_counts(end.srq, 256, 200, 200);
}

/* Another connection works as if nothing had been held: also when it loses a frame, which it sends again. */
UNIT_RULE_IN(held__others_are_unharmed, setup, finish)
{
	qp = fx_played_qp(&end, &peer);
	for (uint32_t i = 0; i < 4; i++) {
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + i, 8, FX_ACKREQ);
		assert_fields(fx_tx_one(&end), (syndrome, FX_ACK), (psn, PSN + i));
	}
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + 5, 8, FX_ACKREQ);
	assert_fields(fx_tx_one(&end), (syndrome, FX_NAK(ROCE_NAK_PSN_SEQUENCE)), (psn, PSN + 4));
	for (uint32_t i = 4; i < 6; i++)
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + i, 8, FX_ACKREQ);
	assert_fields(fx_tx_one(&end), (syndrome, FX_ACK), (psn, PSN + 5));
	assert_int_equal(roce_cq_count(end.recv_cq), 6);
	roce_qp_destroy(qp);
}
