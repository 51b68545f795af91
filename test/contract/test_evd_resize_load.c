/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_resize while the engine completes messages. */

#include <pthread.h>

#include "rig.h"

#define MESSAGES 3000u

/** Who takes completions in their order while the length changes. */
struct taker {
	DAT_EVD_HANDLE evd;
	unsigned int taken;
	unsigned int wrong;
};

static void *
receive_all(void *arg)
{
	struct taker *t = arg;

	while (t->taken < MESSAGES) {
		DAT_EVENT event;
		DAT_COUNT more;

		if (dat_evd_wait(t->evd, 1000, 1, &event, &more) != DAT_SUCCESS)
			continue;
		t->wrong += event.event_data.dto_completion_event_data.user_cookie.as_64 !=
				t->taken;
		t->taken++;
	}
	return NULL;
}

/* The engine completes messages meanwhile, on the dispatcher of a waiter and on that of a poller: none is lost. */
static void
resize__while_messages_arrive(void **state)
{
	struct taker taker = { 0 };
	uint64_t sent = 0, posted;
	pthread_t consumer;
	struct pair pair;

	srq_pair_up(&pair, 64, 1);
	taker.evd = pair.b.recv;
	for (posted = 0; posted < 32; posted++)
		ok(post_srq(&pair.b, 0, 64, posted));
	assert_int_equal(pthread_create(&consumer, NULL, receive_all, &taker), 0);
	for (uint32_t seed = 1; sent < MESSAGES;) {
		seed = seed * 1664525u + 1013904223u;
		/* No more receives are outstanding than that. */
		ok(dat_evd_resize(pair.b.recv, 64 + (DAT_COUNT)(seed >> 24)));
		ok(dat_evd_resize(pair.a.request, 64 + (DAT_COUNT)(seed >> 23) % 100));
		deliver(&pair, 64);
		sent++;
		/* Up to 32 receives wait for a message. One must, or nothing would go on: the consumer makes room for it. */
		while (posted < MESSAGES && posted < sent + 32) {
			if (post_srq(&pair.b, 0, 64, posted) == DAT_SUCCESS)
				posted++;
			else if (posted > sent)
				break;
		}
	}
	assert_int_equal(pthread_join(consumer, NULL), 0);
	assert_int_equal(taker.wrong, 0);
	want_none(pair.b.recv);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(resize__while_messages_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
