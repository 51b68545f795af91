/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_free: who holds a queue, what happens to what is on it, and what is left of it. */

#include "rig.h"

#define LATER \
	300 /**< objects made after a free, in whose memory the old handle could come to life again */

/* Every call that takes the handle of a queue. */
static void
want_dead(const struct end *end, DAT_SRQ_HANDLE srq)
{
	const DAT_EP_ATTR attr = { 0 };
	DAT_SRQ_PARAM param;
	DAT_EP_HANDLE ep;

	want_bad_handle(dat_srq_free(srq), SRQ);
	want_bad_handle(dat_srq_post_recv(srq, 0, NULL, cookie(0)), SRQ);
	want_bad_handle(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), SRQ);
	want_bad_handle(dat_srq_resize(srq, 1), SRQ);
	want_bad_handle(dat_srq_set_lw(srq, 0), SRQ);
	want_bad_handle(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request,
					end->connect, srq, &attr, &ep),
			SRQ);
}

/* Proves: srq_free.1 srq_free.4 bug.S19 */
static void
free__handle_is_bad_afterwards(void **state)
{
	DAT_SRQ_HANDLE old, later[LATER];
	DAT_HANDLE_TYPE type;

	old = make_srq(a, 4, 1);
	ok(dat_srq_free(old));
	want_dead(a, old);
	want_type(dat_get_handle_type(old, &type), DAT_INVALID_HANDLE);
	/* Also with many new objects around, of which none was harmed by the tries. */
	for (unsigned int i = 0; i < LATER; i++) {
		later[i] = make_srq(a, 4, 1);
		assert_ptr_not_equal(later[i], old);
	}
	want_dead(a, old);
	for (unsigned int i = 0; i < LATER; i++)
		ok(dat_srq_free(later[i]));
	want_dead(a, old);
}

/* Proves: srq_free.4 */
static void
free__bad_handles(void **state)
{
	DAT_SRQ_HANDLE srq = make_srq(a, 4, 1);

	want_dead(a, DAT_HANDLE_NULL);
	want_dead(a, a->ia);
	want_dead(a, a->pz);
	want_dead(a, a->ep);
	want_dead(a, a->recv);
	want_dead(a, a->lmr);
	want_counts(srq, 4, 0, 0);
	ok(dat_srq_free(srq));
}

/* Proves: srq_free.2 srq_free.5 */
static void
free__refused_while_an_endpoint_uses_it(void **state)
{
	DAT_SRQ_PARAM before;
	DAT_EP_HANDLE second = make_srq_ep(b, b->srq, b->recv);

	ok(dat_srq_set_lw(b->srq, 2));
	want_low(b->async, b->srq);
	post_many(b, 3, 0);
	before = srq_param(b->srq);
	/* In whatever state the endpoints are. */
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	pair_connect(&pair);
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	want_unchanged(b->srq, &before);
	ok(dat_ep_free(second));
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	/* It still serves. */
	deliver_as(0, 64);
	part(&pair);
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	ok(dat_ep_reset(b->ep));
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	want_counts(b->srq, 4, 2, 2);
	free_srq_ep(b);
}

/* Proves: srq_free.3 */
static void
free__buffers_left_make_no_completion(void **state)
{
	post_many(b, 8, 0);
	deliver_as(0, 64);
	ok(dat_ep_free(b->ep));
	want_counts(b->srq, 8, 7, 7);
	ok(dat_srq_free(b->srq));
	want_none(b->recv);
	want_none(b->async);
	/* And nothing holds their memory or their zone. */
	ok(dat_lmr_free(b->lmr));
	ok(dat_pz_free(b->pz));
	want_silence(b->recv);
}

