/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester, send side: the frames of a post, when it stops sending, when it asks for an acknowledgement. */

#include <string.h>
#include <sys/mman.h>

#include "played_scene.h"
#include "send_opcodes.h"

#define PSN FX_SQ_PSN
#define MTU FX_MTU

static int
setup(void **state)
{
	open_ordinary_scene();
	return 0;
}

static void
post(uint64_t wr_id, uint32_t len, uint8_t flags)
{
	assert_int_equal(fx_send(&end, qp, wr_id, 0, len, flags), 0);
}

static void
post_many(uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++)
		post(i, len, ROCE_WR_SIGNALED);
}

static void
acknowledge(uint32_t number)
{
	fx_rx_answer(&end, &peer, FX_ACK, roce_psn_add(PSN, number));
}

static void
expect_only(const struct fx_sent *sent, unsigned int n, uint32_t number)
{
	for (unsigned int i = 0; i < n; i++) {
		assert_fields(sent[i], (opcode, ONLY), (psn, PSN + number + i));
	}
}

/* A message becomes packets of one MTU and a rest; the memory stands in them in order. */
UNIT_RULE(emit__cuts_a_message)
{
	static const struct {
		uint32_t len;
		unsigned int frames;
		uint32_t last_len;
	} rule[] = {
		{ 0, 1, 0 },
		{ 1, 1, 1 },
		{ MTU - 1, 1, MTU - 1 },
		{ MTU, 1, MTU },
		{ MTU + 1, 2, 1 },
		{ 2 * MTU, 2, MTU },
		{ 2 * MTU + 1, 3, 1 },
		{ 20 * MTU, 20, MTU },
	};
	uint32_t psn = PSN;

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		unsigned int n;
		const struct fx_sent *sent;

		post(i, rule[i].len, ROCE_WR_SIGNALED);
		sent = fx_tx_all(&end, &n);
		assert_int_equal(n, rule[i].frames);
		for (unsigned int k = 0; k < n; k++) {
			const bool last = k == n - 1;
			const uint8_t whole = last ? ONLY : FIRST;
			const uint8_t part = last ? LAST : MIDDLE;

			assert_fields(sent[k], (opcode, k == 0 ? whole : part), (dest_qp, 0x777),
					(psn, psn++), (payload_len, last ? rule[i].last_len : MTU));
			if (sent[k].payload_len > 0)
				assert_int_equal(sent[k].first, end.memory[(size_t)k * MTU]);
			assert_int_equal(sent[k].ack_req, last);
		}
		fx_rx_answer(&end, &peer, FX_ACK, psn - 1);
		assert_int_equal(fx_event(end.send_cq).byte_len, rule[i].len);
	}
}

/* Every MTU: the longest message takes 2^31 / MTU packets, and its number is not lost in 24 bits. */
UNIT_RULE(emit__counts_the_packets_of_the_longest_message)
{
	const size_t len = ROCE_MSG_MAX;
	void *memory = mmap(
			NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct roce_mr *mr;

	assert_ptr_not_equal(memory, MAP_FAILED);
	mr = fx_mr(end.pd, (uintptr_t)memory, len, 0);
	for (uint8_t code = 1; code <= 5; code++) {
		struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		const struct roce_sge sge = { (uintptr_t)memory, ROCE_MSG_MAX, roce_mr_key(mr) };
		const struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
		const struct fx_sent *sent;
		unsigned int n;

		connect.path.mtu_code = code;
		roce_qp_destroy(qp);
		qp = fx_play(&end, NULL, &connect, &peer);
		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		post(2, 8, ROCE_WR_SIGNALED);
		sent = fx_tx_all(&end, &n);
		assert_int_equal(n, ROCE_WINDOW);
		assert_int_equal(sent[n - 1].opcode, MIDDLE);
		assert_int_equal(roce_wq_slot(&qp->wq, 0)->packets,
				ROCE_MSG_MAX / roce_mtu_bytes(code));
		/* A window acknowledged is a window further, and nothing is done yet. */
		acknowledge(ROCE_WINDOW - 1);
		sent = fx_tx_exactly(&end, ROCE_WINDOW);
		assert_int_equal(sent[0].psn, PSN + ROCE_WINDOW);
		assert_int_equal(roce_cq_count(end.send_cq), 0);
		/* A rewind into it finds the place. */
		fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + ROCE_WINDOW + 100);
		sent = fx_tx_all(&end, &n);
		assert_fields(sent[0], (psn, PSN + ROCE_WINDOW + 100), (opcode, MIDDLE));
	}
	roce_mr_destroy(mr);
	assert_int_equal(munmap(memory, len), 0);
}

