/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A shared receive queue that is filled up when it runs low, to be copied. Buffers that were used wait in a list until
 * the event of the low watermark comes, and are posted together. Both ends are in this process, each on an adapter of
 * its own.
 *
 *     cc -o srq_refill srq_refill.c $(pkg-config --cflags --libs dat)
 *     ./srq_refill [ADAPTER-OF-THE-SERVER ADAPTER-OF-THE-CLIENT]
 */

#include <stdio.h>
#include <stdlib.h>

#include <dat/udat.h>

#define DEPTH 64 /* buffers of the queue */
#define LOW   16 /* the event comes when fewer than that are on it */
#define SIZE  256
#define WINDOW \
	8 /* messages on the way, fewer than the watermark: none of them has to wait for a buffer */
#define MESSAGES   1000
#define PORT       18517
#define TIMEOUT_US 10000000

struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, events;
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_EP_HANDLE ep;
	DAT_IA_ATTR attr;
	DAT_PROVIDER_ATTR provider;
};

static struct side server, client;
static DAT_SRQ_HANDLE srq;
static DAT_PSP_HANDLE psp;
static char buffers[DEPTH][SIZE], message[SIZE];
static DAT_UINT64 list[DEPTH];
static int listed;
static unsigned long sent, received, refills;

static void
check(DAT_RETURN rc, const char *what)
{
	const char *type = "?", *subtype = "?";

	if (rc == DAT_SUCCESS)
		return;
	dat_strerror(rc, &type, &subtype);
	fprintf(stderr, "srq_refill: %s: %s, %s\n", what, type, subtype);
	exit(EXIT_FAILURE);
}

static DAT_LMR_TRIPLET
segment(const struct side *side, void *address)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = side->key,
		.virtual_address = (DAT_VADDR)(uintptr_t)address,
		.segment_length = SIZE };
}

/* First the buffers, then the mark: if they do not suffice, the call that arms brings the next event at once. */
static void
refill(void)
{
	DAT_LMR_TRIPLET buffer;
	DAT_DTO_COOKIE cookie;

	while (listed > 0) {
		cookie.as_64 = list[--listed];
		buffer = segment(&server, buffers[cookie.as_64]);
		check(dat_srq_post_recv(srq, 1, &buffer, cookie), "dat_srq_post_recv");
	}
	check(dat_srq_set_lw(srq, LOW), "dat_srq_set_lw");
}

/* The standard has no number for the event: the object and the reason tell. */
static void
take_async_events(void)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *data;
	DAT_EVENT event;

	while (DAT_GET_TYPE(dat_evd_dequeue(server.async, &event)) == DAT_SUCCESS) {
		data = &event.event_data.asynch_error_event_data;
		if (data->dat_handle == srq && data->reason == DAT_SRQ_LOW_WATERMARK_EVENT) {
			refill();
			refills++;
		} else {
			fprintf(stderr, "srq_refill: event 0x%x\n", event.event_number);
			exit(EXIT_FAILURE);
		}
	}
}

/* The next event, which must be that one. */
static DAT_EVENT
expect(const struct side *side, DAT_EVENT_NUMBER number)
{
	DAT_COUNT more;
	DAT_EVENT event;

	check(dat_evd_wait(side->events, TIMEOUT_US, 1, &event, &more), "no event");
	if (event.event_number != number) {
		fprintf(stderr, "srq_refill: event 0x%x in place of 0x%x\n", event.event_number,
				number);
		exit(EXIT_FAILURE);
	}
	return event;
}

/* @return its cookie. */
static DAT_UINT64
expect_completion(const struct side *side)
{
	DAT_EVENT event = expect(side, DAT_DTO_COMPLETION_EVENT);

	if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) {
		fprintf(stderr, "srq_refill: a completion with status %d\n",
				event.event_data.dto_completion_event_data.status);
		exit(EXIT_FAILURE);
	}
	return event.event_data.dto_completion_event_data.user_cookie.as_64;
}

