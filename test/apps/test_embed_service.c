/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service of roce-embed on loop0, against clients on loop1 that leave as they like: whatever was under way, every
 * buffer is on the shared receive queue again.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../verbs/rig.h"

#include "../limit.h"
#include "cli/clock.h"
#include "cli/liveness.h"
#include "service.h"

#define MANY  64u /**< messages of one client: more than the service handles at once */
#define POLLS 64

static double ahead; /**< seconds by which the service's clock goes ahead */

/* In place of the programs' own. */
double
cli_runtime_step(struct cli_runtime *runtime)
{
	runtime->now = cli_seconds() + ahead;
	return runtime->now;
}

double
cli_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct scene {
	struct roce_device *at, *from; /**< of the service, of its clients */
	struct service *service;
	struct end end; /**< of the clients; its queue pair and id are those of the one there is */
	struct roce_cq *cq; /**< of the queue pair: everything that it posts may complete at once */
};

static int
open_scene(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->at = open_device("port=loop0,size=1024 ip=192.0.2.1/24 mtu=256");
	scene->from = open_device("port=loop1,size=1024 ip=192.0.2.2/24 mtu=256");
	assert_int_equal(service_start(scene->at, PORT, &scene->service), 0);
	end_join(&scene->end, scene->from);
	assert_int_equal(roce_cq_create(scene->end.context, 2 * SERVICE_BUFFERS, NULL, &scene->cq),
			0);
	*state = scene;
	return 0;
}

static int
close_scene(void **state)
{
	struct scene *scene = *state;

	service_stop(scene->service);
	assert_int_equal(roce_cq_destroy(scene->cq), 0);
	end_leave(&scene->end);
	roce_device_close(scene->from);
	roce_device_close(scene->at);
	free(scene);
	return 0;
}

/* The devices alone: the service sees nothing of it yet. */
static void
poll_devices(struct scene *scene)
{
	for (unsigned int calm = 0; calm < POLLS; calm++)
		if (roce_device_poll(scene->at) + roce_device_poll(scene->from) > 0)
			calm = 0;
}

static void
poll_all(struct scene *scene)
{
	for (unsigned int calm = 0; calm < 4; calm++) {
		poll_devices(scene);
		if (service_poll(scene->service) > 0)
			calm = 0;
	}
}

static uint32_t
clients(const struct scene *scene)
{
	struct service_counts counts;

	service_counts(scene->service, &counts);
	return counts.clients;
}

/* A client that may send as many messages as the service has buffers. */
static void
connect_client(struct scene *scene)
{
	struct end *end = &scene->end;
	struct roce_qp_attr attr = { .pd = end->pd,
		.send_cq = scene->cq,
		.recv_cq = scene->cq,
		.max_send_wr = SERVICE_BUFFERS,
		.max_recv_wr = SERVICE_BUFFERS,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.owner = end };
	struct roce_cm_event_info event;
	struct roce_cm_conn_param ask;
	uint32_t before = clients(scene);

	assert_int_equal(roce_qp_create(&attr, &end->qp), 0);
	assert_int_equal(roce_cm_id_create(end->context, end, &end->id), 0);
	ask = param_of(end->qp, NULL);
	assert_int_equal(roce_cm_id_connect(end->id, ip_a, PORT, &ask, UINT64_MAX), 0);
	poll_all(scene);
	assert_int_equal(roce_cm_poll(end->context, &event), 1);
	assert_int_equal(event.type, ROCE_CM_EVENT_ESTABLISHED);
	assert_int_equal(clients(scene), before + 1);
}

/* The client is gone from one moment to the next; its DREQ is on its way. */
static void
vanish(struct scene *scene)
{
	struct end *end = &scene->end;
	struct roce_event event;

	roce_cm_id_destroy(end->id);
	while (roce_cq_poll(scene->cq, &event, 1) == 1)
		continue;
	roce_qp_destroy(end->qp);
	end->id = NULL;
	end->qp = NULL;
}

static void
send_many(struct scene *scene, unsigned int n, uint32_t length)
{
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(post_send(&scene->end, wr, 0, length), 0);
}

static uint64_t
refusals(const struct scene *scene)
{
	const char *name;
	uint64_t value;

	for (unsigned int i = 0; roce_device_counter(scene->from, i, &name, &value); i++)
		if (strcmp(name, "rnr_nak_received") == 0)
			return value;
	fail_msg("there is no such counter");
	return 0;
}