/* Proves: rc.R17 */
UNIT_RULE(emit__gathers_the_segments)
{
	const struct roce_sge sge[] = {
		{ (uintptr_t)end.memory + 10, 1000, end.key },
		{ (uintptr_t)end.memory + 3000, 0, end.key },
		{ (uintptr_t)end.memory + 5000, 24, end.key },
		{ (uintptr_t)end.memory + 7000, 9, end.key },
	};
	const struct roce_wr wr = { .sg = sge, .num_sge = 4, .opcode = IBV_WR_SEND };
	const struct fx_sent *sent;

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].first, end.memory[10]);
	assert_fields(sent[1], (payload_len, 9), (first, end.memory[7000]));
}

/* Immediate data and the wish for a wake-up stand in the last packet only. */
UNIT_RULE(emit__puts_immediate_data_and_solicitation_last)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, 2 * MTU + 1, end.key };
	struct roce_wr wr = {
		.sg = &sge,
		.num_sge = 1,
		.imm = FX_IMM,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.flags = ROCE_WR_SOLICITED | ROCE_WR_SIGNALED,
	};
	const struct fx_sent *sent;

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	sent = fx_tx_exactly(&end, 3);
	assert_int_equal(sent[0].opcode, FIRST);
	assert_int_equal(sent[1].opcode, MIDDLE);
	assert_int_equal(sent[2].opcode, LAST_IMM);
	assert_false(sent[0].solicited || sent[1].solicited);
	assert_fields(sent[2], (solicited, true), (imm, FX_IMM),
			(first, end.memory[(size_t)2 * MTU]));
	acknowledge(2);
	assert_int_equal(fx_event(end.send_cq).opcode, IBV_WR_SEND_WITH_IMM);

	wr.num_sge = 0;
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	assert_int_equal(fx_tx_one(&end).opcode, ONLY_IMM);
}

/* An answer is asked for at the end of what is posted, and every 32 frames on the way there. */
UNIT_RULE(emit__asks_before_it_falls_silent)
{
	const struct fx_sent *sent;
	unsigned int n;

	qp->tx.credits_known = true;
	post_many(100, 8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 100);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(sent[i].ack_req, i % ROCE_ACKREQ_EVERY == 31 || i == 99);
}

/* The first answer may bring credits for fewer messages than were sent: each of them may be the last for now. */
UNIT_RULE(emit__asks_each_time_until_it_knows_of_credits)
{
	const struct fx_sent *sent;
	unsigned int n;

	post_many(3, 8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 3);
	for (unsigned int i = 0; i < n; i++)
		assert_true(sent[i].ack_req);
	acknowledge(2);
	post_many(3, 8);
	sent = fx_tx_exactly(&end, 3);
	assert_false(sent[0].ack_req || sent[1].ack_req);
	assert_true(sent[2].ack_req);
}

/* At most 128 packets are in flight, the last of them asks, and each answer makes room for as many. */
UNIT_RULE(emit__stops_at_the_window)
{
	const struct fx_sent *sent;
	unsigned int n;

	post_many(200, 8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, ROCE_WINDOW);
	assert_true(sent[n - 1].ack_req);
	expect_only(sent, n, 0);
	fx_tx_none(&end);
	acknowledge(0);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 1);
	expect_only(sent, n, ROCE_WINDOW);
	assert_true(sent[0].ack_req);
	acknowledge(10);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 10);
	assert_true(sent[9].ack_req);
	acknowledge(ROCE_WINDOW + 10);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 200 - ROCE_WINDOW - 11);
	assert_true(sent[n - 1].ack_req);
}

