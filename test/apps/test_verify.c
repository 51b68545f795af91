/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verify.h"

#define SALT     2
#define ENDPOINT 5
#define MAX      4200

/* Messages arrive in the order of @p numbers, all of @p size bytes. */
static struct perf_violations
deliver(const uint64_t *numbers, size_t n, size_t size, uint64_t sent)
{
	struct perf_violations bad = { 0 };
	struct perf_verify verify;
	uint8_t message[MAX];

	perf_verify_init(&verify, ENDPOINT, SALT);
	for (size_t i = 0; i < n; i++) {
		perf_verify_fill(SALT, ENDPOINT, numbers[i], message, size);
		perf_verify_check(&verify, message, size, size, &bad);
	}
	perf_verify_end(&verify, sent, &bad);
	return bad;
}

static const size_t sizes[] = { 1, 2, 7, 8, 9, 15, 16, 33, 64, 4097 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
check__accepts_every_message_once_in_order(void **state)
{
	uint64_t numbers[600];

	for (uint64_t i = 0; i < 600; i++)
		numbers[i] = i;
	for (size_t s = 0; s < SIZES; s++) {
		struct perf_violations bad = deliver(numbers, 600, sizes[s], 600);

		assert_int_equal(perf_violations_total(&bad), 0);
	}
}

/* One line per way in which delivery can go wrong, at every size that carries a number. */
static void
check__names_the_violation(void **state)
{
	static const struct {
		uint64_t numbers[8];
		size_t n;
		enum perf_violation kind;
		uint64_t count, message;
	} rule[] = {
		{ { 0, 1, 3, 4 }, 4, PERF_LOST, 1, 2 },
		{ { 0, 1, 4 }, 3, PERF_LOST, 2, 2 },
		{ { 0, 1, 2 }, 3, PERF_LOST, 2, 3 }, /* of five sent */
		{ { 0, 1, 1, 2, 3, 4 }, 6, PERF_DUPLICATED, 1, 1 },
		{ { 0, 1, 2, 0, 3, 4 }, 6, PERF_DUPLICATED, 1, 0 },
		{ { 0, 2, 1, 3, 4 }, 5, PERF_REORDERED, 1, 1 },
		{ { 4, 0, 1, 2, 3 }, 5, PERF_REORDERED, 4, 0 },
	};

	for (size_t s = 0; s < SIZES; s++) {
		for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
			struct perf_violations bad =
					deliver(rule[i].numbers, rule[i].n, sizes[s], 5);

			assert_int_equal(bad.kind[rule[i].kind].count, rule[i].count);
			assert_int_equal(bad.kind[rule[i].kind].message, rule[i].message);
			assert_int_equal(bad.kind[rule[i].kind].endpoint, ENDPOINT);
			assert_int_equal(perf_violations_total(&bad), rule[i].count);
		}
	}
}

/* Beyond eight bytes no bit may flip unseen, and the byte is named. */
static void
check__finds_every_flipped_bit(void **state)
{
	uint8_t message[40];

	for (size_t bit = 0; bit < sizeof(message) * 8; bit++) {
		struct perf_violations bad = { 0 };
		struct perf_verify verify;

		perf_verify_init(&verify, ENDPOINT, SALT);
		perf_verify_fill(SALT, ENDPOINT, 0, message, sizeof(message));
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		perf_verify_check(&verify, message, sizeof(message), sizeof(message), &bad);
		assert_int_equal(bad.kind[PERF_CORRUPTED].count, 1);
		assert_int_equal(bad.kind[PERF_CORRUPTED].byte, bit / 8);
		/* The damaged message counts as the expected one. */
		perf_verify_end(&verify, 1, &bad);
		assert_int_equal(perf_violations_total(&bad), 1);
	}
}

static void
check__tells_endpoints_and_directions_apart(void **state)
{
	struct perf_violations bad = { 0 };
	struct perf_verify verify;
	uint8_t message[64];

	perf_verify_init(&verify, ENDPOINT, SALT);
	perf_verify_fill(SALT, ENDPOINT + 1, 0, message, sizeof(message));
	perf_verify_check(&verify, message, sizeof(message), sizeof(message), &bad);
	assert_int_equal(bad.kind[PERF_MISDELIVERED].count, 1);
	perf_verify_fill(SALT + 1, ENDPOINT, 0, message, sizeof(message));
	perf_verify_check(&verify, message, sizeof(message), sizeof(message), &bad);
	assert_int_equal(bad.kind[PERF_CORRUPTED].count, 1);
	assert_int_equal(perf_violations_total(&bad), 2);
}

