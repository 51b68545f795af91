/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that other providers made with frames: reserved bits, buffers that the device holds, datagrams. */

#include <stdlib.h>
#include <string.h>

#include "pair_scene.h"

#define MTU          FX_MTU
#define RESERVED_QP  0x3f000000u
#define RESERVED_PSN 0x7f000000u

static int
setup(void **state)
{
	open_pair(FX_ALL);
	fx_fill_srq(&b, 16, 4 * MTU);
	return 0;
}

/* One request of every verb, each longer than a packet where it can be. */
static void
post_every_verb(void)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
	} verb[] = {
		{ IBV_WR_SEND, 2 * MTU + 5 },
		{ IBV_WR_SEND_WITH_IMM, MTU + 2 },
		{ IBV_WR_SEND, 3 },
		{ IBV_WR_RDMA_WRITE, 3 * MTU },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, 7 },
		{ IBV_WR_RDMA_READ, 3 * MTU + 1 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 8 },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 8 },
	};

	for (size_t i = 0; i < RTE_DIM(verb); i++) {
		const struct roce_sge sge = { (uintptr_t)a.memory + 4096, verb[i].len, a.key };
		const struct roce_wr wr = {
			.wr_id = i,
			.sg = &sge,
			.num_sge = 1,
			.opcode = verb[i].opcode,
			.flags = ROCE_WR_SIGNALED | ROCE_WR_SOLICITED,
			.remote_addr = (uintptr_t)b.memory + 16384,
			.rkey = roce_mr_key(mr),
			.imm = FX_IMM,
		};

		assert_int_equal(roce_qp_post_send(qa, &wr), 0);
	}
}

static struct roce_bth *
bth_of(struct rte_mbuf *m)
{
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	return (struct roce_bth *)(uintptr_t)pkt.bth;
}

/* Carry what one end says to the other; each frame passes through @p touch. @return frames. */
static unsigned int
carry(struct fx_end *from, struct fx_end *to, void (*touch)(struct rte_mbuf *m))
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(from, pkts, 32);

	for (uint16_t i = 0; i < n; i++) {
		touch(pkts[i]);
		fx_rx(to, pkts[i]);
	}
	return n;
}

