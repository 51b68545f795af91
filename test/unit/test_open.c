/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface adapters as a consumer opens and closes them, file open.c: which Provider is found, and how failures look. */

#include "registry_rig.h"

UNIT_RULE_IN(openv__passes_name_and_queue_length, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_FALSE);
	char name[] = "a";
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	DAT_IA_HANDLE same;

	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(dat_ia_open(name, 17, &evd, &ia), DAT_SUCCESS);
	assert_string_equal(fake.opened, "a");
	assert_ptr_equal(evd, (void *)17);
	assert_ptr_equal(ia, &ias[0]);
	assert_int_equal(dats_get_ia_handle(ia, &same), DAT_SUCCESS);
	assert_ptr_equal(same, ia);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

UNIT_RULE_IN(openv__refuses_bad_arguments, setup, NULL)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	char name[] = "a";
	char empty[] = "";

	assert_int_equal(dat_ia_openv(NULL, 8, &evd, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_ia_openv(empty, 8, &evd, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_ia_openv(name, 8, NULL, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	assert_int_equal(dat_ia_openv(name, 8, &evd, NULL, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

UNIT_RULE_IN(openv__says_how_far_the_search_came, setup, NULL)
{
	DAT_PROVIDER_INFO unsafe = info_of("unsafe", 2, DAT_FALSE);
	DAT_PROVIDER_INFO safe = info_of("safe", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	assert_int_equal(dat_registry_add_provider(&fake_table, &unsafe), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&fake_table, &safe), DAT_SUCCESS);
	assert_int_equal(open_name("none", &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	assert_int_equal(open_version("safe", 2, 0, DAT_FALSE, &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_MAJOR_NOT_FOUND));
	assert_int_equal(open_version("safe", 1, 3, DAT_FALSE, &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_MINOR_NOT_FOUND));
	assert_int_equal(open_version("unsafe", 1, 2, DAT_TRUE, &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_THREAD_SAFETY_NOT_FOUND));

	/* Stronger than asked is fine. */
	assert_int_equal(open_version("safe", 1, 2, DAT_FALSE, &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(open_version("safe", 1, 1, DAT_TRUE, &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);

	assert_int_equal(dat_registry_remove_provider(&fake_table, &unsafe), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &safe), DAT_SUCCESS);
}

UNIT_RULE_IN(openv__passes_a_failed_open_through, setup, NULL)
{
	DAT_IA_HANDLE ia = &fake;

	write_conf(LINE("a", "1.2", "threadsafe", OWN, "x=1"));
	fake.open_returns = ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	assert_int_equal(open_name("a", &ia), fake.open_returns);
	assert_ptr_equal(ia, &fake);
	/* No entry is left in use: the one that was loaded for this call was unloaded again. */
	assert_fields(fake, (inits, 1), (finis, 1));
}

UNIT_RULE_IN(close__is_possible_once, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	assert_int_equal(dat_ia_close(DAT_HANDLE_NULL, DAT_CLOSE_DEFAULT),
			ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT),
			ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

UNIT_RULE_IN(close__that_fails_leaves_the_instance_open, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	fake.close_returns = ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), fake.close_returns);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a),
			ERROR(DAT_PROVIDER_IN_USE, 0));
	fake.close_returns = DAT_SUCCESS;
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}
