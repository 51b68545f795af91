/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester, receive side: what each answer of the peer means (IBTA Vol 1, 9.7.5 and 9.7.7). */

#include "played_scene.h"

#define PSN FX_SQ_PSN
#define MTU FX_MTU

#define SEQUENCE FX_NAK(ROCE_NAK_PSN_SEQUENCE)

static int
setup(void **state)
{
	open_ordinary_scene();
	return 0;
}

/* Post @p n messages of @p len bytes, numbered from 0, and let their frames go. */
static void
send_many(uint32_t n, uint32_t len)
{
	fx_send_many(&end, qp, n, len, ROCE_WR_SIGNALED);
	fx_tx_drop(&end);
}

static void
answer(uint8_t syndrome, uint32_t number)
{
	fx_rx_answer(&end, &peer, syndrome, roce_psn_add(PSN, number));
}

/* The requests first..first+n-1 ended so, in this order, and no others. */
static void
expect_ended(uint64_t first, unsigned int n, enum ibv_wc_status status)
{
	struct roce_event event[256];

	assert_int_equal(roce_cq_poll(end.send_cq, event, 256), n);
	for (unsigned int i = 0; i < n; i++) {
		assert_fields(event[i], (wr_id, first + i), (status, status),
				(kind, ROCE_EVENT_SEND));
	}
}

static void
expect_resent(uint32_t from, uint32_t to)
{
	unsigned int n;
	const struct fx_sent *sent = fx_tx_all(&end, &n);

	assert_int_equal(n, to - from);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(sent[i].psn, PSN + from + i);
}

/* An acknowledgement is for everything up to its PSN. */
UNIT_RULE(ack__is_cumulative_and_completes_in_order)
{
	send_many(10, 8);
	answer(FX_ACK, 0);
	expect_ended(0, 1, IBV_WC_SUCCESS);
	answer(FX_ACK, 6);
	expect_ended(1, 6, IBV_WC_SUCCESS);
	answer(FX_ACK, 9);
	expect_ended(7, 3, IBV_WC_SUCCESS);
	assert_int_equal(fx_stats(&end)->rx_acks, 3);
}

/* A message is complete with its last packet, not before. */
UNIT_RULE(ack__inside_a_message_completes_nothing)
{
	send_many(2, 3 * MTU);
	answer(FX_ACK, 0);
	answer(FX_ACK, 1);
	expect_ended(0, 0, IBV_WC_SUCCESS);
	answer(FX_ACK, 4);
	expect_ended(0, 1, IBV_WC_SUCCESS);
	answer(FX_ACK, 5);
	expect_ended(1, 1, IBV_WC_SUCCESS);
}

/* Success is reported for requests that asked for it only. */
UNIT_RULE(ack__of_an_unsignalled_request_is_silent)
{
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(fx_send(&end, qp, i, 0, 8, i == 3 ? ROCE_WR_SIGNALED : 0), 0);
	fx_tx_drop(&end);
	answer(FX_ACK, 5);
	expect_ended(3, 1, IBV_WC_SUCCESS);
}

/* Answers to what was never sent, or long done, change nothing. */
UNIT_RULE(ack__ghosts_change_nothing)
{
	static const struct {
		uint8_t syndrome;
		uint32_t number;
	} ghost[] = {
		{ FX_ACK, 10 },
		{ FX_ACK, 11 },
		{ FX_ACK, 0x400000 },
		{ FX_ACK, 0x7fffff },
		{ FX_ACK, 0xffffff },
		{ FX_ACK, 0x900000 },
		{ FX_ACK, 4 },
		{ FX_ACK, 0 },
		{ SEQUENCE, 10 },
		{ SEQUENCE, 0xffffff },
		{ SEQUENCE, 4 },
		{ SEQUENCE, 0x800000 },
		{ FX_RNR(1), 10 },
		{ FX_RNR(1), 4 },
		{ FX_RNR(1), 0xffffff },
		{ FX_NAK(ROCE_NAK_REMOTE_ACCESS), 10 },
		{ FX_NAK(ROCE_NAK_REMOTE_ACCESS), 4 },
		{ FX_NAK(ROCE_NAK_INVALID_REQUEST), 0xffffff },
		/* Reserved kinds, and NAK codes that no responder of RC sends. */
		{ 0x40 | 3, 7 },
		{ 0x80, 7 },
		{ 0xa0, 7 },
		{ 0xe0, 7 },
		{ 0xff, 7 },
	};

	send_many(10, 8);
	answer(FX_ACK, 4);
	expect_ended(0, 5, IBV_WC_SUCCESS);
	for (size_t i = 0; i < RTE_DIM(ghost); i++)
		answer(ghost[i].syndrome, ghost[i].number);
	expect_ended(0, 0, IBV_WC_SUCCESS);
	assert_int_equal(end.async_events, 0);
	fx_tx_none(&end);
	answer(FX_ACK, 9);
	expect_ended(5, 5, IBV_WC_SUCCESS);
}

