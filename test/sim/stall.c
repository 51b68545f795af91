/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Large READs from a peer that pauses, and that answers each request in full, repeats included, as Linux's rxe does.
 *
 *   sim_stall [WORLDS [SEED]]     the worlds behind SEED
 *   sim_stall --replay SEED       one of them, with its figures
 *
 * A world is one queue pair of the engine, a played peer and a clock that jumps. It must hold:
 *   - each READ succeeds, and its bytes are there;
 *   - what is asked for again is bounded: one repeat for each frame lost and for each timeout;
 *   - without losses the READs take at most the time of their answers and the pauses, divided by 0.9.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/qp.h"
#include "dice.h"
#include "fixture.h"
#include "fixture_rdma.h"

#define MTU        FX_MTU
#define ANSWER_NS  1000u  /**< from one frame of an answer to the next */
#define BIG        65536u /**< packets of 64 MiB */
#define KNOWN      128u /**< frames of answers after which the requester knows how fast they come */
#define READS_MAX  8u
#define QUEUE      4096u
#define WORLDS     40u
#define PAUSE_MAX  300000000u /**< ns; shorter than the local ACK timeout of a default connection */
#define MILLION    1000000u
#define NEVER      UINT64_MAX
#define STEPS_MAX  50000000u
#define GOODPUT(t) ((t) / 10 * 9)

struct params {
	uint32_t reads;
	uint32_t packets; /**< of each */
	uint32_t pauses;
	uint32_t pause_ns; /**< the longest */
	uint32_t loss;     /**< parts per million */
	uint8_t ack_timeout;
};

struct request {
	uint32_t psn;
	uint32_t packets;
};

static struct params world;
static uint64_t dice;
static struct fx_end end;
static struct fx_peer peer;
static struct roce_qp *qp;
static uint8_t *memory;

/* The peer. */
static struct request queue[QUEUE];
static uint32_t first, waiting;
static uint32_t given;    /**< frames of the request in front that were answered */
static uint32_t expected; /**< PSN of the next new request */
static bool nak_sent;
static uint64_t next_at, resumes_at;

/* Counts of a world. */
static uint32_t asked, repeats, answered, lost, pauses;
static uint32_t asked_to, went_to; /**< one behind the PSNs of all requests, and of the last */
static uint64_t paused_ns;

static uint32_t
roll(uint32_t n)
{
	return sim_roll(&dice, n);
}

static bool
is_lost(void)
{
	bool gone = world.loss != 0 && roll(MILLION) < world.loss;

	lost += gone;
	return gone;
}

static void
give(struct rte_mbuf *m)
{
	if (is_lost())
		rte_pktmbuf_free(m);
	else
		fx_rx(&end, m);
}

/* A request reaches the peer: what is new is expected, what is old is answered again. */
static void
arrives(const struct fx_sent *sent)
{
	int32_t ahead = roce_psn_diff(sent->psn, expected);
	struct request request = { sent->psn, (sent->length + MTU - 1) / MTU };

	/* All READs under way are asked for again in one go: that is one repeat. */
	asked++;
	if (roce_psn_diff(sent->psn, asked_to) < 0 && sent->psn != went_to)
		repeats++;
	went_to = roce_psn_add(sent->psn, request.packets);
	if (roce_psn_diff(went_to, asked_to) > 0)
		asked_to = went_to;
	if (is_lost())
		return;
	if (ahead > 0) {
		if (!nak_sent)
			give(fx_answer(&peer, FX_NAK(ROCE_NAK_PSN_SEQUENCE), expected, 0));
		nak_sent = true;
		return;
	}
	if (ahead == 0) {
		expected = roce_psn_add(expected, request.packets);
		nak_sent = false;
	}
	if (waiting == QUEUE)
		return;
	if (waiting == 0)
		next_at = RTE_MAX(end.now, resumes_at);
	queue[(first + waiting++) % QUEUE] = request;
}

static void
speak(void)
{
	struct fx_sent sent[32];
	unsigned int n;

	while ((n = fx_tx(&end, sent, RTE_DIM(sent))) > 0) {
		for (unsigned int i = 0; i < n; i++)
			arrives(&sent[i]);
	}
}

/* The next frame of the answer in front. */
static void
answer(void)
{
	const struct request *r = &queue[first];
	bool begins = given == 0, ends = given + 1 == r->packets;
	uint8_t opcode = begins ? (ends ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
					: IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST)
				: (ends ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
					: IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE);

	answered++;
	give(fx_response(&peer, opcode, roce_psn_add(r->psn, given), MTU, 1));
	given++;
	next_at = end.now + ANSWER_NS;
	if (!ends)
		return;
	given = 0;
	first = (first + 1) % QUEUE;
	waiting--;
}

/* Now and then, over all the time that the answers take but for its beginning. */
static void
pause_some_time(void)
{
	uint32_t frames = world.reads * world.packets;

	if (answered < KNOWN || pauses == world.pauses || roll(frames) >= world.pauses)
		return;
	resumes_at = end.now + 1 + roll(world.pause_ns);
	paused_ns += resumes_at - end.now;
	next_at = resumes_at;
	pauses++;
}