/* As many messages as there are buffers find one each, while the service does not lift a finger; and all come back. */
static void
want_all_buffers(struct scene *scene)
{
	uint64_t before = refusals(scene);
	unsigned int back = 0;
	struct roce_event event;

	poll_all(scene);
	assert_int_equal(clients(scene), 0);
	connect_client(scene);
	for (unsigned int i = 0; i < SERVICE_BUFFERS; i++)
		assert_int_equal(post_recv(&scene->end, scene->end.qp, i, 4096, 64), 0);
	send_many(scene, SERVICE_BUFFERS, 64);
	poll_devices(scene);
	assert_int_equal(refusals(scene), before);
	poll_all(scene);
	while (roce_cq_poll(scene->cq, &event, 1) == 1) {
		assert_int_equal(event.status, ROCE_WC_SUCCESS);
		back += event.kind == ROCE_EVENT_RECV;
	}
	assert_int_equal(back, SERVICE_BUFFERS);
	vanish(scene);
	poll_all(scene);
	assert_int_equal(clients(scene), 0);
}

/* The service and its device work, and the clients' too if they live, until one of them has lost its place. */
static void
poll_until_gone(struct scene *scene, bool alive)
{
	double end = cli_seconds() + test_limit_s();
	uint32_t before = clients(scene);

	while (clients(scene) == before) {
		roce_device_poll(scene->at);
		if (alive)
			roce_device_poll(scene->from);
		service_poll(scene->service);
		assert_true(cli_seconds() < end);
	}
}

/* It posts no receives and asks to be tried again for ever: its buffers come back in the service's own time. */
static void
client__that_takes_no_answers_is_let_go(void **state)
{
	struct scene *scene = *state;

	connect_client(scene);
	send_many(scene, SERVICE_BUFFERS / 2 + MANY, 64);
	poll_until_gone(scene, true);
	vanish(scene);
	want_all_buffers(scene);
}

/* The others stay when what the largest had is enough, though they stall for longer. */
static void
client__that_holds_few_buffers_stays_while_another_holds_more(void **state)
{
	struct scene *scene = *state;
	struct roce_cm_event_info event;
	struct end few;

	connect_client(scene);
	send_many(scene, 1, 64);
	poll_all(scene);
	few = scene->end;
	ahead += CLI_SCARCE_STALL_S;
	connect_client(scene);
	send_many(scene, SERVICE_BUFFERS / 2, 64);
	poll_until_gone(scene, true);
	poll_all(scene);
	assert_int_equal(clients(scene), 1);
	assert_int_equal(roce_cm_poll(scene->end.context, &event), 1);
	assert_ptr_equal(event.id, scene->end.id);
	vanish(scene);
	scene->end = few;
	vanish(scene);
	want_all_buffers(scene);
}

/* One receive a second keeps it in acknowledgements, and nearly all of its buffers in use. */
static void
client__that_takes_answers_slowly_is_let_go(void **state)
{
	struct scene *scene = *state;
	struct roce_event event;
	double end = cli_seconds() + test_limit_s();

	connect_client(scene);
	send_many(scene, MANY, 64);
	poll_all(scene);
	for (unsigned int taken = 0; clients(scene) > 0; taken++) {
		assert_true(taken <= 2 * CLI_STALL_S);
		(void)post_recv(&scene->end, scene->end.qp, 0, 4096, 64);
		do {
			poll_all(scene);
			assert_true(cli_seconds() < end);
		} while (roce_cq_poll(scene->cq, &event, 1) == 0 || event.kind != ROCE_EVENT_RECV);
		ahead += 1;
		poll_all(scene);
	}
	vanish(scene);
	want_all_buffers(scene);
}

/* A message takes a buffer when its first packet comes. The others do not: its client is there, and sends no more. */
static void
client__that_ends_no_message_is_let_go(void **state)
{
	struct scene *scene = *state;
	struct service_counts counts;

	connect_client(scene);
	send_many(scene, 1, SERVICE_BUFFER_SIZE);
	roce_device_poll(scene->from);
	roce_device_poll(scene->at);
	/* The service sees that a message is arriving; so it does much later. */
	ahead += 1;
	service_poll(scene->service);
	ahead += CLI_STALL_S;
	service_poll(scene->service);
	poll_until_gone(scene, true);
	service_counts(scene->service, &counts);
	assert_int_equal(counts.messages, 0);
	vanish(scene);
	want_all_buffers(scene);
}

/* Its host is down, and it was owed nothing. */
static void
client__that_is_dead_is_let_go(void **state)
{
	struct scene *scene = *state;

	connect_client(scene);
	poll_until_gone(scene, false);
	vanish(scene);
	want_all_buffers(scene);
}