/* Before anything was sent, no answer is true. */
UNIT_RULE(ack__of_nothing_changes_nothing)
{
	for (uint32_t number = 0; number < 3; number++) {
		answer(FX_ACK, number);
		answer(SEQUENCE, number);
		answer(FX_NAK(ROCE_NAK_REMOTE_ACCESS), number);
	}
	answer(FX_ACK, 0xffffff);
	send_many(1, 8);
	answer(FX_ACK, 0);
	expect_ended(0, 1, IBV_WC_SUCCESS);
	assert_int_equal(end.async_events, 0);
}

/* Answers to READs and atomics, of which this end sends none, acknowledge nothing. */
UNIT_RULE(ack__other_responses_are_ghosts)
{
	static const uint8_t opcode[] = { IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE };

	send_many(3, 8);
	for (size_t i = 0; i < RTE_DIM(opcode); i++)
		fx_rx_request(&end, &peer, opcode[i], PSN + 2, 0, 0);
	expect_ended(0, 0, IBV_WC_SUCCESS);
	assert_int_equal(fx_stats(&end)->rx_ghost_acks, RTE_DIM(opcode));
}

/* A sequence NAK acknowledges what is before it and has the rest sent again from there, once. */
UNIT_RULE(nak__sequence_sends_again_once)
{
	send_many(10, 8);
	answer(SEQUENCE, 4);
	expect_ended(0, 4, IBV_WC_SUCCESS);
	answer(SEQUENCE, 4);
	expect_resent(4, 10);
	answer(SEQUENCE, 4);
	fx_tx_none(&end);
	assert_fields(*fx_stats(&end), (retransmits, 6), (packet_seq_err, 3));
	/* Progress, then another loss. */
	answer(SEQUENCE, 7);
	expect_ended(4, 3, IBV_WC_SUCCESS);
	expect_resent(7, 10);
	answer(FX_ACK, 9);
	expect_ended(7, 3, IBV_WC_SUCCESS);
}

/* The first packet of all was lost: nothing is acknowledged, everything sent again. */
UNIT_RULE(nak__sequence_at_the_oldest)
{
	send_many(3, 8);
	answer(SEQUENCE, 0);
	expect_ended(0, 0, IBV_WC_SUCCESS);
	expect_resent(0, 3);
}

/* A rewind may lead into the middle of a message: opcode, place in memory and length are those of before. */
UNIT_RULE(nak__sequence_in_the_middle_of_a_message)
{
	struct fx_sent before[12];
	const struct fx_sent *again;
	unsigned int n;

	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(fx_send(&end, qp, i, 300 * (uint32_t)i, 3 * MTU + 5,
						 ROCE_WR_SIGNALED),
				0);
	assert_int_equal(fx_tx(&end, before, 12), 12);
	for (uint32_t from = 11; from > 0; from--) {
		teardown(state);
		setup(state);
		for (uint64_t i = 0; i < 3; i++)
			assert_int_equal(fx_send(&end, qp, i, 300 * (uint32_t)i, 3 * MTU + 5,
							 ROCE_WR_SIGNALED),
					0);
		(void)fx_tx_all(&end, &n);
		answer(SEQUENCE, from);
		expect_ended(0, from / 4, IBV_WC_SUCCESS);
		again = fx_tx_all(&end, &n);
		assert_int_equal(n, 12 - from);
		for (unsigned int i = 0; i < n; i++) {
			assert_fields(again[i], (psn, before[from + i].psn),
					(opcode, before[from + i].opcode),
					(payload_len, before[from + i].payload_len),
					(first, before[from + i].first));
		}
		answer(FX_ACK, 11);
		expect_ended(from / 4, 3 - from / 4, IBV_WC_SUCCESS);
	}
}

