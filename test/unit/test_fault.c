/* SPDX-License-Identifier: BSD-3-Clause */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "port/fault.h"
#include "unit.h"

#define BURST 32

static struct rte_mbuf *frames[BURST];

static void
make_frames(void)
{
	for (uint16_t i = 0; i < BURST; i++)
		frames[i] = unit_mbuf(&i, sizeof(i));
}

static uint16_t
number_of(const struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod(m, const uint16_t *);
}

static void
burst__off_touches_nothing(void **state)
{
	struct roce_fault fault;
	uint64_t before;

	roce_fault_init(&fault, 0, 1, 0);
	before = fault.state;
	assert_int_equal(roce_fault_burst(&fault, frames, BURST), BURST);
	assert_true(fault.state == before);
	assert_int_equal(fault.lost, 0);
}

static void
burst__of_all_frees_all(void **state)
{
	struct roce_fault fault;

	roce_fault_init(&fault, 1000000, 1, 0);
	make_frames();
	assert_int_equal(roce_fault_burst(&fault, frames, BURST), 0);
	assert_int_equal(fault.lost, BURST);
	assert_true(unit_pool_is_full());
	assert_int_equal(roce_fault_burst(&fault, frames, 0), 0);
}

static void
burst__keeps_the_order_of_the_rest(void **state)
{
	struct roce_fault fault;
	uint16_t kept;

	roce_fault_init(&fault, 500000, 7, 0);
	make_frames();
	kept = roce_fault_burst(&fault, frames, BURST);
	assert_in_range(kept, 1, BURST - 1);
	assert_int_equal(kept + fault.lost, BURST);
	for (uint16_t i = 1; i < kept; i++)
		assert_true(number_of(frames[i - 1]) < number_of(frames[i]));
	rte_pktmbuf_free_bulk(frames, kept);
	assert_true(unit_pool_is_full());
}

/* Which frames of a burst are lost, as a mask. */
static uint32_t
lost_mask(struct roce_fault *fault)
{
	uint32_t mask = UINT32_MAX;
	uint16_t kept;

	make_frames();
	kept = roce_fault_burst(fault, frames, BURST);
	for (uint16_t i = 0; i < kept; i++)
		mask &= ~(1u << number_of(frames[i]));
	rte_pktmbuf_free_bulk(frames, kept);
	return mask;
}

static void
init__same_seed_and_stream_lose_the_same_frames(void **state)
{
	struct roce_fault a, b, other_seed, other_stream;
	int same_seed = 0, same_stream = 0;

	roce_fault_init(&a, 300000, 5, 2);
	roce_fault_init(&b, 300000, 5, 2);
	roce_fault_init(&other_seed, 300000, 6, 2);
	roce_fault_init(&other_stream, 300000, 5, 3);
	for (int i = 0; i < 16; i++) {
		uint32_t mask = lost_mask(&a);

		assert_int_equal(mask, lost_mask(&b));
		same_seed += mask == lost_mask(&other_seed);
		same_stream += mask == lost_mask(&other_stream);
	}
	assert_int_equal(same_seed, 0);
	assert_int_equal(same_stream, 0);
}

/* One percent of many is one percent, give or take five standard deviations. */
static void
throw__loses_the_share_asked_for(void **state)
{
	static const struct {
		uint32_t loss;
		uint32_t least, most; /* of 320,000 */
	} rule[] = {
		{ 10000, 2918, 3482 },
		{ 200000, 62868, 65132 },
		{ 10, 0, 13 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_fault fault;

		roce_fault_init(&fault, rule[i].loss, 1, 0);
		for (int n = 0; n < 10000; n++)
			lost_mask(&fault);
		assert_in_range(fault.lost, rule[i].least, rule[i].most);
	}
	assert_true(unit_pool_is_full());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(burst__off_touches_nothing),
		cmocka_unit_test(burst__of_all_frees_all),
		cmocka_unit_test(burst__keeps_the_order_of_the_rest),
		cmocka_unit_test(init__same_seed_and_stream_lose_the_same_frames),
		cmocka_unit_test(throw__loses_the_share_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