/* PSNs go round at 2^24: window, rewind and acknowledgement do not notice. */
UNIT_RULE(emit__goes_round_at_2_24)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	const struct fx_sent *sent;
	unsigned int n;

	connect.sq_psn = 0xfffff0;
	fx_to_reset(qp);
	fx_up(qp, &connect);
	post_many(150, 8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, ROCE_WINDOW);
	assert_int_equal(sent[15].psn, 0xffffff);
	assert_int_equal(sent[16].psn, 0);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), 5);
	assert_int_equal(roce_cq_count(end.send_cq), 21);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(sent[0].psn, 5);
	fx_rx_answer(&end, &peer, FX_ACK, sent[n - 1].psn);
	assert_int_equal(roce_cq_count(end.send_cq), 149);
	assert_int_equal(n, ROCE_WINDOW);
}

/* The peer's credits are a limit on messages; at the limit one message may go as a probe, when all is quiet. */
UNIT_RULE(emit__stops_at_the_credits_and_probes)
{
	const struct fx_sent *sent;

	post(0, 8, ROCE_WR_SIGNALED);
	(void)fx_tx_one(&end);
	/* One message arrived, two more are welcome. */
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 2, PSN, 1));
	post_many(10, 8);
	sent = fx_tx_exactly(&end, 2);
	assert_false(sent[0].ack_req);
	assert_true(sent[1].ack_req);
	/* Both arrived, no credit: a probe. */
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 0, PSN + 2, 3));
	assert_true(fx_tx_one(&end).ack_req);
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 0, PSN + 3, 4));
	assert_true(fx_tx_one(&end).ack_req);
	/* No credits at all any more: no limit. */
	fx_rx(&end, fx_answer(&peer, FX_ACK, PSN + 4, 5));
	assert_int_equal(fx_tx_drop(&end), 6);
}

/* A message that began goes on to its end whatever the credits say meanwhile. */
UNIT_RULE(emit__finishes_a_message_without_credit)
{
	const struct fx_sent *sent;
	unsigned int n;

	post(0, 40 * MTU, ROCE_WR_SIGNALED);
	post(1, 8, ROCE_WR_SIGNALED);
	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, 41);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + 20);
	fx_rx(&end, fx_answer(&peer, ROCE_AETH_ACK | 1, PSN + 20, 0));
	sent = fx_tx_exactly(&end, 19);
	assert_fields(sent[18], (opcode, LAST), (ack_req, true));
}

/* Where the requester stops although more is posted, it asked first: an answer must be on its way. */
UNIT_RULE(emit__never_stops_without_having_asked)
{
	const struct fx_sent *sent;
	unsigned int n;
	unsigned int seed = 3;

	for (unsigned int round = 0; round < 300; round++) {
		bool asked = false;
		uint32_t last = 0;
		uint32_t messages = 1 + (uint32_t)rand_r(&seed) % 6;

		for (uint32_t i = 0; i < messages; i++)
			post(i, (uint32_t)rand_r(&seed) % (10 * MTU), 0);
		sent = fx_tx_all(&end, &n);
		for (unsigned int i = 0; i < n; i++) {
			asked = sent[i].ack_req;
			last = sent[i].psn;
		}
		if (n > 0)
			assert_true(asked);
		while (qp->tx.una != qp->tx.max) {
			fx_rx(&end,
					fx_answer(&peer, (uint8_t)(rand_r(&seed) % 4), last,
							qp->tx.ssn - 1));
			sent = fx_tx_all(&end, &n);
			if (n > 0) {
				assert_true(sent[n - 1].ack_req);
				last = sent[n - 1].psn;
			}
		}
	}
}

/*
 * Room for few frames only: what is sent is the same sequence.
 *
 * Proves: rc.R10
 */
