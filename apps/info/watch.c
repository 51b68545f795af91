/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "look.h"
#include "screen.h"
#include "table.h"

/** Two looks, and how they are shown. */
struct watch {
	const struct info_options *options;
	bool screen;
	enum info_sort sort;
	struct json_object *before, *now;
	double then, at; /**< when they were */
};

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
pause_s(double seconds)
{
	struct timespec left = { .tv_sec = (time_t)seconds };

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	nanosleep(&left, NULL);
}

/* Each process a line: what reads it knows one by its number. */
static void
print_json(const struct watch *watch)
{
	json_object_object_foreach(watch->now, pid, process)
	{
		(void)pid;
		puts(json_object_to_json_string_ext(
				process, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
}

static void
print_table(const char *heading, const struct info_table *table)
{
	puts(heading);
	for (size_t i = 0; i < table->n; i++)
		puts(table->line[i].text);
	putchar('\n');
}

static void
show(const struct watch *watch)
{
	struct info_table table = info_table_make(
			watch->before, watch->now, watch->at - watch->then, watch->sort);
	int n = info_look_processes(watch->now);
	time_t at = time(NULL);
	struct tm local;
	char clock[16], heading[96];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&at, &local));
	snprintf(heading, sizeof(heading), "%s %d process%s, EPs by %s%s", clock, n,
			n == 1 ? "" : "es", info_sort_name(watch->sort),
			table.no_memory ? ", no memory for all" : "");
	if (watch->screen)
		info_screen_draw(heading, &table);
	else
		print_table(heading, &table);
	info_table_free(&table);
}

/* @return 0; -1: nobody sees it; the error was printed. */
static int
print(const struct watch *watch)
{
	if (watch->screen) {
		show(watch);
		return 0;
	}
	if (watch->options->json)
		print_json(watch);
	else
		show(watch);
	return cli_output_flush();
}

/* The processes that there are now: some may have come or gone. @return 0; -1: none is left. */
static int
look(struct watch *watch, struct info_errmsg *errmsg)
{
	bool first = watch->now == NULL;
	struct json_object *now = info_look(&watch->options->process, NULL, errmsg);

	if (now == NULL && !first)
		info_errmsg_set(errmsg, "the process has ended, or does not answer");
	if (now == NULL)
		return -1;
	json_object_put(watch->before);
	watch->before = watch->now;
	watch->then = watch->at;
	watch->now = now;
	watch->at = now_s();
	return 0;
}

/* Until the next look is due, what the user wants of this one. @return false: to quit. */
static bool
attend(struct watch *watch)
{
	double due = watch->at + watch->options->seconds, left;
	enum info_wish wish;

	if (!watch->screen) {
		pause_s(watch->options->seconds);
		return true;
	}
	while ((left = due - now_s()) > 0) {
		wish = info_screen_wait(left);
		if (wish == INFO_WISH_QUIT)
			return false;
		if (wish == INFO_WISH_SORT)
			watch->sort = (watch->sort + 1) % INFO_SORTS;
		if (wish != INFO_WISH_LOOK)
			show(watch);
	}
	return true;
}

int
info_watch(const struct info_options *options)
{
	struct watch watch = { .options = options };
	struct info_errmsg errmsg = { "" };
	int rc = look(&watch, &errmsg);

	setvbuf(stdout, NULL, _IOFBF, 1u << 16);
	/* An error of the first look leaves the terminal alone. */
	watch.screen = rc == 0 && !options->json && info_screen_begin();
	for (uint64_t n = 1; rc == 0; n++) {
		rc = print(&watch);
		if (rc != 0 || n == options->count || !attend(&watch))
			break;
		rc = look(&watch, &errmsg);
	}
	if (watch.screen)
		info_screen_end();
	json_object_put(watch.before);
	json_object_put(watch.now);
	if (rc != 0 && errmsg.text[0] != '\0')
		cli_say("%s", errmsg.text);
	return rc;
}
