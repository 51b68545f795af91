/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_REPAIR_SCENE_H
#define ROCE_TEST_REPAIR_SCENE_H

/** @file A queue pair whose peer has agreed to selective repeat, and what the peer says. A tick of the clock is 1 ns. */

#include "played_scene.h"
#include "wire/icrc.h"

#define US UINT64_C(1000)

/* A queue pair that has agreed, and has measured a round trip of 20 us. */
static inline void
open_agreed(bool agreed)
{
	open_scene(&(struct played){ .max_rd_atomic = 8, .rights = FX_ALL, .agreed = agreed });
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(fx_send(&end, qp, i, 0, 8, 0), 0);
		(void)fx_tx_one(&end);
		end.now += 20 * US;
		fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + i);
	}
}

static inline int
setup(void **state)
{
	open_agreed(true);
	return 0;
}

static inline int
setup_standard(void **state)
{
	open_agreed(false);
	return 0;
}

#define FIRST (FX_SQ_PSN + 8) /**< PSN of the first message of a test */

/* Post @p n messages of one packet, and send them. */
static inline void
send_many(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fx_send(&end, qp, i, 0, 8, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_tx_drop(&end), RTE_MIN(n, ROCE_WINDOW));
}

/* The peer expects message @p expected, and holds those of @p map behind it. */
static inline void
sack(uint32_t expected, uint64_t low, uint64_t high)
{
	const struct roce_sack held = { { rte_cpu_to_be_64(low), rte_cpu_to_be_64(high) } };
	struct rte_mbuf *m = fx_request(&peer, ROCE_OPCODE_SACK, FIRST + expected, 0, 0);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	memcpy((void *)(uintptr_t)roce_pkt_sack(&pkt), &held, sizeof(held));
	roce_icrc_put(m, &peer.template);
	fx_rx(&end, m);
}

static inline void
acknowledge(uint32_t message)
{
	fx_rx_answer(&end, &peer, FX_ACK, FIRST + message);
}

/* The peer says that it misses a message, in a NAK. */
static inline void
missing(uint32_t message)
{
	fx_rx_answer(&end, &peer, ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE, FIRST + message);
}

/* Bytes of a READ of one packet, which is asked for again once. */
#define SHORT 512u

static inline void
read_bytes(uint32_t length, uint32_t place)
{
	const struct roce_sge sge = { (uintptr_t)end.memory + place * FX_MTU, length, end.key };
	const struct roce_wr wr = { .sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x100000,
		.rkey = 0x99 };

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	(void)fx_tx_one(&end);
}

/* A READ of so many packets, into the memory at packet @p place. One packet has SHORT bytes, several are full. */
static inline void
read_packets(uint32_t packets, uint32_t place)
{
	read_bytes(packets == 1 ? SHORT : packets * FX_MTU, place);
}

/* An answer. The peer has received the repeat with the number peer.repeat. */
static inline void
answer(uint8_t opcode, uint32_t number)
{
	fx_rx_response(&end, &peer, opcode, FIRST + number,
			opcode == IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY ? SHORT : FX_MTU);
}

/* A READ with a long answer is asked for again, twice for each gap in its answer. @return the first request for each of @p gaps. */
static inline const struct fx_sent *
asked_twice(unsigned int gaps)
{
	static struct fx_sent first[8];
	const struct fx_sent *sent = fx_tx_exactly(&end, 2 * gaps);

	assert_true(gaps <= RTE_DIM(first));
	for (unsigned int i = 0; i < gaps; i++) {
		first[i] = sent[2 * i];
		assert_fields(sent[2 * i + 1], (psn, first[i].psn), (length, first[i].length),
				(repeat, first[i].repeat), (va, first[i].va));
	}
	return first;
}

/* The messages that are sent now. */
static inline void
expect_sent(const uint32_t *message, unsigned int n)
{
	const struct fx_sent *sent = fx_tx_exactly(&end, n);

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(sent[i].psn, FIRST + message[i]);
}

#define EXPECT_SENT(...)                               \
	expect_sent((const uint32_t[]){ __VA_ARGS__ }, \
			sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

#endif
