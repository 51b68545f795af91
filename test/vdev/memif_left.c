/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two processes with one connection and no traffic, of which one goes away without a word of its program.
 *
 *   memif_left stay IA             has it accepted, and waits to be told that it is broken
 *   memif_left agent IA OTHER      as `stay`, with an agent that opens and closes another adapter when it is told
 *   memif_left break IA ADDRESS    connects, breaks the connection and ends at once
 *   memif_left exit IA ADDRESS     connects and ends, with all that is open, as soon as its standard input has ended
 *   memif_left fork IA ADDRESS     connects, has a child that stays, tells its number and is killed
 *   memif_left wait IA ADDRESS     connects, and waits to be told as `stay`, whose end may be meant
 *
 * No timer of the transport runs on an idle connection, so only what the port knows can tell of the end.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dat/udat.h>

#include "../limit.h"
#include "steps.h"

#define CONN_QUAL 4712

static struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, dto, connect, cr;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;
} side;

/** The work of an agent. The numbers are atomic. */
static struct {
	const char *other; /**< the adapter that it opens; NULL: there is no agent */
	unsigned int wanted;
	unsigned int done;
} agent;

static DAT_EVENT
next(DAT_EVD_HANDLE evd, const char *what)
{
	return await_event(evd, test_limit_us(), what);
}

static void
expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER want, const char *what)
{
	DAT_EVENT event = next(evd, what);

	if (event.event_number != want)
		fail("%s: event 0x%x", what, (unsigned int)event.event_number);
}

static void
open_ia(const char *name, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
	char copy[DAT_NAME_MAX_LENGTH];

	snprintf(copy, sizeof(copy), "%s", name);
	*async = DAT_HANDLE_NULL;
	ok(dat_ia_open(copy, 8, async, ia), "dat_ia_open");
}

/* It may make any call that concerns no notification object of its own. */
static void
open_other(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;

	(void)data;
	(void)evd;
	if (__atomic_load_n(&agent.wanted, __ATOMIC_ACQUIRE) == 0)
		return;
	open_ia(agent.other, &async, &ia);
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close in the agent");
	__atomic_fetch_add(&agent.done, 1, __ATOMIC_RELEASE);
}

static void
await_agent(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	DAT_EVENT event;

	for (unsigned int ms = 0; __atomic_load_n(&agent.done, __ATOMIC_ACQUIRE) == 0; ms++) {
		if (ms == test_limit_s() * 1000)
			fail("the agent does not return");
		/* The consumer polls. */
		dat_evd_dequeue(side.cr, &event);
		nanosleep(&nap, NULL);
	}
}

static void
open_side(const char *name)
{
	const DAT_OS_WAIT_PROXY_AGENT proxy = { .proxy_agent_func = open_other };
	DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;

	open_ia(name, &side.async, &side.ia);
	if (agent.other != NULL)
		ok(dat_cno_create(side.ia, proxy, &cno), "dat_cno_create");
	ok(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &side.dto),
			"dat_evd_create");
	ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_CONNECTION_FLAG, &side.connect),
			"dat_evd_create");
	ok(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &side.cr),
			"dat_evd_create");
	ok(dat_pz_create(side.ia, &side.pz), "dat_pz_create");
	ok(dat_ep_create(side.ia, side.pz, side.dto, side.dto, side.connect, NULL, &side.ep),
			"dat_ep_create");
}

static void
come(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		fail("%s is no address", address);
	ok(dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, test_limit_us(), 0, NULL,
			   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	expect(side.connect, DAT_CONNECTION_EVENT_ESTABLISHED, "connecting");
}

static void
admit(void)
{
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;

	ok(dat_psp_create(side.ia, CONN_QUAL, side.cr, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
	puts("listening");
	fflush(stdout);
	event = next(side.cr, "listening");
	ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, side.ep, 0, NULL),
			"dat_cr_accept");
	expect(side.connect, DAT_CONNECTION_EVENT_ESTABLISHED, "accepting");
	puts("connected");
	fflush(stdout);
}

static void
be_left(void)
{
	DAT_EVENT event = next(side.connect, "waiting for the end");

	switch (event.event_number) {
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		puts("disconnected");
		break;
	case DAT_CONNECTION_EVENT_BROKEN:
		puts("broken");
		break;
	default:
		fail("waiting for the end: event 0x%x", (unsigned int)event.event_number);
	}
	fflush(stdout);
}

/* Descriptors that the child has of the parent must not keep the connection alive. It ends by itself when nobody ends it. */
static void
leave_child(void)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0) {
		alarm(2 * test_limit_s());
		for (;;)
			pause();
	}
	printf("%d\n", (int)child);
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (argc != (strcmp(how, "stay") == 0 ? 3 : 4))
		fail("stay IA | agent IA OTHER | break IA ADDRESS | exit IA ADDRESS | fork IA ADDRESS | wait IA ADDRESS");
	if (strcmp(how, "agent") == 0)
		agent.other = argv[3];
	open_side(argv[2]);
	if (strcmp(how, "agent") == 0) {
		admit();
		__atomic_store_n(&agent.wanted, 1, __ATOMIC_RELEASE);
		puts("armed");
		fflush(stdout);
		await_agent();
		be_left();
	} else if (strcmp(how, "stay") == 0) {
		admit();
		be_left();
	} else {
		come(argv[3]);
		if (strcmp(how, "break") == 0)
			ok(dat_ep_disconnect(side.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
		if (strcmp(how, "fork") == 0)
			leave_child();
		while (strcmp(how, "exit") == 0 && getchar() != EOF)
			;
		if (strcmp(how, "wait") != 0)
			_exit(EXIT_SUCCESS);
		be_left();
	}
	ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	return EXIT_SUCCESS;
}
