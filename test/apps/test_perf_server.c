/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dat-perf that waits for its client, on loop1, and peers on loop0 that are no good ones: it waits on until one is there to be
 * measured, or its user ends it.
 */
#include "../vdev/dat_pair.h"

#include <pthread.h>
#include <signal.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "perf/clock.h"
#include "perf/connect.h"
#include "perf/hello.h"
#include "perf/options.h"
#include "perf/plan.h"
#include "perf/run.h"

#define PORT      4812
#define ENDPOINTS 2
/* So many seconds of the server pass in one. */
#define HURRY 60

/* Seconds of the server that pass in one. Its thread reads it too. */
static uint64_t seconds_in_a_second = 1;

uint64_t __real_perf_hz(void);
uint64_t __wrap_perf_hz(void);

uint64_t
__wrap_perf_hz(void)
{
	return __real_perf_hz() / __atomic_load_n(&seconds_in_a_second, __ATOMIC_RELAXED);
}

static void
hurry(bool much)
{
	__atomic_store_n(&seconds_in_a_second, much ? HURRY : 1, __ATOMIC_RELAXED);
}

struct scene {
	struct perf_options options;
	struct perf_hello hello; /**< with which the server agrees */
	struct sockaddr_storage address;
	pthread_t thread;
	int rc; /**< of perf_run() */
	struct end end;
};

static void *
serve(void *arg)
{
	struct scene *scene = arg;

	scene->rc = perf_run(&scene->options, NULL);
	return NULL;
}

static void
open_scene(struct scene *scene)
{
	const char *words[] = { "dat-perf", "-D", "loop1", "-p", "4812", "-q", "2", NULL };
	struct perf_plan plan;
	struct end server;

	assert_int_equal(perf_options_read(&scene->options, 7, (char **)(uintptr_t)words), -1);
	assert_int_equal(perf_plan_make(&scene->options, scene->options.size, &plan), 0);
	scene->hello = (struct perf_hello){
		.test = (uint8_t)scene->options.test,
		.size = plan.size,
		.endpoints = ENDPOINTS,
		.iterations = plan.iterations,
		.warmup = plan.warmup,
	};
	end_open(&server, "loop1", NULL);
	scene->address = server.address;
	end_close(&server);
	end_open(&scene->end, "loop0", NULL);
	cli_begin("test_perf_server");
	cli_signals_catch();
	assert_int_equal(pthread_create(&scene->thread, NULL, serve, scene), 0);
}

