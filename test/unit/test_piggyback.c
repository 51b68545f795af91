/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements in requests: when one waits for the answer of its program, what carries it, what it does at the peer. */

#include "requester/req.h"
#include "fixture.h"

#define SEND     IBV_OPCODE_RC_SEND_ONLY
#define WITH_ACK (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY)
#define QUICK    (ROCE_QUICK_US * FX_HZ / 1000000)

static struct fx_end end;
static struct roce_qp *qp;
static struct fx_peer peer;
static uint32_t heard; /**< messages of the peer */
static uint32_t posted;

static void
open_end(bool agreed)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;
	unsigned int n;

	fx_end_open(&end, 1, &(struct fx_options){ .srq_size = 256, .cq_depth = 256 });
	attr = fx_attr(&end);
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.extensions = agreed;
	qp = fx_qp(&end, &attr);
	fx_up(qp, &connect);
	peer = fx_peer_of(qp, &connect);
	fx_fill_srq(&end, 200, 64);
	heard = posted = 0;
	/* A queue pair that comes up has a turn. */
	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, 0);
}

static int
setup(void **state)
{
	open_end(true);
	return 0;
}

static int
setup_without_agreement(void **state)
{
	open_end(false);
	return 0;
}

static int
teardown(void **state)
{
	roce_qp_destroy(qp);
	fx_end_close(&end);
	return fx_left();
}

/* The peer's next message arrives, and wants to be acknowledged. */
static void
hear(void)
{
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + heard++, 8, FX_ACKREQ);
}

static void
post(void)
{
	assert_int_equal(fx_send(&end, qp, posted++, 0, 8, ROCE_WR_SIGNALED), 0);
}

/* The only frame that is sent now. */
static struct fx_sent
only(void)
{
	unsigned int n;
	const struct fx_sent *sent = fx_tx_all(&end, &n);

	assert_int_equal(n, 1);
	return sent[0];
}

static void
expect_silence(void)
{
	unsigned int n;

	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, 0);
}

/* All that the peer said is acknowledged by a frame of its own. */
static void
expect_ack(void)
{
	assert_fields(only(), (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (psn, FX_RQ_PSN + heard - 1));
}

/* Or by the request that leaves. */
static void
expect_carried(uint8_t opcode)
{
	assert_fields(only(), (opcode, opcode), (psn, FX_SQ_PSN + posted - 1),
			(acked, FX_RQ_PSN + heard - 1), (msn, heard), (syndrome, FX_ACK));
}

static void
acknowledge(void)
{
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + posted - 1);
}

/* A message that the program answers @p later ticks after its acknowledgement. */
static void
answer_one(uint64_t later)
{
	hear();
	expect_ack();
	end.now += later;
	post();
	assert_int_equal(only().opcode, SEND);
	acknowledge();
}

static void
learn(void)
{
	for (unsigned int i = 0; i < ROCE_QUICK_ENOUGH; i++)
		answer_one(QUICK - 1);
}

UNIT_RULE(request__takes_the_acknowledgement_along)
{
	hear();
	post();
	expect_carried(WITH_ACK);
	assert_fields(*fx_stats(&end), (tx_piggybacked_acks, 1), (tx_acks, 0));
	acknowledge();
	expect_silence();
}

/* Only the first one: nothing is owed any more. */
UNIT_RULE(requests__acknowledge_once)
{
	const struct fx_sent *sent;
	unsigned int n;

	hear();
	acknowledge();
	post();
	post();
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 2);
	assert_fields(sent[0], (opcode, WITH_ACK), (acked, FX_RQ_PSN));
	assert_int_equal(sent[1].opcode, SEND);
}

UNIT_RULE_IN(unagreed__acknowledgements_go_alone, setup_without_agreement, teardown)
{
	const struct fx_sent *sent;
	unsigned int n;

	learn();
	hear();
	post();
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 2);
	assert_int_equal(sent[0].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
	assert_int_equal(sent[1].opcode, SEND);
}

