/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_resize while the engine completes messages. */

#include "rig.h"

#define MESSAGES 3000u

/** A thread that takes completions in their order while the length changes. */
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

	taker.evd = b->recv;
	for (posted = 0; posted < 32; posted++)
		ok(post_srq(b, 0, 64, posted));
	consumer = start(receive_all, &taker);
	for (uint32_t seed = 1; sent < MESSAGES;) {
		seed = seed * 1664525u + 1013904223u;
		/* No more receives are outstanding than that. */
		ok(dat_evd_resize(b->recv, 64 + (DAT_COUNT)(seed >> 24)));
		ok(dat_evd_resize(a->request, 64 + (DAT_COUNT)(seed >> 23) % 100));
		deliver(&pair, 64);
		sent++;
		/* Up to 32 receives wait for a message. One must, or nothing would go on: the consumer makes room for it. */
		while (posted < MESSAGES && posted < sent + 32) {
			if (post_srq(b, 0, 64, posted) == DAT_SUCCESS)
				posted++;
			else if (posted > sent)
				break;
		}
	}
	join(consumer);
	assert_int_equal(taker.wrong, 0);
	want_none(b->recv);
}

const struct CMUnitTest tests[] = {
	srq_up_test(resize__while_messages_arrive, 64, 1),
	tests_end,
};
