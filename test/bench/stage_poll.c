/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A whole message, both ends on one core and no device between them, cut where the seams of the engine are. Every
 * phase of a burst is timed with the processor's counter; the median over many bursts drops those that were
 * interrupted.
 */

#include "stages.h"

#include <rte_cycles.h>

#include "bench.h"

#define BURSTS  2001u
#define WARM_UP 200u

enum phase {
	POST,     /* the sender's thread */
	TX,       /* requests made: queue, build, copy, ICRC */
	RX,       /* requests judged: parse, ICRC, take, copy, complete, frames freed */
	REAP,     /* the receiver's thread takes its events */
	REPOST,   /* and gives the buffers back */
	TX_ACK,   /* the acknowledgement made */
	RX_ACK,   /* and heard: requests completed */
	REAP_ACK, /* the sender's thread takes its event */
	SUM,
};

static_assert(SUM + 1 == BENCH_PHASES, "one row a phase, and the sum");

static const char *const name[BENCH_PHASES] = {
	[POST] = "post",
	[TX] = "tx of requests",
	[RX] = "rx of requests",
	[REAP] = "reap receives",
	[REPOST] = "post receives",
	[TX_ACK] = "tx of the ACK",
	[RX_ACK] = "rx of the ACK",
	[REAP_ACK] = "reap the send",
	[SUM] = "sum",
};

struct clock {
	uint64_t last;
	double *ns;
	double scale;
};

static inline void
lap(struct clock *c, enum phase phase)
{
	uint64_t now = rte_rdtsc_precise();

	c->ns[phase] = (double)(now - c->last) * c->scale;
	c->last = now;
}

static inline void
expect(unsigned int got, unsigned int want, const char *what)
{
	if (unlikely(got != want))
		bench_fail("%u %s instead of %u", got, what, want);
}

static unsigned int
drain(struct roce_cq *cq)
{
	struct roce_event event;
	unsigned int n = 0;

	while (roce_cq_poll(cq, &event, 1) == 1)
		n++;
	return n;
}

static uint16_t
hear(struct bench_end *end, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint16_t left;

	roce_engine_lock(end->engine);
	left = roce_engine_rx(end->engine, pkts, n, now);
	roce_engine_unlock(end->engine);
	return left;
}

static uint16_t
speak(struct bench_end *end, struct rte_mbuf **pkts, uint64_t now)
{
	uint16_t n;

	roce_engine_lock(end->engine);
	n = roce_engine_tx(end->engine, pkts, 2 * BENCH_BURST, now);
	roce_engine_unlock(end->engine);
	return n;
}

/* One burst of messages, from post to the last event. @param ns one number a phase, for the whole burst. */
static void
poll_once(struct bench_pair *pair, double *ns)
{
	struct bench_end *from = &pair->end[0], *to = &pair->end[1];
	struct rte_mbuf *pkts[2 * BENCH_BURST];
	struct clock c = { .ns = ns, .scale = 1e9 / (double)rte_get_tsc_hz() };
	uint64_t start;
	uint16_t n;

	pair->now += 1000;
	start = c.last = rte_rdtsc_precise();
	for (unsigned int i = 1; i < BENCH_BURST; i++)
		bench_pair_post_send(pair, from, 0);
	bench_pair_post_send(pair, from, ROCE_WR_SIGNALED);
	lap(&c, POST);
	n = speak(from, pkts, pair->now);
	lap(&c, TX);
	expect(n, BENCH_BURST, "frames");
	expect(hear(to, pkts, n, pair->now), 0, "frames unheard");
	lap(&c, RX);
	expect(drain(to->recv_cq), BENCH_BURST, "receives");
	lap(&c, REAP);
	for (unsigned int i = 0; i < BENCH_BURST; i++)
		bench_pair_post_recv(pair, to);
	lap(&c, REPOST);
	n = speak(to, pkts, pair->now);
	lap(&c, TX_ACK);
	expect(n, 1, "acknowledgements");
	expect(hear(from, pkts, n, pair->now), 0, "acknowledgements unheard");
	lap(&c, RX_ACK);
	expect(drain(from->send_cq), 1, "sends");
	lap(&c, REAP_ACK);
	ns[SUM] = (double)(c.last - start) * c.scale;
}

void
bench_polls(struct bench_row *row, unsigned int column)
{
	static double sample[BENCH_PHASES][BURSTS];
	struct bench_pair pair;
	double ns[BENCH_PHASES];

	bench_pair_open(&pair, bench_size[column]);
	for (unsigned int i = 0; i < bench_recvs(pair.size); i++)
		bench_pair_post_recv(&pair, &pair.end[1]);
	for (unsigned int i = 0; i < WARM_UP; i++)
		poll_once(&pair, ns);
	for (unsigned int i = 0; i < BURSTS; i++) {
		poll_once(&pair, ns);
		for (unsigned int phase = 0; phase < BENCH_PHASES; phase++)
			sample[phase][i] = ns[phase] / BENCH_BURST;
	}
	for (unsigned int phase = 0; phase < BENCH_PHASES; phase++) {
		row[phase].name = name[phase];
		row[phase].ns[column] = bench_median(sample[phase], BURSTS);
	}
	bench_pair_close(&pair);
}
