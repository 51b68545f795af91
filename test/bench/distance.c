/* SPDX-License-Identifier: BSD-3-Clause */
#include "distance.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "bench.h"

#define SAMPLES 301u
#define TRIPS   64u
#define PATIENCE \
	20000u /* looks before the processor is given to somebody else: the other may want it */

static struct {
	uint32_t ball __rte_cache_aligned; /* odd: on its way there; even: back */
	bool stop;
	int cpu[2];
} game;

static void
move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* @return false: told to stop. */
static bool
wait_for(uint32_t ball)
{
	for (unsigned int looks = 1; __atomic_load_n(&game.ball, __ATOMIC_ACQUIRE) != ball;
			looks++) {
		if (__atomic_load_n(&game.stop, __ATOMIC_RELAXED))
			return false;
		if (looks % PATIENCE == 0)
			sched_yield();
		rte_pause();
	}
	return true;
}

static void *
throw_back(void *arg)
{
	move_to(game.cpu[1]);
	for (uint32_t ball = 1; wait_for(ball); ball += 2)
		__atomic_store_n(&game.ball, ball + 1, __ATOMIC_RELEASE);
	return NULL;
}

static double
play(void)
{
	double ns[SAMPLES];
	uint64_t hz = rte_get_tsc_hz(), end = rte_rdtsc() + hz;
	uint32_t ball = 0;
	unsigned int n = 0;

	while (n < SAMPLES && rte_rdtsc() < end) {
		uint64_t start = rte_rdtsc();

		for (unsigned int i = 0; i < TRIPS; i++) {
			__atomic_store_n(&game.ball, ++ball, __ATOMIC_RELEASE);
			wait_for(++ball);
		}
		ns[n++] = (double)(rte_rdtsc() - start) * 1e9 / (double)hz / TRIPS;
	}
	return bench_median(ns, n);
}

static unsigned int
find_cpus(const cpu_set_t *set)
{
	unsigned int n = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && n < RTE_DIM(game.cpu); cpu++) {
		if (CPU_ISSET(cpu, set))
			game.cpu[n++] = cpu;
	}
	return n;
}

double
bench_distance(void)
{
	pthread_t other;
	cpu_set_t before;
	double ns;

	if (sched_getaffinity(0, sizeof(before), &before) != 0 || find_cpus(&before) < 2)
		return 0;
	game.ball = 0;
	game.stop = false;
	if (pthread_create(&other, NULL, throw_back, NULL) != 0)
		return 0;
	move_to(game.cpu[0]);
	ns = play();
	__atomic_store_n(&game.stop, true, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	return ns;
}
