/* SPDX-License-Identifier: BSD-3-Clause */
/* When nothing comes back: timers, retries, receiver not ready. The clock is a variable; a tick is 1 ns. */

#include "played_scene.h"

#define PSN FX_SQ_PSN
#define MTU FX_MTU
#define US  UINT64_C(1000)
#define MS  (1000 * US)

static int
setup(void **state)
{
	open_ordinary_scene();
	return 0;
}

static void
reconnect(const struct roce_qp_connect *connect)
{
	roce_qp_destroy(qp);
	qp = fx_qp(&end, NULL);
	fx_up(qp, connect);
	peer = fx_peer_of(qp, connect);
	end.async_events = 0;
}

static struct roce_qp_connect
ordinary(void)
{
	return fx_connect(&end, fx_ip(99), 0x777);
}

/* Post one-packet messages, numbered from 0, and let their frames go. */
static void
send_many(uint32_t n)
{
	fx_send_many(&end, qp, n, 8, ROCE_WR_SIGNALED);
	fx_tx_drop(&end);
}

static void
answer(uint8_t syndrome, uint32_t number)
{
	fx_rx_answer(&end, &peer, syndrome, PSN + number);
}

static void
expect_broken(enum ibv_wc_status status)
{
	assert_int_equal(end.async_events, 1);
	assert_fields(end.async_event[0], (kind, ROCE_ENGINE_ASYNC_QP_BROKEN), (status, status));
}

static uint64_t
deadline(void)
{
	return roce_engine_deadline(end.engine);
}

/*
 * The connection ends after retry + 1 whole local ACK timeouts without an answer (IBTA Vol 1, 9.9.2.1.1): not
 * earlier, and not much later. The oldest request fails, the others are flushed in order.
 */
UNIT_RULE(timeout__breaks_after_all_retries)
{
	static const uint8_t code[] = { 1, 8, 14, 19 };

	for (size_t c = 0; c < RTE_DIM(code); c++) {
		for (uint8_t retry = 0; retry <= 7; retry++) {
			struct roce_qp_connect connect = ordinary();
			const uint64_t whole = (retry + 1) * (UINT64_C(4096) << code[c]);
			struct roce_event event[3];
			unsigned int n;
			uint64_t begin;

			connect.ack_timeout = code[c];
			connect.retry = retry;
			reconnect(&connect);
			begin = end.now;
			send_many(3);
			(void)fx_run(&end, begin + whole - 1, &n);
			assert_int_equal(end.async_events, 0);
			(void)fx_run(&end, begin + whole + whole / 50 + 20 * US, &n);
			expect_broken(IBV_WC_RETRY_EXC_ERR);
			assert_int_equal(roce_cq_poll(end.send_cq, event, 3), 3);
			assert_fields(event[0], (wr_id, 0), (status, IBV_WC_RETRY_EXC_ERR));
			assert_fields(event[1], (wr_id, 1), (status, IBV_WC_WR_FLUSH_ERR));
			assert_int_equal(event[2].status, IBV_WC_WR_FLUSH_ERR);
			assert_int_equal(deadline(), ROCE_NEVER);
		}
	}
	assert_int_equal(fx_stats(&end)->req_transport_retries_exceeded, 8 * RTE_DIM(code));
}

