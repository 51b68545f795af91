/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plan.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

static const struct perf_options plain = {
	.test = PERF_SEND_BW,
	.endpoints = 1,
	.use_srq = true,
};

/* The laws of every plan whose depths were left open, over all sizes and many endpoints. */
static void
make__laws(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	for (int flags = 0; flags < 4; flags++) {
		options.use_srq = (flags & 1) != 0;
		options.verify = (flags & 2) != 0;
		for (options.endpoints = 1; options.endpoints <= 256; options.endpoints *= 2) {
			for (uint32_t size = 1; size <= 64 * 1024; size *= 2) {
				uint32_t sharers = options.use_srq ? options.endpoints : 1;

				assert_int_equal(perf_plan_make(&options, size, &plan), 0);
				assert_true(plan.stride >= size && plan.stride % 64 == 0);
				/* A full set of windows leaves half of the receives. */
				assert_true(plan.window * sharers <= plan.recv_depth / 2 ||
						plan.window == 1);
				assert_true(plan.recv_depth >= sharers);
				/* A full window holds a send that completes. */
				assert_true(plan.signal >= 1 && plan.signal <= plan.window);
				assert_true(plan.send_slots >= 1);
				if (options.verify)
					assert_int_equal(plan.send_slots,
							plan.window * plan.endpoints);
				assert_int_equal(plan.bytes,
						(uint64_t)plan.stride *
								(plan.recv_slots +
										plan.send_slots));
			}
		}
	}
}

/* All receives of endpoints without a shared queue end in one EVD, with -e and -b the sends too. */
static void
make__fits_one_evd(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	options.use_srq = false;
	for (options.endpoints = 1; options.endpoints <= 16384; options.endpoints *= 2) {
		for (uint32_t size = 1; size <= 4096; size *= 8) {
			assert_int_equal(perf_plan_make(&options, size, &plan), 0);
			assert_true((plan.recv_depth + plan.window + 2ull) * plan.endpoints <=
					PERF_MAX_DEPTH);
		}
	}
}

/* Buffers spread over more than the caches measure the memory. */
static void
make__small_messages_stay_in_the_cache(void **state)
{
	struct perf_plan plan;

	assert_int_equal(perf_plan_make(&plain, 64, &plan), 0);
	assert_true(plan.bytes <= 64 * KIB);
	assert_int_equal(plan.window, 128);
	assert_int_equal(plan.signal, 32);
	assert_int_equal(plan.iterations, 1000000);
	assert_int_equal(perf_plan_make(&plain, 64 * 1024, &plan), 0);
	assert_true(plan.bytes <= 2 * MIB);
	assert_int_equal(perf_plan_make(&plain, 1 << 20, &plan), 0);
	assert_int_equal(plan.send_slots, 1);
	assert_int_equal(plan.iterations, 4096);
}

static void
make__takes_what_was_asked_for(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	options.recv_depth = 10;
	options.send_depth = 7;
	options.cq_moderation = 7;
	options.iterations = 123;
	options.warmup_given = true;
	options.warmup = 5;
	assert_int_equal(perf_plan_make(&options, 0, &plan), 0);
	assert_int_equal(plan.recv_depth, 10);
	assert_int_equal(plan.window, 7);
	assert_int_equal(plan.signal, 7);
	assert_int_equal(plan.iterations, 123);
	assert_int_equal(plan.warmup, 5);
	options.cq_moderation = 1;
	assert_int_equal(perf_plan_make(&options, 0, &plan), 0);
	assert_int_equal(plan.signal, 1);
	options.seconds = 3;
	assert_int_equal(perf_plan_make(&options, 0, &plan), 0);
	assert_int_equal(plan.iterations, PERF_ENDLESS);
}

static void
make__refuses_what_no_machine_has(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	options.recv_depth = 1 << 20;
	assert_int_equal(perf_plan_make(&options, 1 << 20, &plan), -1);
}

/* Perhaps fewer buffers than endpoints: what is on the way does not follow them. */
static void
make__srq_depth_leaves_the_windows_alone(void **state)
{
	static const uint32_t depth[] = { 1, 8, 63, 64, 4096 };
	struct perf_options options = plain;
	struct perf_plan without, plan;

	options.endpoints = 64;
	assert_int_equal(perf_plan_make(&options, 64, &without), 0);
	for (size_t i = 0; i < sizeof(depth) / sizeof(depth[0]); i++) {
		options.srq_depth = depth[i];
		assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
		assert_int_equal(plan.recv_depth, depth[i]);
		assert_int_equal(plan.recv_slots, depth[i]);
		assert_int_equal(plan.window, without.window);
		assert_int_equal(plan.signal, without.signal);
	}
}

/* A watermark as high as the queue is the highest; the depth may be one that was chosen. */
static void
make__refuses_a_low_watermark_above_the_depth(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
	options.low = plan.recv_depth;
	assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
	options.low++;
	assert_int_equal(perf_plan_make(&options, 64, &plan), -1);
	options.srq_depth = options.low;
	assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
}

