/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain frames are parsed on a fast path. Its result must be that of the slow path, which every frame with
 * a VLAN tag takes: so each frame here is looked at without and with a tag.
 */

#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "unit.h"
#include "wire/frame_plain.h"
#include "wire/random.h"

#define SEED  0x9d2c5680u
#define TYPE  12u /**< where the tag goes: in front of the Ethernet type */
#define TAG   4u
#define TRIES 200000u

#define WRITE          IBV_OPCODE_RC_RDMA_WRITE_ONLY
#define SEND_WITH_ACK  (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY)
#define WRITE_WITH_ACK (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY)

static const uint8_t fast[] = {
	IBV_OPCODE_RC_SEND_ONLY,
	SEND_WITH_ACK,
	WRITE,
	WRITE_WITH_ACK,
	IBV_OPCODE_RC_RDMA_READ_REQUEST,
	IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
	IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
	IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
};

struct seen {
	enum roce_frame_verdict verdict;
	struct roce_pkt pkt;
};

static struct seen
look(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	struct seen seen = { 0 };

	seen.verdict = roce_frame_parse(m, &seen.pkt);
	if (seen.verdict == ROCE_FRAME_OK) {
		assert_ptr_equal(seen.pkt.m, m);
		seen.pkt.m = NULL;
		/* Offsets instead of pointers into what is about to be freed. */
		seen.pkt.l3 -= (uintptr_t)rte_pktmbuf_mtod(m, uint8_t *);
		seen.pkt.bth -= (uintptr_t)rte_pktmbuf_mtod(m, uint8_t *);
	}
	unit_mbuf_exact_free(m);
	return seen;
}

static struct seen
look_tagged(const uint8_t *bytes, uint32_t len)
{
	uint8_t tagged[256];

	memcpy(tagged, bytes, TYPE);
	memcpy(tagged + TYPE, (const uint8_t[TAG]){ 0x81, 0x00, 0x00, 0x05 }, TAG);
	memcpy(tagged + TYPE + TAG, bytes + TYPE, len - TYPE);
	return look(tagged, len + TAG);
}

/*
 * The fastest path of all knows exactly the whole SENDs and WRITEs, the READs and their answers among the plain frames that are
 * good, and says the same of them.
 */
static void
compare_fast(const uint8_t *bytes, uint32_t len, uint8_t opcode, const struct seen *seen)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	const struct roce_pkt *pkt = &seen->pkt;
	const bool is_it = seen->verdict == ROCE_FRAME_OK && !pkt->v6 && pkt->vlan_tci == 0 &&
			pkt->opcode == opcode;
	struct roce_plain_packet request;

	assert_int_equal(roce_plain_packet_parse(m, opcode, &request), is_it);
	if (is_it) {
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		assert_memory_equal(&request.flow4, bytes + V4_L3 + 12, sizeof(request.flow4));
		assert_fields(request, (dest_qp, pkt->dest_qp), (psn, pkt->psn));
		assert_int_equal(request.stream - frame, V4_L3 - ROCE_ICRC_ONES);
		assert_ptr_equal(request.ack,
				opcode & ROCE_OPCODE_PIGGYBACK ? frame + V4_PAYLOAD : NULL);
		assert_ptr_equal(request.reth,
				pkt->op->flags & ROCE_OP_RETH ? frame + V4_BTH + pkt->op->ext_off
							      : NULL);
		assert_ptr_equal(request.aeth,
				pkt->op->flags & ROCE_OP_AETH ? frame + V4_BTH + pkt->op->aeth_off
							      : NULL);
		assert_int_equal(request.payload - frame, pkt->payload_off);
		assert_int_equal(request.payload_len, pkt->payload_len);
		assert_int_equal(request.icrc - request.payload, pkt->payload_len + pkt->pad);
		assert_fields(request, (ack_req, pkt->ack_req), (solicited, pkt->solicited),
				(congested, pkt->ecn == 3));
	}
	unit_mbuf_exact_free(m);
}

static void
compare(const uint8_t *bytes, uint32_t len)
{
	const struct seen plain = look(bytes, len), tagged = look_tagged(bytes, len);
	const struct roce_pkt *a = &plain.pkt, *b = &tagged.pkt;

	if (plain.verdict != tagged.verdict)
		fail_msg("verdict %d, tagged %d", (int)plain.verdict, (int)tagged.verdict);
	for (size_t i = 0; i < RTE_DIM(fast); i++)
		compare_fast(bytes, len, fast[i], &plain);
	if (plain.verdict != ROCE_FRAME_OK)
		return;
	assert_int_equal(a->vlan_tci, 0);
	assert_int_equal(b->vlan_tci, 5);
	assert_int_equal((uintptr_t)a->l3 + TAG, (uintptr_t)b->l3);
	assert_int_equal((uintptr_t)a->bth + TAG, (uintptr_t)b->bth);
	assert_int_equal(a->payload_off + TAG, b->payload_off);
	assert_ptr_equal(a->op, b->op);
	assert_int_equal(a->dest_qp, b->dest_qp);
	assert_int_equal(a->psn, b->psn);
	assert_int_equal(a->payload_len, b->payload_len);
	assert_int_equal(a->opcode, b->opcode);
	assert_int_equal(a->pad, b->pad);
	assert_int_equal(a->ecn, b->ecn);
	assert_int_equal(a->v6, b->v6);
	assert_int_equal(a->ack_req, b->ack_req);
	assert_int_equal(a->solicited, b->solicited);
	assert_int_equal(a->becn, b->becn);
}

/* Every value of every byte behind the addresses and the type, one at a time. */
UNIT_RULE_IN(plain__is_judged_as_all_others_byte_by_byte, NULL, NULL)
{
	uint8_t bytes[V4_LEN];

	for (uint32_t at = V4_L3; at < V4_LEN; at++) {
		for (uint32_t value = 0; value < 256; value++) {
			memcpy(bytes, frame_v4, V4_LEN);
			bytes[at] = (uint8_t)value;
			compare(bytes, V4_LEN);
		}
	}
}

/* Several bytes at a time, and any length: those of IP and UDP follow, or do not. */
UNIT_RULE_IN(plain__is_judged_as_all_others_at_random, NULL, NULL)
{
	uint8_t bytes[V4_LEN];

	for (uint64_t i = 0; i < TRIES; i++) {
		uint64_t r = roce_random_at(SEED, ROCE_RANDOM_ENGINE, 4 * i);
		uint32_t len = r % 4 == 0 ? TYPE + 2 + (uint32_t)(r >> 8) % (V4_LEN - TYPE - 1)
					  : V4_LEN;

		memcpy(bytes, frame_v4, V4_LEN);
		if (r & 4) {
			uint32_t udp_len = (uint32_t)(r >> 16) % 80;

			bytes[V4_UDP + 5] = (uint8_t)udp_len;
			bytes[V4_L3 + 3] = (uint8_t)(udp_len + 20);
			bytes[V4_BTH] = (uint8_t)(r >> 24);
			bytes[V4_BTH + 1] = (uint8_t)(r >> 32) & 0xf0;
		}
		for (uint32_t n = (uint32_t)(r >> 40) % 3; n > 0; n--) {
			uint64_t edit = roce_random_at(SEED, ROCE_RANDOM_ENGINE, 4 * i + n);

			bytes[V4_L3 + (uint32_t)(edit >> 8) % (V4_LEN - V4_L3)] = (uint8_t)edit;
		}
		compare(bytes, len);
	}
}
