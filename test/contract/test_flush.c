/* SPDX-License-Identifier: BSD-3-Clause */
/* When flushed completions come: with the post, and before the event of the end, whichever thread polls the adapter. */

#include "conns.h"
#include "mix.h"
#include "posts.h"
#include "waiting.h"

#define DEPTH  32
#define SHORT  64
#define ROUNDS 1000

/* So many completions are there, without a poll: a dispatcher is not made too short for them. */
static void
want_there(DAT_EVD_HANDLE evd, DAT_COUNT n)
{
	want_type(dat_evd_resize(evd, n - 1), DAT_INVALID_STATE);
}

/* Requests of every kind, and receives, posted to a disconnected endpoint: flushed when the call returns. */
static void
post__to_a_disconnected_endpoint_is_flushed_with_the_call(void **state)
{
	mix_up(DEPTH);
	part(&pair);
	for (unsigned int verb = 0; verb < VERBS; verb++) {
		ok(mix_post((enum verb)verb, SHORT, verb));
		ok(mix_post((enum verb)verb, SHORT, verb));
		want_there(a->request, 2);
		mix_want(verb, DAT_DTO_ERR_FLUSHED);
		mix_want(verb, DAT_DTO_ERR_FLUSHED);
	}
	ok(post_recv(a, 0, SHORT, 1));
	ok(post_recv(a, 0, SHORT, 2));
	want_there(a->recv, 2);
	want_dto(a, a->recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(a, a->recv, 2, DAT_DTO_ERR_FLUSHED, 0);
}

/* All of a's requests that are on its dispatcher now. */
static unsigned int
take_all(void)
{
	unsigned int n = 0;
	DAT_EVENT event;

	while (dat_evd_dequeue(a->request, &event) == DAT_SUCCESS)
		n++;
	return n;
}

/*
 * Another thread polls both adapters all the time, so that the connection may end within a post. A consumer that has taken
 * the event of the end finds the completions of all that it posted before, and need not wait for any.
 */
static void
post__while_the_connection_ends_is_flushed_before_the_event(void **state)
{
	static struct poller poller;

	pair_up(&pair);
	begin_to_poll(&poller, make_dto_evd(a, 1), make_dto_evd(b, 1));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int posted = 0, found = 0;
		DAT_EVENT event;

		/* a has no other event than that of the end. */
		end_by(round % 2 == 0 ? BY_B_ABRUPT : BY_B_GRACEFUL);
		/* This thread polls seldom: the other one is to end the connection, between two instructions of a post. */
		while (dat_evd_dequeue(a->connect, &event) != DAT_SUCCESS) {
			for (found += take_all(); posted - found < DEPTH; posted++)
				if (post_send(a, 0, SHORT, posted) != DAT_SUCCESS)
					break;
		}
		assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
		found += take_all();
		assert_int_equal(found, posted);
		want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		connect_again();
	}
	end_polling(&poller);
}

const struct CMUnitTest tests[] = {
	rig_test(post__to_a_disconnected_endpoint_is_flushed_with_the_call),
	rig_test(post__while_the_connection_ends_is_flushed_before_the_event),
	tests_end,
};
