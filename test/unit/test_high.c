/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The high watermarks of a queue pair: more receives than the soft one make one async event, more than the hard one break
 * the connection. From a shared queue it has what it took and has not completed: one at the most. Of a queue of its
 * own it has what is posted, too.
 */

#include "srq_scene.h"

#define NONE ROCE_HIGH_NONE

static unsigned int events_at_async_event;

static void
look_round(struct fx_end *e)
{
	events_at_async_event = roce_cq_count(e->recv_cq);
}

static int
setup_watched(void **state)
{
	setup(state);
	end.on_async_event = look_round;
	return 0;
}

static void
set_high(struct client *c, uint32_t soft, uint32_t hard)
{
	client_lock(c);
	roce_qp_set_high(c->qp, soft, hard);
	client_unlock(c);
}

static void
check_high(struct client *c)
{
	client_lock(c);
	roce_qp_check_high(c->qp);
	client_unlock(c);
}

/* How often this was delivered; every async event is of this client. */
static unsigned int
delivered(enum roce_engine_async kind, const struct client *c)
{
	unsigned int times = 0;

	for (unsigned int i = 0; i < end.async_events; i++) {
		assert_ptr_equal(end.async_event[i].owner, c);
		times += end.async_event[i].kind == kind;
	}
	return times;
}

static unsigned int
delivered_soft(const struct client *c)
{
	return delivered(ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, c);
}

static unsigned int
delivered_broken(const struct client *c)
{
	return delivered(ROCE_ENGINE_ASYNC_QP_BROKEN, c);
}

/* A queue pair with a receive queue of its own, in RESET, with so many receives posted. */
static void
own_queue(struct client *c, uint32_t posted)
{
	struct roce_qp_attr attr = fx_attr(&end);

	attr.srq = NULL;
	attr.max_recv_wr = 16;
	attr.owner = c;
	*c = (struct client){ .qp = fx_qp(&end, &attr),
		.connect = fx_connect(&end, fx_ip(99), 0x777) };
	for (uint32_t i = 0; i < posted; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, LONG_LEN);

		assert_int_equal(roce_qp_post_recv(c->qp, &wr), 0);
	}
}

static void
post_own(struct client *c, uint64_t wr_id)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, wr_id, 0, LONG_LEN);

	assert_int_equal(roce_qp_post_recv(c->qp, &wr), 0);
}

/* ---- soft ---- */

/*
 * On a shared queue: zero is exceeded by the first take, one by none, none by nothing. Told once, before the
 * completion, and the connection goes on.
 * Proves: ep_set_watermark.2 ep_set_watermark.4 ep_recv_query.1
 */
UNIT_RULE_IN(soft__on_a_shared_queue, setup_watched, teardown)
{
	static const struct {
		uint32_t soft;
		unsigned int want;
	} rule[] = { { 0, 1 }, { 1, 0 }, { 2, 0 }, { INT32_MAX, 0 }, { NONE, 0 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct client c;

		end.async_events = 0;
		client_on(&c, end.srq, end.recv_cq);
		fx_fill_srq(&end, 3, LONG_LEN);
		set_high(&c, rule[i].soft, NONE);
		assert_int_equal(end.async_events, 0);
		arrive(&c);
		assert_int_equal(delivered_soft(&c), rule[i].want);
		assert_int_equal(end.async_event[0].status, 0);
		assert_int_equal(reap(end.recv_cq), 0);
		begin(&c);
		assert_int_equal(fx_receives(c.qp), 1);
		finish(&c);
		arrive(&c);
		assert_int_equal(fx_receives(c.qp), 0);
		assert_int_equal(delivered_soft(&c), rule[i].want);
		assert_int_equal(end.async_events, rule[i].want);
		assert_int_equal(events_at_async_event, 0);
		assert_int_equal(roce_qp_state(c.qp), ROCE_QP_RTS);
		reap_many(end.recv_cq, 2);
		roce_qp_destroy(c.qp);
	}
}

/* A queue pair without a watermark gets no event, and does not break. */
UNIT_RULE_IN(marks__default_to_none, setup_watched, teardown)
{
	struct client c, own;

	client_on(&c, end.srq, end.recv_cq);
	own_queue(&own, 16);
	client_connect(&own);
	fx_fill_srq(&end, 1, LONG_LEN);
	check_high(&c);
	check_high(&own);
	begin(&c);
	begin(&own);
	check_high(&c);
	check_high(&own);
	assert_int_equal(end.async_events, 0);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_state(own.qp), ROCE_QP_RTS);
}