/* Completions that nobody has reaped outlive the endpoint and the queue, and reaping them touches neither. */
/* Proves: bug.S23 */
static void
free__completions_left_can_be_reaped_later(void **state)
{
	DAT_SRQ_HANDLE again;

	post_many(b, 8, 0);
	deliver_n(5, 64);
	want_counts(b->srq, 8, 3, 8);
	want_dto(b, b->recv, 0, DAT_DTO_SUCCESS, 64);
	part(&pair);
	ok(dat_ep_free(b->ep));
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, 64);
	want_counts(b->srq, 8, 3, 6);
	ok(dat_srq_free(b->srq));
	/* The next queue on the same dispatcher does not inherit them. */
	again = make_srq(b, 8, 1);
	b->srq = again;
	(void)make_srq_ep(b, again, b->recv);
	post_many(b, 8, 100);
	want_received(2, 5, 64);
	want_counts(again, 8, 8, 8);
	want_none(b->recv);
}

#define THREADS 3
#define LIVES   150

/* cmocka's assertions belong to the main thread: others return what went wrong. */
struct life {
	pthread_t thread;
	const struct end *end;
	DAT_EVD_HANDLE recv; /**< its own: a dispatcher serves a limited number of queues */
	DAT_RETURN result;
};

/* The life of a queue and its endpoint. @return DAT_SUCCESS, or the first error. */
static DAT_RETURN
use(const struct life *life, DAT_SRQ_HANDLE srq)
{
	const struct end *end = life->end;
	const DAT_EP_ATTR attr = { 0 };
	DAT_SRQ_PARAM param;
	DAT_EP_HANDLE ep;
	DAT_RETURN rc;

	rc = dat_ep_create_with_srq(
			end->ia, end->pz, life->recv, end->request, end->connect, srq, &attr, &ep);
	if (rc != DAT_SUCCESS)
		return rc;
	/* Fires at once: the event meets an object that is about to go. */
	rc = dat_srq_set_lw(srq, 4);
	if (rc == DAT_SUCCESS)
		rc = dat_srq_post_recv(srq, 0, NULL, cookie(1));
	if (rc == DAT_SUCCESS)
		rc = dat_srq_resize(srq, 64);
	if (rc == DAT_SUCCESS)
		rc = dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param);
	if (rc == DAT_SUCCESS && (param.max_recv_dtos != 64 || param.available_dto_count != 1))
		rc = DAT_INTERNAL_ERROR;
	if (rc == DAT_SUCCESS)
		rc = dat_ep_free(ep);
	return rc;
}

static DAT_RETURN
live_once(const struct life *life)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_SRQ_HANDLE srq;
	DAT_RETURN rc = dat_srq_create(life->end->ia, life->end->pz, &attr, &srq);

	if (rc == DAT_SUCCESS)
		rc = use(life, srq);
	return rc == DAT_SUCCESS ? dat_srq_free(srq) : rc;
}

static void *
live(void *arg)
{
	struct life *life = arg;

	for (unsigned int i = 0; i < LIVES && life->result == DAT_SUCCESS; i++)
		life->result = live_once(life);
	return NULL;
}

/* Queues come and go on several threads, each with its event, while another one of the same instance receives. */
/* Proves: bug.S2 bug.S18 bug.S19 */
static void
free__queues_come_and_go_beside_traffic(void **state)
{
	static struct life life[THREADS]; /* a test that fails leaves its threads behind */
	DAT_EVENT event;

	for (unsigned int i = 0; i < THREADS; i++) {
		life[i].end = b;
		life[i].recv = make_dto_evd(b, 8);
		life[i].thread = start(live, &life[i]);
	}
	for (unsigned int i = 0; i < 500; i++) {
		pass(i);
		while (dat_evd_dequeue(b->async, &event) == DAT_SUCCESS)
			assert_int_equal(event.event_number, DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		join(life[i].thread);
		ok(life[i].result);
	}
	want_counts(b->srq, 8, 0, 0);
	free_to_the_zone(b);
}

const struct CMUnitTest tests[] = {
	end_test(free__handle_is_bad_afterwards),
	end_test(free__bad_handles),
	srq_test(free__refused_while_an_endpoint_uses_it, 4, 1),
	srq_up_test(free__buffers_left_make_no_completion, 8, 1),
	srq_up_test(free__completions_left_can_be_reaped_later, 8, 1),
	srq_up_test(free__queues_come_and_go_beside_traffic, 8, 1),
	tests_end,
};
