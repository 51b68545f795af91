/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "match.h"
#include "rules.h"

static DAT_PROVIDER_INFO
entry(DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	return (DAT_PROVIDER_INFO){
		.ia_name = "x",
		.dapl_version_major = 1,
		.dapl_version_minor = minor,
		.is_thread_safe = thread_safe,
	};
}

UNIT_RULE_IN(match__says_how_far_an_entry_agrees, NULL, NULL)
{
	static const struct {
		struct libdat_wish wish;
		enum libdat_match want;
	} rule[] = {
		/* Of an entry that is named x, has version 1.2 and is not thread safe. */
		{ { "y", 1, 2, false }, LIBDAT_MATCH_NOTHING },
		{ { "", 1, 2, false }, LIBDAT_MATCH_NOTHING },
		{ { "x", 2, 0, false }, LIBDAT_MATCH_NAME },
		{ { "x", 0, 2, false }, LIBDAT_MATCH_NAME },
		{ { "x", 1, 3, false }, LIBDAT_MATCH_MAJOR },
		{ { "x", 1, 2, true }, LIBDAT_MATCH_MINOR },
		{ { "x", 1, 2, false }, LIBDAT_MATCH_ALL },
		{ { "x", 1, 1, false }, LIBDAT_MATCH_ALL },
	};
	DAT_PROVIDER_INFO unsafe = entry(2, DAT_FALSE);

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		assert_int_equal(libdat_match(&rule[i].wish, &unsafe), rule[i].want);
}

UNIT_RULE_IN(match__a_safe_entry_serves_everybody, NULL, NULL)
{
	DAT_PROVIDER_INFO safe = entry(2, DAT_TRUE);

	for (int wants = 0; wants <= 1; wants++) {
		struct libdat_wish wish = { "x", 1, 2, wants };

		assert_int_equal(libdat_match(&wish, &safe), LIBDAT_MATCH_ALL);
	}
}

/* Every pair of entries, in both orders, against the order written down by hand. */
UNIT_RULE_IN(match_better__orders_minor_before_thread_safety, NULL, NULL)
{
	const struct libdat_wish wish = { "x", 1, 2, false };
	const DAT_PROVIDER_INFO best_first[] = {
		entry(2, DAT_FALSE),
		entry(2, DAT_TRUE),
		entry(4, DAT_FALSE),
		entry(4, DAT_TRUE),
		entry(3, DAT_FALSE),
	};
	const int n = sizeof(best_first) / sizeof(best_first[0]);

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			assert_int_equal(libdat_match_better(&wish, &best_first[i], &best_first[j]),
					i < j);
	}
}

UNIT_RULE_IN(match_error__names_what_is_missing, NULL, NULL)
{
	assert_int_equal(libdat_match_error(LIBDAT_MATCH_NOTHING), 0x800a0062);
	assert_int_equal(libdat_match_error(LIBDAT_MATCH_NAME), 0x800a0063);
	assert_int_equal(libdat_match_error(LIBDAT_MATCH_MAJOR), 0x800a0064);
	assert_int_equal(libdat_match_error(LIBDAT_MATCH_MINOR), 0x800a0065);
	assert_int_equal(libdat_match_error(LIBDAT_MATCH_ALL), 0x800a0000);
}

UNIT_RULE_IN(match_same__compares_every_field, NULL, NULL)
{
	DAT_PROVIDER_INFO a = entry(2, DAT_TRUE);
	DAT_PROVIDER_INFO b = a;

	/* The bytes behind the end of the name are not part of it. */
	b.ia_name[2] = 'z';
	assert_true(libdat_match_same(&a, &b));
	b.ia_name[0] = 'y';
	assert_false(libdat_match_same(&a, &b));
	b = a;
	b.dapl_version_major = 2;
	assert_false(libdat_match_same(&a, &b));
	b = a;
	b.dapl_version_minor = 3;
	assert_false(libdat_match_same(&a, &b));
	b = a;
	b.is_thread_safe = DAT_FALSE;
	assert_false(libdat_match_same(&a, &b));
}
