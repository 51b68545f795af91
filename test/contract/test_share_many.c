/* SPDX-License-Identifier: BSD-3-Clause */
/* Many endpoints on one queue: all served from few buffers, none at the cost of the others. */

#include "crowd.h"

/* One message of @p length from each client, then one completion for each: how many each server's endpoint got. */
static void
serve_all(unsigned int depth, DAT_VLEN length)
{
	static unsigned int got[CROWD_MAX];

	memset(got, 0, sizeof(got));
	for (unsigned int i = 0; i < crowd.n; i++) {
		crowd_pick(i);
		ok(post_send(a, 0, length, i));
	}
	for (unsigned int i = 0; i < crowd.n; i++) {
		DAT_DTO_COMPLETION_EVENT_DATA data = next_dto(crowd.evd[0]);

		assert_int_equal(data.status, DAT_DTO_SUCCESS);
		assert_int_equal(data.transfered_length, length);
		got[crowd_index(data.ep_handle)]++;
		ok(post_srq(b, 0, length, data.user_cookie.as_64));
	}
	for (unsigned int i = 0; i < crowd.n; i++) {
		want_event(a->request, DAT_DTO_COMPLETION_EVENT);
		assert_int_equal(got[i], 1);
	}
	want_counts(b->srq, (DAT_COUNT)depth, (DAT_COUNT)depth, (DAT_COUNT)depth);
}

/*
 * Fewer buffers than messages in flight, fewer than endpoints even: whoever finds none waits and is served, and nobody
 * is left out. A queue of one serves all, too.
 * Proves: srq_create.8 srq_create.10 bug.S27
 */
static void
many__fewer_buffers_than_endpoints(void **state)
{
	static const struct {
		unsigned int endpoints, depth;
	} rows[] = { { 64, 64 }, { 64, 16 }, { 64, 1 }, { 1000, 64 } };

	for (unsigned int r = 0; r < COUNT_OF(rows); r++) {
		unsigned int depth = rows[r].depth;

		print_message("%u endpoints, %u buffers\n", rows[r].endpoints, depth);
		set_params("rnr_timer=1");
		crowd_open(rows[r].endpoints, (DAT_COUNT)depth, 1024, 1);
		for (unsigned int i = 0; i < depth; i++)
			ok(post_srq(b, 0, 64, i));
		for (unsigned int round = 0; round < 3; round++)
			serve_all(depth, 64);
		pair_close(&pair);
	}
}

/*
 * Each endpoint holds the buffer of its message in progress, all at the same time; that many are on no dispatcher and
 * not on the queue. One endpoint more finds it empty, and is served when there is a buffer again.
 * Proves: srq_create.10 srq_create.8 srq_query.6 ep_recv_query.1
 */
static void
many__all_hold_one(void **state)
{
	enum {
		ENDPOINTS = 64
	};
	DAT_COUNT holding = 0;
	DAT_EP_HANDLE late;

	crowd_open(ENDPOINTS + 1, 100, 1024, 1);
	for (unsigned int i = 0; i < ENDPOINTS; i++) {
		crowd_pick(i);
		ok(post_srq(b, 0, BUFFER_LEN, i));
		ok(post_send(a, 0, BUFFER_LEN, i));
	}
	for (unsigned int n = 0; n < 10 * ENDPOINTS && holding < ENDPOINTS; n++) {
		poll_both(1);
		holding = 0;
		for (unsigned int i = 0; i < ENDPOINTS; i++)
			holding += held(crowd.server[i]);
	}
	for (unsigned int i = 0; i < ENDPOINTS; i++)
		want_held(crowd.server[i], 1);
	want_none(crowd.evd[0]);
	want_counts(b->srq, 100, 0, ENDPOINTS);
	crowd_pick(ENDPOINTS);
	late = b->ep;
	ok(post_send(a, 0, 64, ENDPOINTS));
	poll_both(2);
	want_held(late, 0);
	ok(post_srq(b, 0, 64, ENDPOINTS));
	for (unsigned int i = 0; i < ENDPOINTS + 1; i++)
		assert_int_equal(next_dto(crowd.evd[0]).status, DAT_DTO_SUCCESS);
	want_counts(b->srq, 100, 0, 0);
	for (unsigned int i = 0; i < crowd.n; i++)
		want_held(crowd.server[i], 0);
}