/* An answer of any progress starts the count over. */
UNIT_RULE(timeout__progress_renews_the_retries)
{
	struct roce_qp_connect connect = ordinary();
	const uint64_t timeout = UINT64_C(4096) << 8;
	unsigned int n;

	connect.ack_timeout = 8;
	connect.retry = 1;
	reconnect(&connect);
	send_many(20);
	for (uint32_t i = 0; i < 10; i++) {
		(void)fx_run(&end, end.now + 2 * timeout - 2 * US * 10, &n);
		assert_int_equal(end.async_events, 0);
		answer(FX_ACK, i);
	}
	(void)fx_run(&end, end.now + 2 * timeout + timeout / 20, &n);
	expect_broken(IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(roce_cq_count(end.send_cq), 20);
}

/* Long before the local ACK timeout the requester tries again, without using up a retry. */
UNIT_RULE(timeout__sends_again_early)
{
	const uint64_t timeout = UINT64_C(4096) << 14; /* 67 ms */
	const uint64_t begin = end.now;
	const struct fx_sent *sent;
	unsigned int n;

	send_many(3);
	sent = fx_run(&end, begin + timeout - US * 100, &n);
	assert_true(n >= 3);
	assert_true(sent[0].at <= begin + 5 * MS);
	/* Only the first: silence may mean that there were too many. */
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(sent[i].psn, PSN);
	/* No wait is shorter than the one before, up to an eighth of the timeout: neither flood nor silence. */
	for (unsigned int i = 2; i < n; i++) {
		const uint64_t wait = sent[i].at - sent[i - 1].at;

		assert_true(wait >= sent[i - 1].at - sent[i - 2].at);
		assert_true(wait <= timeout / 8 + 10 * US);
	}
	assert_true(n >= 6);
	assert_fields(*fx_stats(&end), (local_ack_timeout_err, 0), (early_retransmits, n),
			(retransmits, n));
}

/*
 * With the default timeout of 0.54 s the waits end at a few milliseconds all the same: that a peer may be stopped for
 * seconds does not make a lost frame dear.
 */
UNIT_RULE(timeout__backoff_ends_at_a_few_milliseconds)
{
	const uint64_t timeout = UINT64_C(4096) << 17;
	struct roce_qp_connect connect = ordinary();
	const struct fx_sent *sent;
	unsigned int n;

	connect.ack_timeout = 17;
	reconnect(&connect);
	send_many(1);
	sent = fx_run(&end, end.now + timeout - MS, &n);
	assert_true(n >= timeout / (9 * MS));
	for (unsigned int i = 1; i < n; i++)
		assert_true(sent[i].at - sent[i - 1].at <= 8400 * US + 10 * US);
	assert_int_equal(fx_stats(&end)->local_ack_timeout_err, 0);
}

/* A peer that is stopped for four seconds loses nothing; one that is stopped for five is given up. */
UNIT_RULE(timeout__default_outlives_four_seconds)
{
	struct roce_qp_connect connect = ordinary();
	unsigned int n;

	connect.ack_timeout = 17;
	connect.retry = 7;
	reconnect(&connect);
	send_many(1);
	(void)fx_run(&end, end.now + 4 * FX_HZ, &n);
	assert_int_equal(end.async_events, 0);
	answer(FX_ACK, 0);
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
	send_many(1);
	(void)fx_run(&end, end.now + 5 * FX_HZ, &n);
	expect_broken(IBV_WC_RETRY_EXC_ERR);
}

/* With a measured round trip of 20 us the second try comes soon, but not before two of them. */
UNIT_RULE(timeout__follows_the_measured_round_trip)
{
	unsigned int n;
	const struct fx_sent *sent;
	uint64_t begin;

	for (uint32_t i = 0; i < 50; i++) {
		send_many(1);
		end.now += 20 * US;
		answer(FX_ACK, i);
	}
	begin = end.now;
	send_many(1);
	sent = fx_run(&end, begin + 10 * MS, &n);
	assert_true(n >= 1);
	assert_in_range(sent[0].at - begin, 2 * 20 * US, MS + MS / 10);
}

/* The same when the timer entry still stands where a slower estimate put it. */
UNIT_RULE(timeout__is_not_late_after_progress)
{
	const struct fx_sent *sent;
	unsigned int n;
	uint64_t begin;

	/* The 32nd frame asks, so its answer is the first measurement; the 33rd is lost. */
	send_many(33);
	end.now += 20 * US;
	answer(FX_ACK, 31);
	begin = end.now;
	sent = fx_run(&end, begin + 20 * MS, &n);
	assert_true(n >= 1);
	assert_int_equal(sent[0].psn, PSN + 32);
	assert_in_range(sent[0].at - begin, 2 * 20 * US, MS + MS / 10);
}

/* After a long silence the waits are long; the first sign of life ends that. */
UNIT_RULE(timeout__backoff_ends_with_progress)
{
	const struct fx_sent *sent;
	unsigned int n;
	uint64_t begin;

	for (uint32_t i = 0; i < 20; i++) {
		send_many(1);
		end.now += 20 * US;
		answer(FX_ACK, i);
	}
	send_many(2);
	(void)fx_run(&end, end.now + 33 * MS, &n);
	answer(FX_ACK, 20);
	begin = end.now;
	sent = fx_run(&end, begin + 50 * MS, &n);
	/* The answer lets the next one go at once; its own timeout is the measured one again. */
	assert_true(n >= 2);
	assert_int_equal(sent[0].psn, PSN + 21);
	assert_in_range(sent[1].at - sent[0].at, 2 * 20 * US, MS + MS / 10);
}

/* RFC 5681: after a timeout the window is one, and doubles with what is acknowledged. */
UNIT_RULE(timeout__begins_again_with_one)
{
	const struct fx_sent *sent;
	uint32_t acknowledged = 0;
	unsigned int n;

	send_many(64);
	sent = fx_run(&end, end.now + 5 * MS, &n);
	assert_int_equal(n, 1);
	assert_int_equal(sent[0].psn, PSN);
	for (uint32_t window = 1; window <= 16; window *= 2) {
		acknowledged += window;
		answer(FX_ACK, acknowledged - 1);
		sent = fx_tx_all(&end, &n);
		assert_int_equal(n, 2 * window);
		assert_int_equal(sent[0].psn, PSN + acknowledged);
		assert_true(sent[n - 1].ack_req);
	}
}

/* Acknowledged to the last: no timer runs, the engine sleeps. */
UNIT_RULE(timeout__ends_with_the_last_answer)
{
	unsigned int n;

	fx_tx_none(&end);
	assert_int_equal(deadline(), ROCE_NEVER);
	send_many(3);
	assert_true(deadline() < end.now + 5 * MS);
	answer(FX_ACK, 2);
	(void)fx_run(&end, end.now + 100 * FX_HZ, &n);
	assert_int_equal(n, 0);
	assert_int_equal(deadline(), ROCE_NEVER);
	assert_int_equal(fx_stats(&end)->local_ack_timeout_err, 0);
}

/* Code 0: wait for ever. */
UNIT_RULE(timeout__code_0_never_fires)
{
	struct roce_qp_connect connect = ordinary();
	unsigned int n;

	connect.ack_timeout = 0;
	reconnect(&connect);
	send_many(1);
	assert_int_equal(deadline(), ROCE_NEVER);
	(void)fx_run(&end, end.now + 100000 * FX_HZ, &n);
	assert_int_equal(n, 0);
	assert_int_equal(end.async_events, 0);
}

/* Code 31 is 2.4 hours: no overflow on the way. */
UNIT_RULE(timeout__code_31_is_hours)
{
	struct roce_qp_connect connect = ordinary();
	const uint64_t timeout = UINT64_C(4096) << 31;
	const uint64_t begin = end.now;
	unsigned int n;

	connect.ack_timeout = 31;
	connect.retry = 0;
	reconnect(&connect);
	send_many(1);
	(void)fx_run(&end, begin + timeout - 1, &n);
	assert_int_equal(end.async_events, 0);
	(void)fx_run(&end, begin + timeout + timeout / 100, &n);
	expect_broken(IBV_WC_RETRY_EXC_ERR);
}

/*
 * After an RNR NAK nothing is sent for the time of its code, and at that time everything from its PSN on.
 *
 * Proves: rc.R3
 */
UNIT_RULE(rnr__waits_as_the_table_says)
{
	for (uint8_t code = 0; code < 32; code++) {
		const uint64_t wait = roce_rnr_timer_us(code) * US;
		const struct fx_sent *sent;
		unsigned int n;
		uint64_t begin;

		send_many(4);
		begin = end.now;
		answer(FX_RNR(code), 1);
		assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
		/* Two more are posted meanwhile: they must wait too. */
		assert_int_equal(fx_send(&end, qp, 4, 0, 8, ROCE_WR_SIGNALED), 0);
		(void)fx_run(&end, begin + wait - 1, &n);
		assert_int_equal(n, 0);
		sent = fx_run(&end, begin + wait + 20 * US, &n);
		assert_int_equal(n, 4);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(sent[i].psn, PSN + 1 + i);
		assert_true(sent[0].at >= begin + wait);
		teardown(state);
		setup(state);
	}
}

/*
 * 7 means for ever; waiting for the receiver uses up no retry of the local ACK timeout.
 *
 * Proves: rc.R3 rc.R4
 */
UNIT_RULE(rnr__seven_is_for_ever)
{
	struct roce_qp_connect connect = ordinary();
	unsigned int n;

	connect.retry = 0;
	connect.ack_timeout = 8;
	reconnect(&connect);
	send_many(1);
	for (unsigned int i = 0; i < 1000; i++) {
		answer(FX_RNR(14), 0);
		(void)fx_run(&end, end.now + roce_rnr_timer_us(14) * US + 10 * US, &n);
		assert_int_equal(n, 1);
	}
	assert_int_equal(end.async_events, 0);
	assert_int_equal(fx_stats(&end)->rnr_nak_received, 1000);
	answer(FX_ACK, 0);
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
}

/*
 * 0..6 are counted: the request goes 1 + rnr_retry times, then it fails.
 *
 * Proves: rc.R4
 */
UNIT_RULE(rnr__finite_retries_end)
{
	for (uint8_t rnr_retry = 0; rnr_retry < 7; rnr_retry++) {
		struct roce_qp_connect connect = ordinary();
		struct roce_event event[2];
		unsigned int n;

		connect.rnr_retry = rnr_retry;
		reconnect(&connect);
		send_many(2);
		for (uint8_t i = 0; i < rnr_retry; i++) {
			answer(FX_RNR(1), 0);
			assert_int_equal(end.async_events, 0);
			(void)fx_run(&end, end.now + 100 * US, &n);
			assert_int_equal(n, 2);
		}
		answer(FX_RNR(1), 0);
		expect_broken(IBV_WC_RNR_RETRY_EXC_ERR);
		assert_int_equal(roce_cq_poll(end.send_cq, event, 2), 2);
		assert_int_equal(event[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
		assert_int_equal(event[1].status, IBV_WC_WR_FLUSH_ERR);
	}
}

/* Each message has its own count: a receiver that is slow every time is not gone. */
UNIT_RULE(rnr__progress_renews_the_retries)
{
	struct roce_qp_connect connect = ordinary();
	unsigned int n;

	connect.rnr_retry = 1;
	reconnect(&connect);
	send_many(20);
	for (uint32_t i = 0; i < 20; i++) {
		answer(FX_RNR(1), i);
		(void)fx_run(&end, end.now + 100 * US, &n);
		assert_int_equal(end.async_events, 0);
	}
	assert_int_equal(roce_cq_count(end.send_cq), 19);
}

/* A copy of the NAK that is being obeyed, or a sequence NAK behind it (rxe sends one), changes nothing. */
UNIT_RULE(rnr__copies_do_not_count)
{
	struct roce_qp_connect connect = ordinary();
	const struct fx_sent *sent;
	const uint64_t wait = roce_rnr_timer_us(12) * US;
	uint64_t begin;
	unsigned int n;

	connect.rnr_retry = 1;
	reconnect(&connect);
	send_many(3);
	begin = end.now;
	answer(FX_RNR(12), 0);
	end.now += 100 * US;
	answer(FX_RNR(12), 0);
	answer(FX_NAK(ROCE_NAK_PSN_SEQUENCE), 0);
	sent = fx_run(&end, begin + wait + 50 * US, &n);
	assert_int_equal(n, 3);
	assert_true(sent[0].at >= begin + wait);
	assert_int_equal(end.async_events, 0);
}

/* A late answer shows that the receiver is ready after all: no reason to wait longer. */
UNIT_RULE(rnr__ends_with_an_answer)
{
	const uint64_t begin = end.now;
	const struct fx_sent *sent;
	unsigned int n;

	send_many(3);
	answer(FX_RNR(0), 0); /* 655 ms */
	answer(FX_ACK, 1);
	assert_int_equal(roce_cq_count(end.send_cq), 2);
	sent = fx_run(&end, begin + MS, &n);
	assert_int_equal(n, 1);
	assert_int_equal(sent[0].psn, PSN + 2);
}

/*
 * No timer survives a reset of its queue pair.
 *
 * Proves: rc.R12
 */
UNIT_RULE(reset__stops_the_timers)
{
	unsigned int n;

	send_many(1);
	fx_to_reset(qp);
	assert_int_equal(deadline(), ROCE_NEVER);
	(void)fx_run(&end, end.now + 100 * FX_HZ, &n);
	assert_int_equal(n, 0);
	assert_int_equal(end.async_events, 0);
}
