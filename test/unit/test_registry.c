/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: which Providers are added and removed, file registry.c, and what it lists of them, file open.c. */

#include <stdio.h>
#include <string.h>

#include "registry_rig.h"

UNIT_RULE_IN(add_provider__takes_a_name_once, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO a_again = info_of("a", 1, DAT_FALSE);

	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&fake_table, &a),
			ERROR(DAT_PROVIDER_ALREADY_REGISTERED, 0));
	assert_int_equal(dat_registry_add_provider(&fake_other_table, &a_again),
			ERROR(DAT_PROVIDER_ALREADY_REGISTERED, 0));
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&fake_other_table, &a_again), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_other_table, &a_again), DAT_SUCCESS);
}

UNIT_RULE_IN(add_provider__refuses_bad_arguments, setup, NULL)
{
	DAT_PROVIDER_INFO good = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO nameless = info_of("", 2, DAT_TRUE);
	DAT_PROVIDER_INFO endless = good;

	memset(endless.ia_name, 'n', sizeof(endless.ia_name));
	assert_int_equal(dat_registry_add_provider(NULL, &good),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_registry_add_provider(&fake_table, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&fake_table, &nameless),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&fake_table, &endless),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

UNIT_RULE_IN(remove_provider__wants_what_was_added, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);

	assert_int_equal(dat_registry_remove_provider(&fake_table, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_other_table, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_remove_provider(NULL, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

UNIT_RULE_IN(remove_provider__waits_for_the_last_close, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE first;
	DAT_IA_HANDLE second;

	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &first), DAT_SUCCESS);
	assert_int_equal(open_name("a", &second), DAT_SUCCESS);
	assert_ptr_not_equal(first, second);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a),
			ERROR(DAT_PROVIDER_IN_USE, 0));
	assert_int_equal(dat_ia_close(first, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a),
			ERROR(DAT_PROVIDER_IN_USE, 0));
	assert_int_equal(dat_ia_close(second, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

UNIT_RULE_IN(list__has_conf_first_and_each_entry_once, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO z = info_of("z", 2, DAT_FALSE);
	DAT_PROVIDER_INFO info[7];
	DAT_PROVIDER_INFO *list[7] = { &info[0], &info[1], &info[2], &info[3], &info[4], &info[5],
		&info[6] };
	DAT_COUNT n = 0;

	write_conf(LINE("b", "1.2", "threadsafe", OWN, "") LINE("a", "1.2", "threadsafe", OWN, "")
					LINE("b", "1.2", "threadsafe", "second.so", ""));
	assert_int_equal(dat_registry_add_provider(&fake_table, &z), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_list_providers(7, &n, list), DAT_SUCCESS);
	assert_int_equal(n, 6);
	assert_string_equal(info[0].ia_name, "b");
	assert_string_equal(info[1].ia_name, "a");
	assert_string_equal(info[2].ia_name, "loop0");
	assert_string_equal(info[3].ia_name, "loop1");
	assert_string_equal(info[4].ia_name, "roce0");
	assert_string_equal(info[5].ia_name, "z");
	assert_int_equal(info[5].is_thread_safe, DAT_FALSE);
	assert_int_equal(dat_registry_list_providers(6, &n, list), DAT_SUCCESS);

	/* Too small a list is told how large it should be, and left alone. */
	memset(info, 0, sizeof(info));
	n = 0;
	assert_int_equal(dat_registry_list_providers(2, &n, list),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(n, 6);
	assert_string_equal(info[0].ia_name, "");
	n = 0;
	assert_int_equal(dat_registry_list_providers(0, &n, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(n, 6);
	n = 0;
	assert_int_equal(dat_registry_list_providers(6, &n, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	assert_int_equal(n, 6);
	assert_int_equal(dat_registry_list_providers(3, NULL, list),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));

	assert_int_equal(dat_registry_remove_provider(&fake_table, &z), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

UNIT_RULE_IN(list__grows_with_what_is_registered, setup, NULL)
{
	enum {
		N = 40,
		BUILT_IN = 3,
		ALL = BUILT_IN + N,
	};
	static DAT_PROVIDER_INFO info[ALL];
	DAT_PROVIDER_INFO *list[ALL];
	DAT_COUNT n = 0;
	char name[16];

	for (int i = 0; i < N; i++) {
		DAT_PROVIDER_INFO one;

		snprintf(name, sizeof(name), "many%d", i);
		one = info_of(name, 2, DAT_TRUE);
		assert_int_equal(dat_registry_add_provider(&fake_table, &one), DAT_SUCCESS);
	}
	for (int i = 0; i < ALL; i++)
		list[i] = &info[i];
	assert_int_equal(dat_registry_list_providers(ALL, &n, list), DAT_SUCCESS);
	assert_int_equal(n, ALL);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		assert_string_equal(info[BUILT_IN + i].ia_name, name);
		assert_int_equal(dat_registry_remove_provider(&fake_table, &info[BUILT_IN + i]),
				DAT_SUCCESS);
	}
	assert_int_equal(dat_registry_list_providers(ALL, &n, list), DAT_SUCCESS);
	assert_int_equal(n, BUILT_IN);
}
