/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole SEND or WRITE in one plain frame, and a READ, is received on a fast path. Its result must be that of the slow path, which every
 * frame in several segments takes: so two ends live the same life here, and one of them gets its frames cut in two.
 */

#include <string.h>

#include "fixture_rdma.h"
#include "frames.h"
#include "two_lives.h"
#include "wire/icrc.h"

#define STEPS          60000u
#define PLACES         32u /**< in which receives may lie: more than are posted or completed at a time */
#define PLACE          1200u            /**< bytes of one: more than a packet has */
#define WRITES         (PLACES * PLACE) /**< bytes of memory in front of what the peer writes */
#define WRITE          IBV_OPCODE_RC_RDMA_WRITE_ONLY
#define READ           IBV_OPCODE_RC_RDMA_READ_REQUEST
#define SEND_WITH_ACK  (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY)
#define WRITE_WITH_ACK (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY)

#define READS 3u /**< that the peer may have under way */
#define DEPTH 8u /**< of the completion queue, which runs over now and then */

/** The faults of a frame. */
enum wrong {
	NOTHING,
	A_BIT,    /**< the ICRC is as it was before */
	A_BYTE,   /**< the ICRC is right again */
	A_LENGTH, /**< of UDP and IP, which agree or not */
	PADDING,  /**< behind the datagram, as Ethernet does */
	TRUNCATED,
	STRIPPED_TAG, /**< the device says that there was one */
	WRONGS,
};

static bool own_queue;
static bool agreed;   /**< the peer of the next connection sends acknowledgements in requests */
static uint8_t right; /**< and has but this one, whatever keys it has; 0: all of them */
static bool watched;  /**< something is asked before a receive is taken */

static void
connect_peer(struct side *s)
{
	struct roce_qp_connect connect = fx_connect(&s->end, fx_ip(99), 0x777);

	connect.extensions = agreed;
	connect.max_dest_rd_atomic = READS;
	fx_up(s->qp, &connect);
	if (right != 0)
		s->qp->remote.access = right;
	if (watched)
		s->qp->rx.checks |= ROCE_CHECK_TAKE;
	s->peer = fx_peer_of(s->qp, &connect);
}

static void
side_open(struct side *s)
{
	const struct fx_options options = { .cq_depth = DEPTH, .srq_size = DEPTH + 4 };
	struct roce_qp_attr attr;

	fx_end_open(&s->end, 1, &options);
	attr = fx_attr(&s->end);
	attr.max_dest_rd_atomic = READS;
	if (own_queue) {
		attr.srq = NULL;
		attr.max_recv_wr = 8;
		attr.max_recv_sge = 2;
	}
	s->qp = fx_qp(&s->end, &attr);
	connect_peer(s);
	region_open(s, FX_ALL);
}

/* ---- frames ---- */

/* The memory of the end that a WRITE or READ names, mostly as it should be. */
static struct fx_target
draw_target(const struct side *s, uint32_t payload)
{
	const uint32_t offset = draw(8) ? WRITES + draw(FX_MTU) : FX_MEMORY - draw(2 * FX_MTU);
	const uint32_t key = draw(16) ? s->key : draw(2) ? s->end.key : draw(1u << 31);

	return (struct fx_target){
		.va = (uintptr_t)s->end.memory + offset,
		.rkey = key,
		.length = draw(32) ? payload : draw(FX_MTU),
	};
}

/* A READ of a few frames, or of more than there may be. */
static struct rte_mbuf *
draw_read(struct side *s, uint32_t psn)
{
	static const uint32_t lens[] = { 0, 1, 64, 511, 512, FX_MTU, FX_MTU + 1, 2 * FX_MTU,
		ROCE_MSG_MAX + 1 };
	struct fx_target target = draw_target(s, 0);

	target.length = lens[draw(RTE_DIM(lens) - (draw(8) != 0))];
	return fx_about(&s->peer, READ, psn, 0, &target, draw(16) ? 0 : FX_ACKREQ);
}

