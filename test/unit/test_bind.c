/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds in the send queue: when they are executed, that they are executed once, when they complete, how they fail. */

#include "mw_scene.h"

#define PSN FX_SQ_PSN
#define MTU FX_MTU

#define CREDITS(code) ((uint8_t)(ROCE_AETH_ACK | (code)))

/* One poll that takes a single frame. */
static struct fx_sent
one_frame(void)
{
	struct fx_sent sent;

	assert_int_equal(fx_tx(&end, &sent, 1), 1);
	return sent;
}

/* With nothing before it: no frame, no wait, the event at once. */
UNIT_RULE(bind__alone_is_done_at_once)
{
	uint32_t key = post_part(7, 0, 64);

	assert_false(lives(key));
	assert_int_equal(roce_engine_deadline(end.engine), 0);
	fx_tx_none(&end);
	assert_true(lives(key));
	expect_bind_event(7, IBV_WC_SUCCESS);
	expect_no_event();
	assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
	assert_int_equal(fx_stats(&end)->tx_frames, 0);
}

/* Without the signalled flag only a failure makes an event. */
UNIT_RULE(bind__unsignalled_tells_failures_only)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	assert_int_equal(post_bind(qp, 1, &bind, 0), 0);
	fx_tx_none(&end);
	assert_true(lives(bind.key));
	expect_no_event();
	break_qp();
	assert_int_equal(post_bind(qp, 2, &bind, 0), 0);
	fx_tx_none(&end);
	expect_bind_event(2, IBV_WC_WR_FLUSH_ERR);
}

/* It takes a place in the queue like any request, and gives it back. */
UNIT_RULE(bind__counts_as_a_request)
{
	for (uint32_t i = 0; i < 256; i++)
		post_part(i, i, 64);
	{
		struct roce_mw_bind bind = part(0, 64, PEER_READS);

		assert_int_equal(post_bind(qp, 256, &bind, 0), -ENOSPC);
		assert_int_equal(bind.key, 0);
	}
	assert_int_equal(fx_requests(qp), 256);
	settle();
	assert_int_equal(fx_requests(qp), 0);
	for (uint32_t i = 0; i < 256; i++)
		expect_bind_event(i, IBV_WC_SUCCESS);
}

/* A queue pair with nothing but binds does not keep the others waiting: no more in a poll than it may send frames. */
UNIT_RULE(bind__shares_the_poll)
{
	struct roce_qp *other = fx_qp(&end, NULL);
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(98), 0x778);
	struct rte_mbuf *pkts[32];

	fx_up(other, &connect);
	for (uint32_t i = 0; i < 3 * ROCE_QUANTUM; i++)
		post_part(i, i, 64);
	assert_int_equal(fx_send(&end, other, 1, 0, 8, 0), 0);
	assert_int_equal(fx_take(&end, pkts, 32), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_in_range(roce_cq_count(end.send_cq), 1, ROCE_QUANTUM);
	settle();
	assert_int_equal(roce_cq_count(end.send_cq), 3 * ROCE_QUANTUM);
}

/* Executed when everything before it was sent, and before anything behind it is: frame by frame. */
UNIT_RULE(bind__stands_between_the_messages)
{
	struct fx_sent sent;
	uint32_t key;

	post_send(1, 2 * MTU + 1);
	key = post_part(2, 0, 64);
	post_send(3, 8);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(one_frame().psn, PSN + i);
		assert_false(lives(key));
	}
	/* It takes the room of a frame, here all there is. */
	assert_int_equal(fx_tx(&end, &sent, 1), 0);
	assert_true(lives(key));
	assert_fields(one_frame(), (psn, PSN + 3), (opcode, IBV_OPCODE_RC_SEND_ONLY));
	fx_tx_none(&end);
}

/* The message in front of a bind asks for its acknowledgement: perhaps no later frame ever does. */
UNIT_RULE(bind__is_preceded_by_an_ack_request)
{
	const struct fx_sent *sent;

	/* The peer has said that it gives no credits. */
	qp->tx.credits_known = true;
	post_send(1, 8);
	post_part(2, 0, 64);
	post_send(3, 8);
	post_send(4, MTU + 1);
	post_part(5, 0, 64);
	post_part(6, 0, 64);
	sent = fx_tx_exactly(&end, 4);
	assert_true(sent[0].ack_req);
	assert_false(sent[1].ack_req);
	assert_false(sent[2].ack_req);
	assert_true(sent[3].ack_req);
}

