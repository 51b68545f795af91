/* SPDX-License-Identifier: BSD-3-Clause */

#include "rules.h"

/* The linker puts them around the section that RULES fills. */
extern const struct CMUnitTest __start_unit_rules[], __stop_unit_rules[];

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

int
main(void)
{
	const size_t n = (size_t)(__stop_unit_rules - __start_unit_rules);

	return _cmocka_run_group_tests("tests", __start_unit_rules, n, unit_begin, unit_end);
}