/* The last frame of each message that is sent again asks: the peer has most of them already. */
UNIT_RULE(nak__sequence_asks_for_answers_again)
{
	const struct fx_sent *sent;
	unsigned int n;

	send_many(5, 2 * MTU);
	answer(SEQUENCE, 1);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 9);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(sent[i].ack_req, i % 2 == 0);
}

/* The old copy arrived after all: what it acknowledges is never sent again, wherever the rewind has got to. */
UNIT_RULE(ack__passes_a_rewound_requester)
{
	struct fx_sent sent[3];

	send_many(10, 8);
	answer(SEQUENCE, 2);
	assert_int_equal(fx_tx(&end, sent, 3), 3);
	assert_int_equal(sent[2].psn, PSN + 4);
	answer(FX_ACK, 6);
	expect_ended(0, 7, IBV_WC_SUCCESS);
	expect_resent(7, 10);
	answer(FX_ACK, 9);
	expect_ended(7, 3, IBV_WC_SUCCESS);

	/* Everything arrived before anything was sent again; what is posted then goes on at the next PSN. */
	assert_int_equal(fx_send(&end, qp, 10, 0, 3 * MTU, ROCE_WR_SIGNALED), 0);
	fx_tx_drop(&end);
	answer(SEQUENCE, 11);
	answer(FX_ACK, 12);
	expect_ended(10, 1, IBV_WC_SUCCESS);
	fx_tx_none(&end);
	assert_int_equal(fx_send(&end, qp, 11, 0, 8, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 13);
}

/* A message that is sent again uses no new credit: its receive was promised before. */
UNIT_RULE(nak__sequence_uses_no_credit)
{
	send_many(1, 8);
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 4, PSN, 1));
	send_many(6, 8);
	answer(SEQUENCE, 1);
	expect_resent(1, 5);
	answer(SEQUENCE, 3);
	expect_resent(3, 5);
	/* Two more receives: exactly two more messages. */
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 2, PSN + 4, 5));
	assert_int_equal(fx_tx_drop(&end), 2);
}

/* Refusals: the request that holds the PSN fails with the reason, those before are done, the rest is flushed. */
UNIT_RULE(nak__refusal_breaks)
{
	static const struct {
		uint8_t code;
		enum ibv_wc_status want;
	} rule[] = {
		{ ROCE_NAK_INVALID_REQUEST, IBV_WC_REM_INV_REQ_ERR },
		{ ROCE_NAK_REMOTE_ACCESS, IBV_WC_REM_ACCESS_ERR },
		{ ROCE_NAK_REMOTE_OPERATIONAL, IBV_WC_REM_OP_ERR },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_event event[5];

		send_many(4, 2 * MTU);
		/* Unsignalled, unsent and behind the failure: it still makes an event. */
		assert_int_equal(fx_send(&end, qp, 4, 0, 8, 0), 0);
		answer(FX_NAK(rule[i].code), 3);
		assert_int_equal(roce_cq_poll(end.send_cq, event, 5), 5);
		for (uint64_t k = 0; k < 5; k++)
			assert_int_equal(event[k].wr_id, k);
		assert_int_equal(event[0].status, IBV_WC_SUCCESS);
		assert_int_equal(event[1].status, rule[i].want);
		for (unsigned int k = 2; k < 5; k++)
			assert_int_equal(event[k].status, IBV_WC_WR_FLUSH_ERR);
		fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_BROKEN);
		assert_int_equal(end.async_event[0].status, rule[i].want);
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
		fx_tx_none(&end);
		answer(FX_ACK, 7);
		assert_int_equal(fx_stats(&end)->rx_wrong_state, 1);
		teardown(state);
		setup(state);
	}
}

/* Credits count messages from the number in the answer; an older answer does not bring them back. */
UNIT_RULE(ack__credits_are_those_of_the_newest)
{
	send_many(3, 8);
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 2, PSN + 2, 3));
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 20, PSN, 1));
	expect_ended(0, 3, IBV_WC_SUCCESS);
	fx_send_many(&end, qp, 6, 8, 0);
	assert_int_equal(fx_tx_drop(&end), 2);
}

/* Credits that come in an answer of their own let the requester go on. */
UNIT_RULE(ack__credits_alone_wake_the_requester)
{
	send_many(1, 8);
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 0, PSN, 1));
	send_many(4, 8); /* one probe leaves */
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 3, PSN, 1));
	assert_int_equal(fx_tx_drop(&end), 2);
}
