/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a queue pair, and what ends with them. */

#include <errno.h>

#include "end_scene.h"
#include "queue/domain.h"

static struct fx_peer peer;

static void
lock(void)
{
	roce_engine_lock(end.engine);
}

static void
unlock(void)
{
	roce_engine_unlock(end.engine);
}

/* Which way leads where. */
UNIT_RULE(state__ways)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp *qp = fx_qp(&end, NULL);

	lock();
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RESET);
	assert_int_equal(roce_qp_to_rts(qp), -EINVAL);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTR);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), -EINVAL);
	assert_int_equal(roce_qp_to_rts(qp), 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_to_rts(qp), 0);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), -EINVAL);
	roce_qp_to_error(qp);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_int_equal(roce_qp_to_rts(qp), -EINVAL);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), -EINVAL);
	roce_qp_to_error(qp);
	roce_qp_to_reset(qp);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RESET);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	unlock();
	/* None of this is news: the caller did it. */
	assert_int_equal(end.async_events, 0);
}

UNIT_RULE(to_rtr__judges_the_connection)
{
	struct roce_qp *qp = fx_qp(&end, NULL);
	const struct roce_qp_connect good = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_connect bad[10];

	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = good;
	bad[0].retry = 8;
	bad[1].rnr_retry = 8;
	bad[2].rnr_timer = 32;
	bad[3].ack_timeout = 32;
	bad[4].dest_qp = 1u << 24;
	bad[5].rq_psn = 1u << 24;
	bad[6].sq_psn = 1u << 24;
	bad[7].path.mtu_code = 0;
	bad[8].path.mtu_code = 6;
	bad[9].path.dst_ip.b[0] = 0x20; /* IPv6, from an IPv4 address */
	lock();
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(roce_qp_to_rtr(qp, &bad[i]), -EINVAL);
		assert_int_equal(roce_qp_state(qp), ROCE_QP_RESET);
	}
	assert_int_equal(roce_qp_to_rtr(qp, &good), 0);
	unlock();
}

/* Everything ends before the call returns: in flight, unsent, unsignalled, the receive in use; in order. */
UNIT_RULE(to_error__flushes_in_order)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);
	struct roce_event event[200];

	fx_fill_srq(&end, 2, 4096);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_FIRST, FX_RQ_PSN, FX_MTU, 0);
	for (uint64_t i = 0; i < 150; i++)
		assert_int_equal(fx_send(&end, qp, i, 0, 8, i & 1 ? ROCE_WR_SIGNALED : 0), 0);
	fx_tx_drop(&end);
	fx_to_error(qp);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 200), 150);
	for (uint64_t i = 0; i < 150; i++) {
		assert_fields(event[i], (wr_id, i), (status, IBV_WC_WR_FLUSH_ERR),
				(kind, ROCE_EVENT_SEND));
	}
	event[0] = fx_event(end.recv_cq);
	assert_fields(event[0], (wr_id, 0), (status, IBV_WC_WR_FLUSH_ERR));
	fx_expect_counts(end.srq, 256, 1, 1);
	assert_int_equal(end.async_events, 0);
	/* No request leaves any more, and no timer runs. */
	fx_tx_none(&end);
	assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
}

static struct roce_qp *
end_behind(uint32_t messages, uint8_t opcode, uint32_t ahead)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);

	fx_fill_srq(&end, messages, 64);
	/* A queue pair that comes up is on the ready list once, with no frame to send. */
	fx_tx_none(&end);
	for (uint32_t i = 0; i < messages; i++)
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + i, 8, FX_ACKREQ);
	if (ahead > 0)
		fx_rx_request(&end, &peer, opcode, FX_RQ_PSN + messages + ahead - 1, 8, FX_ACKREQ);
	fx_to_error(qp);
	return qp;
}

/* Its consumer was told that it came, so the peer is told, too: at once, though bursts are full and more may come. */
UNIT_RULE(to_error__acknowledges_what_was_received)
{
	end_behind(3, 0, 0);
	end.engine->busy = true;
	assert_fields(fx_tx_one(&end), (syndrome, FX_ACK), (psn, FX_RQ_PSN + 2), (msn, 3));
	fx_tx_none(&end);
}

