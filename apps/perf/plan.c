/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "cli/cli.h"
#include "perftest.h"

#define CACHE_LINE       64u
#define KIB              1024ull
#define MIB              (1024ull * KIB)
#define GIB              (1024ull * MIB)
#define SMALL            (4 * KIB) /* up to here a message counts by itself, beyond by its bytes */
#define RECV_FOOTPRINT   MIB       /* about a second-level cache */
#define SEND_FOOTPRINT   (64 * KIB)
#define MIN_RECV_DEPTH   8u
#define MAX_RECV_DEPTH   512u
#define RECV_PER_EP      16u
#define SEND_DEPTH       128u
#define CQ_MODERATION    32u
#define SHARED_SLOTS     16u
#define MIN_OWN_SLOTS    2u
#define BW_ITERATIONS    1000000ull
#define BW_BYTES         (4 * GIB)
#define LAT_ITERATIONS   100000ull
#define LAT_BYTES        (400 * MIB)
#define MIN_ITERATIONS   100ull
#define BW_WARMUP        20000ull
#define LAT_WARMUP       1000ull
#define MAX_BUFFER_BYTES (4 * GIB)
/* In perftest's letters, its depths; large messages in as much memory. */
#define PERFTEST_RECV_DEPTH    512u
#define PERFTEST_RECV_BYTES    (512 * MIB)
#define PERFTEST_CQ_MODERATION 100u
#define PERFTEST_CQ_SIZE       8192 /* beyond it each send completes */

static uint64_t
min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
choose_window(const struct perf_options *o, struct perf_plan *plan, uint32_t sharers)
{
	uint64_t cq_moderation = CQ_MODERATION, half;

	/* One round trip at a time, which ends with its completion. */
	if (perf_test_fetches(o->test) && perf_test_is_latency(o->test)) {
		plan->window = 1;
		plan->signal = 1;
		return;
	}
	plan->window = o->send_depth;
	if (plan->window == 0)
		plan->window = (uint32_t)max64(
				min64(SEND_DEPTH, plan->recv_depth / 2 / sharers), 1);

	/* A window in which no send completes would never move again. */
	half = o->perftest ? plan->window : max64(plan->window / 2, 1);
	if (o->cq_moderation != 0)
		cq_moderation = o->cq_moderation;
	else if (o->perftest)
		cq_moderation = plan->size > PERFTEST_CQ_SIZE ? 1 : PERFTEST_CQ_MODERATION;
	plan->signal = (uint32_t)min64(cq_moderation, half);
	if (o->send_depth != 0 && o->cq_moderation != 0)
		plan->signal = o->cq_moderation;
}

/* Receive buffers, as many as fit a cache, or as many as perftest has. */
static uint32_t
fitting_depth(const struct perf_options *o, const struct perf_plan *plan)
{
	uint64_t fit = min64(RECV_FOOTPRINT / plan->stride, MAX_RECV_DEPTH);

	if (o->perftest)
		fit = min64(PERFTEST_RECV_BYTES / plan->stride / (o->use_srq ? 1 : plan->endpoints),
				PERFTEST_RECV_DEPTH);
	return (uint32_t)max64(fit, MIN_RECV_DEPTH);
}

static void
choose_depths(const struct perf_options *o, struct perf_plan *plan)
{
	uint32_t fit = fitting_depth(o, plan);
	bool one_sided = perf_test_is_one_sided(o->test);
	/* Without receives nothing bounds the sum of the windows but what fits the wire's queues. */
	uint32_t sharers = o->use_srq || one_sided ? plan->endpoints : 1;
	uint32_t per_ep = plan->stride <= SMALL ? RECV_PER_EP : 2;

	/* One EVD takes the receives of all endpoints, with -e and -b the sends too. */
	if (!o->use_srq && !one_sided)
		fit = (uint32_t)min64(fit, PERF_MAX_DEPTH / 2 / plan->endpoints - 1);

	plan->recv_depth = o->recv_depth;
	if (plan->recv_depth == 0)
		plan->recv_depth = (uint32_t)max64(fit, (uint64_t)per_ep * sharers);
	choose_window(o, plan, sharers);
	if (one_sided) {
		plan->recv_depth = 0;
		return;
	}
	/* Not before the windows know what would have been enough for them. */
	if (o->srq_depth != 0)
		plan->recv_depth = o->srq_depth;
	plan->recv_slots = o->use_srq ? plan->recv_depth : plan->recv_depth * plan->endpoints;
}

