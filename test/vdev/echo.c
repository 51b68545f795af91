/* SPDX-License-Identifier: BSD-3-Clause */
#include "echo.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../limit.h"
#include "steps.h"

#define CONN_QUAL   4713
#define PATIENCE_US test_limit_us()

static DAT_EVENT
next(DAT_EVD_HANDLE evd, const char *what)
{
	return await_event(evd, PATIENCE_US, what);
}

static void
expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER want, const char *what)
{
	DAT_EVENT event = next(evd, what);

	if (event.event_number != want)
		fail("%s: event 0x%x", what, (unsigned int)event.event_number);
}

/* A completion of success. @return false: the connection is over. */
static bool
complete(DAT_EVD_HANDLE evd, const char *what)
{
	DAT_EVENT event = next(evd, what);

	if (event.event_number != DAT_DTO_COMPLETION_EVENT)
		fail("%s: event 0x%x", what, (unsigned int)event.event_number);
	return event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
}

static DAT_EVD_HANDLE
make_evd(struct echo *echo, DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(echo->ia, 8, DAT_HANDLE_NULL, flags, &evd), "dat_evd_create");
	return evd;
}

static void
make_ep(struct echo *echo)
{
	ok(dat_ep_create(echo->ia, echo->pz, echo->recv, echo->request, echo->connect, NULL,
			   &echo->ep),
			"dat_ep_create");
}

void
echo_open(struct echo *echo, const char *ia)
{
	DAT_REGION_DESCRIPTION region = { .for_va = echo->memory };
	char name[DAT_NAME_MAX_LENGTH];

	memset(echo, 0, sizeof(*echo));
	echo->async = DAT_HANDLE_NULL;
	snprintf(name, sizeof(name), "%s", ia);
	ok(dat_ia_open(name, 8, &echo->async, &echo->ia), "dat_ia_open");
	echo->recv = make_evd(echo, DAT_EVD_DTO_FLAG);
	echo->request = make_evd(echo, DAT_EVD_DTO_FLAG);
	echo->connect = make_evd(echo, DAT_EVD_CONNECTION_FLAG);
	echo->cr = make_evd(echo, DAT_EVD_CR_FLAG);
	ok(dat_pz_create(echo->ia, &echo->pz), "dat_pz_create");
	ok(dat_lmr_create(echo->ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(echo->memory), echo->pz,
			   DAT_MEM_PRIV_ALL_FLAG, &echo->lmr, &echo->key, NULL, NULL, NULL),
			"dat_lmr_create");
}

void
echo_close(struct echo *echo)
{
	ok(dat_ia_close(echo->ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
}

static DAT_LMR_TRIPLET
part(const struct echo *echo, unsigned int i)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = echo->key,
		.virtual_address = (DAT_VADDR)(uintptr_t)echo->memory[i],
		.segment_length = sizeof(echo->memory[i]),
	};
}

static void
post_receive(struct echo *echo)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };
	DAT_LMR_TRIPLET iov = part(echo, 0);

	ok(dat_ep_post_recv(echo->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_recv");
}

static void
post_send(struct echo *echo)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 2 };
	DAT_LMR_TRIPLET iov = part(echo, 1);

	ok(dat_ep_post_send(echo->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
}

/* Until the client goes, by whatever way. */
static void
serve_one(struct echo *echo, DAT_CR_HANDLE cr)
{
	make_ep(echo);
	post_receive(echo);
	ok(dat_cr_accept(cr, echo->ep, 0, NULL), "dat_cr_accept");
	expect(echo->connect, DAT_CONNECTION_EVENT_ESTABLISHED, "accepting");
	while (complete(echo->recv, "a message")) {
		memcpy(echo->memory[1], echo->memory[0], sizeof(echo->memory[1]));
		post_receive(echo);
		post_send(echo);
		if (!complete(echo->request, "an answer"))
			break;
	}
	(void)next(echo->connect, "the end of a client");
	ok(dat_ep_free(echo->ep), "dat_ep_free");
	/* Receives and answers of the endpoint that were flushed. */
	for (DAT_EVENT event; dat_evd_dequeue(echo->recv, &event) == DAT_SUCCESS ||
			dat_evd_dequeue(echo->request, &event) == DAT_SUCCESS;)
		;
}

void
echo_serve(struct echo *echo)
{
	DAT_PSP_HANDLE psp;
	DAT_COUNT more;
	DAT_EVENT event;

	ok(dat_psp_create(echo->ia, CONN_QUAL, echo->cr, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
	puts("listening");
	fflush(stdout);
	for (;;) {
		ok(dat_evd_wait(echo->cr, DAT_TIMEOUT_INFINITE, 1, &event, &more), "a client");
		serve_one(echo, event.event_data.cr_arrival_event_data.cr_handle);
	}
}

void
echo_connect(struct echo *echo, const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		fail("%s is no address", address);
	make_ep(echo);
	post_receive(echo);
	ok(dat_ep_connect(echo->ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, PATIENCE_US, 0, NULL,
			   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	expect(echo->connect, DAT_CONNECTION_EVENT_ESTABLISHED, "connecting");
}

void
echo_message(struct echo *echo, uint64_t number)
{
	uint8_t *end = &echo->memory[1][sizeof(echo->memory[1]) - sizeof(number)];

	memcpy(end, &number, sizeof(number));
	post_send(echo);
	if (!complete(echo->request, "sending") || !complete(echo->recv, "the answer"))
		fail("message %llu has no answer", (unsigned long long)number);
	if (memcmp(echo->memory[0], echo->memory[1], sizeof(echo->memory[0])) != 0)
		fail("message %llu comes back as another", (unsigned long long)number);
	post_receive(echo);
}

void
echo_disconnect(struct echo *echo)
{
	ok(dat_ep_disconnect(echo->ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	expect(echo->connect, DAT_CONNECTION_EVENT_DISCONNECTED, "disconnecting");
}
