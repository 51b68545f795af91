/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of dat-srqd, on loop0, against clients on loop1 that do not behave. No client can stop the server or its
 * other clients, and when all have gone, every buffer is back.
 */
#include "../vdev/dat_pair.h"

#include "cli/clock.h"
#include "clients.h"
#include "hello.h"
#include "server.h"
#include "withhold.h"

#define PORT   4811
#define DEPTH  16
#define SIZE   256
#define WINDOW 4
/* Polls of the server in which what must happen, happens. */
#define POLLS 200000

static const struct srqd_options defaults = {
	.mode = SRQD_SERVER,
	.port = PORT,
	.size = SIZE,
	.window = WINDOW,
	.depth = DEPTH,
	.max_depth = DEPTH,
	.low = 4,
	.max_clients = 2,
	.stall_s = 3600,
	.clients = 1,
	.messages = 100,
};

/* A client without manners, and the server. */
struct scene {
	struct srqd_options options;
	struct server server;
	struct end end;
};

static void
open_scene(struct scene *scene, const struct srqd_options *options)
{
	scene->options = *options;
	assert_int_equal(server_open(&scene->server, &scene->options, "loop0"), 0);
	end_open(&scene->end, "loop1", NULL);
}

static void
poll_once(struct scene *scene)
{
	assert_true(server_step(&scene->server) >= 0);
}

/* The next event at the client's dispatcher, while the server works. */
static DAT_EVENT
await(struct scene *scene, DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	for (int i = 0; i < POLLS; i++) {
		poll_once(scene);
		if (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
			return event;
	}
	fail_msg("no event comes");
	return event;
}

/* Both ends work until that is so. */
static void
poll_until(struct scene *scene, bool (*is_so)(const struct scene *scene))
{
	double end = cli_seconds() + PATIENCE_US / 1e6;
	DAT_EVENT event;

	while (!is_so(scene)) {
		poll_once(scene);
		dat_evd_dequeue(scene->end.request, &event);
		assert_true(cli_seconds() < end);
	}
}

static DAT_RETURN
request(struct scene *scene, DAT_EP_HANDLE ep, const void *bytes, DAT_COUNT len)
{
	struct sockaddr_storage address;
	uint8_t copy[64];

	memcpy(copy, bytes, (size_t)len);
	assert_int_equal(server_address(&scene->server, &address), 0);
	return dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, PORT, PATIENCE_US, len, copy,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static void
request_place(struct scene *scene, DAT_EP_HANDLE ep)
{
	const struct srqd_hello hello = { .size = SIZE, .window = WINDOW };
	uint8_t bytes[SRQD_HELLO_LEN];

	srqd_hello_encode(&hello, bytes);
	ok(request(scene, ep, bytes, sizeof(bytes)));
}

static DAT_EVENT
say_hello(struct scene *scene, DAT_EP_HANDLE ep)
{
	request_place(scene, ep);
	return await(scene, scene->end.connect);
}

static void
want_gone(struct scene *scene)
{
	for (int i = 0; i < POLLS && scene->server.present > 0; i++) {
		DAT_EVENT event;

		poll_once(scene);
		dat_evd_dequeue(scene->end.connect, &event);
	}
	assert_int_equal(scene->server.present, 0);
	assert_int_equal(refill_audit(&scene->server.refill), 0);
}

/* A good client is served as ever. */
static void
want_good_service(struct scene *scene)
{
	struct sockaddr_storage address;
	struct clients clients;

	assert_int_equal(server_address(&scene->server, &address), 0);
	assert_int_equal(clients_open(&clients, &scene->options, "loop1", &address), 0);
	for (int i = 0; i < POLLS && !clients_done(&clients); i++) {
		poll_once(scene);
		assert_true(clients_step(&clients) >= 0);
	}
	assert_true(clients_done(&clients));
	assert_int_equal(clients.answered, scene->options.sink ? 0 : scene->options.messages);
	assert_int_equal(clients_close(&clients), 0);
}

static void
close_scene(struct scene *scene)
{
	want_good_service(scene);
	want_gone(scene);
	end_close(&scene->end);
	assert_int_equal(server_close(&scene->server), 0);
}

/* A request with the wrong private data is rejected: such a peer's messages would mean nothing to the server. */
static void
request__of_an_unknown_peer_is_rejected(void **state)
{
	struct scene scene;
	DAT_EVENT event;

	open_scene(&scene, &defaults);
	ok(request(&scene, scene.end.ep, "what is this, then?!", 20));
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	assert_int_equal(scene.server.totals.turned_away, 1);
	assert_int_equal(scene.server.totals.clients, 0);
	close_scene(&scene);
}

static void
request__beyond_max_clients_is_rejected_until_one_leaves(void **state)
{
	struct srqd_options options = defaults;
	DAT_EP_HANDLE second;
	struct scene scene;
	DAT_EVENT event;

	options.max_clients = 1;
	open_scene(&scene, &options);
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &second));
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	event = say_hello(&scene, second);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	ok(dat_ep_disconnect(scene.end.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_gone(&scene);
	ok(dat_ep_reset(second));
	event = say_hello(&scene, second);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_disconnect(second, DAT_CLOSE_GRACEFUL_FLAG));
	want_gone(&scene);
	assert_int_equal(scene.server.totals.clients, 2);
	assert_int_equal(scene.server.totals.turned_away, 1);
	close_scene(&scene);
}

static void
message__longer_than_a_buffer_ends_its_client_only(void **state)
{
	struct scene scene;
	DAT_EVENT event;

	open_scene(&scene, &defaults);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_send(&scene.end, 0, SIZE + 1, 1));
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
	want_gone(&scene);
	assert_int_equal(scene.server.totals.lost, 1);
	close_scene(&scene);
}

