/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks biased to one thread: queue/bias.c. The barrier here only counts its calls, and no rule needs more than
 * that, because each waits for its other threads. Tests of threads at the same time: test_bias_threads.c, test/model.
 */

#include <pthread.h>
#include <sched.h>

#include "queue/bias.h"
#include "queue/domain.h"
#include "fixture.h"

#define LONG (4 * ROCE_BIAS_THRESHOLD)

static struct roce_lock lock;
static unsigned int barriers;

static void
count_barrier(void)
{
	barriers++;
}

static int
setup(void **state)
{
	lock = (struct roce_lock){ 0 };
	barriers = 0;
	roce_engine_use_barrier(count_barrier);
	return 0;
}

static int
teardown(void **state)
{
	roce_engine_use_barrier(NULL);
	return 0;
}

static void
take(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		roce_lock(&lock);
		roce_unlock(&lock);
	}
}

static void
own(void)
{
	take(lock.bias.threshold != 0 ? lock.bias.threshold + 1 : ROCE_BIAS_THRESHOLD + 1);
	assert_true(roce_bias_owns(&lock.bias));
}

/* Each call is a thread of its own, which is another one than the caller, and gone when it returns. */
static void
elsewhere(void *(*call)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *
take_once(void *arg)
{
	take(1);
	return NULL;
}

static void *
take_long(void *arg)
{
	take(LONG);
	return NULL;
}

UNIT_RULE(lock__without_a_barrier_nobody_owns)
{
	roce_engine_use_barrier(NULL);
	take(LONG);
	assert_int_equal(lock.bias.owner, 0);
	roce_lock(&lock);
	assert_true(rte_spinlock_is_locked(&lock.spin));
	roce_unlock(&lock);
	assert_false(rte_spinlock_is_locked(&lock.spin));
}

/* The first time only says who it is. */
UNIT_RULE(lock__is_biased_to_a_thread_that_takes_it_again_and_again)
{
	take(ROCE_BIAS_THRESHOLD);
	assert_int_equal(lock.bias.owner, 0);
	take(1);
	assert_true(roce_bias_owns(&lock.bias));
	assert_int_equal(barriers, 0);
}

UNIT_RULE(lock__of_the_owner_leaves_the_spinlock_alone)
{
	own();
	roce_lock(&lock);
	assert_false(rte_spinlock_is_locked(&lock.spin));
	assert_int_equal(lock.bias.inside[0], 1);
	roce_unlock(&lock);
	assert_int_equal(lock.bias.inside[0], 0);
	assert_true(roce_trylock(&lock));
	assert_false(rte_spinlock_is_locked(&lock.spin));
	roce_unlock(&lock);
	assert_int_equal(lock.bias.inside[0], 0);
	assert_int_equal(barriers, 0);
}

UNIT_RULE(lock__of_another_takes_it_away_by_one_barrier)
{
	own();
	elsewhere(take_once);
	assert_int_equal(lock.bias.owner, 0);
	assert_int_equal(barriers, 1);
	elsewhere(take_once);
	assert_int_equal(barriers, 1);
}

UNIT_RULE(lock__is_the_spinlock_after_it_was_taken_away)
{
	own();
	elsewhere(take_once);
	roce_lock(&lock);
	assert_true(rte_spinlock_is_locked(&lock.spin));
	assert_int_equal(lock.bias.inside[0], 0);
	roce_unlock(&lock);
	assert_false(rte_spinlock_is_locked(&lock.spin));
}

UNIT_RULE(lock__is_biased_again_after_twice_as_many)
{
	own();
	elsewhere(take_once);
	assert_int_equal(lock.bias.threshold, 2 * ROCE_BIAS_THRESHOLD);
	take(2 * ROCE_BIAS_THRESHOLD);
	assert_int_equal(lock.bias.owner, 0);
	take(1);
	assert_true(roce_bias_owns(&lock.bias));
	elsewhere(take_once);
	assert_int_equal(lock.bias.threshold, 4 * ROCE_BIAS_THRESHOLD);
	assert_int_equal(barriers, 2);
}

UNIT_RULE(lock__has_no_threshold_above_the_most)
{
	lock.bias.threshold = ROCE_BIAS_THRESHOLD_MAX - 1;
	own();
	elsewhere(take_once);
	assert_int_equal(lock.bias.threshold, ROCE_BIAS_THRESHOLD_MAX);
	own();
	elsewhere(take_once);
	assert_int_equal(lock.bias.threshold, ROCE_BIAS_THRESHOLD_MAX);
}

UNIT_RULE(lock__of_two_in_turns_is_biased_to_nobody)
{
	for (unsigned int i = 0; i < 4; i++) {
		take(ROCE_BIAS_THRESHOLD);
		assert_int_equal(lock.bias.owner, 0);
		elsewhere(take_once);
	}
	assert_int_equal(barriers, 0);
}

/*
 * A preempted former owner may still write its slot when it goes on. So the next owner has the other one:
 * a thread that sets everything up and never comes back is in nobody's way.
 */
UNIT_RULE(lock__is_biased_to_the_next_beside_its_former_owner)
{
	own();
	elsewhere(take_long);
	assert_int_not_equal(lock.bias.owner, 0);
	assert_int_equal(lock.bias.owner & 1, 1);
	assert_false(roce_bias_owns(&lock.bias));
	assert_int_equal(lock.bias.former[0], roce_bias_self());
	/* It comes back: its slot is free again, the other one's is not. */
	take(1);
	assert_int_equal(lock.bias.former[0], 0);
	assert_int_not_equal(lock.bias.former[1], 0);
	own();
	assert_int_equal(lock.bias.owner & 1, 0);
}

/* Both slots are those of threads that have not come back: there is none for a third. */
UNIT_RULE(lock__is_biased_to_nobody_without_a_slot)
{
	lock.bias.former[0] = roce_bias_self() + 64;
	lock.bias.former[1] = roce_bias_self() + 128;
	take(LONG);
	assert_int_equal(lock.bias.owner, 0);
	lock.bias.former[1] = 0;
	take(LONG);
	assert_int_equal(lock.bias.owner, roce_bias_self() | 1);
	roce_lock(&lock);
	assert_fields(lock.bias, (inside[0], 0), (inside[1], 1));
	roce_unlock(&lock);
	assert_int_equal(lock.bias.inside[1], 0);
}

/* ---- while the owner is inside ---- */

static void *
try_for_it(void *arg)
{
	bool *got = arg;

	*got = roce_trylock(&lock);
	if (*got)
		roce_unlock(&lock);
	return NULL;
}

static bool
tries_elsewhere(void)
{
	pthread_t thread;
	bool got;

	assert_int_equal(pthread_create(&thread, NULL, try_for_it, &got), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return got;
}

/* The owner may wait for whoever tries (ethdev/port_events.h): that one must come back. */
UNIT_RULE(trylock__does_not_wait_for_the_owner)
{
	own();
	roce_lock(&lock);
	assert_false(tries_elsewhere());
	assert_false(rte_spinlock_is_locked(&lock.spin));
	roce_unlock(&lock);
	assert_true(tries_elsewhere());
	assert_int_equal(lock.bias.owner, 0);
}

/* It came in while somebody who tried had the spinlock already. */
UNIT_RULE(revoke__leaves_who_is_inside_to_the_next)
{
	struct roce_bias *bias = &lock.bias;

	bias->owner = roce_bias_self() + 64;
	bias->inside[0] = 1;
	assert_false(roce_bias_try_revoke(bias));
	assert_int_equal(bias->owner, 0);
	assert_int_equal(barriers, 1);
	assert_false(roce_trylock(&lock));
	assert_false(roce_bias_try_revoke(bias));
	assert_true(roce_bias_is_biased(bias));
	bias->inside[0] = 0;
	assert_true(roce_bias_try_revoke(bias));
	assert_int_equal(barriers, 1);
}

UNIT_RULE(trylock__of_the_holder_is_refused)
{
	roce_lock(&lock);
	assert_false(roce_trylock(&lock));
	roce_unlock(&lock);
	own();
	roce_lock(&lock);
	assert_false(roce_trylock(&lock));
	assert_int_equal(lock.bias.inside[0], 1);
	roce_unlock(&lock);
}

static bool is_in; /* atomic */

static void *
take_and_tell(void *arg)
{
	roce_lock(&lock);
	__atomic_store_n(&is_in, true, __ATOMIC_RELEASE);
	roce_unlock(&lock);
	return NULL;
}

UNIT_RULE(lock__waits_for_the_owner)
{
	pthread_t thread;

	own();
	is_in = false;
	roce_lock(&lock);
	assert_int_equal(pthread_create(&thread, NULL, take_and_tell, NULL), 0);
	while (__atomic_load_n(&lock.bias.owner, __ATOMIC_RELAXED) != 0)
		sched_yield();
	for (unsigned int i = 0; i < 100; i++) {
		sched_yield();
		assert_false(__atomic_load_n(&is_in, __ATOMIC_ACQUIRE));
	}
	roce_unlock(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(is_in);
}

/* ---- a poll in a poll: a callback of a program may poll the device whose engine its thread has ---- */

static struct fx_end nest;

static void *
lock_engine(void *arg)
{
	roce_engine_lock(nest.engine);
	roce_engine_unlock(nest.engine);
	return NULL;
}

/* As one who tries does it that saw nobody inside. */
static void *
revoke_engine(void *arg)
{
	struct roce_lock *of = &nest.engine->lock;

	rte_spinlock_lock(&of->spin);
	assert_false(roce_bias_try_revoke(&of->bias));
	assert_false(roce_bias_is_inside(&of->bias));
	rte_spinlock_unlock(&of->spin);
	return NULL;
}

static void
poll_engine(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		assert_true(roce_engine_trylock(nest.engine));
		roce_engine_unlock(nest.engine);
	}
}

/* The thread that has the engine is refused each time, and the lock is unchanged. @p knows: it is inside as owner. */
static void
want_refused(bool knows)
{
	const struct roce_lock before = nest.engine->lock;

	assert_int_equal(roce_bias_is_inside(&nest.engine->lock.bias), knows);

	for (unsigned int i = 0; i < 1000; i++)
		assert_false(roce_engine_trylock(nest.engine));
	assert_int_equal(nest.engine->lock.entered, before.entered);
	assert_int_equal(nest.engine->lock.spin.locked, before.spin.locked);
	assert_memory_equal(nest.engine->lock.bias.inside, before.bias.inside,
			sizeof(before.bias.inside));
}

/* An end whose engine this thread has, after so many polls. */
static void
begin_poll(unsigned int polls)
{
	fx_end_open(&nest, 1, NULL);
	poll_engine(polls);
	assert_true(roce_engine_trylock(nest.engine));
}

/* The engine can be polled again when it is let go. */
static void
end_poll(void)
{
	roce_engine_unlock(nest.engine);
	assert_false(roce_bias_is_inside(&nest.engine->lock.bias));
	poll_engine(1);
	fx_end_close(&nest);
}

UNIT_RULE(trylock__in_a_poll_is_refused_by_the_spinlock)
{
	begin_poll(0);
	assert_int_equal(nest.engine->lock.entered, 0);
	want_refused(false);
	end_poll();
}

UNIT_RULE(trylock__in_a_poll_is_refused_to_the_owner)
{
	begin_poll(ROCE_BIAS_THRESHOLD + 1);
	assert_int_not_equal(nest.engine->lock.entered, 0);
	want_refused(true);
	end_poll();
}

/* Taken away by one who only tried, and has let go again. */
UNIT_RULE(trylock__in_a_poll_is_refused_to_the_former_owner)
{
	begin_poll(ROCE_BIAS_THRESHOLD + 1);
	elsewhere(revoke_engine);
	assert_int_equal(nest.engine->lock.bias.owner, 0);
	want_refused(true);
	end_poll();
}

/* Taken away by one who waits until it is outside, and has the spinlock until then. */
UNIT_RULE(trylock__in_a_poll_is_refused_before_who_waits)
{
	pthread_t thread;

	begin_poll(ROCE_BIAS_THRESHOLD + 1);
	assert_int_equal(pthread_create(&thread, NULL, lock_engine, NULL), 0);
	while (__atomic_load_n(&nest.engine->lock.bias.owner, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
	want_refused(true);
	roce_engine_unlock(nest.engine);
	assert_int_equal(pthread_join(thread, NULL), 0);
	poll_engine(1);
	fx_end_close(&nest);
}

/* ---- the doorbell ---- */

static void
poll_once(struct fx_end *end, unsigned int frames)
{
	struct fx_sent sent[4];

	assert_int_equal(fx_tx(end, sent, RTE_DIM(sent)), frames);
}

/* It rings only what does not ring yet, and every post is sent. */
UNIT_RULE(ring__of_who_owns_the_engine)
{
	struct fx_end end;
	struct fx_peer peer;
	struct roce_qp *qp;

	fx_end_open(&end, 1, NULL);
	qp = fx_played_qp(&end, &peer);
	for (unsigned int i = 0; i <= ROCE_BIAS_THRESHOLD; i++)
		poll_once(&end, 0);
	assert_true(roce_bias_owns(&end.engine->lock.bias));
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(fx_send(&end, qp, 0, 0, 8, 0), 0);
		assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
		poll_once(&end, 2);
		poll_once(&end, 0);
	}
	fx_end_close(&end);
}

static unsigned int wakes;

static void
count_wake(void *arg)
{
	wakes++;
}

/* A thread that polls sleeps until the device tells of a frame: a post of another thread, too, is for it to send. */
UNIT_RULE(ring__wakes_a_thread_that_polls_and_sleeps)
{
	struct fx_end end;
	struct fx_peer peer;
	struct roce_qp *qp;

	fx_end_open(&end, 1, NULL);
	qp = fx_played_qp(&end, &peer);
	wakes = 0;
	end.engine->domain->config.wake_poller = count_wake;
	assert_int_equal(fx_send(&end, qp, 0, 0, 8, 0), 0);
	assert_int_equal(wakes, 0);
	poll_once(&end, 1);
	roce_domain_add_sleeper(end.engine->domain);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	assert_int_equal(wakes, 1);
	/* It is about to see both. */
	assert_int_equal(fx_send(&end, qp, 2, 0, 8, 0), 0);
	assert_int_equal(wakes, 1);
	poll_once(&end, 2);
	assert_int_equal(fx_send(&end, qp, 3, 0, 8, 0), 0);
	assert_int_equal(wakes, 2);
	roce_domain_remove_sleeper(end.engine->domain);
	for (unsigned int i = 0; i <= ROCE_BIAS_THRESHOLD; i++)
		poll_once(&end, i == 0);
	/* The owner of the engine's lock polls by itself. */
	roce_domain_add_sleeper(end.engine->domain);
	assert_true(roce_bias_owns(&end.engine->lock.bias));
	assert_int_equal(fx_send(&end, qp, 4, 0, 8, 0), 0);
	assert_int_equal(wakes, 2);
	poll_once(&end, 1);
	fx_end_close(&end);
}
