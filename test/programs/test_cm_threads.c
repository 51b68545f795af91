/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a program of librdmacm: connections that come and go at once, and a thread that fetches the events of others. */

#include <pthread.h>
#include <stdbool.h>

#include "cm_rig.h"

#define THREADS 3
#define ROUNDS  20

/* Each thread has a channel, a listener and ids of its own. */
static void *
connect_and_end(void *arg)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct pair *pair;
		void *state;

		ok(pair_open(&state));
		pair = state;
		establish(pair);
		ok(rdma_disconnect(i % 2 ? pair->active : pair->passive));
		want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
		want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
		ok(pair_close(&state));
	}
	return NULL;
}

static void
threads__connect_at_the_same_time(void **state)
{
	pthread_t thread[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		ok(pthread_create(&thread[i], NULL, connect_and_end, NULL));
	for (unsigned int i = 0; i < THREADS; i++)
		ok(pthread_join(thread[i], NULL));
}

/** A thread that fetches and acknowledges; the numbers are atomic. */
struct reader {
	struct pair *pair;
	struct rdma_cm_id *last; /**< its ADDR_RESOLVED ends the thread */
	unsigned int resolved;
	unsigned int wrong;
};

static void *
read_events(void *arg)
{
	struct reader *reader = arg;
	struct rdma_cm_event *event;
	bool last = false;

	while (!last) {
		if (rdma_get_cm_event(reader->pair->channel, &event) != 0) {
			__atomic_fetch_add(&reader->wrong, 1, __ATOMIC_RELAXED);
			break;
		}
		if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED)
			__atomic_fetch_add(&reader->resolved, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&reader->wrong, 1, __ATOMIC_RELAXED);
		last = event->id == reader->last;
		rdma_ack_cm_event(event);
	}
	return NULL;
}

/* An id ends while its event is fetched, acknowledged, or still there: rdma_destroy_id() waits, or takes it along. */
static void
destroy_id__beside_a_thread_that_fetches_its_events(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in to = address(pair->listener);
	struct reader reader = { .pair = pair };
	struct rdma_cm_id *id;
	pthread_t thread;

	ok(rdma_create_id(pair->channel, &reader.last, NULL, RDMA_PS_TCP));
	ok(pthread_create(&thread, NULL, read_events, &reader));
	for (unsigned int i = 0; i < 50 * ROUNDS; i++) {
		ok(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_TCP));
		ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000));
		ok(rdma_destroy_id(id));
	}
	ok(rdma_resolve_addr(reader.last, NULL, (struct sockaddr *)&to, 1000));
	ok(pthread_join(thread, NULL));
	ok(rdma_destroy_id(reader.last));
	assert_int_equal(reader.wrong, 0);
	assert_in_range(reader.resolved, 1, 50 * ROUNDS + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__connect_at_the_same_time),
		pair_test(destroy_id__beside_a_thread_that_fetches_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