static void
check__wants_the_length_that_was_sent(void **state)
{
	struct perf_violations bad = { 0 };
	struct perf_verify verify;
	uint8_t message[64];

	perf_verify_init(&verify, ENDPOINT, SALT);
	perf_verify_fill(SALT, ENDPOINT, 0, message, sizeof(message));
	perf_verify_check(&verify, message, 63, 64, &bad);
	assert_int_equal(bad.kind[PERF_WRONG_LENGTH].count, 1);
	assert_int_equal(bad.kind[PERF_WRONG_LENGTH].byte, 63);
}

static void
check__counts_messages_of_no_bytes(void **state)
{
	uint64_t numbers[3] = { 0, 1, 2 };
	struct perf_violations bad = deliver(numbers, 3, 0, 3);

	assert_int_equal(perf_violations_total(&bad), 0);
	bad = deliver(numbers, 2, 0, 3);
	assert_int_equal(bad.kind[PERF_LOST].count, 1);
	bad = deliver(numbers, 3, 0, 2);
	assert_int_equal(bad.kind[PERF_DUPLICATED].count, 1);
}

static void
add__keeps_the_first_place(void **state)
{
	struct perf_violations sum = { 0 }, more = { 0 };

	perf_violation_note(&more, PERF_LOST, 1, 10, 0);
	perf_violation_note(&more, PERF_LOST, 2, 20, 0);
	perf_violations_add(&sum, &more);
	more = (struct perf_violations){ 0 };
	perf_violation_note(&more, PERF_LOST, 3, 30, 0);
	perf_violations_add(&sum, &more);
	assert_int_equal(sum.kind[PERF_LOST].count, 3);
	assert_int_equal(sum.kind[PERF_LOST].endpoint, 1);
	assert_int_equal(sum.kind[PERF_LOST].message, 10);
}

/* Memory that was written to, or read into: one certain message must be there. */
static void
place__wants_that_message_and_no_other(void **state)
{
	struct perf_verify verify;
	uint8_t memory[MAX];

	perf_verify_init(&verify, ENDPOINT, SALT);
	for (size_t s = 0; s < SIZES; s++) {
		struct perf_violations bad = { 0 };
		size_t size = sizes[s];
		/* A word of eight bytes vouches for nothing, shorter ones for less. */
		enum perf_violation stale = size > 8 ? PERF_LOST : PERF_CORRUPTED;
		enum perf_violation foreign = size > 8 ? PERF_MISDELIVERED : PERF_CORRUPTED;

		perf_verify_fill(SALT, ENDPOINT, 70, memory, size);
		perf_verify_place(&verify, 70, memory, size, &bad);
		assert_int_equal(perf_violations_total(&bad), 0);
		perf_verify_place(&verify, 71, memory, size, &bad);
		assert_int_equal(bad.kind[stale].count, 1);
		assert_int_equal(bad.kind[stale].message, 71);
		assert_int_equal(perf_violations_total(&bad), 1);

		bad = (struct perf_violations){ 0 };
		memory[size - 1] ^= 0x10;
		perf_verify_place(&verify, 70, memory, size, &bad);
		assert_int_equal(bad.kind[PERF_CORRUPTED].count, 1);
		assert_int_equal(bad.kind[PERF_CORRUPTED].byte, size - 1);
		assert_int_equal(perf_violations_total(&bad), 1);

		if (size < 8)
			continue;
		bad = (struct perf_violations){ 0 };
		perf_verify_fill(SALT, ENDPOINT + 1, 70, memory, size);
		perf_verify_place(&verify, 70, memory, size, &bad);
		assert_int_equal(bad.kind[foreign].count, 1);
		assert_int_equal(perf_violations_total(&bad), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check__accepts_every_message_once_in_order),
		cmocka_unit_test(check__names_the_violation),
		cmocka_unit_test(check__finds_every_flipped_bit),
		cmocka_unit_test(check__tells_endpoints_and_directions_apart),
		cmocka_unit_test(check__wants_the_length_that_was_sent),
		cmocka_unit_test(check__counts_messages_of_no_bytes),
		cmocka_unit_test(place__wants_that_message_and_no_other),
		cmocka_unit_test(add__keeps_the_first_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
