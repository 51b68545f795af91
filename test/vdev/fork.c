/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of two processes of which one forks (fork.sh): `fork server` gives back each message until the connection ends,
 * `fork client` sends, verifies what comes back, and forks meanwhile; in the end it dies while a child of it lives.
 * The server is on the adapter loop1 of dat.conf, the client on loop0, whatever these are.
 */

#include <arpa/inet.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "dat_pair.h"

#define LENGTH   5000u
#define HALF     (BUFFER_LEN / 2)
#define MESSAGES 64u /**< beside each child, at least */
#define DEPTH    4u
#define LOOK_US  1000u

static struct end end;
static const char *server_address;
static int go_on[2]; /* a pipe: the child goes on when its parent has sent something */

/* ---- server ---- */

static void
give_back(const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;
	uint64_t place = data->user_cookie.as_64;

	/* A flushed receive is no message: the end is about to be told. */
	if (data->status != DAT_DTO_SUCCESS)
		return;
	memcpy(end.buffer + HALF + place * LENGTH, end.buffer + place * LENGTH, LENGTH);
	ok(post_recv(&end, place * LENGTH, LENGTH, place));
	ok(post_send(&end, HALF + place * LENGTH, LENGTH, place));
}

static void
serve(void **state)
{
	DAT_EVENT event, sent;
	DAT_COUNT more;
	DAT_PSP_HANDLE psp;
	unsigned int served = 0;

	end_open(&end, "loop1", NULL);
	ok(dat_psp_create(end.ia, CONN_QUAL, end.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	for (unsigned int i = 0; i < DEPTH; i++)
		ok(post_recv(&end, (size_t)i * LENGTH, LENGTH, i));
	printf("ready\n");
	fflush(stdout);
	ok(dat_evd_wait(end.cr, PATIENCE_US, 1, &event, &more));
	ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, end.ep, 0, NULL));
	want_event(end.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	while (dat_evd_dequeue(end.connect, &event) != DAT_SUCCESS) {
		if (dat_evd_wait(end.recv, LOOK_US, 1, &event, &more) == DAT_SUCCESS) {
			give_back(&event);
			served++;
		}
		(void)dat_evd_dequeue(end.request, &sent);
	}
	printf("ended by 0x%x after %u\n", (unsigned int)event.event_number, served);
	end_close(&end);
}

/* ---- client ---- */

static void
talk(unsigned int messages)
{
	static uint8_t seed;

	while (messages-- > 0) {
		memset(end.buffer, ++seed, LENGTH);
		ok(post_recv(&end, HALF, LENGTH, 1));
		ok(post_send(&end, 0, LENGTH, 2));
		want_dto(&end, end.recv, 1, DAT_DTO_SUCCESS, LENGTH);
		want_dto(&end, end.request, 2, DAT_DTO_SUCCESS, LENGTH);
		assert_memory_equal(end.buffer, end.buffer + HALF, LENGTH);
	}
}

static void
use_dead_handles(void)
{
	DAT_EVENT event;

	want_type(dat_evd_dequeue(end.recv, &event), DAT_INVALID_HANDLE);
	want_type(dat_ep_disconnect(end.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
	want_type(dat_ia_close(end.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
}

static void
wait_for_parent(void)
{
	char byte;

	assert_int_equal(read(go_on[0], &byte, 1), 1);
}

static void
leave(void **state)
{
	use_dead_handles();
	wait_for_parent();
	use_dead_handles();
}

static void
leave_in_order(void **state)
{
	wait_for_parent();
	use_dead_handles();
	exit(0);
}

static void
become_another(void **state)
{
	wait_for_parent();
	execlp("true", "true", (char *)NULL);
	fail();
}

static void
connect_to_server(void)
{
	struct end server = { .ia = DAT_HANDLE_NULL };
	struct sockaddr_in *address = (struct sockaddr_in *)(void *)&server.address;

	address->sin_family = AF_INET;
	assert_int_equal(inet_pton(AF_INET, server_address, &address->sin_addr), 1);
	ok(end_connect(&end, &server, CONN_QUAL));
	want_event(end.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* A child that lives on when this process is killed, and has nothing of it. The script ends it. */
static void
die_before_child(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0) {
		alarm(CHILD_SECONDS);
		for (;;)
			pause();
	}
	talk(MESSAGES);
	printf("child %ld\n", (long)child);
	fflush(stdout);
	raise(SIGKILL);
}

static void
send_and_fork(void **state)
{
	static void (*const ways[])(void **) = { leave, leave_in_order, become_another };

	end_open(&end, "loop0", NULL);
	connect_to_server();
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		pid_t child;

		assert_int_equal(pipe(go_on), 0);
		child = begin_child(ways[i]);
		talk(MESSAGES);
		assert_int_equal(write(go_on[1], ".", 1), 1);
		do {
			talk(1);
		} while (!child_is_over(child));
		talk(1);
		close(go_on[0]);
		close(go_on[1]);
	}
	die_before_child();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest server[] = { cmocka_unit_test(serve) };
	const struct CMUnitTest client[] = { cmocka_unit_test(send_and_fork) };

	if (argc == 2 && strcmp(argv[1], "server") == 0)
		return cmocka_run_group_tests(server, NULL, NULL);
	if (argc != 3 || strcmp(argv[1], "client") != 0)
		return 2;
	server_address = argv[2];
	return cmocka_run_group_tests(client, NULL, NULL);
}
