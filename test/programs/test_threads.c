/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a program of verbs: any of them posts to any queue, polls it, waits at its channel, makes objects and ends them. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "rig.h"

#define THREADS  3
#define MESSAGES 2000
#define MAKERS   2
#define POSTED   4

/* Under the thread sanitizer one race is enough, and each round takes long. */
#ifdef __SANITIZE_THREAD__
#define ROUNDS 200
#else
#define ROUNDS 20000
#endif

struct crowd {
	struct rig *rig;
	uint32_t sent, received; /* atomic */
};

static void *
post_and_poll(void *arg)
{
	struct crowd *crowd = arg;
	struct ibv_wc wc;

	while (__atomic_load_n(&crowd->received, __ATOMIC_RELAXED) < MESSAGES) {
		if (ibv_poll_cq(crowd->rig->cq, 1, &wc) > 0) {
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (wc.opcode == IBV_WC_RECV) {
				__atomic_fetch_add(&crowd->received, 1, __ATOMIC_RELAXED);
				ok(post_recv(crowd->rig, crowd->rig->b, 1));
			}
		}
		if (__atomic_fetch_add(&crowd->sent, 1, __ATOMIC_RELAXED) >= MESSAGES ||
				post_send(crowd->rig, crowd->rig->a, 2) != 0)
			__atomic_fetch_sub(&crowd->sent, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Any thread may post to any queue and poll any. */
static void
threads__post_and_poll_one_queue(void **state)
{
	struct rig *rig = *state;
	struct crowd crowd = { .rig = rig };
	pthread_t thread[THREADS];
	struct ibv_wc wc;

	connect_qps(rig, rig->a, rig->b);
	for (int i = 0; i < DEPTH; i++)
		ok(post_recv(rig, rig->b, 1));
	for (int i = 0; i < THREADS; i++)
		ok(pthread_create(&thread[i], NULL, post_and_poll, &crowd));
	for (int i = 0; i < THREADS; i++)
		ok(pthread_join(thread[i], NULL));
	assert_int_equal(crowd.received, MESSAGES);
	while (ibv_poll_cq(rig->cq, 1, &wc) > 0)
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/** Threads that make and end queue pairs of one completion queue, beside one that polls it. The numbers are atomic. */
struct churn {
	struct rig *rig;
	bool stop;
	unsigned int wrong;
};

/* Receives of a queue pair are flushed, each with its number as its name. */
static void *
make_and_end(void *arg)
{
	struct churn *churn = arg;
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct ibv_qp_init_attr init = qp_init(churn->rig);
		struct ibv_qp *qp = ibv_create_qp(churn->rig->pd, &init);
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
		int rc = qp == NULL
				? -1
				: ibv_modify_qp(qp, &attr,
						  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
								  IBV_QP_ACCESS_FLAGS);

		for (unsigned int i = 0; rc == 0 && i < POSTED; i++)
			rc = post_recv(churn->rig, qp, qp->qp_num);
		if (rc == 0)
			rc = ibv_modify_qp(qp, &error, IBV_QP_STATE);
		if (qp != NULL && ibv_destroy_qp(qp) != 0)
			rc = -1;
		if (rc != 0)
			__atomic_fetch_add(&churn->wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *
poll_all(void *arg)
{
	struct churn *churn = arg;
	struct ibv_wc wc[3];

	while (!__atomic_load_n(&churn->stop, __ATOMIC_RELAXED)) {
		int n = ibv_poll_cq(churn->rig->cq, 3, wc);

		for (int i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_WR_FLUSH_ERR || wc[i].qp_num != wc[i].wr_id)
				__atomic_fetch_add(&churn->wrong, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void
destroy_qp__beside_others_and_a_poll(void **state)
{
	struct churn churn = { .rig = *state };
	pthread_t maker[MAKERS], poller;

	ok(pthread_create(&poller, NULL, poll_all, &churn));
	for (unsigned int i = 0; i < MAKERS; i++)
		ok(pthread_create(&maker[i], NULL, make_and_end, &churn));
	for (unsigned int i = 0; i < MAKERS; i++)
		ok(pthread_join(maker[i], NULL));
	__atomic_store_n(&churn.stop, true, __ATOMIC_RELAXED);
	ok(pthread_join(poller, NULL));
	assert_int_equal(churn.wrong, 0);
}

/** One thread that sleeps until messages are there, and those that send them. */
struct sleep {
	struct rig *rig;
	uint32_t completed; /**< atomic */
	uint32_t sent;      /**< atomic */
	bool wrong;         /**< atomic */
};

/* As programs do it: arm, poll until nothing is there, wait for the event. */
static void *
wait_and_poll(void *arg)
{
	struct sleep *sleep = arg;
	struct rig *rig = sleep->rig;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	while (__atomic_load_n(&sleep->completed, __ATOMIC_RELAXED) < 2 * MESSAGES) {
		if (ibv_req_notify_cq(rig->cq, 0) != 0)
			break;
		while (ibv_poll_cq(rig->cq, 1, &wc) > 0) {
			if (wc.status != IBV_WC_SUCCESS ||
					(wc.opcode == IBV_WC_RECV &&
							post_recv(rig, rig->b, 1) != 0))
				__atomic_store_n(&sleep->wrong, true, __ATOMIC_RELAXED);
			__atomic_fetch_add(&sleep->completed, 1, __ATOMIC_RELAXED);
		}
		if (__atomic_load_n(&sleep->completed, __ATOMIC_RELAXED) >= 2 * MESSAGES)
			break;
		if (ibv_get_cq_event(rig->channel, &cq, &context) != 0)
			break;
		ibv_ack_cq_events(cq, 1);
	}
	return NULL;
}

static void *
send_all(void *arg)
{
	struct sleep *sleep = arg;

	while (__atomic_fetch_add(&sleep->sent, 1, __ATOMIC_RELAXED) < MESSAGES) {
		int rc;

		while ((rc = post_send(sleep->rig, sleep->rig->a, 2)) == ENOMEM)
			sched_yield();
		if (rc != 0)
			__atomic_store_n(&sleep->wrong, true, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
threads__wait_for_events_while_others_post(void **state)
{
	struct rig *rig = *state;
	struct sleep sleep = { .rig = rig };
	pthread_t waiter, sender[THREADS];

	connect_qps(rig, rig->a, rig->b);
	for (int i = 0; i < DEPTH; i++)
		ok(post_recv(rig, rig->b, 1));
	ok(pthread_create(&waiter, NULL, wait_and_poll, &sleep));
	for (int i = 0; i < THREADS; i++)
		ok(pthread_create(&sender[i], NULL, send_all, &sleep));
	for (int i = 0; i < THREADS; i++)
		ok(pthread_join(sender[i], NULL));
	ok(pthread_join(waiter, NULL));
	assert_false(sleep.wrong);
	assert_int_equal(sleep.completed, 2 * MESSAGES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(threads__post_and_poll_one_queue),
		rig_test(threads__wait_for_events_while_others_post),
		rig_test(destroy_qp__beside_others_and_a_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
