/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rates of the floor (floor.h), with messages one way into a shared receive queue, and half of its round trip. Buffers,
 * sizes and endpoints are those of dat-perf with the same options, so that both touch the same cache lines.
 */

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench.h"
#include "floor.h"

#define ROUNDS   15u
#define ROUND_MS 20u
#define TRIPS    20000u
#define WARM_UP  1000u

static const struct {
	uint32_t size, qps;
} rate_case[] = { { 64, 1 }, { 64, FLOOR_QPS }, { 1024, 1 }, { 4096, 1 }, { 65536, 1 } };

struct run {
	struct floor_end end[2];
	uint8_t *memory;
	uint32_t size, qps;
	uint32_t next_source, next_qp;
	uint64_t received;
};

static uint8_t *
target(const struct run *r, uint64_t index)
{
	return r->memory + index * bench_stride(r->size);
}

static const uint8_t *
next_source(struct run *r)
{
	const uint32_t room = (1u << 20) / bench_stride(r->size);

	r->next_source = (r->next_source + 1) % RTE_MIN(BENCH_SENDS, room);
	return r->memory + (1u << 20) + (size_t)r->next_source * bench_stride(r->size);
}

static void
post_recvs(struct run *r, struct floor_end *e, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		floor_post_recv(e, target(r, i), r->size, i);
}

/* As much as both ends have to do: the sender fills its windows, the receiver gives back the receives that completed. */
static void
turn(struct run *r)
{
	struct floor_event event;

	while (floor_take(&r->end[0].sent, &event))
		;
	for (unsigned int i = 0; i < BENCH_BURST; i++) {
		if (!floor_post_send(&r->end[0], r->next_qp, next_source(r), r->size, i))
			break;
		r->next_qp = (r->next_qp + 1) % r->qps;
	}
	floor_poll(&r->end[0]);
	floor_poll(&r->end[1]);
	while (floor_take(&r->end[1].received, &event)) {
		floor_post_recv(&r->end[1], target(r, event.id), r->size, event.id);
		r->received++;
	}
}

/* @return nanoseconds of a message, in a round of so many milliseconds. */
static double
time_round(struct run *r)
{
	const uint64_t start = rte_rdtsc(), end = start + rte_get_tsc_hz() / 1000 * ROUND_MS;
	const uint64_t before = r->received;
	uint64_t now;

	do {
		for (unsigned int i = 0; i < 16; i++)
			turn(r);
		now = rte_rdtsc();
	} while (now < end);
	return (double)(now - start) * 1e9 / (double)rte_get_tsc_hz() /
			(double)(r->received - before);
}

/* The receive at @p index has what was sent from the buffer at @p source. */
static void
expect_payload(const struct run *r, uint32_t index, uint32_t source)
{
	if (memcmp(target(r, index), r->memory + (1u << 20) + source * bench_stride(r->size),
			    r->size) != 0)
		bench_fail("the floor changed a message");
}

static void
open_run(struct run *r, uint32_t size, uint32_t qps)
{
	uint8_t *memory = r->memory;

	*r = (struct run){ .memory = memory, .size = size, .qps = qps };
	floor_open(r->end, BENCH_MTU);
	memset(memory, 0, size);
}

static double
rate(struct run *r, uint32_t size, uint32_t qps)
{
	double ns[ROUNDS];

	open_run(r, size, qps);
	post_recvs(r, &r->end[1], 0, bench_recvs(size));
	turn(r);
	turn(r);
	expect_payload(r, 0, 1);
	for (unsigned int i = 0; i < ROUNDS; i++)
		ns[i] = time_round(r);
	floor_close(r->end);
	return bench_median(ns, ROUNDS);
}

/* Wait for the message that is under way from one end to the other, and post the receive again. */
static void
pass(struct run *r, struct floor_end *from, struct floor_end *to)
{
	struct floor_event event;

	floor_post_send(from, 0, next_source(r), r->size, 0);
	do {
		floor_poll(from);
		floor_poll(to);
	} while (!floor_take(&to->received, &event));
	floor_post_recv(to, target(r, event.id), r->size, event.id);
	while (floor_take(&from->sent, &event))
		;
}

static void
trip(struct run *r)
{
	pass(r, &r->end[0], &r->end[1]);
	pass(r, &r->end[1], &r->end[0]);
}

/* @return half of a round trip, nanoseconds: the median, and what 99 of 100 do not exceed. */
static void
latency(struct run *r, uint32_t size, double *median, double *p99)
{
	static double ns[TRIPS];
	const double scale = 1e9 / (double)rte_get_tsc_hz() / 2;

	open_run(r, size, 1);
	for (unsigned int i = 0; i < 2; i++) {
		r->end[i].ack_every = 1;
		post_recvs(r, &r->end[i], i * BENCH_SENDS, BENCH_SENDS);
	}
	trip(r);
	expect_payload(r, BENCH_SENDS, 1);
	expect_payload(r, 0, 2);
	for (unsigned int i = 0; i < WARM_UP; i++)
		trip(r);
	for (unsigned int i = 0; i < TRIPS; i++) {
		uint64_t start = rte_rdtsc();

		trip(r);
		ns[i] = (double)(rte_rdtsc() - start) * scale;
	}
	floor_close(r->end);
	*median = bench_median(ns, TRIPS);
	*p99 = ns[TRIPS / 100 * 99];
}

static void
report_rate(uint32_t size, uint32_t qps, double ns, bool json)
{
	if (json)
		printf("{\"test\": \"send_bw\", \"size\": %u, \"endpoints\": %u, \"ns\": %.3f}\n",
				size, qps, ns);
	else
		printf(" send_bw %7u B %4u EP %10.1f ns %10.3f M/s %10.2f Gbit/s\n", size, qps, ns,
				1e3 / ns, size * 8 / ns);
}

static void
report_latency(uint32_t size, double median, double p99, bool json)
{
	if (json)
		printf("{\"test\": \"send_lat\", \"size\": %u, \"endpoints\": 1, \"ns\": %.3f, \"p99\": %.3f}\n",
				size, median, p99);
	else
		printf(" send_lat %6u B    1 EP %10.1f ns half a round trip, %.1f at 99 %%\n", size,
				median, p99);
}

int
main(int argc, char **argv)
{
	const bool json = bench_wants(argc, argv, "--json");
	static struct run r;
	double median, p99;

	bench_start();
	r.memory = bench_memory();
	for (unsigned int i = 0; i < RTE_DIM(rate_case); i++)
		report_rate(rate_case[i].size, rate_case[i].qps,
				rate(&r, rate_case[i].size, rate_case[i].qps), json);
	latency(&r, 64, &median, &p99);
	report_latency(64, median, p99, json);
	return 0;
}