/*
 * A client that takes no answers: they fill its send queue at the server, then they wait, and beyond its window it is
 * thrown out. It never holds more than the two windows of the send queue and one and a message of those that wait.
 */
static void
client__beyond_its_window_is_thrown_out(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;
	DAT_EVENT event;
	uint32_t sent = 0;

	options.depth = options.max_depth = 64;
	open_scene(&scene, &options);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (int i = 0; i < POLLS && scene.server.totals.lost == 0; i++) {
		poll_once(&scene);
		if (sent < 60 && post_send(&scene.end, 0, SIZE, 1) == DAT_SUCCESS)
			sent++;
		dat_evd_dequeue(scene.end.request, &event);
	}
	assert_int_equal(scene.server.totals.lost, 1);
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	assert_int_equal(scene.server.guests[0].most_held, 3 * WINDOW + 1);
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_gone(&scene);
	assert_int_equal(scene.server.guests[0].life.held, 0);
	close_scene(&scene);
}

static bool
one_is_lost(const struct scene *scene)
{
	return scene->server.totals.lost == 1;
}

/* Connect a client that posts no receive, and have it send so many messages: they are there. */
static void
send_without_receives(struct scene *scene, uint32_t messages)
{
	DAT_EVENT event = say_hello(scene, scene->end.ep);
	const struct guest *guest = &scene->server.guests[scene->server.places - 1];

	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (uint32_t sent = 0; guest->messages < messages;) {
		poll_once(scene);
		if (sent < messages && post_send(&scene->end, 0, SIZE, 1) == DAT_SUCCESS)
			sent++;
		dat_evd_dequeue(scene->end.request, &event);
	}
	assert_int_equal(guest->life.held, messages);
}

/* The client asks to be tried again for ever, and the server does not: the buffers come back in its own time. */
static void
client__that_takes_no_answer_gives_back_its_buffers(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;

	options.stall_s = 1;
	open_scene(&scene, &options);
	send_without_receives(&scene, 2);
	want_good_service(&scene);
	poll_until(&scene, one_is_lost);
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	want_gone(&scene);
	close_scene(&scene);
}

/* Where others could run out of buffers, it has a second, however long it may have otherwise. */
static void
client__that_holds_most_buffers_has_a_second(void **state)
{
	struct scene scene;

	open_scene(&scene, &defaults);
	send_without_receives(&scene, DEPTH / 2 + 1);
	want_good_service(&scene);
	poll_until(&scene, one_is_lost);
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	want_gone(&scene);
	close_scene(&scene);
}

static bool
first_stalls(const struct scene *scene)
{
	return scene->server.now - scene->server.guests[0].life.moved_at >= CLI_SCARCE_STALL_S;
}

/* The others stay when what the largest had is enough, though they stall for longer. */
static void
client__that_holds_few_buffers_stays_while_another_holds_more(void **state)
{
	struct scene scene;
	DAT_EP_HANDLE few;

	open_scene(&scene, &defaults);
	send_without_receives(&scene, 1);
	poll_until(&scene, first_stalls);
	few = scene.end.ep;
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &scene.end.ep));
	send_without_receives(&scene, DEPTH / 2);
	poll_until(&scene, one_is_lost);
	assert_null(scene.server.guests[0].ended);
	assert_string_equal(scene.server.guests[1].ended, "thrown out");
	ok(dat_ep_disconnect(few, DAT_CLOSE_ABRUPT_FLAG));
	want_gone(&scene);
	close_scene(&scene);
}

