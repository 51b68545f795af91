/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that know of each other end at the same moment on different threads: a shared receive queue, a completion
 * queue, the queue pair on both; and another thread looks on. An object in use cannot end yet, and its thread tries
 * again. The sanitizers watch: run it under each of them (`./run.sh sanitize`).
 */

#include <pthread.h>
#include <sched.h>

#include "engine/snapshot.h"
#include "queue/qp.h"
#include "srq_scene.h"

#define ROUNDS 300u

static void *
end_srq(void *arg)
{
	while (roce_srq_destroy(arg) == -EBUSY)
		sched_yield();
	return NULL;
}

static void *
end_cq(void *arg)
{
	while (roce_cq_destroy(arg) == -EBUSY)
		sched_yield();
	return NULL;
}

/* Both threads begin when both are there. */
struct start {
	void *(*fn)(void *arg);
	void *arg;
	unsigned int *here;
};

static void
meet(const struct start *s)
{
	__atomic_add_fetch(s->here, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(s->here, __ATOMIC_ACQUIRE) < 2)
		sched_yield();
}

static void *
meet_and_do(void *arg)
{
	const struct start *s = arg;

	meet(s);
	return s->fn(s->arg);
}

/* Do the one on another thread while this thread does what follows up to join(). */
static void
fork_off(pthread_t *thread, struct start *start)
{
	assert_int_equal(pthread_create(thread, NULL, meet_and_do, start), 0);
	meet(start);
}

/*
 * A queue ends the moment its last queue pair lets go of it.
 * Proves: bug.S18
 */
UNIT_RULE(srq__ends_with_its_last_queue_pair)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct roce_srq *srq = srq_of(4);
		unsigned int here = 0;
		struct start start = { end_srq, srq, &here };
		struct client c;
		pthread_t thread;

		client_on(&c, srq, end.recv_cq);
		post_many(srq, 2, 0, LONG_LEN);
		arrive(&c);
		begin(&c);
		fork_off(&thread, &start);
		roce_qp_destroy(c.qp);
		assert_int_equal(pthread_join(thread, NULL), 0);
		reap_many(end.recv_cq, 1);
	}
}

/* A completion queue likewise. */
UNIT_RULE(cq__ends_with_its_last_queue_pair)
{
	struct roce_srq *srq = srq_of(4);

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct roce_cq *cq = cq_of(4);
		unsigned int here = 0;
		struct start start = { end_cq, cq, &here };
		struct client c;
		pthread_t thread;

		client_on(&c, srq, cq);
		post_many(srq, 2, 0, LONG_LEN);
		arrive(&c);
		begin(&c);
		fork_off(&thread, &start);
		roce_qp_destroy(c.qp);
		assert_int_equal(pthread_join(thread, NULL), 0);
		fx_expect_counts(srq, 4, 0, 0);
	}
}

static void *
end_qp(void *arg)
{
	roce_qp_destroy(arg);
	return NULL;
}

/*
 * A queue pair that still has to let go of the shared queue still holds the completion queue: what the two queues
 * have in common would go with it. Here the shared queue keeps it waiting, as a poster might.
 */
UNIT_RULE(cq__waits_for_a_queue_pair_on_its_way_out)
{
	struct roce_srq *srq = srq_of(4);
	struct roce_cq *cq = cq_of(4);
	unsigned int here = 0;
	struct client c;
	struct start start = { end_qp, NULL, &here };
	pthread_t thread;
	uint32_t number;

	client_on(&c, srq, cq);
	number = roce_qp_number(c.qp);
	start.arg = c.qp;
	roce_lock(&srq->post_lock);
	fork_off(&thread, &start);
	while (roce_qp_find(end.domain, number) != NULL)
		sched_yield();
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(__atomic_load_n(&cq->users, __ATOMIC_ACQUIRE), 1);
		sched_yield();
	}
	roce_unlock(&srq->post_lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* The two queues, which keep their common share of reaped receives, end together, with completions unreaped. */
UNIT_RULE(srq_and_cq__end_together)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct roce_srq *srq = srq_of(4);
		struct roce_cq *cq = cq_of(4);
		unsigned int here = 0;
		struct start start = { end_cq, cq, &here };
		struct client c;
		pthread_t thread;

		client_on(&c, srq, cq);
		post_many(srq, 2, 0, SHORT_LEN);
		arrive(&c);
		roce_qp_destroy(c.qp);
		fork_off(&thread, &start);
		(void)end_srq(srq);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
}

/* ---- looking on ---- */

struct onlooker {
	bool stop;
	unsigned int looks;
	bool wrong;
};

static void
see_srq(void *arg, const struct roce_srq_snapshot *srq)
{
	struct onlooker *o = arg;

	if (srq->counts.available > srq->counts.outstanding ||
			srq->counts.outstanding > srq->counts.max)
		o->wrong = true;
}

static void
see_qp(void *arg, const struct roce_qp_snapshot *qp)
{
	struct onlooker *o = arg;

	if (qp->held > 1)
		o->wrong = true;
}

static void *
look_on(void *arg)
{
	struct onlooker *o = arg;

	while (!__atomic_load_n(&o->stop, __ATOMIC_ACQUIRE)) {
		roce_domain_each_srq(end.domain, see_srq, o);
		roce_domain_each_qp(end.domain, see_qp, o);
		__atomic_add_fetch(&o->looks, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * Telemetry looks on while queues and queue pairs are made, used and ended.
 * Proves: bug.S18 bug.S19 bug.S20
 */
UNIT_RULE(onlooker__sees_whole_objects_only)
{
	for (unsigned int engines = 1; engines <= 2; engines++) {
		struct onlooker o = { 0 };
		pthread_t thread;

		reopen(engines);
		assert_int_equal(pthread_create(&thread, NULL, look_on, &o), 0);
		/* As long as it takes for the onlooker to have had many looks between. */
		while (__atomic_load_n(&o.looks, __ATOMIC_ACQUIRE) < 30) {
			struct roce_srq *srq[2] = { srq_of(4), srq_of(8) };
			struct client c;

			client_on(&c, srq[0], end.recv_cq);
			post_many(srq[0], 4, 0, LONG_LEN);
			assert_int_equal(roce_srq_destroy(srq[1]), 0);
			arrive(&c);
			assert_int_equal(reap(end.recv_cq), 0);
			assert_int_equal(roce_srq_resize(srq[0], 16), 0);
			begin(&c);
			roce_qp_destroy(c.qp);
			assert_int_equal(roce_srq_destroy(srq[0]), 0);
		}
		__atomic_store_n(&o.stop, true, __ATOMIC_RELEASE);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_false(o.wrong);
	}
}
