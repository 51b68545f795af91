/* SPDX-License-Identifier: BSD-3-Clause */

#include "unit.h"
#include "wire/psn.h"

#define HALF 0x800000

UNIT_RULE_IN(add__wraps_at_24_bits, NULL, NULL)
{
	assert_int_equal(roce_psn_add(0, 1), 1);
	assert_int_equal(roce_psn_add(0xffffff, 1), 0);
	assert_int_equal(roce_psn_add(0xfffffe, 5), 3);
	assert_int_equal(roce_psn_add(5, 0x1000000), 5);
}

UNIT_RULE_IN(add__takes_negative_steps, NULL, NULL)
{
	assert_int_equal(roce_psn_add(0, (uint32_t)-1), 0xffffff);
	assert_int_equal(roce_psn_add(3, (uint32_t)-5), 0xfffffe);
}

UNIT_RULE_IN(diff__is_signed_and_crosses_the_wrap, NULL, NULL)
{
	assert_int_equal(roce_psn_diff(7, 7), 0);
	assert_int_equal(roce_psn_diff(8, 7), 1);
	assert_int_equal(roce_psn_diff(7, 8), -1);
	assert_int_equal(roce_psn_diff(0, 0xffffff), 1);
	assert_int_equal(roce_psn_diff(0xffffff, 0), -1);
	assert_int_equal(roce_psn_diff(HALF - 1, 0), HALF - 1);
	assert_int_equal(roce_psn_diff(HALF, 0), -HALF);
	assert_int_equal(roce_psn_diff(HALF + 1, 0), -HALF + 1);
}

/* Law: diff undoes add, wherever on the circle, while the step is less than half of it. */
UNIT_RULE_IN(diff__undoes_add, NULL, NULL)
{
	static const uint32_t start[] = { 0, 1, 0x123456, HALF - 1, HALF, 0xfffffe, 0xffffff };
	static const int32_t step[] = { -HALF, -HALF + 1, -1000, -1, 0, 1, 128, HALF - 1 };

	for (size_t i = 0; i < RTE_DIM(start); i++) {
		for (size_t j = 0; j < RTE_DIM(step); j++) {
			uint32_t to = roce_psn_add(start[i], (uint32_t)step[j]);

			assert_true(to <= ROCE_PSN_MASK);
			assert_int_equal(roce_psn_diff(to, start[i]), step[j]);
		}
	}
}