/*
 * Once for each setting; each setting arms again, and is judged at once.
 * Proves: ep_set_watermark.1 ep_set_watermark.2 ep_set_watermark.5
 */
UNIT_RULE_IN(soft__is_told_once_for_each_setting, setup_watched, teardown)
{
	struct client c;

	client_on(&c, end.srq, end.recv_cq);
	fx_fill_srq(&end, 20, LONG_LEN);
	for (unsigned int setting = 1; setting <= 3; setting++) {
		set_high(&c, 0, NONE);
		assert_int_equal(delivered_soft(&c), setting - 1);
		for (unsigned int i = 0; i < 3; i++) {
			arrive(&c);
			assert_int_equal(delivered_soft(&c), setting);
			check_high(&c);
		}
	}
	begin(&c);
	assert_int_equal(delivered_soft(&c), 3);
	/* It holds one now: exceeded inside the call, each time; equal is not exceeded. */
	set_high(&c, 1, NONE);
	assert_int_equal(delivered_soft(&c), 3);
	set_high(&c, 0, NONE);
	assert_int_equal(delivered_soft(&c), 4);
	check_high(&c);
	assert_int_equal(delivered_soft(&c), 4);
	set_high(&c, 0, NONE);
	assert_int_equal(delivered_soft(&c), 5);
	/* Replaced before it came to anything. */
	finish(&c);
	set_high(&c, 0, NONE);
	set_high(&c, NONE, NONE);
	arrive(&c);
	assert_int_equal(delivered_soft(&c), 5);
	assert_int_equal(end.async_events, 5);
}

/*
 * On a queue of its own every posted receive counts at once, and the one that a message is filling as well.
 * Proves: ep_recv_query.1 ep_set_watermark.2 ep_set_watermark.5 ep_set_watermark.8
 */
UNIT_RULE_IN(soft__on_an_own_queue, setup_watched, teardown)
{
	for (uint32_t posted = 0; posted <= 5; posted++) {
		for (uint32_t soft = 0; soft <= 6; soft++) {
			struct client c;

			end.async_events = 0;
			own_queue(&c, posted);
			assert_int_equal(fx_receives(c.qp), posted);
			client_connect(&c);
			if (posted > 0) {
				begin(&c);
				assert_int_equal(fx_receives(c.qp), posted);
			}
			set_high(&c, soft, NONE);
			assert_int_equal(delivered_soft(&c), posted > soft);
			for (uint32_t n = posted + 1; n <= 8; n++) {
				post_own(&c, n);
				check_high(&c);
				assert_int_equal(delivered_soft(&c), n > soft);
			}
			if (posted > 0) {
				finish(&c);
				assert_int_equal(fx_receives(c.qp), 7);
				reap_many(end.recv_cq, 1);
			}
			assert_int_equal(end.async_events, 1);
			roce_qp_destroy(c.qp);
		}
	}
}

/* In any state: what is posted to a queue of its own is there before it is connected. */
UNIT_RULE_IN(soft__is_told_in_any_state, setup_watched, teardown)
{
	struct client c;

	own_queue(&c, 2);
	set_high(&c, 1, NONE);
	assert_int_equal(delivered_soft(&c), 1);
	client_connect(&c);
	set_high(&c, 1, NONE);
	assert_int_equal(delivered_soft(&c), 2);
	client_to_error(&c);
	assert_int_equal(fx_receives(c.qp), 0);
	set_high(&c, 0, NONE);
	assert_int_equal(delivered_soft(&c), 2);
	reap_many(end.recv_cq, 2);
}

/* ---- hard ---- */

/*
 * One receive more than allowed: the connection breaks, the receive comes back flushed with nothing written, the
 * peer hears that this end cannot, the shared queue counts exactly, and who else is on it goes on.
 * Proves: ep_set_watermark.3 srq_post_recv.9
 */
