/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain and its engines: birth, death, locks, randomness. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "end_scene.h"
#include "queue/domain.h"

static struct roce_domain_config
config(void)
{
	struct roce_domain_config c = end.domain->config;

	c.engines = 3;
	for (unsigned int i = 0; i < 3; i++)
		c.pool[i] = unit_pool();
	return c;
}

UNIT_RULE(create__without_memory_leaves_nothing)
{
	const unsigned int before = fx_live();
	const struct roce_domain_config c = config();
	struct roce_domain *domain = NULL;
	unsigned int nth = 0;
	int rc;

	do {
		assert_int_equal(fx_live(), before);
		fx_fail(++nth);
		rc = roce_domain_create(&c, &domain);
		assert_int_equal(rc, fx_failed() ? -ENOMEM : 0);
	} while (rc != 0);
	fx_fail(0);
	assert_int_equal(nth, 1 + 3 * 3 + 1);
	assert_int_equal(roce_domain_engines(domain), 3);
	assert_null(roce_domain_engine(domain, 3));
	roce_domain_destroy(domain);
	assert_int_equal(fx_live(), before);
}

UNIT_RULE(create__judges_its_configuration)
{
	struct roce_domain_config bad[6];
	struct roce_domain *domain;

	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = config();
	bad[0].engines = 0;
	bad[1].engines = ROCE_ENGINES_MAX + 1;
	bad[2].hz = 0;
	bad[3].addrs = ROCE_ADDRS_MAX + 1;
	bad[4].pool[2] = NULL;
	bad[5].first_qpn = 1u << 24;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(roce_domain_create(&bad[i], &domain), -EINVAL);
}

/* A run is a function of its seed. */
UNIT_RULE(random__repeats_itself)
{
	const struct roce_domain_config c = config();
	struct roce_domain *a, *b;

	assert_int_equal(roce_domain_create(&c, &a), 0);
	assert_int_equal(roce_domain_create(&c, &b), 0);
	for (unsigned int i = 0; i < 10; i++)
		assert_true(roce_random(a) == roce_random(b));
	roce_domain_destroy(a);
	roce_domain_destroy(b);
}

static uint32_t
wanted(void)
{
	return __atomic_load_n(&end.engine->wanted, __ATOMIC_RELAXED);
}

/* A poller gets the engine when it is free, or not; asking leaves nothing behind. */
UNIT_RULE(trylock__takes_a_free_engine_only)
{
	assert_true(roce_engine_trylock(end.engine));
	assert_false(roce_engine_trylock(end.engine));
	roce_engine_unlock(end.engine);
	roce_engine_lock(end.engine);
	assert_int_equal(wanted(), 0);
	assert_false(roce_engine_trylock(end.engine));
	assert_int_equal(wanted(), 0);
	roce_engine_unlock(end.engine);
	assert_true(roce_engine_trylock(end.engine));
	roce_engine_unlock(end.engine);
}

static void *
control(void *arg)
{
	roce_engine_lock(end.engine);
	roce_engine_unlock(end.engine);
	return NULL;
}

/*
 * A thread that waits for a control call goes first: a poller that lets go of the engine does not get it again before. The
 * thread is held where it waits by the lock; that nobody has it but somebody wants it is made by hand.
 */
UNIT_RULE(trylock__stands_back_for_who_waits)
{
	pthread_t thread[2];

	assert_true(roce_engine_trylock(end.engine));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, control, NULL), 0);
	while (wanted() < 2)
		sched_yield();
	roce_engine_unlock(end.engine);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(wanted(), 0);

	end.engine->wanted = 1;
	assert_false(roce_engine_trylock(end.engine));
	assert_false(rte_spinlock_is_locked(&end.engine->lock.spin));
	end.engine->wanted = 0;
	assert_true(roce_engine_trylock(end.engine));
	roce_engine_unlock(end.engine);
}

/* Callers who always want the engine do not keep it from being polled: after some refusals the poller insists. */
UNIT_RULE(trylock__is_not_refused_for_ever)
{
	unsigned int refusals = 0;

	end.engine->wanted = 1;
	while (!roce_engine_trylock(end.engine))
		assert_in_range(++refusals, 1, 1000);
	end.engine->wanted = 0;
	roce_engine_unlock(end.engine);
	assert_int_not_equal(refusals, 0);
}