static void
open_side(struct side *side, char *adapter, void *memory, DAT_VLEN length)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_RMR_CONTEXT unused;
	DAT_VLEN registered;
	DAT_VADDR address;

	side->async = DAT_HANDLE_NULL;
	check(dat_ia_open(adapter, 8, &side->async, &side->ia), "dat_ia_open");
	check(dat_ia_query(side->ia, NULL, DAT_IA_FIELD_ALL, &side->attr, DAT_PROVIDER_FIELD_ALL,
			      &side->provider),
			"dat_ia_query");
	check(dat_evd_create(side->ia, DEPTH + 2, DAT_HANDLE_NULL,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG,
			      &side->events),
			"dat_evd_create");
	check(dat_pz_create(side->ia, &side->pz), "dat_pz_create");
	check(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, length, side->pz,
			      DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
			      &side->lmr, &side->key, &unused, &registered, &address),
			"dat_lmr_create");
}

static void
close_side(struct side *side)
{
	check(dat_lmr_free(side->lmr), "dat_lmr_free");
	check(dat_pz_free(side->pz), "dat_pz_free");
	check(dat_evd_free(side->events), "dat_evd_free");
	check(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close");
}

/* A queue is made without a mark, which an empty one would be below. */
static void
make_queue(void)
{
	DAT_SRQ_ATTR attr = { DEPTH, 1, DAT_SRQ_LW_DEFAULT };

	if (!server.provider.srq_supported ||
			(server.provider.srq_watermarks_supported & 0x001) == 0) {
		fprintf(stderr, "srq_refill: this provider has no low watermark\n");
		exit(EXIT_FAILURE);
	}
	check(dat_srq_create(server.ia, server.pz, &attr, &srq), "dat_srq_create");
	for (listed = 0; listed < DEPTH; listed++)
		list[listed] = (DAT_UINT64)listed;
	refill();
}

static void
connect_both(void)
{
	DAT_EP_ATTR attr = { .max_message_size = SIZE };
	DAT_EVENT event;

	check(dat_ep_create_with_srq(server.ia, server.pz, server.events, server.events,
			      server.events, srq, &attr, &server.ep),
			"dat_ep_create_with_srq");
	check(dat_ep_create(client.ia, client.pz, client.events, client.events, client.events, NULL,
			      &client.ep),
			"dat_ep_create");
	check(dat_psp_create(server.ia, PORT, server.events, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
	check(dat_ep_connect(client.ep, server.attr.ia_address_ptr, PORT, TIMEOUT_US, 0, NULL,
			      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	event = expect(&server, DAT_CONNECTION_REQUEST_EVENT);
	check(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, NULL),
			"dat_cr_accept");
	expect(&client, DAT_CONNECTION_EVENT_ESTABLISHED);
	expect(&server, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
send_message(void)
{
	DAT_LMR_TRIPLET whole = segment(&client, message);

	check(dat_ep_post_send(client.ep, 1, &whole, (DAT_DTO_COOKIE){ .as_64 = 0 },
			      DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	sent++;
}

/* The event of the watermark is there no later than the completion of the message that crossed it. */
static void
talk(void)
{
	while (sent < WINDOW)
		send_message();
	while (received < MESSAGES) {
		list[listed++] = expect_completion(&server);
		received++;
		take_async_events();
		expect_completion(&client);
		if (sent < MESSAGES)
			send_message();
	}
}

static void
end(void)
{
	check(dat_ep_disconnect(client.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	expect(&client, DAT_CONNECTION_EVENT_DISCONNECTED);
	expect(&server, DAT_CONNECTION_EVENT_DISCONNECTED);
	check(dat_ep_free(client.ep), "dat_ep_free");
	check(dat_ep_free(server.ep), "dat_ep_free");
	check(dat_psp_free(psp), "dat_psp_free");
	check(dat_srq_free(srq), "dat_srq_free");
	close_side(&client);
	close_side(&server);
}

int
main(int argc, char **argv)
{
	char near[] = "loop0", far[] = "loop1";

	open_side(&server, argc == 3 ? argv[1] : near, buffers, sizeof(buffers));
	open_side(&client, argc == 3 ? argv[2] : far, message, sizeof(message));
	make_queue();
	connect_both();
	talk();
	end();
	printf("%lu messages received, %lu refills of a queue of %d buffers\n", received, refills,
			DEPTH);
	return EXIT_SUCCESS;
}
