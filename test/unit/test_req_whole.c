/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole SENDs and WRITEs in one frame, and READs with an answer of one, are built on a fast path, and answers to READs are
 * taken on one. The results must be those of the slow path, which every request of several segments takes: so two ends live
 * the same life here, and one of them has its messages in two segments.
 */

#include <string.h>

#include "fixture_rdma.h"
#include "requester/req_read.h"
#include "two_lives.h"

#define STEPS  100000u
#define DEPTH  48u /**< of the send queue: more than one visit sends */
#define LONG   3000u
#define REMOTE 0x1000u
#define SENDS  32768u /**< bytes of memory in front of what READs read into */
#define PLACES 10u    /**< in which READs may read: more than are under way at a time */
#define READS  3u     /**< that may be under way */
#define BURST  4u     /**< answers that come at a time */
#define DONE   (UINT64_C(1) << 32) /**< in the wr_id of a READ, above its place */

static uint32_t frames; /**< compared */
static uint32_t reads;  /**< posted */
static uint32_t done;   /**< of them, with success */
static bool agreed;     /**< the peer of the next connection takes acknowledgements in requests */

/* The first PSNs are as small as the number of regions that have ended: a request has either in one place. */
static void
connect_peer(struct side *s)
{
	struct roce_qp_connect connect = fx_connect(&s->end, fx_ip(99), 0x777);

	connect.sq_psn = roce_key_epoch(&s->end.domain->keys);
	connect.extensions = agreed;
	connect.max_rd_atomic = READS;
	fx_up(s->qp, &connect);
	s->peer = fx_peer_of(s->qp, &connect);
}

static int
setup_sides(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct side *s = &side[i];
		struct roce_qp_attr attr;

		fx_end_open(&s->end, 1, NULL);
		attr = fx_attr(&s->end);
		attr.max_send_wr = DEPTH;
		attr.max_send_sge = 2;
		attr.max_inline = 64;
		s->qp = fx_qp(&s->end, &attr);
		connect_peer(s);
		region_open(s, IBV_ACCESS_LOCAL_WRITE);
	}
	return 0;
}

/* ---- what the consumer does ---- */

/* The same for both, but that one of them has it in two segments. */
static void
post_to_both(struct roce_wr *wr, uint32_t offset, uint32_t len, bool ends)
{
	int rc[2];

	for (uint16_t i = 0; i < 2; i++) {
		const uint64_t at = (uintptr_t)side[i].end.memory + offset;
		const uint32_t key = ends ? side[i].key : side[i].end.key;
		const uint32_t first = i == 0 ? len : len / 2;
		const struct roce_sge sge[] = { { at, first, key },
			{ at + first, len - first, key } };

		wr->sg = sge;
		wr->num_sge = i + 1u;
		rc[i] = roce_qp_post_send(side[i].qp, wr);
		wr->sg = NULL;
	}
	assert_int_equal(rc[0], rc[1]);
}

static void
post_one(uint64_t number)
{
	static const uint32_t lens[] = { 1, 4, 63, 64, 65, 511, 512, 513, FX_MTU, FX_MTU + 1,
		LONG };
	static const uint8_t opcodes[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ };
	const uint32_t len = lens[draw(RTE_DIM(lens))];
	const bool ends = draw(8) == 0;
	uint32_t offset = (uint32_t)(7 * number % (SENDS - LONG));
	struct roce_wr wr = {
		.wr_id = number,
		.opcode = opcodes[draw(RTE_DIM(opcodes))],
		.flags = draw(4) ? ROCE_WR_SIGNALED : 0,
		.remote_addr = REMOTE + number,
		.rkey = (uint32_t)(1 + number % 7),
	};

	wr.flags |= draw(8) ? 0 : ROCE_WR_SOLICITED;
	wr.flags |= draw(8) ? 0 : ROCE_WR_FENCE;
	if (wr.opcode == IBV_WR_RDMA_READ) {
		wr.wr_id = DONE + reads++ % PLACES;
		offset = SENDS + (uint32_t)(wr.wr_id - DONE) * LONG;
	} else if (len <= 64 && draw(4) == 0) {
		wr.flags |= ROCE_WR_INLINE;
	}
	post_to_both(&wr, offset, len, ends);
}

