/* SPDX-License-Identifier: BSD-3-Clause */

/* One stage at a time, over and over, on frames and structures that stay in the caches. */

#include "stages.h"

#include <string.h>

#include "bench.h"
#include "queue/qp.h"
#include "queue/sge.h"

/* Held against the optimizer: what a stage finds out must be of use to somebody. */
static volatile uint64_t sink;

struct set {
	struct bench_pair pair;
	struct roce_template template;
	struct rte_mbuf *m[BENCH_BURST];
	struct roce_pkt pkt[BENCH_BURST];
	uint8_t *payload[BENCH_BURST];
	struct roce_recv *recv;
};

static void
frames(void *arg)
{
	struct set *s = arg;
	struct rte_mbuf *m[BENCH_BURST];

	if (rte_pktmbuf_alloc_bulk(s->pair.pool, m, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	rte_pktmbuf_free_bulk(m, BENCH_BURST);
}

static void
build(void *arg)
{
	struct set *s = arg;

	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		struct roce_frame_spec spec = {
			.psn = i,
			.opcode = IBV_OPCODE_RC_SEND_ONLY,
			.payload_len = s->pair.size,
		};

		s->payload[i] = roce_frame_build(s->m[i], &s->template, &spec);
	}
}

static void
icrc_put(void *arg)
{
	struct set *s = arg;

	for (uint32_t i = 0; i < BENCH_BURST; i++)
		roce_icrc_put(s->m[i], &s->template);
}

static void
parse(void *arg)
{
	struct set *s = arg;
	uint64_t bad = 0;

	for (uint32_t i = 0; i < BENCH_BURST; i++)
		bad += roce_frame_parse(s->m[i], &s->pkt[i]) != ROCE_FRAME_OK;
	if (bad != 0)
		bench_fail("a good frame is called bad");
}

static void
icrc_ok(void *arg)
{
	struct set *s = arg;
	uint64_t good = 0;

	for (uint32_t i = 0; i < BENCH_BURST; i++)
		good += roce_icrc_ok(&s->pkt[i]);
	if (good != BENCH_BURST)
		bench_fail("a good ICRC is called bad");
}

static void
copy_out(void *arg)
{
	struct set *s = arg;
	struct bench_end *end = &s->pair.end[0];
	int rc = 0;

	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		struct roce_sge sge = bench_pair_source(&s->pair, end);

		rc |= roce_sge_copy_out(
				&end->domain->keys, end->pd, &sge, 0, s->payload[i], s->pair.size);
	}
	if (rc != 0)
		bench_fail("a good key is called bad");
}

static void
copy_in(void *arg)
{
	struct set *s = arg;
	struct bench_end *end = &s->pair.end[1];
	int rc = 0;

	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		struct roce_sge sge = bench_pair_target(&s->pair, end);

		rc |= roce_sge_copy_in(&end->domain->keys, end->pd, &sge, 0, &s->pkt[i]);
	}
	if (rc != 0)
		bench_fail("a good key is called bad");
}

/* The reap, which an event would book, is made up for all at once. */
static void
srq(void *arg)
{
	struct set *s = arg;
	struct bench_end *end = &s->pair.end[1];

	for (uint32_t i = 0; i < BENCH_BURST; i++)
		bench_pair_post_recv(&s->pair, end);
	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		if (!roce_srq_take(end->srq, s->recv))
			bench_fail("a receive is gone");
		sink = s->recv->wr_id;
	}
	roce_srq_reap_silent(end->srq, BENCH_BURST);
}

/* Taken one by one, as the consumer does. */
static void
cq(void *arg)
{
	struct set *s = arg;
	struct roce_cq *queue = s->pair.end[1].recv_cq;
	struct roce_event event = { .kind = ROCE_EVENT_RECV, .byte_len = s->pair.size };

	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		event.wr_id = i;
		(void)roce_cq_push(queue, &event);
	}
	for (uint32_t i = 0; i < BENCH_BURST; i++) {
		if (roce_cq_poll(queue, &event, 1) != 1)
			bench_fail("an event is gone");
		sink = event.wr_id;
	}
}

/* The queue pair is not yet ready to send, so that the engine only answers the doorbell: a few ns a burst. */
static void
post(void *arg)
{
	struct set *s = arg;
	struct bench_end *end = &s->pair.end[0];
	struct rte_mbuf *none[1];

	for (uint32_t i = 0; i < BENCH_BURST; i++)
		bench_pair_post_send(&s->pair, end, 0);
	if (roce_engine_tx(end->engine, none, 1, s->pair.now) != 0)
		bench_fail("the engine sends too early");
	end->qp->tx.next = end->qp->tx.tail = end->qp->tx.begun = end->qp->post.head;
}

static const struct {
	const char *name;
	void (*work)(void *arg);
} stage[BENCH_STAGES] = {
	/* In the order in which a packet meets them: a stage finds what the ones before it left. */
	{ "mbuf alloc + free", frames },
	{ "roce_frame_build", build },
	{ "roce_sge_copy_out", copy_out },
	{ "roce_icrc_put", icrc_put },
	{ "roce_frame_parse", parse },
	{ "roce_icrc_ok", icrc_ok },
	{ "roce_sge_copy_in", copy_in },
	{ "roce_srq_post + take", srq },
	{ "roce_cq_push + poll", cq },
	{ "roce_qp_post_send", post },
};

void
bench_stages(struct bench_row *row, unsigned int column)
{
	static struct set s;
	static uint8_t recv[sizeof(struct roce_recv) + sizeof(struct roce_sge)] __rte_aligned(8);
	struct roce_path path = bench_pair_path();

	s = (struct set){ .recv = (struct roce_recv *)recv };
	bench_pair_open(&s.pair, bench_size[column]);
	roce_template_init(&s.template, &path, 0x123456, false);
	if (rte_pktmbuf_alloc_bulk(s.pair.pool, s.m, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	s.pair.end[0].qp->rx.state = ROCE_QP_RTR;
	for (unsigned int i = 0; i < BENCH_STAGES; i++) {
		row[i].name = stage[i].name;
		row[i].ns[column] = bench_measure(stage[i].work, &s);
	}
	rte_pktmbuf_free_bulk(s.m, BENCH_BURST);
	bench_pair_close(&s.pair);
}
