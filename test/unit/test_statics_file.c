/* SPDX-License-Identifier: BSD-3-Clause */

/* Which dat.conf is in force, and what of it is for this registry. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"
#include "statics.h"

#define LINE(name, version, kind) \
	name " " version " threadsafe " kind " lib.so fake.1.0 \"\" \"\"\n"

static char system_conf[] = "/tmp/test_statics.XXXXXX";
static char override_conf[] = "/tmp/test_statics.XXXXXX";

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The names in force, one blank behind each. */
static const char *
names(const char *system_path)
{
	static char said[1024];
	struct libdat_statics statics;
	size_t len = 0;

	said[0] = '\0';
	assert_int_equal(libdat_statics_read(system_path, &statics), 0);
	for (size_t i = 0; i < statics.count && len < sizeof(said); i++)
		len += (size_t)snprintf(
				said + len, sizeof(said) - len, "%.32s ", statics.entry[i].ia_name);
	libdat_statics_free(&statics);
	return said;
}

static int
setup(void **state)
{
	unsetenv("DAT_OVERRIDE");
	return 0;
}

UNIT_RULE_IN(nothing__means_the_built_in_entries, setup, NULL)
{
	assert_string_equal(names("/nonexistent/dat.conf"), "loop0 loop1 roce0 ");
}

UNIT_RULE_IN(system_file__stands_before_the_built_in_entries, setup, NULL)
{
	write_file(system_conf, LINE("a", "u1.2", "default") LINE("b", "u2.0", "default"));
	assert_string_equal(names(system_conf), "a loop0 loop1 roce0 ");
}

/* Debian's libdat2 brings an /etc/dat.conf that is all about 2.0. */
UNIT_RULE_IN(built_in__entries_are_there_beside_any_file, setup, NULL)
{
	write_file(system_conf,
			"# DAT v2.0\n" LINE("a", "u2.0", "default") LINE("b", "k1.2", "default"));
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
	write_file(system_conf, "");
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
	write_file(system_conf, "wrong\n");
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
	assert_string_equal(names("/tmp"), "loop0 loop1 roce0 ");
}

UNIT_RULE_IN(built_in__entry_is_replaced_by_a_line_with_its_name, setup, NULL)
{
	write_file(system_conf, LINE("loop1", "u1.2", "default"));
	assert_string_equal(names(system_conf), "loop1 loop0 roce0 ");
	write_file(system_conf, LINE("loop1", "u1.2", "nondefault"));
	assert_string_equal(names(system_conf), "loop0 roce0 ");
	write_file(system_conf, LINE("loop1", "u1.3", "default") LINE("loop0", "u1.2", "default"));
	assert_string_equal(names(system_conf), "loop1 loop0 roce0 ");
	/* Of another registry, or no line at all. */
	write_file(system_conf,
			LINE("loop0", "u2.0", "default")
					LINE("loop1", "k1.2", "default") "loop0\n");
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
}

UNIT_RULE_IN(override__decides_alone_also_when_empty_or_missing, setup, NULL)
{
	write_file(system_conf, LINE("a", "u1.2", "default"));
	setenv("DAT_OVERRIDE", override_conf, 1);
	write_file(override_conf, LINE("b", "u1.2", "default"));
	assert_string_equal(names(system_conf), "b loop0 loop1 roce0 ");
	write_file(override_conf, LINE("b", "u2.0", "default"));
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
	write_file(override_conf, "");
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
	setenv("DAT_OVERRIDE", "/nonexistent/dat.conf", 1);
	assert_string_equal(names(system_conf), "loop0 loop1 roce0 ");
}

UNIT_RULE_IN(override__that_is_empty_text_is_none, setup, NULL)
{
	write_file(system_conf, LINE("a", "u1.2", "default"));
	setenv("DAT_OVERRIDE", "", 1);
	assert_string_equal(names(system_conf), "a loop0 loop1 roce0 ");
}

int
main(void)
{
	int rc;

	close(mkstemp(system_conf));
	close(mkstemp(override_conf));
	rc = unit_run();
	unlink(system_conf);
	unlink(override_conf);
	return rc;
}
