/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_RULES_H
#define ROCE_TEST_RULES_H

/**
 * @file
 * A test program: cmocka, the list of the rules that the program proves, and how fields of a struct are compared.
 *
 * main() is in rules.c. It runs the list of the program, with unit_begin() before the first rule and unit_end() behind the
 * last one. A program that needs a main() of its own has an ordinary list of cmocka instead.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** The rules of a program, in the order in which they run: RULES = { TEST(a), TEST(b) }; */
#define RULES static const struct CMUnitTest rules[] __attribute__((used, section("unit_rules")))

/** A rule that holds in the fixture of its file: setup() and teardown(). One without a fixture: cmocka_unit_test(). */
#define TEST(f)       cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_SETUP(f) cmocka_unit_test_setup(f, setup)

/** Before all rules and behind them; those of rules.c do nothing. @return 0: well. */
int unit_begin(void **state);
int unit_end(void **state);

#endif