/* The server has accepted, and hears neither RTU nor message. The connection manager would wait for longer. */
static void
client__that_never_confirms_loses_its_place(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;
	DAT_EVENT event;

	options.max_clients = 1;
	options.stall_s = 1;
	open_scene(&scene, &options);
	withheld = scene.server.conn_evd;
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_int_equal(scene.server.guests[0].state, GUEST_COMING);
	poll_until(&scene, one_is_lost);
	withheld = DAT_HANDLE_NULL;
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	want_gone(&scene);
	close_scene(&scene);
}

/* It acknowledges one answer after the other, but so slowly that all its buffers are in use at all times. */
static void
client__that_takes_answers_slowly_gives_back_its_buffers(void **state)
{
	struct srqd_options options = defaults;
	double end = cli_seconds() + PATIENCE_US / 1e6, next = 0;
	struct scene scene;

	options.stall_s = 1;
	open_scene(&scene, &options);
	send_without_receives(&scene, WINDOW);
	while (!one_is_lost(&scene)) {
		DAT_EVENT event;

		if (cli_seconds() >= next) {
			next = cli_seconds() + 0.5;
			(void)post_recv(&scene.end, 0, SIZE, 1);
			(void)post_send(&scene.end, 0, SIZE, 1);
		}
		poll_once(&scene);
		dat_evd_dequeue(scene.end.request, &event);
		assert_true(cli_seconds() < end);
	}
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	want_gone(&scene);
	close_scene(&scene);
}

/* The number of buffers that dat_ep_recv_query() reports for each endpoint; libdat's own function is not called. */
static DAT_COUNT taken;

DAT_RETURN
dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated, DAT_COUNT *bufs_alloc_span)
{
	(void)ep_handle;
	*nbufs_allocated = taken;
	if (bufs_alloc_span != NULL)
		*bufs_alloc_span = taken;
	return DAT_SUCCESS;
}

/* A message takes a buffer of all when it begins. One that does not end holds it as long as its client is let. */
static void
client__that_ends_no_message_gives_back_its_buffer(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;
	DAT_EVENT event;

	options.stall_s = 1;
	open_scene(&scene, &options);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	taken = 1;
	poll_until(&scene, one_is_lost);
	taken = 0;
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	want_gone(&scene);
	close_scene(&scene);
}

static bool
one_was_heard(const struct scene *scene)
{
	return scene->server.guests[0].life.heard_at > scene->server.guests[0].life.message_at;
}

/* A silent client is asked for a sign of life; its adapter gives it, and it stays. */
static void
client__that_is_silent_is_asked(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;
	DAT_EVENT event;

	options.keepalive_s = 1;
	open_scene(&scene, &options);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	poll_until(&scene, one_was_heard);
	assert_int_equal(scene.server.guests[0].state, GUEST_HERE);
	assert_int_equal(scene.server.totals.lost, 0);
	ok(dat_ep_disconnect(scene.end.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_gone(&scene);
	close_scene(&scene);
}

/* All places are taken, and a client that sends nothing has one: it has to go, once another client asks. */
static void
place__of_an_idle_client_goes_to_another(void **state)
{
	struct srqd_options options = defaults;
	DAT_EP_HANDLE second;
	struct scene scene;
	DAT_EVENT event;

	options.max_clients = 1;
	options.idle_s = 1;
	open_scene(&scene, &options);
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &second));
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	while (!one_is_lost(&scene)) {
		event = say_hello(&scene, second);
		assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
		ok(dat_ep_reset(second));
	}
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_gone(&scene);
	event = say_hello(&scene, second);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_ep_disconnect(second, DAT_CLOSE_GRACEFUL_FLAG));
	want_gone(&scene);
	close_scene(&scene);
}

static bool
one_waits(const struct scene *scene)
{
	return scene->server.n_pending > 0;
}

static bool
none_waits(const struct scene *scene)
{
	return !one_waits(scene);
}

/* One address has all places, and confirms no connection: another one that asks waits until the oldest of these has ended. */
static void
place__of_unconfirmed_clients_goes_to_another_address(void **state)
{
	DAT_EP_HANDLE second, third;
	struct scene scene;
	DAT_EVENT event;

	open_scene(&scene, &defaults);
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &second));
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &third));
	withheld = scene.server.conn_evd;
	say_hello(&scene, scene.end.ep);
	say_hello(&scene, second);
	/* The same address asks once more. */
	event = say_hello(&scene, third);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	ok(dat_ep_reset(third));
	for (unsigned int i = 0; i < 2; i++)
		strcpy(scene.server.guests[i].address, "192.0.2.77");
	request_place(&scene, third);
	poll_until(&scene, one_waits);
	assert_string_equal(scene.server.guests[0].ended, "thrown out");
	assert_null(scene.server.guests[1].ended);
	withheld = DAT_HANDLE_NULL;
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, scene.end.ep);
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_ptr_equal(event.event_data.connect_event_data.ep_handle, third);
	ok(dat_ep_disconnect(second, DAT_CLOSE_GRACEFUL_FLAG));
	ok(dat_ep_disconnect(third, DAT_CLOSE_GRACEFUL_FLAG));
	want_gone(&scene);
	close_scene(&scene);
}

