/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion: marks are answered by notifications, notifications are obeyed by a rate limiter. The numbers are those
 * of the DCQCN paper (SIGCOMM 2015) for the parameters in docs/rc.md, worked out by hand.
 */

#include <string.h>

#include "requester/dcqcn.h"
#include "played_scene.h"

#define US(n) ((uint64_t)(n)*FX_HZ / 1000000)
#define ONLY  IBV_OPCODE_RC_SEND_ONLY

static int
setup(void **state)
{
	open_ordinary_scene();
	fx_fill_srq(&end, 64, 1024);
	end.now = US(1000);
	return 0;
}

/* A frame of the peer with this mark of RFC 3168. The ICRC does not see it. */
static void
arrive_marked(uint32_t number, uint8_t ecn)
{
	struct rte_mbuf *m = fx_request(&peer, ONLY, FX_RQ_PSN + number, 8, 0);
	uint8_t *tos = rte_pktmbuf_mtod_offset(m, uint8_t *, peer.template.l3_off + 1);

	*tos = (uint8_t)(*tos | ecn);
	fx_rx(&end, m);
}

static void
arrive_cnp(void)
{
	struct rte_mbuf *m = fx_request(&peer, ROCE_OPCODE_CNP, 0, 0, 0);

	fx_rx(&end, m);
}

/* As often as a peer may, and it counts. */
static void
notify_often(unsigned int n)
{
	while (n-- > 0) {
		arrive_cnp();
		end.now += US(ROCE_CNP_INTERVAL_US);
	}
}

/* ---- notification point ---- */

UNIT_RULE(mark__is_answered_by_a_notification)
{
	arrive_marked(0, 3);
	assert_fields(fx_tx_one(&end), (opcode, 0x81), (dest_qp, 0x777), (psn, 0), (payload_len, 0),
			(ack_req, false));
	assert_int_equal(fx_stats(&end)->np_cnp_sent, 1);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
}

/* Byte for byte: BECN set, 16 bytes of zeros, and an ICRC as every frame has. */
UNIT_RULE(notification__stands_so_on_the_wire)
{
	static const uint8_t bth[] = { 0x81, 0x40, 0xff, 0xff, 0x40, 0x00, 0x07, 0x77, 0, 0, 0, 0 };
	static const uint8_t reserved[16];
	struct rte_mbuf *m[4];
	struct roce_pkt pkt;

	arrive_marked(0, 3);
	(void)fx_event(end.recv_cq);
	assert_int_equal(fx_take(&end, m, RTE_DIM(m)), 1);
	assert_int_equal(roce_frame_parse(m[0], &pkt), ROCE_FRAME_OK);
	assert_memory_equal(pkt.bth, bth, sizeof(bth));
	assert_memory_equal(pkt.bth + sizeof(bth), reserved, sizeof(reserved));
	assert_int_equal(pkt.payload_len, 0);
	assert_true(roce_icrc_ok(&pkt));
	rte_pktmbuf_free(m[0]);
}

UNIT_RULE(mark__of_another_kind_means_nothing)
{
	for (uint8_t ecn = 0; ecn < 3; ecn++) {
		arrive_marked(ecn, ecn);
		fx_tx_none(&end);
		(void)fx_event(end.recv_cq);
	}
	assert_int_equal(fx_stats(&end)->np_ecn_marked_roce_packets, 0);
}

UNIT_RULE(marks__are_answered_once_in_an_interval)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < 3; i++) {
		arrive_marked(number++, 3);
		assert_int_equal(fx_tx_one(&end).opcode, ROCE_OPCODE_CNP);
		end.now += US(ROCE_CNP_INTERVAL_US) - 1;
		arrive_marked(number++, 3);
		fx_tx_none(&end);
		end.now += 1;
	}
	assert_fields(*fx_stats(&end), (np_ecn_marked_roce_packets, 6), (np_cnp_sent, 3));
}

