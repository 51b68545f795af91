/* SPDX-License-Identifier: BSD-3-Clause */
/* How many frames are given: the bound of a queue pair, that of the domain, and pools that are empty. */

#include <errno.h>

#include "zcrx_scene.h"

/* ---- who may give ---- */

UNIT_RULE(create__wants_a_queue_of_its_own_and_events)
{
	struct roce_qp_attr attr = attr_of(1);
	struct roce_qp *other;

	attr.srq = end.srq;
	assert_int_equal(roce_qp_create(&attr, &other), -EINVAL);
	attr = attr_of(1);
	attr.recv_cq = NULL;
	assert_int_equal(roce_qp_create(&attr, &other), -EINVAL);
	attr = attr_of(ROCE_ZCRX_MAX + 1);
	assert_int_equal(roce_qp_create(&attr, &other), -EINVAL);
}

/* All queue pairs together have what the domain may give; one that ends gives its part back. */
UNIT_RULE(create__takes_a_part_of_what_the_domain_gives)
{
	struct roce_qp_attr attr = attr_of(MAY - GIVEN + 1);
	struct roce_qp *other, *third;

	assert_int_equal(roce_qp_create(&attr, &other), -ENOMEM);
	attr.max_zcrx = MAY - GIVEN;
	assert_int_equal(roce_qp_create(&attr, &other), 0);
	attr.max_zcrx = 1;
	assert_int_equal(roce_qp_create(&attr, &third), -ENOMEM);
	roce_qp_destroy(other);
	assert_int_equal(roce_qp_create(&attr, &third), 0);
	roce_qp_destroy(third);
}

/* Where no frame may be given all else is as ever. */
UNIT_RULE(create__is_refused_where_no_frame_is_given)
{
	struct roce_qp_attr attr;
	struct roce_qp *other;

	roce_qp_destroy(qp);
	fx_end_close(&end);
	fx_end_open(&end, 1, NULL);
	attr = attr_of(1);
	assert_int_equal(roce_qp_create(&attr, &other), -ENOMEM);
	attr.max_zcrx = 0;
	assert_int_equal(roce_qp_create(&attr, &other), 0);
	roce_qp_destroy(other);
}

/* Memory that runs out anywhere: nothing is kept, neither memory nor a part of what may be given. */
UNIT_RULE(create__unwinds)
{
	struct roce_qp_attr attr = attr_of(MAY - GIVEN);
	unsigned int live = fx_live();
	struct roce_qp *other;
	unsigned int n = 0;

	attr.max_dest_rd_atomic = 4;
	for (;;) {
		int rc;

		fx_fail(++n);
		rc = roce_qp_create(&attr, &other);
		fx_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(fx_live(), live);
	}
	assert_true(n > 5);
	roce_qp_destroy(other);
	assert_int_equal(fx_live(), live);
}

UNIT_RULE(post__wants_no_segments_and_a_queue_with_zcrx)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 0, 0, BYTES);
	struct roce_qp_attr attr = attr_of(0);
	struct roce_qp *plain;

	wr.flags = ROCE_WR_ZCRX;
	assert_int_equal(roce_qp_post_recv(qp, &wr), -EINVAL);
	wr.num_sge = 0;
	assert_int_equal(roce_srq_post(end.srq, &wr), -EINVAL);
	plain = fx_qp(&end, &attr);
	assert_int_equal(roce_qp_post_recv(plain, &wr), -EINVAL);
	assert_int_equal(fx_receives(qp), 0);
	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
	assert_int_equal(fx_receives(qp), 1);
}

/* As many as any others, also when more are posted than may be given. */
UNIT_RULE(post__holds_its_depth)
{
	post(0, DEPTH);
	assert_int_equal(try_post(DEPTH), -ENOSPC);
}

/* ---- the bound ---- */

/* The message waits at its sender, and the receive where it is; no message is lost. */
UNIT_RULE(bound__is_receiver_not_ready)
{
	struct rte_mbuf *m[GIVEN + 1];
	uint32_t first = psn;

	post(0, GIVEN + 2);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	answers(ROCE_AETH_ACK | roce_credit_encode(2));
	for (unsigned int i = 0; i < GIVEN; i++)
		m[i] = take(i);
	for (unsigned int i = 0; i < 2; i++) {
		hear();
		psn--;
		answers(FX_RNR(12));
		assert_int_equal(fx_receives(qp), 2);
		assert_fields(*fx_stats(&end), (rx_lent_bound, i + 1), (rnr_nak_sent, i + 1));
	}
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	rte_pktmbuf_free(m[1]);
	hear();
	m[1] = take(GIVEN);
	judge(m[1], first + GIVEN);
	hear();
	psn--;
	rte_pktmbuf_free(m[0]);
	hear();
	m[0] = take(GIVEN + 1);
	judge(m[0], first + GIVEN + 1);
	for (unsigned int i = 0; i < GIVEN; i++)
		rte_pktmbuf_free(m[i]);
	assert_int_equal(fx_stats(&end)->out_of_buffer, 0);
}