/* That something is missing, or that there is no receive, is not said any more: only what came before it. */
UNIT_RULE(to_error__reports_no_gap)
{
	const uint32_t ahead[] = { 2, 1 };

	for (size_t i = 0; i < RTE_DIM(ahead); i++) {
		struct roce_qp *qp = end_behind(2, IBV_OPCODE_RC_SEND_ONLY, ahead[i]);

		assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
		roce_qp_destroy(qp);
		qp = end_behind(0, IBV_OPCODE_RC_SEND_ONLY, ahead[i]);
		fx_tx_none(&end);
		roce_qp_destroy(qp);
	}
}

/* Without another end, too, nobody is there to agree upon a READ, and nobody is needed to flush one. */
UNIT_RULE(to_error__flushes_what_was_never_agreed_upon)
{
	struct roce_qp *qp = fx_qp(&end, NULL);
	const struct roce_sge sge = { (uintptr_t)end.memory, 8, end.key };
	const struct roce_wr wr = { .wr_id = 7,
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED };

	fx_to_error(qp);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	fx_tx_none(&end);
	assert_fields(fx_event(end.send_cq), (wr_id, 7), (status, IBV_WC_WR_FLUSH_ERR));
}

/* Dropped, not flushed; and the next connection starts clean. */
UNIT_RULE(to_reset__drops_and_starts_over)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp *qp = fx_played_qp(&end, &peer);

	for (unsigned int round = 0; round < 3; round++) {
		fx_fill_srq(&end, 1, 4096);
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_FIRST, FX_RQ_PSN, FX_MTU, FX_ACKREQ);
		fx_send_many(&end, qp, 200, 8, ROCE_WR_SIGNALED);
		if (round != 1)
			fx_tx_drop(&end);
		fx_rx_answer(&end, &peer, FX_RNR(0), FX_SQ_PSN);
		fx_to_reset(qp);
		assert_int_equal(roce_cq_count(end.send_cq), 0);
		assert_int_equal(roce_cq_count(end.recv_cq), 0);
		fx_expect_counts(end.srq, 256, 0, 0);
		assert_int_equal(fx_requests(qp), 0);
		assert_int_equal(fx_receives(qp), 0);
		fx_tx_none(&end);
		assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);

		fx_up(qp, &connect);
		assert_int_equal(fx_send(&end, qp, 7, 0, 8, ROCE_WR_SIGNALED), 0);
		assert_int_equal(fx_tx_one(&end).psn, FX_SQ_PSN);
		fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
		assert_int_equal(fx_event(end.send_cq).wr_id, 7);
		fx_fill_srq(&end, 1, 64);
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
		assert_fields(fx_tx_one(&end), (psn, FX_RQ_PSN), (msn, 1));
		assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
		fx_to_reset(qp);
		fx_up(qp, &connect);
	}
}

/* A graceful end is told once, when the last request is through. */
UNIT_RULE(drain__tells_once)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);

	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_send(&end, qp, 2, 0, 8, ROCE_WR_SIGNALED), 0);
	fx_drain(qp);
	assert_int_equal(fx_tx_drop(&end), 2);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	assert_int_equal(end.async_events, 0);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + 1);
	assert_int_equal(roce_cq_count(end.send_cq), 2);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_DRAINED);
	fx_tx_none(&end);
	assert_int_equal(end.async_events, 1);

	/* The drain has no request to wait for: the event comes in the next poll, not inside the call. */
	fx_drain(qp);
	assert_int_equal(end.async_events, 1);
	fx_tx_none(&end);
	fx_expect_async(&end, 2, ROCE_ENGINE_ASYNC_QP_DRAINED);
}

/* The consumer may end the queue pair when it gets the event, so an acknowledgement that is owed goes out before. */
UNIT_RULE(drain__tells_behind_the_acknowledgement)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);

	fx_fill_srq(&end, 1, 64);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	fx_drain(qp);
	fx_tx_drop(&end);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	assert_int_equal(end.async_events, 0);
	assert_int_equal(fx_tx_one(&end).psn, FX_RQ_PSN);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_DRAINED);
}

/* A queue pair that breaks while it drains says that it broke. */
UNIT_RULE(drain__ends_with_a_break)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);

	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	fx_drain(qp);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_BROKEN);
	fx_tx_none(&end);
	assert_int_equal(end.async_events, 1);
}

/* A break tells its owner. */
UNIT_RULE(broken__names_the_owner)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp *qp;
	int owner;

	attr.owner = &owner;
	qp = fx_play(&end, &attr, &connect, &peer);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	assert_ptr_equal(end.async_event[0].owner, &owner);
	assert_ptr_equal(fx_event(end.send_cq).owner, &owner);
}