/* A frame that is damaged, or of somebody else, tells nothing about the path from the peer. */
UNIT_RULE(mark__of_a_bad_frame_means_nothing)
{
	struct rte_mbuf *m = fx_request(&peer, ONLY, FX_RQ_PSN, 8, 0);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, peer.template.l3_off + 1) |= 3;
	*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - 1) ^= 1;
	fx_rx(&end, m);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->np_ecn_marked_roce_packets, 0);
}

/* Acknowledgement and notification are both owed; neither takes the other's place. */
UNIT_RULE(mark__leaves_the_acknowledgement_alone)
{
	struct rte_mbuf *m = fx_request(&peer, ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
	const struct fx_sent *sent;

	*rte_pktmbuf_mtod_offset(m, uint8_t *, peer.template.l3_off + 1) |= 3;
	fx_rx(&end, m);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].opcode, ROCE_OPCODE_CNP);
	assert_int_equal(sent[1].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
}

/* ---- reaction point ---- */

static void
post_all(unsigned int n)
{
	while (n-- > 0)
		assert_int_equal(fx_send(&end, qp, n, 0, FX_MTU, 0), 0);
}

/* Put something under way, of which a notification may speak. */
static void
send_one(void)
{
	post_all(1);
	(void)fx_tx_one(&end);
}

#define RATE (qp->cold.dcqcn.current)

UNIT_RULE(notification__halves_the_rate_of_the_line)
{
	send_one();
	assert_false(qp->tx.paced);
	arrive_cnp();
	assert_true(qp->tx.paced);
	assert_int_equal(RATE, ROCE_DCQCN_LINE / 2);
	assert_int_equal(qp->cold.dcqcn.target, ROCE_DCQCN_LINE);
	assert_int_equal(fx_stats(&end)->rp_cnp_handled, 1);
}

UNIT_RULE(notification__too_soon_is_ignored)
{
	send_one();
	arrive_cnp();
	end.now += US(ROCE_CNP_INTERVAL_US) - 1;
	arrive_cnp();
	assert_int_equal(RATE, ROCE_DCQCN_LINE / 2);
	assert_int_equal(fx_stats(&end)->rp_cnp_ignored, 1);
	end.now += 1;
	arrive_cnp();
	assert_int_equal(RATE, ROCE_DCQCN_LINE / 4);
}

UNIT_RULE(notification__to_a_silent_sender_is_ignored)
{
	arrive_cnp();
	assert_false(qp->tx.paced);
	assert_int_equal(fx_stats(&end)->rp_cnp_ignored, 1);
	fx_tx_none(&end);
}

/* A flood of them does not stop a sender. */
UNIT_RULE(notifications__leave_a_least_rate)
{
	send_one();
	notify_often(1000);
	assert_int_equal(RATE, ROCE_DCQCN_RATE_MIN);
}

static void
pass_periods(unsigned int n)
{
	end.now += US(ROCE_DCQCN_PERIOD_US) * n;
	roce_engine_lock(end.engine);
	(void)roce_dcqcn_room(qp, 1, end.now);
	roce_engine_unlock(end.engine);
}

/* Five steps, each half of the way back to where it was; then the target moves on. */
UNIT_RULE(silence__brings_the_rate_back)
{
	uint64_t rate = ROCE_DCQCN_LINE / 4, target = ROCE_DCQCN_LINE / 2;

	send_one();
	arrive_cnp();
	end.now += US(ROCE_CNP_INTERVAL_US);
	arrive_cnp();
	assert_int_equal(RATE, rate);
	for (unsigned int i = 0; i < ROCE_DCQCN_FAST; i++) {
		pass_periods(1);
		rate = (rate + target + 1) / 2;
		assert_int_equal(RATE, rate);
	}
	for (unsigned int i = 0; i < 4; i++) {
		pass_periods(1);
		target += 5000000; /* 40 Mbit/s */
		rate = (rate + target + 1) / 2;
		assert_int_equal(RATE, rate);
	}
	assert_true(qp->tx.paced);
}

