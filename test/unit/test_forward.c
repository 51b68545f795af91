/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame that arrives on one engine for a queue pair of another: it is forwarded, and the owner's inbox is bounded. */

#include "engine_scene.h"

/* Two engines; the queue pair that is made first is the second one's. */
static int
setup(void **state)
{
	const struct fx_options two = { .engines = 2, .first_qpn = 0x101 };

	fx_end_open(&end, 1, &two);
	return 0;
}

/* A frame that reaches another engine's queue is forwarded to the owner of its queue pair, in order. */
UNIT_RULE(forward__reaches_the_owner)
{
	struct roce_engine *owner;
	struct rte_mbuf *pkts[40];
	struct roce_event event[40];

	qp = fx_played_qp(&end, &peer);
	fx_fill_srq(&end, 40, 64);
	owner = roce_domain_engine(end.domain, 1);
	assert_ptr_equal(roce_qp_engine(qp), owner);
	for (uint32_t i = 0; i < 40; i++)
		pkts[i] = request(i);
	assert_int_equal(roce_engine_deadline(owner), 0); /* since it came up */
	assert_int_equal(feed(end.engine, pkts, 40), 0);
	assert_int_equal(fx_stats(&end)->rx_handed_over, 40);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_int_equal(roce_engine_deadline(owner), 0);
	/* A call without frames takes in what was forwarded. */
	assert_int_equal(feed(owner, NULL, 0), 0);
	assert_int_equal(feed(owner, NULL, 0), 0);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 40), 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(event[i].wr_id, i);
}

/* The way back is bounded: what does not fit the inbox is dropped and counted, and comes again. */
UNIT_RULE(forward__is_bounded)
{
	struct rte_mbuf *m = NULL;

	qp = fx_played_qp(&end, &peer);
	/* Two references to one frame stand for many frames. */
	for (uint32_t i = 0; i < ROCE_INBOX_LEN + 10; i++) {
		if (m == NULL)
			m = request(0);
		rte_mbuf_refcnt_update(m, 1);
		assert_int_equal(feed(end.engine, &m, 1), 0);
	}
	assert_int_equal(fx_stats(&end)->rx_inbox_full, 11);
	rte_pktmbuf_free(m);
	/* Frames that wait in an inbox are freed with its domain: teardown() checks. */
}

/* A frame whose queue pair died on the way is dropped. */
UNIT_RULE(forward__survives_the_end_of_the_queue_pair)
{
	struct rte_mbuf *m;

	qp = fx_played_qp(&end, &peer);
	m = request(0);
	assert_int_equal(feed(end.engine, &m, 1), 0);
	roce_qp_destroy(qp);
	assert_int_equal(feed(roce_domain_engine(end.domain, 1), NULL, 0), 0);
	assert_int_equal(roce_engine_stats(roce_domain_engine(end.domain, 1))->rx_unknown_qp, 1);
}

/* Its address may be gone too: then the frame is foreign, and nobody is there to leave it to. */
UNIT_RULE(forward__survives_the_end_of_the_address)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct rte_mbuf *m;

	connect.path.src_ip = fx_ip(200);
	qp = fx_play(&end, NULL, &connect, &peer);
	m = request(0);
	assert_int_equal(feed(end.engine, &m, 1), 0);
	roce_qp_destroy(qp);
	assert_int_equal(feed(roce_domain_engine(end.domain, 1), NULL, 0), 0);
	/* teardown finds the frame back in its pool */
}

/* A DREQ that another engine received must not overtake acknowledgements of the own burst: forwarded frames come last. */
UNIT_RULE(forward__comes_behind_the_own_burst)
{
	struct fx_options two = { .engines = 2, .first_qpn = 0x100 };
	struct rte_mbuf *first, *second;

	fx_end_close(&end);
	fx_end_open(&end, 1, &two);
	qp = fx_played_qp(&end, &peer);
	assert_ptr_equal(roce_qp_engine(qp), end.engine);
	fx_fill_srq(&end, 2, 64);
	first = request(0);
	second = request(1);
	assert_int_equal(feed(roce_domain_engine(end.domain, 1), &second, 1), 0);
	assert_int_equal(feed(end.engine, &first, 1), 0);
	assert_int_equal(roce_cq_count(end.recv_cq), 2);
	assert_int_equal(fx_stats(&end)->out_of_sequence, 0);
}
