/* SPDX-License-Identifier: BSD-3-Clause */
/* Between own peers a READ is asked for again where its answer is missing, and answered there alone. */

#include "played_scene.h"

#define PSN       FX_RQ_PSN
#define MTU       FX_MTU
#define READ      IBV_OPCODE_RC_RDMA_READ_REQUEST
#define RSP_FIRST IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define RSP_MID   IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define RSP_LAST  IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST

static uint32_t rkey;

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = 4, .rights = FX_ALL, .agreed = true });
	rkey = roce_mr_key(region);
	return 0;
}

/* The peer asks for packets of the READ at PSN, from packet @p from on; first for all of it. */
static void
ask(uint32_t from, uint32_t packets)
{
	const struct fx_target target = { (uintptr_t)end.memory + from * MTU, rkey, packets * MTU };

	fx_rx(&end, fx_about(&peer, READ, PSN + from, 0, &target, 0));
}

/* The frames that leave now have these packets, and their bytes. */
static void
expect_packets(const uint32_t *packet, unsigned int n)
{
	const struct fx_sent *sent = fx_tx_exactly(&end, n);

	for (unsigned int i = 0; i < n; i++)
		assert_fields(sent[i], (psn, PSN + packet[i]), (payload_len, MTU),
				(first, end.memory[packet[i] * MTU]));
}

#define EXPECT_PACKETS(...)                               \
	expect_packets((const uint32_t[]){ __VA_ARGS__ }, \
			sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

/* A READ of so many packets, of which the first @p n are sent. The others wait. */
static void
begin_read(uint32_t packets, uint16_t n)
{
	struct rte_mbuf *pkts[64];

	ask(0, packets);
	/* Half of the room is for others. */
	for (uint16_t sent = 0; sent < n;) {
		uint16_t more = fx_take(&end, pkts, (uint16_t)(n - sent));

		assert_int_not_equal(more, 0);
		rte_pktmbuf_free_bulk(pkts, more);
		sent = (uint16_t)(sent + more);
	}
}

UNIT_RULE(gap__is_filled_alone)
{
	begin_read(4, 4);
	ask(1, 2);
	EXPECT_PACKETS(1, 2);
	fx_tx_none(&end);
}

/* The opcode is that of the packet's place in the READ, and not in the request. */
UNIT_RULE(gap__has_the_opcodes_of_its_place)
{
	begin_read(4, 4);
	ask(0, 1);
	assert_int_equal(fx_tx_one(&end).opcode, RSP_FIRST);
	ask(2, 1);
	assert_int_equal(fx_tx_one(&end).opcode, RSP_MID);
	ask(3, 1);
	assert_int_equal(fx_tx_one(&end).opcode, RSP_LAST);
}

UNIT_RULE(gaps__of_one_answer_are_each_filled)
{
	begin_read(8, 8);
	ask(5, 1);
	ask(1, 1);
	ask(3, 2);
	EXPECT_PACKETS(1, 3, 4, 5);
	fx_tx_none(&end);
}

/* And nothing is sent twice of what was not sent yet. */
UNIT_RULE(gap__goes_before_the_rest_of_the_answer)
{
	begin_read(8, 4);
	ask(1, 7);
	EXPECT_PACKETS(1, 2, 3, 4, 5, 6, 7);
	fx_tx_none(&end);
}

UNIT_RULE(gap__that_is_yet_to_be_sent_is_none)
{
	begin_read(8, 4);
	ask(5, 2);
	EXPECT_PACKETS(4, 5, 6, 7);
	fx_tx_none(&end);
}

/* In front of gaps that are known, too, which are sent with the rest then. */
UNIT_RULE(gaps__too_far_apart_have_the_rest_sent_again)
{
	const uint32_t last = ROCE_GAP_BITS + 2;

	begin_read(last + 1, (uint16_t)(last + 1));
	ask(0, 1);
	ask(last - 1, 1);
	EXPECT_PACKETS(0, last - 1, last);
	ask(last, 1);
	ask(last - ROCE_GAP_BITS, 1);
	assert_int_equal(fx_tx_exactly(&end, ROCE_GAP_BITS + 1)[0].psn, PSN + last - ROCE_GAP_BITS);
	fx_tx_none(&end);
}

/* They may move on with what was sent of them. */
UNIT_RULE(gaps__are_together_where_the_first_is_filled)
{
	struct rte_mbuf *m;

	begin_read(ROCE_GAP_BITS + 3, ROCE_GAP_BITS + 3);
	ask(0, 1);
	ask(ROCE_GAP_BITS - 1, 1);
	assert_int_equal(fx_take(&end, &m, 1), 1);
	rte_pktmbuf_free(m);
	ask(ROCE_GAP_BITS + 1, 1);
	EXPECT_PACKETS(ROCE_GAP_BITS - 1, ROCE_GAP_BITS + 1);
	fx_tx_none(&end);
}

/* Only an answer to its end says all that an acknowledgement would. */
UNIT_RULE(gap__takes_the_place_of_no_acknowledgement)
{
	const struct fx_sent *sent;
	unsigned int n, answers = 0, acknowledgements = 0;

	begin_read(4, 4);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN - 1, 8, FX_ACKREQ);
	ask(1, 1);
	sent = fx_tx_all(&end, &n);
	for (unsigned int i = 0; i < n; i++) {
		answers += sent[i].opcode == RSP_MID && sent[i].psn == PSN + 1;
		acknowledgements += sent[i].opcode == IBV_OPCODE_RC_ACKNOWLEDGE;
	}
	assert_int_equal(answers, 1);
	assert_int_equal(acknowledgements, 1);
}

/* The requester learns that it gets nothing. The connection, which is in order, goes on. */
UNIT_RULE(gap__whose_memory_is_gone_is_refused)
{
	struct fx_sent sent;

	begin_read(4, 4);
	assert_int_equal(roce_mr_destroy(region), 0);
	ask(1, 2);
	sent = fx_tx_one(&end);
	assert_fields(sent, (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (psn, PSN + 1),
			(syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS)));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	fx_tx_none(&end);
	/* And once for each time that it asks. */
	ask(3, 1);
	assert_fields(fx_tx_one(&end), (psn, PSN + 3));
	fx_tx_none(&end);
}

/* A repeat has no key but that of its READ, and no other memory. */
UNIT_RULE(gap__beyond_the_answer_is_refused)
{
	begin_read(4, 4);
	ask(3, 2);
	assert_fields(fx_tx_one(&end), (syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS)));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}