static void
all_done(void)
{
	struct roce_event event[9];

	assert_int_equal(roce_cq_poll(a.send_cq, event, 9), 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(event[i].status, IBV_WC_SUCCESS);
	assert_int_equal(roce_cq_count(b.recv_cq), 4);
}

static uint32_t opcodes_seen[8];

static void
expect_zeros(struct rte_mbuf *m)
{
	const struct roce_bth *bth = bth_of(m);

	opcodes_seen[bth->opcode / 32] |= 1u << bth->opcode % 32;
	assert_int_equal(bth->flags & ROCE_BTH_TVER_MASK, 0);
	assert_int_equal(rte_be_to_cpu_16(bth->pkey), ROCE_PKEY_DEFAULT);
	assert_int_equal(rte_be_to_cpu_32(bth->dest_qp) & RESERVED_QP, 0);
	assert_int_equal(rte_be_to_cpu_32(bth->dest_qp) & (ROCE_BTH_FECN | ROCE_BTH_BECN), 0);
	assert_int_equal(rte_be_to_cpu_32(bth->psn) & RESERVED_PSN, 0);
}

/*
 * A talk of every verb in which nothing reserved is ever set.
 *
 * Proves: rc.R14
 */
UNIT_RULE(reserved__is_zero_in_every_frame)
{
	unsigned int kinds = 0;

	memset(opcodes_seen, 0, sizeof(opcodes_seen));
	post_every_verb();
	while (carry(&a, &b, expect_zeros) + carry(&b, &a, expect_zeros) > 0)
		;
	all_done();
	for (size_t i = 0; i < RTE_DIM(opcodes_seen); i++)
		kinds += (unsigned int)__builtin_popcount(opcodes_seen[i]);
	/* SEND 5, WRITE 4, READ and its answer 4, atomics 3, acknowledgement. */
	assert_in_range(kinds, 15, 20);
}

/* The bits that IBTA reserves, set; the ICRC stays right, because it is made over them. */
static void
set_reserved(struct rte_mbuf *m)
{
	struct roce_bth *bth = bth_of(m);
	const struct roce_qp *from = bth->dest_qp == rte_cpu_to_be_32(roce_qp_number(qb)) ? qa : qb;

	bth->dest_qp |= rte_cpu_to_be_32(RESERVED_QP);
	bth->psn |= rte_cpu_to_be_32(RESERVED_PSN);
	bth->flags &= (uint8_t)~ROCE_BTH_MIGREQ;
	roce_icrc_put(m, &from->cold.template);
}

/*
 * The same talk with every reserved bit set on the way, and the bit of path migration turned over: nobody looks.
 *
 * Proves: rc.R14
 */
UNIT_RULE(reserved__is_ignored_in_every_frame)
{
	post_every_verb();
	while (carry(&a, &b, set_reserved) + carry(&b, &a, set_reserved) > 0)
		;
	all_done();
	assert_int_equal(fx_stats(&a)->rx_unknown_qp + fx_stats(&b)->rx_unknown_qp, 0);
	assert_int_equal(fx_stats(&a)->retransmits, 0);
}

/*
 * The device still holds frames, requests and answers to READs alike, when their queue pairs, regions and the memory
 * itself are gone: they stay what they were, and come home when the device lets go.
 *
 * Proves: rc.R11
 */
UNIT_RULE(held__frames_outlive_everything)
{
	static uint8_t before[64][ROCE_FRAME_LEN_MAX(MTU)];
	struct rte_mbuf *pkts[64];
	unsigned int n;

	post_every_verb();
	(void)carry(&a, &b, expect_zeros);
	post_every_verb();
	n = fx_take(&b, pkts, 32);
	assert_in_range(n, 4, 32);
	n += fx_take(&a, pkts + n, 32);
	assert_in_range(n, 12, 64);
	for (unsigned int i = 0; i < n; i++)
		memcpy(before[i], rte_pktmbuf_mtod(pkts[i], void *), pkts[i]->data_len);
	roce_qp_destroy(qa);
	roce_qp_destroy(qb);
	assert_int_equal(roce_mr_destroy(mr), 0);
	memset(a.memory, 0xdb, FX_MEMORY);
	memset(b.memory, 0xdb, FX_MEMORY);
	fx_end_close(&a);
	fx_end_close(&b);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(pkts[i]->nb_segs, 1);
		assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1);
		assert_false(RTE_MBUF_HAS_EXTBUF(pkts[i]));
		assert_memory_equal(
				before[i], rte_pktmbuf_mtod(pkts[i], void *), pkts[i]->data_len);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	assert_true(unit_pool_is_full());
	setup(state);
}

static unsigned int heard;

static void
hear(void *arg, const struct roce_pkt *pkt, uint64_t now)
{
	heard += pkt->payload_len == 256;
}

static uint16_t
say_nothing(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	return 0;
}

static uint64_t
never(void *arg)
{
	return ROCE_NEVER;
}

/*
 * Datagrams of any length, all asking for an acknowledgement, to the general services and to a connection: none is
 * acknowledged, none ends anything, and the connection manager may look at any length.
 *
 * Proves: rc.R15 rc.R24
 */
UNIT_RULE(datagram__of_any_length_draws_and_ends_nothing)
{
	static const struct roce_gsi gsi = { .rx = hear, .tx = say_nothing, .deadline = never };
	static const uint32_t lens[] = { 0, 1, 4, 255, 256, 257, MTU, MTU + 1, 2 * MTU, 4096 };

	heard = 0;
	roce_domain_set_gsi(b.domain, &gsi);
	for (size_t i = 0; i < RTE_DIM(lens); i++) {
		for (unsigned int to = 0; to < 2; to++) {
			for (unsigned int imm = 0; imm < 2; imm++) {
				struct roce_qp_connect c = fx_connect(&b, a.ip, 1);
				struct fx_peer peer = fx_peer_of(qb, &c);

				c.path.src_ip = a.ip;
				c.path.dst_ip = b.ip;
				roce_template_init(&peer.template, &c.path,
						to == 0 ? ROCE_QPN_GSI : roce_qp_number(qb), false);
				fx_rx(&b,
						fx_request(&peer,
								imm ? IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE
								    : IBV_OPCODE_UD_SEND_ONLY,
								FX_SQ_PSN, lens[i], FX_ACKREQ));
				fx_tx_none(&b);
			}
		}
	}
	assert_int_equal(heard, 2);
	assert_int_equal(roce_qp_state(qb), ROCE_QP_RTS);
	assert_int_equal(b.async_events, 0);
	fx_expect_counts(b.srq, 256, 16, 16);
	post_every_verb();
	fx_exchange(&a, &b);
	all_done();
}
