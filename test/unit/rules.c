/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "rules.h"

/* The linker puts them around the sections that RULES and UNIT_RULE() fill; a program has one of these sections, or both. */
extern const struct CMUnitTest __start_unit_rules[] __attribute__((weak));
extern const struct CMUnitTest __stop_unit_rules[] __attribute__((weak));
extern const struct unit_rule __start_unit_rule[] __attribute__((weak));
extern const struct unit_rule __stop_unit_rule[] __attribute__((weak));

__attribute__((weak)) int
unit_begin(void **state)
{
	return 0;
}

__attribute__((weak)) int
unit_end(void **state)
{
	return 0;
}

void
unit_field_is(uintmax_t have, uintmax_t want, const char *field, const char *file, int line)
{
	if (have == want)
		return;
	print_error("%s is %#jx, not %#jx\n", field, have, want);
	_fail(file, line);
}

/* The compiler puts them into their section in any order. */
static int
by_line(const void *a, const void *b)
{
	return ((const struct unit_rule *)a)->line - ((const struct unit_rule *)b)->line;
}

int
unit_run(void)
{
	const size_t listed = (size_t)(__stop_unit_rules - __start_unit_rules);
	const size_t single = (size_t)(__stop_unit_rule - __start_unit_rule);
	struct unit_rule *rule = calloc(single + 1, sizeof(*rule));
	struct CMUnitTest *all = calloc(listed + single + 1, sizeof(*all));
	int rc;

	if (listed > 0)
		memcpy(all, __start_unit_rules, listed * sizeof(*all));
	if (single > 0)
		memcpy(rule, __start_unit_rule, single * sizeof(*rule));
	qsort(rule, single, sizeof(*rule), by_line);
	for (size_t i = 0; i < single; i++)
		all[listed + i] = rule[i].test;
	rc = _cmocka_run_group_tests("tests", all, listed + single, unit_begin, unit_end);
	free(rule);
	free(all);
	return rc;
}

__attribute__((weak)) int
main(void)
{
	return unit_run();
}