static const char *
live(void)
{
	struct roce_event event;
	uint32_t done = 0;

	for (uint32_t step = 0; step < STEPS_MAX; step++) {
		uint64_t at;

		speak();
		while (roce_cq_poll(end.send_cq, &event, 1) == 1) {
			if (event.status != IBV_WC_SUCCESS)
				return "a READ failed";
			if (++done == world.reads)
				return NULL;
		}
		at = RTE_MIN(waiting > 0 ? next_at : NEVER, roce_engine_deadline(end.engine));
		if (at == NEVER)
			return "nothing happens any more";
		end.now = RTE_MAX(end.now, at);
		if (waiting > 0 && end.now >= next_at) {
			answer();
			pause_some_time();
		}
		roce_engine_lock(end.engine);
		(void)roce_engine_rx(end.engine, NULL, 0, end.now);
		roce_engine_unlock(end.engine);
	}
	return "it does not end";
}

static const char *
judge(uint64_t began)
{
	const struct roce_stats *stats = fx_stats(&end);
	uint64_t timeouts = stats->local_ack_timeout_err + stats->early_retransmits;
	uint64_t needed = (uint64_t)world.reads * world.packets * ANSWER_NS;

	if (repeats > lost + timeouts)
		return "more was asked for again than was lost or timed out";
	if (world.loss == 0 && GOODPUT(end.now - began) > needed + paused_ns)
		return "pauses cost more than their time";
	for (uint32_t i = 0; i < world.packets; i++) {
		uint32_t psn = FX_SQ_PSN + (world.reads - 1) * world.packets + i;

		if (memory[(size_t)i * MTU] != (uint8_t)psn)
			return "a byte is wrong";
	}
	return NULL;
}

static void
post_reads(struct roce_mr *mr)
{
	for (uint32_t i = 0; i < world.reads; i++) {
		struct roce_sge sge = { (uintptr_t)memory, world.packets * MTU, roce_mr_key(mr) };
		struct roce_wr wr = {
			.wr_id = i,
			.opcode = IBV_WR_RDMA_READ,
			.flags = ROCE_WR_SIGNALED,
			.num_sge = 1,
			.sg = &sge,
			.remote_addr = 0x1000,
			.rkey = 0x100,
		};

		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	}
}

static struct params
make(uint64_t seed)
{
	struct params p = { .ack_timeout = 17, .pause_ns = PAUSE_MAX };

	dice = seed * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < 8; i++)
		(void)roll(2);
	if (seed == 0) {
		p.reads = 4;
		p.packets = BIG / 4;
		p.pauses = 8;
		return p;
	}
	p.reads = 1 + roll(READS_MAX);
	p.packets = 256u << roll(4);
	p.packets += roll(p.packets);
	p.pauses = roll(5);
	p.loss = roll(2) ? 10u << roll(11) : 0;
	if (roll(4) == 0)
		p.ack_timeout = 15;
	return p;
}

static const char *
live_world(uint64_t seed)
{
	const char *violation;
	struct roce_qp_connect connect;
	struct roce_mr *mr;
	uint64_t began;

	world = make(seed);
	fx_end_open(&end, 1, NULL);
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.max_rd_atomic = 4;
	connect.ack_timeout = world.ack_timeout;
	qp = fx_play(&end, NULL, &connect, &peer);
	assert_int_equal(roce_mr_create(end.pd, (uintptr_t)memory, (uint64_t)BIG * MTU,
					 IBV_ACCESS_LOCAL_WRITE, &mr),
			0);
	first = waiting = given = asked = repeats = answered = lost = pauses = 0;
	nak_sent = false;
	expected = asked_to = went_to = FX_SQ_PSN;
	next_at = resumes_at = paused_ns = 0;
	began = end.now;
	post_reads(mr);
	violation = live();
	if (violation == NULL)
		violation = judge(began);
	if (violation != NULL)
		printf("VIOLATED %s\n  replay: sim_stall --replay %llu\n", violation,
				(unsigned long long)seed);
	roce_qp_destroy(qp);
	assert_int_equal(roce_mr_destroy(mr), 0);
	return violation;
}

static void
print_world(uint64_t began)
{
	const struct roce_stats *stats = fx_stats(&end);

	printf("%u READs of %u packets, %u pauses, %u ppm lost: %u frames lost, %u requests, %u repeats, %u answers, %u early and "
	       "%u late timeouts, %.3f ms of which %.3f paused\n",
			world.reads, world.packets, pauses, world.loss, lost, asked, repeats,
			answered, (unsigned int)stats->early_retransmits,
			(unsigned int)stats->local_ack_timeout_err, (double)(end.now - began) / 1e6,
			(double)paused_ns / 1e6);
}

int
main(int argc, char **argv)
{
	bool replay = argc == 3 && strcmp(argv[1], "--replay") == 0;
	uint64_t from = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t worlds = replay ? 1 : argc > 1 ? strtoull(argv[1], NULL, 10) : WORLDS;
	uint64_t again = 0, violations = 0;

	unit_eal();
	memory = calloc(BIG, MTU);
	if (memory == NULL)
		return 2;
	for (uint64_t seed = from; seed < from + worlds; seed++) {
		violations += live_world(seed) != NULL;
		again += repeats;
		if (replay || seed == 0)
			print_world(FX_HZ);
		fx_end_close(&end);
	}
	free(memory);
	printf("%llu worlds, %llu repeats, %llu violations\n", (unsigned long long)worlds,
			(unsigned long long)again, (unsigned long long)violations);
	return violations != 0;
}
