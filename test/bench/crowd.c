/* SPDX-License-Identifier: BSD-3-Clause */
#include "crowd.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "queue/complete.h"

#define RECEIVER  1u         /* the end of a pair that a crowd stands in for */
#define PEER_QPN  0x4000u    /* of the first queue pair's peer */
#define TARGETS   (1u << 20) /* bytes of receive buffers; messages come from behind them */
#define ASTRAY_NS 100000u    /* no burst takes so long by itself */
#define STRIDE    1597u      /* odd, so that it meets every queue pair once */
#define WARM_UP   1024u      /* messages, besides one for each queue pair */
#define PACED_NS  1000000u   /* nor one with something more to do */

static void
must(int rc, const char *what)
{
	if (rc != 0)
		bench_fail("%s: error %d", what, rc);
}

void
bench_ground_open(struct bench_ground *ground)
{
	ground->pool = bench_pair_pool();
	ground->memory = bench_memory();
}

void
bench_ground_close(struct bench_ground *ground)
{
	if (!rte_mempool_full(ground->pool))
		bench_fail("%u frames are missing", rte_mempool_in_use_count(ground->pool));
	rte_mempool_free(ground->pool);
	free(ground->memory);
}

/* @param qp whose queue it goes to when there is no SRQ. */
static inline void
post(struct bench_crowd *c, struct roce_qp *const *qp)
{
	uint32_t buffers = RTE_MIN(c->depth, TARGETS / bench_stride(c->size));
	struct roce_sge sge = {
		.addr = (uintptr_t)c->memory + (uint64_t)c->slot * bench_stride(c->size),
		.length = c->size,
		.lkey = c->key,
	};
	struct roce_recv_wr wr = { .wr_id = c->slot, .sg = &sge, .num_sge = c->size > 0 };
	int rc = c->srq != NULL ? roce_srq_post(c->srq, &wr) : roce_qp_post_recv(*qp, &wr);

	if (unlikely(rc != 0))
		bench_fail("posting a receive: error %d", rc);
	c->slot = c->slot + 1 < buffers ? c->slot + 1 : 0;
}

static void
open_queue_pairs(struct bench_crowd *c)
{
	struct roce_qp_attr attr = {
		.pd = c->pd,
		.recv_cq = c->cq,
		.srq = c->srq,
		.max_send_wr = 1,
		.max_recv_wr = c->depth / c->qps,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};

	c->qp = calloc(c->qps, sizeof(struct roce_qp *));
	if (c->qp == NULL)
		bench_fail("no memory");
	for (uint32_t i = 0; i < c->qps; i++) {
		/* Every event says where its buffer is to be posted again. */
		attr.owner = &c->qp[i];
		must(roce_qp_create(&attr, &c->qp[i]), "queue pair");
		bench_pair_connect(c->qp[i], RECEIVER, PEER_QPN + i);
		/* The number of a frame's queue pair is worked out, not looked up. */
		if (i == 0)
			c->first_qpn = roce_qp_number(c->qp[0]);
		if (roce_qp_number(c->qp[i]) != c->first_qpn + i)
			bench_fail("queue pairs are not numbered in order");
	}
}

void
bench_crowd_open(struct bench_crowd *c, const struct bench_ground *ground,
		const struct bench_crowd_shape *shape)
{
	struct roce_path path = bench_pair_path();

	*c = (struct bench_crowd){
		.domain = bench_pair_domain(ground->pool, RECEIVER),
		.pool = ground->pool,
		.memory = ground->memory,
		.qps = shape->qps,
		.depth = shape->depth,
		.size = shape->size,
		.psn = BENCH_FIRST_PSN,
		.now = UINT64_C(1000000000),
	};
	c->engine = roce_domain_engine(c->domain, 0);
	must(roce_pd_create(roce_domain_context(c->domain), &c->pd), "pd");
	must(roce_cq_create(roce_domain_context(c->domain), BENCH_DEPTH, c, &c->cq), "cq");
	if (!shape->own)
		must(roce_srq_create(c->pd, c->depth, 1, c, &c->srq), "srq");
	must(roce_mr_create(c->pd, (uintptr_t)c->memory, BENCH_MEMORY, IBV_ACCESS_LOCAL_WRITE,
			     &c->mr),
			"mr");
	c->key = roce_mr_key(c->mr);
	open_queue_pairs(c);
	roce_template_init(&c->template, &path, c->first_qpn, false);
	for (uint32_t i = 0; i < c->depth; i++)
		post(c, &c->qp[i % c->qps]);
}

void
bench_crowd_close(struct bench_crowd *c)
{
	for (uint32_t i = 0; i < c->qps; i++)
		roce_qp_destroy(c->qp[i]);
	free(c->qp);
	roce_mr_destroy(c->mr);
	if (c->srq != NULL)
		must(roce_srq_destroy(c->srq), "end of the srq");
	must(roce_cq_destroy(c->cq), "end of the cq");
	must(roce_pd_destroy(c->pd), "end of the pd");
	roce_domain_destroy(c->domain);
}

/*
 * In turn, but not as they lie in memory: frames do not come in an order for which a processor could fetch ahead.
 */
static inline uint32_t
turn_of(const struct bench_crowd *c, uint32_t i)
{
	return (i * STRIDE) & (c->qps - 1);
}

