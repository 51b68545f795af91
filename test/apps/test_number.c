/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and sizes on the command lines of our programs: file cli/cli.c. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"

#define NONE UINT64_MAX /**< of a text that is refused */

static const struct {
	const char *text;
	uint64_t number;
	uint64_t size;
} rows[] = {
	/* clang-format off */
	{ "0", 0, 0 },
	{ "64", 64, 64 },
	{ "0064", 64, 64 },
	{ "0x40", 0x40, 0x40 },
	{ "0XfF", 0xff, 0xff },
	{ "64k", NONE, 65536 },
	{ "64K", NONE, 65536 },
	{ "1m", NONE, 1 << 20 },
	{ "2G", NONE, UINT64_C(2) << 30 },
	{ "0x10k", NONE, 16384 },
	{ "17179869183g", NONE, 17179869183 << 30 },
	{ "17179869184g", NONE, NONE },
	{ "18446744073709551616", NONE, NONE },
	{ "", NONE, NONE },
	{ "k", NONE, NONE },
	{ "0x", NONE, NONE },
	{ "0xk", NONE, NONE },
	{ "x40", NONE, NONE },
	{ "-1", NONE, NONE },
	{ "+1", NONE, NONE },
	{ " 1", NONE, NONE },
	{ "1 ", NONE, NONE },
	{ "1 k", NONE, NONE },
	{ "64kb", NONE, NONE },
	{ "64kk", NONE, NONE },
	{ "64t", NONE, NONE },
	{ "1.5k", NONE, NONE },
	/* clang-format on */
};

static uint64_t
read_as(bool (*read)(const char *, uint64_t, uint64_t, uint64_t *), const char *text)
{
	uint64_t value = 7;

	if (read(text, 0, NONE - 1, &value))
		return value;
	assert_int_equal(value, 7);
	return NONE;
}

static void
texts__are_read_in_one_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (read_as(cli_number, rows[i].text) != rows[i].number ||
				read_as(cli_size, rows[i].text) != rows[i].size)
			fail_msg("'%s'", rows[i].text);
	}
}

static void
bounds__are_of_the_bytes(void **state)
{
	uint64_t size;

	(void)state;
	assert_true(cli_size("4k", 4096, 4096, &size));
	assert_false(cli_size("4k", 4097, 8192, &size));
	assert_false(cli_size("4k", 0, 4095, &size));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts__are_read_in_one_way),
		cmocka_unit_test(bounds__are_of_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