UNIT_RULE_IN(hard__breaks_the_connection, setup_watched, teardown)
{
	struct roce_srq *srq = srq_of(8);
	struct client c, witness;

	client_on(&c, srq, end.recv_cq);
	client_on(&witness, srq, end.send_cq);
	post_many(srq, 4, 0, LONG_LEN);
	set_high(&c, NONE, 0);
	set_high(&witness, NONE, 1);
	memset(end.memory, 0xee, LONG_LEN);
	begin(&c);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_ERR);
	assert_int_equal(delivered_broken(&c), 1);
	assert_int_equal(end.async_events, 1);
	assert_int_equal(end.async_event[0].status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(fx_stats(&end)->resp_over_high_watermark, 1);
	assert_fields(fx_tx_one(&end), (syndrome, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL)),
			(psn, FX_RQ_PSN));
	assert_int_equal(end.memory[0], 0xee);
	fx_expect_counts(srq, 8, 3, 4);
	assert_int_equal(fx_receives(c.qp), 0);
	/* It is over: the peer's next packets do nothing. */
	finish(&c);
	arrive(&c);
	fx_tx_none(&end);
	assert_fields(fx_event(end.recv_cq), (wr_id, 0), (status, IBV_WC_WR_FLUSH_ERR),
			(owner, &c));
	fx_expect_counts(srq, 8, 3, 3);

	for (uint64_t i = 1; i < 4; i++) {
		begin(&witness);
		finish(&witness);
		assert_int_equal(reap(end.send_cq), i);
	}
	assert_int_equal(roce_qp_state(witness.qp), ROCE_QP_RTS);
	fx_expect_counts(srq, 8, 0, 0);
	assert_int_equal(end.async_events, 1);
}

/*
 * Equal is allowed, and so is anything when there is none.
 * Proves: ep_set_watermark.3 ep_set_watermark.4
 */
UNIT_RULE_IN(hard__is_not_reached_on_a_shared_queue, setup_watched, teardown)
{
	static const uint32_t hard[] = { 1, 2, INT32_MAX, NONE };

	for (size_t i = 0; i < RTE_DIM(hard); i++) {
		struct client c;

		client_on(&c, end.srq, end.recv_cq);
		fx_fill_srq(&end, 3, LONG_LEN);
		/* Replaced before it came to anything. */
		set_high(&c, NONE, 0);
		set_high(&c, NONE, hard[i]);
		begin(&c);
		check_high(&c);
		finish(&c);
		arrive(&c);
		arrive(&c);
		assert_int_equal(roce_qp_state(c.qp), ROCE_QP_RTS);
		assert_int_equal(end.async_events, 0);
		reap_many(end.recv_cq, 3);
		roce_qp_destroy(c.qp);
	}
}

/*
 * Set below what it has, or exceeded by a post: it breaks inside the call, and what was posted is flushed in order.
 * Proves: ep_set_watermark.3 ep_set_watermark.5 ep_set_watermark.8
 */
UNIT_RULE_IN(hard__breaks_at_once_when_exceeded, setup_watched, teardown)
{
	for (unsigned int by_post = 0; by_post <= 1; by_post++) {
		struct roce_event event[4];
		struct client c;

		end.async_events = 0;
		own_queue(&c, 3);
		client_connect(&c);
		set_high(&c, NONE, 3);
		assert_int_equal(end.async_events, 0);
		if (by_post) {
			post_own(&c, 3);
			assert_int_equal(end.async_events, 0);
			check_high(&c);
		} else {
			set_high(&c, NONE, 2);
		}
		assert_int_equal(delivered_broken(&c), 1);
		assert_int_equal(end.async_event[0].status, IBV_WC_WR_FLUSH_ERR);
		/* Everything is flushed before anybody hears of it. */
		assert_int_equal(events_at_async_event, 3 + by_post);
		assert_int_equal(roce_qp_state(c.qp), ROCE_QP_ERR);
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 4), 3 + by_post);
		for (uint32_t i = 0; i < 3 + by_post; i++) {
			assert_fields(event[i], (wr_id, i), (status, IBV_WC_WR_FLUSH_ERR));
		}
		check_high(&c);
		set_high(&c, NONE, 0);
		assert_int_equal(end.async_events, 1);
		assert_int_equal(fx_stats(&end)->resp_over_high_watermark, 1 + by_post);
		roce_qp_destroy(c.qp);
	}
}

/*
 * It is armed from the moment of connection: before, any number may be posted; then it is judged.
 * Proves: ep_set_watermark.1 ep_set_watermark.7
 */
UNIT_RULE_IN(hard__waits_for_the_connection, setup_watched, teardown)
{
	struct client c;

	own_queue(&c, 3);
	set_high(&c, NONE, 2);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_RESET);
	client_lock(&c);
	assert_int_equal(roce_qp_to_rtr(c.qp, &c.connect), 0);
	roce_qp_check_high(c.qp);
	roce_qp_set_high(c.qp, NONE, 2);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_RTR);
	assert_int_equal(roce_qp_to_rts(c.qp), 0);
	assert_int_equal(end.async_events, 0);
	roce_qp_check_high(c.qp);
	client_unlock(&c);
	assert_int_equal(delivered_broken(&c), 1);
	assert_int_equal(roce_qp_state(c.qp), ROCE_QP_ERR);
	reap_many(end.recv_cq, 3);
	/* In ERR there is no connection to break. */
	set_high(&c, NONE, 0);
	post_own(&c, 9);
	check_high(&c);
	assert_int_equal(end.async_events, 1);
}

