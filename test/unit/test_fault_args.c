/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "ethdev/fault_args.h"
#include "rules.h"

#define BASE "port=loop0 ip=192.0.2.1/24 "

/* An instance string, and the variable on top of it. */
static int
add(const char *params, const char *text, struct roce_devargs *args, char *why, size_t len)
{
	struct roce_errmsg errmsg = { .text = why, .len = len };

	why[0] = '\0';
	assert_int_equal(roce_devargs_parse(params, NULL, args, &errmsg), 0);
	return roce_fault_args_add(text, args, &errmsg);
}

static void
add_good(const char *params, const char *text, struct roce_devargs *args)
{
	char why[256];

	if (add(params, text, args, why, sizeof(why)) != 0)
		fail_msg("%s: %s", text != NULL ? text : "not set", why);
	assert_string_equal(why, "");
}

UNIT_RULE_IN(percent__is_of_a_million, NULL, NULL)
{
	static const struct {
		const char *text;
		uint32_t ppm;
	} rule[] = {
		{ "0%", 0 },
		{ "1%", 10000 },
		{ "0.1%", 1000 },
		{ "0.01%", 100 },
		{ "0.0001%", 1 },
		{ "12.3456%", 123456 },
		{ "100%", 1000000 },
		{ "100.0%", 1000000 },
		{ "007.50%", 75000 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint32_t ppm = 42;

		assert_int_equal(roce_fault_percent_read(rule[i].text, &ppm), 0);
		assert_int_equal(ppm, rule[i].ppm);
	}
}

/* More than all, finer than one of a million, or no number: refused, and nothing is written. */
UNIT_RULE_IN(percent__refuses_what_is_no_share, NULL, NULL)
{
	static const char *const wrong[] = { "", "%", ".%", "1", "1.%", ".5%", "-1%", "+1%", " 1%",
		"1 %", "1%%", "1%x", "x%", "1e1%", "0x1%", "1,5%", "101%", "100.0001%", "0.00001%",
		"4294967297%", "99999999999999999999%", "1.2.3%" };

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		uint32_t ppm = 42;

		if (roce_fault_percent_read(wrong[i], &ppm) != -EINVAL)
			fail_msg("'%s' is %u of a million", wrong[i], ppm);
		assert_int_equal(ppm, 42);
	}
}

/* The same spellings as in an instance string, in any order, with commas or blanks between. */
UNIT_RULE_IN(add__understands_every_word, NULL, NULL)
{
	struct roce_devargs a;

	add_good(BASE, "seed=0x10,loss=1%,duplicate=2,reorder=0.01%,corrupt=0x20,mark=100%,rnr=7,wc_error=0.02%",
			&a);
	assert_fields(a, (fault[ROCE_FAULT_LOSS], 10000), (fault[ROCE_FAULT_DUPLICATE], 2),
			(fault[ROCE_FAULT_REORDER], 100), (fault[ROCE_FAULT_CORRUPT], 32),
			(fault[ROCE_FAULT_MARK], 1000000), (rnr, 7), (wc_error, 200),
			(fault_seed, 16), (fault_seeded, true));
	assert_false(roce_devargs_has(&a, "seed") || roce_devargs_has(&a, "loss"));
	add_good(BASE, " , mark=3  seed=18446744073709551615,,\n", &a);
	assert_fields(a, (fault[ROCE_FAULT_MARK], 3), (fault[ROCE_FAULT_LOSS], 0));
	assert_true(a.fault_seed == UINT64_MAX);
	assert_int_equal(roce_devargs_parse(BASE "loss=0.5%", NULL, &a, &(struct roce_errmsg){ 0 }),
			0);
	assert_int_equal(a.fault[ROCE_FAULT_LOSS], 5000);
}

/* A variable that is not set, or empty, changes nothing; one without a seed has always the same one. */
UNIT_RULE_IN(add__has_a_seed_of_its_own, NULL, NULL)
{
	struct roce_devargs a;

	add_good(BASE, NULL, &a);
	assert_false(a.fault_seeded);
	add_good(BASE "loss=7", "", &a);
	assert_fields(a, (fault_seeded, false), (fault[ROCE_FAULT_LOSS], 7));
	add_good(BASE, "loss=1%", &a);
	assert_fields(a, (fault_seeded, true), (fault_seed, ROCE_FAULT_SEED));
}

UNIT_RULE_IN(add__lets_explicit_keys_win, NULL, NULL)
{
	struct roce_devargs a;

	add_good(BASE "loss=0 corrupt=1% seed=9", "loss=5%,corrupt=7,mark=8,seed=3", &a);
	assert_fields(a, (fault[ROCE_FAULT_LOSS], 0), (fault[ROCE_FAULT_CORRUPT], 10000),
			(fault[ROCE_FAULT_MARK], 8), (fault_seeded, false), (seed, 9));
}

/* One sentence names the variable and the word, and what was read before stays as it was. */
UNIT_RULE_IN(add__refuses_and_names_the_word, NULL, NULL)
{
	static const struct {
		const char *text, *word;
	} rule[] = {
		{ "los=1%", "los=1% is unknown" },
		{ "loss=1%,mtu=1024", "mtu=1024 is unknown" },
		{ "port=loop1", "port=loop1 is unknown" },
		{ "Loss=1", "Loss=1 is unknown" },
		{ "=1", "=1 is unknown" },
		{ "loss,reorder=1", "loss= has no value" },
		{ "loss=", "loss= has no value" },
		{ "loss=1%,reorder=many", "reorder=many is invalid" },
		{ "loss=1000001", "loss=1000001 is invalid" },
		{ "loss=100.1%", "loss=100.1% is invalid" },
		{ "loss=-1", "loss=-1 is invalid" },
		{ "loss=0.5", "loss=0.5 is invalid" },
		{ "loss=1,loss=2", "loss= is given twice" },
		{ "seed=18446744073709551616", "seed=18446744073709551616 is invalid" },
		{ "seed=1%", "seed=1% is invalid" },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_devargs a;
		char why[256];

		assert_int_equal(add(BASE "mark=4", rule[i].text, &a, why, sizeof(why)), -EINVAL);
		if (strstr(why, rule[i].word) == NULL || strncmp(why, "ROCE_FAULTS: ", 13) != 0 ||
				strchr(why, '\n') != NULL)
			fail_msg("'%s': '%s'", rule[i].text, why);
		assert_fields(a, (fault[ROCE_FAULT_MARK], 4), (fault[ROCE_FAULT_LOSS], 0),
				(fault_seeded, false));
	}
}

UNIT_RULE_IN(add__refuses_a_text_without_end, NULL, NULL)
{
	struct roce_devargs a;
	char text[4096], why[256];

	memset(text, ',', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(add(BASE, text, &a, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "ROCE_FAULTS is too long"));
	text[511] = '\0';
	add_good(BASE, text, &a);
	memset(text, '1', 511);
	assert_int_equal(add(BASE, text, &a, why, sizeof(why)), -EINVAL);
}
