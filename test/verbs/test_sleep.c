/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that sleeps on a context's descriptor, while another polls: no event is slept over. */

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../limit.h"
#include "rig.h"

#define MESSAGES 2000u

struct sleeper {
	struct end *end;
	atomic_uint got;
	atomic_bool slept_over;
};

/* As a program does it: arm, look, sleep; and after it the events, then from the beginning. */
static void *
receive_all(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd p = { .fd = roce_context_fd(s->end->context), .events = POLLIN };
	struct roce_async_event async;
	struct roce_event event;

	while (s->got < MESSAGES && !s->slept_over) {
		roce_cq_arm(s->end->cq, false);
		while (roce_cq_poll(s->end->cq, &event, 1) == 1)
			s->got++;
		if (s->got == MESSAGES)
			break;
		if (poll(&p, 1, (int)test_limit_s() * 1000) == 0)
			s->slept_over = true;
		while (roce_context_poll(s->end->context, &async) == 1)
			;
	}
	return NULL;
}

static void
arm__no_event_is_slept_over(void **state)
{
	struct pair *pair = *state;
	struct sleeper sleeper = { .end = &pair->b };
	struct roce_wr wr = { .opcode = ROCE_WR_SEND };
	pthread_t thread;

	pair_connect(pair);
	assert_int_equal(pthread_create(&thread, NULL, receive_all, &sleeper), 0);
	for (unsigned int i = 0; i < MESSAGES && !sleeper.slept_over; i++) {
		ok(post_recv(&pair->b, pair->b.qp, i, 0, 64));
		ok(post_send(&pair->a, wr, 0, 64));
		/* Now it is asleep, or about to, or awake. */
		while (sleeper.got + (i % 3) < i + 1 && !sleeper.slept_over)
			poll_once(pair);
	}
	while (sleeper.got < MESSAGES && !sleeper.slept_over)
		poll_once(pair);
	pthread_join(thread, NULL);
	assert_false(sleeper.slept_over);
	assert_int_equal(sleeper.got, MESSAGES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arm__no_event_is_slept_over, pair_open, pair_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
