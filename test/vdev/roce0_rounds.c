/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes an adapter again and again, and judges that nothing grows by it: descriptors, mappings, memory, and
 * files, of this process, of a server and of roced.
 *
 *   roce0_rounds serve IA                               sends back what comes, until it is ended
 *   roce0_rounds IA ADDRESS ROUNDS EVERY PID... [FOLDER...]
 *                 opens and closes so often; in every so many rounds it connects and exchanges a message. PIDs are those
 *                 of the processes beside it, and paths folders whose files are counted
 *
 * Some rounds go ahead of the first look: what is kept for the next ones, as caches and heaps, is there then.
 */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../limit.h"
#include "echo.h"

#define WARM_ROUNDS 64
#define PROCESSES   8
#define FOLDERS     4

/*
 * Pages of frames, tables and heaps are memory from their first use on, and connections come round to the last of them after
 * hundreds: up to two megabytes. Half a kilobyte that leaks in each of five thousand connections is found.
 */
#define MEMORY_SLACK_KIB 2048u
/* The address sanitizer keeps freed memory for a while. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS_SANITIZED 1
#else
#define ROUNDS_SANITIZED 0
#endif
#define MEMORY_SANITIZED_KIB  524288u
#define MEMORY_ROUNDS_PER_KIB 1000u

/* A thread of roced that closes descriptors is there from its first use on, and so is a heap of a thread of the library. */
#define THREADS_SLACK  8u
#define MAPPINGS_SLACK 20u

/** Looks, 20 ms apart, at which nothing may have moved. */
#define STILL_LOOKS 10

/** A process at one moment. */
struct figures {
	unsigned int descriptors;
	unsigned int mappings;
	unsigned int threads;
	unsigned long memory_kib; /**< resident */
};

struct look {
	struct figures process[PROCESSES];
	unsigned int files[FOLDERS];
};

/** The processes and folders that are looked at; the first process is this one. */
static struct {
	const char *pid[PROCESSES];
	unsigned int pids;
	const char *folder[FOLDERS];
	unsigned int folders;
} watched = { .pid = { "self" }, .pids = 1 };

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "roce0_rounds: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static unsigned int
count_entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int n = 0;

	if (folder == NULL)
		give_up(path);
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n;
}

static FILE *
open_of(const char *pid, const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	file = fopen(path, "re");
	if (file == NULL)
		give_up(path);
	return file;
}

static unsigned int
count_lines(const char *pid, const char *name)
{
	FILE *file = open_of(pid, name);
	unsigned int n = 0;

	for (int c; (c = getc(file)) != EOF;)
		n += c == '\n';
	fclose(file);
	return n;
}

/* Memory that no file on a disk has. */
static unsigned long
read_memory(const char *pid)
{
	FILE *file = open_of(pid, "status");
	unsigned long kib = 0;
	char line[128];

	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib += strtoul(line + 8, NULL, 10);
		/* Without hugepages the EAL has its memory there. */
		if (strncmp(line, "RssShmem:", 9) == 0)
			kib += strtoul(line + 9, NULL, 10);
	}
	fclose(file);
	return kib;
}

static struct figures
look_at(const char *pid)
{
	struct figures figures = { .mappings = count_lines(pid, "maps"),
		.memory_kib = read_memory(pid) };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	figures.descriptors = count_entries(path);
	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	figures.threads = count_entries(path);
	return figures;
}

static struct look
take_look(void)
{
	struct look look = { 0 };

	for (unsigned int i = 0; i < watched.pids; i++)
		look.process[i] = look_at(watched.pid[i]);
	for (unsigned int i = 0; i < watched.folders; i++)
		look.files[i] = count_entries(watched.folder[i]);
	return look;
}

static bool
looks_alike(const struct look *a, const struct look *b)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		const struct figures *x = &a->process[i], *y = &b->process[i];

		if (x->descriptors != y->descriptors || x->mappings != y->mappings ||
				x->threads != y->threads || x->memory_kib != y->memory_kib)
			return false;
	}
	return memcmp(a->files, b->files, sizeof(a->files)) == 0;
}