/* Events come in the order of the posts, each no earlier than what it depends on. */
UNIT_RULE(bind__completes_in_its_turn)
{
	post_part(1, 0, 64);
	post_send(2, 8);
	post_part(3, 0, 64);
	post_part(4, 0, 64);
	post_send(5, 2 * MTU);
	post_part(6, 0, 64);
	assert_int_equal(fx_tx_drop(&end), 3);
	expect_bind_event(1, IBV_WC_SUCCESS);
	expect_no_event();
	acknowledge(0);
	expect_send_event(2, IBV_WC_SUCCESS);
	expect_bind_event(3, IBV_WC_SUCCESS);
	expect_bind_event(4, IBV_WC_SUCCESS);
	expect_no_event();
	/* The middle of a message. */
	acknowledge(1);
	expect_no_event();
	acknowledge(2);
	expect_send_event(5, IBV_WC_SUCCESS);
	expect_bind_event(6, IBV_WC_SUCCESS);
	expect_no_event();
}

/* With a fence, not before everything in front of it has completed; and what is behind it waits, too. */
UNIT_RULE(bind__fenced_waits_for_the_acknowledgements)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	post_send(1, 8);
	post_send(2, 8);
	assert_int_equal(post_bind(qp, 3, &bind, ROCE_WR_SIGNALED | ROCE_WR_FENCE), 0);
	post_send(4, 8);
	assert_int_equal(fx_tx_drop(&end), 2);
	acknowledge(0);
	expect_send_event(1, IBV_WC_SUCCESS);
	fx_tx_none(&end);
	assert_false(lives(bind.key));
	acknowledge(1);
	expect_send_event(2, IBV_WC_SUCCESS);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 2);
	assert_true(lives(bind.key));
	expect_bind_event(3, IBV_WC_SUCCESS);
}

/* A fence with nothing in front of it holds nothing up. */
UNIT_RULE(bind__fenced_alone_is_done_at_once)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	assert_int_equal(post_bind(qp, 3, &bind, ROCE_WR_SIGNALED | ROCE_WR_FENCE), 0);
	fx_tx_none(&end);
	expect_bind_event(3, IBV_WC_SUCCESS);
	assert_true(lives(bind.key));
}

/*
 * Back to every place, by NAK and by timeout: messages are sent again, binds are not executed again. Another queue
 * pair has bound the window in between, so that an execution would show.
 */
UNIT_RULE(rewind__passes_over_binds)
{
	for (uint32_t to = 0; to < 4; to++) {
		const struct roce_qp_connect connect = fx_connect(&end, fx_ip(98), 0x778);
		struct roce_qp *other = fx_qp(&end, NULL);
		struct roce_mw_bind later = part(7, 7, PEER_READS);
		const struct fx_sent *sent;
		unsigned int n;

		fx_up(other, &connect);
		post_send(1, 8);
		post_part(2, 0, 64);
		post_send(3, MTU + 1);
		post_part(4, 0, 64);
		post_part(5, 0, 64);
		post_send(6, 8);
		post_part(7, 0, 64);
		(void)fx_tx_all(&end, &n);
		assert_int_equal(n, 4);
		assert_int_equal(post_bind(other, 8, &later, 0), 0);
		fx_tx_none(&end);
		assert_int_equal(bound_key(), later.key);
		fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN + to);
		sent = fx_tx_all(&end, &n);
		assert_int_equal(n, 4 - to);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(sent[i].psn, PSN + to + i);
		assert_int_equal(bound_key(), later.key);
		acknowledge(3);
		assert_int_equal(roce_cq_count(end.send_cq), 7);
		for (uint32_t i = 1; i <= 7; i++)
			assert_int_equal(next_event().wr_id, i);
		roce_qp_destroy(other);
		roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
	}
}

UNIT_RULE(rewind__by_timeout_passes_over_binds)
{
	uint32_t first, second;
	unsigned int n;

	post_send(1, 8);
	first = post_part(2, 0, 64);
	post_send(3, 8);
	second = post_part(4, 64, 64);
	(void)fx_run(&end, end.now + FX_HZ / 10, &n);
	assert_true(n > 2);
	assert_false(lives(first));
	assert_true(lives(second));
	acknowledge(1);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(next_event().wr_id, i);
}

/* The acknowledgement of an old copy, while the requester that went back is still behind it. */
UNIT_RULE(rewind__forward_passes_over_binds)
{
	post_send(1, 8);
	post_part(2, 0, 64);
	post_send(3, 8);
	post_part(4, 0, 64);
	post_send(5, 8);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN);
	assert_int_equal(one_frame().psn, PSN);
	acknowledge(1);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(next_event().wr_id, i);
	assert_int_equal(fx_tx_one(&end).psn, PSN + 2);
	acknowledge(2);
	expect_send_event(5, IBV_WC_SUCCESS);
}

