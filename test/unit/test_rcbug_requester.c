/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that other providers made as requesters, each as a world in which it would show. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "played_scene.h"

#define PSN   FX_SQ_PSN
#define MTU   FX_MTU
#define DEPTH 4
#define MS    UINT64_C(1000000)

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_rd_atomic = DEPTH, .atomics = true });
	fx_tx_none(&end);
	return 0;
}

static struct roce_wr
request(uint8_t opcode, uint64_t wr_id, const struct roce_sge *sge)
{
	return (struct roce_wr){
		.wr_id = wr_id,
		.sg = sge,
		.num_sge = sge->length > 0,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x123456780ull,
		.rkey = 0x99,
		.imm = FX_IMM,
		.compare_add = 3,
		.swap = 4,
	};
}

static void
post(uint8_t opcode, uint64_t wr_id, uint32_t at, uint32_t len, uint8_t flags)
{
	const struct roce_sge sge = { (uintptr_t)end.memory + at, len, end.key };
	struct roce_wr wr = request(opcode, wr_id, &sge);

	wr.flags |= flags;
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
}

/* The whole answer to a READ of 8 bytes, or to an atomic. */
static void
answer(uint8_t verb, uint32_t psn)
{
	if (verb == IBV_WR_RDMA_READ)
		fx_rx_response(&end, &peer, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn, 8);
	else
		fx_rx_response(&end, &peer, IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE, psn, 0);
}

/*
 * Every verb with a fence behind every verb: those that bring something home are waited for, the others are not; and
 * without a fence nobody waits.
 *
 * Proves: rc.R5
 */
UNIT_RULE(fence__is_for_what_brings_something_home)
{
	static const uint8_t verb[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD };

	for (size_t k = 0; k < RTE_DIM(verb) * RTE_DIM(verb) * 2; k++) {
		const uint8_t first = verb[k / 2 / RTE_DIM(verb)];
		const uint8_t second = verb[k / 2 % RTE_DIM(verb)];
		const bool fenced = k % 2, home = first >= IBV_WR_RDMA_READ;

		post(first, 1, 0, 8, 0);
		post(second, 2, 0, 8, fenced ? ROCE_WR_FENCE : 0);
		assert_int_equal(fx_tx_drop(&end), fenced && home ? 1 : 2);
		if (fenced && home) {
			answer(first, PSN);
			assert_int_equal(fx_event(end.send_cq).wr_id, 1);
			assert_int_equal(fx_tx_one(&end).psn, PSN + 1);
		}
		assert_int_equal(teardown(state), 0);
		setup(state);
	}
}

/*
 * Two requests in the middle whose memory is gone: those before them succeed, the first of the two fails, all others
 * are flushed, in order, and so is what is posted later. No completion is missing.
 *
 * Proves: rc.R8
 */
UNIT_RULE(failed__twice_all_complete)
{
	static const uint8_t want[] = { IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR };
	struct roce_event event[RTE_DIM(want) + 1];
	struct roce_sge sge = { (uintptr_t)end.memory, 64, 0 };
	struct roce_mr *brief = fx_mr(end.pd, sge.addr, 64, 0);

	sge.lkey = roce_mr_key(brief);
	for (uint32_t i = 0; i < RTE_DIM(want); i++) {
		const struct roce_wr bad = request(IBV_WR_SEND, i, &sge);

		if (i == 2 || i == 4)
			assert_int_equal(roce_qp_post_send(qp, &bad), 0);
		else
			post(IBV_WR_SEND, i, 0, 8, 0);
	}
	assert_int_equal(roce_mr_destroy(brief), 0);
	assert_int_equal(fx_tx_drop(&end), 2);
	fx_rx_answer(&end, &peer, FX_ACK, PSN + 1);
	fx_tx_drop(&end);
	assert_int_equal(roce_cq_poll(end.send_cq, event, RTE_DIM(event)), RTE_DIM(want));
	for (uint32_t i = 0; i < RTE_DIM(want); i++) {
		assert_fields(event[i], (wr_id, i), (status, want[i]));
	}
	for (uint32_t i = 0; i < 600; i++) {
		post(IBV_WR_SEND, 100 + i, 0, 8, 0);
		fx_tx_none(&end);
		assert_int_equal(fx_event(end.send_cq).wr_id, 100 + i);
	}
}

/*
 * One that is refused at the post, between two that are not: both go, and both complete.
 *
 * Proves: rc.R9
 */
UNIT_RULE(refused__keeps_nothing_back)
{
	const struct roce_sge bad = { (uintptr_t)end.memory, 8, end.key ^ 1 };
	const struct roce_wr wr = request(IBV_WR_SEND, 7, &bad);
	struct roce_event event[3];

	post(IBV_WR_SEND, 1, 0, 8, 0);
	assert_int_equal(roce_qp_post_send(qp, &wr), -EACCES);
	post(IBV_WR_SEND, 2, 0, 8, 0);
	assert_int_equal(roce_qp_post_send(qp, &wr), -EACCES);
	assert_int_equal(fx_tx_drop(&end), 2);
	fx_rx_answer(&end, &peer, FX_ACK, PSN + 1);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 3), 2);
	assert_int_equal(event[0].wr_id, 1);
	assert_fields(event[1], (wr_id, 2), (status, IBV_WC_SUCCESS));
}