/* A frame whose completion was reaped and that was not taken counts as held. */
UNIT_RULE(bound__counts_what_nobody_took)
{
	struct roce_event event;

	post(0, GIVEN + 1);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	(void)fx_tx_one(&end);
	event = told(0);
	hear();
	psn--;
	answers(FX_RNR(12));
	rte_pktmbuf_free(roce_qp_take_mbuf(qp, &event));
	hear();
	answers(ROCE_AETH_ACK | roce_credit_encode(0));
}

/* Receives that copy, messages without bytes and WRITEs need no frame. */
UNIT_RULE(bound__is_nothing_to_others)
{
	struct roce_event event;

	post(0, GIVEN);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	post_copying(10);
	post(11, 2);
	hear();
	fx_rx_request(&end, &peer, ONLY, psn++, 0, 0);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, psn++, 0, 0);
	for (unsigned int i = 0; i < GIVEN; i++)
		(void)told(i);
	for (unsigned int i = 10; i < 13; i++) {
		assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i), (status, IBV_WC_SUCCESS));
	}
	assert_int_equal(fx_stats(&end)->rx_lent_bound, 0);
}

/* One that holds all that it may does not stop another. */
UNIT_RULE(bound__is_of_the_queue_pair)
{
	struct roce_qp_attr attr = attr_of(1);

	post(0, GIVEN);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	qp = fx_qp(&end, &attr);
	connect_it();
	post(100, 1);
	hear();
	assert_int_equal(fx_stats(&end)->rx_lent, GIVEN + 1);
	for (unsigned int i = 0; i < GIVEN; i++)
		(void)told(i);
	rte_pktmbuf_free(take(100));
}

/* A high watermark is looked at as without. */
UNIT_RULE(watermark__is_kept_beside)
{
	roce_qp_set_watermarks(qp, ROCE_HIGH_NONE, 1);
	roce_qp_set_watermarks(qp, ROCE_HIGH_NONE, ROCE_HIGH_NONE);
	post(0, GIVEN + 1);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	(void)fx_tx_one(&end);
	hear();
	answers(FX_RNR(12));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	roce_qp_set_watermarks(qp, ROCE_HIGH_NONE, 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* ---- pools ---- */

static unsigned int
empty(struct rte_mempool *pool, struct rte_mbuf **m)
{
	unsigned int n = 0;

	while ((m[n] = rte_pktmbuf_alloc(pool)) != NULL)
		n++;
	return n;
}

/* A pool that somebody else uses up: as at the bound. */
UNIT_RULE(heads__that_are_gone_are_receiver_not_ready)
{
	struct rte_mbuf *m[16];
	unsigned int n = empty(heads, m);

	post(0, 1);
	hear();
	psn--;
	answers(FX_RNR(12));
	assert_int_equal(fx_stats(&end)->rx_lent_bound, 1);
	rte_pktmbuf_free_bulk(m, n);
	hear();
	judge(m[0] = take(0), psn - 1);
	rte_pktmbuf_free(m[0]);
}

/* The same; a message that comes again in a frame of its own needs no copy any more. */
UNIT_RULE(copies__that_are_gone_are_receiver_not_ready)
{
	struct rte_mbuf *m[16];
	unsigned int n = empty(copies, m);
	struct rte_mbuf *frame = fx_request(&peer, ONLY, psn, BYTES, 0);

	post(0, 2);
	fx_rx(&end, rte_pktmbuf_clone(frame, unit_pool()));
	answers(FX_RNR(12));
	assert_int_equal(fx_receives(qp), 2);
	hear();
	rte_pktmbuf_free(frame);
	frame = fx_request(&peer, ONLY, psn, BYTES, 0);
	fx_rx(&end, rte_pktmbuf_clone(frame, unit_pool()));
	rte_pktmbuf_free_bulk(m, n);
	fx_rx(&end, rte_pktmbuf_clone(frame, unit_pool()));
	judge(m[0] = take(0), psn - 1);
	judge(m[1] = take(1), psn);
	rte_pktmbuf_free_bulk(m, 2);
	rte_pktmbuf_free(frame);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 1);
}

/* An event that found no room: nobody can ask for its frame, and it is none of those that are held. */
UNIT_RULE(overflow__gives_no_frame)
{
	struct fx_options options = zcrx_options();
	struct roce_qp_attr attr;

	fx_end_close(&end);
	options.cq_depth = 1;
	fx_end_open(&end, 1, &options);
	attr = attr_of(GIVEN);
	qp = fx_qp(&end, &attr);
	connect_it();
	post(0, DEPTH);
	for (unsigned int i = 0; i < DEPTH; i++)
		hear();
	assert_fields(*fx_stats(&end), (cq_overflow, DEPTH - 1), (rx_lent_bound, 0));
	rte_pktmbuf_free(take(0));
	assert_int_equal(rte_mempool_full(heads), 1);
}
