/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The registry as a consumer and a Provider see it: files registry.c, open.c, statics.c and
 * loader.c through the public calls. This program has a Provider of its own, linked in under the
 * names that libdaplroce.a uses, so entries of dat.conf for libdaplroce.so.1 lead here. Loading a
 * library is tested in test/abi.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <dat/dat_registry.h>

#define ERROR(type, subtype) (DAT_CLASS_ERROR | (DAT_RETURN)(type) | (DAT_RETURN)(subtype))

#define LINE(name, version, safety, library, data) \
	name " u" version " " safety " default " library " fake.1.0 \"" data "\" \"\"\n"

#define OWN "libdaplroce.so.1"

void roce_dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data);
void roce_dat_provider_fini(const DAT_PROVIDER_INFO *info);

struct fake_ia {
	const DAT_PROVIDER *table;
	DAT_PROVIDER_INFO info;
};

/* What the Provider is told to do, and what it saw. */
static struct {
	DAT_RETURN open_returns;
	DAT_RETURN close_returns;
	bool forgets_to_register;
	unsigned int inits;
	unsigned int finis;
	DAT_PROVIDER_INFO info; /* of the last init */
	char data[256];         /* of the last init */
	char opened[64];        /* name in the last open */
} fake;

static struct fake_ia ia_pool[4];
static char conf_path[] = "/tmp/test_registry.XXXXXX";

static DAT_RETURN
fake_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia);

static DAT_RETURN
fake_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	(void)flags;
	if (fake.close_returns == DAT_SUCCESS)
		((struct fake_ia *)ia)->table = NULL;
	return fake.close_returns;
}

static const DAT_PROVIDER table = {
	.device_name = "fake",
	.ia_open_func = fake_open,
	.ia_close_func = fake_close,
};

static const DAT_PROVIDER other_table = { .device_name = "other" };

static DAT_RETURN
fake_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	struct fake_ia *free_ia = ia_pool;

	if (fake.open_returns != DAT_SUCCESS)
		return fake.open_returns;
	while (free_ia->table != NULL)
		free_ia++;
	free_ia->table = &table;
	*ia = free_ia;
	*async_evd = (DAT_EVD_HANDLE)(uintptr_t)qlen;
	snprintf(fake.opened, sizeof(fake.opened), "%s", name);
	return DAT_SUCCESS;
}

void
roce_dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
	fake.inits++;
	fake.info = *info;
	snprintf(fake.data, sizeof(fake.data), "%s", instance_data);
	if (!fake.forgets_to_register)
		assert_int_equal(dat_registry_add_provider(&table, info), DAT_SUCCESS);
}

void
roce_dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	fake.finis++;
	assert_int_equal(dat_registry_remove_provider(&table, info), DAT_SUCCESS);
}

static DAT_PROVIDER_INFO
info_of(const char *name, DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_PROVIDER_INFO info = {
		.dapl_version_major = 1,
		.dapl_version_minor = minor,
		.is_thread_safe = thread_safe,
	};

	snprintf(info.ia_name, sizeof(info.ia_name), "%s", name);
	return info;
}

static void
write_conf(const char *text)
{
	FILE *f = fopen(conf_path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Each test starts with a conf file that is empty and in force, and with nothing registered. */
static int
setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(ia_pool, 0, sizeof(ia_pool));
	write_conf("");
	return setenv("DAT_OVERRIDE", conf_path, 1);
}

static DAT_RETURN
open_version(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN safe,
		DAT_IA_HANDLE *ia)
{
	char writable[64];
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

	snprintf(writable, sizeof(writable), "%s", name);
	return dat_ia_openv(writable, 8, &evd, ia, major, minor, safe);
}

static DAT_RETURN
open_name(const char *name, DAT_IA_HANDLE *ia)
{
	return open_version(name, 1, 2, DAT_FALSE, ia);
}

static void
add_provider__takes_a_name_once(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO a_again = info_of("a", 1, DAT_FALSE);

	(void)state;
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&table, &a),
			ERROR(DAT_PROVIDER_ALREADY_REGISTERED, 0));
	assert_int_equal(dat_registry_add_provider(&other_table, &a_again),
			ERROR(DAT_PROVIDER_ALREADY_REGISTERED, 0));
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&other_table, &a_again), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&other_table, &a_again), DAT_SUCCESS);
}