/* Nor does it wait for ever. */
static void
place__that_does_not_become_free_is_not_waited_for(void **state)
{
	struct srqd_options options = defaults;
	struct scene scene;
	DAT_EP_HANDLE second;
	DAT_EVENT event;

	options.max_clients = 1;
	options.stall_s = 1;
	open_scene(&scene, &options);
	ok(dat_ep_create(scene.end.ia, scene.end.pz, scene.end.recv, scene.end.request,
			scene.end.connect, NULL, &second));
	withheld = scene.server.conn_evd;
	say_hello(&scene, scene.end.ep);
	strcpy(scene.server.guests[0].address, "192.0.2.77");
	request_place(&scene, second);
	poll_until(&scene, one_waits);
	poll_until(&scene, none_waits);
	do
		event = await(&scene, scene.end.connect);
	while (event.event_data.connect_event_data.ep_handle != second);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	withheld = DAT_HANDLE_NULL;
	want_gone(&scene);
	close_scene(&scene);
}

/* Messages whose answers cannot be delivered any more: their buffers come back all the same. */
static void
client__that_vanishes_gives_back_its_buffers(void **state)
{
	struct scene scene;
	DAT_EVENT event;

	open_scene(&scene, &defaults);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (int i = 0; i < WINDOW; i++)
		ok(post_send(&scene.end, 0, SIZE, 1));
	for (int i = 0; i < POLLS && scene.server.totals.messages < WINDOW; i++) {
		poll_once(&scene);
		dat_evd_dequeue(scene.end.request, &event);
	}
	assert_int_equal(scene.server.guests[0].life.held, WINDOW);
	ok(dat_ep_disconnect(scene.end.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_gone(&scene);
	assert_int_equal(scene.server.totals.unanswered, WINDOW);
	close_scene(&scene);
}

/* The server's own end: everybody is disconnected in order, and nobody is admitted any more. */
static void
stop__lets_everybody_go(void **state)
{
	struct scene scene;
	DAT_EVENT event;

	open_scene(&scene, &defaults);
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_int_equal(server_stop(&scene.server), 0);
	event = await(&scene, scene.end.connect);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_gone(&scene);
	ok(dat_ep_reset(scene.end.ep));
	event = say_hello(&scene, scene.end.ep);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	end_close(&scene.end);
	assert_int_equal(server_close(&scene.server), 0);
}

static void
hello__gives_back_what_was_encoded(void **state)
{
	const struct srqd_hello hello = { .size = 1u << 23, .window = 4096, .sink = true };
	uint8_t bytes[SRQD_HELLO_LEN + 8] = { 0 };
	struct srqd_hello back;

	srqd_hello_encode(&hello, bytes);
	/* The transport may pad. */
	assert_true(srqd_hello_decode(bytes, sizeof(bytes), &back));
	assert_int_equal(back.size, hello.size);
	assert_int_equal(back.window, hello.window);
	assert_true(back.sink);
	assert_false(srqd_hello_decode(bytes, SRQD_HELLO_LEN - 1, &back));
	assert_false(srqd_hello_decode(NULL, SRQD_HELLO_LEN, &back));
	bytes[0] ^= 1;
	assert_false(srqd_hello_decode(bytes, sizeof(bytes), &back));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(request__of_an_unknown_peer_is_rejected),
		dat_test(request__beyond_max_clients_is_rejected_until_one_leaves),
		dat_test(message__longer_than_a_buffer_ends_its_client_only),
		dat_test(client__beyond_its_window_is_thrown_out),
		dat_test(client__that_vanishes_gives_back_its_buffers),
		dat_test(client__that_takes_no_answer_gives_back_its_buffers),
		dat_test(client__that_holds_most_buffers_has_a_second),
		dat_test(client__that_holds_few_buffers_stays_while_another_holds_more),
		dat_test(client__that_ends_no_message_gives_back_its_buffer),
		dat_test(client__that_never_confirms_loses_its_place),
		dat_test(client__that_takes_answers_slowly_gives_back_its_buffers),
		dat_test(client__that_is_silent_is_asked),
		dat_test(place__of_an_idle_client_goes_to_another),
		dat_test(place__of_unconfirmed_clients_goes_to_another_address),
		dat_test(place__that_does_not_become_free_is_not_waited_for),
		dat_test(stop__lets_everybody_go),
		cmocka_unit_test(hello__gives_back_what_was_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
