/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A client of srq_echo_server.c, to be copied: it connects, sends messages of all lengths, several of them on the way
 * at a time, and compares each answer with what it sent.
 *
 *     cc -o srq_echo_client srq_echo_client.c $(pkg-config --cflags --libs dat)
 *     ./srq_echo_client ADAPTER ADDRESS PORT [MESSAGES]
 */

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat/udat.h>

#define WINDOW     8    /* messages on the way */
#define SIZE       4096 /* of the longest, which the server's buffers hold */
#define TIMEOUT_US 10000000

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, events;
static DAT_PZ_HANDLE pz;
static DAT_LMR_HANDLE lmr;
static DAT_LMR_CONTEXT key;
static DAT_EP_HANDLE ep;
/* Each message has a buffer, and one beside it for its answer. */
static struct {
	char sent[WINDOW][SIZE], answer[WINDOW][SIZE];
} buffers;
static DAT_VLEN length[WINDOW];
static int pending
		[WINDOW]; /* completions that are still to come: of the message, and of its answer */
static unsigned long sent, good;

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
	DAT_REGION_DESCRIPTION region = { .for_va = &buffers };
	DAT_RMR_CONTEXT unused;
	DAT_VLEN registered;
	DAT_VADDR address;

	check(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
	check(dat_evd_create(ia, 2 * WINDOW + 2, DAT_HANDLE_NULL,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &events),
			"dat_evd_create");
	check(dat_pz_create(ia, &pz), "dat_pz_create");
	check(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffers), pz,
			      DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr,
			      &key, &unused, &registered, &address),
			"dat_lmr_create");
	check(dat_ep_create(ia, pz, events, events, events, NULL, &ep), "dat_ep_create");
}

/* Names would do as well as addresses. */
static void
connect_to(const char *host, const char *port)
{
	struct addrinfo *found;
	DAT_EVENT event;
	int rc = getaddrinfo(host, NULL, NULL, &found);

	if (rc != 0)
		fail(host, gai_strerror(rc));
	check(dat_ep_connect(ep, found->ai_addr, strtoul(port, NULL, 10), TIMEOUT_US, 0, NULL,
			      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	freeaddrinfo(found);
	event = next_event();
	if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
		fail("not connected", "nobody listens on that port");
	if (event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE)
		fail("not connected", "the address does not answer");
	if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
		fail("not connected", "refused, or out of time");
	printf("connected to %s, port %s\n", host, port);
}

/* The receive is posted before the message: the server's answer may be quick. Cookies of receives are odd. */
static void
send_message(unsigned int i)
{
	DAT_LMR_TRIPLET message = { .lmr_context = key }, answer = { .lmr_context = key };

	length[i] = 1 + sent * 37 % SIZE;
	memset(buffers.sent[i], (int)('a' + sent % 26), length[i]);
	message.virtual_address = (DAT_VADDR)(uintptr_t)buffers.sent[i];
	message.segment_length = length[i];
	answer.virtual_address = (DAT_VADDR)(uintptr_t)buffers.answer[i];
	answer.segment_length = SIZE;
	check(dat_ep_post_recv(ep, 1, &answer, (DAT_DTO_COOKIE){ .as_64 = 2 * (DAT_UINT64)i + 1 },
			      DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_recv");
	check(dat_ep_post_send(ep, 1, &message, (DAT_DTO_COOKIE){ .as_64 = 2 * (DAT_UINT64)i },
			      DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	pending[i] = 2;
	sent++;
}

/* @return the message whose completion it was. Answers come in the order of the messages. */
static unsigned int
complete(const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;
	unsigned int i = (unsigned int)data->user_cookie.as_64 / 2;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT || data->status != DAT_DTO_SUCCESS)
		fail("the connection ended", "the server went away");
	if (data->user_cookie.as_64 % 2 == 1) {
		if (data->transfered_length != length[i] ||
				memcmp(buffers.answer[i], buffers.sent[i], length[i]) != 0)
			fail("answer", "not what was sent");
		good++;
	}
	pending[i]--;
	return i;
}

static void
talk(unsigned long messages)
{
	DAT_EVENT event;
	unsigned int i;

	for (i = 0; i < WINDOW && sent < messages; i++)
		send_message(i);
	for (unsigned long left = 2 * messages; left > 0; left--) {
		event = next_event();
		i = complete(&event);
		if (pending[i] == 0 && sent < messages)
			send_message(i);
	}
}

static void
end(void)
{
	check(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	while (next_event().event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
		;
	check(dat_ep_free(ep), "dat_ep_free");
	check(dat_lmr_free(lmr), "dat_lmr_free");
	check(dat_pz_free(pz), "dat_pz_free");
	check(dat_evd_free(events), "dat_evd_free");
	check(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close");
}

int
main(int argc, char **argv)
{
	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: srq_echo_client ADAPTER ADDRESS PORT [MESSAGES]\n");
		return 2;
	}
	start(argv[1]);
	connect_to(argv[2], argv[3]);
	talk(argc == 5 ? strtoul(argv[4], NULL, 10) : 1000);
	end();
	printf("%lu messages sent, %lu answers as sent\n", sent, good);
	return EXIT_SUCCESS;
}
