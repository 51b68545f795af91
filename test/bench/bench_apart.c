/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The bare wire between two cores, and how far apart those are.
 *
 *   bench_apart memif [BYTES] [--json]    two processes, a pair of net_memif ports as the provider opens them
 *   bench_apart ring [BYTES] [--json]     two threads, the rings of loop0 and loop1
 *   bench_apart distance [--json]         a cache line there and back
 *
 * BYTES of payload: 64, 1024 or 4096, one after the other unless given.
 * The main thread sends, on the first processor that it may use; the other process or thread receives, on the second.
 * apart_way says how they handle a frame: from not at all to all that a RoCE endpoint cannot leave out, which is the
 * ICRC, the copy of the payload at either end, and acknowledgements.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"
#include "distance.h"

#define SKIPPED 77
#define FIRST   1u /* index into bench_size: an empty frame is no message */

static bool json;
static const char *wire;
static uint32_t only; /* payload; 0: all */

static void
each_run(struct apart_end *end, void (*work)(struct apart_end *end, uint32_t run),
		void (*tell)(const struct apart_end *end))
{
	uint32_t run = 0;

	for (unsigned int i = FIRST; i < BENCH_SIZES; i++) {
		end->size = bench_size[i];
		if (only != 0 && only != end->size)
			continue;
		for (unsigned int w = 0; w < APART_WAYS; w++) {
			end->way = &apart_way[w];
			work(end, ++run);
			if (tell != NULL)
				tell(end);
		}
	}
}

static void
report(const struct apart_end *end)
{
	const struct apart_result *r = &end->shared->result;

	if (json)
		printf("{\"wire\": \"%s\", \"size\": %u, \"way\": \"%s\", \"ns\": %.3f, "
		       "\"best\": %.3f, \"burst\": %.1f}\n",
				wire, end->size, end->way->name, r->median, r->best, r->burst);
	else
		printf(" %-8u %-14s %12.2f %12.2f %12.2f %12.1f\n", end->size, end->way->name,
				1e3 / r->median, 1e3 / r->best, end->size * 8 / r->best, r->burst);
	fflush(stdout);
}

static void
print_header(void)
{
	if (!json)
		printf(" %-8s %-14s %12s %12s %12s %12s\n", "payload", "way", "Mframes/s", "best",
				"Gbit/s", "frames/burst");
}

/* The receiver has ended: not before it may, or as it has. */
static void
on_child(int signal)
{
	int status = 0;

	if (waitpid(-1, &status, WNOHANG) > 0)
		_exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status)
								    : EXIT_FAILURE);
}

static void
must_open(struct apart_end *end, const char *devargs)
{
	int rc = apart_open(end, devargs);

	if (rc == -ENODEV)
		exit(SKIPPED);
	if (rc != 0)
		exit(EXIT_FAILURE);
}

static int
receive_in_process(struct apart_end *end, const char *devargs)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	apart_pin(1);
	bench_start();
	must_open(end, devargs);
	__atomic_store_n(&end->shared->ready, 1, __ATOMIC_RELEASE);
	each_run(end, apart_receive, NULL);
	/* The sender closes first: it is the client, which does not expect its server to go. */
	while (__atomic_load_n(&end->shared->run, __ATOMIC_ACQUIRE) != UINT32_MAX)
		usleep(1000);
	apart_close(end);
	return EXIT_SUCCESS;
}

static int
run_processes(struct apart_shared *shared)
{
	struct apart_end end = { .shared = shared };
	char devargs[2][96];
	int status = 0;
	pid_t child;

	for (unsigned int i = 0; i < 2; i++)
		snprintf(devargs[i], sizeof(devargs[i]),
				"port=net_memif0,role=%s,socket=bench-%d ip=192.0.2.%u/24",
				i == 0 ? "client" : "server", (int)getpid(), i + 1);
	signal(SIGCHLD, on_child);
	child = fork();
	if (child < 0)
		bench_fail("no second process: %s", strerror(errno));
	if (child == 0) {
		signal(SIGCHLD, SIG_DFL);
		exit(receive_in_process(&end, devargs[1]));
	}
	apart_pin(0);
	bench_start();
	while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE))
		usleep(1000);
	must_open(&end, devargs[0]);
	print_header();
	each_run(&end, apart_send, report);
	signal(SIGCHLD, SIG_DFL);
	apart_close(&end);
	__atomic_store_n(&shared->run, UINT32_MAX, __ATOMIC_RELEASE);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return EXIT_FAILURE;
	return WEXITSTATUS(status);
}

static void *
receive_in_thread(void *arg)
{
	apart_pin(1);
	each_run(arg, apart_receive, NULL);
	return NULL;
}

static int
run_threads(struct apart_shared *shared)
{
	struct apart_end end[2] = { { .shared = shared }, { .shared = shared } };
	pthread_t id;

	bench_start();
	must_open(&end[0], "port=loop0 ip=192.0.2.1/24");
	must_open(&end[1], "port=loop1 ip=192.0.2.2/24");
	if (pthread_create(&id, NULL, receive_in_thread, &end[1]) != 0)
		bench_fail("no second thread");
	apart_pin(0);
	print_header();
	each_run(&end[0], apart_send, report);
	pthread_join(id, NULL);
	apart_close(&end[0]);
	apart_close(&end[1]);
	return EXIT_SUCCESS;
}

static int
tell_distance(void)
{
	double ns;

	bench_start();
	ns = bench_distance();
	if (json)
		printf("{\"wire\": \"distance\", \"ns\": %.1f}\n", ns);
	else
		printf(" a cache line there and back: %.0f ns (%s)\n", ns,
				ns > BENCH_FAR_NS ? "far" : "near");
	return EXIT_SUCCESS;
}

/* @return false: the arguments are none. */
static bool
read_arguments(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[argc - 1], "--json") == 0) {
		json = true;
		argc--;
	}
	if (argc < 2 || argc > 3)
		return false;
	wire = argv[1];
	for (unsigned int i = FIRST; i < BENCH_SIZES && argc == 3; i++) {
		if (strtoul(argv[2], NULL, 10) == bench_size[i])
			only = bench_size[i];
	}
	return argc == 2 || only != 0;
}

int
main(int argc, char **argv)
{
	struct apart_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t may;

	if (!read_arguments(argc, argv))
		bench_fail("usage: %s memif|ring|distance [BYTES] [--json]", argv[0]);
	if (shared == MAP_FAILED)
		bench_fail("no memory");
	if (sched_getaffinity(0, sizeof(may), &may) != 0 || CPU_COUNT(&may) < 2) {
		fprintf(stderr, "this process may use one processor only\n");
		return SKIPPED;
	}
	if (strcmp(wire, "memif") == 0)
		return run_processes(shared);
	if (strcmp(wire, "ring") == 0)
		return run_threads(shared);
	if (strcmp(wire, "distance") == 0)
		return tell_distance();
	bench_fail("there is no wire '%s'", wire);
}