static void
add_provider__refuses_bad_arguments(void **state)
{
	DAT_PROVIDER_INFO good = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO nameless = info_of("", 2, DAT_TRUE);
	DAT_PROVIDER_INFO endless = good;

	(void)state;
	memset(endless.ia_name, 'n', sizeof(endless.ia_name));
	assert_int_equal(dat_registry_add_provider(NULL, &good),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_registry_add_provider(&table, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&table, &nameless),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&table, &endless),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

static void
remove_provider__wants_what_was_added(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);

	(void)state;
	assert_int_equal(dat_registry_remove_provider(&table, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&other_table, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	assert_int_equal(dat_registry_remove_provider(NULL, &a),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
remove_provider__waits_for_the_last_close(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE first;
	DAT_IA_HANDLE second;

	(void)state;
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &first), DAT_SUCCESS);
	assert_int_equal(open_name("a", &second), DAT_SUCCESS);
	assert_ptr_not_equal(first, second);
	assert_int_equal(dat_registry_remove_provider(&table, &a), ERROR(DAT_PROVIDER_IN_USE, 0));
	assert_int_equal(dat_ia_close(first, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), ERROR(DAT_PROVIDER_IN_USE, 0));
	assert_int_equal(dat_ia_close(second, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
openv__passes_name_and_queue_length(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_FALSE);
	char name[] = "a";
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	DAT_IA_HANDLE same;

	(void)state;
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(dat_ia_open(name, 17, &evd, &ia), DAT_SUCCESS);
	assert_string_equal(fake.opened, "a");
	assert_ptr_equal(evd, (void *)17);
	assert_ptr_equal(ia, &ia_pool[0]);
	assert_int_equal(dats_get_ia_handle(ia, &same), DAT_SUCCESS);
	assert_ptr_equal(same, ia);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
openv__refuses_bad_arguments(void **state)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	char name[] = "a";
	char empty[] = "";

	(void)state;
	assert_int_equal(dat_ia_openv(NULL, 8, &evd, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_ia_openv(empty, 8, &evd, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(dat_ia_openv(name, 8, NULL, &ia, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	assert_int_equal(dat_ia_openv(name, 8, &evd, NULL, 1, 2, DAT_FALSE),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

static void
openv__says_how_far_the_search_came(void **state)
{
	DAT_PROVIDER_INFO unsafe = info_of("unsafe", 2, DAT_FALSE);
	DAT_PROVIDER_INFO safe = info_of("safe", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	(void)state;
	assert_int_equal(dat_registry_add_provider(&table, &unsafe), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&table, &safe), DAT_SUCCESS);
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

	assert_int_equal(dat_registry_remove_provider(&table, &unsafe), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &safe), DAT_SUCCESS);
}

static void
openv__passes_a_failed_open_through(void **state)
{
	DAT_IA_HANDLE ia = &fake;

	(void)state;
	write_conf(LINE("a", "1.2", "threadsafe", OWN, "x=1"));
	fake.open_returns = ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	assert_int_equal(open_name("a", &ia), fake.open_returns);
	assert_ptr_equal(ia, &fake);
	/* Nothing is left in use: the entry that was loaded for it went away again. */
	assert_int_equal(fake.inits, 1);
	assert_int_equal(fake.finis, 1);
}

static void
close__is_possible_once(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	(void)state;
	assert_int_equal(dat_ia_close(DAT_HANDLE_NULL, DAT_CLOSE_DEFAULT),
			ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT),
			ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
close__that_fails_leaves_the_instance_open(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	(void)state;
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	fake.close_returns = ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), fake.close_returns);
	assert_int_equal(dat_registry_remove_provider(&table, &a), ERROR(DAT_PROVIDER_IN_USE, 0));
	fake.close_returns = DAT_SUCCESS;
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
conf__init_at_first_open_fini_at_last_close(void **state)
{
	DAT_IA_HANDLE first;
	DAT_IA_HANDLE second;

	(void)state;
	write_conf(LINE("a", "1.2", "nonthreadsafe", OWN, "port=x ip=y"));
	for (unsigned int turn = 1; turn <= 2; turn++) {
		assert_int_equal(open_name("a", &first), DAT_SUCCESS);
		assert_int_equal(open_name("a", &second), DAT_SUCCESS);
		assert_int_equal(fake.inits, turn);
		assert_string_equal(fake.data, "port=x ip=y");
		assert_string_equal(fake.info.ia_name, "a");
		assert_int_equal(fake.info.dapl_version_major, 1);
		assert_int_equal(fake.info.dapl_version_minor, 2);
		assert_int_equal(fake.info.is_thread_safe, DAT_FALSE);
		assert_int_equal(dat_ia_close(first, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
		assert_int_equal(fake.finis, turn - 1);
		assert_int_equal(dat_ia_close(second, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
		assert_int_equal(fake.finis, turn);
	}
}

static void
conf__exact_minor_first_then_the_highest(void **state)
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

	(void)state;
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

static void
conf__lines_for_others_are_passed_over(void **state)
{
	DAT_IA_HANDLE ia;

	(void)state;
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

static void
conf__the_next_entry_has_its_turn_when_a_library_is_missing(void **state)
{
	DAT_IA_HANDLE ia;

	(void)state;
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

static void
conf__a_library_that_registers_nothing_is_not_found(void **state)
{
	DAT_IA_HANDLE ia;

	(void)state;
	write_conf(LINE("a", "1.2", "threadsafe", OWN, ""));
	fake.forgets_to_register = true;
	assert_int_equal(open_name("a", &ia), ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NO_SUBTYPE));
}

static void
conf__a_registered_provider_needs_no_line(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_IA_HANDLE ia;

	(void)state;
	write_conf(LINE("a", "1.3", "threadsafe", OWN, "later version"));
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(fake.inits, 0);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	setenv("DAT_OVERRIDE", "/does/not/exist", 1);
	assert_int_equal(open_name("a", &ia), DAT_SUCCESS);
	assert_int_equal(dat_ia_close(ia, DAT_CLOSE_DEFAULT), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

/* What the call says on the standard error output. */
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

static void
conf__what_is_wrong_is_said_once(void **state)
{
	const DAT_RETURN not_found = ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	char said[512];

	(void)state;
	setenv("DAT_OVERRIDE", "/no/such/file", 1);
	capture_open("loop0", not_found, said, sizeof(said));
	assert_string_equal(said,
			"libdat: /no/such/file, the file that DAT_OVERRIDE names, "
			"cannot be read: No such file or directory.\n");
	capture_open("loop0", not_found, said, sizeof(said));
	assert_string_equal(said, "");

	setenv("DAT_OVERRIDE", "/", 1);
	capture_open("loop0", not_found, said, sizeof(said));
	assert_string_equal(said,
			"libdat: /, the file that DAT_OVERRIDE names, "
			"cannot be read: Is a directory.\n");

	setenv("DAT_OVERRIDE", conf_path, 1);
	write_conf("\nwrong\n");
	capture_open("loop0", not_found, said, sizeof(said));
	assert_non_null(strstr(said, ", line 2 is ignored: there are 1 fields, not 8.\n"));
	capture_open("loop0", not_found, said, sizeof(said));
	assert_string_equal(said, "");
}

static void
conf__why_a_library_is_missing_is_said_if_asked(void **state)
{
	const DAT_RETURN not_found = ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NO_SUBTYPE);
	char said[512];

	(void)state;
	write_conf(LINE("a", "1.2", "threadsafe", "libdoesnotexist.so.1", ""));
	capture_open("a", not_found, said, sizeof(said));
	assert_string_equal(said, "");
	setenv("DAT_DBG_TYPE", "0x1", 1);
	capture_open("a", not_found, said, sizeof(said));
	unsetenv("DAT_DBG_TYPE");
	assert_non_null(strstr(said, "libdat: The library libdoesnotexist.so.1 does not load: "));
}

static void
conf__none_means_two_built_in_entries(void **state)
{
	DAT_PROVIDER_INFO info[2];
	DAT_PROVIDER_INFO *list[2] = { &info[0], &info[1] };
	DAT_COUNT n;
	DAT_IA_HANDLE ia[2];

	(void)state;
	if (access("/etc/dat.conf", F_OK) == 0)
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

static void
list__has_conf_first_and_each_entry_once(void **state)
{
	DAT_PROVIDER_INFO a = info_of("a", 2, DAT_TRUE);
	DAT_PROVIDER_INFO z = info_of("z", 2, DAT_FALSE);
	DAT_PROVIDER_INFO info[4];
	DAT_PROVIDER_INFO *list[4] = { &info[0], &info[1], &info[2], &info[3] };
	DAT_COUNT n = 0;

	(void)state;
	write_conf(LINE("b", "1.2", "threadsafe", OWN, "") LINE("a", "1.2", "threadsafe", OWN, "")
					LINE("b", "1.2", "threadsafe", "second.so", ""));
	assert_int_equal(dat_registry_add_provider(&table, &z), DAT_SUCCESS);
	assert_int_equal(dat_registry_add_provider(&table, &a), DAT_SUCCESS);
	assert_int_equal(dat_registry_list_providers(4, &n, list), DAT_SUCCESS);
	assert_int_equal(n, 3);
	assert_string_equal(info[0].ia_name, "b");
	assert_string_equal(info[1].ia_name, "a");
	assert_string_equal(info[2].ia_name, "z");
	assert_int_equal(info[2].is_thread_safe, DAT_FALSE);
	assert_int_equal(dat_registry_list_providers(3, &n, list), DAT_SUCCESS);

	/* Too small a list is told how large it should be, and left alone. */
	memset(info, 0, sizeof(info));
	n = 0;
	assert_int_equal(dat_registry_list_providers(2, &n, list),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(n, 3);
	assert_string_equal(info[0].ia_name, "");
	n = 0;
	assert_int_equal(dat_registry_list_providers(0, &n, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	assert_int_equal(n, 3);
	n = 0;
	assert_int_equal(dat_registry_list_providers(3, &n, NULL),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	assert_int_equal(n, 3);
	assert_int_equal(dat_registry_list_providers(3, NULL, list),
			ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));

	assert_int_equal(dat_registry_remove_provider(&table, &z), DAT_SUCCESS);
	assert_int_equal(dat_registry_remove_provider(&table, &a), DAT_SUCCESS);
}

static void
list__grows_with_what_is_registered(void **state)
{
	enum {
		N = 40
	};
	static DAT_PROVIDER_INFO info[N];
	DAT_PROVIDER_INFO *list[N];
	DAT_COUNT n = 0;
	char name[16];

	(void)state;
	for (int i = 0; i < N; i++) {
		DAT_PROVIDER_INFO one;

		snprintf(name, sizeof(name), "many%d", i);
		one = info_of(name, 2, DAT_TRUE);
		assert_int_equal(dat_registry_add_provider(&table, &one), DAT_SUCCESS);
		list[i] = &info[i];
	}
	assert_int_equal(dat_registry_list_providers(N, &n, list), DAT_SUCCESS);
	assert_int_equal(n, N);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		assert_string_equal(info[i].ia_name, name);
		assert_int_equal(dat_registry_remove_provider(&table, &info[i]), DAT_SUCCESS);
	}
	assert_int_equal(dat_registry_list_providers(N, &n, list), DAT_SUCCESS);
	assert_int_equal(n, 0);
}

static int
make_conf(void **state)
{
	int fd = mkstemp(conf_path);

	(void)state;
	if (fd < 0)
		return -1;
	return close(fd);
}

static int
remove_conf(void **state)
{
	(void)state;
	return unlink(conf_path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(add_provider__takes_a_name_once, setup),
		cmocka_unit_test_setup(add_provider__refuses_bad_arguments, setup),
		cmocka_unit_test_setup(remove_provider__wants_what_was_added, setup),
		cmocka_unit_test_setup(remove_provider__waits_for_the_last_close, setup),
		cmocka_unit_test_setup(openv__passes_name_and_queue_length, setup),
		cmocka_unit_test_setup(openv__refuses_bad_arguments, setup),
		cmocka_unit_test_setup(openv__says_how_far_the_search_came, setup),
		cmocka_unit_test_setup(openv__passes_a_failed_open_through, setup),
		cmocka_unit_test_setup(close__is_possible_once, setup),
		cmocka_unit_test_setup(close__that_fails_leaves_the_instance_open, setup),
		cmocka_unit_test_setup(conf__init_at_first_open_fini_at_last_close, setup),
		cmocka_unit_test_setup(conf__exact_minor_first_then_the_highest, setup),
		cmocka_unit_test_setup(conf__lines_for_others_are_passed_over, setup),
		cmocka_unit_test_setup(
				conf__the_next_entry_has_its_turn_when_a_library_is_missing, setup),
		cmocka_unit_test_setup(conf__a_library_that_registers_nothing_is_not_found, setup),
		cmocka_unit_test_setup(conf__a_registered_provider_needs_no_line, setup),
		cmocka_unit_test_setup(conf__what_is_wrong_is_said_once, setup),
		cmocka_unit_test_setup(conf__why_a_library_is_missing_is_said_if_asked, setup),
		cmocka_unit_test_setup(conf__none_means_two_built_in_entries, setup),
		cmocka_unit_test_setup(list__has_conf_first_and_each_entry_once, setup),
		cmocka_unit_test_setup(list__grows_with_what_is_registered, setup),
	};

	return cmocka_run_group_tests(tests, make_conf, remove_conf);
}
