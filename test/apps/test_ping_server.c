/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of dat-ping, on loop1, against clients on loop0 that do not behave. Each loses its place, and the next one is served.
 * The server's seconds are the test's.
 */
#include "../vdev/dat_pair.h"

#include <endian.h>

#include "cli/cli.h"
#include "ping/serve.h"
#include "withhold.h"

#define PORT  4813
#define SIZE  64u
#define MAGIC 0x64415469u

struct scene {
	struct ping_server server;
	struct sockaddr_storage address;
	struct end end;
	unsigned int gone; /**< clients of the server that have gone */
};

static void
step(struct scene *scene)
{
	bool busy;
	int rc = ping_serve_step(&scene->server, &busy);

	assert_true(rc >= 0);
	scene->gone += rc > 0;
}

static void
open_scene(struct scene *scene)
{
	cli_begin("test_ping_server");
	*scene = (struct scene){ .gone = 0 };
	assert_int_equal(link_open(&scene->server.link, "loop1", PORT), 0);
	assert_int_equal(link_address(&scene->server.link, &scene->address), 0);
	end_open(&scene->end, "loop0", NULL);
}

static void
close_scene(struct scene *scene)
{
	end_close(&scene->end);
	assert_int_equal(link_release(&scene->server.link), 0);
	assert_int_equal(link_close(&scene->server.link), 0);
}

/* The next event at the client's dispatcher, while the server works. */
static DAT_EVENT
await(struct scene *scene, DAT_EVD_HANDLE evd)
{
	double end = cli_seconds() + PATIENCE_US / 1e6;
	DAT_EVENT event;

	while (dat_evd_dequeue(evd, &event) != DAT_SUCCESS) {
		step(scene);
		assert_true(cli_seconds() < end);
	}
	return event;
}

/* A client asks for a place, for messages of SIZE bytes. */
static DAT_EP_HANDLE
ask(struct scene *scene)
{
	uint32_t hello[] = { htobe32(MAGIC), htobe32(SIZE) };
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(scene->end.ia, scene->end.pz, scene->end.recv, scene->end.request,
			scene->end.connect, NULL, &ep));
	ok(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&scene->address, PORT, PATIENCE_US, sizeof(hello),
			hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	return ep;
}

static DAT_EP_HANDLE
become_client(struct scene *scene)
{
	DAT_EP_HANDLE ep = ask(scene);

	assert_int_equal(await(scene, scene->end.connect).event_number,
			DAT_CONNECTION_EVENT_ESTABLISHED);
	while (!scene->server.up)
		step(scene);
	return ep;
}