/* A SEND or WRITE that the peer's next frame could be, with an acknowledgement or without; or a READ. */
static struct rte_mbuf *
draw_request(struct side *s, uint32_t psn)
{
	static const uint32_t lens[] = { 0, 1, 2, 3, 4, 63, 64, 65, 511, 512, 513, FX_MTU - 1,
		FX_MTU, FX_MTU + 1 };
	const unsigned int flags = draw(4) == 0 ? FX_ACKREQ | FX_SOLICITED : 0;
	const uint32_t payload = lens[draw(RTE_DIM(lens))];
	const uint8_t opcode = draw(3) ? IBV_OPCODE_RC_SEND_ONLY : WRITE;
	const struct fx_target target = draw_target(s, payload);

	if (draw(4) == 0)
		return draw_read(s, psn);
	if (draw(2))
		return fx_about(&s->peer, opcode, psn, payload, &target, flags);
	return fx_name(&s->peer,
			fx_piggyback(&s->peer, opcode, psn, payload, flags,
					draw(16) ? FX_ACK : FX_NAK(ROCE_NAK_PSN_SEQUENCE),
					s->qp->tx.una + draw(4) - 1),
			&target);
}

/* Its bytes. @return their number. */
static uint32_t
draw_frame(struct side *s, uint8_t *bytes, uint32_t psn)
{
	struct rte_mbuf *m = draw_request(s, psn);
	const uint32_t len = m->data_len;

	memcpy(bytes, rte_pktmbuf_mtod(m, void *), len);
	rte_pktmbuf_free(m);
	return len;
}

static void
reseal(uint8_t *bytes, uint32_t len)
{
	const uint8_t *stream = bytes + V4_L3 - ROCE_ICRC_ONES;
	uint32_t crc = roce_crc_best->crc(stream, (uint32_t)(bytes + len - ROCE_ICRC_LEN - stream),
			roce_icrc_mask_v4);

	memcpy(bytes + len - ROCE_ICRC_LEN, &crc, sizeof(crc));
}

/* @return the frame's new length. */
static uint32_t
spoil(uint8_t *bytes, uint32_t len, enum wrong wrong)
{
	uint32_t udp_len;

	switch (wrong) {
	case A_BIT:
		bytes[V4_L3 + draw(len - V4_L3)] ^= (uint8_t)(1u << draw(8));
		return len;
	case A_BYTE:
		bytes[V4_L3 + draw(V4_PAYLOAD - V4_L3)] = (uint8_t)draw(256);
		reseal(bytes, len);
		return len;
	case A_LENGTH:
		udp_len = draw(2) ? draw(80) : len - V4_UDP + 4 - draw(9);
		bytes[V4_UDP + 4] = (uint8_t)(udp_len >> 8);
		bytes[V4_UDP + 5] = (uint8_t)udp_len;
		udp_len += draw(4) ? 20 : 0;
		bytes[V4_L3 + 2] = (uint8_t)(udp_len >> 8);
		bytes[V4_L3 + 3] = (uint8_t)udp_len;
		reseal(bytes, len);
		return len;
	case PADDING:
		memset(bytes + len, 0xaa, 8);
		return len + 1 + draw(8);
	case TRUNCATED:
		return len - 1 - draw(len - V4_L3);
	default:
		return len;
	}
}

/* Bytes of the headers of a frame that the fast paths take; 0: they do not. */
static uint32_t
headers_of(uint8_t opcode)
{
	switch (opcode) {
	case IBV_OPCODE_RC_SEND_ONLY:
	case SEND_WITH_ACK:
	case WRITE:
	case WRITE_WITH_ACK:
	case READ:
		return V4_BTH + roce_opcode[opcode].header_len;
	default:
		return 0;
	}
}

/* One segment, or as much as the slow path needs to see at once and the rest behind it. @return frames left to others. */
static uint16_t
give(struct side *s, const uint8_t *bytes, uint32_t len, bool stripped)
{
	const uint32_t headers = headers_of(bytes[V4_BTH]);
	const bool cut = s == &side[1] && headers != 0 && len >= headers + ROCE_ICRC_LEN;
	struct rte_mbuf *m = unit_mbuf_chain(bytes, len, cut ? headers : 0);
	uint16_t left;

	if (stripped) {
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = 0x2005;
	}
	roce_engine_lock(s->end.engine);
	left = roce_engine_rx(s->end.engine, &m, 1, s->end.now);
	roce_engine_unlock(s->end.engine);
	if (left > 0)
		rte_pktmbuf_free(m);
	return left;
}