/* Ask for a place, with a queue pair of its own. @return whether there was one. */
static bool
find_place(struct scene *scene, struct roce_cm_id **id, struct roce_qp **qp)
{
	struct end *end = &scene->end;
	struct roce_qp_attr attr = {
		.pd = end->pd, .send_cq = scene->cq, .recv_cq = scene->cq, .owner = end
	};
	struct roce_cm_event_info event;
	struct roce_cm_conn_param ask;

	assert_int_equal(roce_qp_create(&attr, qp), 0);
	assert_int_equal(roce_cm_id_create(end->context, NULL, id), 0);
	ask = param_of(*qp, NULL);
	assert_int_equal(roce_cm_id_connect(*id, ip_a, PORT, &ask, UINT64_MAX), 0);
	do
		poll_all(scene);
	while (roce_cm_poll(end->context, &event) != 1 || event.id != *id);
	return event.type == ROCE_CM_EVENT_ESTABLISHED;
}

/* All places are taken by clients that are there and say nothing: the one that has been for longest goes when another asks. */
static void
place__of_an_idle_client_goes_to_another(void **state)
{
	static struct roce_cm_id *id[SERVICE_CLIENTS_MAX + 2];
	static struct roce_qp *qp[SERVICE_CLIENTS_MAX + 2];
	struct scene *scene = *state;
	unsigned int n;

	for (n = 0; n < SERVICE_CLIENTS_MAX; n++)
		assert_true(find_place(scene, &id[n], &qp[n]));
	ahead += CLI_IDLE_S;
	assert_false(find_place(scene, &id[n], &qp[n]));
	poll_all(scene);
	n++;
	assert_true(find_place(scene, &id[n], &qp[n]));
	for (unsigned int i = 0; i <= n; i++) {
		roce_cm_id_destroy(id[i]);
		roce_qp_destroy(qp[i]);
	}
	want_all_buffers(scene);
}

/* Its messages have arrived, and so has its DREQ, before the service looks at either. */
static void
client__leaves_before_its_messages_are_looked_at(void **state)
{
	struct scene *scene = *state;

	connect_client(scene);
	send_many(scene, MANY, 64);
	poll_devices(scene);
	vanish(scene);
	poll_devices(scene);
	want_all_buffers(scene);
}

/* It takes no answers: they wait, and are flushed, more than the service handles at once. */
static void
client__leaves_without_taking_its_answers(void **state)
{
	struct scene *scene = *state;

	connect_client(scene);
	send_many(scene, MANY, 64);
	poll_devices(scene);
	service_poll(scene->service);
	service_poll(scene->service);
	poll_devices(scene);
	vanish(scene);
	poll_devices(scene);
	want_all_buffers(scene);
}

/* A message that no buffer can hold breaks the connection. */
static void
client__breaks_in_mid_traffic(void **state)
{
	struct scene *scene = *state;

	connect_client(scene);
	send_many(scene, MANY / 2, 64);
	send_many(scene, 1, SERVICE_BUFFER_SIZE + 1);
	send_many(scene, MANY / 2, 64);
	poll_all(scene);
	vanish(scene);
	want_all_buffers(scene);
}

/* The service goes first, with everything under way: what it leaves open, close_scene() would stumble over. */
static void
service__stops_in_mid_traffic(void **state)
{
	struct scene *scene = *state;
	struct roce_cm_event_info event;

	connect_client(scene);
	send_many(scene, MANY, 64);
	poll_devices(scene);
	service_poll(scene->service);
	service_stop(scene->service);
	scene->service = NULL;
	poll_devices(scene);
	assert_int_equal(roce_cm_poll(scene->end.context, &event), 1);
	assert_int_equal(event.type, ROCE_CM_EVENT_DISCONNECTED);
	/* The door is free for another. */
	assert_int_equal(service_start(scene->at, PORT, &scene->service), 0);
	vanish(scene);
	want_all_buffers(scene);
}

int
main(void)
{
#define rule(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
	const struct CMUnitTest tests[] = {
		rule(client__leaves_before_its_messages_are_looked_at),
		rule(client__leaves_without_taking_its_answers),
		rule(client__that_takes_no_answers_is_let_go),
		rule(client__that_holds_few_buffers_stays_while_another_holds_more),
		rule(client__that_is_dead_is_let_go),
		rule(client__that_ends_no_message_is_let_go),
		rule(client__that_takes_answers_slowly_is_let_go),
		rule(place__of_an_idle_client_goes_to_another),
		rule(client__breaks_in_mid_traffic),
		rule(service__stops_in_mid_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