/* A bind needs no receive at the peer: after going back over binds, as many messages go as there are credits. */
UNIT_RULE(rewind__binds_use_no_credits)
{
	for (uint8_t credits = 1; credits < 4; credits++) {
		unsigned int n;

		post_part(1, 0, 64);
		for (uint64_t i = 2; i < 14; i += 2) {
			post_send(i, 8);
			post_part(i + 1, 0, 64);
		}
		/* Without credits yet: all six. */
		(void)fx_tx_all(&end, &n);
		assert_int_equal(n, 6);
		/* The first arrived, and for the next there is no receive. Then there are some. */
		fx_rx_answer(&end, &peer, FX_RNR(1), PSN + 1);
		fx_rx(&end, fx_answer(&peer, CREDITS(roce_credit_encode(credits)), PSN, 1));
		end.now += FX_HZ / 100;
		assert_int_equal(fx_tx_drop(&end), credits);
		roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
		while (roce_cq_count(end.send_cq) > 0)
			(void)next_event();
	}
}

/* Not executed: it changes nothing. Executed, and then something in front of it failed: bound to nothing. */
UNIT_RULE(flush__leaves_nothing_to_peers)
{
	struct roce_mw_bind fenced = part(0, 64, PEER_READS);
	uint32_t before, executed;

	before = post_part(1, 0, 64);
	fx_tx_none(&end);
	expect_bind_event(1, IBV_WC_SUCCESS);
	post_send(2, 8);
	assert_int_equal(post_bind(qp, 3, &fenced, ROCE_WR_FENCE), 0);
	fx_tx_drop(&end);
	break_qp();
	expect_send_event(2, IBV_WC_WR_FLUSH_ERR);
	expect_bind_event(3, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(bound_key(), before);
	assert_false(lives(fenced.key));

	roce_qp_destroy(qp);
	qp = fx_played_qp(&end, &peer);
	post_send(4, 8);
	executed = post_part(5, 0, 64);
	post_send(6, 8);
	fx_tx_drop(&end);
	assert_int_equal(bound_key(), executed);
	break_qp();
	expect_send_event(4, IBV_WC_WR_FLUSH_ERR);
	expect_bind_event(5, IBV_WC_WR_FLUSH_ERR);
	expect_send_event(6, IBV_WC_WR_FLUSH_ERR);
	assert_false(lives(executed));
	assert_int_equal(bound_key(), 0);
	/* So the region is free. */
	assert_int_equal(roce_mr_destroy(region), 0);
}

/* A bind that another queue pair has made since is not undone by the queue pair that fails. */
UNIT_RULE(flush__leaves_later_binds_of_others)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(98), 0x778);
	struct roce_qp *other = fx_qp(&end, NULL);
	struct roce_mw_bind later = part(7, 7, PEER_READS);

	fx_up(other, &connect);
	post_send(1, 8);
	post_part(2, 0, 64);
	post_part(3, 0, 64);
	fx_tx_drop(&end);
	assert_int_equal(post_bind(other, 4, &later, 0), 0);
	fx_tx_none(&end);
	break_qp();
	expect_send_event(1, IBV_WC_WR_FLUSH_ERR);
	expect_bind_event(2, IBV_WC_WR_FLUSH_ERR);
	expect_bind_event(3, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(bound_key(), later.key);
}

/* Posted to a broken queue pair: accepted, flushed, without effect. */
UNIT_RULE(flush__of_what_is_posted_late)
{
	break_qp();
	for (uint64_t i = 0; i < 600; i++) {
		uint32_t key = post_part(i, 0, 64);

		assert_int_not_equal(key, 0);
		fx_tx_none(&end);
		expect_bind_event(i, IBV_WC_WR_FLUSH_ERR);
		assert_false(lives(key));
	}
	assert_int_equal(bound_key(), 0);
}

UNIT_RULE(reset__drops_binds_and_starts_over)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	post_send(1, 8);
	assert_int_equal(post_bind(qp, 2, &bind, ROCE_WR_FENCE | ROCE_WR_SIGNALED), 0);
	fx_tx_drop(&end);
	fx_to_reset(qp);
	assert_int_equal(post_bind(qp, 3, &bind, 0), -EINVAL);
	expect_no_event();
	assert_int_equal(bound_key(), 0);
	fx_up(qp, &connect);
	post_send(4, 8);
	assert_int_equal(fx_tx_one(&end).psn, PSN);
	acknowledge(0);
	expect_send_event(4, IBV_WC_SUCCESS);
	post_part(5, 0, 64);
	fx_tx_none(&end);
	expect_bind_event(5, IBV_WC_SUCCESS);
}

