/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One consumer of the adversarial mix: endpoints come and go on a shared receive queue, which is filled, emptied, resized
 * and watched, in random order; every count of every query must be the one that a few integers here say.
 *
 * usage: churn SEED    until SIGTERM; SIGUSR1 only interrupts it. A line for each round: queries, resizes, low watermarks,
 * connections.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "contract.h"

#define STEPS     200u
#define DEPTH_MAX 400u
#define MESSAGE   64u
#define SLOTS     (BUFFER_LEN / MESSAGE)

static volatile sig_atomic_t enough;
static uint64_t state;

/** The counts that the queue must have. */
struct model {
	struct pair pair;
	unsigned int depth;
	unsigned int available; /**< posted, not taken */
	unsigned int finished;  /**< taken, their completions on the dispatcher */
	unsigned int low;       /**< armed; 0: not */
	unsigned int mark;      /**< last one that was set */
	uint64_t next;          /**< cookie */
	unsigned int queries, resizes, armings, connections;
};

static unsigned int
below(unsigned int n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(state >> 33) % n;
}

static void
check(struct model *m)
{
	want_counts(m->pair.b.srq, (DAT_COUNT)m->depth, (DAT_COUNT)m->available,
			(DAT_COUNT)(m->available + m->finished));
	/* Each message is whole when its sender knows of it. */
	assert_int_equal(held(m->pair.b.ep), 0);
	m->queries += 2;
}

/* The event comes once, when the count has fallen below the mark. */
static void
watch(struct model *m)
{
	if (m->low == 0 || m->available >= m->low) {
		want_none(m->pair.b.async);
		return;
	}
	want_low(m->pair.b.async, m->pair.b.srq);
	want_none(m->pair.b.async);
	m->low = 0;
	m->armings++;
}

static void
post(struct model *m)
{
	unsigned int room = m->depth - m->available - m->finished;
	unsigned int n = room > 0 ? below(room) + 1 : 0;

	for (; n > 0; n--, m->next++, m->available++)
		ok(post_srq(&m->pair.b, m->next % SLOTS * MESSAGE, MESSAGE, m->next));
}

static void
take(struct model *m)
{
	if (m->available == 0)
		return;
	deliver(&m->pair, MESSAGE);
	m->available--;
	m->finished++;
	watch(m);
}

static void
reap(struct model *m)
{
	for (; m->finished > 0; m->finished--)
		want_event(m->pair.b.recv, DAT_DTO_COMPLETION_EVENT);
}

static void
resize(struct model *m)
{
	unsigned int used = m->available + m->finished;
	unsigned int wanted;

	/* Nor may it be less than the mark, armed or not. */
	if (used < m->mark)
		used = m->mark;
	if (used >= DEPTH_MAX)
		return;
	wanted = used + below(DEPTH_MAX - used) + 1;
	ok(dat_srq_resize(m->pair.b.srq, (DAT_COUNT)wanted));
	m->depth = (unsigned int)srq_param(m->pair.b.srq).max_recv_dtos;
	assert_in_range(m->depth, wanted, UINT32_MAX);
	m->resizes++;
}

static void
arm(struct model *m)
{
	m->low = below(m->depth) + 1;
	m->mark = m->low;
	ok(dat_srq_set_lw(m->pair.b.srq, (DAT_COUNT)m->low));
	watch(m);
}

static void
reconnect(struct model *m)
{
	struct pair *pair = &m->pair;

	reap(m);
	part(pair);
	ok(dat_ep_free(pair->a.ep));
	ok(dat_ep_free(pair->b.ep));
	add_connection(pair);
	m->connections++;
}

static void (*const step[])(
		struct model *m) = { post, post, take, take, take, reap, resize, arm, reconnect };

/* A queue's whole life. */
static void
churn__counts_are_exact(void **unused)
{
	struct model m = { .depth = below(100) + 1 };

	(void)unused;
	srq_pair_up(&m.pair, (DAT_COUNT)m.depth, 1);
	m.depth = (unsigned int)srq_param(m.pair.b.srq).max_recv_dtos;
	for (unsigned int i = 0; i < STEPS && !enough; i++) {
		step[below(sizeof(step) / sizeof(step[0]))](&m);
		check(&m);
	}
	pair_close(&m.pair);
	printf("round: %u queries, %u resizes, %u armings, %u connections\n", m.queries, m.resizes,
			m.armings, m.connections);
	(void)fflush(stdout);
}

static void
stop(int number)
{
	if (number == SIGTERM)
		enough = 1;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { dat_test(churn__counts_are_exact) };
	/* Without SA_RESTART. */
	const struct sigaction interrupt = { .sa_handler = stop };

	if (argc != 2) {
		fprintf(stderr, "usage: churn SEED\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0);
	(void)signal(SIGTERM, stop);
	(void)sigaction(SIGUSR1, &interrupt, NULL);
	while (!enough) {
		if (cmocka_run_group_tests(tests, NULL, NULL) != 0)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
