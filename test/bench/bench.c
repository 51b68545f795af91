/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_malloc.h>

#include "ethdev/devargs.h"
#include "ethdev/eal.h"
#include "ethdev/port.h"
#include "ethdev/port_setup.h"

#define ROUNDS   15u
#define ROUND_NS 1000000u

const uint32_t bench_size[BENCH_SIZES] = { 0, 64, 1024, 4096 };

void
bench_end(void)
{
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

bool
bench_wants(int argc, char **argv, const char *word)
{
	if (argc > 2 || (argc == 2 && strcmp(argv[1], word) != 0))
		bench_fail("usage: %s [%s]", argv[0], word);
	return argc == 2;
}

void
bench_start(void)
{
	static const struct roce_devargs args = { .port = "loop0" };
	char text[256] = "";
	struct roce_errmsg errmsg = { text, sizeof(text) };

	if (roce_eal_start(&args, &errmsg) != 0)
		bench_fail("%s", text);
}

int
bench_try_port(const char *devargs, struct roce_port **port)
{
	static struct roce_devargs args[2]; /* which outlive the ports */
	static unsigned int turn;
	struct roce_devargs *mine = &args[turn++ % 2];
	struct roce_port_config config = { .args = mine };
	char reason[256] = "";
	struct roce_errmsg errmsg = { reason, sizeof(reason) };
	int rc = roce_devargs_parse(devargs, NULL, mine, &errmsg);

	if (rc == 0)
		rc = roce_port_open(&config, port, &errmsg);
	if (rc != 0)
		fprintf(stderr, "%s\n", reason);
	return rc;
}

struct roce_port *
bench_port(const char *devargs)
{
	struct roce_port *port;

	if (bench_try_port(devargs, &port) != 0)
		exit(EXIT_FAILURE);
	return port;
}

uint8_t *
bench_memory(void)
{
	uint8_t *memory = aligned_alloc(4096, BENCH_MEMORY);

	if (memory == NULL)
		bench_fail("no memory");
	for (uint32_t i = 0; i < BENCH_MEMORY; i++)
		memory[i] = (uint8_t)(i ^ i >> 8);
	return memory;
}

uint64_t
bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
bench_median(double *value, unsigned int n)
{
	if (n == 0)
		return 0;
	qsort(value, n, sizeof(value[0]), compare);
	return value[n / 2];
}

static uint64_t
time_calls(void (*work)(void *arg), void *arg, unsigned int calls)
{
	uint64_t start = bench_cpu_ns();

	for (unsigned int i = 0; i < calls; i++)
		work(arg);
	return bench_cpu_ns() - start;
}

double
bench_measure(void (*work)(void *arg), void *arg)
{
	double ns[ROUNDS];
	unsigned int calls = 16;

	/* Doubling also warms everything up. */
	while (time_calls(work, arg, calls) < ROUND_NS)
		calls *= 2;
	for (unsigned int i = 0; i < ROUNDS; i++)
		ns[i] = (double)time_calls(work, arg, calls) / calls / BENCH_BURST;
	return bench_median(ns, ROUNDS);
}
