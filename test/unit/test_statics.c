/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of dat.conf as a consumer sees them, files statics.c and loader.c: which are taken, when their Provider is
 * loaded and unloaded, and what is said of those that are wrong. Loading a library is tested in test/abi.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry_rig.h"
#include "statics.h"

UNIT_RULE_IN(conf__init_at_first_open_fini_at_last_close, setup, NULL)
{
	DAT_IA_HANDLE first;
	DAT_IA_HANDLE second;

	write_conf(LINE("a", "1.2", "nonthreadsafe", OWN, "port=x ip=y"));
	for (unsigned int turn = 1; turn <= 2; turn++) {
		assert_int_equal(open_name("a", &first), DAT_SUCCESS);
		assert_int_equal(open_name("a", &second), DAT_SUCCESS);
		assert_int_equal(fake.inits, turn);
		assert_string_equal(fake.data, "port=x ip=y");
		assert_string_equal(fake.info.ia_name, "a");
		assert_fields(fake.info, (dapl_version_major, 1), (dapl_version_minor, 2),
				(is_thread_safe, DAT_FALSE));
		assert_int_equal(dat_ia_close(first, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
		assert_int_equal(fake.finis, turn - 1);
		assert_int_equal(dat_ia_close(second, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
		assert_int_equal(fake.finis, turn);
	}
}

UNIT_RULE_IN(conf__exact_minor_first_then_the_highest, setup, NULL)
{
	static const struct {
		DAT_UINT32 asked;
		const char *data;
	} rule[] = {
		{ 2, "two" },
		{ 3, "five" },
		{ 5, "five" },
		{ 0, "five" },
	};
	DAT_IA_HANDLE ia;

	write_conf(LINE("a", "1.4", "threadsafe", OWN, "four") LINE("a", "1.2", "threadsafe", OWN,
			"two") LINE("a", "1.5", "threadsafe", OWN, "five")
					LINE("a", "2.3", "threadsafe", OWN, "other major"));
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		assert_int_equal(open_version("a", 1, rule[i].asked, DAT_FALSE, &ia), DAT_SUCCESS);
		assert_string_equal(fake.data, rule[i].data);
		assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	}
	assert_int_equal(open_version("a", 1, 6, DAT_FALSE, &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_MINOR_NOT_FOUND));
	/* This library cannot dispatch to a 2.x table, so such lines are not its own. */
	assert_int_equal(open_version("a", 2, 3, DAT_FALSE, &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_MAJOR_NOT_FOUND));
}

UNIT_RULE_IN(conf__lines_for_others_are_passed_over, setup, NULL)
{
	DAT_IA_HANDLE ia;

	write_conf("a k1.2 threadsafe default " OWN " f.1.0 \"\" \"\"\n"
		   "b u2.0 threadsafe default " OWN " f.1.0 \"\" \"\"\n"
		   "c u1.2 threadsafe nondefault " OWN " f.1.0 \"\" \"\"\n"
		   "d u1.2 threadsafe default " OWN
		   " f.1.0 \"\"\n" LINE("e", "1.2", "threadsafe", OWN, ""));
	assert_int_equal(open_name("a", &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	assert_int_equal(open_name("b", &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	assert_int_equal(open_name("c", &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	assert_int_equal(open_name("d", &ia),
			ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	assert_int_equal(open_name("e", &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
}

UNIT_RULE_IN(conf__the_next_entry_has_its_turn_when_a_library_is_missing, setup, NULL)
{
	DAT_IA_HANDLE ia;

	write_conf(LINE("a", "1.2", "threadsafe", "libdoesnotexist.so.1", "missing")
					LINE("a", "1.2", "threadsafe", OWN, "second"));
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_string_equal(fake.data, "second");
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);

	/* libc.so.6 is a library, but not a Provider. */
	write_conf(LINE("a", "1.2", "threadsafe", "libdoesnotexist.so.1", "missing")
					LINE("a", "1.2", "threadsafe", "libc.so.6", "wrong"));
	assert_int_equal(open_name("a", &ia), ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NO_SUBTYPE));
}

UNIT_RULE_IN(conf__a_library_that_registers_nothing_is_not_found, setup, NULL)
{
	DAT_IA_HANDLE ia;

	write_conf(LINE("a", "1.2", "threadsafe", OWN, ""));
	fake.forgets_to_register = true;
	assert_int_equal(open_name("a", &ia), ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NO_SUBTYPE));
}

UNIT_RULE_IN(conf__a_registered_provider_needs_no_line, setup, NULL)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	write_conf(LINE("a", "1.3", "threadsafe", OWN, "later version"));
	assert_int_equal(dat_registry_add_provider(&fake_table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(fake.inits, 0);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	setenv("DAT_OVERRIDE", "/does/not/exist", 1);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&fake_table, &a), DAT_SUCCESS);
}

/* Capture the call's output on the standard error stream. */
static void
capture_open(const char *name, DAT_RETURN want, char *said, size_t room)
{
	DAT_IA_HANDLE ia;
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(f);
	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	assert_int_equal(open_name(name, &ia), want);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	said[fread(said, 1, room - 1, f)] = '\0';
	fclose(f);
}

UNIT_RULE_IN(conf__what_is_wrong_is_said_once, setup, NULL)
{
	const DAT_RETURN not_found = ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	char said[512];

	setenv("DAT_OVERRIDE", "/no/such/file", 1);
	capture_open("nowhere", not_found, said, sizeof(said));
	assert_string_equal(said,
			"libdat: /no/such/file, the file that DAT_OVERRIDE names, "
			"cannot be read: No such file or directory.\n");
	capture_open("nowhere", not_found, said, sizeof(said));
	assert_string_equal(said, "");

	setenv("DAT_OVERRIDE", "/", 1);
	capture_open("nowhere", not_found, said, sizeof(said));
	assert_string_equal(said,
			"libdat: /, the file that DAT_OVERRIDE names, "
			"cannot be read: Is a directory.\n");

	setenv("DAT_OVERRIDE", conf_path, 1);
	write_conf("\nwrong\n");
	capture_open("nowhere", not_found, said, sizeof(said));
	assert_non_null(strstr(said, ", line 2 is ignored: there are 1 fields, not 8.\n"));
	capture_open("nowhere", not_found, said, sizeof(said));
	assert_string_equal(said, "");
}

UNIT_RULE_IN(conf__why_a_library_is_missing_is_said_once, setup, NULL)
{
	const DAT_RETURN not_found = ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NO_SUBTYPE);
	char said[512];

	write_conf(LINE("a", "1.2", "threadsafe", "libdoesnotexist.so.1", ""));
	capture_open("a", not_found, said, sizeof(said));
	assert_non_null(strstr(said, "libdat: The library libdoesnotexist.so.1 does not load: "));
	capture_open("a", not_found, said, sizeof(said));
	assert_string_equal(said, "");
}

/* The name that a program asks for stands in the file, and not for programs of DAT 1. */
UNIT_RULE_IN(conf__a_line_for_others_is_named_where_its_name_is_wanted, setup, NULL)
{
	const DAT_RETURN not_found = ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	char said[512], want[512];

	write_conf("# shared\nb u2.0 threadsafe default libdaplroce.so.2 f.1.0 \"\" \"\"\n"
		   "c u1.2 threadsafe nondefault " OWN " f.1.0 \"\" \"\"\n");
	capture_open("a", not_found, said, sizeof(said));
	assert_string_equal(said, "");
	capture_open("b", not_found, said, sizeof(said));
	snprintf(want, sizeof(want),
			"libdat: %s, line 2, has b as u2.0 default: programs of DAT 1.2 want u1.2 "
			"default, and a library for that, like libdaplroce.so.1.\n",
			conf_path);
	assert_string_equal(said, want);
	capture_open("b", not_found, said, sizeof(said));
	assert_string_equal(said, "");
	capture_open("c", not_found, said, sizeof(said));
	assert_non_null(strstr(said, ", line 3, has c as u1.2 nondefault: "));
}

/* Whether this machine was given adapters of DAT 1.2. */
static bool
system_has_entries(void)
{
	struct libdat_statics statics;
	bool has;

	unsetenv("DAT_OVERRIDE");
	assert_int_equal(libdat_statics_read(LIBDAT_SYSTEM_CONF, &statics), 0);
	has = statics.count != 2;
	libdat_statics_free(&statics);
	return has;
}

UNIT_RULE_IN(conf__none_means_two_built_in_entries, setup, NULL)
{
	DAT_PROVIDER_INFO info[2];
	DAT_PROVIDER_INFO *list[2] = { &info[0], &info[1] };
	DAT_COUNT n;
	DAT_IA_HANDLE ia[2];

	if (system_has_entries())
		skip();
	unsetenv("DAT_OVERRIDE");
	assert_int_equal(open_name("loop0", &ia[0]), DAT_SUCCESS);
	assert_string_equal(fake.data, "port=loop0 ip=192.0.2.1/24");
	assert_int_equal(fake.info.is_thread_safe, DAT_TRUE);
	setenv("DAT_OVERRIDE", "", 1);
	assert_int_equal(open_version("loop1", 1, 2, DAT_TRUE, &ia[1]), DAT_SUCCESS);
	assert_string_equal(fake.data, "port=loop1 ip=192.0.2.2/24");
	assert_int_equal(dat_registry_list_providers(2, &n, list), DAT_SUCCESS);
	assert_int_equal(n, 2);
	assert_string_equal(info[0].ia_name, "loop0");
	assert_string_equal(info[1].ia_name, "loop1");
	assert_int_equal(dat_ia_close(ia[0], DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia[1], DAT_CLOSE_DEFAULT), DAT_SUCCESS);
}

UNIT_RULE_IN(conf__a_file_about_others_leaves_the_built_in_entries, setup, NULL)
{
	DAT_IA_HANDLE ia[2];

	write_conf(LINE("a", "1.2", "threadsafe", OWN, "")
					LINE("loop1", "1.2", "threadsafe", OWN, "a line's own"));
	assert_int_equal(open_name("loop0", &ia[0]), DAT_SUCCESS);
	assert_string_equal(fake.data, "port=loop0 ip=192.0.2.1/24");
	assert_int_equal(open_name("loop1", &ia[1]), DAT_SUCCESS);
	assert_string_equal(fake.data, "a line's own");
	assert_int_equal(dat_ia_close(ia[0], DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia[1], DAT_CLOSE_DEFAULT), DAT_SUCCESS);
}
