/* SPDX-License-Identifier: BSD-3-Clause */
/* When a server asks a client for a sign of life, and when it lets it go: file cli/liveness.c, by a clock of the test. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/liveness.h"

#define KEEPALIVE_S 5
#define STALL_S     10

static enum cli_stall
stall(const struct cli_liveness *l, double now)
{
	return cli_liveness_stall(l, now, STALL_S, STALL_S);
}

static bool
silent(const struct cli_liveness *l, double now)
{
	return cli_liveness_is_silent(l, now, KEEPALIVE_S);
}

static void
client__is_asked_when_silent_and_not_again_before_its_answer(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	assert_false(silent(&l, 104.9));
	assert_true(silent(&l, 105));
	cli_liveness_asked(&l, 105);
	assert_false(silent(&l, 109));
	cli_liveness_answered(&l, 109, true);
	assert_false(silent(&l, 113.9));
	assert_true(silent(&l, 114));
}

static void
client__is_not_asked_while_an_answer_is_on_its_way(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	cli_liveness_hold(&l, 100);
	assert_false(silent(&l, 109));
	cli_liveness_let_go(&l, 109);
	assert_true(silent(&l, 109));
}

static void
client__that_gives_no_sign_of_life_stalls(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	cli_liveness_asked(&l, 105);
	assert_int_equal(stall(&l, 114.9), CLI_STALLS_NOT);
	assert_int_equal(stall(&l, 115), CLI_STALLS_SILENT);
}

/* Time without anything that it could acknowledge does not count. */
static void
client__stalls_from_the_first_answer_that_it_leaves(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	cli_liveness_hold(&l, 200);
	assert_int_equal(stall(&l, 209.9), CLI_STALLS_NOT);
	assert_int_equal(stall(&l, 210), CLI_STALLS_SILENT);
	cli_liveness_let_go(&l, 210);
	assert_int_equal(stall(&l, 300), CLI_STALLS_NOT);
}

/* However often an answer comes back: those that were on their way at one moment have a limited time. */
static void
client__stalls_when_what_was_on_its_way_at_once_is_late(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_hold(&l, 100);
	cli_liveness_hold(&l, 100);
	cli_liveness_hold(&l, 100);
	cli_liveness_moved(&l, 109);
	cli_liveness_let_go(&l, 109);
	/* Two are left, which have ten seconds from here. */
	cli_liveness_hold(&l, 110);
	cli_liveness_moved(&l, 118);
	cli_liveness_let_go(&l, 118);
	assert_int_equal(stall(&l, 118.9), CLI_STALLS_NOT);
	assert_int_equal(stall(&l, 119), CLI_STALLS_SLOW);
	cli_liveness_let_go(&l, 119);
	assert_int_equal(stall(&l, 120), CLI_STALLS_NOT);
}

static void
message__without_an_end_stalls(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	cli_liveness_begun(&l, 101, true);
	cli_liveness_begun(&l, 110, true);
	assert_int_equal(stall(&l, 110.9), CLI_STALLS_NOT);
	assert_int_equal(stall(&l, 111), CLI_STALLS_MIDWAY);
	cli_liveness_begun(&l, 111, false);
	assert_int_equal(stall(&l, 200), CLI_STALLS_NOT);
}

/* At each look one is arriving, and never the same. */
static void
messages__that_end_do_not_stall(void **state)
{
	struct cli_liveness l = { 0 };

	(void)state;
	cli_liveness_message(&l, 100);
	for (double now = 101; now < 150; now++) {
		cli_liveness_begun(&l, now, true);
		assert_int_equal(stall(&l, now), CLI_STALLS_NOT);
		cli_liveness_message(&l, now + 0.5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client__is_asked_when_silent_and_not_again_before_its_answer),
		cmocka_unit_test(client__is_not_asked_while_an_answer_is_on_its_way),
		cmocka_unit_test(client__that_gives_no_sign_of_life_stalls),
		cmocka_unit_test(client__stalls_from_the_first_answer_that_it_leaves),
		cmocka_unit_test(client__stalls_when_what_was_on_its_way_at_once_is_late),
		cmocka_unit_test(message__without_an_end_stalls),
		cmocka_unit_test(messages__that_end_do_not_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
