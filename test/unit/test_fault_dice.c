/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of queue pairs on purpose: messages that are refused though there is a receive, requests that fail. */

#include "fixture.h"
#include "fixture_rdma.h"
#include "queue/fault_dice.h"
#include "queue/mw.h"
#include "rules.h"

#define ALWAYS   (UINT64_C(1) << 32)
#define QUARTER  (ALWAYS / 4)
#define MESSAGES 64u
#define LEN      64u

static struct fx_end end;
static struct roce_qp *qp;
static struct fx_peer peer;

static void
open_end(struct roce_fault_config faults)
{
	const struct fx_options options = { .faults = faults };

	fx_end_open(&end, 1, &options);
	qp = fx_played_qp(&end, &peer);
}

static int
teardown(void **state)
{
	if (end.domain != NULL)
		fx_end_close(&end);
	return fx_left();
}

/* A packet of the peer. @return was it answered with an RNR NAK? Else it is acknowledged. */
static bool
refused(uint8_t opcode, uint32_t psn, uint32_t len)
{
	struct fx_sent answer;

	fx_rx_request(&end, &peer, opcode, psn, len, FX_ACKREQ);
	answer = fx_tx_one(&end);
	assert_fields(answer, (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (psn, psn));
	if ((answer.syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK)
		return false;
	/* The timer that was agreed upon. */
	assert_int_equal(answer.syndrome, FX_RNR(12));
	return true;
}

/* Messages, each sent until it arrives; bit i: message i was refused at first. @p late: receives come after the first try. */
static uint64_t
fates(uint64_t seed, unsigned int others, bool late)
{
	uint64_t mask = 0;

	open_end((struct roce_fault_config){ .seed = seed, .rnr = QUARTER });
	for (unsigned int i = 0; i < others; i++)
		qp = fx_played_qp(&end, &peer);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const uint32_t psn = FX_RQ_PSN + i;

		if (late)
			assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN));
		fx_fill_srq(&end, 1, LEN);
		if (!refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN))
			continue;
		mask |= UINT64_C(1) << i;
		while (refused(IBV_OPCODE_RC_SEND_ONLY, psn, LEN))
			;
	}
	assert_int_equal(fx_stats(&end)->rx_send_requests, MESSAGES);
	assert_int_equal(fx_stats(&end)->out_of_buffer, late ? MESSAGES : 0);
	assert_true(fx_stats(&end)->injected_rnr_naks >= (uint64_t)__builtin_popcountll(mask));
	fx_end_close(&end);
	return mask;
}

/* Which messages are refused is a function of the seed, of the queue pair and of the order of messages; no time has a say. */
UNIT_RULE_IN(rnr__falls_by_seed_and_queue_pair, NULL, teardown)
{
	const uint64_t mask = fates(1, 0, false);

	assert_in_range(__builtin_popcountll(mask), MESSAGES / 8, MESSAGES * 3 / 8);
	assert_true(fates(1, 0, false) == mask);
	assert_true(fates(1, 0, true) == mask);
	assert_true(fates(2, 0, false) != mask);
	assert_true(fates(1, 1, false) != mask);
}

/* The receive stays where it is, and the next message has it; silence as behind a queue that is empty. */
UNIT_RULE_IN(rnr__takes_no_receive, NULL, teardown)
{
	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	fx_fill_srq(&end, 1, LEN);
	assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
	fx_expect_counts(end.srq, 256, 1, 1);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + 1, LEN, FX_ACKREQ);
	fx_tx_none(&end);
	assert_fields(*fx_stats(&end), (injected_rnr_naks, 1), (rnr_nak_sent, 1),
			(out_of_buffer, 0));
}