/* A request that cannot be sent takes nothing along: here its memory is gone. */
UNIT_RULE(acknowledgement__outlives_the_request_that_cannot_be_sent)
{
	struct roce_mr *mr = fx_mr(end.pd, (uintptr_t)end.memory, FX_MEMORY, 0);
	const struct roce_sge sge[] = { { (uintptr_t)end.memory, 4, roce_mr_key(mr) },
		{ (uintptr_t)end.memory, 4, roce_mr_key(mr) } };
	const struct roce_wr wr = { .sg = sge, .num_sge = 2, .opcode = IBV_WR_SEND };

	hear();
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	assert_int_equal(roce_mr_destroy(mr), 0);
	expect_ack();
}

UNIT_RULE(acknowledgement__waits_for_a_program_that_answers_at_once)
{
	learn();
	hear();
	expect_silence();
	/* A thread that sleeps must not sleep longer. */
	assert_int_equal(roce_engine_deadline(end.engine), end.now + QUICK);
	end.now += QUICK - 1;
	expect_silence();
	post();
	expect_carried(WITH_ACK);
	acknowledge();
	hear();
	expect_silence();
}

UNIT_RULE(acknowledgement__goes_alone_when_no_answer_comes_in_time)
{
	learn();
	hear();
	expect_silence();
	end.now += QUICK;
	expect_ack();
	/* And it waits no more until the program has answered that often again. */
	learn();
	hear();
	expect_silence();
}

/* The program has to be seen to answer: often enough, each time, and soon. */
UNIT_RULE(patience__is_learned)
{
	for (unsigned int i = 0; i + 1 < ROCE_QUICK_ENOUGH; i++)
		answer_one(QUICK - 1);
	answer_one(QUICK);
	for (unsigned int i = 0; i + 1 < ROCE_QUICK_ENOUGH; i++)
		answer_one(0);
	/* One that is not answered. */
	hear();
	expect_ack();
	for (unsigned int i = 0; i + 1 < ROCE_QUICK_ENOUGH; i++)
		answer_one(0);
	hear();
	expect_ack();
	end.now += QUICK;
	learn();
	hear();
	expect_silence();
}

/* A slow answer still takes along what waits, and is the last to find it waiting. */
UNIT_RULE(patience__ends_with_a_slow_answer)
{
	learn();
	hear();
	expect_silence();
	end.now += 10 * QUICK;
	post();
	expect_carried(WITH_ACK);
	acknowledge();
	hear();
	expect_ack();
}

/* A peer that repeats a request has waited long enough. */
UNIT_RULE(patience__ends_with_a_duplicate)
{
	const struct fx_sent *sent;

	learn();
	hear();
	expect_silence();
	heard--;
	hear();
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].opcode, ROCE_OPCODE_SACK);
	assert_int_equal(sent[1].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
}

/* So has one whose frames had a gap. */
UNIT_RULE(patience__ends_with_a_gap)
{
	const struct fx_sent *sent;
	unsigned int n;

	learn();
	fx_rx_request(&end, &peer, SEND, FX_RQ_PSN + heard + 1, 8, FX_ACKREQ);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 2);
	assert_int_equal(sent[0].opcode, ROCE_OPCODE_SACK);
	assert_int_equal(sent[1].syndrome, FX_NAK(ROCE_NAK_PSN_SEQUENCE));
	hear();
	heard++;
	expect_ack();
}

/* The peer's window must not run dry. */
UNIT_RULE(patience__is_for_few_packets)
{
	learn();
	for (unsigned int i = 1; i < ROCE_ACK_SOON; i++) {
		hear();
		expect_silence();
	}
	hear();
	expect_ack();
}

/* The network is congested, so often that the rate is limited for long; the peer has everything afterwards. */
static void
limit_rate(void)
{
	post();
	fx_tx_drop(&end);
	for (unsigned int i = 0; i < 40; i++) {
		end.now += FX_HZ / 10000;
		fx_rx_request(&end, &peer, ROCE_OPCODE_CNP, 0, 0, 0);
	}
	fx_tx_drop(&end);
	acknowledge();
	assert_true(qp->tx.paced);
}

