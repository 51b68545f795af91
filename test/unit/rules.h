/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_RULES_H
#define ROCE_TEST_RULES_H

/**
 * @file
 * A test program: cmocka, the list of the rules that the program proves, and how fields of a struct are compared.
 *
 * main() is in rules.c. It runs the list of the program, with unit_begin() before the first rule and unit_end() behind the
 * last one. A program that needs a main() of its own calls unit_run() in it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/**
 * A rule of the program, and its place in the list: UNIT_RULE(name) { body }. The rules run in the order in which they stand. It
 * holds in the fixture of its file, setup() and teardown(); in another one: UNIT_RULE_IN(), whose functions may be NULL.
 */
#define UNIT_RULE(f) UNIT_RULE_IN(f, setup, teardown)
#define UNIT_RULE_IN(f, before, after)                                                           \
	static void f(void **state);                                                             \
	static const struct unit_rule f##_rule __attribute__((                                   \
			used, section("unit_rule"), aligned(__alignof__(struct unit_rule)))) = { \
		{ #f, f, before, after, NULL }, __LINE__                                         \
	};                                                                                       \
	static void f(void **state)

/** The record of a UNIT_RULE(), which the linker collects. */
struct unit_rule {
	struct CMUnitTest test;
	int line;
};

/** The same as a list, for rules with a parameter: RULES = { TEST(a), TEST(b) }; They run before the others. */
#define RULES static const struct CMUnitTest rules[] __attribute__((used, section("unit_rules")))

/** A rule that holds in the fixture of its file: setup() and teardown(). One without a fixture: cmocka_unit_test(). */
#define TEST(f)       cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_SETUP(f) cmocka_unit_test_setup(f, setup)

/**
 * Fields of a struct as a table: assert_fields(event, (wr_id, 1), (status, IBV_WC_SUCCESS)). The object may be the result of
 * a call, which is made once. A failure names the field, what it has and what was wanted; fields are numbers or pointers.
 */
#define assert_fields(object, ...)                                                               \
	do {                                                                                     \
		const __typeof__(object) it_ = (object);                                         \
		UNIT_PICK(__VA_ARGS__, UNIT_16, UNIT_15, UNIT_14, UNIT_13, UNIT_12, UNIT_11,     \
				UNIT_10, UNIT_9, UNIT_8, UNIT_7, UNIT_6, UNIT_5, UNIT_4, UNIT_3, \
				UNIT_2, UNIT_1)                                                  \
		(__VA_ARGS__)                                                                    \
	} while (0)

#define UNIT_FIELD(field, want) \
	unit_field_is((uintmax_t)(it_.field), (uintmax_t)(want), #field, __FILE__, __LINE__);
#define UNIT_PICK(                                                                                \
		_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, name, ...) \
	name
#define UNIT_1(a)       UNIT_FIELD a
#define UNIT_2(a, ...)  UNIT_FIELD a UNIT_1(__VA_ARGS__)
#define UNIT_3(a, ...)  UNIT_FIELD a UNIT_2(__VA_ARGS__)
#define UNIT_4(a, ...)  UNIT_FIELD a UNIT_3(__VA_ARGS__)
#define UNIT_5(a, ...)  UNIT_FIELD a UNIT_4(__VA_ARGS__)
#define UNIT_6(a, ...)  UNIT_FIELD a UNIT_5(__VA_ARGS__)
#define UNIT_7(a, ...)  UNIT_FIELD a UNIT_6(__VA_ARGS__)
#define UNIT_8(a, ...)  UNIT_FIELD a UNIT_7(__VA_ARGS__)
#define UNIT_9(a, ...)  UNIT_FIELD a UNIT_8(__VA_ARGS__)
#define UNIT_10(a, ...) UNIT_FIELD a UNIT_9(__VA_ARGS__)
#define UNIT_11(a, ...) UNIT_FIELD a UNIT_10(__VA_ARGS__)
#define UNIT_12(a, ...) UNIT_FIELD a UNIT_11(__VA_ARGS__)
#define UNIT_13(a, ...) UNIT_FIELD a UNIT_12(__VA_ARGS__)
#define UNIT_14(a, ...) UNIT_FIELD a UNIT_13(__VA_ARGS__)
#define UNIT_15(a, ...) UNIT_FIELD a UNIT_14(__VA_ARGS__)
#define UNIT_16(a, ...) UNIT_FIELD a UNIT_15(__VA_ARGS__)

/** For assert_fields(): a failure of the test when @p have is not @p want. */
void unit_field_is(uintmax_t have, uintmax_t want, const char *field, const char *file, int line);

/** Run all rules of the program. @return how many failed. */
int unit_run(void);

/** Before all rules and behind them; those of rules.c do nothing. @return 0: well. */
int unit_begin(void **state);
int unit_end(void **state);

#endif
