/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every recorded conversation, dissected, and played again with our engine in the place of either side.
 *
 * usage: replay [FOLDER [PAGE [--write]]]; the environment's ROCE_CAPTURES goes before FOLDER. Exit 77: no folder.
 * PAGE shows the table of FOLDER; --write renews it.
 *
 * Of a conversation that was recorded on both sides of a faulty wire, NAME.a is what the client saw and NAME.b what
 * the server saw: each is played for that side alone.
 */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay.h"
#include "unit.h"

#define SKIPPED  77
#define ROWS_MAX 256u

static const char *folder;
static const char *page;
static char *paths[ROWS_MAX];
static struct rp_row row[ROWS_MAX];
static uint32_t rows;
static uint32_t counted; /* files whose frames others have counted */
static bool rewrite;

static int
visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
	const char *dot = strrchr(path, '.');

	(void)status;
	(void)where;
	if (type != FTW_F || dot == NULL || strcmp(dot, ".pcap") != 0)
		return 0;
	assert_true(rows < ROWS_MAX);
	paths[rows++] = strdup(path);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
ends_with(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len >= strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

static void
play(const struct rp_capture *capture, struct rp_row *to, enum rp_side side)
{
	to->result[side].count = calloc(rp_rules(), sizeof(uint32_t));
	if (capture->frames == 0 || ends_with(capture->name, side == RP_CLIENT ? ".b" : ".a"))
		return;
	to->played[side] = true;
	rp_play(capture, side, &to->result[side]);
}

/* What stands behind the folder, however many slashes that ends with. */
static const char *
name_in(const char *where, const char *path)
{
	path += strlen(where);
	return path + strspn(path, "/");
}

static void
play_file(uint32_t i)
{
	struct rp_capture capture;
	char name[sizeof(row[i].name)];

	(void)snprintf(name, sizeof(name), "%s", name_in(folder, paths[i]));
	*strrchr(name, '.') = '\0';
	rp_capture_open(&capture, paths[i], name);
	memcpy(row[i].name, name, sizeof(name));
	row[i].frames = capture.frames;
	row[i].foreign = capture.foreign;
	/* One capture is about a broken ICRC: the other side of the wire saw it whole. */
	assert_int_equal(capture.bad_icrc, ends_with(name, "bad-icrc.b"));
	counted += rp_kinds_check(&capture, folder);
	play(&capture, &row[i], RP_SERVER);
	play(&capture, &row[i], RP_CLIENT);
	rp_capture_close(&capture);
}

/* Each frame is dissected and classified, and every answer is the recorded one, but for what the rules allow. */
static void
replay__answers_as_linux_did(void **state)
{
	(void)state;
	assert_int_equal(nftw(folder, visit, 8, FTW_PHYS), 0);
	assert_in_range(rows, 1, ROWS_MAX);
	qsort(paths, rows, sizeof(paths[0]), by_name);
	for (uint32_t i = 0; i < rows; i++)
		play_file(i);
	print_message("%u files, the frames of %u counted by others\n", rows, counted);
	assert_int_equal(rp_failures(), 0);
}

/* The captures that this was written for need every rule; others may not. */
static void
rules__are_all_needed(void **state)
{
	(void)state;
	if (page == NULL)
		skip();
	for (uint32_t rule = 0; rule < rp_rules(); rule++) {
		uint32_t times = 0;

		for (uint32_t i = 0; i < rows; i++)
			times += row[i].result[RP_CLIENT].count[rule] +
					row[i].result[RP_SERVER].count[rule];
		if (times == 0)
			fail_msg("nothing needs the rule %s", rp_rule_name(rule));
	}
}

static void
page__is_current(void **state)
{
	(void)state;
	if (!rp_table_check(row, rows, page, rewrite))
		fail_msg("the table is another one: run this test with --write behind its arguments");
}

static int
release(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < rows; i++) {
		free(row[i].result[RP_CLIENT].count);
		free(row[i].result[RP_SERVER].count);
		free(paths[i]);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay__answers_as_linux_did),
		cmocka_unit_test(rules__are_all_needed),
		cmocka_unit_test(page__is_current),
	};
	struct stat status;

	folder = getenv("ROCE_CAPTURES");
	if (folder == NULL || folder[0] == '\0') {
		folder = argc > 1 ? argv[1] : "../shared/captures";
		/* The page is about these captures, not about those that somebody else has. */
		page = argc > 2 ? argv[2] : NULL;
	}
	rewrite = argc > 3 && strcmp(argv[3], "--write") == 0;
	if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
		printf("no captures in %s: skipped\n", folder);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, release);
}