/* Ask for endpoint @p index, or the control connection, with an endpoint of our own. @return the answer. */
static DAT_EVENT_NUMBER
ask(struct scene *scene, uint32_t index, DAT_EP_HANDLE *ep)
{
	uint8_t bytes[PERF_HELLO_LEN];
	DAT_COUNT more;
	DAT_EVENT event;

	ok(dat_ep_create(scene->end.ia, scene->end.pz, scene->end.recv, scene->end.request,
			scene->end.connect, NULL, ep));
	scene->hello.index = index;
	perf_hello_encode(&scene->hello, bytes);
	ok(dat_ep_connect(*ep, (DAT_IA_ADDRESS_PTR)&scene->address, PORT, PATIENCE_US,
			sizeof(bytes), bytes, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	ok(dat_evd_wait(scene->end.connect, PATIENCE_US, 1, &event, &more));
	return event.event_number;
}

static void
want_answer(struct scene *scene, uint32_t index, DAT_EVENT_NUMBER number)
{
	DAT_EP_HANDLE ep;

	assert_int_equal(ask(scene, index, &ep), number);
}

/* The control connection, as soon as the server listens, and waits for a client. */
static DAT_EP_HANDLE
become_client(struct scene *scene)
{
	DAT_EVENT_NUMBER number;
	DAT_EP_HANDLE ep;

	do {
		number = ask(scene, PERF_HELLO_CONTROL, &ep);
		assert_int_not_equal(number, DAT_CONNECTION_EVENT_UNREACHABLE);
		if (number != DAT_CONNECTION_EVENT_ESTABLISHED)
			ok(dat_ep_free(ep));
	} while (number != DAT_CONNECTION_EVENT_ESTABLISHED);
	return ep;
}

/* Others ask for the place of the client until the server ends its connection; then one of them has it. */
static void
ask_until_it_ends(struct scene *scene)
{
	uint64_t end = perf_now() + __real_perf_hz() / 1000000 * PATIENCE_US;
	DAT_EVENT_NUMBER number;
	DAT_EP_HANDLE other;
	DAT_COUNT more;
	DAT_EVENT event;

	do {
		number = ask(scene, PERF_HELLO_CONTROL, &other);
		assert_int_not_equal(number, DAT_CONNECTION_EVENT_ESTABLISHED);
		assert_true(perf_now() < end);
		if (number != DAT_CONNECTION_EVENT_DISCONNECTED)
			ok(dat_ep_free(other));
	} while (number != DAT_CONNECTION_EVENT_DISCONNECTED);
	/* The last of them may have asked the server as it was before, or as it is. */
	ok(dat_evd_wait(scene->end.connect, PATIENCE_US, 1, &event, &more));
	if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
		become_client(scene);
}

/* One request for each endpoint, the control connection first: others are rejected, and the client is still expected. */
static void
server__takes_each_request_of_its_client_once(void **state)
{
	/* The thread of a test that fails outlives it. */
	static struct scene scene;
	DAT_EP_HANDLE control;

	open_scene(&scene);
	control = become_client(&scene);
	want_answer(&scene, PERF_HELLO_CONTROL, DAT_CONNECTION_EVENT_PEER_REJECTED);
	want_answer(&scene, 0, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_answer(&scene, 0, DAT_CONNECTION_EVENT_PEER_REJECTED);
	want_answer(&scene, ENDPOINTS, DAT_CONNECTION_EVENT_PEER_REJECTED);

	/* The client goes before all is connected: another one may come. */
	ok(dat_ep_disconnect(control, DAT_CLOSE_ABRUPT_FLAG));
	want_event(scene.end.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_event(scene.end.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	control = become_client(&scene);
	ok(dat_ep_disconnect(control, DAT_CLOSE_ABRUPT_FLAG));
	want_event(scene.end.connect, DAT_CONNECTION_EVENT_DISCONNECTED);

	/* So may one after a client with other options. */
	scene.hello.size++;
	become_client(&scene);
	scene.hello.size--;
	want_event(scene.end.connect, DAT_CONNECTION_EVENT_DISCONNECTED);

	/* And one after a client that lives, but says nothing more for 30 seconds. */
	hurry(true);
	become_client(&scene);
	want_event(scene.end.connect, DAT_CONNECTION_EVENT_DISCONNECTED);

	/* Clients that are turned away meanwhile do not keep its place for it, whatever the intervals at which they ask. */
	become_client(&scene);
	ask_until_it_ends(&scene);
	hurry(false);

	/* Its user ends it, and it has failed at nothing. */
	assert_int_equal(raise(SIGINT), 0);
	pthread_join(scene.thread, NULL);
	assert_int_equal(scene.rc, 0);
	assert_null(cli_said());
	end_close(&scene.end);
}

/* Behind the first of several sizes (--all) the client is known: one that does not come back ends the run. */
static void
server__waits_30_seconds_for_its_client_between_two_sizes(void **state)
{
	const char *words[] = { "dat-perf", "-D", "loop1", "-p", "4812", "--all", NULL };
	struct perf_adapter adapter;
	struct perf_options options;
	struct perf_plan plan;
	struct perf_end end;

	assert_int_equal(perf_options_read(&options, 6, (char **)(uintptr_t)words), -1);
	assert_int_equal(perf_plan_make(&options, options.size, &plan), 0);
	cli_begin("test_perf_server");
	assert_int_equal(perf_adapter_open(&adapter, options.ia), 0);
	assert_int_equal(perf_adapter_listen(&adapter, PORT, ENDPOINTS), 0);
	assert_int_equal(perf_end_create(&end, &adapter, &options, &plan, 1, PERF_END_CONTROL), 0);
	hurry(true);
	assert_int_equal(perf_connect_alone(&end), -1);
	hurry(false);
	assert_false(end.link.lost);
	assert_non_null(strstr(cli_said(), "no answer for too long"));
	assert_int_equal(perf_end_destroy(&end), 0);
	assert_int_equal(perf_adapter_close(&adapter), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(server__waits_30_seconds_for_its_client_between_two_sizes),
		dat_test(server__takes_each_request_of_its_client_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
