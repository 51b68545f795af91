/* SPDX-License-Identifier: BSD-3-Clause */
/* dat-info: rates from two looks, and the text of metrics. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "info/rate.h"
#include "info/text.h"

/* A counter goes round after its bits; one that is behind begins anew. */
static void
distance__goes_round(void **state)
{
	static const struct {
		uint64_t before, now;
		unsigned int bits;
		uint64_t want;
	} rule[] = {
		{ 5, 12, 64, 7 },
		{ 7, 7, 64, 0 },
		{ UINT64_MAX, 1, 64, 2 },
		{ 0xffffffff, 1, 32, 2 },
		{ 0xfffffe, 3, 24, 5 },
		{ 0, 0x7fffffff, 32, 0x7fffffff },
		{ 1000, 0, 64, 0 },
		{ 1000, 0, 32, 0 },
		{ 1000, 0, 24, 0 },
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		assert_int_equal(info_distance(rule[i].before, rule[i].now, rule[i].bits),
				rule[i].want);
}

/* Three digits and a unit, and never four digits by rounding. */
static void
rate_text__is_short(void **state)
{
	static const struct {
		double rate;
		const char *want;
	} rule[] = {
		{ 0, "0" },
		{ 0.25, "0.2" },
		{ 7.3, "7.3" },
		{ 9.96, "10" },
		{ 812, "812" },
		{ 999.4, "999" },
		{ 999.6, "1.00k" },
		{ 1240, "1.24k" },
		{ 99960, "100k" },
		{ 15000000, "15.0M" },
		{ 2e9, "2.00G" },
		{ 3e15, "3000T" },
	};
	char text[16];

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		assert_string_equal(info_rate_text(rule[i].rate, text), rule[i].want);
}

/* One counter with two samples. */
static void
write_counter(bool openmetrics, char **out)
{
	struct info_text text = { .openmetrics = openmetrics };
	size_t len;

	text.out = open_memstream(out, &len);
	assert_non_null(text.out);
	info_text_family(&text, INFO_COUNTER, "roce_a-b", "a \"help\"\nof two \\ lines");
	info_text_sample(&text);
	info_text_value(&text, UINT64_MAX);
	info_text_sample(&text);
	info_text_label(&text, "device", "a\"b\\c\nd");
	info_text_label(&text, "port", "1");
	info_text_value(&text, 0);
	info_text_end(&text);
	fclose(text.out);
}

static void
text__is_that_of_prometheus(void **state)
{
	char *out;

	write_counter(false, &out);
	assert_string_equal(out,
			"# HELP roce_a_b_total a \"help\"\\nof two \\\\ lines\n"
			"# TYPE roce_a_b_total counter\n"
			"roce_a_b_total 18446744073709551615\n"
			"roce_a_b_total{device=\"a\\\"b\\\\c\\nd\",port=\"1\"} 0\n");
	free(out);
}

static void
text__is_that_of_openmetrics(void **state)
{
	char *out;

	write_counter(true, &out);
	assert_string_equal(out,
			"# HELP roce_a_b a \\\"help\\\"\\nof two \\\\ lines\n"
			"# TYPE roce_a_b counter\n"
			"roce_a_b_total 18446744073709551615\n"
			"roce_a_b_total{device=\"a\\\"b\\\\c\\nd\",port=\"1\"} 0\n"
			"# EOF\n");
	free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance__goes_round),
		cmocka_unit_test(rate_text__is_short),
		cmocka_unit_test(text__is_that_of_prometheus),
		cmocka_unit_test(text__is_that_of_openmetrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