/* One-sided tests: no receives, windows as with a shared queue, and the laws of what the peer reaches. */
static void
make__one_sided_laws(void **state)
{
	static const enum perf_test test[] = { PERF_WRITE_BW, PERF_WRITE_LAT, PERF_READ_BW };
	struct perf_options options = plain, send = plain;
	struct perf_plan plan, other, like_send;

	options.use_srq = false;
	for (unsigned int i = 0; i < 2 * sizeof(test) / sizeof(test[0]); i++) {
		options.test = test[i / 2];
		options.verify = i % 2 != 0;
		for (uint32_t size = 1; size <= 1 << 20; size *= 4) {
			options.endpoints = send.endpoints = 1 + size % 5;
			options.send_depth = 0;
			assert_int_equal(perf_plan_make(&send, size, &like_send), 0);
			assert_int_equal(perf_plan_make(&options, size, &plan), 0);
			assert_int_equal(plan.window, like_send.window);
			assert_int_equal(plan.recv_slots, 0);
			assert_int_equal(plan.own_places,
					options.verify || options.test == PERF_WRITE_LAT);
			assert_int_equal(plan.bytes,
					plan.stride * (perf_plan_places(&plan) + plan.send_slots));
			/* The ends need not agree on their depths, so memory must not follow them. */
			options.send_depth = plan.window + 3;
			assert_int_equal(perf_plan_make(&options, size, &other), 0);
			assert_int_equal(other.remote_slots, plan.remote_slots);
			assert_int_equal(other.stride, plan.stride);
		}
	}
}

/* Places: inside the memory, an endpoint's after each other, nobody else's where that matters. */
static void
place__belongs_to_one_endpoint(void **state)
{
	struct perf_plan plan = { .endpoints = 3, .remote_slots = 4, .own_places = true };

	assert_int_equal(perf_plan_places(&plan), 12);
	assert_int_equal(perf_plan_place(&plan, 0, 0), 0);
	assert_int_equal(perf_plan_place(&plan, 0, 3), 3);
	assert_int_equal(perf_plan_place(&plan, 0, 4), 0);
	assert_int_equal(perf_plan_place(&plan, 1, 0), 4);
	assert_int_equal(perf_plan_place(&plan, 2, 1ull << 40 | 3), 11);
	plan.own_places = false;
	assert_int_equal(perf_plan_places(&plan), 4);
	assert_int_equal(perf_plan_place(&plan, 2, 5), 1);
}

static void
srq_size__goes_up_and_down_and_comes_back(void **state)
{
	static const struct {
		uint32_t depth, size[4];
	} rule[] = {
		{ 512, { 1024, 512, 256, 512 } },
		{ 63, { 126, 63, 31, 63 } },
		{ 2, { 4, 2, 1, 2 } },
		/* No queue without buffers, and none above what may be. */
		{ 1, { 2, 1, 1, 1 } },
		{ PERF_MAX_DEPTH,
				{ PERF_MAX_DEPTH, PERF_MAX_DEPTH, PERF_MAX_DEPTH / 2,
						PERF_MAX_DEPTH } },
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct perf_plan plan = { .recv_depth = rule[i].depth };

		for (uint64_t n = 0; n < 8; n++)
			assert_int_equal(perf_plan_srq_size(&plan, n), rule[i].size[n % 4]);
	}
}

static void
share__adds_up(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	options.endpoints = 7;
	assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
	for (uint64_t messages = 0; messages < 50; messages++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < 7; i++) {
			uint64_t share = perf_plan_share(&plan, messages, i);

			assert_true(share == messages / 7 || share == messages / 7 + 1);
			sum += share;
		}
		assert_int_equal(sum, messages);
	}
}

/* perftest's depths, as far as memory goes, and its completions. */
static void
make__perftest(void **state)
{
	struct perf_options options = plain;
	struct perf_plan plan;

	options.perftest = true;
	options.use_srq = false;
	assert_int_equal(perf_plan_make(&options, 65536, &plan), 0);
	assert_int_equal(plan.recv_depth, 512);
	assert_int_equal(plan.window, 128);
	assert_int_equal(plan.signal, 1);
	assert_int_equal(perf_plan_make(&options, 8192, &plan), 0);
	assert_int_equal(plan.signal, 100);
	assert_int_equal(perf_plan_make(&options, 8 * MIB, &plan), 0);
	assert_int_equal(plan.recv_depth, 64);
	assert_int_equal(plan.window, 32);
	options.endpoints = 64;
	assert_int_equal(perf_plan_make(&options, 65536, &plan), 0);
	assert_int_equal(plan.recv_slots, 64 * 128);
	options.endpoints = 1;
	options.send_depth = 50;
	assert_int_equal(perf_plan_make(&options, 64, &plan), 0);
	assert_int_equal(plan.signal, 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(make__laws),
		cmocka_unit_test(make__perftest),
		cmocka_unit_test(make__fits_one_evd),
		cmocka_unit_test(make__small_messages_stay_in_the_cache),
		cmocka_unit_test(make__takes_what_was_asked_for),
		cmocka_unit_test(make__refuses_what_no_machine_has),
		cmocka_unit_test(make__srq_depth_leaves_the_windows_alone),
		cmocka_unit_test(make__refuses_a_low_watermark_above_the_depth),
		cmocka_unit_test(make__one_sided_laws),
		cmocka_unit_test(place__belongs_to_one_endpoint),
		cmocka_unit_test(srq_size__goes_up_and_down_and_comes_back),
		cmocka_unit_test(share__adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
