/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The same with a thread for each engine of the server, one for the client, one for the switch, and one that serves the
 * shared queue; then with threads that poll whichever engine is free. Run it under the thread sanitizer
 * (`./run.sh sanitize`); there only with frames in the program's hands, since it sees nothing of what drivers do.
 */

#include <pthread.h>
#include <sched.h>

#include "spread.h"

#if defined(__SANITIZE_THREAD__)
#define SANITIZED   1
#define MODES_FIRST SPREAD_HANDOVER
#define GROUPS      60u
#else
#define SANITIZED   0
#define MODES_FIRST SPREAD_OWN
#define GROUPS      200u
#endif

static const char *const way_name[] = { "steered", "hashed", "one queue", "sprayed" };

struct world {
	struct spread s;
	bool stop;   /**< atomic */
	bool all;    /**< the client has every answer; atomic */
	bool wander; /**< pollers take whichever engine is free */
	struct poller {
		struct world *world;
		unsigned int index;
		pthread_t thread;
	} poller[SPREAD_ENGINES];
	pthread_t client, carrier;
};

static bool
goes_on(struct world *w)
{
	return !__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE) && !spread_is_broken(&w->s);
}

static void *
poll_once(void *arg)
{
	struct poller *poller = arg;
	struct world *w = poller->world;
	unsigned int engine = poller->index;

	while (goes_on(w)) {
		unsigned int moved = w->wander ? roce_device_poll(w->s.server.device)
					       : spread_poll(&w->s, &w->s.server, engine);

		if (moved == 0)
			sched_yield();
	}
	return NULL;
}

static void *
ask(void *arg)
{
	struct world *w = arg;

	while (goes_on(w)) {
		unsigned int moved = 0;

		if (spread_ask(&w->s, GROUPS))
			__atomic_store_n(&w->all, true, __ATOMIC_RELEASE);
		for (unsigned int e = 0; e < w->s.engines; e++)
			moved += spread_poll(&w->s, &w->s.client, e);
		if (moved == 0)
			sched_yield();
	}
	return NULL;
}

static void *
carry(void *arg)
{
	struct world *w = arg;

	while (goes_on(w)) {
		if (spread_carry(&w->s) == 0)
			sched_yield();
	}
	return NULL;
}

/*
 * Of several who put into one of DPDK 22.11's rings at once, each waits for the one before it without an acquire: on the
 * machines that there are that does, but not in the eyes of the sanitizer. So there nobody's inbox has two who fill it.
 */
static bool
is_judged(const struct spread *s)
{
	return !SANITIZED || s->engines == 2 || s->way == SPREAD_STEERED || s->way == SPREAD_ONE;
}

/* At any moment, from a thread that polls nothing. */
static void
look(struct spread *s)
{
	struct roce_srq_counts counts;

	roce_srq_query(s->srq, &counts);
	SPREAD_CHECK(s, counts.available <= counts.outstanding);
	/* No other thread posts or reaps. */
	SPREAD_CHECK(s, counts.outstanding == s->posted - s->reaped);
}

static void
play(struct world *w)
{
	struct spread *s = &w->s;

	print_message("mode %d, %u engines, %s%s\n", (int)s->mode, s->engines, way_name[s->way],
			w->wander ? ", wandering" : "");
	spread_open(s);
	for (unsigned int e = 0; e < s->engines; e++) {
		w->poller[e] = (struct poller){ .world = w, .index = e };
		assert_int_equal(pthread_create(&w->poller[e].thread, NULL, poll_once,
						 &w->poller[e]),
				0);
	}
	assert_int_equal(pthread_create(&w->client, NULL, ask, w), 0);
	assert_int_equal(pthread_create(&w->carrier, NULL, carry, w), 0);
	while (!spread_is_broken(s) &&
			(!__atomic_load_n(&w->all, __ATOMIC_ACQUIRE) ||
					s->reaped < (uint64_t)SPREAD_QPS * GROUPS)) {
		if (spread_serve(s) == 0)
			sched_yield();
		look(s);
	}
	__atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
	for (unsigned int e = 0; e < s->engines; e++)
		assert_int_equal(pthread_join(w->poller[e].thread, NULL), 0);
	assert_int_equal(pthread_join(w->client, NULL), 0);
	assert_int_equal(pthread_join(w->carrier, NULL), 0);
	assert_true(s->told > 1);
	spread_close(s);
}

static void
threads__each_its_engine(void **state)
{
	for (unsigned int mode = MODES_FIRST; mode <= SPREAD_HANDOVER; mode++) {
		for (unsigned int engines = 2; engines <= SPREAD_ENGINES; engines *= 2) {
			for (unsigned int way = SPREAD_STEERED; way <= SPREAD_SPRAYED; way++) {
				struct world w = {
					.s = { .mode = mode, .engines = engines, .way = way },
				};

				if (is_judged(&w.s))
					play(&w);
			}
		}
	}
}

/* An engine has one poller at a time, not always the same. */
static void
threads__whichever_engine_is_free(void **state)
{
	for (unsigned int mode = MODES_FIRST; mode <= SPREAD_QUEUES; mode++) {
		struct world w = {
			.s = { .mode = mode, .engines = SPREAD_ENGINES, .way = SPREAD_HASHED },
			.wander = true,
		};

		play(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__each_its_engine),
		cmocka_unit_test(threads__whichever_engine_is_free),
	};

	return cmocka_run_group_tests(tests, embed_start, NULL);
}