static void
send_message(struct scene *scene, DAT_EP_HANDLE ep, uint32_t size)
{
	DAT_LMR_TRIPLET message = segment(&scene->end, 0, size);
	DAT_DTO_COOKIE cookie = { .as_64 = 0 };

	ok(dat_ep_post_send(ep, 1, &message, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void
take_answer(struct scene *scene, DAT_EP_HANDLE ep)
{
	DAT_LMR_TRIPLET answer = segment(&scene->end, SIZE, SIZE);
	DAT_DTO_COOKIE cookie = { .as_64 = 0 };

	ok(dat_ep_post_recv(ep, 1, &answer, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void
want_round(struct scene *scene, DAT_EP_HANDLE ep)
{
	memset(scene->end.buffer, 0x5a, SIZE);
	memset(scene->end.buffer + SIZE, 0, SIZE);
	take_answer(scene, ep);
	send_message(scene, ep, SIZE);
	(void)await(scene, scene->end.recv);
	assert_memory_equal(scene->end.buffer + SIZE, scene->end.buffer, SIZE);
}

/* The client has no place any more, and has been told. */
static void
want_end(struct scene *scene, DAT_EP_HANDLE ep)
{
	DAT_EVENT event = await(scene, scene->end.connect);

	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, ep);
	assert_int_not_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_free(ep));
	while (dat_evd_dequeue(scene->end.recv, &event) == DAT_SUCCESS)
		;
}

/* A good client is served, and goes. */
static void
want_service(struct scene *scene)
{
	unsigned int gone = scene->gone;
	DAT_EP_HANDLE ep = become_client(scene);

	want_round(scene, ep);
	ok(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_end(scene, ep);
	while (scene->gone == gone)
		step(scene);
	assert_null(cli_said());
}

static void
client__with_messages_of_another_size_loses_its_place(void **state)
{
	static const uint32_t sizes[] = { SIZE - 1, SIZE + 1, BUFFER_LEN };
	struct scene scene;

	open_scene(&scene);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		DAT_EP_HANDLE ep = become_client(&scene);

		send_message(&scene, ep, sizes[i]);
		want_end(&scene, ep);
		want_service(&scene);
	}
	assert_int_equal(scene.gone, 6);
	close_scene(&scene);
}

/* It asks to be tried again for ever, and the server has a limit of its own. */
static void
client__that_takes_no_answer_loses_its_place(void **state)
{
	struct scene scene;
	DAT_EP_HANDLE ep;

	open_scene(&scene);
	ep = become_client(&scene);
	send_message(&scene, ep, SIZE);
	while (scene.server.life.held == 0)
		step(&scene);
	scene.server.runtime.now = scene.server.life.moved_at + CLI_STALL_S - 1;
	step(&scene);
	assert_int_equal(scene.gone, 0);
	scene.server.runtime.now = scene.server.life.moved_at + CLI_STALL_S;
	want_end(&scene, ep);
	assert_int_equal(scene.gone, 1);
	want_service(&scene);
	close_scene(&scene);
}

/* Its adapter is closed as soon as the server has accepted, so the last message of the handshake never comes. */
static void
client__that_gives_up_while_it_is_accepted_loses_its_place(void **state)
{
	double end = cli_seconds() + PATIENCE_US / 1e6;
	struct scene scene;

	open_scene(&scene);
	(void)ask(&scene);
	while (scene.server.link.ep == DAT_HANDLE_NULL) {
		step(&scene);
		assert_true(cli_seconds() < end);
	}
	end_close(&scene.end);
	while (scene.server.link.ep != DAT_HANDLE_NULL) {
		step(&scene);
		assert_false(scene.server.up);
		assert_true(cli_seconds() < end);
	}
	/* It was no client. */
	assert_int_equal(scene.gone, 0);
	end_open(&scene.end, "loop0", NULL);
	want_service(&scene);
	close_scene(&scene);
}

/* The server has accepted, and hears neither RTU nor message. The connection manager would wait for longer. */
static void
client__that_never_confirms_loses_its_place(void **state)
{
	struct scene scene;
	DAT_EP_HANDLE ep;

	open_scene(&scene);
	withheld = scene.server.link.conn_evd;
	ep = ask(&scene);
	assert_int_equal(await(&scene, scene.end.connect).event_number,
			DAT_CONNECTION_EVENT_ESTABLISHED);
	scene.server.runtime.now = scene.server.life.message_at + CLI_STALL_S - 1;
	step(&scene);
	assert_ptr_not_equal(scene.server.link.ep, DAT_HANDLE_NULL);
	scene.server.runtime.now = scene.server.life.message_at + CLI_STALL_S;
	step(&scene);
	withheld = DAT_HANDLE_NULL;
	assert_ptr_equal(scene.server.link.ep, DAT_HANDLE_NULL);
	/* It was no client. */
	assert_int_equal(scene.gone, 0);
	want_end(&scene, ep);
	want_service(&scene);
	close_scene(&scene);
}

/* A client that lives keeps its place until another one asks for it. */
static void
client__that_says_nothing_for_long_makes_room_for_another(void **state)
{
	struct scene scene;
	DAT_EP_HANDLE ep, other;
	DAT_EVENT event;

	open_scene(&scene);
	ep = become_client(&scene);
	want_round(&scene, ep);
	scene.server.runtime.now = scene.server.life.message_at + CLI_IDLE_S - 1;
	other = ask(&scene);
	event = await(&scene, scene.end.connect);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, other);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	ok(dat_ep_free(other));
	assert_int_equal(scene.gone, 0);
	scene.server.runtime.now = scene.server.life.message_at + CLI_IDLE_S;
	for (unsigned int i = 0; i < 1000; i++)
		step(&scene);
	assert_int_equal(scene.gone, 0);
	other = ask(&scene);
	want_end(&scene, ep);
	assert_int_equal(await(&scene, scene.end.connect).event_number,
			DAT_CONNECTION_EVENT_ESTABLISHED);
	want_round(&scene, other);
	assert_int_equal(scene.gone, 1);
	close_scene(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(client__with_messages_of_another_size_loses_its_place),
		dat_test(client__that_takes_no_answer_loses_its_place),
		dat_test(client__that_gives_up_while_it_is_accepted_loses_its_place),
		dat_test(client__that_never_confirms_loses_its_place),
		dat_test(client__that_says_nothing_for_long_makes_room_for_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
