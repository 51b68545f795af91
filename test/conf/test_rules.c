/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Conformance: frames in, frames out. Each rule of the *.def files is a test of its own, played against the real
 * engine.
 *
 * usage: test_rules FILE... ; the environment's ROCE_RULE names the only rule to play.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "play.h"

static struct rule *rules;
static unsigned int count;

static void
play(void **state)
{
	play_rule(*state);
}

/* Rules that never say an opcode say nothing about it. */
static void
rules__cover_every_opcode(void **state)
{
	static const uint8_t answers[] = {
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
		IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
		IBV_OPCODE_RC_ACKNOWLEDGE,
		IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
	};

	(void)state;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_info *op = &roce_opcode[opcode];

		if (op->flags == 0 || (op->flags & ROCE_OP_DETH))
			continue;
		if (play_heard((uint8_t)opcode) == 0)
			fail_msg("no rule in which the peer sends opcode 0x%02x", opcode);
		if ((op->flags & ROCE_OP_REQUEST) && play_said((uint8_t)opcode) == 0)
			fail_msg("no rule in which opcode 0x%02x is sent", opcode);
	}
	for (size_t i = 0; i < RTE_DIM(answers); i++)
		assert_int_not_equal(play_said(answers[i]), 0);
}

static void
number__has_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		bool ok;
	} rule[] = {
		{ "0", 0, true },
		{ "17", 17, true },
		{ "0x10", 16, true },
		{ "mtu", FX_MTU, true },
		{ "2mtu+5", 2 * FX_MTU + 5, true },
		{ "mem-8", FX_MEMORY - 8, true },
		{ "-8", UINT64_MAX - 7, true },
		{ "3mtu-mtu", 2 * FX_MTU, true },
		{ "", 0, false },
		{ "x", 0, false },
		{ "8x", 0, false },
		{ "mtu5", 0, false },
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		assert_int_equal(rules_number(rule[i].text, &value), rule[i].ok);
		if (rule[i].ok)
			assert_int_equal(value, rule[i].value);
	}
}

int
main(int argc, char **argv)
{
	const char *only = getenv("ROCE_RULE");
	struct CMUnitTest *tests;
	unsigned int n = 0;
	int failed;

	for (int i = 1; i < argc; i++)
		rules_read(argv[i], &rules, &count);
	tests = calloc(count + 2, sizeof(*tests));
	if (tests == NULL || count == 0) {
		fputs("usage: test_rules FILE...\n", stderr);
		free(tests);
		return EXIT_FAILURE;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (only == NULL || strcmp(only, rules[i].name) == 0)
			tests[n++] = (struct CMUnitTest){ rules[i].name, play, NULL, NULL,
				&rules[i] };
	}
	if (only == NULL) {
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(rules__cover_every_opcode);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(number__has_units);
	}
	failed = _cmocka_run_group_tests("rules", tests, n, NULL, NULL);
	free(tests);
	return failed;
}
