/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "snapshot.h"
#include "table.h"

#define LINES_MIN 5u

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

/* Lines of the terminal below the heading; 0: it is none. */
static unsigned int
terminal_lines(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < LINES_MIN)
		return LINES_MIN;
	return size.ws_row - 2u;
}

static void
show(struct json_object *before, struct json_object *now, double seconds)
{
	unsigned int lines = terminal_lines();
	time_t at = time(NULL);
	struct tm local;
	char clock[16];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&at, &local));
	/* To the top, and what stood there goes; all in one write, so that nothing flickers. */
	if (lines > 0)
		fputs("\033[H\033[J", stdout);
	printf("%s process %s\n", clock,
			json_object_get_string(json_object_object_get(now, "pid")));
	info_table_write(stdout, before, now, seconds, lines);
	if (lines == 0)
		putchar('\n');
}

/* @return 0; -1: nobody sees it; the error was printed. */
static int
print(const struct info_options *options, struct json_object *before, struct json_object *now,
		double seconds)
{
	if (options->json)
		puts(json_object_to_json_string_ext(
				now, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		show(before, now, seconds);
	return cli_output_flush();
}

static int
look_again_and_again(const struct info_options *options, struct info_link *link,
		struct info_errmsg *errmsg)
{
	struct json_object *before = NULL, *now;
	double then = 0, at;
	int rc = 0;

	for (uint64_t n = 0; rc == 0 && (options->count == 0 || n < options->count); n++) {
		if (n > 0)
			pause_s(options->seconds);
		now = info_snapshot(link, errmsg);
		if (now == NULL) {
			json_object_put(before);
			return -1;
		}
		at = now_s();
		rc = print(options, before, now, at - then);
		json_object_put(before);
		before = now;
		then = at;
	}
	json_object_put(before);
	return rc;
}

int
info_watch(const struct info_options *options)
{
	struct info_link link;
	struct info_errmsg errmsg = { "" };
	int rc = info_process_find(&options->process, &link, &errmsg);

	setvbuf(stdout, NULL, _IOFBF, 1u << 16);
	if (rc == 0) {
		rc = look_again_and_again(options, &link, &errmsg);
		info_link_close(&link);
	}
	if (rc != 0 && errmsg.text[0] != '\0')
		cli_say("%s", errmsg.text);
	return rc;
}