/* The same frame for both, each about its own memory. */
static void
step_frame(uint32_t psn)
{
	const enum wrong wrong = draw(2) ? NOTHING : (enum wrong)draw(WRONGS);
	uint16_t left[2];
	uint64_t before;

	if (draw(16) == 0)
		psn = roce_psn_add(psn, draw(5) + ROCE_PSN_MASK - 1);
	before = drawn;
	for (int i = 0; i < 2; i++) {
		uint8_t bytes[UNIT_DATA_ROOM];
		uint32_t len;

		drawn = before;
		len = spoil(bytes, draw_frame(&side[i], bytes, psn), wrong);
		left[i] = give(&side[i], bytes, len, wrong == STRIPPED_TAG);
	}
	assert_int_equal(left[0], left[1]);
	assert_memory_equal(side[0].end.memory + WRITES, side[1].end.memory + WRITES,
			FX_MEMORY - WRITES);
}

/* ---- receives ---- */

/* @return was it posted? */
static bool
step_post(uint64_t number)
{
	static const uint32_t lens[] = { 0, 3, 64, 512, FX_MTU, PLACE };
	const uint32_t len = lens[draw(RTE_DIM(lens))];
	const uint16_t segments = (uint16_t)(draw(4) == 0 ? 2 : 1);
	const bool ends = draw(4) == 0;
	int rc[2];

	for (int i = 0; i < 2; i++) {
		struct side *s = &side[i];
		const uint64_t at = (uintptr_t)s->end.memory + number % PLACES * PLACE;
		const uint32_t key = ends ? s->key : s->end.key,
			       first = segments == 2 ? len / 3 : len;
		const struct roce_sge sge[] = { { at, first, key },
			{ at + first, len - first, key } };
		const struct roce_recv_wr wr = { number, sge, segments, 0 };

		rc[i] = own_queue ? roce_qp_post_recv(s->qp, &wr) : roce_srq_post(s->end.srq, &wr);
	}
	assert_int_equal(rc[0], rc[1]);
	return rc[0] == 0;
}

/* A request that the peer acknowledges in one of its own, or never. */
static void
step_send(uint64_t number)
{
	for (int i = 0; i < 2; i++)
		(void)fx_send(&side[i].end, side[i].qp, number, 0, 8, ROCE_WR_SIGNALED);
}

/* ---- what came of it ---- */

/* @return how many successes were among them. */
static uint32_t
compare_events(uint32_t most)
{
	struct roce_event a, b;
	uint32_t good = 0;

	while (roce_cq_poll(side[0].end.send_cq, &a, 1) == 1) {
		assert_int_equal(roce_cq_poll(side[1].end.send_cq, &b, 1), 1);
		assert_fields(a, (wr_id, b.wr_id), (status, b.status));
	}
	assert_int_equal(roce_cq_poll(side[1].end.send_cq, &b, 1), 0);

	while (most-- > 0) {
		const unsigned int n = roce_cq_poll(side[0].end.recv_cq, &a, 1);
		const uint64_t at = a.wr_id % PLACES * PLACE;

		assert_int_equal(roce_cq_poll(side[1].end.recv_cq, &b, 1), n);
		if (n == 0)
			break;
		assert_ptr_equal(a.owner, b.owner);
		a.owner = b.owner = NULL;
		assert_memory_equal(&a, &b, sizeof(a));
		if (a.status != IBV_WC_SUCCESS)
			continue;
		assert_memory_equal(side[0].end.memory + at, side[1].end.memory + at, a.byte_len);
		good++;
	}
	return good;
}

