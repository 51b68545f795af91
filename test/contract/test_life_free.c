/* SPDX-License-Identifier: BSD-3-Clause */
/* Freeing: queues, endpoints, zones, adapters, in the orders that are allowed and in those that are not. */

#include "crowd.h"
#include "waiting.h"

#define DEPTH 8

/* An endpoint on it keeps a queue, in whatever state the endpoint is (B1); what is refused changes nothing. */
/* Proves: srq_free.2 srq_free.5 ep_create_with_srq.5 */
static void
free__queue_in_use_in_every_state(void **state)
{
	const DAT_RETURN in_use =
			DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_SRQ_IN_USE;

	post_many(b, 4, 0);
	want(dat_srq_free(b->srq), in_use);
	begin_connection();
	want(dat_srq_free(b->srq), in_use);
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	want(dat_srq_free(b->srq), in_use);
	deliver(&pair, 64);
	ok(post_send(b, 0, 64, 1));
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECT_PENDING);
	want(dat_srq_free(b->srq), in_use);
	deliver(&pair, 64);
	part(&pair);
	want(dat_srq_free(b->srq), in_use);
	ok(dat_ep_reset(b->ep));
	want(dat_srq_free(b->srq), in_use);
	want_received(0, 2, 64);
	want_counts(b->srq, DEPTH, 2, 2);
	free_srq_ep(b);
}

/* Buffers that are posted vanish with the queue: no completion, no event, and their memory and zone are free (B2). */
/* Proves: srq_free.3 srq_free.1 */
static void
free__posted_buffers_vanish(void **state)
{
	DAT_SRQ_PARAM param;
	DAT_LMR_TRIPLET iov = segment(b, 0, 64);

	ok(dat_srq_set_lw(b->srq, 2));
	want_low(b->async, b->srq);
	post_many(b, DEPTH, 0);
	ok(dat_srq_set_lw(b->srq, DEPTH));
	free_srq_ep(b);
	want_silence(b->recv);
	want_none(b->async);
	want_none(b->connect);
	want_bad_handle(dat_srq_query(b->srq, DAT_SRQ_FIELD_ALL, &param), SRQ);
	want_bad_handle(dat_srq_post_recv(b->srq, 1, &iov, cookie(1)), SRQ);
	want_bad_handle(dat_srq_resize(b->srq, 9), SRQ);
	want_bad_handle(dat_srq_set_lw(b->srq, 1), SRQ);
	want_bad_handle(dat_srq_free(b->srq), SRQ);
	ok(dat_lmr_free(b->lmr));
	ok(dat_pz_free(b->pz));
}

#define MANY 64u /**< more than a poll receives: so many acknowledgements wait for the next one */

/* Each server's endpoint is ended as soon as its message is there; each client learns that its message arrived. */
static void
end_behind_receive(DAT_RETURN (*end_ep)(DAT_EP_HANDLE ep))
{
	crowd_open(MANY, MANY, 4 * MANY, 1);
	post_many(b, MANY, 0);
	for (unsigned int i = 0; i < MANY; i++) {
		crowd_pick(i);
		ok(post_send(a, 0, 8, i));
	}
	for (unsigned int i = 0; i < MANY; i++)
		ok(end_ep(next_dto(crowd.evd[0]).ep_handle));
	for (unsigned int i = 0; i < MANY; i++)
		assert_int_equal(next_dto(a->request).status, DAT_DTO_SUCCESS);
	pair_close(&pair);
}

static DAT_RETURN
disconnect_abruptly(DAT_EP_HANDLE ep)
{
	return dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
}

/* A message that was received is acknowledged, however soon its endpoint ends: the peer's request succeeds. */
static void
free__behind_a_receive(void **state)
{
	end_behind_receive(dat_ep_free);
	end_behind_receive(disconnect_abruptly);
}

/*
 * A zone cannot go from under a queue, empty or not (B19). The refused call changes nothing: the queue still takes
 * buffers of that zone and they are filled.
 * Proves: srq_create.11
 */
