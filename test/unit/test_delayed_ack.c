/* SPDX-License-Identifier: BSD-3-Clause */
/* When an acknowledgement may wait for company, and when not. */

#include "queue/qp.h"
#include "fixture.h"

#define SEND_ONLY IBV_OPCODE_RC_SEND_ONLY
#define QPS       ROCE_RX_BURST

static struct fx_end end;
static struct roce_qp *qp[QPS];
static struct fx_peer peer[QPS];
static uint32_t sent[QPS]; /* requests of each peer */

/* A burst of @p n requests with AckReq, one after the other from the first @p peers peers. */
static void
burst(unsigned int n, unsigned int peers)
{
	struct rte_mbuf *pkts[2 * QPS];

	for (unsigned int i = 0; i < n; i++) {
		unsigned int from = i % peers;

		pkts[i] = fx_request(
				&peer[from], SEND_ONLY, FX_RQ_PSN + sent[from]++, 8, FX_ACKREQ);
	}
	roce_engine_lock(end.engine);
	assert_int_equal(roce_engine_rx(end.engine, pkts, (uint16_t)n, end.now), 0);
	roce_engine_unlock(end.engine);
}

/* Frames of one poll; each must be the acknowledgement of everything its peer sent. */
static unsigned int
acks(void)
{
	struct rte_mbuf *pkts[2 * QPS];
	uint16_t n = fx_take(&end, pkts, 2 * QPS);

	for (uint16_t i = 0; i < n; i++) {
		struct roce_pkt pkt;

		assert_int_equal(roce_frame_parse(pkts[i], &pkt), ROCE_FRAME_OK);
		assert_int_equal(pkt.opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
		assert_int_equal(pkt.psn, FX_RQ_PSN + sent[pkt.dest_qp - 0x700] - 1);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static int
setup(void **state)
{
	struct roce_qp_attr attr;

	fx_end_open(&end, 1, &(struct fx_options){ .srq_size = 4096, .cq_depth = 4096 });
	attr = fx_attr(&end);
	fx_fill_srq(&end, 2048, 64);
	for (unsigned int i = 0; i < QPS; i++) {
		struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x700 + i);

		qp[i] = fx_qp(&end, &attr);
		fx_up(qp[i], &connect);
		peer[i] = fx_peer_of(qp[i], &connect);
		sent[i] = 0;
	}
	/* A queue pair that comes up is on the ready list once, with no frame to send. */
	return acks() != 0;
}

static int
teardown(void **state)
{
	for (unsigned int i = 0; i < QPS; i++)
		roce_qp_destroy(qp[i]);
	fx_end_close(&end);
	return fx_live() != 0 || !unit_pool_is_full();
}

/* The last burst was not full, so no more frames are on their way. */
UNIT_RULE(ack__goes_at_once_when_the_burst_was_not_full)
{
	burst(1, 1);
	assert_int_equal(acks(), 1);
	burst(QPS - 1, QPS - 1);
	assert_int_equal(acks(), QPS - 1);
}

UNIT_RULE(ack__waits_for_company_while_bursts_are_full)
{
	burst(QPS, QPS);
	assert_int_equal(acks(), 0);
	/* Somebody who would sleep must not. */
	assert_int_equal(roce_engine_deadline(end.engine), 0);
	burst(QPS, QPS);
	assert_int_equal(acks(), 0);
	/* Two messages of each peer, one answer. */
	burst(0, 1);
	assert_int_equal(acks(), QPS);
	assert_int_equal(acks(), 0);
}

/* A poller without frames calls nothing: a poll in which none came is one without a call. */
UNIT_RULE(ack__waits_no_longer_than_until_a_poll_without_a_burst)
{
	burst(QPS, QPS);
	assert_int_equal(acks(), 0);
	assert_int_equal(acks(), QPS);
}

UNIT_RULE(ack__waits_only_so_many_polls)
{
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int polls = 1; polls < ROCE_PATIENCE; polls++) {
			burst(QPS, QPS);
			assert_int_equal(acks(), 0);
		}
		burst(QPS, QPS);
		assert_int_equal(acks(), QPS);
	}
}

/* A poll that has no room for a frame is no poll. */
UNIT_RULE(ack__is_not_released_by_polls_without_room)
{
	burst(QPS, QPS);
	for (unsigned int polls = 0; polls < 2 * ROCE_PATIENCE; polls++) {
		assert_int_equal(fx_take(&end, NULL, 0), 0);
	}
	assert_int_equal(acks(), 0);
}

/* The peer's window must not run dry: many packets are company enough. */
UNIT_RULE(ack__of_many_packets_waits_for_nothing)
{
	burst(QPS, 2);
	assert_int_equal(sent[0], ROCE_ACK_SOON);
	assert_int_equal(acks(), 2);
	burst(QPS, 3);
	assert_int_equal(acks(), 0);
	burst(QPS, 3);
	assert_int_equal(acks(), 3);
}

/* A duplicate means that an answer was lost. */
UNIT_RULE(ack__of_a_duplicate_waits_for_nothing)
{
	burst(QPS, QPS);
	sent[3]--;
	burst(QPS, QPS);
	assert_int_equal(acks(), 1);
}

UNIT_RULE(nak__waits_for_nothing)
{
	const struct fx_sent *out;
	unsigned int n;

	burst(QPS, QPS);
	sent[5] += 7;
	burst(QPS, QPS);
	out = fx_tx_all(&end, &n);
	assert_fields(out[0], (dest_qp, 0x705), (syndrome, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE));
	sent[5] -= 7;
}

/* A queue pair that sends a request anyway sends its acknowledgement in front of it. */
UNIT_RULE(ack__goes_with_a_request)
{
	const struct fx_sent *out;
	unsigned int n;

	burst(QPS, QPS);
	assert_int_equal(fx_send(&end, qp[7], 1, 0, 8, 0), 0);
	out = fx_tx_all(&end, &n);
	assert_fields(out[0], (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (dest_qp, 0x707));
	assert_int_equal(out[1].opcode, SEND_ONLY);
}

/* A queue pair that is reset is on no list any more. */
UNIT_RULE(reset__forgets_the_acknowledgement)
{
	burst(QPS, QPS);
	for (unsigned int i = 0; i < QPS; i += 2) {
		fx_to_reset(qp[i]);
	}
	burst(0, 1);
	assert_int_equal(acks(), QPS / 2);
}