/* The region ended between post and execution: when everything before is acknowledged the connection breaks. */
UNIT_RULE(fail__when_the_region_is_gone)
{
	const uint8_t flags[] = { 0, ROCE_WR_FENCE };
	uint32_t before;

	for (unsigned int i = 0; i < RTE_DIM(flags); i++) {
		struct roce_mw_bind bind;
		struct roce_mr *mr;

		before = post_part(0, 0, 64);
		fx_tx_none(&end);
		expect_bind_event(0, IBV_WC_SUCCESS);
		mr = fx_mr(end.pd, 0x1000, 64, ALL_ACCESS);
		bind = (struct roce_mw_bind){ mw, roce_mr_key(mr), PEER_READS, 0x1000, 64, 0 };
		post_send(1, 8);
		post_send(2, 8);
		assert_int_equal(post_bind(qp, 3, &bind, flags[i]), 0);
		post_send(4, 8);
		assert_int_equal(roce_mr_destroy(mr), 0);
		assert_int_equal(fx_tx_drop(&end), 2);
		acknowledge(0);
		expect_send_event(1, IBV_WC_SUCCESS);
		fx_tx_none(&end);
		expect_no_event();
		assert_int_equal(end.async_events, i);
		acknowledge(1);
		fx_tx_none(&end);
		expect_send_event(2, IBV_WC_SUCCESS);
		expect_bind_event(3, IBV_WC_MW_BIND_ERR);
		expect_send_event(4, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(end.async_events, i + 1);
		assert_int_equal(end.async_event[i].kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
		assert_int_equal(end.async_event[i].status, IBV_WC_MW_BIND_ERR);
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
		/* The window keeps the binding it had. */
		assert_int_equal(bound_key(), before);
		roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
	}
}

/* A rewind while it waits to fail changes nothing. */
UNIT_RULE(fail__survives_a_rewind)
{
	struct roce_mw_bind bind;
	struct roce_mr *mr = fx_mr(end.pd, 0x1000, 64, ALL_ACCESS);

	bind = (struct roce_mw_bind){ mw, roce_mr_key(mr), PEER_READS, 0x1000, 64, 0 };
	post_send(1, 8);
	assert_int_equal(post_bind(qp, 2, &bind, 0), 0);
	assert_int_equal(roce_mr_destroy(mr), 0);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), PSN);
	assert_int_equal(fx_tx_one(&end).psn, PSN);
	expect_no_event();
	acknowledge(0);
	expect_send_event(1, IBV_WC_SUCCESS);
	expect_bind_event(2, IBV_WC_MW_BIND_ERR);
}

UNIT_RULE(fail__when_the_window_is_gone)
{
	post_send(1, 8);
	post_part(2, 0, 64);
	post_part(3, 0, 64);
	roce_mw_destroy(mw);
	mw = NULL;
	fx_tx_drop(&end);
	acknowledge(0);
	expect_send_event(1, IBV_WC_SUCCESS);
	expect_bind_event(2, IBV_WC_MW_BIND_ERR);
	expect_bind_event(3, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(roce_mr_destroy(region), 0);
}

/* A graceful end waits for binds as for everything else. */
UNIT_RULE(drain__waits_for_binds)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	post_send(1, 8);
	assert_int_equal(post_bind(qp, 2, &bind, ROCE_WR_FENCE | ROCE_WR_SIGNALED), 0);
	fx_tx_drop(&end);
	fx_drain(qp);
	fx_tx_none(&end);
	assert_int_equal(end.async_events, 0);
	acknowledge(0);
	assert_int_equal(end.async_events, 0);
	fx_tx_none(&end);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_DRAINED);
	assert_true(lives(bind.key));
}

/* A bind between READs, which has no PSN once it was executed, hides none of them: both answers are asked for. */
UNIT_RULE(bind__hides_no_answer_that_is_missing)
{
	const struct roce_sge sge = { place(0), 8, roce_mr_key(region) };
	const struct roce_wr read = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	const struct fx_sent *sent;

	roce_qp_destroy(qp);
	connect.extensions = true;
	connect.max_rd_atomic = 4;
	qp = fx_play(&end, NULL, &connect, &peer);
	assert_int_equal(roce_qp_post_send(qp, &read), 0);
	post_part(1, 0, 64);
	assert_int_equal(roce_qp_post_send(qp, &read), 0);
	post_send(3, 8);
	assert_int_equal(fx_tx_drop(&end), 3);
	acknowledge(2);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].psn, PSN);
	assert_int_equal(sent[1].psn, PSN + 1);
}