static void
compare_events(void)
{
	struct roce_event a, b;
	unsigned int n;
	uint32_t at;

	do {
		n = roce_cq_poll(side[0].end.send_cq, &a, 1);
		assert_int_equal(roce_cq_poll(side[1].end.send_cq, &b, 1), n);
		if (n == 0)
			break;
		assert_fields(a, (wr_id, b.wr_id), (status, b.status), (byte_len, b.byte_len));
		if (a.wr_id < DONE || a.status != IBV_WC_SUCCESS)
			continue;
		at = SENDS + (uint32_t)(a.wr_id - DONE) * LONG;
		assert_memory_equal(side[0].end.memory + at, side[1].end.memory + at, a.byte_len);
		done++;
	} while (n > 0);
}

/* ---- what the peer does ---- */

static void
hear(uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	for (int i = 0; i < 2; i++)
		fx_rx(&side[i].end, fx_answer(&side[i].peer, syndrome, psn, msn));
}

/* A message without bytes, which is to be acknowledged. */
static void
ask(void)
{
	for (int i = 0; i < 2; i++) {
		struct roce_event event;

		(void)roce_cq_poll(side[i].end.recv_cq, &event, 1);
		if (roce_srq_available(side[i].end.srq) == 0)
			fx_fill_srq(&side[i].end, 1, 64);
		fx_rx_request(&side[i].end, &side[i].peer, IBV_OPCODE_RC_SEND_ONLY,
				side[i].qp->rx.epsn, 0, FX_ACKREQ);
	}
}

/* It has something, or nothing, of what is in flight; and says how many receives it has, or that it does not. */
static void
answer(bool credits)
{
	const struct roce_qp_tx *tx = &side[0].qp->tx;
	const uint32_t flight = (tx->max - tx->una) & ROCE_PSN_MASK;
	const uint32_t psn = roce_psn_add(tx->una, draw(flight + 1));
	const uint32_t kind = draw(24);

	if (kind == 0)
		hear(FX_RNR(1), psn, tx->ssn);
	else if (kind < 3)
		hear(FX_NAK(ROCE_NAK_PSN_SEQUENCE), psn, tx->ssn);
	else if (flight > 0)
		hear((uint8_t)(ROCE_AETH_ACK | (credits ? draw(8) : ROCE_CREDIT_INVALID)),
				roce_psn_add(psn, ROCE_PSN_MASK), tx->ssn);
}

/* The frame of the answer to a READ that has this PSN, mostly as it should be. */
static struct rte_mbuf *
draw_part(struct side *s, const struct roce_wqe *wqe, uint32_t psn)
{
	const uint32_t got = roce_read_before(s->qp, wqe, psn), left = wqe->length - got;
	const uint32_t len = RTE_MIN(left, FX_MTU) - (draw(64) == 0);
	const bool first = got == 0 || draw(4) == 0, last = (left <= FX_MTU) != (draw(64) == 0);
	const uint8_t opcode = first ? (last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
					     : IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST)
				     : (last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
					     : IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE);
	struct rte_mbuf *m = fx_response(&s->peer, opcode, psn, len, s->qp->tx.ssn);

	if (draw(64) == 0)
		rte_pktmbuf_mtod(m, uint8_t *)[m->data_len - 1 - draw(8)] ^= 1;
	return m;
}

/* Some of the frames, one behind the other, of the answers to what was asked for. @return how many. */
static uint16_t
draw_answers(struct side *s, struct rte_mbuf **pkts)
{
	const struct roce_qp_tx *tx = &s->qp->tx;
	const uint16_t most = (uint16_t)(1 + draw(BURST));
	uint16_t n = 0;

	for (uint32_t i = tx->tail; i != tx->begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&s->qp->wq, i);
		uint32_t at = roce_psn_diff(tx->una, wqe->psn) > 0
				? (uint32_t)roce_psn_diff(tx->una, wqe->psn)
				: 0;

		for (; wqe->verb == ROCE_VERB_READ && at < wqe->packets && n < most; at++) {
			if (draw(32) != 0)
				pkts[n++] = draw_part(s, wqe, roce_psn_add(wqe->psn, at));
		}
	}
	return n;
}

/* The peer answers READs, and some of the frames come at a time. */
static void
respond(void)
{
	const uint64_t before = drawn;

	for (int i = 0; i < 2; i++) {
		struct rte_mbuf *pkts[BURST];
		uint16_t n;

		drawn = before;
		n = draw_answers(&side[i], pkts);
		roce_engine_lock(side[i].end.engine);
		n = roce_engine_rx(side[i].end.engine, pkts, n, side[i].end.now);
		roce_engine_unlock(side[i].end.engine);
		assert_int_equal(n, 0);
	}
}

/* ---- what is sent ---- */

