/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints that share a queue and do not share dispatchers; dispatchers that serve several queues. */

#include "crowd.h"

#define PAIRS    6u
#define EVDS     3u
#define SLOT_LEN 4096u

/*
 * Each endpoint's receives come to its own dispatcher and name it; for each connection they come in the order of its
 * sends, whatever the others do and whichever buffer it is.
 * Proves: srq_create.9 srq_create.10 srq_post_recv.3
 */
static void
share__each_tells_its_own_dispatcher(void **state)
{
	uint32_t next[PAIRS] = { 0 };

	crowd_open(PAIRS, 16, 256, EVDS);
	for (unsigned int i = 0; i < 16; i++)
		ok(post_srq(b, (size_t)i * SLOT_LEN, SLOT_LEN, i));
	for (uint32_t round = 0; round < 30; round++) {
		/* Not all send, and not in the same order, and neither do they send the same. */
		for (unsigned int i = 0; i < PAIRS; i++)
			if ((round + i) % 3 != 0)
				crowd_send(i, round, (size_t)(i + round * PAIRS) % 64 * SLOT_LEN,
						8 + (round * 977 + i * 131) % 4000);
		for (unsigned int e = 0; e < EVDS; e++) {
			for (unsigned int i = e; i < PAIRS; i += EVDS) {
				uint32_t number;
				unsigned int from;

				if ((round + i) % 3 == 0)
					continue;
				from = crowd_receive(crowd.evd[e], SLOT_LEN, &number);
				assert_int_equal(from % EVDS, e);
				assert_true(number >= next[from]);
				next[from] = number + 1;
				want_event(a->request, DAT_DTO_COMPLETION_EVENT);
			}
		}
	}
	for (unsigned int e = 0; e < EVDS; e++)
		want_none(crowd.evd[e]);
	want_counts(b->srq, 16, 16, 16);
}

/* A place is free when its completion is reaped, on whichever dispatcher and in whichever order. */
/* Proves: srq_query.3 srq_query.6 srq_create.10 */
static void
share__places_come_back_over_every_dispatcher(void **state)
{
	static const unsigned int order[PAIRS] = { 4, 0, 5, 2, 1, 3 };

	crowd_open(PAIRS, PAIRS, 64, PAIRS);
	for (unsigned int round = 0; round < 10; round++) {
		post_many(b, PAIRS, 0);
		for (unsigned int i = 0; i < PAIRS; i++) {
			crowd_pick(i);
			deliver(&pair, 64);
			want_counts(b->srq, PAIRS, (DAT_COUNT)(PAIRS - 1 - i), PAIRS);
		}
		for (unsigned int i = 0; i < PAIRS; i++) {
			crowd_pick(order[i]);
			want_type(post_srq(b, 0, 64, 1),
					i == 0 ? DAT_INSUFFICIENT_RESOURCES : DAT_SUCCESS);
			want_dto(b, b->recv, order[i], DAT_DTO_SUCCESS, 64);
		}
		/* Use up the buffers that were posted meanwhile, so that the next round begins like this one. */
		for (unsigned int i = 0; i < PAIRS - 1; i++) {
			crowd_pick(i);
			deliver_as(1, 64);
		}
		want_counts(b->srq, PAIRS, 0, 0);
	}
}

/*
 * An endpoint without a dispatcher for receives: nobody will reap, so a place is free as soon as the message is there,
 * or is flushed.
 * Proves: srq_query.3 srq_create.10
 */
static void
share__without_a_dispatcher(void **state)
{
	ok(dat_ep_free(b->ep));
	b->ep = make_srq_ep(b, b->srq, DAT_HANDLE_NULL);
	pair_connect(&pair);
	for (unsigned int i = 0; i < 20; i++) {
		post_many(b, 1, i);
		want_counts(b->srq, 4, 1, 1);
		deliver(&pair, 64);
		want_counts(b->srq, 4, 0, 0);
	}
	ok(post_srq(b, 0, LONG_LEN, 1));
	begin_long(&pair, 1);
	want_counts(b->srq, 4, 0, 1);
	part(&pair);
	want_counts(b->srq, 4, 0, 0);
}

