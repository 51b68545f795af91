/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds among messages, in any order and under any loss: each in its place, each once. */

#include "mw_scene.h"

#define WORLDS     500u
#define REQUESTS   40u
#define ROUNDS_MAX 4000u /**< a world needs about a hundred */

struct request {
	bool bind;
	bool fenced;
	uint32_t packets; /**< of a message */
	uint32_t first;   /**< number of its first packet */
	uint32_t key;     /**< of a bind */
};

static struct world {
	uint64_t dice;
	struct request request[REQUESTS];
	uint32_t posted;
	uint32_t packets; /**< of all that is posted */
	uint32_t sent;    /**< packets that left, at least once */
	uint32_t arrived; /**< packets that the peer has */
	uint32_t bound;   /**< one behind the bind that is in force */
	uint32_t done;    /**< requests that completed */
} w;

static uint32_t
draw(uint32_t n)
{
	w.dice = w.dice * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w.dice >> 33) % n);
}

static uint32_t
end_of(const struct request *message)
{
	return message->first + message->packets;
}

/* Which bind is in force, counted from 1. It never goes back to an earlier one: that would be one executed twice. */
static void
look_at_window(void)
{
	uint32_t key = bound_key();
	uint32_t now = 0;

	for (uint32_t i = 0; i < w.posted; i++) {
		if (w.request[i].bind && w.request[i].key == key)
			now = i + 1;
	}
	assert_true(now >= w.bound);
	w.bound = now;
}

/* Message @p i stands before the bind in force, or behind it. */
static void
judge_message(uint32_t i)
{
	const struct request *r = w.request;

	/* Every message before a bind in force was sent, and had arrived when there is a fence in between. */
	if (i < w.bound)
		assert_true(w.sent >= end_of(&r[i]));
	for (uint32_t k = i; k < w.bound; k++)
		assert_true(!r[k].fenced || w.arrived >= end_of(&r[i]));
	/* No message behind a bind that was not executed was sent. */
	for (uint32_t k = w.bound; k < i; k++)
		assert_true(!r[k].bind || w.sent <= r[i].first);
}

static void
judge_world(void)
{
	look_at_window();
	for (uint32_t i = 0; i < w.posted; i++) {
		if (!w.request[i].bind)
			judge_message(i);
	}
}

static void
post_one(void)
{
	struct request *r = &w.request[w.posted];
	struct roce_mw_bind bind = part(w.posted, 64, PEER_READS);
	uint8_t flags = ROCE_WR_SIGNALED;

	*r = (struct request){ .bind = draw(3) == 0, .first = w.packets };
	if (r->bind) {
		r->fenced = draw(4) == 0;
		flags |= r->fenced ? ROCE_WR_FENCE : 0;
		assert_int_equal(post_bind(qp, w.posted, &bind, flags), 0);
		r->key = bind.key;
	} else {
		r->packets = 1 + draw(3);
		post_send(w.posted, (r->packets - 1) * FX_MTU + 1 + draw(FX_MTU));
		w.packets += r->packets;
	}
	w.posted++;
}

/* The peer takes what comes in order, loses some of it, and answers now and then. */
static void
answer(const struct fx_sent *sent, unsigned int n)
{
	bool gap = false;

	for (unsigned int i = 0; i < n; i++) {
		int32_t ahead = roce_psn_diff(sent[i].psn, roce_psn_add(FX_SQ_PSN, w.arrived));

		w.sent = RTE_MAX(w.sent, (uint32_t)roce_psn_diff(sent[i].psn, FX_SQ_PSN) + 1);
		if (draw(4) == 0)
			continue;
		w.arrived += ahead == 0;
		gap = gap || ahead > 0;
	}
	judge_world();
	if (gap && draw(2))
		fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), FX_SQ_PSN + w.arrived);
	else if (w.arrived > 0 && draw(2))
		acknowledge(w.arrived - 1);
	judge_world();
}

/* In the order of the posts, and none before its time. */
static void
reap(void)
{
	for (; roce_cq_count(end.send_cq) > 0; w.done++) {
		const struct request *r = &w.request[w.done];

		if (r->bind)
			expect_bind_event(w.done, IBV_WC_SUCCESS);
		else
			expect_send_event(w.done, IBV_WC_SUCCESS);
		assert_true(r->bind ? w.bound > w.done : w.arrived >= end_of(r));
	}
}

static void
live_world(uint64_t seed)
{
	w = (struct world){ .dice = seed };
	for (unsigned int round = 0; w.done < REQUESTS; round++) {
		struct fx_sent frame[8];

		assert_true(round < ROUNDS_MAX);
		for (uint32_t more = draw(6); more > 0 && w.posted < REQUESTS; more--)
			post_one();
		answer(frame, fx_tx(&end, frame, 1 + draw(8)));
		reap();
		end.now += draw(3) * FX_HZ / 10000;
	}
}

UNIT_RULE(bind__holds_its_place_under_loss)
{
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		live_world(seed);
		roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
	}
}