/* A message of the others arrives whole while the slow one stands still. */
static void
others_go_on(unsigned int slow, uint64_t first)
{
	for (unsigned int i = 0; i < crowd.n; i++) {
		DAT_EVENT event;

		if (i == slow)
			continue;
		crowd_pick(i);
		ok(post_srq(b, 0, 64, first + i));
		ok(post_send(a, 0, 64, first + i));
		event = poll_until(crowd.evd[0], DAT_DTO_COMPLETION_EVENT);
		assert_ptr_equal(event.event_data.dto_completion_event_data.ep_handle, b->ep);
	}
}

/*
 * A slow endpoint, with messages that take long to come and a peer that always has another one, holds as many buffers
 * as its hard watermark allows and not one more; all others go on with the rest. One more, and its connection breaks
 * and gives the buffer back.
 * Proves: ep_set_watermark.3 srq_create.10
 */
static void
many__a_slow_one_takes_no_more_than_its_mark(void **state)
{
	struct pair slow;

	crowd_open(8, 8, 1024, 1);
	crowd_pick(3);
	slow = pair;
	ok(dat_ep_set_watermark(slow.b.ep, DAT_WATERMARK_INFINITE, 1));
	ok(post_huge_srq(&slow.b, 100));
	begin_huge(100);
	for (uint64_t i = 1; i < 5; i++)
		ok(post_huge_send(&slow.a, 100 + i));
	others_go_on(3, 200);
	want_held(slow.b.ep, 1);
	want_counts(slow.b.srq, 8, 0, 1);
	assert_int_equal(end_state(&slow.b), DAT_EP_STATE_CONNECTED);
	ok(dat_ep_set_watermark(slow.b.ep, DAT_WATERMARK_INFINITE, 0));
	assert_int_equal(end_state(&slow.b), DAT_EP_STATE_DISCONNECTED);
	want_dto_now(&slow.b, slow.b.recv, 100, DAT_DTO_ERR_FLUSHED);
	want_now(slow.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_counts(slow.b.srq, 8, 0, 0);
	others_go_on(3, 300);
	want_counts(slow.b.srq, 8, 0, 0);
}

/*
 * Endpoints go in any order, the first, the last, in between, connected or not, with messages under way; those that
 * are left lose nothing. The queue can go behind the last one.
 * Proves: srq_free.2 srq_free.5 ep_create_with_srq.5
 */
static void
many__endpoints_go_in_any_order(void **state)
{
	enum {
		ENDPOINTS = 16
	};
	static bool gone[ENDPOINTS];

	memset(gone, 0, sizeof(gone));
	crowd_open(ENDPOINTS, 64, 1024, 1);
	post_many(b, 32, 0);
	for (unsigned int n = 0; n < ENDPOINTS; n++) {
		unsigned int victim = n * 5 % ENDPOINTS;
		unsigned int sent = 0;

		want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
		crowd_pick(victim);
		if (n % 2 != 0)
			part(&pair);
		else
			ok(post_send(a, 0, 64, 1));
		ok(dat_ep_free(crowd.server[victim]));
		gone[victim] = true;
		want_bad_handle(dat_ep_free(crowd.server[victim]), EP);
		for (unsigned int i = 0; i < ENDPOINTS; i++) {
			if (gone[i])
				continue;
			crowd_pick(i);
			ok(post_send(a, 0, 64, 7));
			sent++;
		}
		for (; sent > 0; sent--) {
			DAT_DTO_COMPLETION_EVENT_DATA data = next_dto(crowd.evd[0]);

			assert_int_equal(data.status, DAT_DTO_SUCCESS);
			assert_false(gone[crowd_index(data.ep_handle)]);
			ok(post_srq(b, 0, 64, data.user_cookie.as_64));
		}
	}
	want_counts(b->srq, 64, 32, 32);
	ok(dat_srq_free(b->srq));
	want_none(crowd.evd[0]);
}

const struct CMUnitTest tests[] = {
	rig_test(many__fewer_buffers_than_endpoints),
	rig_test(many__all_hold_one),
	rig_test(many__a_slow_one_takes_no_more_than_its_mark),
	rig_test(many__endpoints_go_in_any_order),
	tests_end,
};