static void
compare_answers(void)
{
	struct fx_sent a[4], b[4];
	const unsigned int n = fx_tx(&side[0].end, a, RTE_DIM(a));

	assert_int_equal(fx_tx(&side[1].end, b, RTE_DIM(b)), n);
	for (unsigned int i = 0; i < n; i++) {
		assert_fields(a[i], (opcode, b[i].opcode), (psn, b[i].psn),
				(syndrome, b[i].syndrome), (msn, b[i].msn),
				(payload_len, b[i].payload_len));
		if (roce_opcode[a[i].opcode].verb == ROCE_VERB_READ)
			assert_int_equal(a[i].first, b[i].first);
	}
}

static void
compare_sides(void)
{
	struct roce_srq_counts counts[2];

	assert_memory_equal(
			fx_stats(&side[0].end), fx_stats(&side[1].end), sizeof(struct roce_stats));
	assert_int_equal(roce_qp_state(side[0].qp), roce_qp_state(side[1].qp));
	assert_int_equal(side[0].end.async_events, side[1].end.async_events);
	for (int i = 0; i < 2; i++)
		roce_srq_query(side[i].qp->rx.rq, &counts[i]);
	assert_fields(side[0].qp->rx, (taken, side[1].qp->rx.taken),
			(unacked, side[1].qp->rx.unacked));
	assert_fields(side[0].qp->remote, (newest, side[1].qp->remote.newest),
			(oldest, side[1].qp->remote.oldest));
	assert_fields(counts[0], (available, counts[1].available),
			(outstanding, counts[1].outstanding), (armed, counts[1].armed));
}

/* All that can become of such a frame did become of one. */
static void
expect_all_seen(uint32_t good)
{
	const struct roce_stats *stats = fx_stats(&side[0].end);

	assert_true(good > STEPS / 40);
	assert_true(stats->rx_icrc_encapsulated > 0);
	assert_true(stats->rx_foreign > 0);
	assert_true(stats->rx_malformed_length > 0);
	assert_true(stats->rx_wrong_source > 0);
	assert_true(stats->rx_unknown_qp > 0);
	assert_true(stats->rnr_nak_sent > 0);
	assert_true(stats->resp_local_length_error > 0);
	assert_true(stats->resp_local_protection_error > 0);
	assert_true(stats->resp_invalid_request > 0);
	assert_true(stats->cq_overflow > 0);
	assert_true(stats->rx_piggybacked_acks > STEPS / 40);
	assert_true(stats->rx_malformed_opcode > 0);
	assert_true(stats->rx_write_requests > STEPS / 40);
	assert_true(stats->rx_read_requests > STEPS / 40);
	assert_true(stats->resp_remote_access_errors > 0);
}

static void
live(uint32_t steps)
{
	uint64_t number = 0;
	uint32_t good = 0;

	for (uint32_t i = 0; i < steps; i++) {
		const uint32_t kind = draw(16);

		if (kind < 7)
			step_frame(side[0].qp->rx.epsn);
		else if (kind < 12)
			number += step_post(number);
		else if (kind == 12)
			step_send(i);
		else if (kind < 15)
			good += compare_events(draw(6));
		else if (draw(8) == 0)
			end_regions(FX_ALL);
		compare_answers();
		compare_sides();
		if (roce_qp_state(side[0].qp) == ROCE_QP_ERR) {
			agreed = draw(4) != 0;
			right = draw(8)           ? 0
					: draw(2) ? IBV_ACCESS_REMOTE_READ
						  : IBV_ACCESS_REMOTE_WRITE;
			watched = draw(4) == 0;
			connect_again(connect_peer);
			pass_time(FX_HZ);
		}
	}
	expect_all_seen(good);
}

/* @p state is NULL: the ends' shared queues; else queues of the queue pairs' own. */
static int
setup_sides(void **state)
{
	own_queue = *state != NULL;
	for (int i = 0; i < 2; i++)
		side_open(&side[i]);
	return 0;
}

static void
whole__is_received_as_in_segments(void **state)
{
	live(STEPS);
}

RULES = {
	cmocka_unit_test_setup_teardown(
			whole__is_received_as_in_segments, setup_sides, teardown_sides),
	cmocka_unit_test_prestate_setup_teardown(
			whole__is_received_as_in_segments, setup_sides, teardown_sides, &own_queue),
};
