/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_srq_free: who holds a queue, what happens to what is on it, and what is left of it. */

#include <pthread.h>

#include "contract.h"

#define LATER \
	300 /**< objects made after a free, in whose memory the old handle could come to life again */

/* Every call that takes the handle of a queue. */
static void
want_dead(const struct end *end, DAT_SRQ_HANDLE srq)
{
	const DAT_EP_ATTR attr = { 0 };
	DAT_SRQ_PARAM param;
	DAT_EP_HANDLE ep;

	want_error(dat_srq_free(srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_post_recv(srq, 0, NULL, cookie(0)), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_resize(srq, 1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_set_lw(srq, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request, end->connect,
				   srq, &attr, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
}

/* Proves: srq_free.1 srq_free.4 bug.S19 */
static void
free__handle_is_bad_afterwards(void **state)
{
	DAT_SRQ_HANDLE old, later[LATER];
	DAT_HANDLE_TYPE type;
	struct end end;

	end_open(&end, "loop0", NULL);
	old = make_srq(&end, 4, 1);
	ok(dat_srq_free(old));
	want_dead(&end, old);
	want_type(dat_get_handle_type(old, &type), DAT_INVALID_HANDLE);
	/* Also with many new objects around, of which none was harmed by the tries. */
	for (unsigned int i = 0; i < LATER; i++) {
		later[i] = make_srq(&end, 4, 1);
		assert_ptr_not_equal(later[i], old);
	}
	want_dead(&end, old);
	for (unsigned int i = 0; i < LATER; i++)
		ok(dat_srq_free(later[i]));
	want_dead(&end, old);
	end_close(&end);
}

/* Proves: srq_free.4 */
static void
free__bad_handles(void **state)
{
	struct end end;
	DAT_SRQ_HANDLE srq;

	end_open(&end, "loop0", NULL);
	srq = make_srq(&end, 4, 1);
	want_dead(&end, DAT_HANDLE_NULL);
	want_dead(&end, end.ia);
	want_dead(&end, end.pz);
	want_dead(&end, end.ep);
	want_dead(&end, end.recv);
	want_dead(&end, end.lmr);
	want_counts(srq, 4, 0, 0);
	ok(dat_srq_free(srq));
	end_close(&end);
}

/* Proves: srq_free.2 srq_free.5 */
static void
free__refused_while_an_endpoint_uses_it(void **state)
{
	DAT_EP_HANDLE second;
	DAT_SRQ_PARAM before;
	struct pair pair;

	srq_pair_open(&pair, 4, 1);
	second = make_srq_ep(&pair.b, pair.b.srq, pair.b.recv);
	ok(dat_srq_set_lw(pair.b.srq, 2));
	want_low(pair.b.async, pair.b.srq);
	post_many(&pair.b, 3, 0);
	before = srq_param(pair.b.srq);
	/* In whatever state the endpoints are. */
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	pair_connect(&pair);
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	want_unchanged(pair.b.srq, &before);
	ok(dat_ep_free(second));
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	/* It still serves. */
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	part(&pair);
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	ok(dat_ep_reset(pair.b.ep));
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	want_counts(pair.b.srq, 4, 2, 2);
	ok(dat_ep_free(pair.b.ep));
	ok(dat_srq_free(pair.b.srq));
	pair_close(&pair);
}

/* Proves: srq_free.3 */
static void
free__buffers_left_make_no_completion(void **state)
{
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 8, 0);
	deliver(&pair, 64);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	ok(dat_ep_free(pair.b.ep));
	want_counts(pair.b.srq, 8, 7, 7);
	ok(dat_srq_free(pair.b.srq));
	want_none(pair.b.recv);
	want_none(pair.b.async);
	/* And nothing holds their memory or their zone. */
	ok(dat_lmr_free(pair.b.lmr));
	ok(dat_pz_free(pair.b.pz));
	want_silence(pair.b.recv);
	pair_close(&pair);
}

/*
 * Completions that nobody has reaped outlive the endpoint and the queue, and reaping them touches neither.
 *
 * Proves: bug.S23
 */
static void
free__completions_left_can_be_reaped_later(void **state)
{
	DAT_SRQ_HANDLE again;
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	post_many(&pair.b, 8, 0);
	for (unsigned int i = 0; i < 5; i++)
		deliver(&pair, 64);
	want_counts(pair.b.srq, 8, 3, 8);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	part(&pair);
	ok(dat_ep_free(pair.b.ep));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	want_counts(pair.b.srq, 8, 3, 6);
	ok(dat_srq_free(pair.b.srq));
	/* The next queue on the same dispatcher does not inherit them. */
	again = make_srq(&pair.b, 8, 1);
	pair.b.srq = again;
	(void)make_srq_ep(&pair.b, again, pair.b.recv);
	post_many(&pair.b, 8, 100);
	for (unsigned int i = 2; i < 5; i++)
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
	want_counts(again, 8, 8, 8);
	want_none(pair.b.recv);
	pair_close(&pair);
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

/* What a queue and its endpoint go through; DAT_SUCCESS, or the first error. */
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

/*
 * Queues come and go on several threads, each with its event, while another one of the same instance receives.
 *
 * Proves: bug.S2 bug.S18 bug.S19
 */
static void
free__queues_come_and_go_beside_traffic(void **state)
{
	static struct life life[THREADS]; /* a test that fails leaves its threads behind */
	DAT_EVENT event;
	struct pair pair;

	srq_pair_up(&pair, 8, 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		life[i].end = &pair.b;
		life[i].recv = make_dto_evd(&pair.b, 8);
		assert_int_equal(pthread_create(&life[i].thread, NULL, live, &life[i]), 0);
	}
	for (unsigned int i = 0; i < 500; i++) {
		post_many(&pair.b, 1, i);
		deliver(&pair, 64);
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		while (dat_evd_dequeue(pair.b.async, &event) == DAT_SUCCESS)
			assert_int_equal(event.event_number, DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(life[i].thread, NULL), 0);
		ok(life[i].result);
	}
	want_counts(pair.b.srq, 8, 0, 0);
	ok(dat_ep_free(pair.b.ep));
	ok(dat_srq_free(pair.b.srq));
	ok(dat_lmr_free(pair.b.lmr));
	ok(dat_pz_free(pair.b.pz));
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(free__handle_is_bad_afterwards),
		dat_test(free__bad_handles),
		dat_test(free__refused_while_an_endpoint_uses_it),
		dat_test(free__buffers_left_make_no_completion),
		dat_test(free__completions_left_can_be_reaped_later),
		dat_test(free__queues_come_and_go_beside_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
