/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats.h"

#define HZ 1000000000ull /* a tick is a nanosecond */
#define MS (HZ / 1000)

static void
assert_near(double have, double want, double tolerance)
{
	if (fabs(have - want) > tolerance)
		fail_msg("%f is not %f", have, want);
}

static void
meter__starts_after_the_warmup(void **state)
{
	struct perf_meter meter;
	double peak, average;

	perf_meter_init(&meter, HZ, 100);
	perf_meter_sample(&meter, 0, 0);
	perf_meter_sample(&meter, 500 * MS, 99);
	assert_false(meter.started);
	perf_meter_sample(&meter, 1000 * MS, 200);
	assert_true(meter.started);
	perf_meter_end(&meter, 2000 * MS, 1200, &peak, &average);
	assert_near(average, 1000, 0.001);
}

static void
meter__peak_is_the_best_interval(void **state)
{
	struct perf_meter meter;
	double peak, average;

	perf_meter_init(&meter, HZ, 0);
	assert_false(perf_meter_sample(&meter, 0, 0));
	assert_false(perf_meter_sample(&meter, 5 * MS, 900));
	assert_true(perf_meter_sample(&meter, 10 * MS, 1000));
	assert_true(perf_meter_sample(&meter, 20 * MS, 4000));
	assert_true(perf_meter_sample(&meter, 30 * MS, 4500));
	perf_meter_end(&meter, 40 * MS, 5000, &peak, &average);
	assert_near(average, 125000, 0.001);
	assert_near(peak, 300000, 0.001);
}

/* A run shorter than an interval has no sample, and still a peak. */
static void
meter__peak_is_never_below_the_average(void **state)
{
	struct perf_meter meter;
	double peak, average;

	perf_meter_init(&meter, HZ, 0);
	perf_meter_sample(&meter, 0, 0);
	perf_meter_end(&meter, MS, 10, &peak, &average);
	assert_near(average, 10000, 0.001);
	assert_near(peak, average, 0);
}

static void
meter__nothing_measured_is_zero(void **state)
{
	struct perf_meter meter;
	double peak, average;

	perf_meter_init(&meter, HZ, 5);
	perf_meter_sample(&meter, 0, 0);
	perf_meter_end(&meter, MS, 3, &peak, &average);
	assert_near(average, 0, 0);
	assert_near(peak, 0, 0);
}

/* 1 .. 1000 µs, in an order that is not sorted. */
static void
samples__of_a_known_set(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;
	uint64_t total = 0;

	assert_int_equal(perf_samples_init(&samples, 1000), 0);
	for (uint64_t i = 0; i < 1000; i++)
		perf_samples_add(&samples, (i * 7 % 1000 + 1) * 1000);
	perf_samples_end(&samples, 1000, &latency);
	assert_near(latency.min, 1, 0);
	assert_near(latency.max, 1000, 0);
	assert_near(latency.typical, 500, 0);
	assert_near(latency.average, 500.5, 0.001);
	assert_near(latency.deviation, 288.675, 0.01);
	assert_near(latency.p99, 990, 0);
	assert_near(latency.p99_9, 999, 0);
	for (unsigned int i = 0; i < PERF_BUCKETS; i++)
		total += latency.bucket[i];
	assert_int_equal(total, 1000);
	perf_samples_free(&samples);
}

static void
samples__of_half_round_trips(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;

	assert_int_equal(perf_samples_init(&samples, 4), 0);
	perf_samples_add(&samples, 3000);
	perf_samples_end(&samples, 2 * 1000, &latency);
	assert_near(latency.typical, 1.5, 0);
	assert_near(latency.deviation, 0, 0);
	perf_samples_free(&samples);
}

/* The median of three is the second, that of two the first: spans that occurred, never between. */
static void
samples__percentiles_are_spans_that_occurred(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;

	assert_int_equal(perf_samples_init(&samples, 3), 0);
	perf_samples_add(&samples, 30);
	perf_samples_add(&samples, 10);
	perf_samples_end(&samples, 1, &latency);
	assert_near(latency.typical, 10, 0);
	assert_near(latency.p99, 30, 0);
	perf_samples_add(&samples, 20);
	perf_samples_end(&samples, 1, &latency);
	assert_near(latency.typical, 20, 0);
	assert_near(latency.p99, 30, 0);
	perf_samples_free(&samples);
}

/* Beyond the room the percentiles are those of a fair choice; the rest stays exact. */
static void
samples__beyond_the_room_are_chosen_fairly(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;

	assert_int_equal(perf_samples_init(&samples, 10000), 0);
	for (uint64_t i = 0; i < 1000000; i++)
		perf_samples_add(&samples, i);
	perf_samples_end(&samples, 1, &latency);
	assert_near(latency.min, 0, 0);
	assert_near(latency.max, 999999, 0);
	assert_near(latency.average, 499999.5, 0.001);
	assert_near(latency.typical, 500000, 20000);
	assert_near(latency.p99, 990000, 5000);
	perf_samples_free(&samples);
}

static void
samples__none_are_zero(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;

	assert_int_equal(perf_samples_init(&samples, 1), 0);
	perf_samples_end(&samples, 1, &latency);
	assert_near(latency.min, 0, 0);
	assert_near(latency.p99_9, 0, 0);
	perf_samples_free(&samples);
}

static void
bucket__bounds_hold_their_spans(void **state)
{
	struct perf_samples samples;
	struct perf_latency latency;

	for (uint32_t ns = 1; ns < 1000000; ns += ns / 7 + 1) {
		assert_int_equal(perf_samples_init(&samples, 1), 0);
		perf_samples_add(&samples, ns);
		perf_samples_end(&samples, 1000, &latency);
		for (unsigned int i = 0; i < PERF_BUCKETS; i++) {
			if (latency.bucket[i] == 0)
				continue;
			/* Bounds are powers of two in floating point: leave them a hair. */
			assert_true(perf_bucket_ns(i) <= ns * 1.000001);
			assert_true(perf_bucket_ns(i + 1) >= ns * 0.999999);
		}
		perf_samples_free(&samples);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meter__starts_after_the_warmup),
		cmocka_unit_test(meter__peak_is_the_best_interval),
		cmocka_unit_test(meter__peak_is_never_below_the_average),
		cmocka_unit_test(meter__nothing_measured_is_zero),
		cmocka_unit_test(samples__of_a_known_set),
		cmocka_unit_test(samples__of_half_round_trips),
		cmocka_unit_test(samples__percentiles_are_spans_that_occurred),
		cmocka_unit_test(samples__beyond_the_room_are_chosen_fairly),
		cmocka_unit_test(samples__none_are_zero),
		cmocka_unit_test(bucket__bounds_hold_their_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