/* Until nothing moves for a while. */
static struct look
settle(void)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct look look = take_look(), next;

	for (unsigned int still = 0; still < STILL_LOOKS; look = next) {
		nanosleep(&nap, NULL);
		next = take_look();
		still = looks_alike(&look, &next) ? still + 1 : 0;
	}
	return look;
}

static void
print_look(const char *when, const struct look *look)
{
	for (unsigned int i = 0; i < watched.pids; i++) {
		const struct figures *f = &look->process[i];

		printf("%-7s process %-8s %4u descriptors %5u mappings %3u threads %8lu KiB\n",
				when, watched.pid[i], f->descriptors, f->mappings, f->threads,
				f->memory_kib);
	}
	for (unsigned int i = 0; i < watched.folders; i++)
		printf("%-7s folder %s: %u files\n", when, watched.folder[i], look->files[i]);
	fflush(stdout);
}

static bool
has_grown(const struct figures *before, const struct figures *after, unsigned long rounds)
{
	unsigned long slack = (ROUNDS_SANITIZED ? MEMORY_SANITIZED_KIB : 0) + MEMORY_SLACK_KIB +
			rounds / MEMORY_ROUNDS_PER_KIB;

	return after->descriptors > before->descriptors ||
			after->threads > before->threads + THREADS_SLACK ||
			after->mappings > before->mappings + MAPPINGS_SLACK ||
			after->memory_kib > before->memory_kib + slack;
}

static bool
is_same(const struct look *before, const struct look *after, unsigned long rounds)
{
	for (unsigned int i = 0; i < watched.pids; i++) {
		if (has_grown(&before->process[i], &after->process[i], rounds))
			return false;
	}
	return memcmp(before->files, after->files, sizeof(before->files)) == 0;
}

/* The others hear of the last end later, and look still meanwhile. Growth that stays is there at the end of the limit. */
static bool
becomes_same(const struct look *before, struct look *after, unsigned long rounds)
{
	const time_t until = time(NULL) + (time_t)test_limit_s();

	do
		*after = settle();
	while (!is_same(before, after, rounds) && time(NULL) < until);
	return is_same(before, after, rounds);
}

static void
play(const char *ia, const char *address, unsigned long rounds, unsigned long every)
{
	static struct echo echo;

	for (unsigned long round = 0; round < rounds; round++) {
		echo_open(&echo, ia);
		if (round % every == 0) {
			echo_connect(&echo, address);
			echo_message(&echo, round);
			/* Half of the connections end by the end of the adapter. */
			if (round % (2 * every) == 0)
				echo_disconnect(&echo);
		}
		echo_close(&echo);
	}
}

static unsigned long
number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end == '\0' && n > 0)
		return n;
	errno = EINVAL;
	give_up(text);
}

static void
watch(const char *what)
{
	if (what[0] == '/' && watched.folders < FOLDERS)
		watched.folder[watched.folders++] = what;
	else if (what[0] != '/' && watched.pids < PROCESSES)
		watched.pid[watched.pids++] = what;
}

int
main(int argc, char **argv)
{
	struct look before, after;
	bool same;

	if (argc == 3 && strcmp(argv[1], "serve") == 0) {
		static struct echo echo;

		echo_open(&echo, argv[2]);
		echo_serve(&echo);
	}
	if (argc < 5) {
		fputs("roce0_rounds: serve IA | IA ADDRESS ROUNDS EVERY PID... FOLDER...\n",
				stderr);
		return EXIT_FAILURE;
	}
	for (int i = 5; i < argc; i++)
		watch(argv[i]);
	play(argv[1], argv[2], number(argv[3]) / 4 + WARM_ROUNDS, number(argv[4]));
	before = settle();
	print_look("before", &before);
	play(argv[1], argv[2], number(argv[3]), number(argv[4]));
	same = becomes_same(&before, &after, number(argv[3]));
	print_look("after", &after);
	if (same)
		return EXIT_SUCCESS;
	fputs("roce0_rounds: something has grown\n", stderr);
	return EXIT_FAILURE;
}
