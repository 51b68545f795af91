/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that somebody else makes: with a wrong source, for guessed queue pairs, with guessed PSNs. A live queue pair
 * does not move, delivers nothing, does not end, and says no more than it hears.
 */

#include <stdlib.h>
#include <string.h>

#include "played_scene.h"

#define MTU   FX_MTU
#define DEPTH 4
#define SEND  IBV_OPCODE_RC_SEND_ONLY
#define ACK   IBV_OPCODE_RC_ACKNOWLEDGE

static struct roce_qp_connect connection;
static uint32_t rkey;
static uint8_t before[FX_MEMORY];

/* One message was taken in, one sent and acknowledged; another one, a READ and a WRITE of ours are under way. */
static int
setup(void **state)
{
	static const uint8_t posted[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE };
	const struct played how = {
		.max_rd_atomic = DEPTH, .max_dest_rd_atomic = DEPTH, .rights = FX_ALL
	};

	open_scene(&how);
	connection = connect_to_peer(&how);
	rkey = roce_mr_key(region);
	fx_fill_srq(&end, 8, 2 * MTU);
	for (uint32_t i = 0; i < RTE_DIM(posted); i++) {
		const struct roce_sge sge = { (uintptr_t)end.memory + 4096, MTU, end.key };
		const struct roce_wr wr = { .wr_id = i,
			.sg = &sge,
			.num_sge = 1,
			.opcode = posted[i],
			.flags = ROCE_WR_SIGNALED };

		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	}
	assert_int_equal(fx_tx_drop(&end), RTE_DIM(posted));
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	assert_int_equal(fx_event(end.send_cq).wr_id, 0);
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN, 8, FX_ACKREQ);
	assert_int_equal(fx_event(end.recv_cq).wr_id, 0);
	assert_int_equal(fx_tx_one(&end).opcode, ACK);
	memcpy(before, end.memory, sizeof(before));
	return 0;
}

/* Answers to what is under way, as the peer gives them, and another message of it: all is as it was. */
static void
goes_on(void)
{
	struct roce_event event[4];

	assert_memory_equal(end.memory, before, sizeof(before));
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_int_equal(end.async_events, 0);
	fx_rx_response(&end, &peer, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, FX_SQ_PSN + 2, MTU);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + 3);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 4), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(event[i].status, IBV_WC_SUCCESS);
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + 1, 8, FX_ACKREQ);
	assert_int_equal(fx_event(end.recv_cq).wr_id, 1);
	assert_int_equal(fx_tx_one(&end).psn, FX_RQ_PSN + 1);
}

/* Answers that the engine gives now. Its own requests, which it repeats when time passes, do not count. */
static unsigned int
said(void)
{
	unsigned int n, answers = 0;
	const struct fx_sent *sent = fx_tx_all(&end, &n);

	for (unsigned int i = 0; i < n; i++)
		answers += !(roce_opcode[sent[i].opcode].flags & ROCE_OP_REQUEST);
	return answers;
}

/* A frame whose every field fits the connection as far as the attacker knows it. */
static struct rte_mbuf *
forge(struct fx_peer *from, uint8_t opcode, uint32_t psn)
{
	const struct roce_opcode_info *op = &roce_opcode[opcode];
	const bool part = (op->flags & ROCE_OP_PAYLOAD) && !(op->flags & ROCE_OP_END);
	const uint32_t len = !(op->flags & ROCE_OP_PAYLOAD) ? 0 : part ? MTU : 8;
	const bool atomic = op->flags & ROCE_OP_ATOMIC;
	const struct fx_target target = { (uintptr_t)end.memory, rkey,
		atomic                 ? 1
				: part ? 2 * MTU
				       : 8 };

	return fx_about(from, opcode, psn & ROCE_PSN_MASK, len, &target, FX_ACKREQ);
}

/* Opcodes of reliable connections, one after the other. @return false: that was the last. */
static bool
next_opcode(unsigned int *opcode)
{
	while (++*opcode < 256) {
		const struct roce_opcode_info *op = &roce_opcode[*opcode];

		if (op->flags != 0 && !(op->flags & ROCE_OP_DETH))
			return true;
	}
	return false;
}

/* Right numbers, wrong address: whatever it says is dropped and counted, and nobody is answered. */
UNIT_RULE(source__spoofed_by_another_host_is_dropped)
{
	struct roce_qp_connect other = connection;
	struct fx_peer unknown;
	unsigned int opcode = UINT32_MAX;
	uint64_t n = 0;

	other.path.dst_ip = fx_ip(98);
	unknown = fx_peer_of(qp, &other);
	while (next_opcode(&opcode)) {
		/* Also exactly those that are expected. */
		fx_rx(&end, forge(&unknown, (uint8_t)opcode, FX_RQ_PSN + 1));
		fx_rx(&end, forge(&unknown, (uint8_t)opcode, FX_SQ_PSN + 1));
		fx_rx(&end, forge(&unknown, (uint8_t)opcode, FX_RQ_PSN));
		n += 3;
	}
	assert_int_equal(said(), 0);
	assert_int_equal(fx_stats(&end)->rx_wrong_source, n);
	goes_on();
}

