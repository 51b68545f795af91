/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How soon a new process is there: from its start until its first message over roce0 is answered, part by part.
 *
 *   bench_attach [rounds]    medians, in milliseconds
 *
 * A server, a process of its own, answers; one client after the other is started, connects and exchanges one message. All
 * times are of one clock, which the kernel has for all processes. Processor time tells more on a machine that is busy.
 */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../vdev/echo.h"

#define IA         "roce0"
#define ADDRESS    "127.0.0.1"
#define ROUNDS     51ul
#define ROUNDS_MAX 10000ul

enum part {
	PART_START, /**< the program is loaded */
	PART_OPEN,  /**< dat_ia_open(), and the objects of a connection */
	PART_CONNECT,
	PART_MESSAGE, /**< there and back */
	PART_CLOSE,
	PART_EXIT,
	PARTS,
};

static const char *const names[PARTS] = { "start of main", "open", "connect",
	"message there and back", "close", "end of the process" };

/** Moments of a client, ns: the end of each part. */
struct moments {
	uint64_t at[PARTS];
	uint64_t cpu; /**< processor time of the process until its message was answered */
};

static uint64_t
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "bench_attach: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* A client tells its moments on the standard output. */
static int
run_once(void)
{
	struct moments moments = { .at = { now(CLOCK_MONOTONIC) } };
	static struct echo echo;

	echo_open(&echo, IA);
	moments.at[PART_OPEN] = now(CLOCK_MONOTONIC);
	echo_connect(&echo, ADDRESS);
	moments.at[PART_CONNECT] = now(CLOCK_MONOTONIC);
	echo_message(&echo, 1);
	moments.at[PART_MESSAGE] = now(CLOCK_MONOTONIC);
	moments.cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	echo_close(&echo);
	moments.at[PART_CLOSE] = now(CLOCK_MONOTONIC);
	return write(STDOUT_FILENO, &moments, sizeof(moments)) == sizeof(moments) ? EXIT_SUCCESS
										  : EXIT_FAILURE;
}

static int
serve(void)
{
	static struct echo echo;

	echo_open(&echo, IA);
	echo_serve(&echo);
	return EXIT_FAILURE;
}

/* This program again. @param output receives its standard output, to be closed. */
static pid_t
start(const char *how, int *output)
{
	char program[] = "/proc/self/exe", name[] = "bench_attach", word[16];
	char *args[] = { name, word, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], rc;
	pid_t pid;

	snprintf(word, sizeof(word), "%s", how);
	if (pipe(ends) != 0)
		give_up("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	rc = posix_spawn(&pid, program, &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	errno = rc;
	if (rc != 0)
		give_up("posix_spawn");
	*output = ends[0];
	return pid;
}

static struct moments
measure(uint64_t *since)
{
	struct moments moments;
	int output, status;
	pid_t pid;

	*since = now(CLOCK_MONOTONIC);
	pid = start("once", &output);
	if (read(output, &moments, sizeof(moments)) != sizeof(moments))
		give_up("a client has failed");
	if (waitpid(pid, &status, 0) != pid || status != 0)
		give_up("a client has ended badly");
	close(output);
	moments.at[PART_EXIT] = now(CLOCK_MONOTONIC);
	return moments;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void
print(double *table, double *whole, double *cpu, size_t rounds)
{
	double fastest;

	printf("%zu new processes over " IA ", medians in ms\n", rounds);
	for (size_t part = 0; part < PARTS; part++)
		printf("%-24s %8.2f\n", names[part], median(table + part * rounds, rounds));
	fastest = median(whole, rounds);
	printf("%-24s %8.2f  fastest %.2f, processor time %.2f\n", "first message answered",
			fastest, whole[0], median(cpu, rounds));
}

static void
run(size_t rounds)
{
	double *values = calloc(rounds * (PARTS + 2), sizeof(*values));
	double *whole = values + rounds * PARTS, *cpu = whole + rounds;

	if (values == NULL)
		give_up("memory");
	for (size_t i = 0; i < rounds; i++) {
		uint64_t since, last;
		struct moments moments = measure(&since);

		last = since;
		for (size_t part = 0; part < PARTS; part++) {
			values[part * rounds + i] = (double)(moments.at[part] - last) / 1e6;
			last = moments.at[part];
		}
		whole[i] = (double)(moments.at[PART_MESSAGE] - since) / 1e6;
		cpu[i] = (double)moments.cpu / 1e6;
	}
	print(values, whole, cpu, rounds);
	free(values);
}

int
main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
	char word[16];
	int output;
	pid_t server;

	if (argc > 1 && strcmp(argv[1], "once") == 0)
		return run_once();
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	if (rounds == 0 || rounds > ROUNDS_MAX) {
		fputs("bench_attach [rounds]\n", stderr);
		return EXIT_FAILURE;
	}
	server = start("serve", &output);
	if (read(output, word, sizeof(word)) <= 0)
		give_up("the server has failed");
	run(rounds);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return EXIT_SUCCESS;
}