/* Idle time counts: nobody comes back to the rate of an hour ago. */
UNIT_RULE(silence__ends_the_limit)
{
	send_one();
	arrive_cnp();
	pass_periods(4000);
	assert_false(qp->tx.paced);
}

/* Alpha is what congestion was lately: after a long silence a notification costs less than half. */
UNIT_RULE(silence__makes_the_next_reduction_gentle)
{
	uint64_t rate;
	uint32_t alpha = ROCE_DCQCN_ALPHA_ONE;

	send_one();
	notify_often(8);
	pass_periods(256);
	rate = RATE;
	assert_true(qp->tx.paced);
	for (unsigned int i = 0; i < 256; i++)
		alpha -= alpha / 256;
	arrive_cnp();
	/* 256 periods and the one that had begun: a good third is left of alpha. */
	assert_in_range(RATE, rate - rate * alpha / 2 / ROCE_DCQCN_ALPHA_ONE - rate / 100,
			rate - rate * alpha / 2 / ROCE_DCQCN_ALPHA_ONE + rate / 100);
}

/* The bytes sent in a time are those that the rate, which moves, allows in it; the peer acknowledges at once. */
UNIT_RULE(sender__keeps_to_the_rate)
{
	const uint64_t step = US(20);
	uint64_t bytes = 0, most = 0;

	send_one();
	notify_often(1000);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	for (unsigned int i = 0; i < 400; i++) {
		const struct fx_sent *sent;
		unsigned int n;

		/* There is always something to send. */
		while (fx_send(&end, qp, 0, 0, FX_MTU, 0) == 0)
			;
		sent = fx_tx_all(&end, &n);
		most += RATE * step / FX_HZ;
		for (unsigned int k = 0; k < n; k++) {
			bytes += sent[k].payload_len;
			assert_true(sent[k].ack_req);
			fx_rx_answer(&end, &peer, FX_ACK, sent[k].psn);
		}
		end.now += step;
	}
	/* The headers count, too; and a frame that there is a token for goes whole. */
	assert_true(bytes * (FX_MTU + 58) / FX_MTU <= most + 2 * ROCE_FRAME_LEN_MAX(FX_MTU));
	assert_true(bytes >= most * 3 / 4);
	assert_true(bytes > 100 * FX_MTU);
	assert_true(fx_stats(&end)->retransmits == 0);
}

/* Slowed down, with more to send than there are tokens. @return what left in a tenth of a millisecond; the last waits. */
static const struct fx_sent *
run_out_of_tokens(unsigned int *n)
{
	const struct fx_sent *sent;

	send_one();
	notify_often(40);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	post_all(40);
	sent = fx_run(&end, end.now + US(100), n);
	assert_in_range(*n, 1, 8);
	return sent;
}

/* The timer wakes a sender that waits for tokens: nobody else would. */
UNIT_RULE(sender__goes_on_by_itself)
{
	unsigned int n;
	const struct fx_sent *sent = run_out_of_tokens(&n);

	assert_int_not_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
	assert_true(sent[0].ack_req);
}

/* Also when the rate recovered in the silence, and a notification finds it so before the timer: it limits anew. */
UNIT_RULE(sender__goes_on_though_it_is_limited_anew)
{
	unsigned int n;
	const struct fx_sent *sent = run_out_of_tokens(&n);

	fx_rx_answer(&end, &peer, FX_ACK, sent[n - 1].psn);
	fx_tx_none(&end);
	assert_true(qp->cold.dcqcn.resume_at != 0);
	end.now += US(ROCE_DCQCN_PERIOD_US) * 5000;
	/* Answers to READs may be under way, so a notification is believed. */
	qp->remote.allowed = 1;
	arrive_cnp();
	assert_true(qp->tx.paced);
	(void)fx_run(&end, end.now + US(1000), &n);
	assert_true(n > 0);
}

