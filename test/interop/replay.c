/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every recorded conversation, dissected, and played again with our engine in the place of either side. A file that
 * fails does not keep others from being played.
 *
 * usage: replay [FOLDER [PAGE [--write]]]; the environment's ROCE_CAPTURES goes before FOLDER.
 * PAGE shows the table of FOLDER; --write renews it.
 *
 * Of a conversation that was recorded on both sides of a faulty wire, NAME.a is what the client saw and NAME.b what
 * the server saw: each is played for that side alone. Of other names the frames themselves tell which side was recorded
 * whole.
 */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture_file.h"
#include "replay.h"
#include "unit.h"

#define ROWS_MAX 1024u

static const char *folder;
static const char *page;
static char *paths[ROWS_MAX];
static struct rp_row *row; /* ROWS_MAX of them; shared with the processes that play */
static uint32_t rows;
static uint32_t current; /* index of the file that this process plays */
static bool rewrite;

static int
visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)where;
	if (type != FTW_F || capture_file_stem(path) == 0)
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

/* Where the recorder stood is told by the name, or by the frames. */
static bool
is_playable(const struct rp_capture *capture, enum rp_side side)
{
	if (ends_with(capture->name, ".a") || ends_with(capture->name, ".b"))
		return capture->frames != 0 &&
				ends_with(capture->name, side == RP_CLIENT ? ".a" : ".b");
	return rp_side_is_whole(capture, side);
}

static void
play(const struct rp_capture *capture, struct rp_row *to, enum rp_side side)
{
	if (!is_playable(capture, side))
		return;
	to->played[side] = true;
	rp_play(capture, side, &to->result[side]);
}

/* The part of a path behind the folder, however many slashes that ends with. */
static const char *
name_in(const char *where, const char *path)
{
	path += strlen(where);
	return path + strspn(path, "/");
}

static void
file__is_answered_as_recorded(void **state)
{
	struct rp_row *to = &row[current];
	struct rp_capture capture;

	(void)state;
	rp_capture_open(&capture, paths[current], to->name);
	to->frames = capture.frames;
	to->foreign = capture.foreign;
	to->counted = rp_kinds_check(&capture, folder);
	play(&capture, to, RP_SERVER);
	play(&capture, to, RP_CLIENT);
	rp_capture_close(&capture);
	assert_int_equal(rp_failures(), 0);
}

/* Output of a process of ours. */
static void
show(FILE *said)
{
	char line[512];

	rewind(said);
	while (fgets(line, sizeof(line), said) != NULL)
		(void)fputs(line, stderr);
}

/* A file that fails, or even ends the process that plays it, takes no other one with it. */
static void
play_alone(uint32_t i)
{
	const struct CMUnitTest test[] = { cmocka_unit_test(file__is_answered_as_recorded) };
	FILE *said = tmpfile();
	int status;
	pid_t child;

	assert_non_null(said);
	(void)snprintf(row[i].name, sizeof(row[i].name), "%s", name_in(folder, paths[i]));
	row[i].name[capture_file_stem(row[i].name)] = '\0';
	(void)fflush(NULL);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0) {
		current = i;
		(void)dup2(fileno(said), STDOUT_FILENO);
		(void)dup2(fileno(said), STDERR_FILENO);
		status = cmocka_run_group_tests(test, NULL, NULL);
		(void)fflush(NULL);
		_exit(status != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	row[i].right = status == 0;
	if (!row[i].right)
		show(said);
	(void)fclose(said);
}

/* Each frame is dissected and classified, and every answer is the recorded one, but for what the rules allow. */
static void
replay__answers_as_recorded(void **state)
{
	uint32_t wrong = 0;
	uint32_t counted = 0;

	(void)state;
	if (nftw(folder, visit, 8, FTW_PHYS) != 0 || rows == 0)
		fail_msg("no capture files in %s", folder);
	qsort(paths, rows, sizeof(paths[0]), by_name);
	/* The EAL starts once, before the processes that play. */
	(void)unit_pool();
	for (uint32_t i = 0; i < rows; i++) {
		play_alone(i);
		wrong += !row[i].right;
		counted += row[i].counted;
	}
	for (uint32_t i = 0; i < rows; i++) {
		if (!row[i].right)
			print_error("wrong: %s\n", row[i].name);
	}
	print_message("%u files: %u right, %u wrong; the frames of %u counted by others\n", rows,
			rows - wrong, wrong, counted);
	assert_int_equal(wrong, 0);
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
	for (uint32_t i = 0; i < rows; i++)
		free(paths[i]);
	(void)munmap(row, ROWS_MAX * sizeof(*row));
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay__answers_as_recorded),
		cmocka_unit_test(rules__are_all_needed),
		cmocka_unit_test(page__is_current),
	};

	folder = getenv("ROCE_CAPTURES");
	if (folder == NULL || folder[0] == '\0') {
		folder = argc > 1 ? argv[1] : "test/captures";
		/* The page is about these captures, not about those that somebody else has. */
		page = argc > 2 ? argv[2] : NULL;
	}
	row = mmap(NULL, ROWS_MAX * sizeof(*row), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (row == MAP_FAILED) {
		perror("replay: mmap");
		return EXIT_FAILURE;
	}
	rewrite = argc > 3 && strcmp(argv[3], "--write") == 0;
	return cmocka_run_group_tests(tests, NULL, release);
}
