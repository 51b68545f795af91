/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <dat/udat.h>

#include "rules.h"

#define HIGHEST_TYPE    0x14 /* DAT_CONN_QUAL_UNAVAILABLE, shifted down */
#define HIGHEST_SUBTYPE DAT_THREAD_SAFETY_NOT_FOUND

UNIT_RULE_IN(strerror__names_the_enumerators, NULL, NULL)
{
	static const struct {
		DAT_RETURN value;
		const char *type;
		const char *subtype;
	} rule[] = {
		{ DAT_SUCCESS, "DAT_SUCCESS", "DAT_NO_SUBTYPE" },
		{ 0x80050019, "DAT_INVALID_HANDLE", "DAT_INVALID_HANDLE_SRQ" },
		{ 0x80070056, "DAT_INVALID_STATE", "DAT_INVALID_STATE_SRQ_IN_USE" },
		{ 0x80060024, "DAT_INVALID_PARAMETER", "DAT_INVALID_ARG1" },
		{ 0x800a0065, "DAT_PROVIDER_NOT_FOUND", "DAT_THREAD_SAFETY_NOT_FOUND" },
		{ DAT_QUEUE_EMPTY, "DAT_QUEUE_EMPTY", "DAT_NO_SUBTYPE" },
		{ DAT_CLASS_WARNING | DAT_TIMEOUT_EXPIRED, "DAT_TIMEOUT_EXPIRED",
				"DAT_NO_SUBTYPE" },
		{ 0x8fff0000, "DAT_NOT_IMPLEMENTED", "DAT_NO_SUBTYPE" },
	};
	const char *type;
	const char *subtype;

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		assert_int_equal(dat_strerror(rule[i].value, &type, &subtype), DAT_SUCCESS);
		assert_string_equal(type, rule[i].type);
		assert_string_equal(subtype, rule[i].subtype);
	}
}

UNIT_RULE_IN(strerror__knows_every_type_and_subtype_once, NULL, NULL)
{
	const char *seen[HIGHEST_TYPE + 1 + HIGHEST_SUBTYPE + 1];
	const char *none;
	size_t n = 0;

	for (DAT_RETURN type = 0; type <= HIGHEST_TYPE; type++)
		assert_int_equal(dat_strerror(type << 16, &seen[n++], &none), DAT_SUCCESS);
	for (DAT_RETURN subtype = 0; subtype <= HIGHEST_SUBTYPE; subtype++)
		assert_int_equal(dat_strerror(subtype, &none, &seen[n++]), DAT_SUCCESS);
	for (size_t i = 0; i < n; i++) {
		assert_memory_equal(seen[i], "DAT_", 4);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
	}
}

UNIT_RULE_IN(strerror__refuses_what_does_not_exist, NULL, NULL)
{
	static const DAT_RETURN unknown[] = {
		(HIGHEST_TYPE + 1) << 16,
		HIGHEST_SUBTYPE + 1,
		0x3fff0000, /* what DAT 2.0 returns for a call that is not there */
		DAT_SUBTYPE_MASK,
	};
	const char *type = "untouched";
	const char *subtype = "untouched";

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(dat_strerror(unknown[i], &type, &subtype),
				DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG1);
	assert_string_equal(type, "untouched");
	assert_string_equal(subtype, "untouched");
}

UNIT_RULE_IN(strerror__refuses_null_pointers, NULL, NULL)
{
	const char *text;

	assert_int_equal(dat_strerror(DAT_SUCCESS, NULL, &text),
			DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2);
	assert_int_equal(dat_strerror(DAT_SUCCESS, &text, NULL),
			DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3);
}
