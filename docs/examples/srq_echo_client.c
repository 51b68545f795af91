/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A client of srq_echo_server.c, to be copied: it connects, sends messages of all lengths one after the other, and
 * compares each answer with what it sent.
 *
 *     cc -o srq_echo_client srq_echo_client.c $(pkg-config --cflags --libs dat)
 *     ./srq_echo_client ADAPTER ADDRESS PORT [MESSAGES]
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat/udat.h>

#define SIZE       4096 /* of the longest message, which the server's buffers hold */
#define TIMEOUT_US 10000000

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, events;
static DAT_EP_HANDLE ep;
static struct {
	char message[SIZE], answer[SIZE];
} buffers;
static DAT_LMR_TRIPLET message, answer;

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "srq_echo_client: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void
check(DAT_RETURN rc, const char *what)
{
	const char *type = "?", *subtype = "?";

	if (rc == DAT_SUCCESS)
		return;
	dat_strerror(rc, &type, &subtype);
	fprintf(stderr, "srq_echo_client: %s: %s, %s\n", what, type, subtype);
	exit(EXIT_FAILURE);
}

static DAT_EVENT
next_event(void)
{
	DAT_COUNT more;
	DAT_EVENT event;

	check(dat_evd_wait(events, TIMEOUT_US, 1, &event, &more), "no event");
	return event;
}

static void
start(char *adapter)
{
	DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	DAT_EVD_FLAGS both = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
	DAT_REGION_DESCRIPTION region = { .for_va = &buffers };
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_RMR_CONTEXT unused;
	DAT_VLEN length;
	DAT_VADDR first;

	check(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
	check(dat_evd_create(ia, 8, DAT_HANDLE_NULL, both, &events), "dat_evd_create");
	check(dat_pz_create(ia, &pz), "dat_pz_create");
	check(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffers), pz, rights, &lmr,
			      &key, &unused, &length, &first),
			"dat_lmr_create");
	check(dat_ep_create(ia, pz, events, events, events, NULL, &ep), "dat_ep_create");
	message = (DAT_LMR_TRIPLET){ key, 0, (DAT_VADDR)(uintptr_t)buffers.message, SIZE };
	answer = (DAT_LMR_TRIPLET){ key, 0, (DAT_VADDR)(uintptr_t)buffers.answer, SIZE };
}

/* Names would do as well as addresses. */
static void
connect_to(const char *host, const char *port)
{
	struct addrinfo *found;
	const char *why = "refused, or out of time";
	DAT_EVENT_NUMBER end;
	int rc = getaddrinfo(host, NULL, NULL, &found);

	if (rc != 0)
		fail(host, gai_strerror(rc));
	check(dat_ep_connect(ep, found->ai_addr, strtoul(port, NULL, 10), TIMEOUT_US, 0, NULL,
			      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	freeaddrinfo(found);
	end = next_event().event_number;
	if (end == DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
		why = "nobody listens on that port";
	if (end == DAT_CONNECTION_EVENT_UNREACHABLE)
		why = "the address does not answer";
	if (end != DAT_CONNECTION_EVENT_ESTABLISHED)
		fail("not connected", why);
	printf("connected to %s, port %s\n", host, port);
	fflush(stdout);
}

/* The receive is posted before the message: the server's answer may be quick. Its cookie is 1. */
static void
echo(unsigned long i)
{
	const DAT_DTO_COOKIE sent = { .as_64 = 0 }, received = { .as_64 = 1 };
	DAT_DTO_COMPLETION_EVENT_DATA *data;
	DAT_EVENT event;

	message.segment_length = 1 + i * 37 % SIZE;
	memset(buffers.message, (int)('a' + i % 26), message.segment_length);
	check(dat_ep_post_recv(ep, 1, &answer, received, DAT_COMPLETION_DEFAULT_FLAG), "receive");
	check(dat_ep_post_send(ep, 1, &message, sent, DAT_COMPLETION_DEFAULT_FLAG), "send");
	for (int left = 2; left > 0; left--) {
		event = next_event();
		data = &event.event_data.dto_completion_event_data;
		if (event.event_number != DAT_DTO_COMPLETION_EVENT ||
				data->status != DAT_DTO_SUCCESS)
			fail("the connection ended", "the server went away");
		if (data->user_cookie.as_64 == received.as_64 &&
				(data->transfered_length != message.segment_length ||
						memcmp(buffers.answer, buffers.message,
								message.segment_length) != 0))
			fail("answer", "not what was sent");
	}
}

/* The end of the adapter frees all that was made of it. */
int
main(int argc, char **argv)
{
	unsigned long messages = argc == 5 ? strtoul(argv[4], NULL, 10) : 1000;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: srq_echo_client ADAPTER ADDRESS PORT [MESSAGES]\n");
		return 2;
	}
	start(argv[1]);
	connect_to(argv[2], argv[3]);
	for (unsigned long i = 0; i < messages; i++)
		echo(i);
	check(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	while (next_event().event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
		;
	check(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	printf("%lu messages sent, %lu answers as sent\n", messages, messages);
	return EXIT_SUCCESS;
}
