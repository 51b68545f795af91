/* SPDX-License-Identifier: BSD-3-Clause */
/* The last acknowledgement of a queue pair that its consumer ends. */

#include "engine_scene.h"

#include "responder/final_ack.h"

#define QPS 3u

enum ending {
	BY_ERROR,
	BY_RESET,
	BY_DESTROY,
	ENDINGS,
};

static int
setup(void **state)
{
	fx_end_open(&end, 1, NULL);
	fx_fill_srq(&end, 200, 64);
	qp = NULL;
	return 0;
}

/* A queue pair whose peer has sent one message, which the consumer may have, and which is not acknowledged yet. */
static struct roce_qp *
receive_one(void)
{
	struct roce_qp *one = fx_played_qp(&end, &peer);

	fx_tx_none(&end);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
	return one;
}

static void
end_it(struct roce_qp *one, enum ending how)
{
	struct roce_engine *e = roce_qp_engine(one);

	roce_engine_lock(end.engine);
	if (e != end.engine)
		roce_engine_lock(e);
	if (how != BY_DESTROY)
		roce_qp_make_final_ack(one);
	if (how == BY_ERROR)
		roce_qp_to_error(one);
	else if (how == BY_RESET)
		roce_qp_to_reset(one);
	if (e != end.engine)
		roce_engine_unlock(e);
	roce_engine_unlock(end.engine);
	roce_qp_destroy(one);
}

/* IBTA Vol 1, 9.7.5.1.2: a message that was received is acknowledged. */
UNIT_RULE(final_ack__leaves_whatever_becomes_of_the_queue_pair)
{
	for (enum ending how = BY_ERROR; how < ENDINGS; how++) {
		struct fx_sent sent;

		end_it(receive_one(), how);
		assert_int_equal(roce_engine_deadline(end.engine), 0);
		sent = fx_tx_one(&end);
		assert_int_equal(sent.opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
		assert_int_equal(sent.syndrome & ROCE_AETH_KIND_MASK, ROCE_AETH_ACK);
		assert_fields(sent, (dest_qp, 0x777), (psn, FX_RQ_PSN), (msn, 1));
		fx_tx_none(&end);
		assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
		(void)fx_event(end.recv_cq);
	}
}

/* A queue pair that received nothing, or has acknowledged it already, sends nothing. */
UNIT_RULE(final_ack__is_sent_only_when_owed)
{
	for (enum ending how = BY_ERROR; how < ENDINGS; how++) {
		struct roce_qp *one = fx_played_qp(&end, &peer);

		fx_tx_none(&end);
		end_it(one, how);
		one = receive_one();
		(void)fx_tx_one(&end);
		end_it(one, how);
		fx_tx_none(&end);
		(void)fx_event(end.recv_cq);
	}
}

/* The peer asked for no acknowledgement yet: it would have, with a later message. */
UNIT_RULE(final_ack__needs_no_request)
{
	for (enum ending how = BY_ERROR; how < ENDINGS; how++) {
		struct roce_qp *one = fx_played_qp(&end, &peer);

		for (uint32_t i = 0; i < 2; i++)
			fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + i, 8, 0);
		fx_tx_none(&end);
		end_it(one, how);
		assert_fields(fx_tx_one(&end), (opcode, IBV_OPCODE_RC_ACKNOWLEDGE),
				(psn, FX_RQ_PSN + 1), (msn, 2));
	}
}

/* That a frame is missing is not said any more; what came before it is acknowledged. */
UNIT_RULE(final_ack__reports_no_gap)
{
	struct roce_qp *one = receive_one();
	struct fx_sent sent;

	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + 2, 8, FX_ACKREQ);
	end_it(one, BY_DESTROY);
	sent = fx_tx_one(&end);
	assert_int_equal(sent.syndrome & ROCE_AETH_KIND_MASK, ROCE_AETH_ACK);
	assert_int_equal(sent.psn, FX_RQ_PSN);
}

static uint16_t
tx_dreq(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	bool *sent = arg;

	if (*sent || max == 0)
		return 0;
	*sent = true;
	pkts[0] = fx_request(&peer, IBV_OPCODE_UD_SEND_ONLY, 0, 256, 0);
	return 1;
}

/* The peer has the acknowledgement when the DREQ comes. */
UNIT_RULE(final_ack__goes_ahead_of_the_connection_manager)
{
	bool said = false;
	const struct roce_gsi hook = { .tx = tx_dreq, .arg = &said };
	const struct fx_sent *sent;

	end_it(receive_one(), BY_DESTROY);
	roce_domain_set_gsi(end.domain, &hook);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
	assert_int_equal(sent[1].opcode, IBV_OPCODE_UD_SEND_ONLY);
}

/* In order, as many as there is room for in a poll. */
UNIT_RULE(final_ack__waits_for_room)
{
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < QPS; i++) {
		struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x700 + i);
		struct roce_qp *one = fx_play(&end, NULL, &connect, &peer);

		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
		roce_qp_destroy(one);
	}
	assert_int_equal(fx_take(&end, &m, 0), 0);
	for (uint32_t i = 0; i < QPS; i++) {
		struct roce_pkt pkt;

		assert_int_equal(fx_take(&end, &m, 1), 1);
		assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
		assert_true(roce_icrc_ok(&pkt));
		assert_int_equal(pkt.dest_qp, 0x700 + i);
		rte_pktmbuf_free(m);
	}
	fx_tx_none(&end);
}

/* However many end between two polls, and however small the pool is, the frames of the others are not used up. */
UNIT_RULE(final_ack__is_bounded)
{
	const unsigned int quarter = unit_pool()->size / 4;

	assert_in_range(quarter, 1, ROCE_FINAL_ACKS_MAX - 1);
	for (unsigned int i = 0; i < ROCE_FINAL_ACKS_MAX + 10; i++) {
		struct roce_qp *one = fx_played_qp(&end, &peer);
		struct roce_event event;

		fx_fill_srq(&end, 1, 64);
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
		assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
		roce_qp_destroy(one);
	}
	assert_int_equal(fx_tx_drop(&end), quarter);
}

/* Of a domain with several engines the first one sends them, as it does the connection manager's messages. */
UNIT_RULE(final_ack__of_another_engine)
{
	const struct fx_options two = { .engines = 2, .first_qpn = 0x101 };
	struct roce_engine *other;
	struct roce_qp *one;
	struct rte_mbuf *m;

	fx_end_close(&end);
	fx_end_open(&end, 1, &two);
	fx_fill_srq(&end, 1, 64);
	other = roce_domain_engine(end.domain, 1);
	one = fx_played_qp(&end, &peer);
	assert_ptr_equal(roce_qp_engine(one), other);
	m = fx_request(&peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, FX_ACKREQ);
	assert_int_equal(feed(end.engine, &m, 1), 0);
	/* Engine 0 received the frame; whoever ends the queue pair has it executed before. */
	roce_engine_lock(other);
	roce_engine_rx_forwarded(other, end.now);
	roce_engine_unlock(other);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
	end_it(one, BY_ERROR);
	roce_engine_lock(other);
	assert_int_equal(roce_engine_tx(other, &m, 1, end.now), 0);
	roce_engine_unlock(other);
	assert_int_equal(fx_tx_one(&end).psn, FX_RQ_PSN);
}

/* A frame that is never sent is freed with the domain: teardown looks. */
UNIT_RULE(final_ack__ends_with_its_domain)
{
	end_it(receive_one(), BY_DESTROY);
}
