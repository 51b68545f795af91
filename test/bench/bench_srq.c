/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cost of a shared receive queue to the receiver, for messages of one cache line: against receive queues of the
 * queue pairs' own, with one, 64 and 4096 queue pairs on it, with its low watermark armed, with 1000 changes of its
 * size a second, and its control calls by themselves.
 *
 * All that is compared with one another runs in turn, round by round, and ratios are made within a round: what
 * disturbs a round disturbs both. Where two kinds of run use the same queue, their order changes with the round.
 */

#include <stdio.h>

#include <rte_cycles.h>

#include "bench.h"
#include "crowd.h"

#define ROUNDS     21u
#define ROUND_NS   1000000u
#define RESIZE_NS  20000000u /* of a round with changes of size: several must fall into it */
#define EVERY_NS   1000000u  /* from one change to the next */
#define CALLS      256u
#define RESIZES    32u
#define MANY_DEPTH 4096u
#define SIZE       64u

enum line {
	OWN_1,
	OWN_64,
	SHARED_1,
	SHARED_64,
	SHARED_4096,
	QUEUE_1,
	QUEUE_64,
	QUEUE_4096,
	DISARMED,
	DISARMED_AGAIN,
	ARMED,
	QUIET,
	RESIZED,
	QUERY,
	SET_LOW,
	RESIZE,
	LINES,
};

static const struct {
	const char *name;
	const char *unit;
} line[LINES] = {
	[OWN_1] = { "1 QP, own receive queue", "ns/message" },
	[OWN_64] = { "64 QPs, own receive queues", "ns/message" },
	[SHARED_1] = { "1 QP on the SRQ", "ns/message" },
	[SHARED_64] = { "64 QPs on the SRQ", "ns/message" },
	[SHARED_4096] = { "4096 QPs on the SRQ", "ns/message" },
	[QUEUE_1] = { "1 QP, no frames", "ns/message" },
	[QUEUE_64] = { "64 QPs, no frames", "ns/message" },
	[QUEUE_4096] = { "4096 QPs, no frames", "ns/message" },
	[DISARMED] = { "low watermark disarmed", "ns/message" },
	[DISARMED_AGAIN] = { "low watermark disarmed, again", "ns/message" },
	[ARMED] = { "low watermark armed", "ns/message" },
	[QUIET] = { "depth 4096", "ns/message" },
	[RESIZED] = { "depth 4096, 1000 resizes a second", "ns/message" },
	[QUERY] = { "roce_srq_query", "ns/call" },
	[SET_LOW] = { "roce_srq_set_low", "ns/call" },
	[RESIZE] = { "roce_srq_resize, depth 4096", "ns/call" },
};

#define NO_GOAL 0.0

static const struct {
	const char *name;
	enum line what, against;
	double goal; /* at most */
} ratio[] = {
	{ "SRQ to own queue, 1 QP", SHARED_1, OWN_1, 1.10 },
	{ "SRQ to own queues, 64 QPs", SHARED_64, OWN_64, 1.10 },
	{ "64 QPs to 1", SHARED_64, SHARED_1, 1.15 },
	{ "4096 QPs to 1", SHARED_4096, SHARED_1, 1.15 },
	{ "64 QPs to 1, no frames", QUEUE_64, QUEUE_1, NO_GOAL },
	{ "4096 QPs to 1, no frames", QUEUE_4096, QUEUE_1, NO_GOAL },
	{ "disarmed to itself", DISARMED_AGAIN, DISARMED, NO_GOAL },
	{ "armed to disarmed", ARMED, DISARMED, NO_GOAL },
	{ "1000 resizes a second to none", RESIZED, QUIET, 1.05 },
};

static double value[LINES][ROUNDS];

static void
must(int rc, const char *what)
{
	if (rc != 0)
		bench_fail("%s: error %d", what, rc);
}

/* Queues and the number of queue pairs. */
static void
compare_shapes(const struct bench_ground *ground)
{
	static const struct bench_crowd_shape shape[] = {
		[OWN_1] = { 1, BENCH_RECVS, SIZE, true },
		[OWN_64] = { 64, BENCH_RECVS, SIZE, true },
		[SHARED_1] = { 1, BENCH_RECVS, SIZE, false },
		[SHARED_64] = { 64, BENCH_RECVS, SIZE, false },
		[SHARED_4096] = { 4096, BENCH_RECVS, SIZE, false },
	};
	struct bench_crowd crowd[RTE_DIM(shape)];

	for (unsigned int i = 0; i < RTE_DIM(shape); i++)
		bench_crowd_open(&crowd[i], ground, &shape[i]);
	/* The first round is for the caches; it is written over. */
	for (unsigned int round = 0; round <= ROUNDS; round++) {
		unsigned int r = round % ROUNDS;

		for (unsigned int i = 0; i < RTE_DIM(shape); i++)
			value[i][r] = bench_crowd_measure(&crowd[i], ROUND_NS, NULL);
		for (unsigned int i = 0; i <= SHARED_4096 - SHARED_1; i++)
			value[QUEUE_1 + i][r] =
					bench_crowd_measure_queue(&crowd[SHARED_1 + i], ROUND_NS);
	}
	for (unsigned int i = 0; i < RTE_DIM(shape); i++)
		bench_crowd_close(&crowd[i]);
}

static double
measure_armed(struct bench_crowd *c, bool armed)
{
	struct roce_srq_counts counts;
	double ns;

	must(roce_srq_set_low(c->srq, armed ? c->depth / 2 : 0), "setting the low watermark");
	ns = bench_crowd_measure(c, ROUND_NS, NULL);
	roce_srq_query(c->srq, &counts);
	if (counts.armed != armed)
		bench_fail("the low watermark was crossed");
	return ns;
}

