/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The binary interface of DAT 1.2 at run time: the same tables as abi12_static.c, so that one run
 * names everything that is wrong, and what a compiler cannot judge.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dat/dat_registry.h>
#include <roce/dat_ep.h>

struct fact {
	const char *what;
	long long is;
	long long should_be;
};

#define QUOTE(text)    #text
#define TEXT_OF(macro) QUOTE(macro)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void
check(const struct fact *facts, size_t n)
{
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		if (facts[i].is == facts[i].should_be)
			continue;
		print_error("%s is %lld, not %lld\n", facts[i].what, facts[i].is,
				facts[i].should_be);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void
abi12__sizes(void **state)
{
	static const struct fact facts[] = {
#define SIZE(type, bytes)  { "size of " #type, sizeof(type), bytes },
#define ALIGN(type, bytes) { "alignment of " #type, __alignof__(type), bytes },
#include "abi12_sizes.def"
	};

	(void)state;
	check(facts, COUNT_OF(facts));
}

static void
abi12__fields(void **state)
{
	static const struct fact facts[] = {
#define FIELD(type, member, offset, bytes)                                  \
	{ "offset of " #type "." #member, offsetof(type, member), offset }, \
			{ "size of " #type "." #member, sizeof(((type *)0)->member), bytes },
#include "abi12_fields.def"
	};

	(void)state;
	check(facts, COUNT_OF(facts));
}

static void
abi12__numbers(void **state)
{
	const struct fact facts[] = {
#define NUMBER(name, value)  { #name, (long long)(name), value },
#define ADDRESS(name, value) { #name, (long long)(intptr_t)(name), value },
#include "abi12_numbers.def"
	};

	(void)state;
	check(facts, COUNT_OF(facts));
}

static void
abi12__returned_values_have_three_parts(void **state)
{
	const DAT_RETURN ret = DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_SRQ_IN_USE;

	(void)state;
	assert_int_equal(ret, 0x80070056);
	assert_int_equal(DAT_GET_TYPE(ret), DAT_INVALID_STATE);
	assert_int_equal(DAT_GET_SUBTYPE(ret), DAT_INVALID_STATE_SRQ_IN_USE);
	assert_false(DAT_IS_WARNING(ret));
	assert_true(DAT_IS_WARNING(DAT_CLASS_WARNING | DAT_TIMEOUT_EXPIRED));
	/* It must survive what a program does to every error. */
	assert_int_equal(DAT_GET_TYPE(DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED), DAT_NOT_IMPLEMENTED);
}

/* A program can store our event numbers in a DAT_EVENT, and switch over them, without a cast or a warning. */
static void
abi12__our_events_are_event_numbers(void **state)
{
	DAT_EVENT event = { .event_number = DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK };
	int low = 0;

	(void)state;
#ifndef DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK
	fail_msg("a program cannot ask whether the number exists");
#endif
	switch (event.event_number) {
	case DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK:
		low = 1;
		break;
	case DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK:
	default:
		break;
	}
	assert_true(low);
}

static void
abi12__macros_that_are_no_numbers(void **state)
{
	DAT_OS_WAIT_PROXY_AGENT agent = DAT_OS_WAIT_PROXY_AGENT_NULL;
	DAT_LMR_COOKIE cookie;

	(void)state;
	assert_null(agent.instance_data);
	assert_true(agent.proxy_agent_func == NULL);
	assert_int_equal(sizeof(*cookie), DAT_LMR_COOKIE_SIZE);
	assert_string_equal(DAT_PROVIDER_INIT_FUNC_STR, "dat_provider_init");
	assert_string_equal(DAT_PROVIDER_FINI_FUNC_STR, "dat_provider_fini");
	assert_string_equal(TEXT_OF(DAT_PROVIDER_INIT_FUNC_NAME), "dat_provider_init");
	assert_string_equal(TEXT_OF(DAT_PROVIDER_FINI_FUNC_NAME), "dat_provider_fini");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(abi12__sizes),
		cmocka_unit_test(abi12__fields),
		cmocka_unit_test(abi12__numbers),
		cmocka_unit_test(abi12__returned_values_have_three_parts),
		cmocka_unit_test(abi12__our_events_are_event_numbers),
		cmocka_unit_test(abi12__macros_that_are_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
