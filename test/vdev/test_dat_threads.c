/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads: each on objects of its own, and where the standard or decision says so, on shared ones. */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "dat_pair.h"

#define ROUNDS   2000u
#define MESSAGES 4000u
#define DEPTH    32
#define POSTERS  2

/* cmocka's assertions belong to the main thread: others return what went wrong. */
struct task {
	pthread_t thread;
	struct end *end;
	unsigned int number;
	DAT_RETURN result;
};

/* Poll until there is an event; both ends are polled by their own thread. */
static DAT_RETURN
next(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN rc;

	do {
		rc = dat_evd_dequeue(evd, event);
	} while (rc == DAT_QUEUE_EMPTY);
	return rc;
}

/* The client (number 0) serves; the other returns. */
static void *
play(void *arg)
{
	struct task *task = arg;
	struct end *end = task->end;
	DAT_EVENT event;

	for (unsigned int i = 0; i < ROUNDS && task->result == DAT_SUCCESS; i++) {
		if (task->number == 0)
			task->result |= post_send(end, 0, 64, i);
		task->result |= next(end->recv, &event);
		task->result |= post_recv(end, 64, 64, i);
		if (task->number == 1)
			task->result |= post_send(end, 0, 64, i);
		task->result |= next(end->request, &event);
	}
	return NULL;
}

static void
start(struct task *task, void *(*run)(void *))
{
	assert_int_equal(pthread_create(&task->thread, NULL, run, task), 0);
}

static void
join(struct task *task)
{
	assert_int_equal(pthread_join(task->thread, NULL), 0);
	ok(task->result);
}

static void
threads__one_an_end(void **state)
{
	struct task task[2] = { { .number = 0 }, { .number = 1 } };
	struct pair pair;

	pair_up(&pair);
	task[0].end = &pair.a;
	task[1].end = &pair.b;
	ok(post_recv(&pair.a, 64, 64, 0));
	ok(post_recv(&pair.b, 64, 64, 0));
	start(&task[0], play);
	start(&task[1], play);
	join(&task[0]);
	join(&task[1]);
	pair_close(&pair);
}

/* Post to the shared receive queue whenever there is room, MESSAGES / POSTERS times. */
static void *
feed(void *arg)
{
	struct task *task = arg;

	for (unsigned int i = 0; i < MESSAGES / POSTERS; i++) {
		DAT_RETURN rc;

		do {
			rc = post_srq(task->end, 0, 64, task->number * MESSAGES + i);
		} while (DAT_GET_TYPE(rc) == DAT_INSUFFICIENT_RESOURCES);
		if (rc != DAT_SUCCESS) {
			task->result = rc;
			break;
		}
	}
	return NULL;
}

/* Several posters and a reaper on one queue: each buffer is used once, and at the end nothing is missing. */
static void
threads__several_posters_on_one_srq(void **state)
{
	struct end_options with_srq = { .srq_depth = DEPTH, .evd_len = 256 };
	static uint8_t seen[POSTERS * MESSAGES];
	struct task task[POSTERS] = { 0 };
	unsigned int sent = 0, done = 0;
	DAT_SRQ_PARAM counts;
	struct pair pair;
	DAT_EVENT event;

	memset(seen, 0, sizeof(seen));
	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	for (unsigned int i = 0; i < POSTERS; i++) {
		task[i].end = &pair.b;
		task[i].number = i;
		start(&task[i], feed);
	}
	for (unsigned int got = 0; got < MESSAGES;) {
		if (sent < MESSAGES && sent - done < 64 &&
				post_send(&pair.a, 0, 64, sent) == DAT_SUCCESS)
			sent++;
		if (dat_evd_dequeue(pair.a.request, &event) == DAT_SUCCESS)
			done++;
		if (dat_evd_dequeue(pair.b.recv, &event) != DAT_SUCCESS)
			continue;
		assert_int_equal(
				event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
		seen[event.event_data.dto_completion_event_data.user_cookie.as_64]++;
		got++;
	}
	for (unsigned int i = 0; i < POSTERS; i++)
		join(&task[i]);
	for (unsigned int i = 0; i < POSTERS; i++)
		for (unsigned int j = 0; j < MESSAGES; j++)
			assert_int_equal(seen[i * MESSAGES + j], j < MESSAGES / POSTERS);
	ok(dat_srq_query(pair.b.srq, DAT_SRQ_FIELD_ALL, &counts));
	assert_int_equal(counts.available_dto_count, 0);
	assert_int_equal(counts.outstanding_dto_count, 0);
	pair_close(&pair);
}

static void *
build_and_tear_down(void *arg)
{
	struct task *task = arg;
	struct end *end = task->end;
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };

	for (unsigned int i = 0; i < 200 && task->result == DAT_SUCCESS; i++) {
		DAT_EVD_HANDLE evd = NULL;
		DAT_PSP_HANDLE psp = NULL;
		DAT_SRQ_HANDLE srq = NULL;
		DAT_EP_HANDLE ep = NULL;
		DAT_PZ_HANDLE pz = NULL;

		task->result |= dat_pz_create(end->ia, &pz);
		task->result |= dat_evd_create(
				end->ia, 4, DAT_HANDLE_NULL, DAT_EVD_DEFAULT_FLAG, &evd);
		task->result |= dat_srq_create(end->ia, pz, &attr, &srq);
		task->result |= dat_ep_create(end->ia, end->pz, end->recv, evd, evd, NULL, &ep);
		task->result |= dat_psp_create(
				end->ia, 1000 + task->number, evd, DAT_PSP_CONSUMER_FLAG, &psp);
		if (task->result != DAT_SUCCESS)
			break;
		task->result |= dat_psp_free(psp);
		task->result |= dat_ep_free(ep);
		task->result |= dat_srq_free(srq);
		task->result |= dat_evd_free(evd);
		task->result |= dat_pz_free(pz);
	}
	return NULL;
}