static uint16_t
poll_once(struct side *s, struct rte_mbuf **pkts, uint16_t room)
{
	uint16_t n;

	roce_engine_lock(s->end.engine);
	n = roce_engine_tx(s->end.engine, pkts, room, s->end.now);
	roce_engine_unlock(s->end.engine);
	return n;
}

static void
compare_frames(uint16_t room)
{
	struct rte_mbuf *a[64], *b[64];
	const uint16_t n = poll_once(&side[0], a, room);

	assert_int_equal(poll_once(&side[1], b, room), n);
	for (uint16_t i = 0; i < n; i++) {
		assert_fields(*a[i], (data_len, b[i]->data_len), (pkt_len, a[i]->data_len));
		assert_memory_equal(rte_pktmbuf_mtod(a[i], void *), rte_pktmbuf_mtod(b[i], void *),
				a[i]->data_len);
		rte_pktmbuf_free(a[i]);
		rte_pktmbuf_free(b[i]);
	}
	frames += n;
}

static void
compare_sides(void)
{
	const struct roce_qp_tx *tx = &side[1].qp->tx;

	assert_memory_equal(
			fx_stats(&side[0].end), fx_stats(&side[1].end), sizeof(struct roce_stats));
	assert_int_equal(roce_qp_state(side[0].qp), roce_qp_state(side[1].qp));
	/* The engine's deadline may be earlier than a timeout: it follows when it is reached, not at each answer of a burst. */
	assert_fields(side[0].qp->tx, (timeout_at, tx->timeout_at), (limit_at, tx->limit_at),
			(rto, tx->rto), (reads, tx->reads), (una, tx->una));
}

/* The peer of every other connection gives credits, as soon as it answers. */
static void
live(uint32_t steps)
{
	uint64_t number = 0;
	bool credits = false;

	for (uint32_t i = 0; i < steps; i++) {
		const uint32_t kind = draw(36);

		if (kind < 20)
			post_one(number++);
		else if (kind < 22)
			answer(credits);
		else if (kind < 26)
			respond();
		else if (kind < 28)
			ask();
		else if (kind < 35)
			compare_frames((uint16_t)(1 + draw(64)));
		else if (draw(4) == 0)
			end_regions(IBV_ACCESS_LOCAL_WRITE);
		else
			pass_time(draw(2) ? draw(1000) : FX_HZ / 8);
		compare_events();
		compare_sides();
		if (roce_qp_state(side[0].qp) == ROCE_QP_ERR) {
			agreed = draw(2);
			connect_again(connect_peer);
			credits = draw(2);
		}
	}
}

UNIT_RULE_IN(one_segment__is_sent_as_two, setup_sides, teardown_sides)
{
	const struct roce_stats *stats = fx_stats(&side[0].end);

	live(STEPS);
	/* All that can happen to requests did happen. */
	assert_true(frames > STEPS / 4);
	assert_true(stats->retransmits > 100);
	assert_true(stats->local_ack_timeout_err > 0);
	assert_true(stats->packet_seq_err > 0);
	assert_true(stats->rnr_nak_received > 0);
	assert_true(stats->req_local_protection_error > 0);
	assert_true(stats->tx_piggybacked_acks > 0);
	assert_true(stats->tx_acks > 0);
	assert_true(stats->rx_read_responses > STEPS / 40);
	assert_true(stats->implied_nak_seq_err > 0);
	assert_true(stats->rx_ghost_acks > 0);
	assert_true(stats->rx_icrc_encapsulated > 0);
	assert_true(done > STEPS / 100);
}

/* A poll that finds no frame for a message counts that once; the message is sent when there is one. */
UNIT_RULE_IN(frame__is_waited_for, setup_sides, teardown_sides)
{
	static struct rte_mbuf *all[2000];
	struct side *s = &side[0];
	struct rte_mbuf *sent[1];
	unsigned int n = 0;

	for (int i = 0; i < 2; i++)
		fx_rx(&side[i].end, fx_answer(&side[i].peer, FX_ACK, ROCE_PSN_MASK, 0));
	post_one(0);
	while (s->end.engine->spares > 0)
		rte_pktmbuf_free(s->end.engine->spare[--s->end.engine->spares]);
	while ((all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	s->qp->tx.credits_known = true;
	assert_int_equal(poll_once(s, sent, 1), 0);
	assert_int_equal(fx_stats(&s->end)->tx_no_mbuf, 1);
	rte_pktmbuf_free_bulk(all, n);
	assert_int_equal(poll_once(s, sent, 1), 1);
	rte_pktmbuf_free(sent[0]);
}