/* Where the rate is limited a request takes it along, too; when no request may be sent for now, it goes alone. */
UNIT_RULE(acknowledgement__does_not_wait_for_the_rate)
{
	limit_rate();
	hear();
	post();
	expect_carried(WITH_ACK);
	acknowledge();
	fx_send_many(&end, qp, 100, FX_MTU, 0);
	fx_tx_drop(&end);
	/* The window is open and nothing is repeated: only the rate keeps the rest. */
	assert_true(roce_req_wants(qp));
	assert_false(qp->tx.repeats);
	hear();
	expect_ack();
}

UNIT_RULE(error__answers_what_waits)
{
	learn();
	hear();
	expect_silence();
	roce_engine_lock(end.engine);
	roce_qp_to_error(qp);
	roce_engine_unlock(end.engine);
	expect_ack();
}

UNIT_RULE(reset__forgets_what_waits)
{
	learn();
	hear();
	expect_silence();
	fx_to_reset(qp);
	end.now += QUICK;
	expect_silence();
	assert_true(roce_engine_deadline(end.engine) > end.now);
}

/* ---- received ---- */

static void
hear_with_ack(uint8_t syndrome, uint32_t acked)
{
	fx_rx(&end, fx_piggyback(&peer, SEND, FX_RQ_PSN + heard++, 8, FX_ACKREQ, syndrome, acked));
}

UNIT_RULE(received__completes_requests_and_delivers_the_message)
{
	post();
	assert_int_equal(only().opcode, SEND);
	hear_with_ack(FX_ACK, FX_SQ_PSN);
	assert_fields(fx_event(end.send_cq), (wr_id, 0), (status, IBV_WC_SUCCESS));
	assert_fields(fx_event(end.recv_cq), (wr_id, 0), (status, IBV_WC_SUCCESS), (byte_len, 8));
	assert_fields(*fx_stats(&end), (rx_piggybacked_acks, 1), (rx_acks, 0));
	expect_ack();
}

/* An acknowledgement is one wherever its request stands in the sequence. */
UNIT_RULE(received__counts_whatever_its_request_is)
{
	post();
	post();
	fx_tx_drop(&end);
	fx_rx(&end, fx_piggyback(&peer, SEND, FX_RQ_PSN + 1, 8, 0, FX_ACK, FX_SQ_PSN));
	assert_int_equal(fx_event(end.send_cq).wr_id, 0);
	fx_rx(&end, fx_piggyback(&peer, SEND, FX_RQ_PSN - 1, 8, 0, FX_ACK, FX_SQ_PSN + 1));
	assert_int_equal(fx_event(end.send_cq).wr_id, 1);
}

/* It acknowledges what was never sent: that is dropped, the message is not. */
UNIT_RULE(received__of_what_was_never_sent_is_dropped)
{
	hear_with_ack(FX_ACK, FX_SQ_PSN);
	assert_int_equal(fx_stats(&end)->rx_ghost_acks, 1);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 8);
}

static void
expect_dropped(void)
{
	struct roce_event event;

	assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 0);
	assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 0);
	assert_fields(*fx_stats(&end), (rx_malformed_opcode, 1), (rx_piggybacked_acks, 0));
	expect_silence();
}

/* A request carries no NAK: such a frame is malformed, and of neither part anything is done. */
UNIT_RULE(received__nak_is_malformed)
{
	post();
	fx_tx_drop(&end);
	hear_with_ack(FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	expect_dropped();
}

UNIT_RULE_IN(received__without_agreement_is_malformed, setup_without_agreement, teardown)
{
	post();
	fx_tx_drop(&end);
	hear_with_ack(FX_ACK, FX_SQ_PSN);
	expect_dropped();
}