/* Creating is safe from any thread, also where parents are shared; traffic goes on meanwhile. */
static void
threads__creating_at_once(void **state)
{
	struct task task[4] = { 0 };
	struct pair pair;

	pair_up(&pair);
	for (unsigned int i = 0; i < 4; i++) {
		task[i].end = &pair.b;
		task[i].number = i;
		start(&task[i], build_and_tear_down);
	}
	for (unsigned int i = 0; i < 500; i++) {
		ok(post_recv(&pair.b, 0, 64, i));
		ok(post_send(&pair.a, 0, 64, i));
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
	}
	for (unsigned int i = 0; i < 4; i++)
		join(&task[i]);
	/* No object is left behind that would hold the zone. */
	ok(dat_ep_free(pair.b.ep));
	ok(dat_lmr_free(pair.b.lmr));
	ok(dat_pz_free(pair.b.pz));
	pair_close(&pair);
}

/* A thread that looks for an event when it is told to, and does nothing else. */
static struct {
	sem_t look, looked;
	bool end;
} keeper;

static void *
keep(void *arg)
{
	struct task *task = arg;
	DAT_EVENT event;

	while (sem_wait(&keeper.look) == 0 && !keeper.end) {
		task->result = dat_evd_dequeue(task->end->recv, &event);
		sem_post(&keeper.looked);
	}
	return NULL;
}

static void
have_looked(struct task *task)
{
	sem_post(&keeper.look);
	sem_wait(&keeper.looked);
	want_type(task->result, DAT_QUEUE_EMPTY);
}

/* One message to b, whose engine this thread polls in passing only. @return dequeues that found nothing meanwhile. */
static unsigned int
looks_for_one_message(struct pair *pair)
{
	unsigned int looks = 0;
	DAT_EVENT event;

	ok(post_recv(&pair->b, 0, 64, 1));
	ok(post_send(&pair->a, 0, 64, 1));
	while (dat_evd_dequeue(pair->a.request, &event) != DAT_SUCCESS)
		looks++;
	ok(dat_evd_dequeue(pair->b.recv, &event));
	return looks;
}

/*
 * Polling one adapter also polls the others of the process, every 64 empty dequeues; but not those that another thread
 * polls, unless it has stayed away for 16 times as long. The progress thread would poll them earlier: it is off.
 */
static void
threads__leave_an_adapter_to_who_polls_it(void **state)
{
	struct task task = { .end = NULL };
	struct pair pair;

	setenv("UDAPL_ROCE_PARAMS", "progress=manual", 1);
	pair_up(&pair);
	unsetenv("UDAPL_ROCE_PARAMS");
	task.end = &pair.b;
	sem_init(&keeper.look, 0, 0);
	sem_init(&keeper.looked, 0, 0);
	keeper.end = false;
	start(&task, keep);
	assert_in_range(looks_for_one_message(&pair), 0, 4 * 64);
	for (unsigned int i = 0; i < 2; i++) {
		have_looked(&task);
		assert_in_range(looks_for_one_message(&pair), 15 * 64, 20 * 64);
	}
	/* It has not come again. */
	assert_in_range(looks_for_one_message(&pair), 0, 4 * 64);
	keeper.end = true;
	sem_post(&keeper.look);
	pthread_join(task.thread, NULL);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(threads__one_an_end),
		dat_test(threads__several_posters_on_one_srq),
		dat_test(threads__creating_at_once),
		dat_test(threads__leave_an_adapter_to_who_polls_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