#define SAID_MAX 64u

struct said {
	unsigned int frames;
	uint16_t len[SAID_MAX];
	uint8_t bytes[SAID_MAX][ROCE_FRAME_LEN_MAX(MTU)];
};

/* Frames of the engine with this much room a poll, and without a buffer in each poll whose bit is set. */
static void
listen(struct said *said, uint16_t room, uint32_t starved)
{
	static struct rte_mbuf *all[4096];
	unsigned int quiet = 0;

	for (unsigned int polls = 0; quiet < 34; polls++) {
		const bool starve = polls < 32 && starved >> polls & 1;
		struct rte_mbuf *pkts[32];
		unsigned int held = 0;
		uint16_t n;

		while (starve && (all[held] = rte_pktmbuf_alloc(unit_pool())) != NULL)
			held++;
		n = fx_take(&end, pkts, room);
		rte_pktmbuf_free_bulk(all, held);
		for (uint16_t i = 0; i < n; i++) {
			assert_true(said->frames < SAID_MAX);
			said->len[said->frames] = (uint16_t)pkts[i]->pkt_len;
			memcpy(said->bytes[said->frames++], rte_pktmbuf_mtod(pkts[i], void *),
					pkts[i]->pkt_len);
			rte_pktmbuf_free(pkts[i]);
		}
		quiet = n == 0 ? quiet + 1 : 0;
	}
}

/* Every verb, a loss in the middle of it, and everything behind the loss once more. */
static void
speech(struct said *said, uint16_t room, uint32_t starved)
{
	said->frames = 0;
	post(IBV_WR_SEND, 1, 3, 2 * MTU + 5, 0);
	post(IBV_WR_RDMA_WRITE, 2, 77, 3 * MTU, 0);
	post(IBV_WR_RDMA_READ, 3, 20000, 2 * MTU, 0);
	post(IBV_WR_ATOMIC_CMP_AND_SWP, 4, 20000, 8, 0);
	post(IBV_WR_SEND_WITH_IMM, 5, 9, MTU + 1, 0);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, 6, 30000, 0, 0);
	listen(said, room, starved);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + 1);
	listen(said, room, starved);
	fx_rx_answer(&end, &peer, FX_RNR(1), PSN + 4);
	end.now += MS;
	listen(said, room, starved);
}

/*
 * The same frames leave, byte for byte, however many the device takes in a poll and whenever a buffer is missing. Only the
 * question for an acknowledgement may stand elsewhere, because it is asked before a silence; the ICRC with it.
 *
 * Proves: rc.R10
 */
UNIT_RULE(starved__says_the_same_bytes)
{
	static const uint16_t rooms[] = { 32, 1, 2, 3, 7 };
	static struct said want, got;

	speech(&want, 32, 0);
	assert_in_range(want.frames, 20, SAID_MAX);
	srand(5);
	for (unsigned int k = 0; k < 300; k++) {
		const uint32_t starved = k < 32 ? 1u << k : (uint32_t)rand() * 3;

		assert_int_equal(teardown(state), 0);
		setup(state);
		speech(&got, rooms[k % RTE_DIM(rooms)], starved);
		assert_int_equal(got.frames, want.frames);
		for (unsigned int i = 0; i < want.frames; i++) {
			const uint32_t psn_at = peer.template.bth_off + 8;

			assert_int_equal(got.len[i], want.len[i]);
			got.bytes[i][psn_at] &= 0x7f;
			want.bytes[i][psn_at] &= 0x7f;
			assert_memory_equal(
					got.bytes[i], want.bytes[i], want.len[i] - ROCE_ICRC_LEN);
		}
	}
}

/*
 * A queue pair that ends while it waits for an acknowledgement, for a receiver that is not ready, or under a rate
 * limiter: its time comes and nobody is there, and the next one of its place does not hear of it.
 *
 * Proves: rc.R12
 */
UNIT_RULE(destroy__leaves_no_timer)
{
	for (unsigned int how = 0; how < 3; how++) {
		struct rte_mbuf *cnp;
		unsigned int n;

		if (qp == NULL)
			qp = fx_played_qp(&end, &peer);
		for (uint32_t i = 0; i < 40; i++)
			post(IBV_WR_SEND, i, 0, MTU, 0);
		if (how == 2) {
			struct rte_mbuf *pkts[4];

			n = fx_take(&end, pkts, 4);
			rte_pktmbuf_free_bulk(pkts, n);
			cnp = fx_request(&peer, ROCE_OPCODE_CNP, 0, 0, 0);
			fx_rx(&end, cnp);
		}
		(void)fx_tx_all(&end, &n);
		if (how == 1)
			fx_rx_answer(&end, &peer, FX_RNR(0), PSN);
		roce_engine_lock(end.engine);
		assert_int_not_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
		roce_engine_unlock(end.engine);
		roce_qp_destroy(qp);
		qp = fx_qp(&end, NULL);
		fx_tx_none(&end);
		(void)fx_run(&end, end.now + 100 * FX_HZ, &n);
		assert_int_equal(n, 0);
		assert_int_equal(roce_cq_count(end.send_cq), 0);
		assert_int_equal(end.async_events, 0);
		roce_qp_destroy(qp);
		qp = NULL;
	}
}