/* Once begun, a message is not refused any more. */
UNIT_RULE_IN(rnr__is_for_first_packets, NULL, teardown)
{
	open_end((struct roce_fault_config){ .seed = 3, .rnr = QUARTER });
	for (uint32_t i = 0; i < 3 * MESSAGES; i += 3) {
		fx_fill_srq(&end, 1, 3 * FX_MTU);
		while (refused(IBV_OPCODE_RC_SEND_FIRST, FX_RQ_PSN + i, FX_MTU))
			;
		assert_false(refused(IBV_OPCODE_RC_SEND_MIDDLE, FX_RQ_PSN + i + 1, FX_MTU));
		assert_false(refused(IBV_OPCODE_RC_SEND_LAST, FX_RQ_PSN + i + 2, 1));
	}
	assert_true(fx_stats(&end)->injected_rnr_naks > 0);
}

/* A request of the peer about this end's memory. */
static bool
write_refused(uint8_t opcode, uint32_t psn, const struct fx_target *target)
{
	fx_rx(&end, fx_about(&peer, opcode, psn, target->length, target, FX_ACKREQ));
	return fx_tx_one(&end).syndrome == FX_RNR(12);
}

/* A WRITE takes a receive for its immediate data alone. */
UNIT_RULE_IN(rnr__is_for_what_takes_a_receive, NULL, teardown)
{
	struct fx_target target = { .length = 8 };

	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	fx_fill_srq(&end, 1, LEN);
	target.va = (uintptr_t)end.memory;
	target.rkey = roce_mr_key(fx_mr(end.pd, target.va, FX_MEMORY, FX_ALL));
	assert_false(write_refused(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN, &target));
	assert_true(write_refused(
			IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, FX_RQ_PSN + 1, &target));
	fx_expect_counts(end.srq, 256, 1, 1);
}

/* Other checks where a receive is taken begin and end, and the dice are thrown all the same. */
UNIT_RULE_IN(rnr__goes_on_behind_watermarks, NULL, teardown)
{
	open_end((struct roce_fault_config){ .rnr = ALWAYS });
	roce_qp_set_watermarks(qp, 5, 6);
	roce_qp_set_watermarks(qp, ROCE_HIGH_NONE, ROCE_HIGH_NONE);
	fx_fill_srq(&end, 1, LEN);
	assert_true(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
}

/* Without faults the fast path has every message. */
UNIT_RULE_IN(rnr__off_checks_nothing, NULL, teardown)
{
	open_end((struct roce_fault_config){ .seed = 1 });
	assert_int_equal(qp->rx.checks, 0);
	fx_fill_srq(&end, 1, LEN);
	assert_false(refused(IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, LEN));
}

static void
expect_end(uint64_t wr_id, enum ibv_wc_status status)
{
	struct roce_event event;

	assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 1);
	assert_fields(event, (wr_id, wr_id), (status, status));
}

/* Requests, each posted when the one before has ended; bit i: request i failed. A queue pair that broke is connected again. */
static uint64_t
failures(uint64_t seed, unsigned int others)
{
	struct roce_qp_connect connect;
	uint64_t mask = 0;
	uint32_t sent = 0;

	open_end((struct roce_fault_config){ .seed = seed, .wc_error = QUARTER });
	connect = fx_connect(&end, fx_ip(99), 0x777);
	for (unsigned int i = 0; i < others; i++)
		qp = fx_played_qp(&end, &peer);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		assert_int_equal(fx_send(&end, qp, i, 0, LEN, i & 1 ? ROCE_WR_SIGNALED : 0), 0);
		if (fx_tx_drop(&end) == 0) {
			mask |= UINT64_C(1) << i;
			expect_end(i, IBV_WC_RETRY_EXC_ERR);
			assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
			fx_to_reset(qp);
			fx_up(qp, &connect);
			sent = 0;
			continue;
		}
		fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + sent++);
		if (i & 1)
			expect_end(i, IBV_WC_SUCCESS);
	}
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	assert_fields(*fx_stats(&end), (injected_wc_errors, __builtin_popcountll(mask)),
			(req_transport_retries_exceeded, 0), (req_local_protection_error, 0));
	fx_end_close(&end);
	return mask;
}

