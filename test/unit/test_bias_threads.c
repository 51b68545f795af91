/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Biased locks, on threads and with the kernel's barrier: what test_bias.c and test/model take its word for. Skipped
 * where there is none. Run it under the thread sanitizer, too (`./run.sh sanitize`).
 */

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_pause.h>

#include "queue/bias.h"
#include "queue/domain.h"
#include "fixture.h"

#define SKIP    77
#define HASTY   4u /**< times in a row that make an owner here, however often it was taken away */
#define THREADS 3u
#define RUNS    6000u
#define STAY    40u /**< pauses inside, so that others come meanwhile */
#define ROUNDS  4000u
#define POSTS   16u

static void
barrier(void)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		abort();
}

/* For the holder: the lock is biased again soon. */
static void
be_hasty(struct roce_lock *lock)
{
	if (lock->entered == 0)
		lock->bias.threshold = HASTY;
}

/* ---- a lock and what it guards ---- */

struct crowd {
	struct roce_lock lock;
	uint64_t turns;  /**< under the lock */
	uint64_t biased; /**< polls of an owner; under it */
};

struct member {
	struct crowd *crowd;
	unsigned int index;
	uint64_t turns;
};

static void
poll_locked(struct member *m)
{
	struct crowd *c = m->crowd;
	uint64_t turns = c->turns;

	be_hasty(&c->lock);
	for (unsigned int i = 0; i < STAY; i++)
		rte_pause();
	c->turns = turns + 1;
	c->biased += c->lock.entered != 0;
	roce_unlock(&c->lock);
	m->turns++;
}

/* Long streaks, in which it becomes the owner, and short ones. Each third one only tries. */
static void *
take_in_runs(void *arg)
{
	struct member *m = arg;

	for (unsigned int run = 0; run < RUNS; run++) {
		unsigned int times = (run + m->index) % 2 != 0 ? 8 * HASTY : 2;

		for (unsigned int i = 0; i < times; i++) {
			if (run % 3 != 0)
				roce_lock(&m->crowd->lock);
			else if (!roce_trylock(&m->crowd->lock))
				continue;
			poll_locked(m);
		}
		if (run % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void
lock__counts_each_turn(void **state)
{
	static struct crowd crowd;
	struct member member[THREADS];
	pthread_t thread[THREADS];
	uint64_t turns = 0;

	crowd = (struct crowd){ 0 };
	for (unsigned int i = 0; i < THREADS; i++) {
		member[i] = (struct member){ .crowd = &crowd, .index = i };
		assert_int_equal(pthread_create(&thread[i], NULL, take_in_runs, &member[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		turns += member[i].turns;
	}
	assert_int_equal(crowd.turns, turns);
	assert_true(crowd.biased > 0);
	assert_int_equal(crowd.lock.bias.inside[0] | crowd.lock.bias.inside[1], 0);
	assert_false(rte_spinlock_is_locked(&crowd.lock.spin));
}

/* ---- the doorbell of an engine that is taken away ---- */

struct swap {
	struct fx_end end;
	struct fx_peer peer;
	struct roce_qp *qp;
	pthread_barrier_t gate;
	uint32_t begun;    /**< rounds with a first post; atomic */
	bool posted;       /**< all of this round; atomic */
	uint32_t sent;     /**< frames; who polls */
	uint32_t failures; /**< posts refused, rounds in which not all was seen; atomic */
	uint32_t owned;    /**< rounds in which the poster owned the engine; atomic */
};

struct role {
	struct swap *swap;
	unsigned int index;
};

static void
complain(struct swap *s)
{
	__atomic_fetch_add(&s->failures, 1, __ATOMIC_RELAXED);
}

static bool
poll_engine(struct swap *s)
{
	struct rte_mbuf *pkts[2 * POSTS];
	uint16_t n;

	if (!roce_engine_trylock(s->end.engine))
		return false;
	be_hasty(&s->end.engine->lock);
	n = roce_engine_tx(s->end.engine, pkts, RTE_DIM(pkts), s->end.now);
	roce_engine_unlock(s->end.engine);
	s->sent += n;
	for (uint16_t i = 0; i < n; i++)
		rte_pktmbuf_free(pkts[i]);
	return true;
}

/* Own the engine, before the other one comes; then post beside it, and poll no more. */
static void
post_beside(struct swap *s, uint32_t round)
{
	for (unsigned int i = 0; i < 4 * HASTY; i++)
		(void)poll_engine(s);
	if (roce_bias_owns(&s->end.engine->lock.bias))
		__atomic_fetch_add(&s->owned, 1, __ATOMIC_RELAXED);
	if (fx_send(&s->end, s->qp, 0, 0, 8, 0) != 0)
		complain(s);
	__atomic_store_n(&s->begun, round + 1, __ATOMIC_RELEASE);
	/* The other one comes at any of them, as rounds go. */
	for (unsigned int i = 1; i < POSTS; i++) {
		for (unsigned int pause = 0; pause < round % 64; pause++)
			rte_pause();
		if (fx_send(&s->end, s->qp, i, 0, 8, 0) != 0)
			complain(s);
	}
	__atomic_store_n(&s->posted, true, __ATOMIC_RELEASE);
}

/* One poll behind the last post, and everything is sent; then the peer acknowledges. */
static void
poll_beside(struct swap *s, uint32_t round)
{
	bool posted, turned;

	while (__atomic_load_n(&s->begun, __ATOMIC_ACQUIRE) <= round)
		sched_yield();
	do {
		posted = __atomic_load_n(&s->posted, __ATOMIC_ACQUIRE);
		turned = poll_engine(s);
	} while (!posted || !turned);
	if (s->sent != (round + 1) * POSTS)
		complain(s);
	s->posted = false;
	fx_rx_answer(&s->end, &s->peer, FX_ACK, roce_psn_add(FX_SQ_PSN, (round + 1) * POSTS - 1));
}

static void *
swap_roles(void *arg)
{
	const struct role *role = arg;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		if (round % 2 == role->index)
			post_beside(role->swap, round);
		else
			poll_beside(role->swap, round);
		pthread_barrier_wait(&role->swap->gate);
	}
	return NULL;
}

/* The poster owns the engine and rings no bell that rings already; the other takes the engine from it meanwhile. */
static void
ring__is_seen_by_who_takes_the_engine(void **state)
{
	static struct swap s;
	struct role role[2] = { { &s, 0 }, { &s, 1 } };
	pthread_t thread[2];

	s = (struct swap){ 0 };
	fx_end_open(&s.end, 1, NULL);
	s.qp = fx_played_qp(&s.end, &s.peer);
	assert_int_equal(pthread_barrier_init(&s.gate, NULL, 2), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, swap_roles, &role[i]), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&s.gate), 0);
	assert_int_equal(s.failures, 0);
	assert_int_equal(s.sent, ROUNDS * POSTS);
	assert_true(s.owned > 0);
	fx_end_close(&s.end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock__counts_each_turn),
		cmocka_unit_test(ring__is_seen_by_who_takes_the_engine),
	};
	int failed;

	if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) {
		printf("skipped: the system has no membarrier() for a process, so no lock is biased\n");
		return SKIP;
	}
	roce_engine_use_barrier(barrier);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	roce_engine_use_barrier(NULL);
	return failed;
}