static void
free__zone_of_a_queue(void **state)
{
	want_bad_state(dat_pz_free(b->pz), PZ_IN_USE);
	post_many(b, 2, 0);
	deliver_as(0, 64);
	ok(dat_ep_free(b->ep));
	ok(dat_lmr_free(b->lmr));
	want_bad_state(dat_pz_free(b->pz), PZ_IN_USE);
	ok(dat_srq_free(b->srq));
	ok(dat_pz_free(b->pz));
	want_bad_handle(dat_pz_free(b->pz), PZ);
}

/*
 * A graceful close is refused as long as there is a queue, be it the last object but its zone (B22), and the adapter
 * works on.
 */
static void
close__graceful_with_a_queue_left(void **state)
{
	const DAT_RETURN in_use = DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_IA_IN_USE;
	struct end twin;

	open_beside(&twin, "loop1", DAT_HANDLE_NULL);
	want(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG), in_use);
	ok(dat_srq_post_recv(twin.srq, 0, NULL, cookie(1)));
	want(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG), in_use);
	want_counts(twin.srq, 4, 1, 1);
	want_none(twin.async);
	ok(dat_srq_free(twin.srq));
	want(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG), in_use);
	ok(dat_pz_free(twin.pz));
	ok(dat_ia_close(twin.ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/*
 * An abrupt close with everything there is: endpoints connected, half connected and not, a message in progress,
 * buffers on the queue, completions not reaped, marks armed, a thread that waits. It goes away, the peers hear the end
 * and every handle is void; then it can be opened again. Often, and each time alike.
 * Proves: srq_free.3 bug.S23
 */
static void
close__abrupt_with_everything(void **state)
{
	for (unsigned int round = 0; round < 10; round++) {
		static struct waiter sleeper; /* a test that fails leaves its thread behind */
		DAT_EP_HANDLE idle;
		struct end gone;

		srq_pair_up(&pair, DEPTH, 1);
		gone = *b;
		idle = srq_ep(b, NULL);
		ok(post_srq(b, 0, 64, 1));
		ok(post_srq(b, 0, LONG_LEN, 2));
		post_many(b, 3, 3);
		deliver(&pair, 64);
		begin_long(&pair, 9);
		ok(dat_srq_set_lw(b->srq, 1));
		ok(dat_ep_set_watermark(b->ep, 1, 1));
		sleeper = (struct waiter){ .evd = b->request };
		begin_to_wait(&sleeper);
		/* It, too, is polled by the thread that waits: the message may have come meanwhile. */
		end_close(b);
		join_waiter(&sleeper);
		want_type(sleeper.rc, DAT_ABORT);
		want_event(a->request, DAT_DTO_COMPLETION_EVENT);
		want_event(a->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_bad_handle(dat_ep_free(idle), EP);
		want_bad_handle(dat_ep_free(gone.ep), EP);
		want_bad_handle(dat_srq_free(gone.srq), SRQ);
		want_bad_handle(dat_pz_free(gone.pz), PZ);
		pair_close(&pair);
	}
}

/* Two instances of one adapter, each with a queue: closing one takes its own with it and nothing of the other. */
/* Proves: srq_free.1 */
static void
close__leaves_the_other_instance_alone(void **state)
{
	struct end twin;

	srq_pair_up(&pair, DEPTH, 1);
	open_beside(&twin, "loop1", DAT_HANDLE_NULL);
	ok(dat_srq_post_recv(twin.srq, 0, NULL, cookie(1)));
	post_many(b, 4, 0);
	deliver(&pair, 64);
	ok(dat_ia_close(twin.ia, DAT_CLOSE_ABRUPT_FLAG));
	want_bad_handle(dat_srq_free(twin.srq), SRQ);
	deliver(&pair, 64);
	want_received_now(0, 2);
	want_counts(b->srq, DEPTH, 2, 2);
}

const struct CMUnitTest tests[] = {
	srq_test(free__queue_in_use_in_every_state, DEPTH, 1),
	srq_up_test(free__posted_buffers_vanish, DEPTH, 1),
	rig_test(free__behind_a_receive),
	srq_up_test(free__zone_of_a_queue, DEPTH, 1),
	rig_test(close__graceful_with_a_queue_left),
	rig_test(close__abrupt_with_everything),
	rig_test(close__leaves_the_other_instance_alone),
	tests_end,
};
