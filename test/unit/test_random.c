/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "unit.h"
#include "wire/random.h"

/* The paper's own example, cut to a message of 8 bytes: key 00 01 .. 0f, message 00 01 .. 07. */
UNIT_RULE_IN(hash__is_siphash_2_4, NULL, NULL)
{
	assert_int_equal(roce_random_hash(0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull,
					 0x0706050403020100ull),
			0x93f5f5799a932462ull);
}

/* Two streams of one seed, and one stream of two seeds, have nothing in common. */
UNIT_RULE_IN(at__depends_on_seed_stream_and_place, NULL, NULL)
{
	unsigned int bits = 0;

	for (uint64_t n = 0; n < 1000; n++) {
		const uint64_t x = roce_random_at(1, ROCE_RANDOM_ENGINE, n);

		assert_int_not_equal(x, roce_random_at(1, ROCE_RANDOM_CM, n));
		assert_int_not_equal(x, roce_random_at(2, ROCE_RANDOM_ENGINE, n));
		bits += (unsigned int)__builtin_popcountll(
				x ^ roce_random_at(1, ROCE_RANDOM_ENGINE, n + 1));
	}
	assert_in_range(bits, 31000, 33000);
}

/* Visible numbers are no part of the sequence that a generator that can be run backwards would make of the seed. */
UNIT_RULE_IN(at__is_no_step_from_the_last, NULL, NULL)
{
	for (uint64_t n = 0; n < 1000; n++) {
		const uint64_t step = roce_random_at(9, ROCE_RANDOM_ENGINE, n + 1) -
				roce_random_at(9, ROCE_RANDOM_ENGINE, n);

		assert_int_not_equal(step,
				roce_random_at(9, ROCE_RANDOM_ENGINE, n + 2) -
						roce_random_at(9, ROCE_RANDOM_ENGINE, n + 1));
	}
}