/* The next frame for the next queue pair. One template does for all: only the number differs. */
static void
build(struct bench_crowd *c, struct rte_mbuf *m)
{
	struct roce_frame_spec spec = {
		.psn = c->psn,
		.opcode = IBV_OPCODE_RC_SEND_ONLY,
		.ack_req = ((c->psn + c->next) & (BENCH_BURST - 1)) == 0,
		.payload_len = c->size,
	};
	uint8_t *payload = roce_frame_build(m, &c->template, &spec);
	struct roce_bth *bth = (struct roce_bth *)(payload - sizeof(*bth));

	bth->dest_qp = rte_cpu_to_be_32(c->first_qpn + turn_of(c, c->next));
	memcpy(payload, c->memory + TARGETS, c->size);
	roce_icrc_put(m, &c->template);
	if (++c->next == c->qps) {
		c->next = 0;
		c->psn = roce_psn_add(c->psn, 1);
	}
}

/* The receiver's poll for a burst. @return acknowledgements that left. */
static uint16_t
poll_once(struct bench_crowd *c, struct rte_mbuf **pkts)
{
	struct roce_event event;
	unsigned int reaped = 0;
	uint16_t left, acks;

	roce_engine_lock(c->engine);
	left = roce_engine_rx(c->engine, pkts, BENCH_BURST, c->now);
	acks = roce_engine_tx(c->engine, pkts, BENCH_BURST, c->now);
	roce_engine_unlock(c->engine);
	for (; roce_cq_poll(c->cq, &event, 1) == 1; reaped++) {
		if (unlikely(event.status != IBV_WC_SUCCESS || event.byte_len != c->size))
			bench_fail("a receive failed");
		post(c, event.owner);
	}
	if (unlikely(left != 0 || reaped != BENCH_BURST))
		bench_fail("%u receives instead of %u", reaped, BENCH_BURST);
	return acks;
}

struct timing {
	uint64_t ticks, bursts, goal;
};

static uint64_t
ticks_of(uint64_t ns)
{
	return rte_get_tsc_hz() * ns / 1000000000u;
}

/* @return false: the processor was somewhere else, and this does not count. */
static inline bool
note(struct timing *t, uint64_t ticks, uint64_t most)
{
	if (unlikely(ticks > most))
		return false;
	t->ticks += ticks;
	t->bursts++;
	return true;
}

static double
result(const struct timing *t)
{
	return (double)t->ticks * 1e9 / (double)rte_get_tsc_hz() /
			((double)t->bursts * BENCH_BURST);
}

/* One burst, in which pace has its turn unless it is NULL. @return ticks that count. */
static uint64_t
receive_burst(struct bench_crowd *c, struct bench_pace *pace)
{
	struct rte_mbuf *pkts[BENCH_BURST];
	uint64_t ticks;
	uint16_t acks;

	if (rte_pktmbuf_alloc_bulk(c->pool, pkts, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	for (unsigned int i = 0; i < BENCH_BURST; i++)
		build(c, pkts[i]);
	c->now += 1000;
	ticks = rte_rdtsc_precise();
	if (unlikely(pace != NULL))
		pace->work(c, pace->done++);
	acks = poll_once(c, pkts);
	ticks = rte_rdtsc_precise() - ticks;
	rte_pktmbuf_free_bulk(pkts, acks);
	return ticks;
}

double
bench_crowd_measure(struct bench_crowd *c, uint64_t ns, struct bench_pace *pace)
{
	struct timing t = { .goal = ticks_of(ns) };
	uint64_t every = pace == NULL ? UINT64_MAX : ticks_of(pace->every_ns);
	uint64_t most = ticks_of(ASTRAY_NS), most_paced = ticks_of(PACED_NS), due = every;

	for (uint32_t i = 0; i < WARM_UP + c->qps; i += BENCH_BURST)
		(void)receive_burst(c, NULL);
	while (t.ticks < t.goal) {
		bool now = t.ticks >= due;
		uint64_t ticks = receive_burst(c, now ? pace : NULL);

		/* A paced burst that was not counted is due again. */
		if (note(&t, ticks, now ? most_paced : most) && now)
			due += every;
	}
	return result(&t);
}

/* The way of a receive from the take to the post, by the calls that the engine and the consumer make. */
static void
poll_queue(struct bench_crowd *c)
{
	struct roce_event event;
	unsigned int reaped = 0;

	for (unsigned int i = 0; i < BENCH_BURST; i++) {
		struct roce_qp *qp = c->qp[turn_of(c, c->next + i)];

		if (unlikely(!roce_srq_take(qp->rx.rq, qp->rx.recv)))
			bench_fail("a receive is gone");
		roce_qp_hold(qp, true);
		qp->rx.got = c->size;
		roce_qp_complete_recv(qp, IBV_WC_SUCCESS, 0, 0);
	}
	for (; roce_cq_poll(c->cq, &event, 1) == 1; reaped++)
		post(c, event.owner);
	if (unlikely(reaped != BENCH_BURST))
		bench_fail("%u receives instead of %u", reaped, BENCH_BURST);
}

double
bench_crowd_measure_queue(struct bench_crowd *c, uint64_t ns)
{
	struct timing t = { .goal = ticks_of(ns) };
	uint64_t most = ticks_of(ASTRAY_NS);
	uint32_t next = c->next;

	for (uint32_t i = 0; i < WARM_UP + c->qps; i += BENCH_BURST) {
		poll_queue(c);
		c->next = (c->next + BENCH_BURST) & (c->qps - 1);
	}
	while (t.ticks < t.goal) {
		uint64_t start = rte_rdtsc_precise();

		poll_queue(c);
		(void)note(&t, rte_rdtsc_precise() - start, most);
		c->next = (c->next + BENCH_BURST) & (c->qps - 1);
	}
	/* Frames go on where they stopped: the PSNs know nothing of this. */
	c->next = next;
	return result(&t);
}