/* Which requests fail is a function of the seed, of the queue pair and of the order of requests, on all its connections. */
UNIT_RULE_IN(wc_error__falls_by_seed_and_queue_pair, NULL, teardown)
{
	const uint64_t mask = failures(1, 0);

	assert_in_range(__builtin_popcountll(mask), MESSAGES / 8, MESSAGES * 3 / 8);
	assert_true(failures(1, 0) == mask);
	assert_true(failures(2, 0) != mask);
	assert_true(failures(1, 1) != mask);
}

/* The first request that fails, of many that are posted together: those before it are done, and those behind it flushed. */
UNIT_RULE_IN(wc_error__ends_the_queue_pair_in_order, NULL, teardown)
{
	const unsigned int first = (unsigned int)__builtin_ctzll(failures(5, 0));

	assert_in_range(first, 2, MESSAGES - 2);
	open_end((struct roce_fault_config){ .seed = 5, .wc_error = QUARTER });
	fx_send_many(&end, qp, MESSAGES, LEN, ROCE_WR_SIGNALED);
	/* Frames of the requests before it alone, the last of which asks for an acknowledgement. */
	fx_tx_drop(&end);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	/* A loss on the way changes nothing. */
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), FX_SQ_PSN + 1);
	assert_true(fx_tx_exactly(&end, first - 1)[first - 2].ack_req);
	expect_end(0, IBV_WC_SUCCESS);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + first - 1);
	for (unsigned int i = 1; i < first; i++)
		expect_end(i, IBV_WC_SUCCESS);
	expect_end(first, IBV_WC_RETRY_EXC_ERR);
	for (unsigned int i = first + 1; i < MESSAGES; i++)
		expect_end(i, IBV_WC_WR_FLUSH_ERR);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_BROKEN);
	assert_int_equal(end.async_event[0].status, IBV_WC_RETRY_EXC_ERR);
	fx_tx_none(&end);
	assert_int_equal(fx_stats(&end)->injected_wc_errors, 1);
}

/* A bind needs no peer: it is done, and the request behind it fails. One that cannot be done ends as ever. */
UNIT_RULE_IN(wc_error__is_for_what_needs_the_peer, NULL, teardown)
{
	struct roce_mw_bind bind = { .access = IBV_ACCESS_REMOTE_READ, .length = LEN };
	const struct roce_wr wr = {
		.bind = &bind, .opcode = IBV_WR_BIND_MW, .flags = ROCE_WR_SIGNALED
	};
	struct roce_mr *mr;

	open_end((struct roce_fault_config){ .wc_error = ALWAYS });
	assert_int_equal(roce_mw_create(end.pd, NULL, &bind.mw), 0);
	bind.addr = (uintptr_t)end.memory;
	for (unsigned int gone = 0; gone < 2; gone++) {
		mr = fx_mr(end.pd, bind.addr, FX_MEMORY, FX_ALL | ROCE_ACCESS_LOCAL_READ);
		bind.mr_key = roce_mr_key(mr);
		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		assert_int_equal(fx_send(&end, qp, 1, 0, LEN, 0), 0);
		if (gone)
			assert_int_equal(roce_mr_destroy(mr), 0);
		fx_tx_none(&end);
		expect_end(0, gone ? IBV_WC_MW_BIND_ERR : IBV_WC_SUCCESS);
		expect_end(1, gone ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR);
		qp = fx_played_qp(&end, &peer);
	}
	roce_mw_destroy(bind.mw);
}

/* Without faults no request is looked at before it is sent. */
UNIT_RULE_IN(wc_error__off_checks_nothing, NULL, teardown)
{
	open_end((struct roce_fault_config){ .seed = 1, .rnr = ALWAYS });
	assert_false(roce_qp_one_by_one(qp));
}