/*
 * Without verification all messages look alike, and a few buffers do for all of them; with it, a
 * buffer must keep its content until the message is acknowledged.
 */
static uint64_t
choose_slots(const struct perf_options *o, struct perf_plan *plan)
{
	uint32_t shared = (uint32_t)max64(min64(SHARED_SLOTS, SEND_FOOTPRINT / plan->stride), 1);

	plan->own_places = o->verify || o->test == PERF_WRITE_LAT || perf_test_is_atomic(o->test);
	if (o->test == PERF_WRITE_LAT || perf_test_is_atomic(o->test))
		plan->remote_slots = 1;
	else if (perf_test_is_one_sided(o->test) && o->verify)
		plan->remote_slots = (uint32_t)max64(
				min64(SHARED_SLOTS, RECV_FOOTPRINT / plan->stride), MIN_OWN_SLOTS);
	else if (perf_test_is_one_sided(o->test))
		plan->remote_slots = shared;
	return plan->own_places ? (uint64_t)plan->window * plan->endpoints : shared;
}

static void
choose_counts(const struct perf_options *o, struct perf_plan *plan)
{
	bool latency = perf_test_is_latency(o->test);
	uint64_t count = latency ? LAT_ITERATIONS : BW_ITERATIONS;
	uint64_t warmup = latency ? LAT_WARMUP : BW_WARMUP;

	if (plan->size > SMALL)
		count = max64((latency ? LAT_BYTES : BW_BYTES) / plan->size, MIN_ITERATIONS);
	plan->iterations = o->iterations != 0 ? o->iterations : count;
	plan->warmup = o->warmup_given ? o->warmup : min64(warmup, plan->iterations / 10);
	if (o->seconds != 0)
		plan->iterations = PERF_ENDLESS;
}

int
perf_plan_make(const struct perf_options *options, uint32_t size, struct perf_plan *plan)
{
	uint64_t bytes, sends;

	*plan = (struct perf_plan){ .size = size, .endpoints = options->endpoints };
	plan->stride = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	if (plan->stride == 0)
		plan->stride = CACHE_LINE;
	choose_depths(options, plan);
	choose_counts(options, plan);
	if (options->low > plan->recv_depth) {
		cli_say("a low watermark of %u is above the %u buffers of the shared receive queue",
				options->low, plan->recv_depth);
		return -1;
	}

	sends = choose_slots(options, plan);
	bytes = (plan->recv_slots + perf_plan_places(plan) + sends) * plan->stride;
	if (bytes > MAX_BUFFER_BYTES) {
		cli_say("%llu MiB of buffers are too many: lower -s, -q, -r or -%c",
				(unsigned long long)(bytes / MIB), perftest_letter(options, 'x'));
		return -1;
	}
	plan->send_slots = (uint32_t)sends;
	plan->bytes = bytes;
	return 0;
}

uint32_t
perf_plan_srq_size(const struct perf_plan *plan, uint64_t n)
{
	switch (n % 4) {
	case 0:
		return (uint32_t)min64(2ull * plan->recv_depth, PERF_MAX_DEPTH);
	case 2:
		return (uint32_t)max64(plan->recv_depth / 2, 1);
	default:
		return plan->recv_depth;
	}
}

uint64_t
perf_plan_share(const struct perf_plan *plan, uint64_t messages, uint32_t index)
{
	return messages / plan->endpoints + (index < messages % plan->endpoints);
}
