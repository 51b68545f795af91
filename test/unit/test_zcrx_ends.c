/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are given when a connection, a queue pair or the domain ends; and a wire that loses and repeats. */

#include "zcrx_scene.h"

/* ---- ends ---- */

/* A program keeps an mbuf that it took for as long as it likes. */
UNIT_RULE(destroy__leaves_what_was_taken)
{
	struct rte_mbuf *m[2];
	uint32_t first = psn;

	post(0, 3);
	for (unsigned int i = 0; i < 3; i++)
		hear();
	m[0] = take(0);
	m[1] = take(1);
	roce_qp_destroy(qp);
	rte_pktmbuf_free(m[0]);
	judge(m[1], first + 1);
	assert_int_equal(rte_mempool_avail_count(heads), 14);
	rte_pktmbuf_free(m[1]);
}

/* Also longer than all there was of the end: the memory that counts it goes with the last frame. */
UNIT_RULE(domain__may_go_before_what_was_taken)
{
	struct rte_mbuf *m;
	uint32_t number;

	post(0, 1);
	number = hear();
	m = take(0);
	roce_qp_destroy(qp);
	fx_end_close(&end);
	assert_int_equal(fx_live(), 2);
	judge(m, number);
	rte_pktmbuf_free(m);
	assert_int_equal(fx_live(), 0);
}

/* Frames that are out count: no other queue pair may give in their place. */
UNIT_RULE(destroy__keeps_its_part_until_the_last_frame_is_home)
{
	struct roce_qp_attr attr = attr_of(MAY);
	struct rte_mbuf *m[2];

	post(0, 2);
	hear();
	hear();
	m[0] = take(0);
	m[1] = take(1);
	roce_qp_destroy(qp);
	assert_int_equal(roce_qp_create(&attr, &qp), -ENOMEM);
	rte_pktmbuf_free(m[1]);
	assert_int_equal(roce_qp_create(&attr, &qp), -ENOMEM);
	rte_pktmbuf_free(m[0]);
	assert_int_equal(roce_qp_create(&attr, &qp), 0);
}

/* It was acknowledged, and its event stands in the queue: the consumer has not heard of the end yet. */
UNIT_RULE(error__leaves_what_was_told)
{
	struct rte_mbuf *m;
	uint32_t number;

	post(0, 2);
	number = hear();
	fx_to_error(qp);
	m = take(0);
	judge(m, number);
	rte_pktmbuf_free(m);
	assert_fields(fx_event(end.recv_cq), (wr_id, 1), (status, IBV_WC_WR_FLUSH_ERR), (flags, 0));
}

/* A frame that was not taken is no use to the next connection; one that was taken stays with the program. */
UNIT_RULE(reset__frees_what_nobody_took)
{
	struct roce_event event;
	struct rte_mbuf *m;
	uint32_t number;

	post(0, 3);
	number = hear();
	hear();
	m = take(0);
	event = told(1);
	fx_to_reset(qp);
	assert_null(roce_qp_take_mbuf(qp, &event));
	assert_int_equal(rte_mempool_avail_count(heads), 14);
	connect_it();
	post(10, GIVEN);
	for (unsigned int i = 0; i < GIVEN - 1; i++)
		hear();
	for (unsigned int i = 0; i < GIVEN - 1; i++)
		rte_pktmbuf_free(take(10 + i));
	judge(m, number);
	rte_pktmbuf_free(m);
}

/* ---- a bad wire ---- */

#define MESSAGES 400u
#define HELD     (GIVEN - 1)

static uint32_t dice = 1;

/* One in @p of. */
static bool
throws(uint32_t of)
{
	dice = dice * 1664525u + 1013904223u;
	return (dice >> 16) % of == 0;
}

/* The frames of one end reach the other; some are lost, and some arrive twice. */
static unsigned int
carry(struct fx_end *from, struct fx_end *to)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(from, pkts, 32);

	for (uint16_t i = 0; i < n; i++) {
		if (throws(7))
			fx_rx(to, rte_pktmbuf_copy(pkts[i], unit_pool(), 0, UINT32_MAX));
		if (throws(9))
			rte_pktmbuf_free(pkts[i]);
		else
			fx_rx(to, pkts[i]);
	}
	return n;
}

static struct fx_end other;

/* Time goes on to what is due next at either end; not when only the consumer has something left to do. */
static void
pass_time(void)
{
	uint64_t due = RTE_MIN(
			roce_engine_deadline(end.engine), roce_engine_deadline(other.engine));

	if (due == ROCE_NEVER)
		return;
	end.now = RTE_MAX(due, end.now + 1);
	other.now = end.now;
}

/* The consumer takes what is there, and holds some of it; each message has the byte of its number. */
static uint32_t
consume(uint32_t done, struct rte_mbuf **held)
{
	struct roce_event event;

	while (roce_cq_poll(end.recv_cq, &event, 1) == 1) {
		struct rte_mbuf *m = roce_qp_take_mbuf(qp, &event);
		const uint8_t *at;

		assert_int_equal(event.wr_id, done);
		assert_non_null(m);
		at = rte_pktmbuf_mtod(m, const uint8_t *);
		assert_int_equal(m->data_len, 1 + done % BYTES);
		assert_memory_equal(at, other.memory + done, m->data_len);
		rte_pktmbuf_free(held[done % HELD]);
		held[done % HELD] = m;
		done++;
		post(done + DEPTH - 1, 1);
	}
	return done;
}

/* Each message once, in order and with its bytes; the bound was met, and nothing broke. */
UNIT_RULE(wire__loses_and_repeats)
{
	struct rte_mbuf *held[HELD] = { NULL };
	uint32_t posted = 0, done = 0;
	struct roce_qp *sender;

	roce_qp_destroy(qp);
	fx_end_open(&other, 2, NULL);
	qp = fx_qp(&end,
			&(struct roce_qp_attr){ .pd = end.pd,
					.recv_cq = end.recv_cq,
					.max_recv_wr = DEPTH,
					.max_zcrx = GIVEN });
	sender = fx_qp(&other, NULL);
	fx_join(&end, qp, &other, sender);
	post(0, DEPTH);
	while (done < MESSAGES) {
		for (; posted < MESSAGES && posted - done < DEPTH; posted++)
			assert_int_equal(fx_send(&other, sender, posted, posted, 1 + posted % BYTES,
							 0),
					0);
		if (carry(&other, &end) + carry(&end, &other) == 0)
			pass_time();
		if (throws(3))
			done = consume(done, held);
	}
	assert_int_equal(fx_stats(&end)->rx_lent, MESSAGES);
	assert_true(fx_stats(&end)->rx_lent_bound > 0);
	assert_true(fx_stats(&end)->duplicate_request > 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	for (unsigned int i = 0; i < HELD; i++)
		rte_pktmbuf_free(held[i]);
	fx_end_close(&other);
}