/* Acknowledgements are no data: they pass a limiter that has no token. */
UNIT_RULE(limiter__lets_answers_pass)
{
	const struct fx_sent *sent;
	unsigned int n;

	send_one();
	notify_often(40);
	post_all(100);
	(void)fx_tx_all(&end, &n);
	fx_rx_request(&end, &peer, ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
	sent = fx_tx_exactly(&end, 1);
	assert_int_equal(sent[0].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
}

/* Acknowledgements take none of the tokens of data. */
UNIT_RULE(limiter__does_not_count_answers)
{
	const uint64_t step = US(10);
	uint64_t bytes = 0, most = 0;
	uint32_t number = 0;

	send_one();
	notify_often(1000);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	for (unsigned int i = 0; i < 4000; i++) {
		const struct fx_sent *sent;
		unsigned int n;

		while (fx_send(&end, qp, 0, 0, FX_MTU, 0) == 0)
			;
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_RDMA_WRITE_ONLY,
				roce_psn_add(FX_RQ_PSN, number++), 0, FX_ACKREQ);
		qp->cold.dcqcn.current = qp->cold.dcqcn.target = ROCE_DCQCN_RATE_MIN;
		qp->cold.dcqcn.period_end = end.now + US(ROCE_DCQCN_PERIOD_US);
		sent = fx_tx_all(&end, &n);
		most += RATE * step / FX_HZ;
		for (unsigned int k = 0; k < n; k++) {
			if (sent[k].opcode == IBV_OPCODE_RC_ACKNOWLEDGE)
				continue;
			bytes += sent[k].payload_len;
			fx_rx_answer(&end, &peer, FX_ACK, sent[k].psn);
		}
		end.now += step;
	}
	assert_true(bytes >= most * 3 / 4);
}

/* Tokens that a message of one frame takes, with an acknowledgement owed beside it or without. */
static int64_t
price(uint32_t number, bool with_answer)
{
	const int64_t before = 1 << 20;
	unsigned int n;

	qp->cold.dcqcn.credit = before;
	qp->cold.dcqcn.credited_at = end.now;
	if (with_answer)
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_RDMA_WRITE_ONLY,
				roce_psn_add(FX_RQ_PSN, number), 0, FX_ACKREQ);
	assert_int_equal(fx_send(&end, qp, 0, 0, FX_MTU, 0), 0);
	fx_tx_all(&end, &n);
	assert_int_equal(n, with_answer ? 2 : 1);
	return before - qp->cold.dcqcn.credit;
}

UNIT_RULE(limiter__bills_data_alone)
{
	int64_t alone;

	send_one();
	arrive_cnp();
	alone = price(0, false);
	assert_true(alone > FX_MTU);
	assert_int_equal(price(0, true), alone);
}

/* The rate first makes up for the recovery that it missed in a silence, and is reduced only then. */
UNIT_RULE(notification__after_silence_finds_the_rate_recovered)
{
	send_one();
	notify_often(8);
	end.now += US(ROCE_DCQCN_PERIOD_US) * 5000;
	arrive_cnp();
	assert_true(RATE >= ROCE_DCQCN_LINE / 2);
}

UNIT_RULE(connection__starts_without_a_limit)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	send_one();
	arrive_cnp();
	assert_true(qp->tx.paced);
	fx_to_reset(qp);
	fx_up(qp, &connect);
	assert_false(qp->tx.paced);
	send_one();
}

/* ---- what frames say about themselves ---- */

UNIT_RULE(frames__may_be_marked_when_the_port_wants_it)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	assert_int_equal(qp->cold.template.bytes[qp->cold.template.l3_off + 1] & 3, 0);
	fx_to_reset(qp);
	end.domain->config.ecn = true;
	fx_up(qp, &connect);
	assert_int_equal(qp->cold.template.bytes[qp->cold.template.l3_off + 1] & 3, 2);
}