/*
 * The first message of the peer is the connection, when the word that it is established was lost: that is delivered
 * first, then that it broke.
 * Proves: ep_set_watermark.7
 */
UNIT_RULE_IN(hard__is_armed_by_the_first_message, setup_watched, teardown)
{
	struct client c;

	client_on(&c, end.srq, end.recv_cq);
	fx_fill_srq(&end, 1, LONG_LEN);
	client_to_reset(&c);
	set_high(&c, NONE, 0);
	client_lock(&c);
	assert_int_equal(roce_qp_to_rtr(c.qp, &c.connect), 0);
	client_unlock(&c);
	arrive(&c);
	assert_int_equal(end.async_events, 2);
	assert_int_equal(end.async_event[0].kind, ROCE_ENGINE_ASYNC_QP_ESTABLISHED);
	assert_int_equal(end.async_event[1].kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	fx_expect_counts(end.srq, 256, 0, 0);
}

/* ---- both ---- */

/*
 * Neither is in the way of the other: both at the same receive, the soft one first; either alone.
 * Proves: ep_set_watermark.1
 */
UNIT_RULE_IN(marks__are_independent, setup_watched, teardown)
{
	struct client c;

	own_queue(&c, 2);
	client_connect(&c);
	set_high(&c, 2, 3);
	assert_int_equal(end.async_events, 0);
	post_own(&c, 2);
	check_high(&c);
	assert_int_equal(delivered_soft(&c), 1);
	assert_int_equal(delivered_broken(&c), 0);
	/* The soft one was delivered; the hard one is still armed. */
	post_own(&c, 3);
	check_high(&c);
	assert_int_equal(delivered_soft(&c), 1);
	assert_int_equal(delivered_broken(&c), 1);
	assert_int_equal(end.async_events, 2);
	reap_many(end.recv_cq, 4);
	roce_qp_destroy(c.qp);

	end.async_events = 0;
	fx_fill_srq(&end, 1, LONG_LEN);
	client_on(&c, end.srq, end.recv_cq);
	set_high(&c, 0, 0);
	arrive(&c);
	assert_int_equal(end.async_events, 2);
	assert_int_equal(end.async_event[0].kind, ROCE_ENGINE_ASYNC_QP_SOFT_HIGH);
	assert_int_equal(end.async_event[1].kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
	reap_many(end.recv_cq, 1);
}

/*
 * They belong to the queue pair, not to the connection: what was not delivered or broken yet waits in the next one.
 * Proves: ep_set_watermark.1
 */
UNIT_RULE_IN(marks__outlive_the_connection, setup_watched, teardown)
{
	struct client c;

	client_on(&c, end.srq, end.recv_cq);
	fx_fill_srq(&end, 4, LONG_LEN);
	set_high(&c, 0, NONE);
	client_to_error(&c);
	client_to_reset(&c);
	client_connect(&c);
	assert_int_equal(end.async_events, 0);
	arrive(&c);
	assert_int_equal(delivered_soft(&c), 1);
	/* Told stays delivered. */
	client_to_reset(&c);
	client_connect(&c);
	arrive(&c);
	assert_int_equal(delivered_soft(&c), 1);
	reap_many(end.recv_cq, 2);

	set_high(&c, NONE, 0);
	for (unsigned int connection = 1; connection <= 2; connection++) {
		client_to_reset(&c);
		client_connect(&c);
		arrive(&c);
		assert_int_equal(delivered_broken(&c), connection);
		assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	}
	fx_expect_counts(end.srq, 256, 0, 0);
}

/*
 * The same of a queue of its own, which is judged by a look when the next connection is up.
 * Proves: ep_set_watermark.1 ep_set_watermark.7
 */
UNIT_RULE_IN(marks__outlive_the_connection_of_an_own_queue, setup_watched, teardown)
{
	struct client c;

	own_queue(&c, 0);
	set_high(&c, NONE, 1);
	for (unsigned int connection = 1; connection <= 2; connection++) {
		post_own(&c, 0);
		post_own(&c, 1);
		check_high(&c);
		client_connect(&c);
		assert_int_equal(delivered_broken(&c), connection - 1);
		check_high(&c);
		assert_int_equal(delivered_broken(&c), connection);
		reap_many(end.recv_cq, 2);
		client_to_reset(&c);
	}
}