UNIT_RULE(emit__takes_any_room)
{
	struct fx_sent sent;

	post(0, 3 * MTU, ROCE_WR_SIGNALED);
	post(1, 8, ROCE_WR_SIGNALED);
	for (uint32_t i = 0; i < 4; i++) {
		struct rte_mbuf *m;

		assert_int_equal(fx_take(&end, &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(fx_tx(&end, &sent, 1), 0);
	acknowledge(3);
	assert_int_equal(roce_cq_count(end.send_cq), 2);
}

/*
 * The pool is empty: nothing is sent, nothing is lost, and it goes on when frames come back.
 *
 * Proves: rc.R10
 */
UNIT_RULE(emit__waits_for_frames)
{
	static struct rte_mbuf *all[2000];
	unsigned int n = 0, frames;

	post_many(3, 8);
	while ((all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	fx_tx_none(&end);
	assert_int_equal(roce_engine_deadline(end.engine), 0);
	rte_pktmbuf_free_bulk(all, n);
	expect_only(fx_tx_all(&end, &frames), 3, 0);
	assert_int_equal(frames, 3);
}

static struct roce_mr *
post_from_other_memory(uint64_t wr_id, uint32_t len)
{
	struct roce_sge sge = { (uintptr_t)end.memory, len, 0 };
	const struct roce_wr wr = {
		.wr_id = wr_id, .sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND
	};
	struct roce_mr *mr = fx_mr(end.pd, sge.addr, len, 0);

	sge.lkey = roce_mr_key(mr);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	return mr;
}

static void
expect_ends(uint64_t first, unsigned int n, const enum ibv_wc_status *status)
{
	struct roce_event event[16];

	assert_int_equal(roce_cq_poll(end.send_cq, event, 16), n);
	for (unsigned int i = 0; i < n; i++) {
		assert_fields(event[i], (wr_id, first + i), (status, status[i]));
	}
}

/*
 * Memory deregistered under a queued request: it fails, but only when those before it are through.
 *
 * Proves: rc.R8
 */
UNIT_RULE(emit__fails_a_request_whose_memory_is_gone)
{
	static const enum ibv_wc_status want[] = { IBV_WC_SUCCESS, IBV_WC_SUCCESS,
		IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR };
	const struct fx_sent *sent;
	unsigned int n;

	post(0, 8, ROCE_WR_SIGNALED);
	post(1, 8, ROCE_WR_SIGNALED);
	roce_mr_destroy(post_from_other_memory(2, 8));
	post(3, 8, 0);
	sent = fx_tx_all(&end, &n);
	expect_only(sent, 2, 0);
	/* Those two may be sent again, to ask; nothing behind them leaves. */
	for (unsigned int i = 2; i < n; i++)
		assert_in_range(sent[i].psn, PSN, PSN + 1);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	acknowledge(0);
	assert_int_equal(end.async_events, 0);
	acknowledge(1);
	assert_fields(end.async_event[0], (kind, ROCE_ENGINE_ASYNC_QP_BROKEN),
			(status, IBV_WC_LOC_PROT_ERR));
	/* Unsignalled requests fail loudly too. */
	expect_ends(0, 4, want);
	fx_tx_none(&end);
}

/* The same when it is the oldest one, and in the middle of a message. */
UNIT_RULE(emit__fails_at_once_when_nothing_is_before)
{
	static const enum ibv_wc_status want[] = { IBV_WC_LOC_PROT_ERR };
	struct roce_mr *mr;

	roce_mr_destroy(post_from_other_memory(0, 8));
	fx_tx_none(&end);
	expect_ends(0, 1, want);
	teardown(state);
	setup(state);

	mr = post_from_other_memory(0, 200 * MTU > FX_MEMORY ? FX_MEMORY : 200 * MTU);
	(void)fx_tx(&end, (struct fx_sent[4]){ 0 }, 4);
	roce_mr_destroy(mr);
	assert_int_equal(fx_tx_drop(&end), 0);
	expect_ends(0, 1, want);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* The message in front of one that cannot be sent must not wait for a timeout: a frame must ask for its answer. */
UNIT_RULE(emit__asks_before_a_request_whose_memory_is_gone)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	bool asked = false;
	const struct fx_sent *sent;
	unsigned int n;

	connect.ack_timeout = 0; /* no timer comes to help */
	fx_to_reset(qp);
	fx_up(qp, &connect);
	post(0, 8, ROCE_WR_SIGNALED);
	roce_mr_destroy(post_from_other_memory(1, 8));
	sent = fx_tx_all(&end, &n);
	for (unsigned int i = 0; i < n; i++)
		asked |= sent[i].ack_req;
	assert_true(asked);
}