/* The peer's address, but over the other family, is another address. */
UNIT_RULE(source__of_another_family_is_dropped)
{
	struct roce_qp_connect other = connection;
	struct fx_peer unknown;

	other.path.dst_ip = (struct roce_ip){ .w = { RTE_BE32(0x20010db8), 0, 0, fx_ip(99).w[3] } };
	other.path.src_ip = (struct roce_ip){ .w = { RTE_BE32(0x20010db8), 0, 0, fx_ip(1).w[3] } };
	unknown = fx_peer_of(qp, &other);
	for (unsigned int i = 0; i < 16; i++) {
		struct rte_mbuf *m = forge(&unknown, SEND, FX_RQ_PSN + 1);

		roce_engine_lock(end.engine);
		/* Not even its destination is ours: it goes to whoever owns the port beside us. */
		assert_int_equal(roce_engine_rx(end.engine, &m, 1, end.now), 1);
		roce_engine_unlock(end.engine);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(said(), 0);
	goes_on();
}

/* Queue pair numbers by guessing: all that are near, and those of the same place of other generations. */
UNIT_RULE(qpn__guessed_finds_nothing)
{
	const uint32_t number = roce_qp_number(qp);
	uint64_t n = 0;

	for (uint32_t bit = 0; bit < 24; bit++) {
		for (uint32_t k = 0; k < 8; k++) {
			const uint32_t guess = (number ^ 1u << bit ^ k << (bit / 2)) & 0xffffff;
			struct fx_peer to = peer;

			if (guess == number || guess == ROCE_QPN_GSI)
				continue;
			roce_template_init(&to.template,
					&(struct roce_path){ .src_ip = fx_ip(99),
							.dst_ip = fx_ip(1),
							.udp_sport = 50001,
							.ttl = 64 },
					guess, false);
			fx_rx(&end, forge(&to, SEND, FX_RQ_PSN + 1));
			fx_rx(&end, fx_answer(&to, FX_ACK, FX_SQ_PSN + 3, 4));
			n += 2;
		}
	}
	assert_int_equal(said(), 0);
	assert_int_equal(fx_stats(&end)->rx_unknown_qp, n);
	goes_on();
}

/* A number that lived once names nothing when its place is used again. */
UNIT_RULE(qpn__of_a_dead_connection_finds_nothing)
{
	struct fx_peer old = peer;

	roce_qp_destroy(qp);
	qp = fx_play(&end, NULL, &connection, &peer);
	for (uint32_t psn = 0; psn < 64; psn++)
		fx_rx(&end, forge(&old, SEND, FX_RQ_PSN + psn));
	assert_int_equal(said(), 0);
	assert_int_equal(fx_stats(&end)->rx_unknown_qp, 64);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/* A PSN that is not the expected one, of a request; half of them ahead, half behind. */
static uint32_t
wrong_request_psn(void)
{
	const uint32_t off = 2 + (uint32_t)rand() % (ROCE_PSN_MASK - 2);

	return roce_psn_add(FX_RQ_PSN, off);
}

/* A PSN of an answer that nothing under way has. */
static uint32_t
wrong_answer_psn(void)
{
	return roce_psn_add(FX_SQ_PSN, 4 + (uint32_t)rand() % (ROCE_PSN_MASK - 4));
}

/* Address and number are right, the PSN is a guess: no more is said than heard, and in the end hardly anything. */
UNIT_RULE(psn__guessed_moves_nothing)
{
	unsigned int in = 0, out = 0;

	srand(1);
	for (unsigned int round = 0; round < 500; round++) {
		for (unsigned int opcode = UINT32_MAX; next_opcode(&opcode);) {
			const bool request = roce_opcode[opcode].flags & ROCE_OP_REQUEST;
			unsigned int n;

			if (roce_opcode[opcode].flags & ROCE_OP_CNP)
				continue;
			fx_rx(&end,
					forge(&peer, (uint8_t)opcode,
							request ? wrong_request_psn()
								: wrong_answer_psn()));
			n = said();
			assert_in_range(n, 0, 1);
			out += n;
			in++;
		}
	}
	assert_true(in > 10000);
	/* Not one tick passed: all they got is what is there at once. */
	assert_in_range(out, 1, ROCE_ODD_ANSWERS_BURST + 1);
	assert_int_equal(fx_stats(&end)->rx_send_requests, 1);
	goes_on();
}

/* Duplicates at the speed of a fast line: the answers to them are rationed, whatever time passes. */
UNIT_RULE(psn__behind_is_answered_no_faster_than_the_ration)
{
	const unsigned int frames = 20000;
	const uint64_t start = end.now;
	unsigned int out = 0;
	uint64_t us;

	for (unsigned int i = 0; i < frames; i++) {
		fx_rx_request(&end, &peer, SEND, FX_RQ_PSN - (i % 1000), 8, 0);
		end.now += 500; /* 2 million frames a second */
		out += said();
	}
	us = (end.now - start) * 1000000 / FX_HZ;
	assert_in_range(out, 1, ROCE_ODD_ANSWERS_BURST + 1 + us * ROCE_ODD_ANSWERS_HZ / 1000000);
	assert_int_equal(fx_stats(&end)->resp_answers_limited, frames - out);
	assert_int_equal(fx_stats(&end)->duplicate_request, frames);
	goes_on();
}

/* A storm of frames far ahead draws one NAK, and the peer's next frame closes the gap that never was. */
UNIT_RULE(psn__ahead_draws_one_nak)
{
	unsigned int out = 0;

	for (unsigned int i = 1 + ROCE_HELD_AHEAD; i < 5000; i++) {
		fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + i, 8, FX_ACKREQ);
		end.now += 1000;
		out += said();
	}
	assert_int_equal(out, 1);
	goes_on();
}

/* Of frames a little ahead a window is held, and nothing is done of them as long as the peer's are missing. */
UNIT_RULE(psn__ahead_waits_for_the_peer)
{
	for (unsigned int i = 3; i < 5000; i++)
		fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + i, 8, FX_ACKREQ);
	assert_int_equal(said(), 1);
	assert_int_equal(end.engine->held, ROCE_HELD_QP);
	goes_on();
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/* The NAKs of a sender that opens and closes gaps by turns, so that each frame could draw one, are rationed, too. */
UNIT_RULE(psn__alternating_is_rationed)
{
	const uint64_t start = end.now;
	unsigned int out = 0;
	uint64_t us;

	for (unsigned int i = 0; i < 20000; i++) {
		fx_rx_request(&end, &peer, SEND, i % 2 ? FX_RQ_PSN : FX_RQ_PSN + 9, 8, FX_ACKREQ);
		end.now += 500;
		out += said();
	}
	us = (end.now - start) * 1000000 / FX_HZ;
	assert_in_range(out, 1, ROCE_ODD_ANSWERS_BURST + 2 + us * ROCE_ODD_ANSWERS_HZ / 1000000);
	goes_on();
}

/* A flood beside traffic: what the peer sends is acknowledged as if there were none. */
UNIT_RULE(psn__flood_does_not_starve_the_peer)
{
	uint32_t psn = FX_RQ_PSN + 1;

	for (unsigned int round = 0; round < 7; round++) {
		const struct fx_sent *sent;

		for (unsigned int i = 0; i < 2000; i++)
			fx_rx_request(&end, &peer, SEND, FX_RQ_PSN - i, 8, FX_ACKREQ);
		(void)said();
		fx_rx_request(&end, &peer, SEND, psn, 8, FX_ACKREQ);
		sent = fx_tx_exactly(&end, 1);
		assert_fields(sent[0], (psn, psn), (syndrome, FX_ACK));
		assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
		psn++;
	}
}

/* Acknowledgements of what was never sent, or long done: nothing completes, nothing is sent again. */
UNIT_RULE(answers__of_ghosts_complete_nothing)
{
	static const uint8_t syndrome[] = { FX_ACK, FX_NAK(0), FX_NAK(1), FX_NAK(2), FX_NAK(3),
		FX_NAK(4), FX_RNR(1), FX_RNR(31), 0x00, 0x1e, 0x40, 0x80, 0xff };

	srand(2);
	for (unsigned int i = 0; i < 20000; i++) {
		fx_rx(&end,
				fx_answer(&peer, syndrome[i % RTE_DIM(syndrome)],
						wrong_answer_psn(),
						(uint32_t)rand() & ROCE_PSN_MASK));
		assert_int_equal(said(), 0);
	}
	assert_int_equal(fx_stats(&end)->retransmits, 0);
	goes_on();
}

/* A broken ICRC is enough, too: nothing else of the frame is believed, not even that it is an attack. */
UNIT_RULE(icrc__wrong_is_dropped)
{
	unsigned int opcode = UINT32_MAX;
	uint64_t n = 0;

	while (next_opcode(&opcode)) {
		struct rte_mbuf *m = forge(&peer, (uint8_t)opcode, FX_RQ_PSN + 1);

		rte_pktmbuf_mtod(m, uint8_t *)[m->data_len - 1] ^= 1;
		fx_rx(&end, m);
		n++;
	}
	assert_int_equal(said(), 0);
	assert_int_equal(fx_stats(&end)->rx_icrc_encapsulated, n);
	/* Of the receives, which are all in one place, one may have been written at (docs/rc.md). */
	memcpy(before, end.memory, 2 * MTU);
	goes_on();
}

/* Congestion notifications by the thousand slow a sender down to its least rate; it neither stops nor ends. */
UNIT_RULE(notifications__forged_stop_nobody)
{
	for (unsigned int i = 0; i < 20000; i++) {
		fx_rx(&end, forge(&peer, ROCE_OPCODE_CNP, 0));
		end.now += 10;
	}
	assert_int_equal(said(), 0);
	/* 0.2 ms: not more than one reduction each 50 microseconds. */
	assert_in_range(fx_stats(&end)->rp_cnp_handled, 1, 5);
	goes_on();
}
