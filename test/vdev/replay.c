/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One side of a talk that always is the same: so many messages, of these sizes, with this content.
 *
 *   replay send IA ADDRESS   connects, sends them all, disconnects
 *   replay receive IA FILE   has them delivered to a shared receive queue, checks them and writes them to FILE
 *
 * The receiver does not know whether its peer is alive or a recording.
 */

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat/udat.h>

#include "../limit.h"
#include "steps.h"

#define MESSAGES  40
#define LONGEST   70000
#define CONN_QUAL 4711

static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 33, 64, 1023, 1024, 1025, 4095, 4096, 4097, 65536,
	LONGEST };

static struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, recv, request, connect, cr;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;
	DAT_LMR_CONTEXT key;
	uint8_t (*buffer)[LONGEST];
} side;

static uint32_t
size_of(unsigned int message)
{
	return sizes[message % (sizeof(sizes) / sizeof(sizes[0]))];
}

static void
fill(unsigned int message, uint8_t *at)
{
	uint32_t dice = message * 2654435761u + 1;

	for (uint32_t i = 0; i < size_of(message); i++) {
		dice = dice * 1103515245u + 12345u;
		at[i] = (uint8_t)(dice >> 16);
	}
}

static DAT_EVENT
next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER want, const char *what)
{
	DAT_EVENT event = await_event(evd, test_limit_us(), what);

	if (event.event_number != want)
		fail("%s: event 0x%x instead of 0x%x", what, (unsigned int)event.event_number,
				(unsigned int)want);
	return event;
}

static void
make_evd(DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
	ok(dat_evd_create(side.ia, MESSAGES + 1, DAT_HANDLE_NULL, flags, evd), "dat_evd_create");
}

static void
open_side(const char *name)
{
	DAT_SRQ_ATTR srq = { .max_recv_dtos = MESSAGES, .max_recv_iov = 1 };
	DAT_EP_ATTR ep = { .max_request_dtos = MESSAGES, .max_recv_dtos = MESSAGES };
	DAT_REGION_DESCRIPTION region;
	char copy[DAT_NAME_MAX_LENGTH];
	DAT_LMR_HANDLE lmr;

	snprintf(copy, sizeof(copy), "%s", name);
	ok(dat_ia_open(copy, 8, &side.async, &side.ia), "dat_ia_open");
	make_evd(DAT_EVD_DTO_FLAG, &side.recv);
	make_evd(DAT_EVD_DTO_FLAG, &side.request);
	make_evd(DAT_EVD_CONNECTION_FLAG, &side.connect);
	make_evd(DAT_EVD_CR_FLAG, &side.cr);
	ok(dat_pz_create(side.ia, &side.pz), "dat_pz_create");
	side.buffer = calloc(MESSAGES, sizeof(side.buffer[0]));
	if (side.buffer == NULL)
		fail("no memory");
	region.for_va = side.buffer;
	ok(dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, MESSAGES * sizeof(side.buffer[0]),
			   side.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &side.key, NULL, NULL, NULL),
			"dat_lmr_create");
	ok(dat_srq_create(side.ia, side.pz, &srq, &side.srq), "dat_srq_create");
	ok(dat_ep_create_with_srq(side.ia, side.pz, side.recv, side.request, side.connect, side.srq,
			   &ep, &side.ep),
			"dat_ep_create_with_srq");
}

static DAT_LMR_TRIPLET
buffer_of(unsigned int message, uint32_t length)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = side.key,
		.virtual_address = (uintptr_t)side.buffer[message],
		.segment_length = length,
	};
}

static void
close_side(void)
{
	ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	free(side.buffer);
}

static void
send_all(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		fail("%s is no address", address);
	ok(dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, test_limit_us(), 0, NULL,
			   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	next(side.connect, DAT_CONNECTION_EVENT_ESTABLISHED, "connecting");
	for (unsigned int i = 0; i < MESSAGES; i++) {
		DAT_LMR_TRIPLET iov = buffer_of(i, size_of(i));
		DAT_DTO_COOKIE cookie = { .as_64 = i };

		fill(i, side.buffer[i]);
		ok(dat_ep_post_send(side.ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
				"dat_ep_post_send");
	}
	for (unsigned int i = 0; i < MESSAGES; i++) {
		DAT_EVENT event = next(side.request, DAT_DTO_COMPLETION_EVENT, "sending");

		if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
			fail("send %u failed", i);
	}
	ok(dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	next(side.connect, DAT_CONNECTION_EVENT_DISCONNECTED, "disconnecting");
}

static void
take(unsigned int message, FILE *file)
{
	static uint8_t want[LONGEST];
	DAT_EVENT event = next(side.recv, DAT_DTO_COMPLETION_EVENT, "receiving");
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;
	uint32_t length = (uint32_t)data->transfered_length;
	const uint8_t *at;

	if (data->status != DAT_DTO_SUCCESS || data->ep_handle != side.ep)
		fail("message %u: status %d", message, (int)data->status);
	at = side.buffer[data->user_cookie.as_64];
	fill(message, want);
	if (length != size_of(message) || memcmp(at, want, length) != 0)
		fail("message %u of %u bytes is not what was sent", message, length);
	fprintf(file, "%u %u\n", message, length);
	fwrite(at, 1, length, file);
}

static void
receive_all(const char *name)
{
	FILE *file = fopen(name, "wb");
	DAT_PSP_HANDLE psp;
	DAT_CR_HANDLE cr;

	if (file == NULL)
		fail("%s cannot be written", name);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		DAT_LMR_TRIPLET iov = buffer_of(i, LONGEST);
		DAT_DTO_COOKIE cookie = { .as_64 = i };

		ok(dat_srq_post_recv(side.srq, 1, &iov, cookie), "dat_srq_post_recv");
	}
	ok(dat_psp_create(side.ia, CONN_QUAL, side.cr, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
	puts("listening");
	fflush(stdout);
	cr = next(side.cr, DAT_CONNECTION_REQUEST_EVENT, "listening")
			     .event_data.cr_arrival_event_data.cr_handle;
	ok(dat_cr_accept(cr, side.ep, 0, NULL), "dat_cr_accept");
	next(side.connect, DAT_CONNECTION_EVENT_ESTABLISHED, "accepting");
	for (unsigned int i = 0; i < MESSAGES; i++)
		take(i, file);
	next(side.connect, DAT_CONNECTION_EVENT_DISCONNECTED, "being left");
	if (fclose(file) != 0)
		fail("%s cannot be written", name);
}

int
main(int argc, char **argv)
{
	if (argc != 4 || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "receive") != 0))
		fail("send IA ADDRESS | receive IA FILE");
	open_side(argv[2]);
	if (strcmp(argv[1], "send") == 0)
		send_all(argv[3]);
	else
		receive_all(argv[3]);
	close_side();
	return EXIT_SUCCESS;
}
