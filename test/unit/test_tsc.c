/* SPDX-License-Identifier: BSD-3-Clause */
/* The frequency of the time stamp counter: what the EAL says of it, and when that is not believed. */

#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "ethdev/tsc.h"
#include "rules.h"

#define HZ    UINT64_C(2450000000)
#define MS_NS UINT64_C(1000000)

static int
setup(void **state)
{
	return 0;
}

static int
teardown(void **state)
{
	roce_tsc_set_hz(0);
	return 0;
}

/* Readings so many nanoseconds apart, of a counter with HZ. */
static uint64_t
judge(uint64_t ns, uint64_t spread, uint64_t eal_hz)
{
	const struct roce_tsc_reading from = { .ticks = 1000, .ns = 5, .spread = spread };
	const struct roce_tsc_reading to = {
		.ticks = 1000 + ns * (HZ / MS_NS) / 1000, .ns = 5 + ns, .spread = spread
	};

	return roce_tsc_judge(&from, &to, eal_hz);
}

/* It rounds to 10 MHz. */
UNIT_RULE(hz__of_the_eal_stands_when_it_is_near)
{
	assert_int_equal(judge(20 * MS_NS, 100, HZ), HZ);
	assert_int_equal(judge(20 * MS_NS, 100, HZ + 10000000), HZ + 10000000);
	assert_int_equal(judge(20 * MS_NS, 100, HZ - 10000000), HZ - 10000000);
}

/* A thread that lost its processor for 50 ms while the EAL measured for 5. */
UNIT_RULE(hz__of_the_eal_is_not_believed_when_it_is_far)
{
	const uint64_t wrong[] = { HZ / 11, HZ * 11, HZ - HZ / 20, HZ + HZ / 20, 1 };

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		uint64_t hz = judge(20 * MS_NS, 100, wrong[i]);

		assert_true(hz > HZ - HZ / 1000 && hz < HZ + HZ / 1000);
	}
}

/* Readings that are as uncertain say nothing of it. */
UNIT_RULE(hz__is_not_disproved_by_bad_readings)
{
	assert_int_equal(judge(MS_NS / 2, 100, HZ / 11), HZ / 11);
	assert_int_equal(judge(20 * MS_NS, HZ / 100, HZ / 11), HZ / 11);
}

/* Both at one moment: two readings agree with the counter of this machine as well as their spread allows. */
UNIT_RULE(reading__has_clock_and_counter_of_one_moment)
{
	struct roce_tsc_reading from, to;
	uint64_t before = rte_rdtsc();

	roce_tsc_read(&from);
	rte_delay_us_sleep(2000);
	roce_tsc_read(&to);
	assert_true(from.ticks >= before && to.ticks > from.ticks && to.ticks <= rte_rdtsc());
	assert_true(to.ns - from.ns >= 2 * MS_NS);
	assert_true(from.spread < to.ticks - from.ticks);
}

UNIT_RULE(hz__is_as_set)
{
	roce_tsc_set_hz(HZ);
	assert_int_equal(roce_tsc_hz(), HZ);
	roce_tsc_set_hz(0);
	assert_int_equal(roce_tsc_hz(), rte_get_tsc_hz());
}