/* One dispatcher for everything that all endpoints of a queue have to tell, connection requests included. */
/* Proves: srq_create.9 srq_create.10 */
static void
share__one_dispatcher_for_everything(void **state)
{
	DAT_EVENT event;

	ok(dat_psp_free(pair.psp));
	b->cr = make_evd(b, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG);
	b->recv = b->request = b->connect = b->cr;
	pair.psp = make_psp(b, CONN_QUAL, b->cr);
	for (unsigned int i = 0; i < 3; i++) {
		a->ep = another_ep(a);
		b->ep = srq_ep(b, NULL);
		pair_connect(&pair);
		post_many(b, 1, i);
		ok(post_recv(a, 0, 64, 50));
		ok(post_send(b, 0, 64, 100));
		want_dto(b, b->cr, 100, DAT_DTO_SUCCESS, 64);
		deliver(&pair, 64);
		event = want_now(b->cr, DAT_DTO_COMPLETION_EVENT);
		assert_int_equal(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
	}
	want_counts(b->srq, 4, 0, 0);
}

/* A dispatcher that several queues complete on: each completion frees a place of its own queue. */
/* Proves: srq_query.3 srq_post_recv.3 */
static void
share__several_queues_on_one_dispatcher(void **state)
{
	static const uint64_t first_of[3] = { 0, 10, 20 };
	DAT_EP_HANDLE client[3], server[3];
	DAT_SRQ_HANDLE srq[3];

	for (unsigned int i = 0; i < 3; i++) {
		srq[i] = b->srq = make_srq(b, 8, 1);
		add_connection(&pair);
		client[i] = a->ep;
		server[i] = b->ep;
		post_many(b, 4, first_of[i]);
	}
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int i = 0; i < 3; i++) {
			a->ep = client[i];
			deliver(&pair, 64);
		}
	}
	for (DAT_COUNT n = 0; n < 4; n++) {
		for (unsigned int i = 0; i < 3; i++) {
			want_counts(srq[i], 8, 0, 4 - n);
			b->ep = server[i];
			want_dto_now(b, b->recv, first_of[i] + (uint64_t)n, DAT_DTO_SUCCESS);
			want_counts(srq[i], 8, 0, 3 - n);
		}
	}
}

/*
 * A dispatcher meets any number of queues: several hundred at a time, and one after the other without end, while a
 * completion of another endpoint waits in front. Counts stay exact.
 * Proves: srq_query.6
 */
static void
share__any_number_of_queues_on_one_dispatcher(void **state)
{
#define LIVE   300
#define ROUNDS 2000
	const DAT_EP_ATTR attr = { .max_request_dtos = 1, .max_request_iov = 1 };
	static DAT_SRQ_HANDLE srq[LIVE];
	static DAT_EP_HANDLE ep[LIVE];
	DAT_SRQ_HANDLE first = b->srq;

	post_many(b, 2, 0);
	deliver(&pair, 64);
	for (unsigned int i = 0; i < LIVE; i++) {
		srq[i] = b->srq = make_srq(b, 1, 1);
		ep[i] = srq_ep(b, &attr);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int at = i * 7 % LIVE;

		ok(dat_ep_free(ep[at]));
		ok(dat_srq_free(srq[at]));
		srq[at] = b->srq = make_srq(b, 1, 1);
		ep[at] = srq_ep(b, &attr);
	}
	want_counts(first, 8, 1, 2);
	want_dto_now(b, b->recv, 0, DAT_DTO_SUCCESS);
	want_counts(first, 8, 1, 1);
	deliver_as(1, 64);
	want_counts(first, 8, 0, 0);
	for (unsigned int i = 0; i < LIVE; i++) {
		ok(dat_ep_free(ep[i]));
		ok(dat_srq_free(srq[i]));
	}
}

/*
 * A dispatcher that is full loses completions: their places are free all the same, and the asynchronous dispatcher
 * hears of the loss once.
 * Proves: srq_query.6
 */
static void
share__a_full_dispatcher_loses_no_place(void **state)
{
	DAT_EVENT event;

	pair_open(&pair, NULL, &(struct end_options){ .evd_len = 4 });
	ok(dat_ep_free(b->ep));
	b->srq = make_srq(b, 32, 1);
	b->ep = srq_ep(b, NULL);
	pair_connect(&pair);
	post_many(b, 32, 0);
	for (DAT_COUNT i = 0; i < 10; i++) {
		deliver(&pair, 64);
		want_counts(b->srq, 32, 31 - i, i < 4 ? 32 : 32 - (i - 3));
	}
	event = want_now(b->async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle, b->recv);
	want_none(b->async);
	want_received_now(0, 4);
	want_none(b->recv);
	want_counts(b->srq, 32, 22, 22);
	post_many(b, 10, 0);
	want_type(post_srq(b, 0, 64, 1), DAT_INSUFFICIENT_RESOURCES);
}

const struct CMUnitTest tests[] = {
	rig_test(share__each_tells_its_own_dispatcher),
	rig_test(share__places_come_back_over_every_dispatcher),
	srq_test(share__without_a_dispatcher, 4, 1),
	srq_test(share__one_dispatcher_for_everything, 4, 1),
	pair_test(share__several_queues_on_one_dispatcher),
	srq_up_test(share__any_number_of_queues_on_one_dispatcher, 8, 1),
	rig_test(share__a_full_dispatcher_loses_no_place),
	tests_end,
};