/* A watermark that is armed and never crossed; and two runs that do not differ, for how much that says. */
static void
compare_armed(const struct bench_ground *ground)
{
	static const struct bench_crowd_shape shape = { 1, BENCH_RECVS, SIZE, false };
	static const enum line kind[] = { DISARMED, ARMED, DISARMED_AGAIN };
	struct bench_crowd c;

	bench_crowd_open(&c, ground, &shape);
	for (unsigned int round = 0; round <= ROUNDS; round++) {
		for (unsigned int i = 0; i < RTE_DIM(kind); i++) {
			enum line k = kind[(round + i) % RTE_DIM(kind)];

			value[k][round % ROUNDS] = measure_armed(&c, k == ARMED);
		}
	}
	bench_crowd_close(&c);
}

/* To twice the depth and back: every change wants another ring. */
static void
resize(struct bench_crowd *c, unsigned int done)
{
	must(roce_srq_resize(c->srq, done % 2 == 0 ? 2 * c->depth : c->depth), "changing the size");
}

static double
measure_resized(struct bench_crowd *c, bool resized)
{
	struct bench_pace pace = { .work = resize, .every_ns = EVERY_NS };
	double ns = bench_crowd_measure(c, RESIZE_NS, resized ? &pace : NULL);

	must(roce_srq_resize(c->srq, c->depth), "changing the size back");
	/* The last may fall behind the end. */
	if (resized && pace.done < RESIZE_NS / EVERY_NS - 1)
		bench_fail("%u changes of size instead of %u", pace.done, RESIZE_NS / EVERY_NS);
	return ns;
}

static double
time_calls(struct bench_crowd *c, void (*call)(struct bench_crowd *c, unsigned int done),
		unsigned int calls)
{
	uint64_t start = rte_rdtsc_precise();

	for (unsigned int i = 0; i < calls; i++)
		call(c, i);
	return (double)(rte_rdtsc_precise() - start) * 1e9 / (double)rte_get_tsc_hz() / calls;
}

static void
query(struct bench_crowd *c, unsigned int done)
{
	struct roce_srq_counts counts;

	roce_srq_query(c->srq, &counts);
	if (counts.available != c->depth)
		bench_fail("%u receives instead of %u", counts.available, c->depth);
}

static void
set_low(struct bench_crowd *c, unsigned int done)
{
	must(roce_srq_set_low(c->srq, done % 2), "setting the low watermark");
}

/* Changes of size under traffic, and the control calls on a full queue at rest. */
static void
compare_resized(const struct bench_ground *ground)
{
	static const struct bench_crowd_shape shape = { 1, MANY_DEPTH, SIZE, false };
	struct bench_crowd c;

	bench_crowd_open(&c, ground, &shape);
	for (unsigned int round = 0; round <= ROUNDS; round++) {
		unsigned int r = round % ROUNDS;

		for (unsigned int i = 0; i < 2; i++) {
			bool resized = (round + i) % 2 == 0;

			value[resized ? RESIZED : QUIET][r] = measure_resized(&c, resized);
		}
		value[QUERY][r] = time_calls(&c, query, CALLS);
		value[SET_LOW][r] = time_calls(&c, set_low, CALLS);
		value[RESIZE][r] = time_calls(&c, resize, RESIZES);
	}
	bench_crowd_close(&c);
}

static void
print_ratio(unsigned int i, bool json)
{
	double of[ROUNDS], median;

	for (unsigned int r = 0; r < ROUNDS; r++)
		of[r] = value[ratio[i].what][r] / value[ratio[i].against][r];
	median = bench_median(of, ROUNDS);
	if (json)
		printf("{\"kind\": \"ratio\", \"name\": \"%s\", \"goal\": %.2f, \"min\": %.4f, "
		       "\"median\": %.4f, \"max\": %.4f}\n",
				ratio[i].name, ratio[i].goal, of[0], median, of[ROUNDS - 1]);
	else if (ratio[i].goal != NO_GOAL)
		printf(" %-36s %10.3f %10.3f %10.3f  at most %.2f\n", ratio[i].name, of[0], median,
				of[ROUNDS - 1], ratio[i].goal);
	else
		printf(" %-36s %10.3f %10.3f %10.3f\n", ratio[i].name, of[0], median,
				of[ROUNDS - 1]);
}

/* Sorts the values: ratios must have been made before. */
static void
print_line(unsigned int i, bool json)
{
	double median = bench_median(value[i], ROUNDS);

	if (json)
		printf("{\"kind\": \"cost\", \"name\": \"%s\", \"unit\": \"%s\", \"min\": %.3f, "
		       "\"median\": %.3f, \"max\": %.3f}\n",
				line[i].name, line[i].unit, value[i][0], median,
				value[i][ROUNDS - 1]);
	else
		printf(" %-36s %10.1f %10.1f %10.1f  %s\n", line[i].name, value[i][0], median,
				value[i][ROUNDS - 1], line[i].unit);
}

int
main(int argc, char **argv)
{
	bool json = bench_wants(argc, argv, "--json");
	struct bench_ground ground;

	bench_start();
	bench_ground_open(&ground);
	compare_shapes(&ground);
	compare_armed(&ground);
	compare_resized(&ground);
	bench_ground_close(&ground);
	if (!json)
		printf(" %-36s %10s %10s %10s\n", "ratio, of each round", "least", "median",
				"most");
	for (unsigned int i = 0; i < RTE_DIM(ratio); i++)
		print_ratio(i, json);
	if (!json)
		printf("\n %-36s %10s %10s %10s\n", "messages of 64 B", "least", "median", "most");
	for (unsigned int i = 0; i < LINES; i++)
		print_line(i, json);
	return 0;
}
